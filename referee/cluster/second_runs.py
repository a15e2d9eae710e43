"""A program that fails in mid-match on a host where it has come through none yet: played once more, on another host.

What a host lacks may be needed late: a module for the first long thought, a file, a feature of the machine. Nobody can
tell that from a program that ends because it is about to lose. So nothing is void: the same match is played on another
host, from the same seed. Where it takes the same way there, and the program goes on where it had failed, that record
counts, wherever it leads: who failed on purpose stands where it stood. Where a move before that is another one, or the
program fails there as well, what the first host played counts.
"""

from typing import Any

from msgspec import Struct
from twisted.internet.defer import CancelledError

from ..match.fouls import Cause, Foul
from ..net.jobs.job import MatchJob
from ..net.matches.runner import MatchPaused
from ..observers import Observers
from ..record.reader import Record, record_in
from .acceptance import Accepted, FalseRecord, accepted_bytes
from .cluster_host import ClusterHost
from .followed import REFUSED, Followed
from .hosts import Hosts
from .messages import PlayedMatch, ShippedJob
from .printed import keep
from .replays import followed_again, moves_before, played_again

_CAUSES = (Cause.CRASHED, Cause.DISCONNECTED, Cause.TIMEOUT)
"""Of a program that may lack something; whoever answers nonsense, or breaks a rule, lacks nothing."""

TRIES = 3
"""So many hosts may fail to play a match once more; then it counts as it is."""


class Counting(Struct, frozen=True):
    """A match that was played, and counts if its record holds."""

    host: ClusterHost
    followed: Followed
    played: PlayedMatch


class SecondRuns:
    """The programs of a run that are doubted, and where they have come through.

    Args:
        hosts: of the cluster.
    """

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self._through: set[tuple[str, str]] = set()
        """Program and host: it has come through a match there."""
        self._own: set[str] = set()
        """Programs whose failures are their own: that was tried."""

    def note(self, host: ClusterHost, shipped: ShippedJob, judged: Accepted) -> None:
        """Take note of who has come through a match that counts."""
        failed = {foul.seat for foul in judged.result.fouls}
        self._through.update((shipped.programs[seat], host.name) for seat in judged.moved - failed)

    async def settled(self, shipped: ShippedJob, first: Counting) -> Counting:
        """Return what counts of a match: what was played, or what another host has played, if that is to be tried.

        Args:
            shipped: what its host was sent.
            first: what was played.

        Raises:
            MatchPaused: it was cancelled meanwhile.
            OSError: a record can't be written.
        """
        foul = self._doubted(shipped, first)
        if foul is None:
            return first
        for _ in range(TRIES):
            other = self._hosts.choice.other(first.host, shipped.programs)
            second = None if other is None else await self._played(shipped, first.followed.job, other)
            if second is not None:
                return self._compared(shipped, foul, first, second)
        return first

    def _doubted(self, shipped: ShippedJob, first: Counting) -> Foul | None:
        """Return the failure that may be the host's fault; none in a match that need not come out the same."""
        followed, job = first.followed, first.followed.job
        may_differ = self._hosts.settings.keep_for is not None or job.setup.nonces
        if may_differ or not any(f'"{cause}"'.encode() in first.played.record for cause in _CAUSES):
            return None  # nearly all: it is not read here
        try:
            judged = accepted_bytes(job, first.played.record, followed.handed_out)
        except FalseRecord:
            return None  # whoever judges it finds that as well
        if judged.result.void is not None:
            return None
        doubted = (foul for foul in judged.result.fouls if foul.cause in _CAUSES and foul.seat in judged.moved)
        foul = min(doubted, key=lambda foul: foul.turn, default=None)
        program = "" if foul is None else shipped.programs[foul.seat]
        if not program or program in self._own or (program, first.host.name) in self._through:
            return None
        return foul

    async def _played(self, shipped: ShippedJob, job: MatchJob, other: ClusterHost) -> Counting | None:
        """Have a match played on another host; None: it has not, or it is void there, or what it says does not hold."""
        followed = followed_again(self._hosts, other, job)
        try:
            again = await played_again(self._hosts, other, shipped, followed)
        except CancelledError:
            self._hosts.stop(other, shipped.match)
            raise MatchPaused(str(followed.remote.path)) from None
        if again is None:
            return None
        played, accepted = again
        return None if accepted.result.void is not None else Counting(other, followed, played)

    def _compared(self, shipped: ShippedJob, foul: Foul, first: Counting, second: Counting) -> Counting:
        """Return what counts of two runs of one match, and say so if that is the second one."""
        folder, job, program = self._hosts.settings.folder, first.followed.job, shipped.programs[foul.seat]
        records = [record_in(run.played.record, folder) for run in (first, second)]
        goes_on = _has_gone_on(records[0], records[1], foul)
        facts: dict[str, Any] = {"match": shipped.match, "host": first.host.name, "other": second.host.name}
        self._hosts.services.observers.note("second-run", counts=goes_on, **facts)
        if not goes_on:
            self._own.add(program)
            return first
        self._hosts.choice.starts.lacks(program, first.host.name)
        path = first.followed.keep_aside(first.played.record, first.host.name)
        keep(folder / REFUSED, job, first.played.printed)
        self._hosts.say(
            f"{job.seats[foul.seat].name} failed in turn {foul.turn} of {shipped.match} on host {first.host.name}, and "
            f"on {second.host.name} it goes on after the same moves: what was played there counts; the first record is "
            f"kept in {path}, with what was printed beside it",
            **facts,
        )
        followed = Followed(job, folder, Observers(), second.followed.handed_out)
        return Counting(second.host, followed, second.played)


def _has_gone_on(first: Record, second: Record, foul: Foul) -> bool:
    """Tell whether a match took the same way in its second run up to a failure, which did not come there.

    Args:
        first: record of the run with the failure.
        second: record of the other one.
        foul: the failure.
    """
    before = [_fouls(record, foul.turn - 1) for record in (first, second)]
    is_same = moves_before(first, foul.turn) == moves_before(second, foul.turn) and before[0] == before[1]
    return is_same and foul.seat not in (seat for seat, _ in _fouls(second, foul.turn))


def _fouls(record: Record, turn: int) -> list[tuple[int, str]]:
    """Return seat and cause of the fouls up to a turn."""
    assert record.result is not None, "it was accepted"
    return sorted((foul.seat, str(foul.cause)) for foul in record.result.result.fouls if foul.turn <= turn)
