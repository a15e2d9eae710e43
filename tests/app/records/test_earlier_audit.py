"""`audit --since`: a record that held before is not audited again, unless it has changed."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from referee.app.records import audit as auditing
from referee.app.records import earlier_audit
from referee.app.records.audit import audit_paths
from referee.app.records.audit_reports import AuditReport, Demands, Equivocation, SoundRecord
from referee.errors import BadRequest
from referee.match.events import RefereeFailed
from referee.observers.heads import PublishedHead
from referee.record.key import Sealer
from referee.record.reader import read_chain

from ...cli.calling import referee
from ...record.records import SEALER, STORIES, cut, record_of, tell
from ...record.tournaments import play_cup
from .test_contradictions import HAD, written


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small tournament and of the record of a single match."""
    folder = tmp_path_factory.mktemp("played") / "logs"
    play_cup(folder / "cup", 1)
    (folder / "alone.jsonl").write_bytes(record_of("clean"))
    return folder


@pytest.fixture
def logs(played: Path, tmp_path: Path) -> Path:
    """Return a copy of it."""
    return Path(shutil.copytree(played, tmp_path / "logs"))


def audited(logs: Path, *, is_known: bool = True, **demanded: Any) -> AuditReport:
    """Audit a folder since its last audit, which was just now, or for the first time."""
    since = logs.parent / "found.json"
    assert since.exists() == is_known
    return audit_paths([logs], Demands(**demanded), 1, lambda *_: None, since)


