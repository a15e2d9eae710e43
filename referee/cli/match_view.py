"""How a match is shown while it is played and when it is over, and which connections were refused."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NoReturn, Self, TypeGuard

from msgspec import Struct
from msgspec.structs import replace
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.table import Table as RichTable

from ..app.services import RefereeOptions
from ..check.remedies import foul_remedy
from ..match import commands as c
from ..match import events as e
from ..match.commands import Result
from ..match.fouls import Cause, Foul
from ..net.matches.session import MatchReport
from ..observers import MatchTransition, Observer
from ..pages.words import Teams, move_words, outcome_of_result, ranking, why
from ..plugins import find_game
from ..programs.output import shorten_crash
from ..record.explain import Explanation
from ..text import printable, printable_lines
from .common import console, harmless, is_interactive, numbers, out, print_json
from .errors import FAILED, FINE

MAX_TOLD = 100
"""Most lines about refused connections."""


class WhereToConnect(Observer):
    """Prints the address for players, if nothing else of the match is shown."""

    def note(self, event: str, /, **facts: Any) -> None:
        """Print the address."""
        if event == "listening":
            console.say(f"the referee listens on {facts['address']}")


# An address that anybody can connect to also attracts port scans and wrong programs. An organiser who waits for a
# player must see why the referee refused it, and must not lose that line among a thousand others.


class TurnedAway(Observer):
    """Prints which connections were refused, and why.

    Each line is printed once, and there are at most MAX_TOLD lines, so that an attacker who connects again and again
    can't fill the screen.
    """

    def __init__(self) -> None:
        self._told: set[str] = set()

    def note(self, event: str, /, **facts: Any) -> None:
        """Print a refusal."""
        if event not in ("connection-refused", "connection-pushed-out") or len(self._told) > MAX_TOLD:
            return
        peer = " ".join(filter(None, (facts["address"], facts.get("name"))))
        sent = f"; it sent {facts['sent']}" if facts.get("sent") else ""
        text = printable(f"turned away: {peer}: {facts.get('reason', 'too many connections that say no hello')}{sent}")
        if text not in self._told:
            self._told.add(text)
            console.say("turned away: too many to list" if len(self._told) > MAX_TOLD else text)


_SHOWN_CHARS = 160
"""Most characters of an answer to show; `explain` shows all of it."""
_SHOWN_LINES = 5
"""Most lines of a program's output to show, without the traceback of a crash; the file has all lines."""
_SILENT_CAUSES = (Cause.CRASHED, Cause.DISCONNECTED, Cause.REFUSED_TO_START, Cause.TIMEOUT)
"""Causes of a foul that no message of the player explains: what the program printed may be the only hint."""


def result_table(names: Sequence[str], result: Result, teams: Teams) -> RichTable:
    """Return the ranking of a match as a table.

    Args:
        names: players by seat.
        result: result of the match.
        teams: seats that win and lose together; empty if every seat plays for itself.
    """
    title = harmless("Void: " + result.void) if result.void else None
    columns: list[Column | str] = [*numbers("rank", "seat"), "player", *numbers("points", "time used"), ""]
    table = RichTable(*columns, title=title, show_edge=False)
    for row in ranking(names, result, teams):
        note = row.note if row.foul is None else f"[red]expelled: {row.foul.cause}[/]"
        seconds = f"{row.used_ms / 1000:.2f} s"
        table.add_row(row.place, str(row.seat), escape(row.name), str(row.points), seconds, note)
    return table


def show_result(names: Sequence[str], result: Result, teams: Teams) -> None:
    """Print in one unwrapped line how a match ended, then the ranking."""
    out.say(outcome_of_result(names, result, teams).with_points(result.scores))
    out.print(result_table(names, result, teams))


def show_expulsions(result: Result, record: Path) -> None:
    """Print for each expelled player what went wrong, what to do, and the command that explains it.

    Args:
        result: result of the match.
        record: record of the match.

    Raises:
        RecordError: the record has been changed since the match.
    """
    # The explanation uses the seat's view, although the whole record is here. Organisers often copy this text and send
    # it to the author, who must not learn the other players' hands.
    for foul in result.fouls:
        from ..app.records.explain import view_as_seat  # noqa: PLC0415  # needed only after a foul

        explanation = view_as_seat(record, foul.seat).explain_seat()
        out.print(f"\n[red]{harmless(explanation.names[foul.seat])} was expelled: {foul.cause}[/]", highlight=False)
        for label, text in _next_steps(foul, explanation, record):
            out.say(f"  {label:<15} {text}")


