"""`referee explain`: show the author of a player the requests, the answers and the foul of a match."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import rich_click as click
from rich.highlighter import JSONHighlighter
from rich.markup import escape
from rich.table import Table as RichTable

from ...app.records.explain import compact_json, find_view, foul_lines, select_turn, word_explain_command, word_standing
from ...match.setup import LEG_WORDS
from ...record.explain import ExplainedFoul, Explanation, Heard, Said
from ...record.folder import LAST_LINES, Printed
from ...text import printable, printable_json, printable_lines
from ..common import PATH, Count, harmless, json_option, out, print_json, record_argument
from ..errors import own_faults

_TIMES_CHARS = 62
"""Width of the columns before the answer, in characters."""
_NARROW_TIMES_CHARS = 52
"""The same width without lines between the columns."""
_SHOWN_CHARS = 18
_LINE_CHARS, _INDENT = 80, 2
_DEEPEST = 20 * _INDENT
"""Deepest indentation; deeper values stay on one line."""


def show_explanation(explanation: Explanation, record: Path | None = None) -> None:
    """Show a whole match to the author of one seat.

    Args:
        explanation: the explanation.
        record: file of the match's record; None if it is not on this machine.
    """
    where = f"{explanation.game}, seat {explanation.seat}, {explanation.names[explanation.seat]}"
    out.print(f"[bold]{harmless(explanation.match)}[/]: {harmless(where)}", highlight=False)
    out.print(printable(word_standing(explanation)), markup=False, highlight=False)
    if words := LEG_WORDS.get(explanation.seed_opens):
        out.say(f"{printable(explanation.match)} is {words}")
    if explanation.verdict is not None:
        _show_verdict(explanation, explanation.verdict, record)
    if explanation.printed is not None:
        _show_output(explanation.printed)
    out.print(_answers(explanation.conversation))
    out.print("referee: time in which the referee was busy; not charged. used: program + wire.", highlight=False)
    if record is not None:
        out.print("--turn N shows all messages of a turn, --json everything.", highlight=False)


def _show_verdict(explanation: Explanation, verdict: ExplainedFoul, record: Path | None) -> None:
    what = harmless(f"expelled in turn {verdict.foul.turn}: {verdict.foul.cause}")
    out.print(f"\n[red]{what}[/] (line {verdict.line})", highlight=False)
    for label, text in foul_lines(explanation, verdict):
        out.say(f"  {label:<8} {text}")
    if record is not None and verdict.foul.turn:
        out.say(f"  view     {word_explain_command(record, explanation, verdict.foul.turn)}")
    out.print()


def _show_output(printed: Printed) -> None:
    where = f" ({harmless(printed.path)})" if printed.path else ""
    out.print(f"[bold]its program printed last[/]{where}:", highlight=False, soft_wrap=True)
    lines = (line for line in printed.lines[-LAST_LINES:] if line.strip(" ~^"))  # skip lines of carets
    for line in lines:
        out.say(f"  {printable(line)}")
    out.print()


def _answers(conversation: Sequence[Said | Heard]) -> RichTable:
    is_narrow = out.width < _TIMES_CHARS + _SHOWN_CHARS
    form: dict[str, Any] = {"box": None, "padding": (0, 1, 0, 0)} if is_narrow else {}
    rest = out.width - (_NARROW_TIMES_CHARS if is_narrow else _TIMES_CHARS)
    table = RichTable(show_edge=False, title="answers and their times in ms", title_justify="left", **form)
    for title in ("line", "turn", "referee", "program", "wire", "used", "limit"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("answer", max_width=max(rest, 1), no_wrap=True, overflow="ellipsis")
    for part in conversation:
        if isinstance(part, Heard):
            table.add_row(*lay_out_row(part))
    return table


def lay_out_row(heard: Heard) -> tuple[str, ...]:
    """Return the cells of the row for one answer."""
    content = heard.content
    answer = content["move"] if "move" in content else {key: value for key, value in content.items() if value}
    times = (heard.referee_ms, heard.program_ms, heard.wire_ms, heard.used_ms, heard.limit_ms)
    shown = ("" if value is None else f"{value:z.1f}" for value in times)
    name = heard.event.removesuffix("-received")
    turn = harmless(str(content.get("turn", "")))
    return (str(heard.line), turn, *shown, escape(f"{name} {compact_json(answer)}"))


def show_turn(explanation: Explanation, turn: int, parts: Sequence[Said | Heard]) -> None:
    """Show all messages of a turn.

    Args:
        explanation: explanation of the match.
        turn: number of the turn.
        parts: the messages of the turn.
    """
    if not parts:
        out.print(f"no message was sent to or by seat {explanation.seat} in turn {turn}")
    for part in parts:
        title = part.command if isinstance(part, Said) else part.event
        out.rule(f"line {part.line}, {part.at_ms:.1f} ms: {title}", align="left")
        out.print(JSONHighlighter()(printable_json(_indent_json(msgspec.to_builtins(part)))), soft_wrap=True)


def _indent_json(value: Any, indent: int = 0) -> str:
    """Return indented JSON; a short value, such as a tile with its place, stays on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not _LINE_CHARS - len(flat) < indent < _DEEPEST:
        return flat
    inner = indent + _INDENT
    if isinstance(value, dict):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {_indent_json(field, inner)}" for key, field in value.items()]
    else:
        parts = [_indent_json(field, inner) for field in value]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    lines = ",\n".join(" " * inner + part for part in parts)
    return f"{begin}\n{lines}\n{' ' * indent}{end}"


@click.command("explain", epilog="Example:  referee explain logs/MATCH.jsonl mybot --turn 12")
@record_argument
@click.argument("seat", required=False)
@click.option(
    "--turn",
    type=Count(min=0),
    help="Show all messages of this turn in full, with the views. (Default: all turns, in short)",
)
@click.option("--redact", type=PATH, help="Write the record as this seat may see it to a new FILE.")
@json_option
def explain_command(record: Path, seat: str | None, turn: int | None, redact: Path | None, as_json: bool) -> None:
    """Explain a match to the author of the player on SEAT.

    SEAT is a number or a name; by default, the seat that was expelled. The output shows what the referee sent to the
    seat, what the seat answered, and the time of each answer. It shows the last lines that the program printed, from
    the .stderr file next to the record. For an expulsion it shows the rule with its source, and the offending bytes. It
    shows nothing that the seat was not allowed to see.

    You can hand out a file written with --redact: `referee audit FILE` still verifies its chain and the referee's seal,
    and `referee explain FILE` explains it.

    Exit status: 0 explained, 1 the record does not hold, 2 usage error, 3 the referee itself failed: its traceback is
    on stderr, and says nothing against a record.
    """
    with own_faults("the referee itself failed; this says nothing against a record"):
        view = find_view(record, seat)
        explanation = view.explain_seat()
        if redact is not None:
            view.write(redact)
        if as_json:
            print_json({**msgspec.to_builtins(explanation), **({} if redact is None else {"written": str(redact)})})
            return
        if turn is None:
            show_explanation(explanation, record)
        else:
            show_turn(explanation, turn, select_turn(explanation, turn))
            if view.is_whole:
                command = printable_lines(shlex.join(("referee", "replay", str(record))))
                out.say(f"{command} --turn {turn}  draws the board.")
        if redact is not None:
            out.say(f"written: {redact}")
