"""What records say of their tournament: contradictions between them are found, and named."""

from pathlib import Path
from typing import Any

import pytest

from referee.record.match_entries import BadCourse, course, entry_of
from referee.record.reader import RecordError, read_record
from referee.record.writer import RecordWriter
from referee.tournament.match_context import MatchContext, MatchEntry

from ..ledger.ledgers import entry_of as entry
from ..ledger.ledgers import in_tournament
from .records import SEALER, record_of, tell

A, B, C = (f"cup-{number:05}" for number in (1, 2, 3))


def opened(number: int, opening: int, *taken: str, **changes: Any) -> MatchEntry:
    """Return an entry by the number of its pairing, how many were opened before, and what was taken before."""
    context = MatchContext(
        tournament="cup",
        opening=opening,
        number=number,
        round=1,
        table="",
        leg=changes.pop("leg", 0),
        attempt=changes.pop("attempt", 0),
        entrants=(0, 1),
        taken=taken,
    )
    return entry(number, context=context, **changes)


@pytest.mark.parametrize(
    ("entries", "order"),
    [
        ([], []),
        ([opened(1, 0)], [A]),
        ([opened(1, 0), opened(2, 1, A)], [A, B]),
        ([opened(2, 0), opened(1, 1)], [A, B]),
        ([opened(1, 0), opened(2, 1), opened(3, 2, B, A)], [B, A, C]),
        ([opened(1, 0), opened(2, 1), opened(3, 2, B)], [B, A, C]),
        ([opened(1, 0), opened(1, 1, leg=1, match="x"), opened(1, 2, A, attempt=1, match="y")], [A, "y", "x"]),
    ],
    ids=["none", "one", "one after the other", "both at once", "the later one first", "one left", "legs and replays"],
)
def test_the_order_is_told(entries: list[MatchEntry], order: list[str]) -> None:
    """By the headers, and at the end by the numbers of the pairings, in whatever order the records are read."""
    assert [item.match for item in course(entries)] == order
    assert [item.match for item in course(reversed(entries))] == order


def test_matches_that_are_not_over_tell_of_others() -> None:
    """Their headers say what was taken before, and they need no result of their own."""
    unfinished = {C: opened(3, 2, B).context}
    assert [item.match for item in course([opened(1, 0), opened(2, 1)], unfinished)] == [B, A]


@pytest.mark.parametrize(
    ("entries", "unfinished", "complaint"),
    [
        ([opened(1, 0), opened(1, 0)], (), f"two records of {A}"),
        ([opened(1, 0)], (opened(1, 0),), f"two records of {A}"),
        ([opened(1, 2)], (), f"2 missing: records of what was opened before {A}"),
        ([opened(1, 0), opened(2, 3)], (), f"2 missing: records of what was opened after {A} and before {B}"),
        ([opened(1, 0), opened(2, 0)], (), f"{A} and {B} both say that 0 matches"),
        ([opened(1, 0), opened(3, 1, B)], (), f"the record of {B} is missing: {C} was opened after"),
        ([opened(2, 0, A), opened(1, 1)], (), f"{A} was opened after {B}, which says"),
        ([opened(1, 0, A)], (), f"{A} was opened after {A}"),
        ([opened(1, 0), opened(2, 1, A), opened(3, 2, A)], (), f"{B} and {C} both say that the result of {A}"),
        ([opened(1, 0), opened(2, 1, A, A)], (), f"{B} and {B} both say that the result of {A}"),
        ([opened(2, 1, A)], (opened(1, 0),), f"{A} is not over, and yet"),
        ([opened(1, 0), in_tournament(opened(2, 1), "cap")], (), f"{A} is of the tournament cup, and cap-00002 of cap"),
    ],
)
def test_contradictions_are_named(
    entries: list[MatchEntry], unfinished: tuple[MatchEntry, ...], complaint: str
) -> None:
    """The text names the records, and says what does not fit."""
    with pytest.raises(BadCourse, match=complaint):
        course(entries, {item.match: item.context for item in unfinished})


def test_a_match_of_no_tournament_has_no_entry(tmp_path: Path) -> None:
    """Its record says nothing of what it was opened for."""
    path = tmp_path / "m.jsonl"
    path.write_bytes(record_of("clean"))
    with pytest.raises(RecordError, match="an context, as in the matches of a tournament"):
        entry_of(read_record(path))


def test_a_match_that_is_not_over_has_no_entry(tmp_path: Path) -> None:
    """Its record has no seal."""
    story = tell("unfinished")
    context = opened(1, 0).context
    writer = RecordWriter(tmp_path / "m.jsonl", SEALER)
    writer.write_header(story.match.setup, story.match.seed, is_fixed=True, referee="0.0", opened="", context=context)
    writer.close()
    with pytest.raises(RecordError, match="a result and its seal; found a record that is unfinished"):
        entry_of(read_record(tmp_path / "m.jsonl"))
