"""Shows a match while it is played and when it is over. Knows rich; refuses to know how the match is run."""

from typing import Any, Self

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..match import commands as c
from ..match import events as e
from ..match.machine import Match
from ..net.table import Played
from ..web.printing import printable
from .common import console, is_interactive, out, print_json
from .results import result_table, show_expulsions


class Watcher:
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
        self.moves: list[dict[str, Any]] = []
        """Every legal move so far: turn, seat, move."""

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._progress.stop()

    def report(self, text: str) -> None:
        """Show one sentence of what happens before the match."""
        if not self._is_quiet:
            console.print(text, markup=False, highlight=False, soft_wrap=True)

    def on_step(self, event: e.Event, commands: tuple[c.Command, ...], match: Match) -> None:
        """Show how far the match is, and every expulsion."""
        names = match.setup.names
        if isinstance(event, e.MoveReceived) and not any(isinstance(command, c.ExpelSeat) for command in commands):
            self.moves.append({"turn": event.turn, "seat": event.seat, "move": event.move})
            if not is_interactive():
                self.report(f"turn {event.turn}: {names[event.seat]}  {_scores(match)}")
        for command in commands:
            if isinstance(command, c.ExpelSeat):
                foul = command.foul
                why = " ".join(filter(None, (foul.rule or foul.code, foul.detail)))
                text = f"turn {foul.turn}: seat {foul.seat} ({names[foul.seat]}) expelled: {foul.cause}: {why}"
                self.report(printable(text))
        self._progress.update(self._task, description=f"turn {match.turn}  {_scores(match)}")


def _scores(match: Match) -> str:
    scores = getattr(match.state, "scores", ())
    return "  ".join(f"{name} {score}" for name, score in zip(match.setup.names, scores, strict=False))


def show_played(played: Played, moves: list[dict[str, Any]], *, as_json: bool) -> None:
    """Show the end of a match: board, ranking, record; or one JSON object on stdout."""
    if as_json:
        print_json({**_described(played), "moves": moves})
        return
    if played.match.state is not None:
        board = played.match.game.draw_text(played.match.state)
        out.print(
            board, highlight=False, no_wrap=True, soft_wrap=not out.is_terminal
        )  # a file takes lines of any width
        out.print()
    out.print(result_table(played.names, played.result))
    show_expulsions(played.result, played.record)
    out.print(f"\nrecord: {played.record}", markup=False, highlight=False, soft_wrap=True)


def _described(played: Played) -> dict[str, Any]:
    return {
        "match": played.match.setup.match,
        "game": played.match.setup.game,
        "names": played.names,
        "result": played.result,
        "record": str(played.record),
    }
