"""All workers of a tournament: which one plays which match, and what happens to the match if its worker ends."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import LoopingCall
from twisted.internet.threads import deferToThreadPool

from ...errors import RefereeError
from ...observers import MatchTransition, Observer, Observers, PlayingProcess
from ...programs.control_groups import clear_groups
from ...record.reader import RecordError
from ..matches.runner import MatchPaused
from ..matches.settings import MatchServices
from ..waiting import fork, outlast
from . import messages as m
from .job import MatchJob, SealedMatch, encode_job
from .remote_match import RemoteMatch


class WorkerEnded(Struct, frozen=True):
    """The worker's process has ended."""

    why: str


Outcome = m.MatchEnded | m.MatchStopped | m.MatchFailed | WorkerEnded
"""Outcome of a match that was handed to a worker."""


class WorkerProcess:
    """One worker.

    Args:
        reactor: Twisted's reactor.
        number: its number for people, from 1.
        settings: the first order.
        observers: are notified of what it reports.

    Raises:
        OSError: it can't be started.
    """

    def __init__(self, reactor: Any, number: int, settings: m.SharedSettings, observers: Observers) -> None:
        self.number = number
        self.playing: dict[str, tuple[RemoteMatch, Deferred[Outcome]]] = {}
        self.gone: Deferred[None] = Deferred()
        """Fires once nothing is left of it."""
        self.silent_looks = 0
        """Number of checks since its last report."""
        self.matches = 0
        """Number of matches that are assigned to it."""
        self._ended: WorkerEnded | None = None
        self._observers = observers
        self._frames = m.Frames(m.REPORTS)
        self._process = m.HelperProcess(
            reactor, "referee.net.jobs.worker", settings.folder / f"worker{number}.stderr", self.take_data, self._on_end
        )
        self.pid = self._process.pid
        self._order(settings)

    def play(self, match: RemoteMatch) -> "Deferred[Outcome]":
        """Hand out a match.

        Args:
            match: to be played; the worker reports its transitions if any observer listens to them.

        Returns:
            Fires with the outcome; must not be cancelled.
        """
        outcome: Deferred[Outcome] = Deferred()
        if self._ended is not None:
            outcome.callback(self._ended)
            return outcome
        self.playing[match.job.match] = match, outcome
        self._order(
            m.Play(job=encode_job(match.job), is_followed=self._observers.has_listener(Observer.on_match_advanced))
        )
        return outcome

    def pause(self, match: str) -> None:
        """Have the worker stop a match in the middle."""
        self._order(m.Pause(match=match))

    def close(self) -> None:
        """Have the worker end, after all programs that it has started."""
        self._order(m.Close())

    def kill(self, why: str) -> None:
        """End the worker and its programs at once.

        Args:
            why: the reason in a few words.
        """
        self._process.kill(why)

    @property
    def why(self) -> str:
        """Why it has ended, in one sentence; empty while it runs."""
        return "" if self._ended is None else self._ended.why

    def _order(self, order: m.Order) -> None:
        self._process.write(m.pack_frame((order,)))

    def take_data(self, data: bytes) -> None:
        """Take reports; kill a worker that sends something else."""
        self.silent_looks = 0
        try:
            for reports in self._frames.add(data):
                for report in reports:
                    self._take(report)
        except (msgspec.DecodeError, RecordError) as error:
            self.kill(f"its report is not valid: {error}")

    def _take(self, report: m.Report) -> None:
        match report:
            case m.Advanced() if report.match in self.playing:
                self.playing[report.match][0].take(report)
            case m.Noted():
                self._observers.note(report.event, **{**report.facts, "worker": self.number})
            case m.OrganiserNote():
                self._observers.notify(Observer.on_notice, report.text)
            case m.MatchEnded() | m.MatchStopped() | m.MatchFailed() if report.match in self.playing:
                self.playing.pop(report.match)[1].callback(report)

    def _on_end(self, how: str) -> None:
        """Give up its matches; called in the loop, once its process is gone."""
        ended = self._ended = WorkerEnded(f"worker {self.number} is gone: {how}")
        self.gone.callback(None)  # first, so that another worker is in its place when its matches are played again
        for _, outcome in [self.playing.pop(match) for match in list(self.playing)]:
            outcome.callback(ended)


LOOK_S = 1.0
"""Seconds between two checks whether the workers still report."""
FROZEN_LOOKS = 30
"""Number of checks without a report after which a worker is killed; a live worker reports every second. Checks are
counted, not seconds, so that no worker is killed because this process itself stood still."""
CLOSE_LOOKS = 15
"""Number of checks within which a worker has to end."""
MOST_CRASHES = 5
"""Number of workers that may crash in a row while no match ends; after that, somebody has to look."""


SPARE = 16
"""Number of workers that may replace others in one run of a tournament: its record names all of them beforehand."""


def count_names(workers: int) -> int:
    """Return how many processes may play in one run of a tournament, in addition to its own."""
    return workers + SPARE if workers else 0


