"""The standings of a tournament, as a table for a terminal and as plain lines for other programs."""

from typing import Any

import msgspec
from rich.table import Table as RichTable

from ...pages.columns import standings_columns
from ...pages.summary import Summary
from ...tournament.machine import Tournament
from ..common import harmless, out

_MOST = 20
"""So many lines are shown."""


def standings_table(summary: Summary) -> RichTable:
    """Return the first lines of the standings as a table; of tie-breaks, as many as have room."""
    tournament = summary.tournament
    table = RichTable(show_edge=False, caption=tournament.explain_order(), caption_justify="left")
    left_out = tournament.spec.tie_breaks[max((out.width - 50) // 20, 1) :]
    columns = [column for column in standings_columns(summary) if column.is_brief and column.key not in left_out]
    for column in columns:
        table.add_column(column.head, justify="left" if column.key == "name" else "right", no_wrap=True)
    lines = summary.standings
    for line in lines[:_MOST]:
        mark = " [red](suspended)[/]" if line.entrant in tournament.suspended else ""
        table.add_row(
            *(
                harmless(column.value(summary, line)) + mark if column.key == "name" else column.text(summary, line)
                for column in columns
            )
        )
    if len(lines) > _MOST:
        table.add_row("", f"and {len(lines) - _MOST} more")
    return table


def plain_standings(tournament: Tournament) -> list[dict[str, Any]]:
    """Return all lines of the standings, each with the entrant's name, and its rating where that decides the place."""
    entrants, ratings = tournament.spec.entrants, tournament.placing_ratings()
    return [
        {
            "name": entrants[line.entrant].name,
            **msgspec.to_builtins(line),
            **({} if ratings is None else {"ladder_rating": ratings[line.entrant]}),
        }
        for line in tournament.standings()
    ]