def _next_steps(foul: Foul, explanation: Explanation, record: Path) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line about a foul: what happened, how to fix it, where to read more."""
    from ..app.records.explain import expected_and_come, has_moved, word_explain_command  # noqa: PLC0415  # as above

    verdict = explanation.verdict
    assert verdict is not None, "the seat was expelled"
    happened = why(foul)
    has_ended = happened.startswith(("exit status ", "signal "))
    yield "what happened", printable(f"the program ended: {happened}" if has_ended else happened)
    if verdict.rule is not None:
        yield "expected", f"{verdict.rule.text} ({verdict.rule.id})"
    for label, text in expected_and_come(verdict, explanation.conversation):
        yield label, printable(text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}...")
    yield "how to fix it", printable(foul_remedy(foul, explanation.game, has_moved=has_moved(explanation, verdict)))
    if explanation.printed is not None:
        yield "it printed", explanation.printed.path
        if foul.cause in _SILENT_CAUSES:
            # some programs print the verdict that they are sent, which is above already
            lines = (line for line in explanation.printed.lines if foul.detail not in line)
            printed = shorten_crash("\n".join(lines), foul.detail)
            yield from (("", line) for line in printed.splitlines()[-_SHOWN_LINES:])
    yield "in the record", f"line {verdict.line} of {record}"
    if foul.turn:
        yield "the view", printable_lines(word_explain_command(record, explanation, foul.turn))
    yield "all about it", printable_lines(word_explain_command(record, explanation))


class LegalMove(Struct, frozen=True, kw_only=True):
    """A move that was played."""

    turn: int
    seat: int
    move: Any
    """The move, as the player sent it."""


class PlayedMatch(Struct, frozen=True, kw_only=True):
    """A finished match, as `referee play --json` prints it."""

    version: Literal[1] = 1
    """Version of this object's form."""
    match: str
    """Name of the match."""
    game: str
    """Name of the game."""
    names: Sequence[str]
    """Names by seat."""
    result: c.Result
    """Result of the match, the same as in the result line of its record."""
    record: str
    """Path of the record."""
    moves: Sequence[LegalMove]
    """The legal moves in their order."""


class Moves(Observer):
    """Collects every legal move. It prints nothing, so it can't fail."""

    def __init__(self) -> None:
        self.so_far: list[LegalMove] = []

    def on_match_advanced(self, transition: MatchTransition) -> None:
        """Store a legal move."""
        event = transition.event
        if _is_legal_move(event, transition.commands):
            self.so_far.append(LegalMove(turn=event.turn, seat=event.seat, move=event.move))


class MatchProgress(Observer):
    """Shows one line of progress on a terminal; elsewhere it prints a line for each turn and each foul.

    Args:
        is_quiet: whether to show nothing.
        tells_reasons: whether the line of a foul includes the reason. Commands that explain each foul at the end leave
            it out.
    """

    def __init__(self, *, is_quiet: bool, tells_reasons: bool) -> None:
        self._is_quiet = is_quiet
        self._tells_reasons = tells_reasons
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
        """Show a message that comes before the match."""
        if event == "reported":
            self._show(facts["text"])

    def on_match_advanced(self, transition: MatchTransition) -> None:
        """Show how far the match is, and every expulsion."""
        event, names = transition.event, transition.setup.names
        if _is_legal_move(event, transition.commands) and not is_interactive():
            words = move_words(find_game(transition.setup.game), event.move)
            self._show(printable(f"turn {event.turn}: {names[event.seat]}: {words}  {_scores(transition)}".rstrip()))
        for command in transition.commands:
            if isinstance(command, c.ExpelSeat):
                foul = command.foul
                reason = f": {why(foul)}" if self._tells_reasons else ""
                self._show(printable(f"turn {foul.turn}: {names[foul.seat]} is expelled: {foul.cause}{reason}"))
        self._progress.update(self._task, description=f"turn {transition.turn}  {_scores(transition)}")

    def give_way(self) -> None:
        """Show nothing more, because a person plays in this terminal and sees the whole match there."""
        self._is_quiet = True
        self._progress.stop()

    def _show(self, text: str) -> None:
        if not self._is_quiet:
            console.say(text)


def _is_legal_move(event: e.Event, commands: tuple[c.Command, ...]) -> TypeGuard[e.MoveReceived]:
    return isinstance(event, e.MoveReceived) and not any(isinstance(command, c.ExpelSeat) for command in commands)


def _scores(transition: MatchTransition) -> str:
    scores = getattr(transition.position, "scores", ())
    return "  ".join(f"{name} {score}" for name, score in zip(transition.setup.names, scores, strict=False))


class MatchView:
    """The output of a command that plays a match.

    Args:
        as_json: whether the output is only one JSON object at the end.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._moves = Moves()
        self._progress = MatchProgress(is_quiet=as_json, tells_reasons=False)

    def show_to_person(self, markup: str) -> None:
        """Show lines to a person who plays in this terminal."""
        self._progress.give_way()
        console.print(markup, highlight=False, no_wrap=True, soft_wrap=not console.is_terminal)

    def observe(self, running: RefereeOptions, *others: Observer) -> RefereeOptions:
        """Return the options with this view and other observers added."""
        views = (self._moves, self._progress)
        return replace(running, observers=(*running.observers, *others, *views))

    def conclude(self, played: MatchReport) -> NoReturn:
        """Show the end of the match: board, ranking, record; or one JSON object on stdout.

        Raises:
            SystemExit: always; its status says whether the match is void.
        """
        # Set the exit status even if nobody reads the output: a script may look at the status only.
        with suppress(BrokenPipeError):
            show_end(played, self._moves.so_far, as_json=self._as_json)
        sys.exit(FAILED if played.result.void else FINE)


def show_end(played: MatchReport, moves: Sequence[LegalMove], *, as_json: bool) -> None:
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
        )  # in a file, lines may have any width
        out.print()
    show_result(played.names, played.result, played.match.teams)
    show_expulsions(played.result, played.record)
    out.say(f"\nrecord: {played.record}")
