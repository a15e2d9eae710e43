"""A tournament together with its past, which reports and exports need."""

# The fold forgets everything that it doesn't need, so that its memory stays small for a whole season. Pages need more:
# when a match was open, which program played it, which result was taken back and why. `History` wraps the fold and
# takes notes of the events that pass through. It decides nothing, so a wrong or missing note can't change a tournament.
#
# Times of day are also notes. No audit can check them, since only the referee's clock knew them.

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from typing import Any, TypeVar

from msgspec import Struct

from .. import chance
from . import commands as c
from . import events as e
from .machine import Tournament
from .match_context import Fixture, MatchEntry
from .pairing.base import Pairing, PairingFormat, PlayedPairing
from .points import match_points
from .rulings import Ruling, parse_match_name
from .spec import TournamentSpec


class PlayedVersion(Struct, kw_only=True):
    """One of the programs with which an entrant played."""

    entrant: int
    number: int
    """Number among the programs of this entrant, from 1."""
    at: str
    """Time of day from which the entrant played with it."""
    digest: str | None
    """SHA-256 of its folder; None if there is no folder that the referee can read."""
    matches: list[str]
    """Matches that were opened with it."""


def new_tournament(spec: TournamentSpec, format_: PairingFormat[Any], salt: str) -> Tournament:
    """Return a tournament before its first event.

    Args:
        spec: the settings of the tournament.
        format_: the pairing format that the spec names.
        salt: seed of the format's random numbers, in hex.

    Raises:
        BadFormat: the format does not accept these options or entrants.
    """
    return Tournament(spec, format_, chance.Dealer(chance.derive(bytes.fromhex(salt), "format")))


