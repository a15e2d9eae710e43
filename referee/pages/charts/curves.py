"""Computes curves over rounds and matches: points, and ratings with their intervals.

This module decides the position of each line, band and label; templates/report_charts.html draws them.
"""

# No library draws the SVG. A page must work without any other file, its text must scale and be readable for a screen
# reader, and its colours must follow the reader's theme. A curve needs only a path and a label. The one hard part is to
# place the labels so that they do not overlap (`_spread`).

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ..encounters import RatedAfter
from ..summary import Summary
from ..words import number

MOST_LABELS = 8
"""Most curves that have a visible label; the label of any other curve appears when the reader points at the curve."""
MAX_CURVES = 64
"""Most entrants that have a curve; nobody could follow one curve among more."""
MOST_STEPS = 60
"""Most points of a line; if there are more rounds, some are left out."""
FEW = 4
"""Most curves whose intervals are all shown; with more curves, only one interval is shown at a time."""
STEPS = (100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000)
"""Possible differences between two numbers along the axis of ratings."""
MOST_LEVELS = 6
"""Most spaces between the numbers along the axis of ratings."""
TOP, BOTTOM = 14, 34
"""Space above and below the lines, in units of the drawing, like all lengths here."""
LEAD = 16
"""Space between the end of the lines and the labels."""
LETTER = 16
"""Width of the widest letter, in bold."""
SAMPLE = 26
"""Length of the sample of a line before its name in the list below a drawing."""
UNIT = 70
"""Space for the unit at the end of the lower axis."""
GAP = 18
"""Distance between two labels."""
HIGHEST = 11
"""Smallest y of a label that is not cut off at the top."""


class Shape(NamedTuple):
    """Size of a drawing in its own units. There are two shapes, because shrunk text would be unreadable."""

    name: str
    width: int
    right: int
    """Largest x of the lines."""
    marks: int
    """Number of marks along the lower axis."""
    labels_below: bool = False
    """True if the labels form a list below the axis; otherwise each label is next to the end of its line."""
    left: int = 52
    height: int = 330

    @property
    def label_x(self) -> int:
        """Smallest x of the labels."""
        return self.left + SAMPLE + 8 if self.labels_below else self.right + LEAD - 2

    @property
    def room(self) -> int:
        """Largest width of a label."""
        return self.width - self.label_x - 2

    def x(self, share: float) -> float:
        """Return the x of a share of all rounds."""
        return round(self.left + share * (self.right - self.left), 1)

    def y(self, share: float) -> float:
        """Return the y of a share of the height; values outside of 0 to 1 lie at the edge."""
        return round(self.height - BOTTOM - min(max(share, 0.0), 1.0) * (self.height - TOP - BOTTOM), 1)


class Curve(NamedTuple):
    """Values of one entrant."""

    name: str
    """Name of the entrant; empty if the drawing shows only this entrant."""
    told: str
    """Last value of the curve, in words."""
    points: Sequence[tuple[int, float]]
    """Pairs: a number of rounds or results, and the value after them."""
    errors: Sequence[float] = ()
    """Half the width of the 95 % interval of each point; empty if there are no intervals."""
    short: str = ""
    """Last value of the curve, as short text for the label."""


class Axes(NamedTuple):
    """Range of a drawing."""

    last: int
    """Last round or result; the axis begins at 0."""
    low: float
    high: float
    levels: Sequence[int]
    """Values with a mark on the left axis."""


class Trace(NamedTuple):
    """The curve of one entrant in a drawing."""

    points: list[tuple[float, float]]
    band: list[tuple[int, int]]
    """Corners of the curve's interval; empty if it has none."""
    label: str
    label_scale: float
    """Factor by which the label is made smaller, so that it is not cut off; 1 if it fits."""
    label_y: float
    lead: str
    """Path of the line from the curve to its label, or of the sample of the curve before its label."""
    told: str
    is_quiet: bool
    """True if the label appears only when the reader points at the curve."""


class Drawing(NamedTuple):
    """Curves, drawn in one shape."""

    shape: Shape
    height: int
    """Height, including the list of labels below, if there is one."""
    levels: list[tuple[float, int]]
    """Marks of the left axis: y and number."""
    marks: list[tuple[float, int]]
    """Marks of the lower axis: x and number."""
    traces: list[Trace]
    shows_bands: bool
    """True if all intervals are shown; false if only the curve that the reader points at shows its interval."""


SHAPES = (Shape("broad", 900, 630, 10), Shape("slim", 400, 384, 6, labels_below=True))
"""A page shows the shape that fits its window."""


def points_drawings(summary: Summary) -> list[Drawing]:
    """Return the drawings of the entrants' points after each round, one for each shape."""
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
    """Return the drawings of an entrant's rating over time, one for each shape; empty without results."""
    return _rating_drawings([_rating_curve("", summary.rating_history[entrant])])


def ratings_drawings(summary: Summary) -> list[Drawing]:
    """Return the drawings of all entrants' ratings over time, one for each shape."""
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
    """Return the drawings of ratings. Entrants without results have no curve. Intervals may be cut off.

    If all intervals are shown, the last interval of each curve is whole.
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
    """Return the y of each curve's label. Below a drawing, all labels that are hidden at first share one place."""
    if shape.labels_below:
        return [shape.height + GAP * (min(at, MOST_LABELS) + 0.5) for at in range(len(lines))]
    label_ys = [min(max(line[-1][1], HIGHEST), shape.height - BOTTOM) for line in lines]
    label_ys[:MOST_LABELS] = _spread(label_ys[:MOST_LABELS], shape.height - BOTTOM)
    return [round(label_y, 1) for label_y in label_ys]


def _place(shape: Shape, axes: Axes, at: int, value: float) -> tuple[float, float]:
    return shape.x(at / axes.last), shape.y((value - axes.low) / (axes.high - axes.low))


def _band(shape: Shape, axes: Axes, curve: Curve) -> list[tuple[int, int]]:
    """Return the corners of a curve's interval: along its upper side, and back along its lower side."""
    points = list(zip(curve.points, curve.errors, strict=False))
    upper = [(at, value + error) for (at, value), error in points]
    lower = [(at, value - error) for (at, value), error in points]
    corners = (_place(shape, axes, at, value) for at, value in (*upper, *lower[::-1]))
    return [(round(x), round(y)) for x, y in corners]  # whole numbers are exact enough for a band


def _width(label: str) -> float:
    """Return the largest width that a label can have in any browser's font."""
    return LETTER * sum(1.0 if sign in "MW@%mw" or sign > "~" else 0.8 if sign.isupper() else 0.62 for sign in label)


def _spread(wanted: Sequence[float], lowest: float) -> list[float]:
    """Return the y of labels: as near as possible to the wanted values, without overlaps, and none below `lowest`."""
    # Neighbouring labels push each other apart, in as many passes as there are labels. Then labels that are out of
    # bounds are moved inside, first from the top, then from the bottom.
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
