"""The fold of tournaments, over simulated results of every format: what it gives to play, and what it refuses."""

from collections.abc import Callable, Iterable
from itertools import takewhile
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from referee.record.match_entries import course
from referee.tournament.machine import GivenUp, NotOpen, Tournament
from referee.tournament.match_context import FoulEntry, MatchContext, MatchEntry

from .courses import FORMATS, Troubles, course_of, happenings, spec_of, take, tournament_of

SHORT: dict[str, dict[str, Any]] = {"ladder": {"matches": 60}, "swiss": {"rounds": 4}}
TROUBLES = Troubles(void=0.1, failed=0.08)
CASES = [
    (name, seats, is_duplicate)
    for name, form in sorted(FORMATS.items())
    for seats in (2, 4)
    if seats in form.seats
    for is_duplicate in (False, True)
]


def new(name: str, seats: int, *, is_duplicate: bool, size: int = 11) -> Tournament:
    """Return a tournament of a format before its first match."""
    options = SHORT.get(name, {})
    return tournament_of(spec_of(size, name, seats, duplicate=is_duplicate, format_options=options))


def in_records(entries: list[MatchEntry], contexts: Iterable[MatchContext]) -> list[MatchEntry]:
    """Return entries in the order that their records can tell: what was taken after the last opening goes by number."""
    told = {match for context in contexts for match in context.taken}
    known = list(takewhile(lambda entry: entry.match in told, entries))
    rest = sorted(entries[len(known) :], key=lambda one: (one.context.number, one.context.leg, one.context.attempt))
    return known + rest


@pytest.mark.parametrize(("name", "seats", "is_duplicate"), CASES)
def test_every_format_is_played_to_its_end(*, name: str, seats: int, is_duplicate: bool) -> None:
    """Void matches are played again, whose program fails too often plays no more, and in the end nothing is left."""
    tournament = new(name, seats, is_duplicate=is_duplicate)
    entries = list(course_of(tournament, Random(1), troubles=TROUBLES))
    assert tournament.is_over
    assert list(tournament.fixtures()) == []
    too_late = len(entries) - tournament.played - tournament.voided
    assert 0 <= too_late <= 4 * len(tournament.suspended)
    assert tournament.voided == sum(entry.void is not None for entry in entries) - sum(
        entry.void is not None for entry in late(tournament, entries)
    )
    assert all(tournament.failures[item] >= 3 for item in tournament.suspended)


def late(tournament: Tournament, entries: list[MatchEntry]) -> list[MatchEntry]:
    """Return the entries that a tournament, played through again, does not count."""
    again = tournament_of(tournament.spec)
    return [entry for entry in entries if not take(again, entry)]


@pytest.mark.parametrize(("name", "seats", "is_duplicate"), CASES)
def test_the_same_results_give_the_same_fixtures(*, name: str, seats: int, is_duplicate: bool) -> None:
    """At every step of a tournament that is played through again, the same is to be played as the first time."""
    first, again = (new(name, seats, is_duplicate=is_duplicate) for _ in range(2))
    for entry in course_of(first, Random(3), troubles=TROUBLES):
        take(again, entry)
        assert list(again.fixtures()) == list(first.fixtures())
    assert again.suspended == first.suspended
    assert again.places() == first.places()


@pytest.mark.parametrize(("name", "seats", "is_duplicate"), CASES)
def test_the_order_is_told_by_the_occasions_alone(*, name: str, seats: int, is_duplicate: bool) -> None:
    """Wherever a tournament breaks off, shuffled entries come back into the order in which they were taken."""
    tournament, ends = new(name, seats, is_duplicate=is_duplicate), Random(5)
    entries: list[MatchEntry] = []
    opened: dict[str, MatchContext] = {}
    for happening in happenings(tournament, Random(4), troubles=TROUBLES):
        opened[happening.match] = happening.context
        if happening.entry is not None:
            take(tournament, happening.entry)
            entries.append(happening.entry)
        if tournament.is_over or ends.random() < 0.1:
            over = {entry.match for entry in entries}
            unfinished = {match: context for match, context in opened.items() if match not in over}
            shuffled = ends.sample(entries, len(entries))
            assert course(shuffled, unfinished) == in_records(entries, opened.values())


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_records_alone_take_a_tournament_up_again(name: str) -> None:
    """Played through in the order that its records tell, a tournament comes out the same."""
    first, again = (new(name, 2, is_duplicate=False) for _ in range(2))
    entries = list(course_of(first, Random(6), tables=1, troubles=TROUBLES))
    for entry in course(Random(7).sample(entries, len(entries))):
        take(again, entry)
    assert (again.played, again.voided, again.suspended) == (first.played, first.voided, first.suspended)
    assert again.places() == first.places()
    assert again.is_over


