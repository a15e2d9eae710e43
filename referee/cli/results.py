"""The ranking of a match as a table for people. Knows rich; refuses to know how the match was run."""

from collections.abc import Sequence

from rich.table import Table as RichTable

from ..match.commands import Result
from .common import harmless


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
