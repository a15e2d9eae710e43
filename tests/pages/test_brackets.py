"""The brackets of eliminations: every match in its place, and future ones with their possible entrants."""

from random import Random
from typing import Any

import pytest

from referee.pages.charts.brackets import Bracket, BracketBox, brackets
from referee.pages.links import PageLinks
from referee.pages.report import Titles, report_page
from referee.pages.summary import Summary
from referee.tournament.events import Begun, Ruled
from referee.tournament.history import History
from referee.tournament.rulings import Ruling

from ..tournament.playing import AT, Troubles, events_of, spec_of, tournament_of
from .reports import section

THIRD = {"third_place": True}
TITLES = Titles("Q", "Knockout")


def history_of(size: int, format_: str, seats: int = 2, most: int = 10_000, **options: Any) -> History:
    """Return the history of an elimination after at most `most` events, with fouls and void matches."""
    history = History(tournament_of(spec_of(size, format_, seats, format_options=options)))
    history.take(Begun(at=AT))
    events = events_of(history.tournament, Random(size), troubles=Troubles(void=0.05, failed=0.05))
    for _, event in zip(range(most), events, strict=False):
        history.take(event)
    return history


def boxes_of(found: list[Bracket]) -> list[BracketBox]:
    """Return every place of brackets."""
    return [box for bracket in found for round_ in bracket.rounds for box in round_.boxes]


@pytest.mark.parametrize("most", [0, 9, 10_000])
@pytest.mark.parametrize(
    ("size", "format_", "seats", "options"),
    [
        (2, "knockout", 2, {}),
        (8, "knockout", 2, THIRD),
        (11, "knockout", 2, THIRD),
        (32, "knockout", 2, {}),
        (2, "doubleelimination", 2, {}),
        (5, "doubleelimination", 2, {}),
        (13, "doubleelimination", 2, {"reset": False}),
        (18, "knockout", 4, {}),
    ],
)
def test_every_pairing_has_its_place(size: int, format_: str, seats: int, options: dict[str, Any], most: int) -> None:
    """The place has entrants, points, and the one that goes on; for a future pairing, it has none of these."""
    history = history_of(size, format_, seats, most, **options)
    found = brackets(Summary(history, {}))
    boxes = boxes_of(found)
    pairings = {each.pairing.number: each.pairing for each in history.played}
    pairings |= {pairing.number: pairing for pairing in history.tournament.due}
    assert sorted(number for box in boxes for number in box.pairings) == sorted(pairings)
    for box in boxes:
        for number in box.pairings:
            assert sorted(side.entrants[0] for side in box.sides) == sorted(pairings[number].seats)
        if not box.pairings and box.note != "bye":
            assert all(side.scores == [] for side in box.sides)
        assert box.is_empty == (not box.sides)
    if history.tournament.is_over:
        last = found[0 if format_ == "knockout" else -1].rounds[-1].boxes[0]
        assert [side.entrants[0] for side in last.sides if side.is_winner] == [Summary(history, {}).order[0]]


def test_matches_lead_to_those_of_the_next_round() -> None:
    """Two places lead to one, or one to one: entrants from two neighbours meet in the place between them."""
    for found in (brackets(Summary(history_of(size, "knockout"), {})) for size in (8, 13)):
        for one, other in zip(found[0].rounds, found[0].rounds[1:], strict=False):
            assert one.leads == "pairs"
            for at, box in enumerate(other.boxes):
                winners = {
                    side.entrants for each in one.boxes[2 * at : 2 * at + 2] for side in each.sides if side.is_winner
                }
                assert winners == {side.entrants for side in box.sides}
    losers = brackets(Summary(history_of(8, "doubleelimination"), {}))[1]
    assert [round_.leads for round_ in losers.rounds] == ["each", "pairs", "each", ""]


def test_who_may_meet_is_told() -> None:
    """Before the first match, its winner is one of two; later rounds are open, and a bye is shown as one."""
    found = brackets(Summary(history_of(6, "knockout", most=0), {}))
    first, semi, final = found[0].rounds
    assert [box.note for box in first.boxes] == ["bye", "to be played", "bye", "to be played"]
    assert [len(side.entrants) for box in semi.boxes for side in box.sides] == [1, 2, 1, 2]
    assert [side.entrants for side in final.boxes[0].sides] == [(), ()]
    grand = brackets(Summary(history_of(4, "doubleelimination", most=0), {}))[-1]
    assert [(round_.title, round_.boxes[0].note) for round_ in grand.rounds] == [
        ("grand final", ""),
        ("grand final, reset", "if needed"),
    ]


def test_a_walkover_and_a_replay_are_told() -> None:
    """A withdrawn entrant loses without a match; a drawn match is played again in its place, with both results."""
    history = history_of(4, "knockout", most=0)
    gone = history.tournament.due[0].seats[0]
    ruling = Ruling(id="1", kind="withdraw", entrant=f"e{gone}", reason="its author asked", by="jury")
    history.take(Ruled(at=AT, ruling=ruling))
    box = boxes_of(brackets(Summary(history, {})))[0]
    assert box.note == "not played: the other side goes on"
    assert [side.is_winner for side in box.sides] == [side.entrants != (gone,) for side in box.sides]
    again = [box for size in (8, 16, 32) for box in boxes_of(brackets(Summary(history_of(size, "knockout"), {})))]
    assert {len(side.scores) for box in again if box.note == "played 2 times" for side in box.sides} == {2}


@pytest.mark.parametrize(
    ("format_", "seats"), [("knockout", 2), ("doubleelimination", 2), ("knockout", 4), ("swiss", 2)]
)
def test_an_elimination_has_brackets_on_its_page(format_: str, seats: int) -> None:
    """The page of an elimination has all its brackets; pages of other formats have none."""
    summary = Summary(history_of(8, format_, seats), {})
    text = report_page(summary, TITLES, PageLinks())
    assert ('id="bracket"' in text) == (format_ != "swiss")
    if format_ == "doubleelimination":
        told = section(text, "bracket")
        assert "Winners Winners' round 1" in told
        assert "Losers Losers' round 1" in told
        assert "Grand final" in told
