"""`referee explain`: to a player's author, what was asked, answered and broken."""

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import rich_click as click
from rich.highlighter import JSONHighlighter
from rich.markup import escape
from rich.table import Table as RichTable

from ...check.remedies import UNREADY, foul_remedy
from ...match.commands import rank_of
from ...match.fouls import STRANGER, Cause, Foul
from ...record.explain import ExplainedFoul, Explanation, Heard, Said, explain
from ...record.printed import LAST_LINES, Printed, last_printed
from ...record.reader import RecordError, read_chain
from ...record.redacted import check_redacted, redacted_lines
from ...record.schema import PlainLine, read_line
from ...text import counted, printable, printable_json, printable_lines
from ..common import Count, find_game, harmless, json_option, out, print_json, record_argument
from ..errors import FAILED

MOVE_CODE = "move"
"""Code of a foul: what came has not the form of a move."""
_OF_SILENCE = ("deadline-passed", "seat-vacant")
"""Events of a seat that said nothing, or too little."""
_TIMES_CHARS = 62
"""What the columns before the answer take."""
_NARROW_TIMES_CHARS = 52
"""The same without lines between them."""
_SHOWN_CHARS = 18
_SEAT_DIGITS = 2
_LINE_CHARS, _INDENT = 80, 2
_DEEPEST = 20 * _INDENT
"""What is nested more deeply is not laid out."""


@click.command("explain", epilog="Example:  referee explain logs/MATCH.jsonl mybot --turn 12")
@record_argument
@click.argument("seat", required=False)
@click.option("--turn", type=Count(min=0), help="Show in full what was said in this turn, views included.")
@click.option(
    "--redact", type=click.Path(path_type=Path), help="Write the record as this seat may see it to a new FILE."
)
@json_option
def explain_command(record: Path, seat: str | None, turn: int | None, redact: Path | None, as_json: bool) -> None:
    """Explain a match to the author of the player on SEAT: its number or name; by default the one that was expelled.

    Shown is what the seat was told, what it answered, the time of each answer, the last lines that its program printed
    (from the .stderr file beside the record), and for an expulsion the rule with its source and the offending bytes:
    nothing that this seat was not entitled to see. A file written with --redact can be handed out: `referee audit FILE`
    still verifies its chain and the referee's seal, and `referee explain FILE` explains it.

    Exit status: 0 explained, 1 the record does not hold, 2 used wrongly.
    """
    if not record.is_file():
        raise click.UsageError(f"there is no record {record}")
    try:
        number, data = _as_seen(record, seat)
        found = _explained(record, number, data)
    except (KeyError, TypeError, StopIteration, AttributeError, ValueError) as error:  # only a forger's record
        raise click.UsageError(f"{record} lacks what a record has: {type(error).__name__}") from None
    except RecordError as error:
        out.print(str(error), markup=False, highlight=False, soft_wrap=True)
        sys.exit(FAILED)
    if redact is not None:
        _write(redact, data)
    if as_json:
        print_json({**msgspec.to_builtins(found), **({} if redact is None else {"written": str(redact)})})
    elif turn is not None:
        _show_turn(found, turn)
        if data != record.read_bytes().splitlines():  # all of it is here, not only what the seat may see
            _print(f"{shlex.join(('referee', 'replay', str(record)))} --turn {turn}  draws the board.")
    else:
        show_explanation(found, record)
    if redact is not None and not as_json:
        out.print(f"written: {redact}", markup=False, highlight=False, soft_wrap=True)


def explain_command_line(record: Path, found: Explanation, turn: int | None = None) -> str:
    """Return the command that explains a match, or one turn of it, to a seat, as a shell takes it."""
    words = ("referee", "explain", str(record), found.names[found.seat])
    return shlex.join(words if turn is None else (*words, "--turn", str(turn)))


def explained(record: Path, seat: int) -> Explanation:
    """Explain a whole record to one seat.

    Raises:
        RecordError: it does not hold.
    """
    return _explained(record, seat, redacted_lines(record, find_game, seat))


def _explained(record: Path, seat: int, data: Sequence[bytes]) -> Explanation:
    """Explain the lines of a record as a seat may see them, with what its program printed if that is there."""
    lines = [read_line(line) for line in data]
    setup = lines[0].fields["setup"]
    printed = last_printed(record, seat, setup["names"][seat])
    return explain(lines, seat, find_game(setup["game"]).rules, printed)


