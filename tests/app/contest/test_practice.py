"""When practice matches are played, and what comes of them; their processes are stand-ins."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from referee.app.contest import practice
from referee.app.contest.practice import AWAY_S, CALM_LOOKS, LIMIT_S, MAX_ATTEMPTS, PERSON_LIMIT_S
from referee.app.contest.queues import waiting_practice
from referee.submissions.challenges import ChallengeRefused

from ...site.looking import Visitor
from .halls import Hall, StandInMatch


def test_a_match_is_played_by_the_rules_of_a_tournament(hall: Hall) -> None:
    """With its seats, time and limits; and it is over when its record is."""
    hall.ask("league", opponent="1")
    match = hall.begun()
    players = [str(hall.store.player_folder("ada", number)) for number in (2, 1, 1)]
    assert match.command[:6] == ["referee", "play", "quadominos", *players]
    for part in ("--lot", "--sandbox", "--memory", "--key", "--logs"):
        assert part in match.command
    assert hall.practice.waiting() == [(hall.first(), "is played now")]
    (line,) = waiting_practice(hall.practice)
    assert line.until is not None
    assert datetime.fromisoformat(line.until) > datetime.now(UTC) + timedelta(seconds=LIMIT_S / 2)
    hall.keep()
    match.has_ended = True
    hall.look()
    assert (hall.first().ended is not None, hall.first().trouble, match.is_stopped) == (True, None, True)
    page = hall.practice.replay("ada", "1")
    assert page is not None
    assert "record holds" in page
    assert [hall.practice.replay(*asked) for asked in (("bob", "1"), ("ada", "2"), ("ada", "../1"))] == [None] * 3


def test_rated_matches_go_first(hall: Hall) -> None:
    """One is not begun while they take all cores, and stopped when they do; it goes on from its record."""
    hall.ask()
    hall.rated = 2
    hall.look(2 * CALM_LOOKS)
    assert (hall.matches, "all 2" in hall.practice.waiting()[0][1]) == ([], True)
    (line,) = waiting_practice(hall.practice)
    assert (line.author, line.since) == ("ada", hall.first().asked)
    assert line.until == (datetime.fromisoformat(str(line.since)) + practice.WAIT).isoformat(timespec="seconds")
    hall.rated = 1
    match = hall.begun()
    hall.keep(is_over=False)
    hall.rated = 2
    hall.look()
    assert (match.is_stopped, hall.first().ended, hall.first().attempts) == (True, None, 0)
    hall.rated = 1
    record = str(hall.contest.folder / "logs/practice/ada/0001/q-1.jsonl")
    assert hall.begun().command[:4] == ["referee", "play", "--resume", record]


def test_what_waits_too_long_is_given_up(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though rated matches take all cores meanwhile; a person is waited for as long as nobody is at the seat."""
    hall.rated = 2
    hall.ask("league", None, "house:greedy")
    hall.look()
    hall.clock.advance(AWAY_S - 60)
    (line,) = waiting_practice(hall.practice)
    assert datetime.fromisoformat(line.until or "") < datetime.now(UTC) + timedelta(seconds=61)
    hall.ask()
    monkeypatch.setattr(practice, "WAIT", timedelta(0))
    hall.look()
    second, first = hall.practice.challenges("ada")
    assert ("no core was free" in (second.trouble or ""), first.trouble) == (True, None)
    hall.clock.advance(60)
    assert "a seat was not taken for 30 minutes" in (hall.first().trouble or "")
    assert (hall.matches, hall.practice.waiting()) == ([], [])


TROUBLES: dict[str, tuple[Callable[[Hall, StandInMatch], None], str]] = {
    "it ends without a record": (lambda _hall, match: setattr(match, "has_ended", True), "could not play it"),
    "it takes too long": (lambda hall, _match: hall.clock.advance(LIMIT_S), "not over after 30 minutes"),
}


@pytest.mark.parametrize(("happens", "told"), TROUBLES.values(), ids=TROUBLES)
def test_what_was_not_played_is_told(hall: Hall, happens: Callable[[Hall, StandInMatch], None], told: str) -> None:
    """To its author, and the next one has its turn."""
    hall.ask()
    hall.ask()
    happens(hall, hall.begun())
    hall.look()
    assert told in (hall.first().trouble or "")
    assert hall.noted == ["practice-over"]
    assert len(hall.practice.challenges("ada")) == 2
    hall.look(CALM_LOOKS)
    assert len(hall.matches) == 2


def test_a_host_goes_on_with_what_another_left(hall: Hall) -> None:
    """Stopped or killed: what was over is not played again, and what takes hosts down is given up."""
    hall.ask()
    hall.begun()
    hall.close()
    assert [match.is_stopped for match in hall.matches] == [True], "nothing outlives a host"
    hall.open()
    assert hall.first().attempts == 0
    hall.begun()
    folder = hall.contest.folder / "logs/practice/ada/0001"
    killed = (folder / "challenge.json").read_bytes()
    hall.keep()
    hall.close()
    (folder / "challenge.json").write_bytes(killed)
    hall.open()
    assert hall.first().attempts == 1
    hall.look(CALM_LOOKS)
    assert (hall.first().ended is not None, hall.first().trouble, len(hall.matches)) == (True, None, 2)
    hall.ask()
    second = replace(hall.practice.challenges("ada")[0], attempts=MAX_ATTEMPTS)
    hall.practice._challenges.save(second)
    hall.look(CALM_LOOKS)
    assert "cut off 3 times" in (hall.practice.challenges("ada")[0].trouble or "")


