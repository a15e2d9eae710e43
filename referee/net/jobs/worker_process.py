"""One worker as the tournament's process has it: started, listened to, and ended."""

from typing import Any

import msgspec
from msgspec import Struct
from twisted.internet.defer import Deferred

from ...observers import Observer, Observers
from ...record.reader import RecordError
from .helper_process import HelperProcess
from .job import encoded
from .messages import (
    REPORTS,
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
        self._order(Play(job=encoded(match.job), is_followed=self._observers.hear(Observer.match_stepped)))
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
                self._observers.tell(Observer.noted, report.text)
            case MatchEnded() | MatchStopped() | MatchFailed() if report.match in self.playing:
                self.playing.pop(report.match)[1].callback(report)

    def _ended(self, how: str) -> None:
        """Give up what it had; called in the loop, once its process is gone."""
        died = self._died = Died(f"worker {self.number} is gone: {how}")
        self.gone.callback(None)  # first: there is another in its place, then
        for _, outcome in [self.playing.pop(match) for match in list(self.playing)]:
            outcome.callback(died)