def _as_seen(record: Path, seat: str | None) -> tuple[int, list[bytes]]:
    """Return the seat's number, and the record's lines as that seat may see them."""
    chain = read_chain(record)
    if any(line.is_redacted for line in chain.lines):
        shown = check_redacted(record).seat
        if seat is not None and (number := _find_seat(chain.lines, seat)) != shown:
            raise click.UsageError(f"{record} is redacted for another seat than {number}: for {shown}")
        return shown, record.read_bytes().splitlines()
    number = _find_seat(chain.lines, seat)
    return number, redacted_lines(record, find_game, number)


def _find_seat(lines: Sequence[PlainLine], seat: str | None) -> int:
    """Return the number of a seat given by number or name; the only expelled one if none is given.

    Raises:
        click.UsageError: there is no such seat, or it is not clear which is meant.
    """
    try:
        names = list(lines[0].fields["setup"]["names"])
        fouls = lines[-2].fields["result"]["fouls"] if len(lines) > 1 and seat is None else []
    except (IndexError, KeyError, TypeError):
        raise click.UsageError("this is no finished record; `referee audit` says why") from None
    there = ", ".join(f"{number} {name}" for number, name in enumerate(names))
    if seat is None:
        if len(fouls) != 1:
            raise click.UsageError(f"say which seat: {there}")
        return int(fouls[0]["seat"])
    if seat in names:
        return names.index(seat)
    if not (seat.isdecimal() and len(seat) <= _SEAT_DIGITS and int(seat) < len(names)):
        raise click.UsageError(f"there is no seat {seat!r}, only {there}")
    return int(seat)


def _write(path: Path, lines: list[bytes]) -> None:
    try:
        with path.open("xb") as file:
            file.writelines(line + b"\n" for line in lines)
    except OSError as error:
        raise click.ClickException(f"can't write {path}: {error.strerror}") from None


