"""The logic of tournaments, with simulated results of every format: its commands, and the events that it refuses."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from referee.tournament import commands as c
from referee.tournament import events as e
from referee.tournament.history import History
from referee.tournament.machine import ImpossibleEvent, Tournament
from referee.tournament.match_context import DuePairings, Fixture, FoulEntry
from referee.tournament.pairing.base import BadRuling, Pairing
from referee.tournament.rulings import Kind, Ruling, make_ruled_entry

from .playing import AT, FORMATS, Troubles, ask_anything, begun, closed, events_of, played_out, spec_of, take

SHORT: dict[str, dict[str, Any]] = {"ladder": {"matches": 60}, "swiss": {"rounds": 4}}
TROUBLES = Troubles(void=0.1, failed=0.08)
CASES = [
    (name, seats, is_duplicate)
    for name, form in sorted(FORMATS.items())
    for seats in (2, 4)
    if seats in form.seats
    for is_duplicate in (False, True)
]


def new(name: str, seats: int = 2, *, is_duplicate: bool = False, size: int = 11) -> Tournament:
    """Return a tournament of a format that has begun."""
    return begun(spec_of(size, name, seats, duplicate=is_duplicate, format_options=SHORT.get(name, {})))


def opened(tournament: Tournament, fixture: Fixture | None = None) -> str:
    """Open a match, by default the first one that may be opened; return its name."""
    chosen = fixture or next(each for each in tournament.fixtures() if each.match not in tournament.playing)
    take(tournament, e.MatchOpened(at=AT, fixture=chosen))
    return chosen.match


def over(tournament: Tournament, match: str, **changes: Any) -> tuple[c.TournamentCommand, ...]:
    """Let an open match end; by default, the first seat wins."""
    fields = {"ranking": ((0,), (1,)), "fouls": (), **changes}
    return take(tournament, closed(tournament, match, Random(1), **fields))


@pytest.mark.parametrize(("name", "seats", "is_duplicate"), CASES)
def test_every_format_is_played_to_its_end(*, name: str, seats: int, is_duplicate: bool) -> None:
    """Void matches are played again, entrants that fail too often are suspended, and in the end nothing is left."""
    tournament = new(name, seats, is_duplicate=is_duplicate)
    history = History(tournament)
    for event in events_of(tournament, Random(1), troubles=TROUBLES):
        history.take(event)
    assert tournament.is_over
    assert list(tournament.fixtures()) == []
    counted = [entry for entry in history.entries if entry.match not in history.disregarded]
    assert tournament.played == sum(entry.void is None for entry in counted)
    assert tournament.voided == len(counted) - tournament.played
    assert all(tournament.failures.times(item) >= 3 for item in tournament.suspended)
    (ended,) = tournament.handle(e.Finished(at=AT))
    assert ended == c.EndTournament(standings=tournament.standings())


@pytest.mark.parametrize(("name", "seats", "is_duplicate"), CASES)
def test_the_same_events_give_the_same_commands(*, name: str, seats: int, is_duplicate: bool) -> None:
    """If a tournament's events are applied again, each gives the same commands."""
    first, again = (new(name, seats, is_duplicate=is_duplicate) for _ in range(2))
    for event in events_of(first, Random(3), troubles=TROUBLES):
        assert take(first, event) == take(again, event)
        assert list(again.fixtures()) == list(first.fixtures())
    assert again.standings() == first.standings()


@pytest.mark.parametrize(("name", "seats", "is_duplicate"), CASES)
def test_whatever_is_to_be_played_was_said_in_a_command(*, name: str, seats: int, is_duplicate: bool) -> None:
    """The commands alone, without the tournament's state, say which matches may be opened."""
    spec = spec_of(11, name, seats, duplicate=is_duplicate, format_options=SHORT.get(name, {}))
    tournament = begun(spec)
    known = {fixture.match: fixture for fixture in tournament.fixtures()}
    for event in events_of(tournament, Random(4), troubles=TROUBLES):
        if isinstance(event, e.MatchClosed):
            known.pop(event.entry.match, None)
        for command in take(tournament, event):
            if isinstance(command, c.PlayMatch):
                known[command.fixture.match] = command.fixture
            if isinstance(command, c.CallOff):
                del known[command.match]
        assert {fixture.match: fixture for fixture in tournament.fixtures()} == known


