"""What can be observed of matches and tournaments."""

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from msgspec import Struct

from ..match import commands as c
from ..match import events as e
from ..match.machine import Match, Phase
from ..match.setup import MatchSetup
from ..tournament.commands import SuspendEntrant, TakenStep
from ..tournament.machine import Tournament
from ..tournament.match_context import Fixture, MatchEntry
from ..tournament.spec import TournamentSpec


class MatchStep(Struct, frozen=True, kw_only=True):
    """One step of a match, and how the match stood after it. Nothing of it changes any more."""

    setup: MatchSetup
    line: int
    """Of the match's record, from 0."""
    hash: str
    """Of that line."""
    event: e.Event
    commands: tuple[c.Command, ...]
    turn: int
    """Number of the last turn that was asked; 0 before the first."""
    position: Any
    """The state of the game; None before the deal. It is what views are made of, and no seat may know all of it."""
    asked: tuple[int, ...]
    """The seats that have been asked for a move."""
    expelled: tuple[int, ...]
    """The seats that have fouled, in the order of their fouls."""

    @classmethod
    def of(cls, event: e.Event, commands: tuple[c.Command, ...], match: Match, written: tuple[int, str]) -> Self:
        """Return the step that a match has just taken.

        Args:
            event: what happened.
            commands: what followed from it.
            match: as it stands after that.
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
            asked=tuple(match.open_requests) if match.phase is Phase.PLAYING else (),
            expelled=tuple([foul.seat for foul in match.fouls]) if match.fouls else (),
        )


OWN_PROCESS = "the tournament's own"
"""What the process is called that runs the tournament."""


class PlayingProcess(Struct, frozen=True, kw_only=True):
    """What plays matches of a tournament: its own process, a worker, or a host of a cluster."""

    name: str
    state: str
    """In words: `plays`."""
    tables: int | None
    """How many matches it plays at a time; None: as many as it is given."""
    matches: tuple[str, ...]
    """That it has now; some may wait there."""
    silent_s: float
    """For so long it was not there, or has said nothing, when it was looked last."""


class Observer:
    """Base of all observers: is told what happens once it has happened, and overrides what it wants to hear.

    An observer is entered before it is told anything, and left when nothing more is to be told. What it raises, even
    SystemExit, is noted as `observer-failed`; it is left then and told nothing more, and what it observes goes on.

    Observers of packages run in a thread of their own (InThread): they may take their time, and get a copy of the
    tournament as it stood. Those of the referee itself are called in the loop's thread, so they return at once.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Let go of whatever was opened; nothing more is told."""

    @property
    def label(self) -> str:
        """What this observer is called where its failure is told."""
        return type(self).__name__

    def hears(self, method: Callable[..., object]) -> bool:
        """Tell whether a call of another method does anything: this class overrides it, or takes all calls by `told`.

        Args:
            method: of Observer.
        """
        own = type(self)
        return own.told is not Observer.told or getattr(own, method.__name__) is not method

    def told(self, method: str, args: tuple[Any, ...], facts: dict[str, Any]) -> None:
        """Take one call of another method; whoever hands calls on to somebody else overrides this alone.

        Args:
            method: its name.
            args: by place.
            facts: by keyword.
        """
        getattr(self, method)(*args, **facts)

    def note(self, event: str, /, **facts: Any) -> None:
        """Take note of what happened at the edges: connections, programs, standstills, observers that failed.

        Args:
            event: its name, such as `connection-refused`.
            facts: plain values.
        """

    def match_stepped(self, step: MatchStep) -> None:
        """Take note of a step of a match; called many times a second."""

    def tournament_begun(self, tournament: Tournament, total: int | None) -> None:
        """Take note that a tournament begins or goes on.

        Args:
            tournament: it goes on changing; observers look at it, and leave it as it is.
            total: how many matches it will have at least, as far as is known now, those played before included; None:
                nobody knows. The tournament's own `total` says later how many more they have become.
        """

    def match_recalled(self, entry: MatchEntry) -> None:
        """Take note of a result from before the tournament was stopped; told before it goes on, the oldest first."""

    def match_opened(self, name: str, table: int, fixture: Fixture) -> None:
        """Take note that a match of a tournament begins.

        Args:
            name: of the match.
            table: on which of the tables it is played, from 1.
            fixture: that is played.
        """

    def tournament_founded(self, spec: TournamentSpec, salt: str, key: str) -> None:
        """Take note of what a tournament is, before any of its steps.

        Args:
            spec: as it began.
            salt: from which its chance follows, in hex.
            key: the public key that seals its records, in hex.
        """

    def tournament_stepped(self, step: TakenStep) -> None:
        """Take note of a step of a tournament, once it is on record; the three below tell of results one by one.

        When a tournament is gone on with, the steps of its record are told first.
        """

    def match_closed(self, entry: MatchEntry) -> None:
        """Take note of a result that counts, once the tournament has taken it."""

    def match_voided(self, entry: MatchEntry) -> None:
        """Take note of a match that is void, once the tournament has taken that."""

    def entrant_suspended(self, suspension: SuspendEntrant) -> None:
        """Take note that an entrant plays no more."""

    def noted(self, text: str) -> None:
        """Take note of anything else that an organiser should know, in one sentence."""

    def processes_seen(self, processes: tuple[PlayingProcess, ...]) -> None:
        """Take note of what plays matches of a tournament; called every second, the tournament's own process first."""

    def refresh(self) -> None:
        """Show what has changed; called a few times a second, whether anything has or not."""

    def tournament_ended(self, tournament: Tournament) -> None:
        """Take note that nothing more is played, for the tournament is over or was stopped."""
