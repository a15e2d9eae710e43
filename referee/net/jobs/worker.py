"""A worker: plays the matches that the tournament's process hands out, in a process of its own, and ends with that.

It holds no key. It writes the lines of its matches' records, tells of each if anybody looks on, and leaves the seal to
who has the key.
"""

import os
import socket
import sys
import time
from collections.abc import Callable, Collection
from typing import Any, cast

import msgspec
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import LoopingCall, deferLater

from ... import __version__
from ...match.events import AnyEvent
from ...observers import MatchStep, Observer, Observers
from ...record.writer import ChainWriter
from ..event_loop import collect_garbage_rarely
from ..group_commit import Durability, GroupCommit
from ..matches.runner import MatchPaused
from ..matches.settings import MatchServices
from ..run_terms import RunTerms
from .job import KeylessSealer, MatchJob, decoded, rules_digest
from .messages import (
    ORDERS,
    Alive,
    Close,
    Frames,
    MatchEnded,
    MatchFailed,
    MatchStopped,
    Noted,
    Order,
    OrganiserNote,
    Pause,
    Play,
    Report,
    SharedSettings,
    SocketEnd,
    Stepped,
    framed,
)
from .tables import LocalTables

ALIVE_S = 1.0
"""How often a worker says that its loop turns."""
_GATHER_S = 0.01
"""How long reports wait for others to go with them: nobody's clock hangs on one."""


class Reporter(Observer):
    """Tells the tournament's process what is to be told to its observers.

    Args:
        report: takes each report.
        followed: the matches that somebody looks on at.
    """

    def __init__(self, report: Callable[[Report], None], followed: Collection[str]) -> None:
        self._report = report
        self._followed = followed

    def note(self, event: str, /, **facts: Any) -> None:
        """Tell what happened at the edges."""
        self._report(Noted(event=event, facts=facts))

    def on_notice(self, text: str) -> None:
        """Tell what an organiser should know."""
        self._report(OrganiserNote(text=text))

    def on_match_stepped(self, step: MatchStep) -> None:
        """Tell of a line of a record, if anybody looks on; what followed from its event follows again."""
        match = step.setup.match
        if match in self._followed:
            event = cast("AnyEvent", step.event)
            self._report(Stepped(match=match, line=step.line, hash=step.hash, event=event))


class NoGroupCommit(GroupCommit):
    """Syncs nothing: whoever seals a record syncs all of it."""

    def __init__(self, reactor: Any) -> None:
        super().__init__(reactor)
        self._loop = reactor

    def sync(self, writer: ChainWriter) -> "Deferred[None]":
        """Do nothing; as always, nobody hears of it before what was going on is through: observers come first."""
        return deferLater(self._loop, 0)


def commits_of(reactor: Any, terms: RunTerms) -> GroupCommit:
    """Return what syncs records that somebody else seals: nothing, unless each turn is to be synced."""
    is_synced = terms.durability is Durability.TURN
    return GroupCommit(reactor, terms.durability) if is_synced else NoGroupCommit(reactor)


