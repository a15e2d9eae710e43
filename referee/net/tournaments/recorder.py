"""Lets a running tournament take events, puts them on record, and tells the observers."""

from collections.abc import Callable

from ...clock import wall_clock
from ...observers import Observer, Observers
from ...record.tournament_record import TournamentWriter
from ...tournament import commands as c
from ...tournament import events as e
from ...tournament.machine import Tournament
from ...tournament.match_context import Fixture, MatchContext, MatchEntry


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
        self._writer = writer
        self._observers = observers

    def take(self, event: e.TournamentEvent) -> tuple[c.TournamentCommand, ...]:
        """Let the tournament take an event; what follows is on record before anybody is told.

        Raises:
            ImpossibleEvent: it can't happen now.
            BadRuling: it is a ruling that can't be carried out.
            NotWritten: the disk refused.
        """
        commands = self.tournament.handle(event)
        step = self._writer.write_step(event, commands)
        tell = self._observers.tell
        tell(Observer.tournament_stepped, step)
        for command in commands:
            if isinstance(command, c.SuspendEntrant):
                tell(Observer.entrant_suspended, command)
            elif isinstance(command, c.DisregardMatch):
                tell(Observer.noted, f"{command.match} does not count: {command.why}")
        return commands

    def open(self, fixture: Fixture) -> MatchContext:
        """Note that a match is begun, and return what its own record has to say that it was opened for."""
        self.take(e.MatchOpened(at=self.clock(), fixture=fixture))
        return MatchContext(tournament=self.tournament.spec.name, fixture=fixture, head=self._writer.head)

    def close(self, entry: MatchEntry) -> None:
        """Note what came of a match, whose record is sealed."""
        commands = self.take(e.MatchClosed(at=self.clock(), entry=entry))
        if not any(isinstance(command, c.DisregardMatch) for command in commands):
            self._observers.tell(Observer.match_closed if entry.void is None else Observer.match_voided, entry)

    def seal(self) -> None:
        """Sign all that is on record."""
        self._writer.write_seal()
