"""A tournament folded again from its events, with all that reports and files tell of its course."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .. import chance
from ..pairing.base import Pairing, PairingFormat, PlayedPairing
from . import commands as c
from . import events as e
from .machine import Tournament
from .match_context import MatchEntry
from .points import match_points
from .spec import TournamentSpec


def new_tournament(spec: TournamentSpec, format_: PairingFormat[Any], salt: str) -> Tournament:
    """Return a tournament before its first event.

    Args:
        spec: what was settled.
        format_: of the spec's name.
        salt: from which the format's lots are drawn, in hex.

    Raises:
        BadFormat: the format can't be played with these options and entrants.
    """
    return Tournament(spec, format_, chance.Dealer(chance.derive(bytes.fromhex(salt), "format")))


@dataclass(frozen=True, slots=True)
class History:
    """A tournament after some events, and how it came there."""

    tournament: Tournament
    head: str = ""
    """Of the record that it was read from; empty: it was read from none."""
    begun_at: list[str] = field(default_factory=list)
    """The times of day at which a referee began or went on, the first one first."""
    left_at: list[str] = field(default_factory=list)
    """The times of day at which it stopped or had finished."""
    changes: list[tuple[int, str]] = field(default_factory=list)
    """Entrant and the time of day at which it was found to have another program than before."""
    hosts: list[e.HostCame] = field(default_factory=list)
    """The hosts of a cluster that have played, in the order in which they came; who came again, again."""
    joined: list[tuple[int, str]] = field(default_factory=list)
    """Entrant that joined late and the time of day at which it did."""
    ruled_at: list[str] = field(default_factory=list)
    """The times of day of the tournament's rulings."""
    entries: list[MatchEntry] = field(default_factory=list)
    """What came of matches, in the order in which they were closed; those that count for nothing, too."""
    disregarded: dict[str, str] = field(default_factory=dict)
    """Match that counts for nothing -> why."""

    _played: dict[int, PlayedPairing] = field(default_factory=dict)

    @property
    def played(self) -> Iterable[PlayedPairing]:
        """The pairings that are through, byes among them, in their order; those of void matches are not."""
        return self._played.values()

    @property
    def byes(self) -> list[Pairing]:
        """Every bye that was given."""
        return [played.pairing for played in self.played if played.pairing.is_bye]

    def take(self, event: e.TournamentEvent) -> tuple[c.TournamentCommand, ...]:
        """Take an event, as the tournament does, and remember it.

        Raises:
            ImpossibleEvent: it can't happen now.
            BadRuling: it is a ruling that can't be carried out.
        """
        commands = self.tournament.handle(event)
        self._note(event)
        for number in self.tournament.taken_back:
            self._played.pop(number, None)
        self._played.update((played.pairing.number, played) for played in self.tournament.concluded)
        for command in commands:
            if isinstance(command, c.DisregardMatch):
                self.disregarded[command.match] = command.why
        return commands

    def _note(self, event: e.TournamentEvent) -> None:
        match event:
            case e.MatchClosed():
                self.entries.append(event.entry)
            case e.Begun() | e.TournamentResumed():
                self.begun_at.append(event.at)
            case e.Stopped() | e.Finished():
                self.left_at.append(event.at)
            case e.HostCame():
                self.hosts.append(event)
            case e.ProgramChanged():
                self.changes.append((event.entrant, event.at))
            case e.EntrantJoined():
                self.joined.append((len(self.tournament.spec.entrants) - 1, event.at))
            case e.Ruled():
                self.ruled_at.append(event.at)

    def points_by_round(self) -> Mapping[int, Mapping[int, Fraction]]:
        """Return round -> entrant -> what its results of this round are worth; rounds in their order."""
        found: dict[int, dict[int, Fraction]] = {}
        for played in self.played:
            worth = found.setdefault(played.pairing.round, {})
            points = match_points(played, self.tournament.spec.scoring, self.tournament.spec.seats)
            for entrant, each in zip(played.pairing.seats, points, strict=True):
                worth[entrant] = worth.get(entrant, Fraction(0)) + each
        return dict(sorted(found.items()))