class Worker:
    """Plays matches for a tournament's process.

    Args:
        reactor: Twisted's reactor.
        now: monotonic seconds.
        send: takes a frame of reports.
        leave: ends the process.
    """

    def __init__(
        self, reactor: Any, now: Callable[[], float], send: Callable[[bytes], None], leave: Callable[[], None]
    ) -> None:
        self._reactor = reactor
        self._now = now
        self._send = send
        self._leave = leave
        self._reports: list[Report] = []
        self._tables: LocalTables | None = None
        self._courses: dict[str, Deferred[None]] = {}
        """Match -> its course."""
        self._followed: set[str] = set()
        """The matches of which every step is told."""
        self._frames = Frames(ORDERS)
        self._alive = LoopingCall(self.report, Alive())
        self._alive.clock = reactor
        self._alive.start(ALIVE_S)

    def received(self, data: bytes) -> None:
        """Take orders."""
        for orders in self._frames.add(data):
            for order in orders:
                self._take(order)

    def _take(self, order: Order) -> None:
        match order:
            case SharedSettings():
                self._begin(order)
            case Play():
                self._play(decoded(order.job), is_followed=order.is_followed)
            case Pause() if order.match in self._courses:
                self._courses[order.match].cancel()
            case Close():
                Deferred.fromCoroutine(self._close())

    def _begin(self, settings: SharedSettings) -> None:
        services = MatchServices(
            observers=Observers(Reporter(self.report, self._followed)),
            confinement=settings.confinement(),
            terms=settings.terms,
        )
        commits = commits_of(self._reactor, settings.terms)
        self._tables = LocalTables(self._reactor, self._now, settings.folder, services, settings.process, commits)
        self._tables.loop.lag.start()

    def _play(self, job: MatchJob, *, is_followed: bool) -> None:
        if is_followed:
            self._followed.add(job.match)
        course = Deferred.fromCoroutine(self._played(job))
        if not course.called:
            self._courses[job.match] = course
            course.addBoth(self._over, job.match)

    def _over(self, _result: object, match: str) -> None:
        del self._courses[match]

    async def _played(self, job: MatchJob) -> None:
        """Play a match, and report what came of it, whatever that is."""
        ended: Report
        try:
            _check_same(job)
            assert self._tables is not None, "the first order says where it is played"
            played = await self._tables.play(job, job.occupants, sealer=KeylessSealer(job))
            ended = MatchEnded(match=job.match, head=played.head)
        except (MatchPaused, CancelledError):
            ended = MatchStopped(match=job.match)
        except Exception as error:  # noqa: BLE001  # whoever handed it out is told
            ended = MatchFailed(match=job.match, why=f"{type(error).__name__}: {error}")
        self._followed.discard(job.match)
        self.report(ended)

    async def _close(self) -> None:
        self._alive.stop()
        if self._tables is not None:
            self._tables.loop.lag.stop()
            await self._tables.close()
            self._tables.services.confinement.close()
        self._flush()
        self._leave()

    def report(self, report: Report) -> None:
        """Have something reported, together with what comes soon after it."""
        self._reports.append(report)
        if len(self._reports) == 1:
            self._reactor.callLater(_GATHER_S, self._flush)

    def _flush(self) -> None:
        if self._reports:
            reports, self._reports = self._reports, []
            self._send(framed(reports))


class OtherReferee(Exception):  # reported in words
    """A job of a referee of another version, or with other rules, which was installed meanwhile."""


def _check_same(job: MatchJob) -> None:
    """Check that a job means here what it meant where it was made.

    Raises:
        OtherReferee: it does not.
    """
    theirs, ours = (job.terms.referee, job.terms.rules), (__version__, rules_digest(job.terms.game))
    if theirs != ours:
        raise OtherReferee(
            f"it was handed out by referee {theirs[0]}, and the one installed now is {ours[0]} or has "
            "other rules; stop the tournament, and go on with it"
        )


def run(descriptor: int) -> None:
    """Play for the process at the other end of a socket, until it has nothing more, or is gone.

    Args:
        descriptor: of the socket.
    """
    from twisted.internet import reactor  # noqa: PLC0415  # importing it installs it: only where it is run

    running: Any = reactor
    is_leaving = False

    def _leave() -> None:
        nonlocal is_leaving
        is_leaving = True
        link.leave()

    def _lost() -> None:
        if not is_leaving:
            os._exit(1)  # the tournament's process is gone: so is its worker, and the programs with it
        running.stop()

    def _received(data: bytes) -> None:
        try:
            worker.received(data)
        except msgspec.DecodeError:
            os._exit(2)  # who writes that is no coordinator

    os.set_inheritable(descriptor, False)  # no program is to have it
    link = SocketEnd(running, socket.socket(fileno=descriptor), _received, _lost)
    worker = Worker(running, time.monotonic, link.write, _leave)
    collect_garbage_rarely()
    running.run(installSignalHandlers=False)


if __name__ == "__main__":
    run(int(sys.argv[1]))
