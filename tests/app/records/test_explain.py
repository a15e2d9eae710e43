"""Explain a match from a Python program: typed errors that list the choices, and nothing about a terminal."""

from pathlib import Path

import pytest

from referee.app.records.audit import audit_paths
from referee.app.records.audit_reports import Demands, SoundRecord
from referee.app.records.explain import find_view, select_turn
from referee.errors import BadRequest
from referee.match.fouls import Cause

GOLDEN = Path(__file__).parents[2] / "golden"


def test_who_was_expelled_is_explained() -> None:
    """Without a seat, the only seat that fouled is explained; a number and a name mean the same seat."""
    record = GOLDEN / "illegal-move.jsonl"
    found = find_view(record, None).explain_seat()
    assert found.verdict is not None
    assert found.verdict.foul.cause == Cause.ILLEGAL_MOVE
    for seat in (str(found.seat), found.names[found.seat]):
        assert find_view(record, seat).explain_seat() == found
    assert select_turn(found, found.verdict.foul.turn)


@pytest.mark.parametrize(
    ("record", "seat", "text"),
    [
        ("clean.jsonl", None, "say which seat: 0 a, 1 b, 2 c"),
        ("clean.jsonl", "d", "there is no seat 'd', only 0 a, 1 b, 2 c"),
        (".", "a", "explain takes one record; in this folder are .* more"),
    ],
)
def test_what_can_not_be_explained_is_told(record: str, seat: str | None, text: str) -> None:
    """The error lists what can be explained instead."""
    with pytest.raises(BadRequest, match=text):
        find_view(GOLDEN / record, seat)


def test_an_audit_is_one_object() -> None:
    """Each record is reported as soon as it is audited; a path without records is an error."""
    seen = []
    paths = [GOLDEN / "clean.jsonl", GOLDEN / "clean.jsonl"]
    report = audit_paths(paths, Demands(), 1, lambda record, total: seen.append((record, total)))
    assert (report.holds, report.broken, report.redacted, report.unlisted) == (True, 0, 0, [])
    assert seen == [(record, 2) for record in report.records]
    assert all(isinstance(record, SoundRecord) for record in report.records)
    with pytest.raises(BadRequest, match="there is no file or folder"):
        audit_paths([GOLDEN / "nowhere"], Demands(), 1, lambda _record, _total: None)


def test_two_matches_of_one_name_contradict_nothing() -> None:
    """Each began with a line of its own; names have to be unique only within a folder."""
    paths = [GOLDEN / "clean.jsonl", GOLDEN / "illegal-move.jsonl"]
    report = audit_paths(paths, Demands(), 1, lambda _record, _total: None)
    assert (report.holds, report.equivocations) == (True, [])