CHANGED: dict[str, Callable[[Fixture], Fixture]] = {
    "another pairing": lambda fixture: replace(fixture, number=99),
    "another leg": lambda fixture: replace(fixture, leg=1),
    "a replay that nobody asked for": lambda fixture: replace(fixture, attempt=1),
    "another round": lambda fixture: replace(fixture, round=2),
    "another table": lambda fixture: replace(fixture, table="final"),
    "seats exchanged": lambda fixture: replace(fixture, entrants=fixture.entrants[::-1]),
    "strangers": lambda fixture: replace(fixture, entrants=(7, -1)),
    "another name": lambda fixture: replace(fixture, match="cup-00099"),
}


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED.keys())
def test_what_is_not_to_be_played_is_refused(change: Callable[[Fixture], Fixture]) -> None:
    """A match with another context, or the result of another match, is refused, and nothing changes."""
    tournament = new("roundrobin")
    before = list(tournament.fixtures())
    with pytest.raises(ImpossibleEvent, match=r"cup-\d{5} is not to be played now"):
        tournament.handle(e.MatchOpened(at=AT, fixture=change(before[0])))
    match = opened(tournament)
    event = closed(tournament, match, Random(1), fixture=change(before[0]))
    with pytest.raises(ImpossibleEvent, match=r"cup-\d{5} (is not being played|was opened for something else)"):
        tournament.handle(event)
    assert list(tournament.fixtures()) == before
    assert tournament.played == 0


def test_nothing_is_opened_or_closed_twice() -> None:
    """A second opening, a second result and an early end are refused."""
    tournament = new("roundrobin")
    fixture = next(tournament.fixtures())
    opened(tournament, fixture)
    with pytest.raises(ImpossibleEvent, match="being played already"):
        opened(tournament, fixture)
    end = closed(tournament, fixture.match, Random(1))
    take(tournament, end)
    with pytest.raises(ImpossibleEvent, match="is not being played"):
        take(tournament, end)
    with pytest.raises(ImpossibleEvent, match="still to be played"):
        take(tournament, e.Finished(at=AT))


STARTS = [("refused-to-start", 0, True), ("malformed-message", 0, True), ("oversize", 0, True), ("oversize", 1, False)]


@pytest.mark.parametrize(("cause", "turn", "is_start"), STARTS)
def test_whatever_ends_a_player_before_the_first_turn_is_a_failure_to_start(
    cause: str, turn: int, *, is_start: bool
) -> None:
    """A program with a wrong hello in each match is suspended, as a silent one is."""
    tournament = begun(spec_of(4, suspend_after=1))
    foul = FoulEntry(seat=0, cause=cause, turn=turn, detail="so")
    commands = over(tournament, opened(tournament), ranking=((1,), (0,)), fouls=(foul,))
    suspensions = [command for command in commands if isinstance(command, c.SuspendEntrant)]
    assert [suspension.why for suspension in suspensions] == (["failed to start in 1 match: so"] if is_start else [])


@pytest.mark.parametrize("void", [None, "the disk is full"])
def test_a_leg_that_ends_after_a_withdrawal_counts_for_nothing(void: str | None) -> None:
    """When an entrant withdraws, another leg of its pairing may be going on; its result does not count."""
    tournament = begun(spec_of(4, duplicate=True))
    first, second = (opened(tournament, fixture) for fixture in list(tournament.fixtures())[:2])
    name = tournament.spec.entrants[tournament.playing[first].entrants[0]].name
    over(tournament, first)
    commands = ruling(tournament, "withdraw", entrant=name)
    assert c.CallOff(match=second) in commands
    (command,) = over(tournament, second, void=void)
    assert command == c.DisregardMatch(match=second, why="somebody withdrew before it was over")
    assert (tournament.played, tournament.voided) == (1, 0)


def test_a_void_match_is_played_again() -> None:
    """It gets another name, and the pairing waits for it."""
    tournament = new("roundrobin")
    match = opened(tournament)
    (command,) = over(tournament, match, void="the disk is full", ranking=())
    assert isinstance(command, c.PlayMatch)
    assert (command.fixture.match, command.fixture.attempt) == (f"{match}r1", 1)
    assert command.fixture in tournament.fixtures()


def ruling(tournament: Tournament, kind: Kind, **about: str) -> tuple[c.TournamentCommand, ...]:
    """Apply a ruling; return its commands."""
    return take(
        tournament,
        e.Ruled(
            at=AT, ruling=Ruling(id=f"{len(tournament.rulings)}", kind=kind, reason="so", by="the organiser", **about)
        ),
    )


