"""Checks what the matches of a tournament tell of the starts of its programs: which of them played which matches."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct, field

from ...text import show_json
from ...tournament.match_context import Fixture
from ...tournament.spec import REMOTE, TournamentSpec
from ..reader import RecordError
from ..tournament_record import TournamentRecord
from .standstills import Presence

_ROUNDING_MS = 0.01
"""Of an instant and of a clock's, each rounded to a microsecond; with some room."""


class _Start(Struct):
    """One start of a program, and the matches that it is said to have played."""

    entrant: int
    deals: dict[str, str] = field(default_factory=dict)
    """Deal -> a match with it."""
    spans: list[tuple[float, float, str]] = field(default_factory=list)
    """When each match was played, on the clock of the process, and its name."""


class _Starts:
    """What the matches so far tell of the starts."""

    def __init__(self, record: TournamentRecord, spec: TournamentSpec) -> None:
        self._path = record.path
        self._spec = spec
        self._starts: dict[tuple[str, int], _Start] = {}

    def take(self, fixture: Fixture, presence: Presence) -> None:
        """Take a time in which a process ran a match.

        Raises:
            RecordError: no tournament of that spec has such starts.
        """
        given, name = presence.starts, fixture.match
        if given and (self._spec.programs == "anew" or len(given) != len(fixture.entrants)):
            expected = (
                "no starts, as programs do not stay" if self._spec.programs == "anew" else "a start for each seat"
            )
            raise self._error(name, expected, show_json(given))
        for seat, entrant in enumerate(fixture.entrants):
            number = given[seat] if given else 0
            if not number and seat in presence.heard and self._is_kept(entrant):
                raise self._error(name, f"a start of the program that answered on seat {seat}", show_json(given))
            if number < 0 or (number and self._spec.entrants[entrant].player == REMOTE):
                raise self._error(name, "starts of programs that the referee started, from 1", show_json(given))
            if number:
                self._add(entrant, number, fixture, presence)

    def _is_kept(self, entrant: int) -> bool:
        return self._spec.programs == "kept" and self._spec.entrants[entrant].player != REMOTE

    def end(self) -> None:
        """Check that no program was said to play two matches at once.

        Raises:
            RecordError: one was.
        """
        for (_, number), start in self._starts.items():
            for (_, over_ms, match), (begun_ms, _, following) in pairwise(sorted(start.spans)):
                if begun_ms < over_ms - _ROUNDING_MS:
                    raise self._error(following, f"another start than {number}, which played {match} then", f"{number}")

    def _add(self, entrant: int, number: int, fixture: Fixture, presence: Presence) -> None:
        start, spec, name = (
            self._starts.setdefault((presence.process, number), _Start(entrant)),
            self._spec,
            fixture.match,
        )
        if start.entrant != entrant:
            whose = spec.entrants[start.entrant].name
            raise self._error(name, f"another start than {number}, which is one of {whose}", f"{number}")
        has_more = spec.duplicate or spec.seed is not None
        deal = str(fixture.number) if has_more else name  # else it is this match's alone
        other = start.deals.setdefault(deal, name)
        if other != name:
            raise self._error(name, f"another start than {number}, which played that deal in {other}", f"{number}")
        if len(start.deals) > spec.keep_for:
            raise self._error(name, f"a start that has played fewer than {spec.keep_for} matches", f"{number}")
        begin_ms, end_ms = presence.clock_ms + presence.begin_ms, presence.clock_ms + presence.end_ms
        start.spans.append((begin_ms, end_ms, name))

    def _error(self, name: str, expected: str, found: str) -> RecordError:
        return RecordError(self._path.with_name(f"{name}.jsonl"), None, expected, found)


def check_starts(record: TournamentRecord, spec: TournamentSpec, ran: Mapping[str, Sequence[Presence]]) -> None:
    """Check that every start of a program played matches of its own entrant, one at a time and each deal once.

    Args:
        record: of the tournament.
        spec: its own, with those who joined.
        ran: match -> when which process ran it, of those whose records hold.

    Raises:
        RecordError: the first match of which that does not hold.
    """
    starts = _Starts(record, spec)
    for name, context in record.contexts.items():
        for presence in ran.get(name, ()):
            starts.take(context.fixture, presence)
    starts.end()
