"""False events of a tournament that the fold does not check."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from referee.plugins import find_format, find_game
from referee.record.audit.match import audit
from referee.record.audit.tournament import MatchProof, audit_tournament
from referee.record.reader import RecordError
from referee.record.tournament_record import record_path
from referee.tournament import events as e
from referee.tournament.pairing.base import RoundToPair

from ...tournament.playing import AT, spec_of
from ..records import SEALER
from ..tournament_forging import chain, course_of, event_lines
from ..tournaments import Organiser, cup, play_cup


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a small tournament."""
    play_cup(tmp_path / "cup", 1)
    return tmp_path / "cup"


def _pair_otherwise(asked: Sequence[RoundToPair]) -> list[tuple[tuple[tuple[int, ...], ...], str]]:
    """Pair no round again, because its program is not installed here."""
    return [((), "another program")] * len(asked)


def refused(folder: Path, lines: list[dict[str, Any]]) -> str:
    """Seal changed lines, and return the audit's error."""
    path = record_path(folder, "cup")
    path.write_bytes(chain(lines, SEALER))
    with pytest.raises(RecordError) as caught:
        audit_tournament(path, find_format, find_game, _pair_otherwise)
    return str(caught.value)


BLANKS = (" ", "\t", "\u00a0", "\u200b", "\u3000 ", "\u3164", "\u2800", "---")


@pytest.mark.forges
@pytest.mark.parametrize("key", ["by", "reason"])
@pytest.mark.parametrize("text", BLANKS)
def test_a_ruling_says_why_and_who_decided(folder: Path, key: str, text: str) -> None:
    """A text that shows nothing names nobody."""
    lines = course_of(record_path(folder, "cup"))
    event_lines(lines, "ruled")[0]["event"]["ruling"][key] = text
    assert "a ruling says why, and who decided" in refused(folder, lines)


@pytest.mark.forges
def test_a_ruling_is_carried_out_once(folder: Path) -> None:
    """Two rulings with the same id mean that one was carried out twice."""
    lines = course_of(record_path(folder, "cup"))
    first, second = event_lines(lines, "ruled")[:2]
    second["event"]["ruling"]["id"] = first["event"]["ruling"]["id"]
    said = refused(folder, lines)
    assert f"line {second['n']}: expected an event that can happen then; found the ruling 00000001 was carried" in said


@pytest.mark.forges
@pytest.mark.parametrize("by", ["", " ", "\u200b"])
def test_a_round_names_what_paired_it(folder: Path, by: str) -> None:
    """Otherwise, the record would not show why the round can't be paired again."""
    lines = course_of(record_path(folder, "cup"))
    event_lines(lines, "round-paired")[0]["event"]["by"] = by
    record_path(folder, "cup").write_bytes(chain(lines, SEALER))
    with pytest.raises(RecordError, match="expected name and version of the program that paired the round"):
        audit_tournament(record_path(folder, "cup"), find_format, find_game, _pair_otherwise)


@pytest.mark.forges
def test_nothing_happens_while_no_referee_runs(folder: Path) -> None:
    """After a stop, the first event is that a referee resumes, and a tournament begins only once."""
    lines = course_of(record_path(folder, "cup"))
    resumed = event_lines(lines, "resumed")[0]
    assert "the beginning of the tournament, or its continuation" in refused(
        folder, [line for line in lines if line is not resumed]
    )
    begun = event_lines(lines, "begun")[0]
    assert "one beginning of the tournament" in refused(
        folder, [line if line is not resumed else {**resumed, "event": begun["event"]} for line in lines]
    )


@pytest.mark.forges
def test_a_program_that_changes_is_another_one(tmp_path: Path) -> None:
    """A change to the same program is refused, because it would erase the program's failures and rating."""
    with Organiser(tmp_path, cup(), Random(1)) as organiser:
        organiser.recorder.take(e.ProgramChanged(at=AT, entrant=1, digest="ab" * 32))
        organiser.recorder.take(e.ProgramChanged(at=AT, entrant=1, digest="ab" * 32))
    assert "line 3: expected a program of e1" in refused(tmp_path, course_of(record_path(tmp_path, "cup")))


@pytest.mark.forges
@pytest.mark.parametrize("at_once", [1, 2])
def test_only_the_last_leg_tells_the_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """The legs of a pairing must not both reveal it, whether they are played one after the other or at once."""
    spec = spec_of(2, "roundrobin", game="quincy", duplicate=True)
    deal = Random(5).randbytes(32)
    with Organiser(tmp_path, spec, Random(1)) as organiser:
        monkeypatch.setattr(organiser.random, "randbytes", lambda _: deal)
        while fixtures := organiser.due()[:at_once]:
            for context in [organiser.recorder.open(fixture) for fixture in fixtures]:
                told = {"nonces": False, "seed_opens": "at-end-unless-void"}
                organiser.recorder.close(organiser.record_match(context, **told))
        organiser.recorder.take(e.Finished(at=AT))
    audited = audit_tournament(record_path(tmp_path, "cup"), find_format, find_game, _pair_otherwise)
    first, last = (MatchProof.of(audit(tmp_path / f"{name}.jsonl", find_game)) for name in audited.contexts)
    with pytest.raises(RecordError, match="line 0: expected seed_opens after-last-leg"):
        audited.check_match(first, find_game)
    audited.check_match(last, find_game)
    other = replace(last, header=replace(last.header, setup=replace(last.header.setup, seed_opens="after-last-leg")))
    if at_once == 1:
        with pytest.raises(RecordError, match="line 0: expected seed_opens at-end-unless-void"):
            audited.check_match(other, find_game)
