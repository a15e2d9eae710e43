"""A tournament as tables and as one object for other programs, as docs/reference/exports.md describes them.

A text of a player's that a spreadsheet would take for a formula gets an apostrophe before it.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from ..text import printable
from .summary import Summary

_FORMULA = ("=", "+", "-", "@")
Row = list[Any]


def standings_csv(summary: Summary) -> str:
    """Return a line for each entrant, from first to last."""
    breaks = summary.spec.tie_breaks
    wins = [] if "wins" in breaks else ["wins"]  # no column twice
    titles = ["place", "name", "points", *breaks, "played", *wins, "byes", "fouls", "rating", "error_95", "suspended"]
    return _csv(titles, _standings(summary))


def _standings(summary: Summary) -> Iterator[Row]:
    tournament = summary.history.tournament
    for line in summary.standings:
        rating, sums = summary.ratings[line.entrant], tournament.table.sums(line.entrant)
        fouls = summary.fouls_by_cause.get(line.entrant)
        suspended = tournament.suspended.get(line.entrant)
        yield [
            *(line.place, _safe(summary.names[line.entrant]), _plain(line.points)),
            *(_plain(line.tie_breaks[name]) if name in line.tie_breaks else "" for name in summary.spec.tie_breaks),
            *(
                line.played,
                *([] if "wins" in summary.spec.tie_breaks else [sums.wins]),
                line.byes,
                0 if fouls is None else fouls.total(),
            ),
            *(f"{rating.rating:.1f}", f"{rating.error:.1f}", "" if suspended is None else _safe(suspended.why)),
        ]


def crosstable_csv(summary: Summary) -> str:
    """Return everybody against everybody, from first to last: `WINS-DRAWS-LOSSES`, empty where they never met."""
    names = [_safe(summary.names[entrant]) for entrant in summary.order]
    return _csv(["name", *names], _crosstable(summary))


def _crosstable(summary: Summary) -> Iterator[Row]:
    table = summary.history.tournament.table
    for one in summary.order:
        met = (table.head_to_head(one, other) for other in summary.order)
        yield [_safe(summary.names[one]), *(f"{it.wins}-{it.draws}-{it.losses}" if it.played else "" for it in met)]


def matches_csv(summary: Summary) -> str:
    """Return a line for each seat of each match, in the order in which the results were taken."""
    titles = ["match", "number", "round", "table", "leg", "attempt", "seat", "name", "place", "score", "foul"]
    return _csv([*titles, "used_s", "turns", "reason", "void", "opened"], _matches(summary))


def _matches(summary: Summary) -> Iterator[Row]:
    for entry in summary.history.entries:
        context, places = entry.context, summary.places(entry)
        causes = {foul.seat: foul.cause for foul in entry.fouls}
        digest = summary.digests.get(entry.match)
        for seat, name in enumerate(entry.names):
            yield [
                *(entry.match, context.number, context.round, context.table, context.leg, context.attempt),
                *(seat, _safe(name), places[seat] or "", entry.scores[seat], causes.get(seat, "")),
                *(
                    f"{entry.used_ms[seat] / 1000:.3f}",
                    entry.turns,
                    entry.reason,
                    _safe(summary.idle.get(entry.match, "")),
                ),
                "" if digest is None else digest.opened,
            ]


def fouls_csv(summary: Summary) -> str:
    """Return a line for each foul, in the order in which the results were taken."""
    titles = ["match", "round", "turn", "seat", "name", "cause", "rule", "code", "detail"]
    rows = (
        [
            *(entry.match, entry.context.round, foul.turn, foul.seat, _safe(entry.names[foul.seat]), foul.cause),
            *(_safe(foul.rule or ""), _safe(foul.code or ""), _safe(foul.detail)),
        ]
        for entry, foul in summary.fouls()
    )
    return _csv(titles, rows)


def everything(summary: Summary) -> dict[str, Any]:
    """Return the whole tournament, plain, as `tournament.json` has it."""
    tournament, names = summary.history.tournament, summary.names
    table = tournament.table
    return {
        "spec": msgspec.to_builtins(summary.spec),
        "state": "over" if tournament.is_over else "running",
        "played": tournament.played,
        "void": tournament.voided,
        "standings": [{"name": names[one.entrant], **msgspec.to_builtins(one)} for one in summary.standings],
        "ratings": [{"name": names[one.entrant], **msgspec.to_builtins(one)} for one in summary.ratings],
        "crosstable": [
            {"entrant": one, "opponent": other, **msgspec.to_builtins(met)}
            for one in range(len(names))
            for other, met in sorted(table.opponents(one).items())
        ],
        "byes": [{"entrant": bye.seats[0], "round": bye.round} for bye in summary.history.byes],
        "suspended": [msgspec.to_builtins(one) for one in tournament.suspended.values()],
        "changed": dict(summary.changed),
        "times": [{"entrant": entrant, **msgspec.to_builtins(time)} for entrant, time in enumerate(summary.times)],
        "given_up": [entry.match for entry in summary.history.given_up],
        "entries": [msgspec.to_builtins(entry) for entry in summary.history.entries],
    }


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
