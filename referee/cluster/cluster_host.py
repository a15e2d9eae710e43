"""A host as the tournament sees it, and the choice of the host that plays the next match: the least busy one.

Who is to blame if a program does not run on a host? Something that the program needs may be missing there: a library, a
compiler, a font. In the record this looks like the program's own fault: its build fails, its start fails, or it crashes
before its first answer. `Starts` decides as follows, for each program and each host:

- The program has made a move on another host. Then the failure is this host's fault, and the match is void.
- The program has not made a move anywhere yet. Then the match is void too, and is played on another host. Only a
  program that fails on `ENOUGH_HOSTS` hosts is at fault itself.

A program that has made a move on this host has everything that it needs here. From then on, its failures count.
Otherwise a program could crash in a match that it is about to lose, and the match would be played again.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from heapq import heapify, heappush, heapreplace

from msgspec import Struct
from twisted.internet.defer import Deferred

from ..match import events as e
from ..match.fouls import Cause, Foul
from ..net.jobs.job import MatchJob
from ..observers import PlayingProcess
from ..programs.build import BUILD_S
from .followed_match import FollowedMatch, find_longest_lag_ms
from .messages import HOSTS_REPORT_S, NotBegun, PlayedMatch, ShippedJob

GONE_LOOKS = 30
"""Number of reports without a host, two a second, after which its matches are given up. While the scheduler itself is
gone there are no reports. So every host has the whole of this time to come back to a restarted scheduler."""


class Lost(Struct, frozen=True, kw_only=True, tag="lost"):
    """The match was lost with its host."""

    why: str
    printed: dict[int, bytes] = {}
    """Seat -> the end of its program's output, if the host could send it."""


Outcome = PlayedMatch | NotBegun | Lost


class Attempt:
    """One attempt to have a match played by a host.

    Args:
        shipped: the job as the host gets it.
        followed: collects the lines of the record that the host sends.
    """

    def __init__(self, shipped: ShippedJob, followed: FollowedMatch) -> None:
        self.shipped = shipped
        self.followed = followed
        self.outcome: Deferred[Outcome] = Deferred()
        self.needs: set[str] = set()
        """Digests of the programs that the host still lacks."""
        self.pushes = 0
        """Number of times that the host has asked for programs."""
        self.call = 0
        """Number of the call in progress, for `DispatcherLink.drop`."""
        self.unanswered = ""
        """Reason why the call was not answered; empty if it was answered or is in progress."""
        self._silent_looks = 0
        """Number of checks since the last line came."""
        self._size = 0
        """Number of bytes of the record that had come by the last check."""

    @property
    def is_over(self) -> bool:
        """True if the outcome is known, or nobody waits for it any more."""
        return self.outcome.called

    def check_stalled(self, *, is_its_turn: bool) -> bool:
        """Check the attempt's progress; called with each report in which its host is present.

        Args:
            is_its_turn: False if the host may not have a free table for the match yet.

        Returns:
            True if nothing has come for longer than any match may stand still.
        """
        is_silent, self._size = self.followed.size == self._size, self.followed.size
        self._silent_looks = self._silent_looks + 1 if is_its_turn and is_silent else 0
        return self._silent_looks > patience_s(self.followed.job) / HOSTS_REPORT_S

    def lag_ms(self, outcome: Outcome) -> float:
        """Return the longest lag of the host in any answer of this match, in milliseconds.

        Args:
            outcome: the attempt's outcome. If it has no record, the lines that have come are used.
        """
        return find_longest_lag_ms(outcome.record if isinstance(outcome, PlayedMatch) else self.followed.received)

    def end(self, outcome: Outcome) -> None:
        """Set the outcome; only the first one counts."""
        if not self.outcome.called:
            self.outcome.callback(outcome)


def patience_s(job: MatchJob) -> float:
    """Return how long a match may stand still, in seconds.

    This is the worst case: all its programs are built one after the other, and all seats in turn disconnect, come back
    at the last moment, and use all of their time for one answer.

    Args:
        job: the match.
    """
    terms = job.terms
    answer_s = max(terms.time.per_move_ms, terms.time.start_ms) / 1000
    return len(job.seats) * (BUILD_S + answer_s + terms.come_back_s)


def get_machine_name(host: str) -> str:
    """Return the name of a host's machine, which stays the same when the host is restarted."""
    return host.rpartition("-")[0]


