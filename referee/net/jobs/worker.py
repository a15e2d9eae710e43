"""A worker: plays the matches that the tournament's process hands out, in a process of its own, and ends with it.

It holds no key. It writes the records of its matches line by line, reports each line if anybody watches the match, and
leaves the seal to the tournament's process, which has the key.
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
from ...observers import MatchTransition, Observer, Observers
from ...record.writer import ChainWriter
from ...settings import Durability, RunTerms
from ..event_loop import collect_garbage_rarely
from ..group_commit import GroupCommit
from ..matches.runner import MatchPaused
from ..matches.settings import MatchServices
from . import messages as m
from .job import KeylessSealer, MatchJob, decode_job, rules_digest
from .tables import LocalTables

ALIVE_S = 1.0
"""Seconds between two reports that the worker's loop still runs."""
_GATHER_S = 0.01
"""Seconds that a report waits for others to share its frame; no player's clock depends on one."""


class Reporter(Observer):
    """Passes all notifications for observers on to the tournament's process.

    Args:
        report: takes each report.
        followed: names of the matches that somebody watches.
    """

    def __init__(self, report: Callable[[m.Report], None], followed: Collection[str]) -> None:
        self._report = report
        self._followed = followed

    def note(self, event: str, /, **facts: Any) -> None:
        """Report what happened at the edges."""
        self._report(m.Noted(event=event, facts=facts))

    def on_notice(self, text: str) -> None:
        """Report what an organiser should know."""
        self._report(m.OrganiserNote(text=text))

    def on_match_advanced(self, transition: MatchTransition) -> None:
        """Report a line of a watched match; the event is enough, as its commands follow from it."""
        match = transition.setup.match
        if match in self._followed:
            event = cast("AnyEvent", transition.event)
            self._report(m.Advanced(match=match, line=transition.line, hash=transition.hash, event=event))


class NoGroupCommit(GroupCommit):
    """Syncs nothing: the process that seals a record syncs all of it."""

    def __init__(self, reactor: Any) -> None:
        super().__init__(reactor)
        self._loop = reactor

    def sync(self, writer: ChainWriter) -> "Deferred[None]":
        """Fire in the loop's next turn, so that observers are notified before, as with a real sync."""
        return deferLater(self._loop, 0)


def make_commits(reactor: Any, terms: RunTerms) -> GroupCommit:
    """Return the group commit for records that another process seals; it only syncs if each turn has to be synced."""
    is_synced = terms.durability is Durability.TURN
    return GroupCommit(reactor, terms.durability) if is_synced else NoGroupCommit(reactor)


class Worker:
    """Plays matches for a tournament's process.

    Args:
        reactor: Twisted's reactor.
        now: returns monotonic seconds.
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
        self._reports: list[m.Report] = []
        self._tables: LocalTables | None = None
        self._playing: dict[str, Deferred[None]] = {}
        """Match -> the Deferred that plays it."""
        self._followed: set[str] = set()
        """The matches whose transitions are reported."""
        self._frames = m.Frames(m.ORDERS)
        self._alive = LoopingCall(self.report, m.Alive())
        self._alive.clock = reactor
        self._alive.start(ALIVE_S)

    def take_data(self, data: bytes) -> None:
        """Take orders."""
        for orders in self._frames.add(data):
            for order in orders:
                self._take(order)

    def _take(self, order: m.Order) -> None:
        match order:
            case m.SharedSettings():
                self._begin(order)
            case m.Play():
                self._play(decode_job(order.job), is_followed=order.is_followed)
            case m.Pause() if order.match in self._playing:
                self._playing[order.match].cancel()
            case m.Close():
                Deferred.fromCoroutine(self._close())

    def _begin(self, settings: m.SharedSettings) -> None:
        services = MatchServices(
            observers=Observers(Reporter(self.report, self._followed)),
            confinement=settings.confinement(),
            terms=settings.terms,
        )
        commits = make_commits(self._reactor, settings.terms)
        self._tables = LocalTables(self._reactor, self._now, settings.folder, services, settings.process, commits)
        self._tables.loop.lag.start()

    def _play(self, job: MatchJob, *, is_followed: bool) -> None:
        if is_followed:
            self._followed.add(job.match)
        playing = Deferred.fromCoroutine(self._play_and_report(job))
        if not playing.called:
            self._playing[job.match] = playing
            playing.addBoth(self._forget, job.match)

    def _forget(self, _result: object, match: str) -> None:
        del self._playing[match]

    async def _play_and_report(self, job: MatchJob) -> None:
        """Play a match, and report its outcome, whatever that is."""
        ended: m.Report
        try:
            _check_same(job)
            assert self._tables is not None, "the first order says where it is played"
            played = await self._tables.play(job, job.occupants, sealer=KeylessSealer(job))
            ended = m.MatchEnded(match=job.match, head=played.head)
        except (MatchPaused, CancelledError):
            ended = m.MatchStopped(match=job.match)
        except Exception as error:  # noqa: BLE001  # the report has the reason
            ended = m.MatchFailed(match=job.match, why=f"{type(error).__name__}: {error}")
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

    def report(self, report: m.Report) -> None:
        """Send a report, together with others that come soon after it."""
        self._reports.append(report)
        if len(self._reports) == 1:
            self._reactor.callLater(_GATHER_S, self._flush)

    def _flush(self) -> None:
        if self._reports:
            reports, self._reports = self._reports, []
            self._send(m.pack_frame(reports))


class OtherReferee(Exception):  # reported in words
    """A job comes from a referee of another version or with other rules; another one was installed since."""


def _check_same(job: MatchJob) -> None:
    """Check that this process has the same version and the same rules as the one that made a job.

    Raises:
        OtherReferee: the version or the rules differ.
    """
    theirs, ours = (job.terms.referee, job.terms.rules), (__version__, rules_digest(job.terms.game))
    if theirs != ours:
        raise OtherReferee(
            f"the tournament runs referee {theirs[0]}, but now referee {ours[0]} is installed, or other rules; "
            "stop the tournament, and give the same command again"
        )


def run(descriptor: int) -> None:
    """Play for the process at the other end of a socket, until that process closes this worker or ends.

    Args:
        descriptor: descriptor of the socket.
    """
    from twisted.internet import reactor  # noqa: PLC0415  # importing it installs it: only where it is run

    running: Any = reactor
    is_leaving = False

    def _leave() -> None:
        nonlocal is_leaving
        is_leaving = True
        link.leave()

    def _on_loss() -> None:
        if not is_leaving:
            os._exit(1)  # the tournament's process is gone; the programs end with this one
        running.stop()

    def _on_data(data: bytes) -> None:
        try:
            worker.take_data(data)
        except msgspec.DecodeError:
            os._exit(2)  # these are no orders of a tournament's process

    os.set_inheritable(descriptor, False)  # else programs could give orders and read reports
    link = m.SocketEnd(running, socket.socket(fileno=descriptor), _on_data, _on_loss)
    worker = Worker(running, time.monotonic, link.write, _leave)
    collect_garbage_rarely()
    running.run(installSignalHandlers=False)


if __name__ == "__main__":
    run(int(sys.argv[1]))
