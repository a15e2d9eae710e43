"""Declares each column of the standings once, and the meanings of the columns of all other tables.

A declaration has the column's key, its head, its meaning and its value. The report, the terminal, standings.csv and the
legends of pages are made from the declarations; so is the table in docs/reference/exports.md
(`python -m tests.docs.make_tables` writes it).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from ..tournament.standings import Standing, find_tie_break
from ..tournament.tie_breaks import TIE_BREAKS
from .summary import Summary
from .words import number


class Column(NamedTuple):
    """A column of the standings."""

    key: str
    """Name in standings.csv; empty if standings.csv lacks the column."""
    head: str
    """Head on pages and terminals; empty if they lack the column."""
    meaning: str
    """Meaning for legends and the manual; empty if the head is clear without it."""
    value: Callable[[Summary, Standing], Any]
    """Returns the value for a line; None leaves the cell empty."""
    form: str = ""
    """Format specification of the number; empty: pages show halves as ½, and standings.csv has all digits."""
    is_brief: bool = False
    """Whether terminals show the column, too; they have no room for all columns."""

    def text(self, summary: Summary, line: Standing) -> str:
        """Return the text of a cell on a page or a terminal."""
        value = self.value(summary, line)
        return "" if value is None else format(value, self.form) if self.form else number(value)


def _columns(tie_breaks: Iterable[str]) -> Iterator[Column]:
    """Yield the columns of standings with these tie-breaks, from left to right."""
    # A value is a function, so that it is computed only if the column is shown: ratings take seconds in a large field,
    # and a terminal does not show them.
    tie_breaks = tuple(tie_breaks)
    yield Column(
        "place", "#", "Place, from 1; equal entrants share a place.", lambda _, line: line.place, is_brief=True
    )
    yield Column("name", "entrant", "", lambda summary, line: summary.names[line.entrant], is_brief=True)
    yield Column(
        "ladder_rating",
        "ladder rating",
        "In a ladder only: the rating that decides the place, on Elo's scale. Each match changes it in turn.",
        lambda summary, line: None if summary.placing_ratings is None else summary.placing_ratings[line.entrant],
        ".1f",
        is_brief=True,
    )
    yield Column(
        "points", "points", "Match points, including points for byes.", lambda _, line: line.points, is_brief=True
    )
    yield Column(
        "",
        "W-D-L",
        "Encounters won, drawn and lost. In a match, every two opponents have an encounter.",
        lambda summary, line: summary.records[line.entrant],
    )
    for name in tie_breaks:
        meaning = f"Tie-break: {find_tie_break(name).meaning}"
        yield Column(name, name.replace("-", " "), meaning, partial(_tie_break, name), is_brief=True)
    yield Column("played", "played", "Matches that count, without byes.", lambda _, line: line.played, is_brief=True)
    if "wins" not in tie_breaks:  # no column appears twice
        yield Column(
            "wins",
            "",
            "Matches won without sharing the first place.",
            lambda summary, line: summary.count_wins(line.entrant),
        )
    won = "Encounters won. In a match, every two opponents have an encounter."
    yield Column("won", "", won, lambda summary, line: summary.records[line.entrant].wins)
    yield Column("drawn", "", "Encounters drawn.", lambda summary, line: summary.records[line.entrant].draws)
    yield Column("lost", "", "Encounters lost.", lambda summary, line: summary.records[line.entrant].losses)
    yield Column("byes", "byes", "Rounds without an opponent.", lambda _, line: line.byes)
    yield Column(
        "fouls",
        "fouls",
        "Matches in which the entrant broke a rule and was expelled.",
        lambda summary, line: summary.count_fouls(line.entrant),
    )
    yield Column("rating", "", _RATING, lambda summary, line: summary.ratings[line.entrant].rating, ".1f")
    yield Column("error_95", "", _ERROR, lambda summary, line: summary.ratings[line.entrant].error, ".1f")
    yield Column(
        "suspended",
        "",
        "Why the entrant plays no more; empty if it still plays.",
        lambda summary, line: summary.suspended.get(line.entrant),
    )


def _tie_break(name: str, _: Summary, line: Standing) -> float | None:
    return line.tie_breaks.get(name)


def standings_columns(summary: Summary) -> list[Column]:
    """Return the columns of a tournament's standings."""
    has_ladder = summary.placing_ratings is not None
    return [column for column in _columns(summary.spec.tie_breaks) if has_ladder or column.key != "ladder_rating"]


_RATING = "Strength estimated from all results at once, on Elo's scale."
_ERROR = "Half the width of the interval that contains the true rating in 95 of 100 cases."
_RESULT = "How the match ended, then the game's points in the order of the names."
STANDINGS = tuple(_columns(TIE_BREAKS))
"""Every column that standings can have."""
MEANINGS: Mapping[str, str] = {
    **{column.head: column.meaning for column in STANDINGS if column.head and column.meaning},
    "rating": _RATING,
    "± 95 %": "Half the width of the interval that contains the true value in 95 of 100 cases.",
    "encounters": "Number of results that the rating is computed from.",
    "group": "Ratings of different groups can't be compared: entrants of one group never met those of another, not even"
    " through common opponents.",
    "LOS": "Likelihood of superiority: the probability that this entrant is stronger than the next one in the table,"
    " computed from their ratings and intervals. The errors are assumed to be independent.",
    "95 % interval": "The line is the interval that contains the true rating with a probability of 95 %. The"
    " thin mark is the mean of the field.",
    "LOS by wins": "Likelihood of superiority: the probability that this entrant is stronger than the opponent,"
    " computed from wins and losses by a normal approximation. Draws do not change it.",
    "seat": "Seats are counted from 0. They move in this order in the first round; seat 0 moves first.",
    "share": "Share of the points that could be won; a draw counts half.",
    "moves": "Number of moves that the referee asked the entrant for.",
    "mean": "Average time for a move, without the referee's own lag.",
    "longest": "Time for the entrant's slowest move.",
    "of its limit": "The largest share of a time limit that the entrant used; more than 100 % is too late.",
    "void": "Matches that do not count because of a fault of the referee.",
    "most lag": "The referee's longest lag in an answer.",
    "standstills": "Requests during which the referee stood still.",
    "version": "Number of the entrant's program; it began the tournament with version 1.",
    "digest": "SHA-256 of the names and contents of all files in the program's folder: it changes when anything in the"
    " folder changes. Empty if the referee can't read the folder.",
    "turns": "Number of turns of the match.",
    "turn": "Turn of the foul; 0 is before the first turn.",
    "rule": "Id of the broken rule of the game, or code of the broken rule of the protocol.",
    "result": _RESULT,
    "result and points": _RESULT,
}
"""Head of a column -> its meaning. Heads that need no explanation are left out."""

TEXTS = frozenset(
    (
        *("entrant", "opponent", "opponents", "match", "players", "why", "", "95 % interval"),
        *("result", "result and points", "host", "at", "decision", "about", "reason", "by"),
        *("rulings", "digest", "since", "from", "until", "name", "verdict"),
    )
)
"""Heads of the columns with text, which are aligned to the left; all other columns have numbers."""
