"""The columns of the standings, each declared once; and the meanings of the columns of all other tables.

A declaration has the column's key, its head, its meaning and its value. The report, the terminal, standings.csv, the
legends of pages and the table in docs/reference/exports.md follow from it (`python -m tests.docs.make_tables`
writes that table).
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
    """Name in standings.csv; empty if the column is not there."""
    head: str
    """Head on pages and terminals; empty if the column is not there."""
    meaning: str
    """Meaning, as legends and the manual have it; empty if the head says it."""
    value: Callable[[Summary, Standing], Any]
    """Returns the value of a line; None leaves its cell empty."""
    form: str = ""
    """Format specification of the number; empty: halves are shown as such, and standings.csv has all digits."""
    is_brief: bool = False
    """Whether a terminal shows the column, too: it has no room for all of them."""

    def text(self, summary: Summary, line: Standing) -> str:
        """Return what a page or a terminal shows of a line's number."""
        value = self.value(summary, line)
        return "" if value is None else format(value, self.form) if self.form else number(value)


def _columns(tie_breaks: Iterable[str]) -> Iterator[Column]:
    """Yield the columns of standings with these tie-breaks, from left to right."""
    # Each value is a function of the whole summary, so that a column costs nothing unless somebody shows it: ratings
    # take seconds in a large field, and a terminal shows none.
    tie_breaks = tuple(tie_breaks)
    yield Column("place", "#", "Place, from 1; equal entrants share one.", lambda _, line: line.place, is_brief=True)
    yield Column("name", "entrant", "", lambda summary, line: summary.names[line.entrant], is_brief=True)
    yield Column(
        "ladder_rating",
        "ladder rating",
        "In a ladder only: the rating that decides the place, on Elo's scale. It follows from the matches one by one.",
        lambda summary, line: None if summary.placing_ratings is None else summary.placing_ratings[line.entrant],
        ".1f",
        is_brief=True,
    )
    yield Column(
        "points", "points", "Match points, those of byes included.", lambda _, line: line.points, is_brief=True
    )
    yield Column(
        "",
        "W-D-L",
        "Won, drawn and lost against each opponent; every two entrants at a table count as one encounter.",
        lambda summary, line: summary.records[line.entrant],
    )
    for name in tie_breaks:
        meaning = f"Tie-break: {find_tie_break(name).meaning}"
        yield Column(name, name.replace("-", " "), meaning, partial(_tie_break, name), is_brief=True)
    yield Column("played", "played", "Matches that count, byes left out.", lambda _, line: line.played, is_brief=True)
    if "wins" not in tie_breaks:  # no column appears twice
        yield Column("wins", "", "Matches won alone.", lambda summary, line: summary.count_wins(line.entrant))
    encounters = "against each opponent; every two entrants at a table count as one encounter."
    yield Column("won", "", f"Encounters won {encounters}", lambda summary, line: summary.records[line.entrant].wins)
    yield Column("drawn", "", "Encounters drawn.", lambda summary, line: summary.records[line.entrant].draws)
    yield Column("lost", "", "Encounters lost.", lambda summary, line: summary.records[line.entrant].losses)
    yield Column("byes", "byes", "Rounds without an opponent.", lambda _, line: line.byes)
    yield Column(
        "fouls",
        "fouls",
        "Matches in which it broke a rule and was expelled.",
        lambda summary, line: summary.count_fouls(line.entrant),
    )
    yield Column("rating", "", _RATING, lambda summary, line: summary.ratings[line.entrant].rating, ".1f")
    yield Column("error_95", "", _ERROR, lambda summary, line: summary.ratings[line.entrant].error, ".1f")
    yield Column(
        "suspended",
        "",
        "Why the entrant plays no more; empty if it plays.",
        lambda summary, line: summary.suspended.get(line.entrant),
    )


def _tie_break(name: str, _: Summary, line: Standing) -> float | None:
    return line.tie_breaks.get(name)


def standings_columns(summary: Summary) -> list[Column]:
    """Return the columns of a tournament's standings."""
    has_ladder = summary.placing_ratings is not None
    return [column for column in _columns(summary.spec.tie_breaks) if has_ladder or column.key != "ladder_rating"]


_RATING = "Strength estimated from all results at once, on Elo's scale."
_ERROR = "Half the width of the interval that holds the true rating in 95 of 100 cases."
_RESULT = "How the match ended; then the game's points, in the order of the names."
STANDINGS = tuple(_columns(TIE_BREAKS))
"""Every column that standings can have."""
MEANINGS: Mapping[str, str] = {
    **{column.head: column.meaning for column in STANDINGS if column.head and column.meaning},
    "rating": _RATING,
    "± 95 %": "Half the width of the interval that holds the true value in 95 of 100 cases.",
    "encounters": "Results that the rating rests on.",
    "group": "Ratings of different groups can't be compared: they never met, not even through others.",
    "LOS": "Likelihood of superiority: how likely it is that this one is stronger than the next one in the table, by"
    " their ratings and intervals, the errors taken as independent.",
    "95 % interval": "The line is where the true rating lies with 95 %; the thin mark is the mean of the field.",
    "LOS by wins": "Likelihood of superiority: how likely it is that this one is stronger, by wins and losses alone,"
    " as a normal approximation. Draws say nothing of it.",
    "seat": "From 0, in the order in which they move in the first round; seat 0 moves first.",
    "share": "Share of the points that could be won; a draw counts half.",
    "moves": "Moves that the referee asked the entrant for.",
    "mean": "Average time for a move, without the referee's own lag.",
    "longest": "Time for its slowest move.",
    "of its limit": "The largest share of a time limit that it used; over 100 % is too late.",
    "void": "Matches that do not count because of a fault of the referee's.",
    "most lag": "The referee's longest lag in an answer.",
    "standstills": "Requests during which the referee stood still.",
    "version": "Number of its program; version 1 is the one with which it began.",
    "digest": "SHA-256 of the program's folder, names and contents: it changes when anything in the folder does. Empty"
    " if the referee can't read the folder.",
    "turns": "Turns of the match.",
    "turn": "Turn in which it happened; 0 is before the first.",
    "rule": "Id of the rule of the game that was broken, or code of the protocol's error.",
    "result": _RESULT,
    "result and points": _RESULT,
}
"""Head of a column -> its meaning; a head that says it all is not in it."""

TEXTS = frozenset(
    (
        *("entrant", "opponent", "opponents", "match", "players", "why", "", "95 % interval"),
        *("result", "result and points", "host", "at", "decision", "about", "reason", "by"),
        *("rulings", "digest", "since", "from", "until", "name", "verdict"),
    )
)
"""Heads of the columns that hold text and are aligned to the left; all others hold numbers."""
