"""The interface of observers of matches and tournaments."""

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from msgspec import Struct

from ..match import commands as c
from ..match import events as e
from ..match.machine import Match, Phase
from ..match.setup import MatchSetup
from ..tournament.commands import SuspendEntrant, TakenTransition
from ..tournament.machine import Tournament
from ..tournament.match_context import Fixture, MatchEntry
from ..tournament.spec import TournamentSpec


class MatchTransition(Struct, frozen=True, kw_only=True):
    """One transition of a match, and how the match stood after it. Nothing of it changes any more."""

    setup: MatchSetup
    line: int
    """Number of the transition's line in the match's record, from 0."""
    hash: str
    """Hash of that line."""
    event: e.Event
    commands: tuple[c.Command, ...]
    turn: int
    """Number of the last turn that was asked; 0 before the first."""
    position: Any
    """State of the game; None before the deal. Views are made of it, and no seat may know all of it."""
    asked: tuple[int, ...]
    """Seats that have been asked for a move."""
    expelled: tuple[int, ...]
    """Seats that have fouled, in the order of their fouls."""

    @classmethod
    def of(cls, event: e.Event, commands: tuple[c.Command, ...], match: Match, written: tuple[int, str]) -> Self:
        """Return the transition that a match has just taken.

        Args:
            event: event of the transition.
            commands: commands that followed from the event.
            match: the match after the transition.
            written: number and hash of the line in the match's record that has both.
        """
        line, line_hash = written
        return cls(
            setup=match.setup,
            line=line,
            hash=line_hash,
            event=event,
            commands=commands,
            turn=match.turn,
            position=match.state,
            asked=tuple(match.time.requests) if match.phase is Phase.PLAYING else (),
            expelled=tuple([foul.seat for foul in match.fouls]) if match.fouls else (),
        )


UNUSUAL_COMMANDS = (c.ExpelSeat, c.ExtendLimit, c.CloseMatch)
"""Commands that unusual_events looks at."""
_UNUSUAL_EVENTS = (e.MatchOpened, e.MatchResumed, e.SeatReturned, e.RefereeFailed)
_UNUSUAL = frozenset((*UNUSUAL_COMMANDS, *_UNUSUAL_EVENTS))


def unusual_events(
    event: e.Event, commands: Sequence[c.Command], setup: MatchSetup
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is unusual in a transition of a match: names and facts for Observer.note.

    Args:
        event: event of the transition.
        commands: commands that followed from the event, or at least those of UNUSUAL_COMMANDS.
        setup: setup of the match.
    """
    match = setup.match
    if isinstance(event, _UNUSUAL_EVENTS):
        yield str(type(event).__struct_config__.tag), {"match": match, "names": list(setup.names)}
    for command in commands:
        if isinstance(command, c.ExpelSeat):
            foul = command.foul
            facts = {"match": match, "seat": foul.seat, "cause": str(foul.cause), "detail": foul.detail}
            yield "seat-expelled", facts
        elif isinstance(command, c.ExtendLimit):
            stalled_ms = getattr(event, "stalled_ms", 0.0)
            yield "verdict-voided", {"match": match, "seat": command.seat, "stalled_ms": stalled_ms}
        elif isinstance(command, c.CloseMatch):
            result = command.result
            yield "match-ended", {"match": match, "reason": result.reason, "void": result.void}


def is_unusual(event: e.Event, commands: Sequence[c.Command]) -> bool:
    """Return whether unusual_events yields anything for a transition: hardly ever, so it is asked first.

    Args:
        event: event of the transition.
        commands: commands that followed from the event.
    """
    return type(event) in _UNUSUAL or not _UNUSUAL.isdisjoint(map(type, commands))


OWN_PROCESS = "the tournament's own"
"""Name of the process that runs the tournament."""


class PlayingProcess(Struct, frozen=True, kw_only=True):
    """A process that plays matches of a tournament: its own, a worker, or a host of a cluster."""

    name: str
    state: str
    """State in words, such as `plays`."""
    tables: int | None
    """Number of matches that it plays at a time; None: as many as it is given."""
    matches: tuple[str, ...]
    """Names of the matches that it has now; some may wait there."""
    silent_s: float
    """Seconds since it was last heard of, as of the last look."""


class Observer:
    """Base of all observers: it is notified of what has happened, by the methods that a subclass overrides.

    An observer is entered before the first notification, and left after the last one. If it raises, even SystemExit,
    that is noted as `observer-failed`; the observer is left and not notified again, and what it observes goes on.

    Observers of packages run in a thread of their own (InThread): they may take their time, and get a copy of the
    tournament as it stood. Those of the referee itself are called in the loop's thread, so they return at once.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close what was opened; no notification follows."""

    @property
    def label(self) -> str:
        """Name of this observer in the report of its failure."""
        return type(self).__name__

    def find_listener(self, method: Callable[..., object]) -> Callable[..., object] | None:
        """Return what takes the calls of another method; None if a call would do nothing.

        An observer that passes calls on to another one overrides only this method.

        Args:
            method: method of Observer.
        """
        is_overridden = getattr(type(self), method.__name__) is not method
        return getattr(self, method.__name__) if is_overridden else None

    def note(self, event: str, /, **facts: Any) -> None:
        """Take what happened at the edges: connections, programs, standstills, observers that failed.

        Args:
            event: name of the event, such as `connection-refused`.
            facts: plain values.
        """

    def on_match_advanced(self, transition: MatchTransition) -> None:
        """Take a transition of a match; called many times a second."""

    def on_tournament_begun(self, tournament: Tournament, total: int | None) -> None:
        """Take the beginning of a tournament, new or resumed.

        Args:
            tournament: the tournament, which goes on; observers may read it, and must not change it.
            total: least number of its matches as far as is known now, including those played before; None: unknown.
                The tournament's own `total` says later how many more they have become.
        """

    def on_match_recalled(self, entry: MatchEntry) -> None:
        """Take a result from before the tournament was stopped; called before it goes on, the oldest first."""

    def on_match_opened(self, name: str, table: int, fixture: Fixture) -> None:
        """Take the beginning of a match of a tournament.

        Args:
            name: name of the match.
            table: number of the table where it is played, from 1.
            fixture: fixture that is played.
        """

    def on_tournament_founded(self, spec: TournamentSpec, salt: str, key: str) -> None:
        """Take the settings of a tournament, before any of its transitions.

        Args:
            spec: spec of the tournament as it began.
            salt: source of the tournament's chance, in hex.
            key: the public key that seals its records, in hex.
        """

    def on_tournament_advanced(self, transition: TakenTransition) -> None:
        """Take a transition of a tournament, once it is on record; the three methods below report results one by one.

        When a tournament is resumed, the transitions of its record come first.
        """

    def on_match_closed(self, entry: MatchEntry) -> None:
        """Take a result that counts, once the tournament has recorded it."""

    def on_match_voided(self, entry: MatchEntry) -> None:
        """Take a match that is void, once the tournament has recorded that."""

    def on_entrant_suspended(self, suspension: SuspendEntrant) -> None:
        """Take the suspension of an entrant, which plays no more."""

    def on_notice(self, text: str) -> None:
        """Take anything else that an organiser should know, in one sentence."""

    def on_processes_seen(self, processes: tuple[PlayingProcess, ...]) -> None:
        """Take which processes play matches of a tournament; called every second, the tournament's own first."""

    def refresh(self) -> None:
        """Show what has changed; called a few times a second, whether anything has or not."""

    def on_tournament_ended(self, tournament: Tournament) -> None:
        """Take the end: the tournament is over or was stopped, and nothing more is played."""
