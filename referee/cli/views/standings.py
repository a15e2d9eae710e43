"""The standings of a tournament, as a table for a terminal and as plain lines for other programs."""

from typing import Any

import msgspec
from rich.table import Table as RichTable

from ...pages.words import number
from ...tournament.machine import Tournament
from ..common import harmless, out

_MOST = 20
"""So many lines are shown."""


def standings_table(tournament: Tournament) -> RichTable:
    """Return the first lines of the standings as a table; of tie-breaks, as many as have room."""
    ratings = tournament.placing_ratings()
    table = RichTable(show_edge=False, caption=tournament.explain_order(), caption_justify="left")
    breaks = tournament.spec.tie_breaks[: max((out.width - 50) // 20, 1)]
    for title in ("#", "entrant", *([] if ratings is None else ["rating"]), "points", *breaks, "played"):
        table.add_column(title, justify="left" if title == "entrant" else "right", no_wrap=True)
    lines = tournament.standings()
    for line in lines[:_MOST]:
        values = (number(line.tie_breaks[name]) if name in line.tie_breaks else "" for name in breaks)
        name = harmless(tournament.spec.entrants[line.entrant].name)
        mark = " [red](suspended)[/]" if line.entrant in tournament.suspended else ""
        rating = [] if ratings is None else [f"{ratings[line.entrant]:.1f}"]
        table.add_row(str(line.place), name + mark, *rating, number(line.points), *values, str(line.played))
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