class Workers:
    """The processes that play matches for a tournament.

    Args:
        reactor: Twisted's reactor.
        count: number of workers.
        settings: shared by their matches.
        services: key, observers and commits of the tournament, which stay in this process.
        processes: names for workers in records; each is used once.
    """

    room = None

    def __init__(
        self, reactor: Any, count: int, settings: m.SharedSettings, services: MatchServices, processes: Sequence[str]
    ) -> None:
        assert services.commits is not None, "a tournament has them"
        self._reactor = reactor
        self._settings = settings
        self._observers = services.observers
        self._sealer = services.sealer
        self._commits = services.commits
        self._names = list(processes)
        self._crashes = 0
        """Number of crashes since the last match that ended."""
        self._last_why = ""
        self._is_closing = False
        self._clearing: set[Deferred[Any]] = set()
        self._workers = [self._start(number) for number in range(1, count + 1)]
        self._looking = LoopingCall(self._look)
        self._looking.clock = reactor
        self._looking.start(LOOK_S, now=False)

    def takes(self, _job: MatchJob) -> bool:
        """Return whether a match can be played by a worker; if all players are programs, it can."""
        return True

    async def play(self, job: MatchJob) -> SealedMatch:
        """Have a match played to its end, and seal its record.

        Args:
            job: the match.

        Raises:
            MatchPaused: the call was cancelled; the match can go on from its record.
            RefereeError: no worker can play it.
            RecordError: the worker's record is not that of this job.
            OSError: the record can't be written.
        """
        worker = self._assign()
        match = RemoteMatch(job, self._settings.folder, self._settings.terms.durability, self._notify)
        outcome, is_stopped = await self._outcome(worker, match)
        worker.matches -= 1
        if isinstance(outcome, m.MatchEnded):
            self._crashes = 0
            return await outlast(Deferred.fromCoroutine(self._seal(match, outcome)))
        if isinstance(outcome, m.MatchFailed):
            raise RefereeError(f"{job.match} can't be played by a worker: {outcome.why}")
        if isinstance(outcome, m.MatchStopped) or is_stopped:
            raise MatchPaused(str(match.path))
        await outlast(self._in_thread(match.void, outcome.why, self._sealer))
        for transition in match.unreported:
            self._notify(transition)
        for transition in match.unreported[-1:]:
            self._observers.note_unusual(transition)  # the worker has noted the earlier ones itself
        return match.played

    def _notify(self, transition: MatchTransition) -> None:
        self._observers.notify(Observer.on_match_advanced, transition)

    def _assign(self) -> WorkerProcess:
        """Assign one more match to the worker that has least to do, and return the worker.

        Raises:
            RefereeError: all workers have crashed.
        """
        if not self._workers:
            text = f"all workers have ended; the last reason: {self._last_why}"
            raise RefereeError(
                f"{text}; its output is in {self._settings.folder}; give the same command again to go on"
            )
        worker = min(self._workers, key=lambda worker: worker.matches)
        worker.matches += 1
        return worker

    async def _outcome(self, worker: WorkerProcess, match: RemoteMatch) -> tuple[Outcome, bool]:
        """Hand a match to a worker; return the outcome, and whether the match was to be stopped."""
        playing = worker.play(match)
        try:
            return await fork(playing), False
        except CancelledError:
            worker.pause(match.job.match)
            return await outlast(playing), True

    async def _seal(self, match: RemoteMatch, ended: m.MatchEnded) -> SealedMatch:
        writer = match.check_and_seal(ended.head, self._sealer)
        try:
            await self._commits.sync(writer)
        finally:
            writer.close()
        return match.played

    def processes(self) -> Sequence[PlayingProcess]:
        """Return the state of all workers."""
        return [
            PlayingProcess(
                name=f"worker {worker.number}",
                state=worker.why or "plays",
                tables=None,
                matches=tuple(worker.playing),
                silent_s=worker.silent_looks * LOOK_S,
            )
            for worker in self._workers
        ]

    async def close(self) -> None:
        """End all workers, and wait until nothing is left of them."""
        self._is_closing = True
        for worker in self._workers:
            worker.silent_looks = FROZEN_LOOKS - CLOSE_LOOKS
            worker.close()
        for worker in list(self._workers):
            await outlast(worker.gone)
        for clearing in list(self._clearing):
            await outlast(clearing)
        self._looking.stop()

    def _start(self, number: int) -> WorkerProcess:
        settings = replace(self._settings, process=self._names.pop(0))
        worker = WorkerProcess(self._reactor, number, settings, self._observers)
        worker.gone.addCallback(lambda _: self._replace(worker))
        self._observers.note("worker-started", worker=number, pid=worker.pid)
        return worker

    def _replace(self, worker: WorkerProcess) -> None:
        """Start another worker in the place of one that has ended, and clear up what that one has left."""
        self._observers.note("worker-ended", worker=worker.number, pid=worker.pid)
        self._last_why = worker.why
        place = self._workers.index(worker)
        if self._is_closing:
            return
        if self._settings.groups is not None:
            clearing = self._in_thread(clear_groups, self._settings.groups)
            self._clearing.add(clearing)
            clearing.addBoth(lambda _: self._clearing.discard(clearing))
        self._crashes += 1
        del self._workers[place]
        if self._crashes < MOST_CRASHES and self._names:
            with suppress(OSError):  # the other workers go on
                self._workers.insert(place, self._start(worker.number))

    def _look(self) -> None:
        for worker in self._workers:
            worker.silent_looks += 1
            if worker.silent_looks >= FROZEN_LOOKS:
                worker.kill(f"it reported nothing for {FROZEN_LOOKS * LOOK_S:g} s")

    def _in_thread(self, function: Any, *args: Any) -> "Deferred[Any]":
        return deferToThreadPool(self._reactor, self._reactor.getThreadPool(), function, *args)
