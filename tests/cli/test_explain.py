"""`referee explain`: how times and ranks are shown."""

from pathlib import Path

import pytest

from referee.app.records.explain import view_as_seat, word_standing
from referee.cli.commands.explain import lay_out_row
from referee.cli.match_view import result_table
from referee.record.explain import Heard, describe_event
from referee.record.reader import read_record

TIED = Path(__file__).parents[1] / "golden" / "clean.jsonl"


@pytest.mark.parametrize(
    ("used_ms", "shown"), [(None, ""), (0.0, "0.0"), (-0.04, "0.0"), (-0.06, "-0.1"), (1234.56, "1234.6")]
)
def test_times_have_one_digit(used_ms: float | None, shown: str) -> None:
    """A value that is rounded to 0 has no sign."""
    assert lay_out_row(Heard(line=1, at_ms=0.0, event="ack-received", content={}, used_ms=used_ms))[5] == shown


def test_a_time_of_nothing_has_no_sign() -> None:
    """If the referee's lag is as long as the answer took, to the microsecond, nothing is charged."""
    event = {"event": "move-received", "seat": 0, "at_ms": 10.0, "sent_ms": 9.0, "first_byte_ms": 10.0}
    heard = describe_event(1, {**event, "lag_ms": 1.0004}, None)
    assert [str(heard.used_ms), str(heard.program_ms)] == ["0.0", "0.0"]


@pytest.mark.parametrize(("seat", "rank", "other"), [(0, "1", 2), (1, "3", None), (2, "1", 0)])
def test_who_comes_after_a_tie_has_the_rank_of_the_table(seat: int, rank: str, other: int | None) -> None:
    """Two share the first place: the next one is third of three, in words as in the match's ranking."""
    result = read_record(TIED).result
    assert result is not None
    found = view_as_seat(TIED, seat).explain_seat()
    shared = "" if other is None else f", together with {found.names[other]}"
    assert word_standing(found).startswith(f"rank {rank} of 3{shared}, ")
    table = result_table(found.names, result.result, ())
    ranks, seats = (list(column.cells) for column in table.columns[:2])
    assert dict(zip(seats, ranks, strict=True))[str(seat)] == rank
