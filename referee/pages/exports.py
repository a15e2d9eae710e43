"""A tournament as tables and as one object for other programs; docs/reference/exports.md says what each column means.

A text of a player's that a spreadsheet would take for a formula gets an apostrophe before it.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import msgspec

from ..text import printable
from ..tournament.pairing.base import Pairing
from ..tournament.standings import Standing
from .causes import placeless, short_cause
from .charts.brackets import brackets
from .encounters import superiority
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


def everything(summary: Summary) -> dict[str, Any]:
    """Return the whole tournament, plain, as `tournament.json` has it."""
    return {**_standing_now(summary), **_entrants(summary), **_course(summary)}


def _told_standing(summary: Summary, line: Standing) -> dict[str, Any]:
    ratings = summary.placing_ratings
    rating = None if ratings is None else ratings[line.entrant]
    return {"name": summary.names[line.entrant], **msgspec.to_builtins(line), "ladder_rating": rating}


def _standing_now(summary: Summary) -> dict[str, Any]:
    tournament, history, names = summary.tournament, summary.history, summary.names
    return {
        "spec": msgspec.to_builtins(summary.spec),
        "head": history.head,
        "state": "over" if tournament.is_over else "running",
        "begun_at": history.begun_at,
        "left_at": history.left_at,
        "played": tournament.played,
        "void": tournament.voided,
        "order": tournament.explain_order(),
        "standings": [_told_standing(summary, line) for line in summary.standings],
        "ratings": [{"name": names[rating.entrant], **msgspec.to_builtins(rating)} for rating in summary.ratings],
        "crosstable": [
            {"entrant": entrant, "opponent": opponent, **msgspec.to_builtins(met), "los": superiority(met)}
            for entrant in range(len(names))
            for opponent, met in sorted(tournament.table.opponents(entrant).items())
        ],
        "seats": msgspec.to_builtins(summary.by_seat),
    }


def _entrants(summary: Summary) -> dict[str, Any]:
    tournament, history = summary.tournament, summary.history
    return {
        "byes": [_bye(pairing, worth) for pairing, worth in summary.byes],
        "joined": [{"entrant": entrant, "at": at} for entrant, at in history.joined],
        "suspended": list(map(msgspec.to_builtins, tournament.suspended.values())),
        "disqualified": sorted(tournament.disqualified),
        "versions": [msgspec.to_builtins(version) for versions in history.versions.values() for version in versions],
        "times": [{"entrant": entrant, **msgspec.to_builtins(time)} for entrant, time in enumerate(summary.times)],
    }


def _course(summary: Summary) -> dict[str, Any]:
    history = summary.history
    return {
        "brackets": msgspec.to_builtins(brackets(summary)),
        "progress": [
            {"round": round_, "points": {entrant: float(points) for entrant, points in won.items()}}
            for round_, won in summary.points_by_round.items()
        ],
        "courses": [msgspec.to_builtins(course) for course in summary.courses],
        "fairness": msgspec.to_builtins(summary.fairness),
        "schedules": [
            {"entrant": entrant, **msgspec.to_builtins(schedule)} for entrant, schedule in enumerate(summary.schedules)
        ],
        "fouls": list(_fouls(summary)),
        "out": [
            {"entrant": entrant, "state": summary.state_of(entrant), "why": short_cause(why)}
            for entrant, why in summary.suspended.items()
        ],
        "disregarded": history.disregarded,
        "hosts": msgspec.to_builtins(summary.hosts),
        "rulings": [{"at": line.at, **msgspec.to_builtins(line.ruling)} for line in summary.rulings.all],
        "due": list(_due(summary)),
        "entries": list(_entries(summary)),
    }


def _entries(summary: Summary) -> Iterator[dict[str, Any]]:
    """Yield every result, in the order of the record; the standings follow from those that count, and the byes."""
    for entry in summary.results:
        told = {"result": summary.outcome(entry).with_points(entry.scores), "counts": summary.history.counts(entry)}
        yield {**msgspec.to_builtins(entry), **({"reason": AWARD} if entry.is_ruled else {}), **told}


def _due(summary: Summary) -> Iterator[dict[str, Any]]:
    """Yield the matches that may be played and are not, in the order in which they begin."""
    for fixture in summary.tournament.fixtures():
        if fixture.match not in summary.tournament.playing:
            names = [summary.names[entrant] for entrant in fixture.entrants]
            since = summary.history.due_at.get(fixture.match)
            yield {**msgspec.to_builtins(fixture), "names": names, "since": since}


def _fouls(summary: Summary) -> Iterator[dict[str, Any]]:
    """Yield the fouls that count, as pages tell them: none of a deal that is still to be played from other seats."""
    for entry, foul in summary.fouls():
        if entry.match not in summary.withheld:
            yield {
                "match": entry.match,
                "entrant": entry.fixture.entrants[foul.seat],
                "seat": foul.seat,
                "cause": foul.cause,
                "rule": foul.rule or foul.code,
                "turn": foul.turn,
                "detail": placeless(foul.detail),
            }


def _bye(pairing: Pairing, worth: Fraction) -> dict[str, Any]:
    (entrant,) = pairing.seats
    return {
        "entrant": entrant,
        "number": pairing.number,
        "round": pairing.round,
        "table": pairing.table,
        "against": pairing.against,
        "worth": float(worth),
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