BAD: dict[str, Callable[[MatchEntry], MatchEntry]] = {
    "another pairing": lambda entry: _with(entry, number=99),
    "another leg": lambda entry: _with(entry, leg=1),
    "a replay that nobody asked for": lambda entry: _with(entry, attempt=1),
    "another round": lambda entry: _with(entry, round=2),
    "another table": lambda entry: _with(entry, table="final"),
    "another tournament": lambda entry: _with(entry, tournament="cap"),
    "seats exchanged": lambda entry: _with(entry, entrants=entry.context.entrants[::-1]),
    "strangers": lambda entry: _with(entry, entrants=(7, -1)),
    "another name": lambda entry: replace(entry, match="cup-00099"),
}


def _with(entry: MatchEntry, **changes: Any) -> MatchEntry:
    return replace(entry, context=replace(entry.context, **changes))


@pytest.mark.parametrize("change", BAD.values(), ids=BAD.keys())
def test_what_is_not_to_be_played_is_refused(change: Callable[[MatchEntry], MatchEntry]) -> None:
    """An entry that says anything else of its match than the fixture does is refused, and nothing changes."""
    tournament = new("roundrobin", 2, is_duplicate=False)
    (entry, *_) = course_of(new("roundrobin", 2, is_duplicate=False), Random(8), tables=1)
    before = list(tournament.fixtures())
    with pytest.raises(NotOpen, match=r"cup-\d{5}"):
        tournament.take(change(entry))
    assert list(tournament.fixtures()) == before
    assert tournament.played == 0
    tournament.take(entry)
    with pytest.raises(NotOpen, match="not to be played now"):
        tournament.take(entry)


STARTS = [("refused-to-start", 0, True), ("malformed-message", 0, True), ("oversize", 0, True), ("oversize", 1, False)]


@pytest.mark.parametrize(("cause", "turn", "is_start"), STARTS)
def test_whatever_ends_a_player_before_the_first_turn_is_a_failure_to_start(
    cause: str, turn: int, *, is_start: bool
) -> None:
    """Who says hello wrongly in match after match plays no more, as who says nothing."""
    spec = spec_of(4, suspend_after=1)
    tournament = tournament_of(spec)
    (entry, *_) = course_of(tournament_of(spec), Random(11), tables=1)
    foul = FoulEntry(seat=0, cause=cause, turn=turn, detail="so")
    suspensions = tournament.take(replace(entry, ranking=((1,), (0,)), fouls=(foul,)))
    assert [suspension.why for suspension in suspensions] == (["failed to start in 1 match: so"] if is_start else [])


@pytest.mark.parametrize("void", [None, "the disk is full"])
def test_a_leg_that_ends_after_a_suspension_counts_for_nothing(void: str | None) -> None:
    """The other match of a pairing may be going on when its player is suspended; what comes of it is told apart."""
    spec = spec_of(4, duplicate=True, suspend_after=1)
    tournament = tournament_of(spec)
    (one, *_) = course_of(tournament_of(spec), Random(9), tables=1)
    first, second = (fixture for fixture in tournament.fixtures() if fixture.pairing.number == 1)
    crash = FoulEntry(seat=0, cause="crashed", turn=0, detail="exit status 1")
    context = first.context("cup", 0, ())
    failed = replace(one, match=first.name_in("cup"), context=context, ranking=((1,), (0,)), fouls=(crash,))
    (suspension,) = tournament.take(failed)
    assert (suspension.entrant, suspension.why) == (first.seats[0], "failed to start in 1 match: exit status 1")
    other = replace(one, match=second.name_in("cup"), context=second.context("cup", 1, ()), void=void)
    with pytest.raises(GivenUp, match="one of its pairing withdrew"):
        tournament.take(other)
    assert (tournament.played, tournament.voided) == (1, 0)


def test_a_finished_pairing_leaves_nothing_behind() -> None:
    """What a tournament remembers of its pairings does not grow with the matches."""
    tournament = new("ladder", 2, is_duplicate=True)
    for _ in course_of(tournament, Random(10), troubles=Troubles(void=0.2)):
        assert len(tournament._open) == len(tournament._due) <= 4
        assert tournament._legs.keys() <= tournament._due.keys()
        assert {number for number, _ in tournament._attempts} <= tournament._due.keys()