def points(tournament: Tournament) -> dict[int, float]:
    """Return all entrants' points."""
    return {line.entrant: line.points for line in tournament.standings()}


def test_a_match_is_awarded_void_and_replayed_by_rulings() -> None:
    """Points follow the last ruling. A replay is one more match, and the format goes on as before."""
    tournament = begun(spec_of(4))
    match = opened(tournament)
    one, other = tournament.playing[match].entrants
    over(tournament, match)
    assert (points(tournament)[one], points(tournament)[other]) == (1, 0)
    assert ruling(tournament, "award", match=match, entrant=f"e{other}") == (c.DisregardMatch(match=match, why="so"),)
    assert (points(tournament)[one], points(tournament)[other]) == (0, 1)
    ruling(tournament, "void", match=match)
    assert (points(tournament)[one], points(tournament)[other]) == (0, 0)
    *_, again = ruling(tournament, "replay", match=match)
    assert isinstance(again, c.PlayMatch)
    assert again.fixture.match == f"{match}r1"
    played_out(tournament, Random(1))
    assert tournament.is_over
    assert tournament.played == 6
    assert sum(points(tournament).values()) == 6


def test_a_replay_waits_until_its_entrants_are_free() -> None:
    """A ruling does not make anybody play two matches at the same time."""
    tournament = begun(spec_of(4))
    first = opened(tournament)
    seats = set(tournament.playing[first].entrants)
    over(tournament, first)
    over(tournament, opened(tournament))
    busy = next(fixture for fixture in tournament.fixtures() if seats & set(fixture.entrants))
    opened(tournament, busy)
    ruling(tournament, "replay", match=first)
    assert f"{first}r1" not in {fixture.match for fixture in tournament.fixtures()}
    over(tournament, busy.match)
    again = next(fixture for fixture in tournament.fixtures() if fixture.match == f"{first}r1")
    opened(tournament, again)
    assert all(seats.isdisjoint(fixture.entrants) for fixture in tournament.fixtures() if fixture != again)


def test_what_is_still_to_be_played_can_be_awarded() -> None:
    """A match that can't be played to its end is decided without being played."""
    tournament = begun(spec_of(4))
    fixture = next(tournament.fixtures())
    ruling(tournament, "award", match=fixture.match, entrant=f"e{fixture.entrants[1]}")
    assert points(tournament)[fixture.entrants[1]] == 1
    assert fixture not in tournament.fixtures()
    assert tournament.played == 0


def test_who_is_disqualified_is_last_and_who_is_reinstated_plays_on() -> None:
    """Rulings that withdraw, disqualify and reinstate change who plays, and the places."""
    tournament = begun(spec_of(6))
    over(tournament, opened(tournament))
    best = tournament.standings()[0].entrant
    assert c.SuspendEntrant(entrant=best, why="so") in ruling(tournament, "disqualify", entrant=f"e{best}")
    assert tournament.standings()[-1].entrant == best
    assert all(best not in fixture.entrants for fixture in tournament.fixtures())
    ruling(tournament, "reinstate", entrant=f"e{best}")
    assert tournament.standings()[0].entrant == best
    played_out(tournament, Random(2))
    assert tournament.is_over
    assert 1 < tournament.table.sums(best).played <= 5


def _playing(tournament: Tournament) -> dict[str, str]:
    return {"match": opened(tournament)}


def _with_stranger(tournament: Tournament) -> dict[str, str]:
    fixture = next(tournament.fixtures())
    stranger = next(entrant for entrant in range(5) if entrant not in fixture.entrants)
    return {"match": fixture.match, "entrant": f"e{stranger}"}


REFUSED: list[tuple[Kind, Callable[[Tournament], dict[str, str]], str]] = [
    ("withdraw", lambda _: {"entrant": "nobody"}, "nobody in cup is called nobody"),
    ("withdraw", lambda _: {"entrant": "e_1"}, 'nobody in cup is called e_1; did you mean "e1"'),
    ("reinstate", lambda _: {"entrant": "e1"}, "takes part: there is nothing to reinstate"),
    ("void", lambda _: {"match": "cap-00001"}, "is no match of cup: its matches are called like cup-00001"),
    ("void", lambda _: {"match": "cup-00099"}, "has no match cup-00099"),
    ("void", lambda _: {"match": "cup-00001.9"}, "has no match"),
    ("void", _playing, "is being played: rule on it when it is over"),
    ("replay", lambda tournament: {"match": next(tournament.fixtures()).match}, "is to be played anyway"),
    ("award", _with_stranger, "does not play"),
]


