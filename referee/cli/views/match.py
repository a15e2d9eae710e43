"""Shows a match while it is played and when it is over."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal, NoReturn, Self, TypeGuard

from msgspec import Struct
from msgspec.structs import replace
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ...app.services import RefereeOptions
from ...match import commands as c
from ...match import events as e
from ...net.matches.session import MatchReport
from ...observers import MatchStep, Observer
from ...pages.words import why
from ...text import printable
from ..common import console, is_interactive, out, print_json
from ..errors import FAILED, FINE
from .results import show_expulsions, show_result


class LegalMove(Struct, frozen=True, kw_only=True):
    """A move that was played."""

    turn: int
    seat: int
    move: Any
    """The move as the player sent it."""


class PlayedMatch(Struct, frozen=True, kw_only=True):
    """A match that was played, as `referee play --json` prints it."""

    version: Literal[1] = 1
    """Version of this object's form."""
    match: str
    """Name of the match."""
    game: str
    """Name of the game."""
    names: Sequence[str]
    """Names by seat."""
    result: c.Result
    """How the match ended, as the result line of its record has it."""
    record: str
    """Path of the record."""
    moves: Sequence[LegalMove]
    """The legal moves in their order."""


class Moves(Observer):
    """Keeps every legal move; it shows nothing, so that nothing can make it fail."""

    def __init__(self) -> None:
        self.so_far: list[LegalMove] = []

    def on_match_stepped(self, step: MatchStep) -> None:
        """Keep a move."""
        event = step.event
        if _is_legal_move(event, step.commands):
            self.so_far.append(LegalMove(turn=event.turn, seat=event.seat, move=event.move))


class MatchProgress(Observer):
    """One line of progress on a terminal; a plain line per foul everywhere."""

    def __init__(self, *, is_quiet: bool) -> None:
        self._is_quiet = is_quiet
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=is_quiet or not is_interactive(),
        )
        self._task = self._progress.add_task("waiting for players", total=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._progress.stop()

    def note(self, event: str, /, **facts: Any) -> None:
        """Show what happens before the match."""
        if event == "reported":
            self._show(facts["text"])

    def on_match_stepped(self, step: MatchStep) -> None:
        """Show how far the match is, and every expulsion."""
        event, names = step.event, step.setup.names
        if _is_legal_move(event, step.commands) and not is_interactive():
            self._show(f"turn {event.turn}: {names[event.seat]}  {_scores(step)}")
        for command in step.commands:
            if isinstance(command, c.ExpelSeat):
                foul = command.foul
                text = f"turn {foul.turn}: seat {foul.seat} ({names[foul.seat]}) expelled: {foul.cause}: {why(foul)}"
                self._show(printable(text))
        self._progress.update(self._task, description=f"turn {step.turn}  {_scores(step)}")

    def give_way(self) -> None:
        """Show nothing any more: a person plays in this terminal, and is told all of it."""
        self._is_quiet = True
        self._progress.stop()

    def _show(self, text: str) -> None:
        if not self._is_quiet:
            console.say(text)


def _is_legal_move(event: e.Event, commands: tuple[c.Command, ...]) -> TypeGuard[e.MoveReceived]:
    return isinstance(event, e.MoveReceived) and not any(isinstance(command, c.ExpelSeat) for command in commands)


def _scores(step: MatchStep) -> str:
    scores = getattr(step.position, "scores", ())
    return "  ".join(f"{name} {score}" for name, score in zip(step.setup.names, scores, strict=False))


class MatchView:
    """What a command shows of its match.

    Args:
        as_json: whether nothing is shown but one JSON object at the end.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._moves = Moves()
        self._progress = MatchProgress(is_quiet=as_json)

    def show_to_person(self, markup: str) -> None:
        """Show lines to a person who plays in this terminal."""
        self._progress.give_way()
        console.print(markup, highlight=False, no_wrap=True, soft_wrap=not console.is_terminal)

    def told_by(self, running: RefereeOptions, *others: Observer) -> RefereeOptions:
        """Return the options of a referee that tells this view what happens, and others."""
        own = (self._moves, self._progress)
        return replace(running, observers=(*running.observers, *others, *own))

    def conclude(self, played: MatchReport) -> NoReturn:
        """Show the end of the match, as far as somebody reads: board, ranking, record; or one JSON object on stdout.

        Raises:
            SystemExit: always; its status says whether the match is void.
        """
        with suppress(BrokenPipeError):
            show_played(played, self._moves.so_far, as_json=self._as_json)
        sys.exit(FAILED if played.result.void else FINE)


def show_played(played: MatchReport, moves: Sequence[LegalMove], *, as_json: bool) -> None:
    """Show the end of a match."""
    if as_json:
        setup = played.match.setup
        print_json(
            PlayedMatch(
                match=setup.match,
                game=setup.game,
                names=played.names,
                result=played.result,
                record=str(played.record),
                moves=moves,
            )
        )
        return
    if played.match.state is not None:
        board = played.match.game.draw_text(played.match.state)
        out.print(
            board, highlight=False, no_wrap=True, soft_wrap=not out.is_terminal
        )  # a file takes lines of any width
        out.print()
    show_result(played.names, played.result, played.match.teams)
    show_expulsions(played.result, played.record)
    out.say(f"\nrecord: {played.record}")
