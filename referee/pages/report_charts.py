"""The drawings of a tournament's report: ratings with their intervals, points by round, the bracket. Knows no page."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..pairing.base import Pairing, PlayedPairing
from ..tournament.ratings.elo import Rating
from .markup import Markup, joined, tag
from .report_tables import INTERVAL, table, valued
from .summary import Summary
from .words import number

MOST_LINES = 8
"""Entrants whose points are drawn; more lines can't be told apart."""
MOST_STEPS = 60
"""Points of a line; with more rounds, some are left out."""
HEIGHT, LEFT, TOP, BOTTOM = 330, 44, 14, 34
GAP = 18
"""Between two labels, in the drawing's own units."""
HIGHEST = 11
"""Where a label can be and is still whole."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """How wide a drawing is, in its own units: text that is to be read can't shrink with the window."""

    name: str
    width: int
    right: int
    """Room for the labels."""
    label_chars: int
    marks: int
    """Numbers along the lower axis."""

    def x(self, share: float) -> float:
        """Return where a share of all rounds lies."""
        return LEFT + share * (self.width - LEFT - self.right)


_SHAPES = (_Shape("broad", 900, 190, 24, 10), _Shape("slim", 400, 140, 16, 5))
"""A page shows the one that suits its window."""


def ratings_table(summary: Summary) -> Markup:
    """Return everybody's rating with its 95 % interval, the strongest first; groups that never met stand apart."""
    ratings = sorted(summary.ratings, key=lambda one: (one.group, -one.rating))
    low = min(one.rating - one.error for one in ratings)
    high = max(one.rating + one.error for one in ratings)
    grouped = len({one.group for one in ratings}) > 1
    rows = [_rated(summary, one, low, max(high - low, 1.0), grouped=grouped) for one in ratings]
    titles = ["entrant", "rating", "± 95 %", "matches", *(["group"] if grouped else []), INTERVAL]
    return table(titles, rows, id_="ratings-table")


def _rated(summary: Summary, one: Rating, low: float, span: float, *, grouped: bool) -> Markup:
    start, middle, end = (100 * (one.rating + by * one.error - low) / span for by in (-1, 0, 1))
    bar = tag(
        "svg",
        tag("path", d=f"M{100 * (1500 - low) / span:.2f} 0V10", class_="mean"),
        tag("path", d=f"M{start:.2f} 5H{end:.2f}", class_="range"),
        tag("path", d=f"M{middle:.2f} 0V10", class_="rating"),
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        class_="bar long",
        role="img",
        aria_label=f"{one.rating - one.error:.0f} to {one.rating + one.error:.0f}",
    )
    return tag(
        "tr",
        tag("th", summary.names[one.entrant], scope="row"),
        valued(one.rating, f"{one.rating:.0f}", "n points"),
        valued(one.error, f"{one.error:.0f}"),
        valued(one.played),
        *([valued(one.group + 1)] if grouped else []),
        tag("td", bar),
    )


def points_chart(summary: Summary) -> Markup:
    """Return the points of the first entrants after each round, as lines: a drawing for each width of a window."""
    worth = summary.history.points_by_round()
    first = summary.order[:MOST_LINES]
    lines: dict[int, list[float]] = {entrant: [0.0] for entrant in first}
    for points in worth.values():
        for entrant in first:
            lines[entrant].append(lines[entrant][-1] + float(points.get(entrant, 0)))
    rounds = [0, *worth]
    kept = sorted({round(step * (len(rounds) - 1) / MOST_STEPS) for step in range(MOST_STEPS + 1)})
    kept_lines = [(summary.names[entrant], [line[at] for at in kept]) for entrant, line in lines.items()]
    shares = [_part(at, len(rounds) - 1) for at in kept]
    return tag("div", *(_drawn(shape, rounds, shares, kept_lines) for shape in _SHAPES), class_="chart")


def _drawn(
    shape: _Shape, rounds: Sequence[int], shares: Sequence[float], lines: Sequence[tuple[str, Sequence[float]]]
) -> Markup:
    """Return one drawing of the points, whose instants are given as shares of all rounds."""
    top = max((points[-1] for _, points in lines), default=0.0) or 1.0
    shown = [
        [(shape.x(share), _y(one / top)) for share, one in zip(shares, points, strict=True)] for _, points in lines
    ]
    places = _spread([line[-1][1] for line in shown])
    labels = [f"{_shortened(name, shape.label_chars)} {number(points[-1])}" for name, points in lines]
    traces = (_trace(line, places[i], labels[i], i) for i, line in enumerate(shown))
    return tag(
        "svg",
        _axes(shape, rounds, top),
        *traces,
        viewBox=f"0 0 {shape.width} {HEIGHT}",
        role="img",
        aria_label="points by round",
        class_=shape.name,
    )


