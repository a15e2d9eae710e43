"""Plays a tournament's matches on the hosts of a cluster.

`Hosts` (`admission.py`) knows which hosts are present and what each one is doing. `Cluster` takes one match after the
other, gives it to a host, and seals the record that comes back.

A match on its way:

    wait for a host -> give -> (host lacks programs: push them, give again) -> follow its lines -> outcome
        played     -> check the record, seal it
        not begun  -> wait for another host
        lost       -> void, because of the referee: no entrant is blamed for a host

The coordinator chooses the host, not Dask's scheduler, for three reasons. All legs of a pairing are played on one host,
since a faster host would favour the leg that it plays. A host whose records do not hold gets no more matches. And a
match that waits at a lost host can be taken back.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.threads import deferToThreadPool

from ..net.jobs.job import MatchJob, SealedMatch
from ..net.matches.runner import MatchPaused
from ..net.waiting import outlast
from ..observers import PlayingProcess
from ..record.reader import RecordError
from ..tournament.hosts import void_reason
from . import messages as m
from .admission import Hosts
from .cluster_host import Attempt, ClusterHost, Lost, Outcome, find_unstarted_seats
from .followed_match import FollowedMatch, JudgedMatch
from .programs import can_be_shipped, store_output

_MAX_PAIRINGS = 10_000
"""Number of pairings whose host is remembered. The legs of a pairing follow soon after each other."""


class Cluster:
    """Plays matches of a tournament on the hosts of a cluster.

    Args:
        hosts: the hosts.
        where: number of a pairing -> name of the host that has played a leg of it in an earlier run.
    """

    def __init__(self, hosts: Hosts, where: Mapping[int, str]) -> None:
        self._hosts = hosts
        self._services = hosts.services
        self._where: OrderedDict[int, str] = OrderedDict(where)
        """Number of a pairing -> name of its host, the latest last."""

    @property
    def room(self) -> int:
        """Number of matches that may be open now."""
        return self._hosts.choice.room

    def takes(self, job: MatchJob) -> bool:
        """Return whether a host can play a match."""
        return can_be_shipped(job)

    def processes(self) -> Sequence[PlayingProcess]:
        """Return the state of all hosts."""
        return [host.describe() for host in self._hosts.everybody]

    async def play(self, job: MatchJob) -> SealedMatch:
        """Play a match to its end on some host, and seal its record.

        Args:
            job: the match.

        Raises:
            MatchPaused: the call was cancelled. The next run plays the match again.
            BadTree: the folder of a program cannot be read.
            OSError: the record cannot be written.
        """
        shipped = await self._in_thread(self._hosts.shipping.prepare, job, self._hosts.run)
        while True:
            host = await self._hosts.wait_for_host(self._where.get(job.context.fixture.number), shipped.programs)
            self._settle(job.context.fixture.number, host)
            settings = self._hosts.settings
            followed = FollowedMatch(job, settings.folder, self._services.observers, settings.terms)
            attempt = Attempt(shipped, followed)
            self._hosts.give(host, attempt)
            outcome = await self._outcome(host, attempt)
            # From here on the match has a result. It is sealed even if the tournament is being stopped: `outlast`
            # shields the coroutine from the cancellation, or the next run would find a record without a seal, and play
            # the match a second time.
            if not isinstance(outcome, m.NotBegun):
                return await outlast(Deferred.fromCoroutine(self._finish(host, shipped, followed, outcome)))

    async def _outcome(self, host: ClusterHost, attempt: Attempt) -> Outcome:
        try:
            return await attempt.outcome
        except CancelledError:
            self._hosts.stop(host, attempt.shipped.match)
            raise MatchPaused(str(attempt.followed.remote.path)) from None

    def _settle(self, pairing: int, host: ClusterHost) -> None:
        """Remember the host of a pairing: its other legs are to be played there too."""
        self._where[pairing] = host.name
        self._where.move_to_end(pairing)
        while len(self._where) > _MAX_PAIRINGS:
            self._where.popitem(last=False)

    async def _finish(
        self, host: ClusterHost, shipped: m.ShippedJob, followed: FollowedMatch, outcome: m.PlayedMatch | Lost
    ) -> SealedMatch:
        """Check and seal the record of a match, or make the match void because of the referee."""
        why, printed = None if isinstance(outcome, m.PlayedMatch) else outcome.why, outcome.printed
        try:
            if isinstance(outcome, m.PlayedMatch):
                followed.end(outcome.record)
            # A host may be lost after it has sent the last line and before it could return the record. The lines are
            # enough then.
            if isinstance(outcome, m.PlayedMatch) or followed.is_over:
                judged = await self._in_thread(followed.judge)
                why = self._find_excuse(host, shipped, followed.job, judged)
                if why is None:
                    await self._seal(host, followed, judged)
        # Everything that came from this host is doubtful now, even the output of the programs.
        except RecordError as error:
            printed = {}
            await self._in_thread(followed.refuse)
            self._hosts.exclude(host, f"it sent a record that does not hold: {error}")
            why = "sent a record that does not hold"
        if why is not None:
            await self._in_thread(followed.void, void_reason(host.name, why), self._services.sealer)
        await self._in_thread(store_output, self._hosts.settings.folder, followed.job, printed)
        # The lines that came during the match may differ from the whole record, and the observers have seen those
        # lines. Show them the transitions that they have not seen, so that live pages end with the result that counts.
        for transition in followed.remote.unreported:
            self._services.observers.notify_transition(transition)
        return followed.remote.played

    def _find_excuse(self, host: ClusterHost, shipped: m.ShippedJob, job: MatchJob, judged: JudgedMatch) -> str | None:
        """Return why a match that was played does not count: its host may lack what a program needs."""
        result, choice = judged.result, self._hosts.choice
        if result.void is not None:
            return None
        starts, others = choice.starts, choice.others(host)
        failed = {seat for seat in find_unstarted_seats(result.fouls, judged.moved) if shipped.programs[seat]}
        excused = [seat for seat in failed if starts.excuse(shipped.programs[seat], host.name, others)]
        if excused:
            names = ", ".join(job.seats[seat].name for seat in sorted(excused))
            self._hosts.say(
                f"host {host.name} could not run {names}, but another host may: {shipped.match} is void and will be "
                "played again. The programs' output is next to its record",
                match=shipped.match,
                host=host.name,
            )
            return f"could not run {names}, but another host may"
        for seat in failed:
            starts.record_failure(shipped.programs[seat], shipped.match)
        self._note_moves(host, shipped, job, judged)
        return None

    def _note_moves(self, host: ClusterHost, shipped: m.ShippedJob, job: MatchJob, judged: JudgedMatch) -> None:
        """Record which programs have made a move on this host; report failures elsewhere that counted against them."""
        for seat in judged.moved:
            program = shipped.programs[seat]
            if program and (matches := self._hosts.choice.starts.record_move(program, host.name)):
                name = job.seats[seat].name
                self._hosts.say(
                    f"{name} plays on host {host.name}, but failed on others, which counts against it in "
                    f"{', '.join(matches)}. Check its output there: it may have been the hosts' fault",
                    host=host.name,
                )

    async def _seal(self, host: ClusterHost, followed: FollowedMatch, judged: JudgedMatch) -> None:
        writer = followed.remote.seal(judged.result, judged.end, self._services.sealer)
        try:
            commits = self._services.commits
            assert commits is not None, "every tournament has them"
            await commits.sync(writer)
        finally:
            writer.close()
        for noted, facts in () if followed.is_live else judged.unusual:
            self._services.observers.note(noted, **facts)

    async def close(self) -> None:
        """Dismiss all hosts."""
        await self._hosts.close()

    def _in_thread(self, function: Any, *args: Any) -> "Deferred[Any]":
        reactor = self._hosts.reactor
        return deferToThreadPool(reactor, reactor.getThreadPool(), function, *args)
