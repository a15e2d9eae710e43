"""The practice matches of a contest, for tests: their processes are stand-ins."""

import os
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.task import Clock

from referee.plugins import load
from referee.web.contest import practice, seats
from referee.web.contest import practice as practice_requests
from referee.web.contest.contest_file import read_contest, write_example
from referee.web.contest.practice import CALM_LOOKS, Practice, PracticeRequests, RefereeProgram
from referee.web.contest.seats import HostedSeat
from referee.web.submissions.challenges import Challenge
from referee.web.submissions.store import CheckOutcome, Store

from ..looking import Visitor
from ..submissions.receptions import archive

GOLDEN = Path(__file__).parents[2] / "golden" / "clean.jsonl"
NOW = "2026-11-01T10:00:00Z"


class StandInMatch:
    """Plays until the test ends it.

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


class PracticeScene:
    """The practice matches of a contest.

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
        self.rated: int | None = 0
        self.matches = list[StandInMatch]()
        self.noted = list[str]()
        self.told = list[str]()
        for module in (practice, practice_requests):
            patch.setattr(module, "deferToThread", maybeDeferred)
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
        """Begin, as a host does."""
        program = RefereeProgram(("referee",), ("--key", "k"))
        requests = PracticeRequests(self.contest, self.store)
        self.practice = Practice(
            self.clock, self.contest, requests, program, lambda: self.rated, self.told.append, self._note
        )
        self.running = self.practice.begin()

    def close(self) -> None:
        """End, as a host does that is stopped."""
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
            ChallengeRefused: the match is refused.
        """
        asked = Deferred.fromCoroutine(self.practice.challenge(author, tournament, version, opponent))
        failures = list[Any]()
        asked.addErrback(failures.append)
        for failure in failures:
            failure.raiseException()

    def ask_in_person(self, author: str = "ada", number: str = "1") -> Any:
        """Ask for a match that the author plays, and watch the seat."""
        self.ask("league", None, "house:greedy", author)
        visitor: Any = Visitor()
        self.seat(author, number).watch(visitor)
        return visitor

    def seat(self, author: str = "ada", number: str = "1") -> HostedSeat:
        """Return the seat of an author."""
        found = self.practice.seat(author, number)
        assert found is not None
        return found

    def look(self, times: int = 1) -> None:
        """Let it look a number of times."""
        self.clock.pump([practice.LOOK_S] * times)

    def begun(self) -> StandInMatch:
        """Wait for the next match to begin, and return it."""
        before = len(self.matches)
        self.look(CALM_LOOKS)
        assert len(self.matches) == before + 1
        return self.matches[-1]

    def keep(self, *, is_over: bool = True) -> None:
        """Write the record of ada's first match, or its beginning."""
        data = GOLDEN.read_bytes()
        lines = data.splitlines(keepends=True)
        path = self.contest.folder / "logs/practice/ada/0001/q-1.jsonl"
        path.write_bytes(data if is_over else b"".join(lines[: len(lines) // 2]))

    def first(self) -> Challenge:
        """Return ada's first challenge."""
        return self.practice.challenges("ada")[-1]