def _shortened(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _part(at: int, most: int) -> float:
    return at / most if most else 0.0


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _axes(shape: _Shape, rounds: Sequence[int], top: float) -> Markup:
    """Return the grid, with a handful of numbers at either axis."""
    parts = []
    by = max(1, round(top / 5))
    for value in range(0, int(top) + 1, by):
        y = f"{_y(value / top):.1f}"
        parts.append(tag("path", d=f"M{LEFT} {y}H{shape.x(1.0):g}", class_="grid"))
        parts.append(tag("text", str(value), x=LEFT - 8, y=float(y) + 5, class_="end"))
    step = max(1, (len(rounds) - 1) // shape.marks)
    for at in range(0, len(rounds), step):
        x = shape.x(_part(at, len(rounds) - 1))
        parts.append(tag("text", str(rounds[at]), x=f"{x:.1f}", y=HEIGHT - 12, class_="middle"))
    return joined((*parts, tag("text", "round", x=f"{shape.x(1.0) + 12:g}", y=HEIGHT - 12)))


def _trace(line: Sequence[tuple[float, float]], label_y: float, name: str, index: int) -> Markup:
    x, y = line[-1]
    path = Markup("M" + "L".join(f"{one:.1f} {other:.1f}" for one, other in line))
    return joined(
        (
            tag("path", d=path, class_=f"trace seat{index % 4} dash{(index + index // 4) % 4}"),
            tag("path", d=f"M{x:.1f} {y:.1f}L{x + 10:.1f} {label_y:.1f}", class_=f"lead seat{index % 4}"),
            tag("text", name, x=f"{x + 14:.1f}", y=f"{label_y + 5:.1f}"),
        )
    )


def _spread(wanted: Sequence[float]) -> list[float]:
    """Return places for labels as near as may be to where they are wanted, none over another."""
    order = sorted(range(len(wanted)), key=lambda one: (wanted[one], one))
    places = [wanted[one] for one in order]
    for _ in range(len(places)):
        for one, other in pairwise(range(len(places))):
            over = GAP - (places[other] - places[one])
            if over > 0:
                places[one] -= over / 2
                places[other] += over / 2
    for at, place in enumerate(places):
        places[at] = max(place, HIGHEST if not at else places[at - 1] + GAP)
    for at in reversed(range(len(places))):
        places[at] = min(places[at], HEIGHT - BOTTOM if at == len(places) - 1 else places[at + 1] - GAP)
    found = [0.0] * len(wanted)
    for one, place in zip(order, places, strict=True):
        found[one] = place
    return found


# --- the bracket


def bracket(summary: Summary) -> Markup:
    """Return a knockout, a column for each round, every match beside the one that its winner went on to."""
    tournament = summary.history.tournament
    played = {(one.pairing.round, frozenset(one.pairing.seats)): one for one in summary.history.played}
    rounds: dict[int, list[Pairing]] = {}
    for one in played.values():
        rounds.setdefault(one.pairing.round, []).append(one.pairing)
    for fixture in tournament.fixtures():
        pairing = fixture.pairing
        if (pairing.round, frozenset(pairing.seats)) not in played and pairing not in rounds.get(pairing.round, []):
            rounds.setdefault(pairing.round, []).append(pairing)
    results = {one.pairing.number: one for one in played.values()}
    columns = []
    after: list[Pairing] = []
    for round_ in sorted(rounds, reverse=True):
        after = _in_order(rounds[round_], after)
        columns.append(tag("div", *(_box(summary, one, results.get(one.number)) for one in after), class_="column"))
    return tag("div", *reversed(columns), class_="wide bracket", tabindex="0", role="region", aria_label="Bracket")


def _in_order(pairings: Sequence[Pairing], after: Sequence[Pairing]) -> list[Pairing]:
    """Put the matches of a round in the order in which the next one needs them; of the last, the final is first."""
    seats = [seat for one in after for seat in one.seats]
    where = {entrant: at for at, entrant in enumerate(seats)}

    def _key(one: Pairing) -> tuple[int, bool, int]:
        return min(where.get(seat, len(seats)) for seat in one.seats), one.table == "third place", one.number

    return sorted(pairings, key=_key)


def _box(summary: Summary, pairing: Pairing, played: PlayedPairing | None) -> Markup:
    """Return one match: its entrants, their points, the winners in bold."""
    best = () if played is None or not played.ranking else played.ranking[0]
    rows = []
    for seat, entrant in enumerate(pairing.seats):
        score = "bye" if pairing.is_bye else "" if played is None else str(played.scores[seat])
        note = "foul" if played is not None and seat in played.fouls else ""
        rows.append(
            tag(
                "tr",
                tag("th", summary.names[entrant], scope="row"),
                tag("td", note, class_="bad"),
                tag("td", score, class_="n"),
                class_="winner" if seat in best else None,
            )
        )
    title = pairing.table or f"round {pairing.round}"
    state = "" if played is not None else " · to be played"
    return tag("div", tag("p", title + state, class_="faint"), tag("table", *rows), class_="box")