@pytest.mark.parametrize(("kind", "about", "text"), REFUSED)
def test_a_ruling_that_makes_no_sense_is_refused(
    kind: Kind, about: Callable[[Tournament], dict[str, str]], text: str
) -> None:
    """The text says why, and nothing changes."""
    tournament = begun(spec_of(5))
    chosen = about(tournament)
    before = list(tournament.fixtures()), tournament.standings()
    with pytest.raises(BadRuling, match=text):
        ruling(tournament, kind, **chosen)
    assert (list(tournament.fixtures()), tournament.standings()) == before
    assert tournament.rulings == []


def _semi_finals() -> tuple[Tournament, str, str]:
    """Return a knockout of four after one semi-final, with its name and its loser."""
    tournament = begun(spec_of(4, "knockout"))
    match = opened(tournament)
    loser = f"e{tournament.playing[match].entrants[1]}"
    over(tournament, match)
    over(tournament, opened(tournament))
    return tournament, match, loser


def test_a_ruling_sends_another_on_in_a_bracket() -> None:
    """A result can be changed until a match that follows from it has been played."""
    tournament, match, loser = _semi_finals()
    (before,) = tournament.fixtures()
    commands = ruling(tournament, "award", match=match, entrant=loser)
    assert c.CallOff(match=before.match) in commands
    (final,) = tournament.fixtures()
    assert int(loser[1:]) in final.entrants
    played_out(tournament, Random(1))
    assert {int(loser[1:])} <= {line.entrant for line in tournament.standings()[:2]}


@pytest.mark.parametrize("is_over", [False, True])
def test_a_bracket_does_not_take_back_what_played_matches_follow_from(*, is_over: bool) -> None:
    """If the winner plays on, or has played, a ruling on its match is refused."""
    tournament, match, loser = _semi_finals()
    final = opened(tournament)
    if is_over:
        over(tournament, final)
    text = "have been played" if is_over else "follows from it, and is being played"
    with pytest.raises(BadRuling, match=text):
        ruling(tournament, "award", match=match, entrant=loser)


def test_a_finished_pairing_leaves_nothing_behind() -> None:
    """The memory for pairings that are due does not grow with the matches."""
    tournament = new("ladder", is_duplicate=True)
    for event in events_of(tournament, Random(10), troubles=Troubles(void=0.2)):
        take(tournament, event)
        assert len(tournament.due) <= 5


def test_a_pairing_that_is_forgotten_begins_from_nothing() -> None:
    """Neither results nor attempts of its number are kept, so they can't pile up."""
    due, pairing = DuePairings("cup", 2), Pairing(number=1, round=1, seats=(0, 1))
    first, second = due.add(pairing)
    assert due.play_again(first).match == "cup-00001r1"
    assert not due.close(make_ruled_entry(second, ("a", "b"), 0))
    due.forget(1)
    assert (list(due), due.results(1), due.fixtures(1)) == ([], {}, ())
    assert due.add(pairing) == (first, second)


@pytest.mark.parametrize(("name", "seats", "is_duplicate"), CASES)
@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_asked_for_at_any_moment_the_tournament_ends(
    *, name: str, seats: int, is_duplicate: bool, seed: int
) -> None:
    """A ruling is carried out, or refused without any change.

    Nobody plays two matches at once; applying the events again gives the same.
    """
    tournament, again = (new(name, seats, is_duplicate=is_duplicate) for _ in range(2))
    random, steps = Random(seed), 0
    for step, event in enumerate(events_of(tournament, random, tables=3, troubles=TROUBLES)):
        assert take(tournament, event) == take(again, event)
        if random.random() < 0.1 and step < 200:
            asked = ask_anything(tournament, random, step)
            before = tournament.standings(), list(tournament.fixtures())
            try:
                commands = take(tournament, asked)
            except BadRuling:
                assert (tournament.standings(), list(tournament.fixtures())) == before
            else:
                assert commands == take(again, asked)
        steps = step
    assert tournament.is_over, f"nothing is due after {steps} events"
    assert tournament.standings() == again.standings()
    assert take(tournament, e.Finished(at=AT))
