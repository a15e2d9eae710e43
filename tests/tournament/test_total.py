"""The count of matches and their total: it holds at every moment, whatever results and rulings do."""

from random import Random
from typing import Any

import pytest

from referee.tournament import events as e
from referee.tournament.machine import Tournament
from referee.tournament.rulings import Kind, Ruling
from referee.tournament.spec import Participant

from .playing import AT, Troubles, begun, closed, events_of, spec_of, take

CASES: list[tuple[str, int, dict[str, Any]]] = [
    ("roundrobin", 2, {}),
    ("roundrobin", 2, {"cycles": 3, "rounds": 7}),
    ("roundrobin", 3, {}),
    ("roundrobin", 4, {"rounds": 5}),
    ("swiss", 2, {"rounds": 4}),
    ("swiss", 3, {"rounds": 3}),
    ("knockout", 2, {"third_place": True, "replays": 3}),
    ("knockout", 3, {"replays": 2}),
    ("knockout", 4, {}),
    ("doubleelimination", 2, {"replays": 2}),
    ("gauntlet", 2, {"challengers": 2}),
    ("ladder", 2, {"matches": 20}),
]


def drawn(tournament: Tournament, match: str) -> e.MatchClosed:
    """Return the event that an open match ends in a draw."""
    seats = tuple(range(len(tournament.playing[match].entrants)))
    return closed(tournament, match, Random(1), ranking=(seats,), fouls=())


def won(tournament: Tournament, match: str) -> e.MatchClosed:
    """Return the event that the first seat wins an open match."""
    return closed(
        tournament, match, Random(1), ranking=tuple((seat,) for seat in seats_of(tournament, match)), fouls=()
    )


def seats_of(tournament: Tournament, match: str) -> range:
    """Return the seats of an open match."""
    return range(len(tournament.playing[match].entrants))


def open_next(tournament: Tournament) -> str:
    """Open the next match, and return its name."""
    fixture = next(tournament.fixtures())
    take(tournament, e.MatchOpened(at=AT, fixture=fixture))
    return fixture.match


def test_a_drawn_match_of_a_knockout_that_is_played_again_is_one_match_more() -> None:
    """Two entrants that draw once: 1 of 2, then 2 of 2; the count never exceeds the total."""
    tournament = begun(spec_of(2, "knockout", format_options={"replays": 5}))
    assert (tournament.played, tournament.total) == (0, 1)
    for played in (1, 2, 3):
        take(tournament, drawn(tournament, open_next(tournament)))
        assert (tournament.played, tournament.total) == (played, played + 1)
    take(tournament, won(tournament, open_next(tournament)))
    assert (tournament.played, tournament.total, tournament.is_over) == (4, 4, True)


def test_a_second_grand_final_is_one_match_more() -> None:
    """The first one does not count it, because nobody knows yet whether it is needed."""
    tournament = begun(spec_of(2, "doubleelimination", format_options={"replays": 0}))
    assert tournament.total == 2
    match = open_next(tournament)
    first = tournament.playing[match].entrants[0]
    take(tournament, won(tournament, match))
    match = open_next(tournament)
    seats = tournament.playing[match].entrants
    ranking = ((seats.index(1 - first),), (seats.index(first),))
    take(tournament, closed(tournament, match, Random(1), ranking=ranking, fouls=()))
    assert (tournament.played, tournament.total, tournament.is_over) == (2, 3, False)


def test_who_joins_a_swiss_late_adds_tables() -> None:
    """Five entrants play two tables a round; with the sixth, there are three from the next round on."""
    tournament = begun(spec_of(5, "swiss", format_options={"rounds": 3}))
    assert tournament.total == 6
    take(tournament, e.EntrantJoined(at=AT, participant=Participant(name="late", player="house:dag"), digest=None))
    assert tournament.total == 8


@pytest.mark.parametrize("options", [{"matches": "endless"}, {"matches": 9, "certainty": 0.9}])
def test_where_results_decide_nobody_can_tell(options: dict[str, Any]) -> None:
    """A number that might be exceeded is not given."""
    tournament = begun(spec_of(4, "ladder", format_options=options))
    assert tournament.total is None


@pytest.mark.parametrize("kind", ["award", "void"])
def test_a_match_that_a_ruling_decides_is_not_waited_for(kind: Kind) -> None:
    """It is not played, so the total is one less; matches of it that were played no longer count."""
    tournament = begun(spec_of(4, "roundrobin"))
    take(tournament, won(tournament, open_next(tournament)))
    fixture = next(tournament.fixtures())
    winner = tournament.spec.entrants[fixture.entrants[0]].name if kind == "award" else None
    ruling = Ruling(id="1", kind=kind, match=fixture.match, entrant=winner, reason="so", by="ada")
    take(tournament, e.Ruled(at=AT, ruling=ruling))
    assert (tournament.played, tournament.total) == (1, 5)


@pytest.mark.parametrize(("name", "seats", "options"), CASES)
@pytest.mark.parametrize("is_duplicate", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_no_count_runs_beyond_its_total(
    *, name: str, seats: int, options: dict[str, Any], is_duplicate: bool, seed: int
) -> None:
    """Whatever draws, void matches, suspensions and withdrawals do, all matches are played in the end."""
    random = Random(f"{name} {seats} {seed}")
    tournament = begun(spec_of(11, name, seats, format_options=options, duplicate=is_duplicate, suspend_after=2))
    for event in events_of(tournament, random, troubles=Troubles(void=0.1, failed=0.1)):
        taken = event
        if isinstance(event, e.MatchClosed) and random.random() < 0.4:
            taken = drawn(tournament, event.entry.match)
        take(tournament, taken)
        total = tournament.total
        assert total is not None
        assert tournament.played + sum(1 for _ in tournament.fixtures()) <= total
        if random.random() < 0.03:
            name_of_one = random.choice(tournament.spec.entrants).name
            if all(tournament.spec.entrants[one].name != name_of_one for one in tournament.suspended):
                ruling = Ruling(
                    id=str(len(tournament.rulings)),
                    kind="withdraw",
                    entrant=name_of_one,
                    match=None,
                    reason="so",
                    by="ada",
                )
                take(tournament, e.Ruled(at=AT, ruling=ruling))
    assert tournament.is_over
    assert tournament.played == tournament.total


@pytest.mark.parametrize(("name", "seats", "options"), CASES)
@pytest.mark.parametrize("size", [5, 8, 12])
def test_a_course_without_draws_and_withdrawals_has_one_total(
    name: str, seats: int, options: dict[str, Any], size: int
) -> None:
    """The total is known from the beginning, except for a second grand final."""
    tournament = begun(spec_of(size, name, seats, format_options=options))
    totals = {tournament.total}
    for event in events_of(tournament, Random(3)):
        take(tournament, won(tournament, event.entry.match) if isinstance(event, e.MatchClosed) else event)
        totals.add(tournament.total)
    assert max(filter(None, totals)) == tournament.played
    assert len(totals) == 1 or (name == "doubleelimination" and len(totals) == 2)