def test_an_author_plays_in_person(hall: Hall) -> None:
    """Once there, and with time to think; the process is given the seat's socket, and goes on from its record."""
    hall.ask("league", None, "house:greedy")
    hall.look(2 * CALM_LOOKS)
    assert hall.practice.waiting() == [(hall.first(), "begins when ada takes the seat")]
    visitor: Any = Visitor()
    hall.seat().look_on(visitor)
    hall.look()
    (match,) = hall.matches
    assert match.command[:6] == ["referee", "play", "quadominos", "me:ada", "house:greedy", "house:greedy"]
    assert {"--time=180.0", "--lot"} <= {*match.command}
    assert not any(part.startswith(("--bank", "--increment")) for part in match.command)
    assert [f"--relay=ada={descriptor}" for descriptor in match.descriptors] == match.command[-1:]
    hall.keep(is_over=False)
    hall.rated = 2
    hall.look()
    assert (match.is_stopped, b"waits until a core is free" in hall.seat().snapshot()) == (True, True)
    hall.rated = 0
    again = hall.begun()
    assert (again.command[2], again.command[-1][:12]) == ("--resume", "--relay=ada=")
    hall.keep()
    again.has_ended = True
    hall.look()
    assert (hall.first().ended is not None, hall.first().trouble) == (True, None)
    assert b"the match is over" in hall.seat().snapshot()
    assert hall.practice.seat("ada", "2") is hall.practice.seat("bob", "1") is None


def test_persons_play_beside_programs_and_each_other(hall: Hall) -> None:
    """As many as cores are free, each at one table; rated matches take the core of one of them at a time."""
    for author, number in (("ada", "1"), ("ada", "2"), ("bob", "1"), ("cyd", "1")):
        hall.ask_in_person(author, number)
    hall.ask()
    hall.look(CALM_LOOKS)
    assert sorted(match.command[3] for match in hall.matches[1:]) == ["me:ada", "me:bob"]
    told = {challenge.place: why for challenge, why in hall.practice.waiting()}
    assert told.pop("ada/0002") == "waits for the one that ada plays now"
    assert told.pop("cyd/0001") == "waits until a core is free: others' matches take all 2"
    assert set(told.values()) == {"is played now"}
    hall.rated = 1
    hall.look()
    assert [match.is_stopped for match in hall.matches] == [False, False, True]


def test_who_does_not_come_is_not_waited_for(hall: Hall) -> None:
    """Neither before the match, nor in it: that ends for good."""
    visitor = hall.ask_in_person()
    visitor.abortConnection()
    hall.clock.advance(AWAY_S)
    hall.look(CALM_LOOKS)
    assert "a seat was not taken for 30 minutes" in (hall.first().trouble or "")
    hall.ask_in_person(number="2")
    match = hall.begun()
    hall.clock.advance(PERSON_LIMIT_S)
    hall.look()
    assert (match.is_stopped, "60 minutes" in (hall.practice.challenges("ada")[0].trouble or "")) == (True, True)
    hall.ask_in_person(number="3")
    hall.practice.leave("ada")
    hall.look(2 * CALM_LOOKS)
    assert len(hall.matches) == 1


def test_a_seat_is_where_a_person_plays(hall: Hall) -> None:
    """Not where a program does."""
    hall.ask()
    assert [hall.practice.seat("ada", number) for number in ("1", "2", "x")] == [None] * 3


def test_a_disk_that_fails_stops_nothing(hall: Hall) -> None:
    """The match is tried again."""
    hall.ask()
    shutil.rmtree(hall.contest.folder / "logs/practice/ada")
    hall.look(CALM_LOOKS)
    assert hall.noted == ["practice-failed"]


REFUSED = {
    "another tournament": ({"tournament": "none"}, "no such tournament"),
    "a house player of another game": ({"opponent": "house:nobody"}, "does not play q"),
    "a version that failed": ({"version": "3"}, "has passed its check"),
    "no version": ({"version": "9"}, "has passed its check"),
    "a version of no number": ({"opponent": "../bob/1"}, "has passed its check"),
    "nothing": ({"opponent": ""}, "has passed its check"),
    "with nobody": ({"version": None, "guest": "eve"}, "no other author of that name"),
    "with oneself": ({"version": None, "guest": "ada"}, "no other author of that name"),
    "a version with a person": ({"guest": "bob"}, "a version plays with nobody else"),
    "with a person and nobody": ({"tournament": "league", "version": None, "guest": "bob", "opponent": ""}, "passed"),
}


@pytest.mark.parametrize(("asked", "told"), REFUSED.values(), ids=REFUSED)
def test_what_can_not_be_played_is_refused(hall: Hall, asked: dict[str, Any], told: str) -> None:
    """And nothing is kept of it."""
    with pytest.raises(ChallengeRefused, match=told):
        hall.ask(**asked)
    assert hall.practice.challenges("ada") == []


def test_only_where_the_organiser_allows_it(hall: Hall) -> None:
    """What was asked for before is told as not played."""
    hall.ask()
    hall.close()
    hall.contest = replace(hall.contest, practice=False)
    hall.open()
    assert hall.practice.rules() == []
    hall.look(CALM_LOOKS)
    assert "not allowed" in (hall.first().trouble or "")
