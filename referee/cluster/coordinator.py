"""Plays a tournament's matches on the hosts of a cluster: keeps the attempts, judges each record, and seals it here."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.threads import deferToThreadPool

from ..net.jobs.executor import SealedMatch
from ..net.jobs.job import MatchJob
from ..net.matches.runner import MatchPaused
from ..net.waiting import outlasting
from ..observers import PlayingProcess
from ..observers.unusual import tell_step
from ..record.reader import RecordError
from ..tournament.hosts import void_for
from .acceptance import Accepted
from .cluster_host import Attempt, ClusterHost, Lost, Outcome
from .followed import Followed
from .hosts import Hosts
from .messages import NotBegun, PlayedMatch, ShippedJob
from .printed import keep
from .shipping import can_go
from .starts import unstarted

_KEPT_PAIRINGS = 10_000
"""Pairings of which it is known where they were played: their legs come soon after each other."""


class Cluster:
    """The hosts that play matches for a tournament.

    Args:
        hosts: of the cluster.
        where: number of a pairing -> name of the host that has played a leg of it in an earlier run.
    """

    def __init__(self, hosts: Hosts, where: Mapping[int, str]) -> None:
        self._hosts = hosts
        self._services = hosts.services
        self._where: OrderedDict[int, str] = OrderedDict(where)
        """Number of a pairing -> name of its host."""

    @property
    def room(self) -> int:
        """How many matches may be open at a time now."""
        return self._hosts.choice.room

    def takes(self, job: MatchJob) -> bool:
        """Tell whether a host can play a match."""
        return can_go(job)

    def processes(self) -> Sequence[PlayingProcess]:
        """Return the hosts, and how they are."""
        return [host.seen() for host in self._hosts.everybody]

    async def play(self, job: MatchJob) -> SealedMatch:
        """Have a match played to its end, and seal its record.

        Args:
            job: the match.

        Raises:
            MatchPaused: it was cancelled; its record is what it goes on from.
            BadTree: the folder of a program can't be read.
            OSError: the record can't be written.
        """
        shipped = await self._in_thread(self._hosts.shipping.shipped, job, self._hosts.run)
        while True:
            host = await self._hosts.free(self._where.get(job.context.fixture.number), shipped.programs)
            self._settle(job.context.fixture.number, host)
            handed_out = self._hosts.handed_out(host)
            followed = Followed(job, self._hosts.settings.folder, self._services.observers, handed_out)
            attempt = Attempt(shipped, followed)
            self._hosts.give(host, attempt)
            outcome = await self._outcome(host, attempt)
            if not isinstance(outcome, NotBegun):
                return await outlasting(Deferred.fromCoroutine(self._ended(host, shipped, followed, outcome)))

    async def _outcome(self, host: ClusterHost, attempt: Attempt) -> Outcome:
        try:
            return await attempt.outcome
        except CancelledError:
            self._hosts.stop(host, attempt.shipped.match)
            raise MatchPaused(str(attempt.followed.remote.path)) from None

    def _settle(self, pairing: int, host: ClusterHost) -> None:
        """Note where a pairing is played: its other legs are to be played there as well."""
        self._where[pairing] = host.name
        self._where.move_to_end(pairing)
        while len(self._where) > _KEPT_PAIRINGS:
            self._where.popitem(last=False)

    async def _ended(
        self, host: ClusterHost, shipped: ShippedJob, followed: Followed, outcome: PlayedMatch | Lost
    ) -> SealedMatch:
        """Seal what came of a match, or make it void for the referee's fault: no entrant is blamed for a host."""
        why, printed = None if isinstance(outcome, PlayedMatch) else outcome.why, outcome.printed
        try:
            if isinstance(outcome, PlayedMatch):
                followed.end(outcome.record)
            if isinstance(outcome, PlayedMatch) or followed.is_over:
                judged = await self._in_thread(followed.judged)
                why = self._why_excused(host, shipped, followed.job, judged)
                if why is None:
                    await self._sealed(host, followed, judged)
        except RecordError as error:
            printed = {}
            await self._in_thread(followed.refuse)
            self._hosts.put_aside(host, f"it sent a record that does not hold: {error}")
            why = "sent a record that does not hold"
        if why is not None:
            await self._in_thread(followed.void, void_for(host.name, why), self._services.sealer)
        await self._in_thread(keep, self._hosts.settings.folder, followed.job, printed)
        for step in followed.remote.untold:
            tell_step(self._services.observers, step)
        return followed.remote.played

    def _why_excused(self, host: ClusterHost, shipped: ShippedJob, job: MatchJob, judged: Accepted) -> str | None:
        """Tell why a match that was played does not count: its host may lack what a program needs."""
        result, choice = judged.result, self._hosts.choice
        if result.void is not None:
            return None
        starts, others = choice.starts, choice.others(host)
        failed = {seat for seat in unstarted(result.fouls, judged.moved) if shipped.programs[seat]}
        excused = [seat for seat in failed if starts.is_excused(shipped.programs[seat], host.name, others)]
        if excused:
            names = ", ".join(job.seats[seat].name for seat in sorted(excused))
            self._hosts.say(
                f"host {host.name} could not run {names}, and others may: {shipped.match} is void, and played again; "
                "what was printed is beside its record",
                match=shipped.match,
                host=host.name,
            )
            return f"could not run {names}, and others may"
        for seat in failed:
            starts.counted(shipped.programs[seat], shipped.match)
        self._note_moves(host, shipped, job, judged)
        return None

    def _note_moves(self, host: ClusterHost, shipped: ShippedJob, job: MatchJob, judged: Accepted) -> None:
        """Note which programs of a match have moved on its host; tell what they were blamed for elsewhere."""
        for seat in judged.moved:
            program = shipped.programs[seat]
            if program and (matches := self._hosts.choice.starts.moved(program, host.name)):
                name = job.seats[seat].name
                self._hosts.say(
                    f"{name} plays on host {host.name}, and could not be run on others, which counts in "
                    f"{', '.join(matches)}: see what was printed there, and whether that was the hosts' fault",
                    host=host.name,
                )

    async def _sealed(self, host: ClusterHost, followed: Followed, judged: Accepted) -> None:
        writer = followed.remote.seal(judged.result, judged.end, self._services.sealer)
        try:
            commits = self._services.commits
            assert commits is not None, "a tournament has them"
            await commits.sync(writer)
        finally:
            writer.close()
        host.over_ms = max(host.over_ms, judged.over_ms)
        for noted, facts in () if followed.is_live else judged.unusual:
            self._services.observers.note(noted, **facts)

    async def close(self) -> None:
        """Let all hosts go."""
        await self._hosts.close()

    def _in_thread(self, function: Any, *args: Any) -> "Deferred[Any]":
        reactor = self._hosts.reactor
        return deferToThreadPool(reactor, reactor.getThreadPool(), function, *args)
