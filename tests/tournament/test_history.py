"""The notes that a history keeps of a tournament, for reports and files."""

from fractions import Fraction
from random import Random

import pytest

from referee.tournament import events as e
from referee.tournament.history import History, new_tournament
from referee.tournament.machine import ImpossibleEvent
from referee.tournament.pairing.base import BadRuling
from referee.tournament.rulings import Kind, Ruling
from referee.tournament.spec import Participant, TournamentSpec

from .playing import AT, FORMATS, SALT, Troubles, closed, events_of, spec_of, tournament_of


def history_of(spec: TournamentSpec) -> History:
    """Return the history of a tournament that has just begun."""
    history = History(new_tournament(spec, FORMATS[spec.format], SALT))
    history.take(e.Begun(at="the first day"))
    return history


def play(history: History, seed: int, troubles: Troubles) -> None:
    """Play a tournament to its end."""
    for event in events_of(history.tournament, Random(seed), troubles=troubles):
        history.take(event)


def ruled(kind: Kind, number: int, **about: str) -> e.Ruled:
    """Return a ruling."""
    return e.Ruled(at=AT, ruling=Ruling(id=f"{number}", kind=kind, reason="so", by="the organiser", **about))


@pytest.mark.parametrize(
    ("format_", "seats", "size"),
    [
        ("roundrobin", 2, 7),
        ("roundrobin", 4, 7),
        ("swiss", 2, 9),
        ("swiss", 4, 9),
        ("knockout", 2, 6),
        ("ladder", 2, 5),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_a_history_adds_up_to_the_table(format_: str, seats: int, size: int, seed: int) -> None:
    """Points by round, byes and counted matches are those of the standings."""
    options = {"matches": 20} if format_ == "ladder" else {}
    history = history_of(spec_of(size, format_, seats, format_options=options, suspend_after=2))
    play(history, seed, Troubles(void=0.1, failed=0.1))
    table = history.tournament.table
    worth = history.points_by_round()
    assert list(worth) == sorted(worth)
    for entrant in range(size):
        sums = table.sums(entrant)
        assert sum((points.get(entrant, Fraction(0)) for points in worth.values()), Fraction(0)) == sums.points
        assert sum(bye.seats == (entrant,) for bye in history.byes) == sums.byes
        played = [entry for entry in history.played if not entry.pairing.is_bye and entrant in entry.pairing.seats]
        assert len(played) == sums.played
    counted = [entry.void is None for entry in history.entries if entry.match not in history.disregarded]
    assert (sum(counted), len(counted) - sum(counted)) == (history.tournament.played, history.tournament.voided)


def test_a_history_folds_as_the_tournament_does() -> None:
    """A history gives the tournament's own commands, and the tournament does not depend on it."""
    spec = spec_of(6, "swiss")
    history, plain = history_of(spec), tournament_of(spec)
    plain.handle(e.Begun(at="the first day"))
    for event in events_of(plain, Random(1)):
        assert history.take(event) == plain.handle(event)


def test_a_result_that_is_taken_back_is_in_no_round() -> None:
    """After `replay` the old result counts for nothing, and the new one takes its place."""
    history = history_of(spec_of(4))
    fixture = next(history.tournament.fixtures())
    history.take(e.MatchOpened(at=AT, fixture=fixture))
    history.take(closed(history.tournament, fixture.match, Random(1), ranking=((0,), (1,)), fouls=()))
    winner, loser = fixture.entrants
    assert history.points_by_round()[1] == {winner: 1, loser: 0}
    history.take(ruled("replay", 1, match=fixture.match))
    assert history.points_by_round() == {}
    assert history.disregarded == {fixture.match: "so"}
    again = next(
        fixture_again for fixture_again in history.tournament.fixtures() if fixture_again.number == fixture.number
    )
    history.take(e.MatchOpened(at=AT, fixture=again))
    history.take(closed(history.tournament, again.match, Random(1), ranking=((1,), (0,)), fouls=()))
    assert history.points_by_round()[1] == {winner: 0, loser: 1}
    history.take(ruled("award", 2, match=again.match, entrant=f"e{winner}"))
    assert history.points_by_round()[1] == {winner: 1, loser: 0}
    assert [entry.match for entry in history.entries] == [fixture.match, again.match]
    assert history.closed_at == {fixture.match: AT, again.match: AT}
    assert set(history.disregarded) == {fixture.match, again.match}


def test_a_round_that_is_played_again_stands_where_it_was() -> None:
    """Rounds keep their order, whenever the results that count came."""
    history = history_of(spec_of(4))

    def _play_one() -> str:
        fixture = next(history.tournament.fixtures())
        history.take(e.MatchOpened(at=AT, fixture=fixture))
        history.take(closed(history.tournament, fixture.match, Random(1), ranking=((0,), (1,)), fouls=()))
        return fixture.match

    first, second, _ = (_play_one() for _ in range(3))
    assert list(history.points_by_round()) == [1, 2]
    for number, match in enumerate((first, second)):
        history.take(ruled("replay", number, match=match))
    assert list(history.points_by_round()) == [2]
    while 1 not in history.points_by_round():
        _play_one()
    assert list(history.points_by_round())[:2] == [1, 2]


def test_a_history_knows_when_a_referee_came_and_went() -> None:
    """It knows each beginning, resumption, stop and end, and when each program changed."""
    history = history_of(spec_of(3))
    history.take(e.Stopped(at="the first night", why="it was asked to"))
    history.take(e.TournamentResumed(at="the second day", referee="test"))
    history.take(e.ProgramChanged(at="at noon", entrant=2, digest="ab" * 32))
    play(history, 1, Troubles())
    history.take(e.Finished(at="the second night"))
    assert history.begun_at == ["the first day", "the second day"]
    assert history.left_at == ["the first night", "the second night"]
    assert history.changes == [(2, "at noon")]


def test_a_history_knows_which_version_played_what() -> None:
    """An entrant has a new version from its next match on; an entrant that joins late has its first one."""
    spec, digest = spec_of(3, "ladder", format_options={"matches": 12}), "ab" * 32
    history = History(new_tournament(spec, FORMATS["ladder"], SALT), programs={"e2": "cd" * 32})
    history.take(e.Begun(at="the first day"))
    for event in events_of(history.tournament, Random(1)):
        history.take(event)
        if len(history.entries) == 4 and not history.changes:
            history.take(e.ProgramChanged(at="at noon", entrant=2, digest=digest))
            late = Participant(name="late", player="house:dag")
            history.take(e.EntrantJoined(at="in the evening", participant=late, digest=None))
    told = [(each.number, each.at, each.digest) for each in (*history.versions[2], *history.versions[3])]
    assert told == [(1, "the first day", "cd" * 32), (2, "at noon", digest), (1, "in the evening", None)]
    for entrant, versions in history.versions.items():
        played = [entry.match for entry in history.entries if entrant in entry.fixture.entrants]
        assert [match for version in versions for match in version.matches] == played
    before = {entry.match for entry in history.entries[:4]}
    first, second = history.versions[2]
    assert before.issuperset(first.matches)
    assert before.isdisjoint(second.matches)


def test_who_joins_late_has_byes_in_the_rounds_before() -> None:
    """They are worth half a win each, and belong to the missed rounds."""
    history = history_of(spec_of(6, "swiss", format_options={"rounds": 4}))
    for event in events_of(history.tournament, Random(1)):
        history.take(event)
        if len(history.entries) == 4:
            break
    history.take(e.EntrantJoined(at=AT, participant=Participant(name="late", player="house:dag"), digest=None))
    assert history.joined == [(6, AT)]
    play(history, 2, Troubles())
    assert [bye.round for bye in history.byes if bye.seats == (6,)][:2] == [1, 2]
    worth = history.points_by_round()
    assert (worth[1][6], worth[2][6]) == (Fraction(1, 2), Fraction(1, 2))


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (e.Finished(at=AT), ImpossibleEvent),
        (e.ProgramChanged(at=AT, entrant=9, digest="ab" * 32), ImpossibleEvent),
        (ruled("void", 1, match="cup-00099"), BadRuling),
    ],
)
def test_what_can_not_happen_leaves_no_trace(event: e.TournamentEvent, error: type[Exception]) -> None:
    history = history_of(spec_of(4))
    with pytest.raises(error):
        history.take(event)
    assert (history.left_at, history.changes, history.entries, history.disregarded) == ([], [], [], {})