def test_what_has_not_changed_is_taken_over(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report is the same, with its comparison with the tournament's record, and no record is audited."""
    first = audited(logs, is_known=False)
    assert (first.holds, first.unchanged, len(first.tournaments)) == (True, 0, 1)
    monkeypatch.setattr(auditing, "examine", lambda _path, demands: pytest.fail(f"audited again for {demands}"))
    again = audited(logs)
    assert again == replace(first, unchanged=len(first.records))


@pytest.mark.forges
@pytest.mark.parametrize("at", [0, 100, -100, -1])
def test_a_changed_byte_is_seen(logs: Path, at: int) -> None:
    """Wherever the byte is, that record is audited again, and no other."""
    first = audited(logs, is_known=False)
    path = logs / "alone.jsonl"
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    again = audited(logs)
    assert (again.broken + again.unfinished, again.unchanged) == (1, len(first.records) - 1)
    assert not again.holds


def test_records_are_known_wherever_they_are(logs: Path) -> None:
    """A record that was moved is reported by its new name."""
    audited(logs, is_known=False)
    (logs / "alone.jsonl").rename(logs / "moved.jsonl")
    again = audited(logs)
    assert again.unchanged == len(again.records)
    assert str(logs / "moved.jsonl") in {report.record for report in again.records}


@pytest.mark.forges
def test_who_seals_another_record_is_found_out(logs: Path) -> None:
    """Each record holds. The first audit knew the other one, although it has been deleted since."""
    whole, path = tell("whole deal"), logs / "alone.jsonl"
    path.unlink()
    whole.write(path)
    assert audited(logs, is_known=False).holds
    path.unlink()
    cut(whole, 20, RefereeFailed(at_ms=whole.steps[19][0].at_ms, detail="the disk is full")).write(path)
    report = audited(logs)
    assert (report.broken, report.holds) == (0, False)
    records = (str(path), f"{path}, as it was audited before,")
    assert report.equivocations == [Equivocation(match="m", records=records)]


@pytest.mark.forges
def test_records_are_compared_with_those_audited_before(tmp_path: Path) -> None:
    """If two matches disagree about a standstill, this is reported although neither is audited again."""
    logs = tmp_path / "logs"
    logs.mkdir()
    written(logs / "one.jsonl", "one", HAD)
    audited(logs, is_known=False)
    written(logs / "two.jsonl", "two", [])
    first, again = audited(logs), audited(logs)
    assert (first.unchanged, again.unchanged) == (1, 2)
    assert first.contradictions == again.contradictions != []


def heads_of(path: Path) -> list[str]:
    """Return the hashes of a record's lines but the seal."""
    return [line.hash for line in read_chain(path).lines[:-1]]


def test_what_is_demanded_is_looked_for(logs: Path) -> None:
    """Heads of unchanged records are compared, too.

    A record of another key is audited again, and with a seed all are.
    """
    audited(logs, is_known=False)
    path = logs / "alone.jsonl"
    for head in heads_of(path):
        assert audited(logs, heads=(head,)).holds
    assert audited(logs, heads=("0" * 64,)).missing_heads == ["0" * 64]
    published = [PublishedHead(at="now", record="m1", line=line, head=head) for line, head in enumerate(heads_of(path))]
    match = next(report.match for report in audited(logs).records if isinstance(report, SoundRecord))
    assert audited(logs, published={match: published}).missing_published == []
    other = audited(logs, keys=(Sealer.new().public,))
    assert (other.broken, other.unchanged) == (len(other.records), 0)
    assert audited(logs, keys=(SEALER.public,)).unchanged == len(other.records)
    assert audited(logs, seed="00" * 32).unchanged == 0


@pytest.mark.forges
def test_only_sealed_records_that_hold_are_kept(tmp_path: Path) -> None:
    """Broken, unfinished and redacted records are audited every time."""
    logs = tmp_path / "logs"
    logs.mkdir()
    for number, story in enumerate(STORIES):
        (logs / f"{number}.jsonl").write_bytes(record_of(story))
    (logs / "broken.jsonl").write_bytes(record_of("clean").replace(b"header", b"heaven", 1))
    first = audited(logs, is_known=False, unsealed=True)
    again = audited(logs)
    sealed = [report for report in first.records if isinstance(report, SoundRecord) and report.state == "sealed"]
    assert again.unchanged == len(sealed)
    assert (again.broken, first.unfinished) == (first.broken, 0)
    assert again.unfinished == len([report for report in first.records if getattr(report, "state", "") == "unfinished"])


def test_another_version_audits_all_anew(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version may have fixed a check, so its results are not reused."""
    audited(logs, is_known=False)
    monkeypatch.setattr(earlier_audit, "_auditor", lambda: "0.0")
    assert audited(logs).unchanged == 0
    assert audited(logs).unchanged > 0


def _inside(folder: Path) -> Path:
    return folder / "logs" / "found.json"


def _linked(folder: Path) -> Path:
    (folder / "link").symlink_to(_inside(folder))
    return folder / "link"


def _writable(folder: Path) -> Path:
    path = folder / "found.json"
    path.write_text("{}")
    path.chmod(0o666)
    return path


def _garbage(folder: Path) -> Path:
    path = folder / "found.json"
    path.write_text('{"auditor": 1}')
    return path


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (_inside, "lies in what is audited"),
        (_linked, "lies in what is audited"),
        (_writable, "others could have written"),
        (_garbage, "no audit wrote"),
        (lambda folder: folder / "nowhere" / "found.json", "can't be read: No such file or directory"),
        (lambda folder: folder, "lies in what is audited|can't be read: Is a directory"),
    ],
)
def test_what_others_could_have_written_is_not_trusted(
    tmp_path: Path, place: Callable[[Path], Path], text: str
) -> None:
    """The file is refused before anything is audited, and is not changed."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "alone.jsonl").write_bytes(record_of("clean"))
    path = place(tmp_path)
    with pytest.raises(BadRequest, match=text):
        audit_paths([tmp_path / "logs"], Demands(), 1, lambda *_: None, path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_the_file_of_another_user_is_not_trusted(logs: Path) -> None:
    """The owner of a file can write it."""
    audited(logs, is_known=False)
    os.chown(logs.parent / "found.json", 65534, -1)
    with pytest.raises(BadRequest, match="others could have written"):
        audited(logs)


def test_the_command_says_how_many(logs: Path) -> None:
    """The report says how many records were not audited again, and only the user can read the stored results."""
    for count in ("0 records", "1 record"):
        done = referee("audit", "logs/alone.jsonl", "--since", "found.json", cwd=logs.parent)
        assert f"{count} held in an earlier audit and did not change since" in done.stdout
    assert (logs.parent / "found.json").stat().st_mode & 0o777 == 0o600
