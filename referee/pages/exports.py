"""A tournament as tables for other programs; docs/reference/exports.md says what each column means.

A text of a player's that a spreadsheet would take for a formula gets an apostrophe before it.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from ..text import printable
from ..tournament.standings import Standing
from .notation import AWARD
from .summary import Summary

_FORMULA = ("=", "+", "-", "@")
Row = list[Any]


def standings_csv(summary: Summary) -> str:
    """Return a line for each entrant, from first to last."""
    wins = [] if "wins" in summary.spec.tie_breaks else ["wins"]  # no column twice
    titles = [
        "place",
        "name",
        *([] if summary.placing_ratings is None else ["ladder_rating"]),
        "points",
        *summary.spec.tie_breaks,
        "played",
        *wins,
        "won",
        "drawn",
        "lost",
        "byes",
        "fouls",
    ]
    return _csv([*titles, "rating", "error_95", "suspended"], (_standing(summary, line) for line in summary.standings))


def _standing(summary: Summary, line: Standing) -> Row:
    rating, record = summary.ratings[line.entrant], summary.records[line.entrant]
    return [
        *(line.place, _safe(summary.names[line.entrant])),
        *([] if summary.placing_ratings is None else [f"{summary.placing_ratings[line.entrant]:.1f}"]),
        _plain(line.points),
        *(_plain(line.tie_breaks[name]) if name in line.tie_breaks else "" for name in summary.spec.tie_breaks),
        line.played,
        *([] if "wins" in summary.spec.tie_breaks else [summary.wins_of(line.entrant)]),
        *(record.wins, record.draws, record.losses),
        *(line.byes, summary.fouls_of(line.entrant), f"{rating.rating:.1f}", f"{rating.error:.1f}"),
        _safe(summary.suspended.get(line.entrant, "")),
    ]


def crosstable_csv(summary: Summary) -> str:
    """Return everybody against everybody, from first to last: `WINS-DRAWS-LOSSES`, empty where they never met."""
    names = [_safe(summary.names[entrant]) for entrant in summary.order]
    return _csv(["name", *names], _crosstable(summary))


def _crosstable(summary: Summary) -> Iterator[Row]:
    for entrant in summary.order:
        met = (summary.tournament.table.head_to_head(entrant, opponent) for opponent in summary.order)
        cells = (f"{pair.wins}-{pair.draws}-{pair.losses}" if pair.played else "" for pair in met)
        yield [_safe(summary.names[entrant]), *cells]


def matches_csv(summary: Summary) -> str:
    """Return a line for each seat of each match, in the order in which the results were taken."""
    titles = ["match", "number", "round", "table", "leg", "attempt", "seat", "name", "place", "score", "foul"]
    return _csv([*titles, "used_s", "turns", "reason", "void", "opened", "result"], _matches(summary))


def _matches(summary: Summary) -> Iterator[Row]:
    for entry in summary.results:
        fixture, places = entry.fixture, summary.places(entry)
        causes = {foul.seat: foul.cause for foul in entry.fouls}
        match = None if entry.is_ruled else summary.match_summaries.get(entry.match)
        result = summary.outcome(entry).sentence
        for seat, name in enumerate(entry.names):
            yield [
                *(entry.match, fixture.number, fixture.round, fixture.table, fixture.leg, fixture.attempt),
                *(seat, _safe(name), places[seat] or "", entry.scores[seat], causes.get(seat, "")),
                *(
                    f"{entry.used_ms[seat] / 1000:.3f}",
                    entry.turns,
                    AWARD if entry.is_ruled else entry.reason,
                    _safe(summary.why_uncounted(entry)),
                ),
                *("" if match is None else match.opened, _safe(result)),
            ]


def fouls_csv(summary: Summary) -> str:
    """Return a line for each foul, in the order in which the results were taken."""
    titles = ["match", "round", "turn", "seat", "name", "cause", "rule", "code", "detail"]
    rows = (
        [
            *(entry.match, entry.fixture.round, foul.turn, foul.seat, _safe(entry.names[foul.seat]), foul.cause),
            *(_safe(foul.rule or ""), _safe(foul.code or ""), _safe(foul.detail)),
        ]
        for entry, foul in summary.fouls()
    )
    return _csv(titles, rows)


def _csv(titles: Row, rows: Iterable[Row]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows(rows)
    return text.getvalue()


def _safe(text: str) -> str:
    shown = printable(text)
    return "'" + shown if shown.startswith(_FORMULA) else shown


def _plain(number: float) -> str:
    """Return a number with as many digits as it needs, at most six after the point."""
    return f"{number:.6f}".rstrip("0").rstrip(".")
