"""The interface of observers of matches and tournaments."""

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct

from ..match import commands as c
from ..match import events as e
from ..match.machine import Match, Phase
from ..match.setup import MatchSetup

if TYPE_CHECKING:  # a match alone starts without the code of tournaments
    from ..tournament.commands import SuspendEntrant, TakenTransition
    from ..tournament.machine import Tournament
    from ..tournament.match_context import Fixture, MatchEntry
    from ..tournament.spec import TournamentSpec


class MatchTransition(Struct, frozen=True, kw_only=True):
    """One transition of a match, and the state of the match right after it. Its fields never change later."""

    setup: MatchSetup
    line: int
    """Number of the transition's line in the match's record, from 0."""
    hash: str
    """Hash of that line."""
    event: e.Event
    commands: tuple[c.Command, ...]
    turn: int
    """Number of the last turn that was asked for; 0 before the first."""
    position: Any
    """State of the game; None before the deal. It holds the hands of all seats, so never show it to a player."""
    asked: tuple[int, ...]
    """Seats whose move the match is waiting for."""
    expelled: tuple[int, ...]
    """Seats that have fouled, in the order of their fouls."""

    @classmethod
    def of(cls, event: e.Event, commands: tuple[c.Command, ...], match: Match, written: tuple[int, str]) -> Self:
        """Return the transition that a match has just taken.

        Args:
            event: event of the transition.
            commands: commands that followed from the event.
            match: the match after the transition.
            written: number and hash of the line in the match's record that holds the event and the commands.
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
"""Commands for which unusual_events yields something."""
_UNUSUAL_EVENTS = (e.MatchOpened, e.MatchResumed, e.SeatReturned, e.RefereeFailed)
_UNUSUAL = frozenset((*UNUSUAL_COMMANDS, *_UNUSUAL_EVENTS))


def unusual_events(
    event: e.Event, commands: Sequence[c.Command], setup: MatchSetup
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the unusual events in a transition of a match, each as a name and facts for Observer.note.

    Args:
        event: event of the transition.
        commands: commands that followed from the event. Only those of UNUSUAL_COMMANDS are needed.
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
    """Return whether unusual_events yields anything for a transition.

    This is a quick check for callers: hardly any transition is unusual.

    Args:
        event: event of the transition.
        commands: commands that followed from the event.
    """
    return type(event) in _UNUSUAL or not _UNUSUAL.isdisjoint(map(type, commands))


OWN_PROCESS = "the tournament's own"
"""Name under which observers see the process that runs the tournament."""


class PlayingProcess(Struct, frozen=True, kw_only=True):
    """A process that plays matches of a tournament: the tournament's own, a worker, or a host of a cluster."""

    name: str
    state: str
    """State in words, such as `plays`."""
    tables: int | None
    """Number of matches that it plays at the same time; None if there is no limit."""
    matches: tuple[str, ...]
    """Names of the matches that were given to it. Some of them may not have begun."""
    silent_s: float
    """Seconds since the last sign of life from the process."""


class Observer:
    """Base of all observers. A subclass overrides the methods for the notifications that it wants.

    An observer is a context manager: the referee enters it before the first notification and exits it after the last.
    If a method raises anything, even SystemExit, the referee exits the observer, reports the failure to the other
    observers as `observer-failed`, and never notifies it again. The matches go on.

    Each observer from an installed package runs in its own thread (InThread), so it may be slow. It gets a copy of the
    tournament. The referee's own observers run in the thread of the event loop, so they must return at once.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close the observer's files and connections. No notification follows."""

    @property
    def label(self) -> str:
        """Name of this observer in the report of its failure."""
        return type(self).__name__

    def find_listener(self, method: Callable[..., object]) -> Callable[..., object] | None:
        """Return the function to call for a notification; None if this observer ignores the notification.

        An observer that only passes calls on to another observer overrides this method alone.

        Args:
            method: method of Observer that stands for the notification.
        """
        is_overridden = getattr(type(self), method.__name__) is not method
        return getattr(self, method.__name__) if is_overridden else None

    def note(self, event: str, /, **facts: Any) -> None:
        """Handle a technical event: of a connection, a program, a standstill, or a failed observer.

        Args:
            event: name of the event, such as `connection-refused`.
            facts: plain values.
        """

    def on_match_advanced(self, transition: MatchTransition) -> None:
        """Handle a transition of a match; called many times a second."""

    def on_tournament_begun(self, tournament: "Tournament", total: int | None) -> None:
        """Handle the beginning of a tournament, or its continuation after a stop.

        Args:
            tournament: the running tournament. Observers may read it, and must not change it.
            total: least number of its matches, including those already played; None if it is unknown. It can grow:
                `tournament.total` has the latest number.
        """

    def on_match_recalled(self, entry: "MatchEntry") -> None:
        """Handle an earlier result of a resumed tournament; called for each one, from the oldest to the latest."""

    def on_match_opened(self, name: str, table: int, fixture: "Fixture") -> None:
        """Handle the beginning of a match of a tournament.

        Args:
            name: name of the match.
            table: number of the table where it is played, from 1.
            fixture: fixture that is played.
        """

    def on_tournament_founded(self, spec: "TournamentSpec", salt: str, key: str) -> None:
        """Handle the settings of a tournament; called before its first transition.

        Args:
            spec: spec with which the tournament began.
            salt: source of the tournament's random numbers, in hex.
            key: public key for the signatures of its records, in hex.
        """

    def on_tournament_advanced(self, transition: "TakenTransition") -> None:
        """Handle a transition of a tournament, after it was recorded.

        When a tournament is resumed, the transitions of its record come first. The three methods below handle the
        single results of a transition.
        """

    def on_match_closed(self, entry: "MatchEntry") -> None:
        """Handle a result that counts, after the tournament has recorded it."""

    def on_match_voided(self, entry: "MatchEntry") -> None:
        """Handle a void match, after the tournament has recorded it."""

    def on_entrant_suspended(self, suspension: "SuspendEntrant") -> None:
        """Handle the suspension of an entrant, which plays no more matches."""

    def on_notice(self, text: str) -> None:
        """Handle one sentence about anything else that an organiser should know."""

    def on_processes_seen(self, processes: tuple[PlayingProcess, ...]) -> None:
        """Handle the list of processes that play matches, the tournament's own first; called every second."""

    def refresh(self) -> None:
        """Show the changes since the last call, if there are any; called a few times a second."""

    def on_tournament_ended(self, tournament: "Tournament") -> None:
        """Handle the end of play: the tournament is over or was stopped."""
