"""All workers of a tournament: who plays which match, and what becomes of it when one of them dies."""

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
from ...observers import MatchStep, Observer, Observers, PlayingProcess
from ...programs.control_groups import clear_groups
from ...record.reader import RecordError
from ..matches.runner import MatchPaused
from ..matches.settings import MatchServices
from ..waiting import apart, outlasting
from .job import MatchJob, SealedMatch, encoded
from .messages import (
    REPORTS,
    Close,
    Frames,
    HelperProcess,
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
    Stepped,
    framed,
)
from .remote_match import RemoteMatch


class Died(Struct, frozen=True):
    """The worker is no more."""

    why: str


Outcome = MatchEnded | MatchStopped | MatchFailed | Died
"""What a worker has come to with a match."""


class WorkerProcess:
    """A worker.

    Args:
        reactor: Twisted's reactor.
        number: from 1, for people.
        settings: the first order.
        observers: are told what it tells.

    Raises:
        OSError: it can't be started.
    """

    def __init__(self, reactor: Any, number: int, settings: SharedSettings, observers: Observers) -> None:
        self.number = number
        self.playing: dict[str, tuple[RemoteMatch, Deferred[Outcome]]] = {}
        self.gone: Deferred[None] = Deferred()
        """Fires once nothing is left of it."""
        self.silent_looks = 0
        """How often it was looked for something from it since it has said something."""
        self.matches = 0
        """Whose worker it is to be, or is."""
        self._died: Died | None = None
        self._observers = observers
        self._frames = Frames(REPORTS)
        self._process = HelperProcess(
            reactor, "referee.net.jobs.worker", settings.folder / f"worker{number}.stderr", self._received, self._ended
        )
        self.pid = self._process.pid
        self._order(settings)

    def play(self, match: RemoteMatch) -> "Deferred[Outcome]":
        """Hand a match out; fires with what came of it, and is not to be cancelled.

        Args:
            match: that is to be played; its steps are told if anybody would hear of them.
        """
        outcome: Deferred[Outcome] = Deferred()
        if self._died is not None:
            outcome.callback(self._died)
            return outcome
        self.playing[match.job.match] = match, outcome
        self._order(Play(job=encoded(match.job), is_followed=self._observers.has_listener(Observer.on_match_stepped)))
        return outcome

    def pause(self, match: str) -> None:
        """Have a match stopped in the middle."""
        self._order(Pause(match=match))

    def close(self) -> None:
        """Let it end, once nothing of what it has started is left."""
        self._order(Close())

    def kill(self, why: str) -> None:
        """End it at once, and its programs with it.

        Args:
            why: in a few words.
        """
        self._process.kill(why)

    @property
    def why(self) -> str:
        """Why it is no more, in one sentence; empty while it lives."""
        return "" if self._died is None else self._died.why

    def _order(self, order: Order) -> None:
        self._process.write(framed((order,)))

    def _received(self, data: bytes) -> None:
        self.silent_looks = 0
        try:
            for reports in self._frames.add(data):
                for report in reports:
                    self._take(report)
        except (msgspec.DecodeError, RecordError) as error:
            self.kill(f"what it says makes no sense: {error}")

    def _take(self, report: Report) -> None:
        match report:
            case Stepped() if report.match in self.playing:
                self.playing[report.match][0].take(report)
            case Noted():
                self._observers.note(report.event, **{**report.facts, "worker": self.number})
            case OrganiserNote():
                self._observers.notify(Observer.on_notice, report.text)
            case MatchEnded() | MatchStopped() | MatchFailed() if report.match in self.playing:
                self.playing.pop(report.match)[1].callback(report)

    def _ended(self, how: str) -> None:
        """Give up what it had; called in the loop, once its process is gone."""
        died = self._died = Died(f"worker {self.number} is gone: {how}")
        self.gone.callback(None)  # first: there is another in its place, then
        for _, outcome in [self.playing.pop(match) for match in list(self.playing)]:
            outcome.callback(died)


LOOK_S = 1.0
"""How often it is looked whether workers say something."""
FROZEN_LOOKS = 30
"""So often in vain, and a worker is given up: it says every second that it lives. Looks are counted, not seconds: while
this process stands still, nobody is given up."""
CLOSE_LOOKS = 15
"""So long a worker may take to end."""
MOST_DEATHS = 5
"""So many workers may die one after the other while no match ends; then somebody has to look."""


SPARE = 16
"""So many workers may be started in the place of others, until the tournament is gone on with: its record names all of
them beforehand."""


def names_needed(workers: int) -> int:
    """Return how many processes may play in one run of a tournament, beside its own."""
    return workers + SPARE if workers else 0


class WorkersFail(RefereeError):
    """Workers can't play; the text says what to do."""


