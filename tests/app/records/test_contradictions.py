"""Records of one process that disagree about standstills: an audit of both names them."""

from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.app.records.audit import audit_paths
from referee.app.records.audit_reports import AuditReport, Demands
from referee.match import events as e
from referee.match.timekeeper import Standstill
from referee.record.audit.processes import Contradiction
from referee.record.writer import RecordWriter

from ...cli.calling import referee
from ...record.records import SEALER, tell


def written(path: Path, match: str, standstills: list[Standstill], process: str = "aa") -> None:
    """Write the record of a match that began 10 ms after its process; the last line has the standstills."""
    whole = tell("fixed deal")
    opened, *steps = whole.steps
    assert isinstance(opened[0], e.MatchOpened)
    with closing(RecordWriter(path, SEALER)) as writer:
        setup = replace(whole.match.setup, match=match)
        writer.write_header(setup, whole.match.seed, is_fixed=True, referee="0.0", opened="")
        writer.write_transition(replace(opened[0], process=process, clock_ms=10.0), opened[1])
        for event, commands in steps:
            writer.write_transition(event, commands, standstills if event is steps[-2][0] else [])
        assert whole.match.result is not None
        writer.end(whole.match)
        writer.close()


def audited(folder: Path) -> AuditReport:
    """Audit a folder with the referee's key."""
    return audit_paths([folder], Demands(keys=(SEALER.public,)), 1, lambda *_: None)


LAST_MS = tell("fixed deal").steps[-2][0].at_ms
HAD = [(LAST_MS - 0.5, LAST_MS)]


@pytest.mark.forges
@pytest.mark.parametrize("other", [[], [(LAST_MS - 0.4, LAST_MS)]])
def test_a_standstill_that_one_match_lacks_is_named(tmp_path: Path, other: list[Standstill]) -> None:
    """Each record holds by itself, but not both together."""
    written(tmp_path / "one.jsonl", "one", HAD)
    written(tmp_path / "two.jsonl", "two", other)
    report = audited(tmp_path)
    assert [record.holds for record in report.records] == [True, True]
    assert Contradiction(match="two", witness="one", at_ms=LAST_MS) in report.contradictions
    assert not report.holds
    told = referee("audit", str(tmp_path), cwd=tmp_path, status=1).stdout
    assert f"two does not show the standstill until {LAST_MS} ms that one shows" in " ".join(told.split())


@pytest.mark.parametrize("process", ["aa", "bb", ""])
def test_matches_that_agree_or_ran_elsewhere_hold(tmp_path: Path, process: str) -> None:
    """Two records with the same standstill hold; a record of another process has standstills of its own."""
    written(tmp_path / "one.jsonl", "one", HAD)
    written(tmp_path / "two.jsonl", "two", HAD if process == "aa" else [], process)
    assert audited(tmp_path).contradictions == []
    assert audited(tmp_path).holds
