"""Computes curves over rounds and matches: points, and ratings with their intervals.

Where each line, band and label goes is decided here; templates/report_charts.html draws them.
"""

# SVG by hand, not by a library: a page must work without any file next to it, its text must scale and be read by a
# screen reader, and its colours must follow the reader's theme. A curve needs a path and a label; the only hard part is
# to place labels that don't overlap (`_spread`).

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ..encounters import RatedAfter
from ..summary import Summary
from ..words import number

MOST_LABELS = 8
"""Number of curves with a label next to the drawing; the others are named when the reader points at them."""
MAX_CURVES = 64
"""Number of entrants that have a curve; with more of them, no eye can follow one."""
MOST_STEPS = 60
"""Number of points of a line; with more rounds, some are left out."""
FEW = 4
"""Number of curves whose intervals can be told apart when all are shown; with more, one is shown at a time."""
STEPS = (100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000)
"""Differences between two numbers along the axis of ratings."""
MOST_LEVELS = 6
"""Most spaces between the numbers along the axis of ratings."""
TOP, BOTTOM = 14, 34
"""Room above and below the lines, in a drawing's own units."""
LEAD = 16
"""Room between the end of the lines and the labels."""
LETTER = 16
"""Width of the widest letter, in bold."""
SAMPLE = 26
"""Length of the piece of a line that stands before its name below a drawing."""
UNIT = 70
"""Room for the unit at the end of the lower axis."""
GAP = 18
"""Between two labels."""
HIGHEST = 11
"""Where a label can be and is still whole."""


class Shape(NamedTuple):
    """Size of a drawing in its own units. There are two, as text can't shrink with the window and stay readable."""

    name: str
    width: int
    right: int
    """Where the lines end, and the labels begin."""
    marks: int
    """Numbers along the lower axis."""
    labels_below: bool = False
    """True if the labels are a list below the axis; otherwise each is next to the end of its line."""
    left: int = 52
    height: int = 330

    @property
    def label_x(self) -> int:
        """Where labels begin."""
        return self.left + SAMPLE + 8 if self.labels_below else self.right + LEAD - 2

    @property
    def room(self) -> int:
        """Width that a label has."""
        return self.width - self.label_x - 2

    def x(self, share: float) -> float:
        """Return where a share of all rounds lies."""
        return round(self.left + share * (self.right - self.left), 1)

    def y(self, share: float) -> float:
        """Return where a share of the height lies, at its edge what is beyond."""
        return round(self.height - BOTTOM - min(max(share, 0.0), 1.0) * (self.height - TOP - BOTTOM), 1)


class Curve(NamedTuple):
    """Values of one entrant."""

    name: str
    """Name of the entrant; empty if the drawing shows only this one."""
    told: str
    """End of the curve, in words."""
    points: Sequence[tuple[int, float]]
    """Number of rounds or results, and the value after it."""
    errors: Sequence[float] = ()
    """Half the width of the 95 % interval of each point, where there is one."""
    short: str = ""
    """End of the curve, as the label next to the drawing has it."""


class Axes(NamedTuple):
    """Range of a drawing."""

    last: int
    """Last round or result; the axis begins at 0."""
    low: float
    high: float
    levels: Sequence[int]
    """Numbers along the left axis."""


class Trace(NamedTuple):
    """The curve of one entrant in a drawing."""

    points: list[tuple[float, float]]
    band: list[tuple[int, int]]
    """Corners of its interval; empty: it has none."""
    label: str
    label_scale: float
    """Size of the label, so that it is not cut off; 1 if it has room."""
    label_y: float
    lead: str
    """Path from the line to its label, or a piece of the line before it."""
    told: str
    is_quiet: bool
    """True if it is named only when the reader points at it."""


class Drawing(NamedTuple):
    """Curves, drawn in one shape."""

    shape: Shape
    height: int
    """Height with the list of labels, if there is one below."""
    levels: list[tuple[float, int]]
    """Numbers along the left axis, with their places."""
    marks: list[tuple[float, int]]
    """Numbers along the lower axis, with their places."""
    traces: list[Trace]
    shows_bands: bool
    """True if all intervals are shown, not only that of the curve that the reader points at."""


SHAPES = (Shape("broad", 900, 630, 10), Shape("slim", 400, 384, 6, labels_below=True))
"""A page shows the one that suits its window."""


def points_drawings(summary: Summary) -> list[Drawing]:
    """Return the points of the entrants after each round: a drawing for each width of a window."""
    rounds = [0, *summary.points_by_round]
    shown = sorted({round(step * (len(rounds) - 1) / MOST_STEPS) for step in range(MOST_STEPS + 1)})
    curves = []
    for entrant in summary.order[:MAX_CURVES]:
        sums = [0.0]
        for points in summary.points_by_round.values():
            sums.append(sums[-1] + float(points.get(entrant, 0)))
        name, short = summary.names[entrant], number(sums[-1])
        curves.append(Curve(name, f"{name}: {short} points", [(rounds[at], sums[at]) for at in shown], short=short))
    top = max((curve.points[-1][1] for curve in curves), default=0.0) or 1.0
    levels = range(0, int(top) + 1, max(1, round(top / 5)))
    return _drawings(curves, Axes(max(rounds[-1], 1), 0.0, top, levels))


def rating_drawings(summary: Summary, entrant: int) -> list[Drawing]:
    """Return an entrant's rating over time with its interval: a drawing for each width; none without results."""
    return _rating_drawings([_rating_curve("", summary.rating_history[entrant])])