class Workers:
    """The processes that play matches for a tournament.

    Args:
        reactor: Twisted's reactor.
        count: how many.
        settings: what their matches share.
        services: key, observers and commits of the tournament, which stay here.
        processes: what records call workers, each once.
    """

    room = None

    def __init__(
        self, reactor: Any, count: int, settings: SharedSettings, services: MatchServices, processes: Sequence[str]
    ) -> None:
        assert services.commits is not None, "a tournament has them"
        self._reactor = reactor
        self._settings = settings
        self._observers = services.observers
        self._sealer = services.sealer
        self._commits = services.commits
        self._names = list(processes)
        self._deaths = 0
        """Since a match has ended."""
        self._last_why = ""
        self._is_closing = False
        self._clearing: set[Deferred[Any]] = set()
        self._workers = [self._started(number) for number in range(1, count + 1)]
        self._looking = LoopingCall(self._look)
        self._looking.clock = reactor
        self._looking.start(LOOK_S, now=False)

    def takes(self, _job: MatchJob) -> bool:
        """Tell whether a match can be played by a worker: every one can whose players all are programs."""
        return True

    async def play(self, job: MatchJob) -> SealedMatch:
        """Have a match played to its end, and seal its record.

        Args:
            job: the match.

        Raises:
            MatchPaused: it was cancelled; its record is what it goes on from.
            WorkersFail: no worker can play it.
            RecordError: what came back is not what was asked for.
            OSError: the record can't be written.
        """
        worker = self._least_busy()
        match = RemoteMatch(job, self._settings.folder, self._settings.terms.durability, self._tell)
        outcome, is_stopped = await self._outcome(worker, match)
        worker.matches -= 1
        if isinstance(outcome, MatchEnded):
            self._deaths = 0
            return await outlasting(Deferred.fromCoroutine(self._seal(match, outcome)))
        if isinstance(outcome, MatchFailed):
            raise WorkersFail(f"{job.match} can't be played by a worker: {outcome.why}")
        if isinstance(outcome, MatchStopped) or is_stopped:
            raise MatchPaused(str(match.path))
        await outlasting(self._in_thread(match.void, outcome.why, self._sealer))
        for step in match.untold:
            self._tell(step)
        for step in match.untold[-1:]:
            self._observers.note_unusual(step)  # the worker has noted the ones before
        return match.played

    def _tell(self, step: MatchStep) -> None:
        self._observers.notify(Observer.on_match_stepped, step)

    def _least_busy(self) -> WorkerProcess:
        """Return the worker that has least to do, for one match more.

        Raises:
            WorkersFail: they have died, one after the other.
        """
        if not self._workers:
            text = f"no worker is left, the last one for this: {self._last_why}"
            raise WorkersFail(f"{text}; what it printed is in {self._settings.folder}; the same command goes on")
        worker = min(self._workers, key=lambda worker: worker.matches)
        worker.matches += 1
        return worker

    async def _outcome(self, worker: WorkerProcess, match: RemoteMatch) -> tuple[Outcome, bool]:
        """Hand a match to a worker; return what came of it, and whether it was to be stopped."""
        name = match.job.match
        course = worker.play(match)
        try:
            return await apart(course), False
        except CancelledError:
            worker.pause(name)
            return await outlasting(course), True

    async def _seal(self, match: RemoteMatch, ended: MatchEnded) -> SealedMatch:
        writer = match.check_and_seal(ended.head, self._sealer)
        try:
            await self._commits.sync(writer)
        finally:
            writer.close()
        return match.played

    def processes(self) -> Sequence[PlayingProcess]:
        """Return the workers, and how they are."""
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
            await outlasting(worker.gone)
        for clearing in list(self._clearing):
            await outlasting(clearing)
        self._looking.stop()

    def _started(self, number: int) -> WorkerProcess:
        settings = replace(self._settings, process=self._names.pop(0))
        worker = WorkerProcess(self._reactor, number, settings, self._observers)
        worker.gone.addCallback(lambda _: self._lost(worker))
        self._observers.note("worker-started", worker=number, pid=worker.pid)
        return worker

    def _lost(self, worker: WorkerProcess) -> None:
        """Start another worker in the place of one that is no more, and clear up what that has left."""
        self._observers.note("worker-ended", worker=worker.number, pid=worker.pid)
        self._last_why = worker.why
        place = self._workers.index(worker)
        if self._is_closing:
            return
        if self._settings.groups is not None:
            clearing = self._in_thread(clear_groups, self._settings.groups)
            self._clearing.add(clearing)
            clearing.addBoth(lambda _: self._clearing.discard(clearing))
        self._deaths += 1
        del self._workers[place]
        if self._deaths < MOST_DEATHS and self._names:
            with suppress(OSError):  # those that are left go on
                self._workers.insert(place, self._started(worker.number))

    def _look(self) -> None:
        for worker in self._workers:
            worker.silent_looks += 1
            if worker.silent_looks >= FROZEN_LOOKS:
                worker.kill(f"it said nothing for {FROZEN_LOOKS * LOOK_S:g} s")

    def _in_thread(self, function: Any, *args: Any) -> "Deferred[Any]":
        return deferToThreadPool(self._reactor, self._reactor.getThreadPool(), function, *args)
