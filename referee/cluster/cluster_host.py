"""A host as a tournament has it, and the matches that it was given."""

import hashlib
from typing import Any

from msgspec import Struct
from twisted.internet.defer import Deferred

from ..net.jobs.job import MatchJob
from ..observers import PlayingProcess
from ..programs.build import BUILD_S
from .followed import Followed, longest_lag_ms
from .messages import SEEN_S, NotBegun, PlayedMatch, ShippedJob

GONE_LOOKS = 30
"""So often the scheduler does not know a host any more, and its matches are given up: twice a second. What it does not
answer is not counted, so a host has this long to come back to a scheduler that was started anew."""


class Lost(Struct, frozen=True, kw_only=True, tag="lost"):
    """A match went down with its host."""

    why: str
    printed: dict[int, bytes] = {}
    """By seat, the end of what its program printed, if the host could tell."""


Outcome = PlayedMatch | NotBegun | Lost


class Attempt:
    """A match that a host was given.

    Args:
        shipped: what the host is sent.
        followed: takes its lines.
    """

    def __init__(self, shipped: ShippedJob, followed: Followed) -> None:
        self.shipped = shipped
        self.followed = followed
        self.outcome: Deferred[Outcome] = Deferred()
        self.needs: set[str] = set()
        """Programs that its host does not have yet."""
        self.pushes = 0
        """How often its host has asked for programs."""
        self.asked = 0
        """Number of the ask for it."""
        self.unanswered = ""
        """Why there was no answer."""
        self._stage: tuple[Any, ...] = ()
        """How far it had come when that was looked at last."""
        self._looks = self._silent_looks = 0
        """Since then, and since something of it has come."""
        self._size = 0
        """How much of it had come by the last look."""
        self._digest = b""
        """Of the record that has come."""

    @property
    def is_over(self) -> bool:
        """Whether it is known what came of it, or nobody waits for that any more."""
        return self.outcome.called

    def has_come(self, played: PlayedMatch) -> bool:
        """Tell whether a record is the one that has come already."""
        return self._digest == _digest(played)

    def stands_still(self, *, is_its_turn: bool) -> bool:
        """Look at it while its host is there; tell whether it has come no further for longer than it ever takes.

        Args:
            is_its_turn: False: its host may well have no table for it yet.
        """
        is_silent, self._size = self.followed.size == self._size, self.followed.size
        self._silent_looks = self._silent_looks + 1 if is_its_turn and is_silent else 0
        self._looks = self._looks + 1 if is_its_turn else 0
        most_looks = patience_s(self.followed.job) / SEEN_S
        if 1 < self._looks <= most_looks + 1 or not is_its_turn:
            return self._silent_looks > most_looks
        stage, before = self.followed.stage, self._stage  # seldom: it may have to be folded for that
        is_still = self._looks > 1 and stage == before
        self._stage, self._looks = stage, self._looks if is_still else 1
        return is_still

    def lag_ms(self, outcome: Outcome) -> float:
        """Return the most that its host had in an answer, as far as it tells.

        Args:
            outcome: what came of it.
        """
        return longest_lag_ms(outcome.record if isinstance(outcome, PlayedMatch) else self.followed.come)

    def end(self, outcome: Outcome) -> None:
        """Say what came of it, once."""
        if not self.outcome.called:
            self._digest = _digest(outcome) if isinstance(outcome, PlayedMatch) else b""
            self.outcome.callback(outcome)


def patience_s(job: MatchJob) -> float:
    """Return how long a match may come no further.

    Its programs may be built one after the other; or all seats take all their time for one answer, and come back late.

    Args:
        job: the match.
    """
    terms = job.terms
    answer_s = max(terms.time.per_move_ms, terms.time.start_ms) / 1000
    return len(job.seats) * (BUILD_S + answer_s + terms.come_back_s)


def _digest(played: PlayedMatch) -> bytes:
    return hashlib.sha256(played.record).digest()


def machine_of(host: str) -> str:
    """Return the name of a host's machine, which stays when the host is started anew."""
    return host.rpartition("-")[0]


class ClusterHost:
    """A host, by its name; one that is lost and comes back is the same one.

    Args:
        name: of its process.
        process: what the records call it.
    """

    def __init__(self, name: str, process: str) -> None:
        self.name = name
        self.process = process
        self.address = ""
        """Where it is now; empty: it was not let in there."""
        self.entering = ""
        """Where it is being let in."""
        self.is_on_record = False
        """Whether the tournament's record tells that it has come."""
        self.tables = 0
        self.attempts: dict[str, Attempt] = {}
        self.pushing: set[str] = set()
        """Programs that are on their way to it."""
        self.absent_looks = 0
        self.outside_looks = 0
        """So often in a row it was looked, and it was not let in."""
        self.over_ms = 0.0
        """When, on its clock, the last match was over that has come back from it."""
        self.failures = 0
        self.aside = ""
        """Why it plays nothing more for this run."""

    @property
    def may_come(self) -> bool:
        """Whether it is not let in, and has had no time yet for that."""
        return not self.address and not self.aside and max(self.absent_looks, self.outside_looks) < GONE_LOOKS

    @property
    def capacity(self) -> int:
        """How many matches it is given at a time: some wait there, so that no table waits for the next one."""
        usable = self.tables if self.address and not self.aside else 0
        return usable + max(1, usable // 2) if usable else 0

    @property
    def load(self) -> float:
        """How much of what it is given at a time it has."""
        return len(self.attempts) / self.capacity

    def seen(self) -> PlayingProcess:
        """Return how it is, for observers."""
        if self.aside:
            state = f"plays nothing more: {self.aside}"
        elif not self.address:
            state = "is not there"
        else:
            state = "plays" if self.tables else "takes no more matches"
        return PlayingProcess(
            name=self.name,
            state=state,
            tables=self.tables,
            matches=tuple(self.attempts),
            silent_s=self.absent_looks * SEEN_S,
        )
