"""The ranking of a match as a table for people, and what an expelled player's author does next.

Knows rich; refuses to know how the match was run.
"""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table as RichTable

from ..check.remedies import foul_remedy
from ..match.commands import Result
from ..match.fouls import Foul
from ..record.printed import last_printed
from ..record.reader import read_chain
from .common import harmless, out


def result_table(names: Sequence[str], result: Result) -> RichTable:
    """Return the ranking of a match as a table."""
    table = RichTable(title=harmless("Void: " + result.void) if result.void else None, show_edge=False)
    for title, justify in (("rank", "right"), ("seat", "right"), ("player", "left"), ("points", "right")):
        table.add_column(title, justify=justify)  # type: ignore[arg-type]  # rich's literal type
    table.add_column("time used", justify="right")
    table.add_column("")
    fouls = {foul.seat: foul for foul in result.fouls}
    rank = 1
    for level in result.ranking or (tuple(range(len(names))),):
        for seat in level:
            foul = fouls.get(seat)
            note = "winner" if seat in result.winners else ""
            if foul is not None:
                note = f"[red]expelled: {foul.cause}[/] {harmless(f'{foul.rule or foul.code or str()} {foul.detail}')}"
            place = "-" if result.void else str(rank)
            seconds = f"{result.used_ms[seat] / 1000:.2f} s"
            table.add_row(place, str(seat), harmless(names[seat]), str(result.scores[seat]), seconds, note)
        rank += len(level)
    return table


def show_expulsions(names: Sequence[str], result: Result, record: Path, game: str) -> None:
    """Print for each expelled player where the record says why, what to do, and the command that explains it.

    Args:
        names: by seat.
        result: of the match.
        record: its file, whole.
        game: its name.

    Raises:
        RecordError: the record was changed meanwhile.
    """
    for foul in result.fouls:
        out.print(f"\n[red]{harmless(names[foul.seat])} was expelled: {foul.cause}[/]", highlight=False)
        for label, text in _next_steps(foul, names[foul.seat], record, game):
            out.print(f"  {label:<15} {text}", markup=False, highlight=False, soft_wrap=True)


def _next_steps(foul: Foul, name: str, record: Path, game: str) -> Iterator[tuple[str, str]]:
    """Yield label and text of each thing that its author can look at; paths and commands as a shell takes them."""
    yield "how to mend it", foul_remedy(foul, game)
    yield "in the record", f"line {_line_of(foul.seat, record)} of {record}"
    printed = last_printed(record, foul.seat, name)
    if printed is not None:
        yield "it printed", printed.path
    yield "all about it", f"referee explain {shlex.quote(str(record))} {shlex.quote(name)}"


def _line_of(seat: int, record: Path) -> int:
    """Return the number of the line that expels a seat, from 1."""
    return next(
        number
        for number, line in enumerate(read_chain(record).lines, 1)
        for command in line.fields.get("commands", ())
        if command["command"] == "expel-seat" and command["seat"] == seat
    )