@dataclass(frozen=True, slots=True)
class History:
    """A tournament after some events, with notes of its past."""

    tournament: Tournament
    head: str = ""
    """Head of the record from which it was read; empty if there was no record."""
    begun: list[e.Begun | e.TournamentResumed] = field(default_factory=list)
    """Events with which a referee began or resumed the tournament, in order."""
    runs: dict[str, list[e.Begun | e.TournamentResumed]] = field(default_factory=dict)
    """Match -> the runs of the referee in which the match was open, each given by its first event."""
    left_at: list[str] = field(default_factory=list)
    """Times of day at which a referee stopped or finished."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """Entrant -> SHA-256 of its program's folder at the beginning, if the referee could read the folder."""
    versions: dict[int, list[PlayedVersion]] = field(default_factory=dict, init=False)
    """Entrant -> its programs, in the order of use."""
    hosts: list[e.HostCame] = field(default_factory=list)
    """Hosts of a cluster in the order in which they came. A host that came twice is listed twice."""
    joined: list[tuple[int, str]] = field(default_factory=list)
    """Entrants that joined late, each with the time of day."""
    ruled_at: list[str] = field(default_factory=list)
    """Time of day of each ruling."""
    entries: list[MatchEntry] = field(default_factory=list)
    """Results of matches in the order in which the matches were closed, including those that do not count."""
    waited: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Match -> the time of day from which it could be opened, and the time of day at which it was opened."""
    closed_at: dict[str, str] = field(default_factory=dict)
    """Match -> the time of day at which it was closed."""
    due_at: dict[str, str] = field(default_factory=dict)
    """Match that may be opened now -> the time of day at which this was allowed."""
    disregarded: dict[str, str] = field(default_factory=dict)
    """Match whose result was taken back -> the reason."""

    _played: dict[int, PlayedPairing] = field(default_factory=dict)
    _awarded: dict[tuple[int, int], int] = field(default_factory=dict)
    """Number of a pairing and leg -> how many matches had been closed when a ruling awarded this match."""

    def __post_init__(self) -> None:
        """Note the programs that the entrants have at the beginning."""
        for entrant, participant in enumerate(self.tournament.spec.entrants):
            self._note_version(entrant, "", self.programs.get(participant.name))

    @property
    def begun_at(self) -> list[str]:
        """The times of day at which a referee began or resumed the tournament, in order."""
        return [run.at for run in self.begun]

    @property
    def played(self) -> Iterable[PlayedPairing]:
        """The decided pairings in the order of their results, including byes, but no void matches."""
        return self._played.values()

    @property
    def results(self) -> list[MatchEntry]:
        """All results in the order of the record: `entries`, and the awards that are still valid."""
        results = list(self.entries)
        awards = self.tournament.awards
        for key in sorted(awards, key=self._awarded.__getitem__, reverse=True):
            results.insert(self._awarded[key], awards[key])
        return results

    def uncounted_reason(self, entry: MatchEntry) -> str:
        """Return why a result does not count; empty if it counts.

        A match is void if the referee failed. Any other result counts until a ruling takes it back, or until an entrant
        withdraws before the pairing is decided. A result that a ruling made counts as long as the ruling is valid.

        Args:
            entry: one of `results`.
        """
        return "" if entry.is_ruled else self.disregarded.get(entry.match) or entry.void or ""

    def counts(self, entry: MatchEntry) -> bool:
        """Return whether the standings include a result: it counts, and its pairing is decided.

        Args:
            entry: one of `results`.
        """
        played = self._played.get(entry.fixture.number)
        return not self.uncounted_reason(entry) and played is not None and not played.pairing.is_bye

    @property
    def changes(self) -> list[tuple[int, str]]:
        """Entrants that have changed their program, each with the time of day at which the referee noticed."""
        later = (version for versions in self.versions.values() for version in versions[1:])
        return [(version.entrant, version.at) for version in later]

    @property
    def byes(self) -> list[Pairing]:
        """All byes."""
        return [played.pairing for played in self.played if played.pairing.is_bye]

    def take(self, event: e.TournamentEvent) -> tuple[c.TournamentCommand, ...]:
        """Handle an event, as the tournament does, and remember it.

        Raises:
            ImpossibleEvent: the event can't happen now.
            BadRuling: the event is a ruling that can't be carried out.
        """
        commands = self.tournament.handle(event)
        self._note(event)
        self._note_programs(event)
        for number in self.tournament.taken_back:
            self._played.pop(number, None)
        self._played.update((played.pairing.number, played) for played in self.tournament.concluded)
        for command in commands:
            if isinstance(command, c.DisregardMatch):
                self.disregarded[command.match] = command.why
            elif isinstance(command, c.PlayMatch):
                self.due_at[command.fixture.match] = event.at
        return commands

    def _note(self, event: e.TournamentEvent) -> None:
        match event:
            case e.MatchClosed():
                self.entries.append(event.entry)
                self.closed_at[event.entry.match] = event.at
            case e.Begun() | e.TournamentResumed():
                self.begun.append(event)
                for match in self.tournament.playing:
                    self.runs[match].append(event)
            case e.MatchOpened():
                match = event.fixture.match
                self.runs[match] = self.begun[-1:]
                self.waited[match] = self.due_at.pop(match, event.at), event.at
            case e.Stopped() | e.Finished():
                self.left_at.append(event.at)
            case e.HostCame():
                self.hosts.append(event)
            case e.EntrantJoined():
                self.joined.append((len(self.tournament.spec.entrants) - 1, event.at))
            case e.Ruled():
                self.ruled_at.append(event.at)
                if event.ruling.kind == "award" and event.ruling.match is not None:
                    place = parse_match_name(event.ruling.match, self.tournament.spec.name)
                    self._awarded[place] = len(self.entries)

    def _note_programs(self, event: e.TournamentEvent) -> None:
        match event:
            case e.Begun():
                for first, *_ in self.versions.values():
                    first.at = event.at
            case e.MatchOpened():
                for entrant in event.fixture.entrants:
                    self.versions[entrant][-1].matches.append(event.fixture.match)
            case e.ProgramChanged():
                self._note_version(event.entrant, event.at, event.digest)
            case e.EntrantJoined():
                self._note_version(len(self.tournament.spec.entrants) - 1, event.at, event.digest)

    def _note_version(self, entrant: int, at: str, digest: str | None) -> None:
        versions = self.versions.setdefault(entrant, [])
        number = len(versions) + 1
        versions.append(PlayedVersion(entrant=entrant, number=number, at=at, digest=digest, matches=[]))

    def points_by_round(self) -> Mapping[int, Mapping[int, Fraction]]:
        """Return the points of each entrant in each round: round -> entrant -> points. Rounds are in their order."""
        by_round: dict[int, dict[int, Fraction]] = {}
        for played in self.played:
            worth = by_round.setdefault(played.pairing.round, {})
            points = match_points(played, self.tournament.spec.scoring, self.tournament.spec.seats)
            for entrant, share in zip(played.pairing.seats, points, strict=True):
                worth[entrant] = worth.get(entrant, Fraction(0)) + share
        return dict(sorted(by_round.items()))


# --- Rulings
#
# The changes that the rulings of a tournament made: lines of the standings, matches, cells of the crosstable.


Key = TypeVar("Key")


class RuledLine(Struct, frozen=True, kw_only=True):
    """A ruling in the form in which pages show it next to its effects."""

    number: int
    """Number of the ruling, from 1, in the order in which they were made."""
    at: str
    """Time of day, ISO 8601 in UTC."""
    ruling: Ruling
    entrants: Sequence[int]
    """Entrants that the ruling concerns: one, or all players of a match; empty if it concerns the whole tournament."""
    place: tuple[int, int] | None
    """Number of the pairing, and leg, of the match that the ruling concerns; None if it concerns no match."""


class RuledLines:
    """All rulings of a tournament.

    Args:
        history: the tournament and its past.
    """

    def __init__(self, history: History) -> None:
        self.all: Sequence[RuledLine] = list(_lines(history))
        self._of_matches = _group_lines(self.all, lambda line: [] if line.place is None else [line.place])
        self._of_entrants = _group_lines(self.all, lambda line: line.entrants)
        self._of_pairs = _group_lines(
            self.all, lambda line: [] if line.place is None else permutations(line.entrants, 2)
        )

    def of_match(self, fixture: Fixture) -> Sequence[RuledLine]:
        """Return the rulings on a match, and on all other attempts at the same leg."""
        return self._of_matches.get((fixture.number, fixture.leg), ())

    def of_pairing(self, number: int) -> Sequence[RuledLine]:
        """Return the rulings on the matches of a pairing."""
        return [line for line in self.all if line.place is not None and line.place[0] == number]

    def of_entrant(self, entrant: int) -> Sequence[RuledLine]:
        """Return the rulings on an entrant and on its matches."""
        return self._of_entrants.get(entrant, ())

    def of_pair(self, entrant: int, opponent: int) -> Sequence[RuledLine]:
        """Return the rulings on matches of two entrants."""
        return self._of_pairs.get((entrant, opponent), ())


def _lines(history: History) -> Iterator[RuledLine]:
    spec = history.tournament.spec
    index = {entrant.name: at for at, entrant in enumerate(spec.entrants)}
    seated = {played.pairing.number: played.pairing.seats for played in history.played}
    seated |= {entry.fixture.number: entry.fixture.entrants for entry in history.results}
    ruled = zip(history.ruled_at, history.tournament.rulings, strict=True)
    for number, (at, ruling) in enumerate(ruled, 1):
        place = None if ruling.match is None else parse_match_name(ruling.match, spec.name)
        named = () if ruling.entrant is None else (index[ruling.entrant],)
        entrants = named if place is None else seated.get(place[0], ())
        yield RuledLine(number=number, at=at, ruling=ruling, entrants=entrants, place=place)


def _group_lines(
    lines: Sequence[RuledLine], keys: Callable[[RuledLine], Iterable[Key]]
) -> Mapping[Key, list[RuledLine]]:
    by_key: dict[Key, list[RuledLine]] = {}
    for line in lines:
        for key in keys(line):
            by_key.setdefault(key, []).append(line)
    return by_key
