"""Lets a running tournament take events, puts them on record, and tells the observers once the disk has them."""

from collections import deque
from collections.abc import Callable

from twisted.internet.defer import Deferred, succeed
from twisted.python.failure import Failure

from ...clock import wall_clock
from ...observers import Observer, Observers
from ...record.tournament_record import TournamentWriter
from ...tournament import commands as c
from ...tournament import events as e
from ...tournament.machine import Tournament
from ...tournament.match_context import Fixture, MatchContext, MatchEntry
from ..group_commit import GroupCommit


class Recorder:
    """A tournament and its record: every event goes through here.

    Args:
        tournament: as far as it has come.
        writer: of its record.
        observers: are told.
        clock: returns the time of day, as wall_clock does.
    """

    def __init__(
        self,
        tournament: Tournament,
        writer: TournamentWriter,
        observers: Observers,
        clock: Callable[[], str] = wall_clock,
    ) -> None:
        self.tournament = tournament
        self.clock = clock
        self.commits: GroupCommit | None = None
        """Syncs the record while matches are played; None: each line is synced on the spot."""
        self.on_refused: Callable[[Failure], None] = lambda failure: failure.raiseException()
        """Called if the disk has refused to sync a line."""
        self._writer = writer
        self._observers = observers
        self._unsynced: deque[c.TakenStep] = deque()
        self._waiting: deque[tuple[int, Deferred[None]]] = deque()
        """Who waits until so many lines are on the disk, and observers have been told."""

    def take(self, event: e.TournamentEvent) -> tuple[c.TournamentCommand, ...]:
        """Let the tournament take an event, and write it; whatever can be seen of it has to wait for `synced`.

        Raises:
            ImpossibleEvent: it can't happen now.
            BadRuling: it is a ruling that can't be carried out.
            NotWritten: the disk refused.
        """
        commands = self.tournament.handle(event)
        self._unsynced.append(self._writer.write_step(event, commands))
        count = self._writer.count
        if self.commits is None:
            self._writer.sync()
            self._tell(count)
        else:
            self.commits.sync(self._writer).addCallback(lambda _: self._tell(count)).addErrback(self._refused)
        return commands

    def synced(self) -> "Deferred[None]":
        """Wait until all that was taken by now is on the disk, and observers have been told.

        Returns:
            Fires then; fails with NotWritten.
        """
        if not self._unsynced:
            return succeed(None)
        synced: Deferred[None] = Deferred()
        self._waiting.append((self._writer.count, synced))
        return synced

    def open(self, fixture: Fixture) -> MatchContext:
        """Note that a match begins once that is `synced`, and return what its record has to say it was opened for."""
        self.take(e.MatchOpened(at=self.clock(), fixture=fixture))
        return MatchContext(tournament=self.tournament.spec.name, fixture=fixture, head=self._writer.head)

    def close(self, entry: MatchEntry) -> None:
        """Note what came of a match, whose record is sealed."""
        self.take(e.MatchClosed(at=self.clock(), entry=entry))

    def seal(self) -> None:
        """Sign all that is on record."""
        self._writer.seal()
        self._writer.sync()

    def _tell(self, count: int) -> None:
        """Tell observers of what is among the first so many lines, and then whoever waits for these."""
        while self._unsynced and self._unsynced[0].line < count:
            self._tell_step(self._unsynced.popleft())
        while self._waiting and self._waiting[0][0] <= count:
            self._waiting.popleft()[1].callback(None)

    def _tell_step(self, step: c.TakenStep) -> None:
        tell, event = self._observers.tell, step.event
        tell(Observer.tournament_stepped, step)
        for command in step.commands:
            if isinstance(command, c.SuspendEntrant):
                tell(Observer.entrant_suspended, command)
            elif isinstance(command, c.DisregardMatch):
                tell(Observer.noted, f"{command.match} does not count: {command.why}")
        is_disregarded = any(isinstance(command, c.DisregardMatch) for command in step.commands)
        if isinstance(event, e.MatchClosed) and not is_disregarded:
            tell(Observer.match_closed if event.entry.void is None else Observer.match_voided, event.entry)

    def _refused(self, failure: Failure) -> None:
        while self._waiting:
            self._waiting.popleft()[1].errback(failure)
        self.on_refused(failure)
