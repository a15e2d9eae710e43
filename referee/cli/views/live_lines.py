"""Writes a running tournament line by line: in words, or as JSON for other programs.

The objects are described in docs/reference/exports.md.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from ...observers import Observer
from ...pages.outcomes import outcome_of_entry
from ...pages.words import Causes, broken, number, short_cause
from ...text import counted, printable
from ...tournament.commands import SuspendEntrant
from ...tournament.machine import Tournament
from ...tournament.match_context import Fixture, MatchEntry
from ...tournament.points import Scoring
from ..common import console, print_json
from .standings import plain_standings

Say = Callable[[str], None]


def foul_lines(entry: MatchEntry, causes: Causes | None = None) -> list[str]:
    """Return who was expelled in a match and why, a line for each, printable.

    Args:
        entry: the match.
        causes: what was told already; None: all causes are told in short.
    """
    lines = []
    for foul in entry.fouls:
        name = entry.names[foul.seat]
        what = " ".join(filter(None, (f"{name} expelled: {foul.cause}", broken(foul))))
        why = short_cause(foul.detail) if causes is None else causes.tell(name, foul.detail)
        lines.append(printable(f"{what}: {why}" if why else what))
    return lines


def result_text(tournament: Tournament | None, entry: MatchEntry) -> str:
    """Return how a match ended, in words, and the points: `gus beat typo (typo crashed); 3 : 5`."""
    scoring = Scoring() if tournament is None else tournament.spec.scoring
    return outcome_of_entry(entry, scoring).with_points(entry.scores)


def matches_text(tournament: Tournament) -> str:
    """Return how many matches were played, awarded and given up: `18 matches, 1 awarded, 3 given up`."""
    awarded = f", {len(tournament.awards)} awarded" if tournament.awards else ""
    lost = f", {tournament.given_up} given up" if tournament.given_up else ""
    return f"{counted(tournament.played, 'match', 'matches')}{awarded}{lost}"


def name_of(tournament: Tournament | None, entrant: int) -> str:
    """Return the name of an entrant, who may have joined late."""
    return "" if tournament is None else tournament.spec.entrants[entrant].name


def _counts(tournament: Tournament | None) -> dict[str, int | None]:
    """Return how many matches count, and how many there will be as far as that is known now."""
    return {} if tournament is None else {"played": tournament.played, "total": tournament.total}


class PlainLines(Observer):
    """A line for each result, foul, suspension and note: for logs, and where there is no terminal.

    Args:
        say: writes one line.
    """

    def __init__(self, say: Say | None = None) -> None:
        self._say = say or console.say
        self._tournament: Tournament | None = None
        self._causes = Causes()

    def on_tournament_begun(self, tournament: Tournament, total: int | None) -> None:
        """Say what is going to be played."""
        self._tournament = tournament
        spec = tournament.spec
        parts = [spec.game, spec.format, counted(len(spec.entrants), "entrant")]
        parts += [] if total is None else [counted(total, "match", "matches")]
        if tournament.played:
            what = counted(tournament.played, "match", "matches") if total is None else f"{tournament.played} of them"
            parts.append(f"{what} played")
        parts += [f"{len(tournament.awards)} awarded"] if tournament.awards else []
        parts += [f"{tournament.given_up} given up"] if tournament.given_up else []
        self._say(f"{spec.name}: {', '.join(parts)}")

    def on_match_closed(self, entry: MatchEntry) -> None:
        """Say the result, and who was expelled why."""
        played, total = (0, None) if self._tournament is None else (self._tournament.played, self._tournament.total)
        of = "" if total is None else f"/{total}"
        self._say(f"[{played}{of}] {entry.match}: {result_text(self._tournament, entry)}")
        for line in foul_lines(entry, self._causes):
            self._say(f"  {line}")

    def on_match_voided(self, entry: MatchEntry) -> None:
        """Say that it is played again, and why."""
        self._say(f"{entry.match}: void, to be played again: {printable(entry.void or '')}")

    def on_entrant_suspended(self, suspension: SuspendEntrant) -> None:
        """Say who plays no more, and why."""
        name = printable(name_of(self._tournament, suspension.entrant))
        self._say(f"{name} is suspended: {printable(short_cause(suspension.why))}")

    def on_notice(self, text: str) -> None:
        """Say it."""
        self._say(printable(text))

    def on_tournament_ended(self, tournament: Tournament) -> None:
        """Say how many matches there were, and who leads."""
        state = "is over" if tournament.is_over else "was stopped"
        self._say(f"{tournament.spec.name} {state}: {matches_text(tournament)}, {tournament.voided} void")
        ratings = tournament.placing_ratings()
        for line in tournament.standings()[:3]:
            mark = "" if ratings is None else f" (rating {ratings[line.entrant]:.1f})"
            mark += " (suspended)" if line.entrant in tournament.suspended else ""
            name = printable(name_of(tournament, line.entrant))
            self._say(f"  {line.place}. {name} {number(line.points)}{mark}")


class JsonLines(Observer):
    """One object a line, for other programs.

    Args:
        write: writes one object.
    """

    def __init__(self, write: Callable[[Any], None] = print_json) -> None:
        self._write = write
        self._tournament: Tournament | None = None

    def on_tournament_begun(self, tournament: Tournament, total: int | None) -> None:
        """Write what is going to be played."""
        self._tournament = tournament
        spec = tournament.spec
        names = [entrant.name for entrant in spec.entrants]
        begun = {"game": spec.game, "format": spec.format, "entrants": names, "total": total}
        self._event("tournament-begun", tournament=spec.name, **begun, played=tournament.played)

    def on_match_opened(self, name: str, table: int, fixture: Fixture) -> None:
        """Write what is played where."""
        names = [name_of(self._tournament, entrant) for entrant in fixture.entrants]
        place = {key: getattr(fixture, key) for key in ("number", "round", "leg", "attempt")}
        self._event("match-opened", match=name, table=table, **place, names=names)

    def on_match_closed(self, entry: MatchEntry) -> None:
        """Write the result; and the standings whenever as many matches more were played as there are entrants."""
        told = {name: getattr(entry, name) for name in entry.__struct_fields__ if name not in ("fixture", "void")}
        result = result_text(self._tournament, entry)
        self._event("match-closed", match=entry.match, **told, result=result, **_counts(self._tournament))
        tournament = self._tournament
        if tournament is not None and tournament.played % len(tournament.spec.entrants) == 0:
            self._standings(tournament)

    def on_match_voided(self, entry: MatchEntry) -> None:
        """Write the referee's fault for which the match is played again."""
        result = result_text(self._tournament, entry)
        self._event("match-voided", match=entry.match, names=entry.names, void=entry.void, result=result)

    def on_entrant_suspended(self, suspension: SuspendEntrant) -> None:
        """Write who plays no more and why, and how many matches are not played because of all who do not."""
        given_up = 0 if self._tournament is None else self._tournament.given_up
        name, counts = name_of(self._tournament, suspension.entrant), _counts(self._tournament)
        self._event("entrant-suspended", name=name, why=suspension.why, given_up=given_up, **counts)

    def on_notice(self, text: str) -> None:
        """Write it."""
        self._event("noted", text=text)

    def on_tournament_ended(self, tournament: Tournament) -> None:
        """Write the last standings, and that it is over or was stopped."""
        self._standings(tournament)
        self._event(
            "tournament-over",
            is_over=tournament.is_over,
            **_counts(tournament),
            given_up=tournament.given_up,
            void=tournament.voided,
        )

    def _standings(self, tournament: Tournament) -> None:
        order = tournament.explain_order()
        self._event("standings", played=tournament.played, order=order, standings=plain_standings(tournament))

    def _event(self, event: str, **fields: Any) -> None:
        self._write({"event": event, **msgspec.to_builtins(fields)})
