"""Columns: those of the standings, for report, standings.csv and terminal; and what the columns of pages mean."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from ..tournament.machine import Tournament
from ..tournament.standings import Standing
from .summary import Summary
from .words import number

COLUMNS: Mapping[str, str] = {
    "#": "Place, from 1; equal entrants share one.",
    "ladder rating": "What decides the places of a ladder, on Elo's scale: it follows from the matches one by one.",
    "points": "Match points, those of byes included.",
    "buchholz": "Tie-break: the points of all opponents together.",
    "buchholz cut 1": "Tie-break: the opponents' points without the weakest one's.",
    "median buchholz": "Tie-break: the opponents' points without the weakest and the strongest one's.",
    "sonneborn berger": "Tie-break: the points of beaten opponents, and half of those of opponents that drew.",
    "direct encounter": "Tie-break: the matches between those with equal points.",
    "wins": "Tie-break: matches won alone.",
    "score difference": "Tie-break: the game's points less the mean of the opponents'.",
    "progressive": "Tie-break: the points after each round, added up.",
    "played": "Matches that count, byes left out.",
    "W-D-L": "Won, drawn and lost against each opponent; every two at a table are an encounter.",
    "byes": "Rounds without an opponent.",
    "fouls": "Matches in which it broke a rule and was expelled.",
    "rating": "Strength estimated from all results at once, on Elo's scale.",
    "± 95 %": "Half the width of the interval that holds the true value in 95 of 100 cases.",
    "encounters": "Results that the rating rests on.",
    "group": "Ratings of different groups can't be compared: they never met, not even through others.",
    "LOS": "Likelihood of superiority: how likely it is that this one is stronger than the next one in the table, by"
    " their ratings and intervals, the errors taken as independent.",
    "95 % interval": "The line is where the true rating lies with 95 %; the thin mark is the mean of the field.",
    "LOS by wins": "Likelihood of superiority: how likely it is that this one is stronger, by wins and losses alone,"
    " as a normal approximation. Draws say nothing of it.",
    "seat": "From 0, in the order in which they move in the first round; seat 0 moves first.",
    "share": "Points of all that there were to win, a draw counting half; over 50 % is more than its share.",
    "moves": "Moves that it was asked for.",
    "mean": "Time for a move on average; the referee's own lag is taken off.",
    "longest": "Time for its slowest move.",
    "of its limit": "The largest share of a time limit that it used; over 100 % is too late.",
    "void": "Matches that do not count for a fault of the referee's.",
    "most lag": "Most time of an answer that was the referee's own.",
    "standstills": "Requests during which the referee stood still.",
    "version": "Of its program: the first one is that with which it began.",
    "digest": "SHA-256 of the program's folder, names and contents: the same as long as nothing in it changes;"
    " none where the referee can read no folder.",
    "turns": "Turns of the match.",
    "turn": "The turn in which it happened; 0 is before the first.",
    "rule": "Id of the rule of the game that was broken, or code of the protocol's error.",
    "result": "How the match ended; then the game's points, in the order of the names.",
    "result and points": "How the match ended; then the game's points, in the order of the names.",
}
"""Title of a column -> its meaning; what says itself what it means is not in it."""

TEXTS = frozenset(
    (
        *("entrant", "opponent", "opponents", "match", "players", "why", "", "95 % interval"),
        *("result", "result and points"),
        *(
            "host",
            "at",
            "decision",
            "about",
            "reason",
            "by",
            "rulings",
            "digest",
            "since",
            "from",
            "until",
            "name",
            "verdict",
        ),
    )
)
"""Titles of columns that are no numbers, and stand to the left."""


class Column(NamedTuple):
    """A column of the standings. Its meaning is in COLUMNS, and in docs/reference/exports.md."""

    key: str
    """Name in standings.csv; empty: the column is not there."""
    title: str
    """Title on pages and terminals, where it is the key of COLUMNS; empty: the column is not there."""
    value: Callable[[Standing], Any]
    """Returns the value of a line; None leaves its cell empty."""
    form: str = ""
    """How the number is written, as `format` takes it; empty: as it is in standings.csv, as points elsewhere."""

    def text(self, line: Standing) -> str:
        """Return what a page or a terminal shows of a line's number."""
        value = self.value(line)
        return "" if value is None else format(value, self.form) if self.form else number(value)


def tournament_columns(tournament: Tournament) -> list[Column]:
    """Return the columns that follow from the tournament alone: place, name, rating in a ladder, points, tie-breaks."""
    ratings, entrants = tournament.placing_ratings(), tournament.spec.entrants
    return [
        Column("place", "#", lambda line: line.place),
        Column("name", "entrant", lambda line: entrants[line.entrant].name),
        *(
            []
            if ratings is None
            else [Column("ladder_rating", "ladder rating", lambda line: ratings[line.entrant], ".1f")]
        ),
        Column("points", "points", lambda line: line.points),
        *(Column(name, name.replace("-", " "), partial(_tie_break, name)) for name in tournament.spec.tie_breaks),
        Column("played", "played", lambda line: line.played),
    ]


def _tie_break(name: str, line: Standing) -> float | None:
    return line.tie_breaks.get(name)


def standings_columns(summary: Summary) -> list[Column]:
    """Return the columns of the standings in the report and in standings.csv."""
    columns = tournament_columns(summary.tournament)
    at = next(index for index, column in enumerate(columns) if column.key == "points") + 1
    columns.insert(at, Column("", "W-D-L", lambda line: summary.records[line.entrant]))
    if "wins" not in summary.spec.tie_breaks:  # no column twice
        columns.append(Column("wins", "", lambda line: summary.wins_of(line.entrant)))
    return [
        *columns,
        Column("won", "", lambda line: summary.records[line.entrant].wins),
        Column("drawn", "", lambda line: summary.records[line.entrant].draws),
        Column("lost", "", lambda line: summary.records[line.entrant].losses),
        Column("byes", "byes", lambda line: line.byes),
        Column("fouls", "fouls", lambda line: summary.fouls_of(line.entrant)),
        Column("rating", "", lambda line: summary.ratings[line.entrant].rating, ".1f"),
        Column("error_95", "", lambda line: summary.ratings[line.entrant].error, ".1f"),
        Column("suspended", "", lambda line: summary.suspended.get(line.entrant)),
    ]