class ClusterHost:
    """A host. A host that is lost and comes back under its name is the same host.

    Args:
        name: its name; no other process has it.
        process: its name in the records.
    """

    def __init__(self, name: str, process: str) -> None:
        self.name = name
        self.process = process
        self.address = ""
        """Address under which the host has been admitted; empty if it is not admitted now."""
        self.entering = ""
        """Address under which the host is being admitted; empty if it is not."""
        self.is_on_record = False
        """True if the tournament's record has a line about the host."""
        self.tables = 0
        self.attempts: dict[str, Attempt] = {}
        self.pushing: set[str] = set()
        """Digests of programs that are on their way to the host."""
        self.absent_looks = 0
        """Number of reports in a row that did not name the host."""
        self.outside_looks = 0
        """Number of reports in a row during which the host was not admitted."""
        self.failures = 0
        """Number of matches that the host could not play."""
        self.excluded = ""
        """Reason why the host plays no more matches in this run; empty if it may play."""

    @property
    def may_come(self) -> bool:
        """True if the host is not admitted now, but may still be: it has not been away for long."""
        return not self.address and not self.excluded and max(self.absent_looks, self.outside_looks) < GONE_LOOKS

    @property
    def capacity(self) -> int:
        """Number of matches that the host is given at a time: more than its tables, so that no table has to wait."""
        # One and a half times the tables: while the record of a finished match is sent and checked, the host already
        # plays the next match. With a larger reserve, matches would pile up at slow hosts while fast hosts have none.
        usable = self.tables if self.address and not self.excluded else 0
        return usable + max(1, usable // 2) if usable else 0

    @property
    def load(self) -> float:
        """Share of the host's capacity that is in use."""
        return len(self.attempts) / self.capacity

    def describe(self) -> PlayingProcess:
        """Return the host's state, for observers."""
        if self.excluded:
            state = f"excluded: {self.excluded}"
        elif not self.address:
            state = "not connected"
        else:
            state = "plays" if self.tables else "takes no new matches"
        return PlayingProcess(
            name=self.name,
            state=state,
            tables=self.tables,
            matches=tuple(self.attempts),
            silent_s=self.absent_looks * HOSTS_REPORT_S,
        )


ENOUGH_HOSTS = 3
"""A program that fails on this many hosts is at fault itself."""
_CAUSES = (Cause.CRASHED, Cause.REFUSED_TO_START)
_ENDINGS = (None, e.Ending.ENDED, e.Ending.FAILED, e.Ending.SPEECHLESS, e.Ending.OUT_OF_MEMORY)
"""Endings of programs that may be due to something missing on the host."""


class Starts:
    """Remembers which program has made a move on which host. A program is named by its digest."""

    def __init__(self) -> None:
        self._proven: defaultdict[str, set[str]] = defaultdict(set)
        """Program -> hosts on which it has made a move."""
        self._failed: defaultdict[str, set[str]] = defaultdict(set)
        """Program -> hosts on which it has failed before it made a move."""
        self._counted: defaultdict[str, list[str]] = defaultdict(list)
        """Program -> matches in which such a failure counted against it."""

    def choose_hosts(self, programs: Iterable[str], hosts: Collection[str]) -> Collection[str]:
        """Return the hosts that suit a match. A program that has failed somewhere plays where it has made a move.

        Args:
            programs: the programs of the match.
            hosts: the hosts that are present.

        Returns:
            The hosts that suit best; the same object `hosts` if no host suits better than another.
        """
        for program in programs:
            if failed := self._failed.get(program):
                proven = self._proven[program].intersection(hosts)
                hosts = proven or set(hosts) - failed or hosts
        return hosts

    def excuse(self, program: str, host: str, others: Collection[str]) -> bool:
        """Record that a program failed before it made a move; return whether it is excused.

        Args:
            program: the program.
            host: the host on which it failed.
            others: the other hosts that are present.
        """
        proven, failed = self._proven[program], self._failed[program]
        if host in proven:
            return False
        # If all other hosts that are present have failed as well, no host is left to try: the program is at fault.
        failed.add(host)
        return bool(proven) or (len(failed) < ENOUGH_HOSTS and not failed.issuperset(others))

    def record_failure(self, program: str, match: str) -> None:
        """Record a match in which a program's failure before its first move counts against it."""
        self._counted[program].append(match)

    def record_move(self, program: str, host: str) -> list[str]:
        """Record that a program has made a move on a host.

        Args:
            program: the program.
            host: the host.

        Returns:
            The matches that the organiser should look at: failures of this program that counted against it before it
            was known that the program works at all.
        """
        is_news = not self._proven[program]
        self._proven[program].add(host)
        self._failed[program].discard(host)
        return self._counted.pop(program, []) if is_news else []


def find_unstarted_seats(fouls: Iterable[Foul], moved: Collection[int]) -> set[int]:
    """Return the seats whose programs may have lacked something on their host.

    Args:
        fouls: the fouls of a match that is over.
        moved: the seats that made a move in it.
    """
    seats = {foul.seat for foul in fouls if foul.cause in _CAUSES and not foul.evidence and foul.ending in _ENDINGS}
    return seats.difference(moved)


class HostChoice:
    """The hosts that can be given matches.

    Call `update` after each change in what hosts can take: it goes through all of them. If a host was given a match
    since then, its entry in the queue is corrected only when it comes to the top. So with hundreds of hosts, the choice
    for one match needs no search.
    """

    def __init__(self) -> None:
        self.starts = Starts()
        self.room = 0
        """Number of matches that all hosts together are given at a time."""
        self._able: dict[str, ClusterHost] = {}
        self._queue: list[tuple[float, str]] = []
        """Heap of load and name. Each host is in it at least once, with a load no greater than its own."""

    def update(self, hosts: Iterable[ClusterHost]) -> None:
        """Update what the hosts can take now.

        Args:
            hosts: all hosts.
        """
        self._able = {host.name: host for host in hosts if host.capacity}
        self.room = sum(host.capacity for host in self._able.values())
        self._queue = [(host.load, host.name) for host in self._able.values()]
        heapify(self._queue)

    def update_load(self, host: ClusterHost) -> None:
        """Update a host that has one match less."""
        if host.name in self._able:
            heappush(self._queue, (host.load, host.name))

    def pick(self, preferred: str | None, programs: Iterable[str]) -> ClusterHost | None:
        """Choose the host for a match.

        Args:
            preferred: name of the host that should play it, if it is present and suits the programs. The next best is
                another host on the same machine.
            programs: the programs of the match.

        Returns:
            The host; None if no host is present.
        """
        fit = self.starts.choose_hosts(programs, self._able)
        if preferred is not None:
            same_machine = [name for name in fit if get_machine_name(name) == get_machine_name(preferred)]
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
        # The heap may have old entries of a host, whose load is too small: the host was given matches later. Such an
        # entry is corrected when it comes to the top. No host has only entries with too large a load, because
        # `update_load` pushes a new entry whenever the load falls. So the first correct entry is the least busy host.
        while self._queue:
            load, name = self._queue[0]
            host = self._able[name]
            if host.load == load:
                return host
            heapreplace(self._queue, (host.load, name))
        return None