def show_explanation(found: Explanation, record: Path | None = None) -> None:
    """Show a match as a whole to the author of one seat.

    Args:
        found: all that is to be known of it.
        record: the file that it was read from; None if that is not here.
    """
    where = f"{found.game}, seat {found.seat}, {found.names[found.seat]}"
    out.print(f"[bold]{harmless(found.match)}[/]: {harmless(where)}", highlight=False)
    out.print(printable(_standing(found)), markup=False, highlight=False)
    if found.verdict is not None:
        _show_verdict(found, found.verdict)
        if record is not None and found.verdict.foul["turn"]:
            _print(f"  view     {explain_command_line(record, found, found.verdict.foul['turn'])}")
        out.print()
    if found.printed is not None:
        _show_printed(found.printed)
    is_narrow = out.width < _TIMES_CHARS + _SHOWN_CHARS
    form: dict[str, Any] = {"box": None, "padding": (0, 1, 0, 0)} if is_narrow else {}
    rest = out.width - (_NARROW_TIMES_CHARS if is_narrow else _TIMES_CHARS)
    table = RichTable(show_edge=False, title="answers and their times in ms", title_justify="left", **form)
    for title in ("line", "turn", "referee", "program", "wire", "used", "limit"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("answer", max_width=max(rest, 1), no_wrap=True, overflow="ellipsis")
    for one in found.conversation:
        if isinstance(one, Heard):
            table.add_row(*_row(one))
    out.print(table)
    out.print("referee: time it was busy elsewhere, not charged. used: program + wire.", highlight=False)
    if record is not None:
        out.print("--turn N shows all that was said in a turn, --json everything.", highlight=False)


def _standing(found: Explanation) -> str:
    result = found.result
    if result["void"]:
        return f"void, a fault of the referee: {result['void']}"
    rank = rank_of(result["ranking"], found.seat)
    won = ", a winner" if found.seat in result["winners"] else ""
    points = result["scores"][found.seat]
    return f"rank {rank} of {len(found.names)}{won}, {counted(points, 'point')}, ended by {result['reason']}"


def _show_verdict(found: Explanation, verdict: ExplainedFoul) -> None:
    foul = verdict.foul
    what = harmless(f"expelled in turn {foul['turn']}: {foul['cause']}")
    out.print(f"\n[red]{what}[/] (line {verdict.line})", highlight=False)
    if verdict.rule is not None:
        rule = f"{verdict.rule['id']}: {verdict.rule['text']}"
        out.print(f"  rule     {rule}", markup=False, highlight=False, soft_wrap=True)
        out.print(f"  source   {verdict.rule['source']}", markup=False, highlight=False, soft_wrap=True)
    elif foul["code"]:
        where = f"`referee list {found.game} --schema`" if foul["code"] == MOVE_CODE else "protocol/SPEC.md, Fouls"
        out.print(f"  code     {printable(str(foul['code']))} ({where})", markup=False, highlight=False, soft_wrap=True)
    out.print(f"  because  {printable(foul['detail'])}", markup=False, highlight=False, soft_wrap=True)
    last = next((one for one in reversed(found.conversation) if isinstance(one, Heard) and "move" in one.content), None)
    if last is not None and (foul["rule"] or foul["code"] == MOVE_CODE):
        out.print(f"  answer   {_json(last.content['move'])}", markup=False, highlight=False, soft_wrap=True)
    for label, text in expected_and_come(verdict, found.conversation):
        out.print(f"  {label:<8} {printable(text)}", markup=False, highlight=False, soft_wrap=True)
    if verdict.evidence is not None:
        out.print(f"  bytes    {verdict.evidence.hex}", markup=False, highlight=False, soft_wrap=True)
    advice = foul_remedy(msgspec.convert(foul, Foul), found.game, None if found.printed is None else found.printed.path)
    out.print(f"  mend     {printable(advice)}", markup=False, highlight=False, soft_wrap=True)


def expected_and_come(verdict: ExplainedFoul, conversation: Sequence[Said | Heard]) -> Iterator[tuple[str, str]]:
    """Yield label and text of what was asked of the seat, and of what came in its place."""
    evidence = verdict.evidence
    if verdict.expected is not None:
        yield "expected", verdict.expected
    if evidence is not None:
        read = "" if evidence.decoded is None else f": {_json(evidence.decoded)}"
        problem = f", {evidence.problem}" if evidence.problem else ""
        yield "came", f"{counted(len(evidence.hex) // 2, 'byte')}{problem}{read}"
        return
    heard = [one for one in conversation if isinstance(one, Heard) and one.line == verdict.line]
    if any(one.event in _OF_SILENCE for one in heard):
        yield "came", _silence(verdict.foul)


def _silence(foul: Mapping[str, Any]) -> str:
    """Return what came of a seat before it said nothing, or too little."""
    if STRANGER in foul["detail"]:
        return "a hello whose `token` is not the content of REFEREE_TOKEN"
    if UNREADY in foul["detail"] and foul["cause"] == Cause.REFUSED_TO_START:
        return "its hello, which was read; only `ready`, the answer to `offer`, did not come"
    return "nothing in this time" if foul["cause"] == Cause.TIMEOUT else "nothing"


def _show_printed(printed: Printed) -> None:
    out.print(f"[bold]its program printed last[/] ({harmless(printed.path)}):", highlight=False, soft_wrap=True)
    for line in printed.lines[-LAST_LINES:]:
        out.print(f"  {printable(line)}", markup=False, highlight=False, soft_wrap=True)
    out.print()


def _row(one: Heard) -> tuple[str, ...]:
    content = one.content
    answer = content["move"] if "move" in content else {key: value for key, value in content.items() if value}
    times = (one.referee_ms, one.program_ms, one.wire_ms, one.used_ms, one.limit_ms)
    shown = ("" if value is None else f"{value:z.1f}" for value in times)
    name = one.event.removesuffix("-received")
    turn = harmless(str(content.get("turn", "")))
    return (str(one.line), turn, *shown, escape(f"{name} {_json(answer)}"))


def _show_turn(found: Explanation, turn: int) -> None:
    """Show everything from a turn's request to the next one."""
    if turn > found.result["turns"]:
        turns = counted(found.result["turns"], "turn")
        raise click.UsageError(f"the match has {turns}, there is no turn {turn}")
    shown = [one for one in found.conversation if _turn_of(one) == turn]
    if not shown:
        out.print(f"nothing was said to or by seat {found.seat} in turn {turn}")
    for one in shown:
        title = one.command if isinstance(one, Said) else one.event
        out.rule(f"line {one.line}, {one.at_ms:.1f} ms: {title}", align="left")
        out.print(JSONHighlighter()(printable_json(_laid_out(msgspec.to_builtins(one)))), soft_wrap=True)


def _turn_of(one: Said | Heard) -> int | None:
    turn: Any = one.content.get("turn", one.content.get("foul", {}).get("turn") if isinstance(one, Said) else None)
    return turn if isinstance(turn, int) else None


def _json(value: Any) -> str:
    return printable_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _laid_out(value: Any, indent: int = 0) -> str:
    """Return JSON over as many lines as it takes: what is short, such as a tile with its place, stays on one."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not _LINE_CHARS - len(flat) < indent < _DEEPEST:
        return flat
    inner = indent + _INDENT
    if isinstance(value, dict):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(one, inner)}" for key, one in value.items()]
    else:
        parts = [_laid_out(one, inner) for one in value]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    lines = ",\n".join(" " * inner + part for part in parts)
    return f"{begin}\n{lines}\n{' ' * indent}{end}"


def _print(text: str) -> None:
    out.print(printable_lines(text), markup=False, highlight=False, soft_wrap=True)