def ratings_drawings(summary: Summary) -> list[Drawing]:
    """Return the ratings of the entrants over time with their intervals: a drawing for each width of a window."""
    entrants = summary.order[:MAX_CURVES]
    return _rating_drawings(
        [_rating_curve(summary.names[entrant], summary.rating_history[entrant]) for entrant in entrants]
    )


def _rating_curve(name: str, history: Sequence[RatedAfter]) -> Curve:
    last, points = history[-1], [(after.encounters, after.rating) for after in history]
    rating_text = f"{last.rating:.0f} ± {last.error:.0f} after {last.encounters} results"
    errors = [after.error for after in history]
    short = f"{last.rating:.0f}" if name else f"{last.rating:.0f} ± {last.error:.0f}"
    return Curve(name, f"{name}: {rating_text}" if name else rating_text, points, errors, short)


def _rating_drawings(curves: Sequence[Curve]) -> list[Drawing]:
    """Draw ratings; an entrant that has met nobody has no curve. Intervals may be wider than the drawing.

    If all intervals are shown, the last of each curve is whole.
    """
    met = [curve for curve in curves if len(curve.points) > 1]
    if not met:
        return []
    values = [value for curve in met for _, value in curve.points]
    if len(met) <= FEW:
        values += [curve.points[-1][1] + side * curve.errors[-1] for curve in met for side in (-1, 1)]
    low, high = int(min(values) // 100 * 100), int(max(values) // 100 * 100 + 100)
    step = next(step for step in STEPS if (high - low) / step <= MOST_LEVELS)
    levels = range(-(-low // step) * step, high + 1, step)
    return _drawings(met, Axes(max(curve.points[-1][0] for curve in met), low, high, levels))


def _drawings(curves: Sequence[Curve], axes: Axes) -> list[Drawing]:
    return [_drawing(shape, curves, axes) for shape in SHAPES]


def _drawing(shape: Shape, curves: Sequence[Curve], axes: Axes) -> Drawing:
    lines = [[_place(shape, axes, at, value) for at, value in curve.points] for curve in curves]
    label_ys = _place_labels(shape, lines)
    traces = []
    for at, (curve, line, label_y) in enumerate(zip(curves, lines, label_ys, strict=True)):
        label = f"{curve.name} {curve.short}".strip()
        x, y = line[-1]
        to_label = f"M{x} {y}L{shape.right + 10} {label_y}"
        traces.append(
            Trace(
                points=line,
                band=_band(shape, axes, curve),
                label=label,
                label_scale=round(min(shape.room / max(_width(label), 1), 1), 3),
                label_y=label_y,
                lead=f"M{shape.left} {label_y}h{SAMPLE}" if shape.labels_below else to_label,
                told=curve.told,
                is_quiet=at >= MOST_LABELS,
            )
        )
    levels = [(_place(shape, axes, 0, level)[1], level) for level in axes.levels]
    step = max(1, axes.last // shape.marks)
    marks = [(x, at) for at in range(0, axes.last + 1, step) if (x := shape.x(at / axes.last)) <= shape.right - UNIT]
    rows = min(len(curves), MOST_LABELS + 1) if shape.labels_below else 0
    return Drawing(shape, shape.height + rows * GAP, levels, marks, traces, shows_bands=len(curves) <= FEW)


def _place_labels(shape: Shape, lines: Sequence[Sequence[tuple[float, float]]]) -> list[float]:
    """Return how far down the label of each curve is; all that are named only when pointed at share one place below."""
    if shape.labels_below:
        return [shape.height + GAP * (min(at, MOST_LABELS) + 0.5) for at in range(len(lines))]
    label_ys = [min(max(line[-1][1], HIGHEST), shape.height - BOTTOM) for line in lines]
    label_ys[:MOST_LABELS] = _spread(label_ys[:MOST_LABELS], shape.height - BOTTOM)
    return [round(label_y, 1) for label_y in label_ys]


def _place(shape: Shape, axes: Axes, at: int, value: float) -> tuple[float, float]:
    return shape.x(at / axes.last), shape.y((value - axes.low) / (axes.high - axes.low))


def _band(shape: Shape, axes: Axes, curve: Curve) -> list[tuple[int, int]]:
    """Return the corners of a curve's interval: along its upper side, and back along the lower one."""
    points = list(zip(curve.points, curve.errors, strict=False))
    upper = [(at, value + error) for (at, value), error in points]
    lower = [(at, value - error) for (at, value), error in points]
    corners = (_place(shape, axes, at, value) for at, value in (*upper, *lower[::-1]))
    return [(round(x), round(y)) for x, y in corners]  # a line is fine, a band need not be


def _width(label: str) -> float:
    """Return how wide a label is at most, in the widest letters that browsers have for it."""
    return LETTER * sum(1.0 if sign in "MW@%mw" or sign > "~" else 0.8 if sign.isupper() else 0.62 for sign in label)


def _spread(wanted: Sequence[float], lowest: float) -> list[float]:
    """Return places for labels as near as possible to the wanted ones, without overlaps and none too low."""
    # Labels push each other apart, a pair at a time, as often as there are labels. What is still out of bounds is then
    # moved in from the top and from the bottom.
    order = sorted(range(len(wanted)), key=lambda label: (wanted[label], label))
    places = [wanted[label] for label in order]
    for _ in order:
        for upper, lower in pairwise(range(len(places))):
            over = GAP - (places[lower] - places[upper])
            if over > 0:
                places[upper] -= over / 2
                places[lower] += over / 2
    for at, place in enumerate(places):
        places[at] = max(place, HIGHEST if not at else places[at - 1] + GAP)
    for at in reversed(range(len(places))):
        places[at] = min(places[at], lowest if at == len(places) - 1 else places[at + 1] - GAP)
    return [places[order.index(label)] for label in range(len(wanted))]
