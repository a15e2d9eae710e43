"""When practice matches are played, and what comes of them; their processes are stand-ins."""

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.task import Clock

from referee.app.contest import practice, seats
from referee.app.contest.contest_file import read_contest, write_example
from referee.app.contest.practice import (
    AWAY_S,
    CALM_LOOKS,
    LIMIT_S,
    MAX_ATTEMPTS,
    PERSON_LIMIT_S,
    Practice,
    RefereeProgram,
)
from referee.app.contest.queues import waiting_practice
from referee.app.contest.seats import HostedSeat
from referee.plugins import load
from referee.submissions.challenges import Challenge, ChallengeRefused
from referee.submissions.store import CheckOutcome, Store

from ...site.looking import Visitor
from ...submissions.receptions import archive

GOLDEN = Path(__file__).parents[2] / "golden" / "clean.jsonl"
NOW = "2026-11-01T10:00:00Z"


class StandInMatch:
    """Plays as long as a test wants.

    Args:
        command: its command line.
        descriptors: that it gets.
    """

    def __init__(self, command: list[str], descriptors: tuple[int, ...]) -> None:
        self.command = command
        self.descriptors = descriptors
        self.has_ended = False
        self.is_stopped = False

    def end(self, _grace_s: float) -> None:
        """Stop it."""
        self.is_stopped = True


class Hall:
    """Where the practice matches of a contest are played.

    Args:
        folder: an empty one.
        patch: undone after the test.
    """

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        write_example(folder)
        self.contest = read_contest(folder, load())
        self.store = Store(folder / "submissions")
        for number, passed in ((1, True), (2, True), (3, False)):
            self.store.hand_in("ada", archive(note=str(number)), NOW)
            self.store.conclude("ada", number, CheckOutcome(passed=passed), NOW)
        self.clock = Clock()
        self.rated = 0
        self.matches = list[StandInMatch]()
        self.noted = list[str]()
        patch.setattr(practice, "deferToThread", maybeDeferred)
        patch.setattr(practice, "OwnProcess", self._start)
        patch.setattr(seats, "speak", lambda _link, ours, _reactor: ours.close())
        patch.setattr(os, "cpu_count", lambda: 2)
        self.open()

    def _start(self, command: list[str], *, pass_fds: tuple[int, ...], **_: Any) -> StandInMatch:
        self.matches.append(StandInMatch(command, pass_fds))
        return self.matches[-1]

    def _note(self, event: str, /, **_facts: Any) -> None:
        self.noted.append(event)

    def open(self) -> None:
        """Open it, as the next host does."""
        program = RefereeProgram(("referee",), ("--key", "k"))
        self.practice = Practice(
            self.clock, self.contest, self.store, program, lambda: self.rated, lambda _: None, self._note
        )
        self.running = self.practice.begin()

    def close(self) -> None:
        """End it, as a host does that is stopped."""
        for running in self.running:
            running.cancel()

    def ask(
        self,
        tournament: str = "cup",
        version: str | None = "2",
        opponent: str = "house:dag",
        author: str = "ada",
    ) -> None:
        """Ask for a match.

        Raises:
            ChallengeRefused: it is not taken.
        """
        asked = Deferred.fromCoroutine(self.practice.challenge(author, tournament, version, opponent))
        failures = list[Any]()
        asked.addErrback(failures.append)
        for failure in failures:
            failure.raiseException()

    def ask_in_person(self, author: str = "ada", number: str = "1") -> Any:
        """Ask for a match that the author plays, and look on at the seat."""
        self.ask("league", None, "house:greedy", author)
        visitor: Any = Visitor()
        self.seat(author, number).look_on(visitor)
        return visitor

    def seat(self, author: str = "ada", number: str = "1") -> HostedSeat:
        """Return the seat of an author."""
        found = self.practice.seat(author, number)
        assert found is not None
        return found

    def look(self, times: int = 1) -> None:
        """Let it look so many times."""
        self.clock.pump([practice.LOOK_S] * times)

    def begun(self) -> StandInMatch:
        """Wait for the next match to begin, and return it."""
        before = len(self.matches)
        self.look(CALM_LOOKS)
        assert len(self.matches) == before + 1
        return self.matches[-1]

    def keep(self, *, is_over: bool = True) -> None:
        """Write the record of ada's first match, or the beginning of it."""
        data = GOLDEN.read_bytes()
        lines = data.splitlines(keepends=True)
        path = self.contest.folder / "logs/practice/ada/0001/q-1.jsonl"
        path.write_bytes(data if is_over else b"".join(lines[: len(lines) // 2]))

    def first(self) -> Challenge:
        """Return ada's first challenge."""
        return self.practice.challenges("ada")[-1]


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return one of a contest with two tournaments."""
    found = Hall(tmp_path, monkeypatch)
    yield found
    found.close()
    found.store.close()


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
    assert line.until == (datetime.fromisoformat(line.since) + practice.WAIT).isoformat(timespec="seconds")
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
    assert "nobody took the seat for 30 minutes" in (hall.first().trouble or "")
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
    assert hall.practice.waiting() == [(hall.first(), "begins when its author takes the seat")]
    visitor: Any = Visitor()
    hall.seat().look_on(visitor)
    hall.look()
    (match,) = hall.matches
    assert match.command[:6] == ["referee", "play", "quadominos", "me:ada", "house:greedy", "house:greedy"]
    assert ("--time=180.0" in match.command, "--lot" in match.command, match.command[-2]) == (True, True, "--relay")
    assert not any(part.startswith(("--bank", "--increment")) for part in match.command)
    assert match.descriptors == (int(match.command[-1]),)
    hall.keep(is_over=False)
    hall.rated = 2
    hall.look()
    assert (match.is_stopped, b"waits until a core is free" in hall.seat().snapshot()) == (True, True)
    hall.rated = 0
    again = hall.begun()
    assert (again.command[2], again.command[-2]) == ("--resume", "--relay")
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
    assert told.pop("ada/0002") == "waits for the one that its author plays now"
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
    assert "nobody took the seat for 30 minutes" in (hall.first().trouble or "")
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
}


@pytest.mark.parametrize(("asked", "told"), REFUSED.values(), ids=REFUSED)
def test_what_can_not_be_played_is_refused(hall: Hall, asked: dict[str, str], told: str) -> None:
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
