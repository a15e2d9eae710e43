"""A host as a tournament has it, and which one is given the next match: the one with least to do.

Which programs run on which hosts? One that can't on a host, though it may on another, is not to blame. What a program
needs may be missing on one host; in a record that looks like a fault of its own: a build that fails, a start that
fails, a crash at what is loaded for the first answer. So where a program has never made a move, its end before that is
the host's fault if it has moved on another host, and is tried on another one if that is not known. A program that has
made a move has what it needs: what it does from then on is its own, and it can't have a match that it is about to lose
played again.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable
from heapq import heapify, heappush, heapreplace
from typing import Any

from msgspec import Struct
from twisted.internet.defer import Deferred

from ..match import events as e
from ..match.fouls import Cause, Foul
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


ENOUGH_HOSTS = 3
"""A program that runs on none of so many hosts is at fault itself."""
_CAUSES = (Cause.CRASHED, Cause.REFUSED_TO_START)
_ENDINGS = (None, e.Ending.ENDED, e.Ending.FAILED, e.Ending.SPEECHLESS, e.Ending.OUT_OF_MEMORY)
"""Of a program that may have lacked something."""


class Starts:
    """What is known of programs, by their digests, and of hosts, by their names."""

    def __init__(self) -> None:
        self._well: defaultdict[str, set[str]] = defaultdict(set)
        """Program -> hosts on which it has made a move."""
        self._failed: defaultdict[str, set[str]] = defaultdict(set)
        """Program -> hosts on which it did not come so far."""
        self._counted: defaultdict[str, list[str]] = defaultdict(list)
        """Program -> matches in which that counted."""

    def fit(self, programs: Iterable[str], hosts: Collection[str]) -> Collection[str]:
        """Return the hosts that a match can be given to; all of them, the very same, if there is no better one.

        Args:
            programs: of the match; one that has failed somewhere plays where it has made a move.
            hosts: that are there.
        """
        for program in programs:
            if failed := self._failed.get(program):
                well = self._well[program].intersection(hosts)
                hosts = well or set(hosts) - failed or hosts
        return hosts

    def is_excused(self, program: str, host: str, others: Collection[str]) -> bool:
        """Tell whether a program that did not come to a move is not to blame for that.

        Args:
            program: it.
            host: where it did not.
            others: hosts that are there besides.
        """
        well, failed = self._well[program], self._failed[program]
        if host in well:
            return False
        failed.add(host)
        return bool(well) or (len(failed) < ENOUGH_HOSTS and not failed.issuperset(others))

    def counted(self, program: str, match: str) -> None:
        """Take note that a match counts in which a program did not come to a move."""
        self._counted[program].append(match)

    def moved(self, program: str, host: str) -> list[str]:
        """Take note that a program has made a move on a host.

        Args:
            program: it.
            host: where.

        Returns:
            The matches that somebody has to look at: they count though it made no move in them, and it was not known
            yet that it can.
        """
        is_news = not self._well[program]
        self._well[program].add(host)
        self._failed[program].discard(host)
        return self._counted.pop(program, []) if is_news else []


def unstarted(fouls: Iterable[Foul], moved: Collection[int]) -> set[int]:
    """Return the seats whose programs may have lacked what they need.

    Args:
        fouls: of a match that is over.
        moved: the seats that made a move in it.
    """
    seats = {foul.seat for foul in fouls if foul.cause in _CAUSES and not foul.evidence and foul.ending in _ENDINGS}
    return seats.difference(moved)


class HostChoice:
    """The hosts that can be given matches.

    Whatever changes what hosts can take is to be followed by `look`, which goes through all of them; a host that has
    more to do than it had is found out when it is its turn.
    """

    def __init__(self) -> None:
        self.starts = Starts()
        self.room = 0
        """How many matches all of them are given at a time."""
        self._able: dict[str, ClusterHost] = {}
        self._queue: list[tuple[float, str]] = []
        """Load and name: a heap in which each host stands at least once, with no more than its load."""

    def look(self, hosts: Iterable[ClusterHost]) -> None:
        """Take note of what hosts can take now.

        Args:
            hosts: all that there are.
        """
        self._able = {host.name: host for host in hosts if host.capacity}
        self.room = sum(host.capacity for host in self._able.values())
        self._queue = [(host.load, host.name) for host in self._able.values()]
        heapify(self._queue)

    def eased(self, host: ClusterHost) -> None:
        """Take note that a host has a match less."""
        if host.name in self._able:
            heappush(self._queue, (host.load, host.name))

    def pick(self, preferred: str | None, programs: Iterable[str]) -> ClusterHost | None:
        """Return the host that a match is given to; None: there is none.

        Args:
            preferred: name of the one that is to have it if it is there, and its programs run there; else another one
                of its machine is.
            programs: of the match.
        """
        fit = self.starts.fit(programs, self._able)
        if preferred is not None:
            same_machine = [name for name in fit if machine_of(name) == machine_of(preferred)]
            if same_machine:
                return self._able[preferred] if preferred in fit else self._least_busy(same_machine)
        return self._first() if fit is self._able else self._least_busy(fit)

    def others(self, than: ClusterHost) -> Collection[str]:
        """Return the names of all other hosts that can be given matches."""
        return self._able.keys() - {than.name}

    def _least_busy(self, names: Iterable[str]) -> ClusterHost | None:
        hosts = (self._able[name] for name in names)
        return min(hosts, key=lambda host: (host.load, host.name), default=None)

    def _first(self) -> ClusterHost | None:
        while self._queue:
            load, name = self._queue[0]
            host = self._able[name]
            if host.load == load:
                return host
            heapreplace(self._queue, (host.load, name))
        return None
