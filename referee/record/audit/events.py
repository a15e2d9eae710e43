"""Checks what the fold of a tournament does not ask of its events: their runs, who paired, programs, and legs.

Each event is looked at behind the fold, which has taken it already.
"""

from pathlib import Path

from ...text import is_blank, show_json
from ...tournament import events as e
from ...tournament.machine import Tournament
from ...tournament.spec import REMOTE, Participant
from ..reader import RecordError
from ..tournament_record import TournamentHeader


class EventChecks:
    """What the events of a tournament so far have said.

    Args:
        path: of the record.
        header: its first line.
        tournament: the fold that takes the events.

    Raises:
        RecordError: the header tells of a program that the referee can't have read.
    """

    def __init__(self, path: Path, header: TournamentHeader, tournament: Tournament) -> None:
        self._path = path
        self._tournament = tournament
        self._programs: dict[str, str | None] = dict(header.programs)
        self._is_running = False
        self._has_begun = False
        self._lasts: dict[str, set[bool]] = {}
        """Match that is being played, or was -> whether it was the only leg of its pairing that had no result."""
        for participant in header.spec.entrants:
            self._check_digest(0, participant, header.programs.get(participant.name))

    def take(self, number: int, event: e.TournamentEvent) -> None:
        """Take the event of a line.

        Raises:
            RecordError: it contradicts the events before it.
        """
        if isinstance(event, e.MatchOpened):
            self._lasts[event.fixture.match] = set()
        self._check_run(number, event)
        match event:
            case e.RoundPaired() if is_blank(event.by):
                raise RecordError(self._path, number, "name and version of what paired the round", show_json(event.by))
            case e.EntrantJoined():
                self._check_digest(number, event.participant, event.digest)
                self._programs[event.participant.name] = event.digest
            case e.ProgramChanged():
                self._change(number, event)
        if self._tournament.spec.duplicate:
            for fixture in self._tournament.playing.values():
                self._lasts[fixture.match].add(self._tournament.is_last_leg(fixture))

    def may_be_last(self, match: str) -> frozenset[bool]:
        """Return whether a match can have been begun as the last leg of its deal, or as an earlier one, or as both."""
        return frozenset(self._lasts.get(match, ()))

    def _check_run(self, number: int, event: e.TournamentEvent) -> None:
        """Check that a referee begins once, goes on later, and that nothing happens while none runs."""
        begins = isinstance(event, e.Begun | e.TournamentResumed)
        if isinstance(event, e.Begun) and self._has_begun:
            raise RecordError(self._path, number, "one beginning of the tournament", "another one")
        if not begins and not self._is_running:
            found = type(event).__struct_config__.tag
            raise RecordError(self._path, number, "nothing while no referee runs: it begins, or goes on", f"{found}")
        self._has_begun = True
        self._is_running = not isinstance(event, e.Stopped | e.Finished)

    def _change(self, number: int, event: e.ProgramChanged) -> None:
        participant = self._tournament.spec.entrants[event.entrant]
        self._check_digest(number, participant, event.digest)
        if self._programs.get(participant.name) == event.digest:
            expected = f"another program of {participant.name} than the one that it had"
            raise RecordError(self._path, number, expected, event.digest)
        self._programs[participant.name] = event.digest

    def _check_digest(self, number: int, participant: Participant, digest: str | None) -> None:
        if digest is not None and participant.player == REMOTE:
            expected = f"no digest of {participant.name}, whose program runs elsewhere"
            raise RecordError(self._path, number, expected, digest)
