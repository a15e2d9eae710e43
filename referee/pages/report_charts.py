"""Computes what the drawings of a report show: ratings with their intervals, points by round, the bracket.

Where each line and label goes is decided here; templates/report_charts.html and report_sections.html draw them.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..pairing.base import Pairing, PlayedPairing
from ..tournament.ratings.elo import Rating
from .encounters import rated_superiority
from .summary import Summary
from .words import number

MOST_LINES = 8
"""Entrants whose points are drawn; more lines can't be told apart."""
MOST_STEPS = 60
"""Points of a line; with more rounds, some are left out."""
TOP, BOTTOM = 14, 34
"""Room above and below the lines, in a drawing's own units."""
GAP = 18
"""Between two labels."""
HIGHEST = 11
"""Where a label can be and is still whole."""


class RatingBar(NamedTuple):
    """A rating, and where it, its interval and the mean of all lie on a line from 0 to 100."""

    rating: Rating
    superiority: float | None
    """How likely it is stronger than the next one; None: there is none that it can be compared with."""
    start: float
    middle: float
    end: float
    mean: float


class Shape(NamedTuple):
    """How large a drawing is, in its own units: text that is to be read can't shrink with the window."""

    name: str
    width: int
    right: int
    """Where the lines end, and the labels begin."""
    label_chars: int
    marks: int
    """Numbers along the lower axis."""
    left: int = 44
    height: int = 330

    def x(self, share: float) -> float:
        """Return where a share of all rounds lies."""
        return round(self.left + share * (self.right - self.left), 1)

    def y(self, share: float) -> float:
        """Return where a share of the most points lies."""
        return round(self.height - BOTTOM - share * (self.height - TOP - BOTTOM), 1)


class Trace(NamedTuple):
    """The line of one entrant's points."""

    points: list[tuple[float, float]]
    label: str
    label_y: float


class Drawing(NamedTuple):
    """Points by round, drawn in one shape."""

    shape: Shape
    levels: list[tuple[float, int]]
    """Numbers along the left axis, with their places."""
    rounds: list[tuple[float, int]]
    """Numbers along the lower axis, with their places."""
    traces: list[Trace]


class Box(NamedTuple):
    """A match of a bracket."""

    pairing: Pairing
    played: PlayedPairing | None
    """None: it is still to be played."""


SHAPES = (Shape("broad", 900, 710, 24, 10), Shape("slim", 400, 260, 16, 5))
"""A page shows the one that suits its window."""


def rating_bars(summary: Summary) -> list[RatingBar]:
    """Return everybody's rating with its 95 % interval, the strongest first; groups that never met stand apart."""
    ratings = sorted(summary.ratings, key=lambda rating: (rating.group, -rating.rating))
    low = min(rating.rating - rating.error for rating in ratings)
    high = max(rating.rating + rating.error for rating in ratings)
    return [
        RatingBar(
            found,
            None if after is None else rated_superiority(found, after),
            *(
                round(100 * (value - low) / max(high - low, 1.0), 2)
                for value in (found.rating - found.error, found.rating, found.rating + found.error, 1500)
            ),
        )
        for found, after in zip(ratings, (*ratings[1:], None), strict=True)
    ]


def points_drawings(summary: Summary) -> list[Drawing]:
    """Return the points of the first entrants after each round, as lines: a drawing for each width of a window."""
    lines = {summary.names[entrant]: [0.0] for entrant in summary.order[:MOST_LINES]}
    for points in summary.points_by_round.values():
        for entrant, line in zip(summary.order, lines.values(), strict=False):
            line.append(line[-1] + float(points.get(entrant, 0)))
    return [_drawing(shape, [0, *summary.points_by_round], lines) for shape in SHAPES]


def rating_drawings(summary: Summary, entrant: int) -> list[Drawing]:
    """Return an entrant's rating over time as a line: a drawing for each width of a window; none without results."""
    return _rating_drawings({"": _course(summary, entrant)})


def ratings_drawings(summary: Summary) -> list[Drawing]:
    """Return the ratings of the first entrants over time as lines: a drawing for each width of a window."""
    return _rating_drawings(
        {summary.names[entrant]: _course(summary, entrant) for entrant in summary.order[:MOST_LINES]}
    )


def _course(summary: Summary, entrant: int) -> Sequence[tuple[int, float]]:
    return summary.encounters.course(entrant, [rating.rating for rating in summary.ratings])


def _rating_drawings(courses: Mapping[str, Sequence[tuple[int, float]]]) -> list[Drawing]:
    """Draw name -> encounters so far and the rating after them; who has met nobody has no line."""
    told = {name: course for name, course in courses.items() if len(course) > 1}
    values = [value for course in told.values() for _, value in course]
    if not told:
        return []
    low, high = min(values) // 100 * 100, max(values) // 100 * 100 + 100
    return [_rating_drawing(shape, told, low, high) for shape in SHAPES]


def _rating_drawing(
    shape: Shape, courses: Mapping[str, Sequence[tuple[int, float]]], low: float, high: float
) -> Drawing:
    last = max(course[-1][0] for course in courses.values())
    lines = [
        [(shape.x(count / last), shape.y((value - low) / (high - low))) for count, value in course]
        for course in courses.values()
    ]
    label_ys = _spread([points[-1][1] for points in lines], shape.height - BOTTOM)
    traces = [
        Trace(points, f"{_shortened(name, shape.label_chars)} {course[-1][1]:.0f}".strip(), round(label_y, 1))
        for (name, course), points, label_y in zip(courses.items(), lines, label_ys, strict=True)
    ]
    step = max(100, round((high - low) / 500) * 100)
    levels = [(shape.y((level - low) / (high - low)), level) for level in range(int(low), int(high) + 1, step)]
    marks = [(shape.x(at / last), at) for at in range(0, last + 1, max(1, last // shape.marks))]
    return Drawing(shape, levels, marks, traces)


def _drawing(shape: Shape, rounds: Sequence[int], lines: Mapping[str, Sequence[float]]) -> Drawing:
    top = max((points[-1] for points in lines.values()), default=0.0) or 1.0
    last = len(rounds) - 1
    kept = sorted({round(step * last / MOST_STEPS) for step in range(MOST_STEPS + 1)})
    label_ys = _spread([shape.y(points[-1] / top) for points in lines.values()], shape.height - BOTTOM)
    traces = [
        Trace(
            [(shape.x(at / (last or 1)), shape.y(points[at] / top)) for at in kept],
            f"{_shortened(name, shape.label_chars)} {number(points[-1])}",
            round(label_y, 1),
        )
        for (name, points), label_y in zip(lines.items(), label_ys, strict=True)
    ]
    levels = [(shape.y(points / top), points) for points in range(0, int(top) + 1, max(1, round(top / 5)))]
    marks = [(shape.x(at / (last or 1)), rounds[at]) for at in range(0, last + 1, max(1, last // shape.marks))]
    return Drawing(shape, levels, marks, traces)


def _shortened(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _spread(wanted: Sequence[float], lowest: float) -> list[float]:
    """Return places for labels as near as may be to where they are wanted, none over another and none too low."""
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


def bracket(summary: Summary) -> list[list[Box]]:
    """Return a knockout, a column for each round, every match beside the one that its winner went on to."""
    boxes = {_key(played.pairing): Box(played.pairing, played) for played in summary.history.played}
    for pairing in summary.tournament.due:
        boxes.setdefault(_key(pairing), Box(pairing, None))
    columns: list[list[Box]] = []
    after: list[Box] = []
    for round_ in sorted({box.pairing.round for box in boxes.values()}, reverse=True):
        after = _in_order([box for box in boxes.values() if box.pairing.round == round_], after)
        columns.append(after)
    return columns[::-1]


def _key(pairing: Pairing) -> tuple[int, frozenset[int]]:
    return pairing.round, frozenset(pairing.seats)


def _in_order(boxes: Sequence[Box], after: Sequence[Box]) -> list[Box]:
    """Put the matches of a round in the order in which the next one needs them; of the last, the final is first."""
    seats = [seat for box in after for seat in box.pairing.seats]
    where = {entrant: at for at, entrant in enumerate(seats)}

    def _order(box: Box) -> tuple[int, bool, int]:
        first = min(where.get(seat, len(seats)) for seat in box.pairing.seats)
        return first, box.pairing.table == "third place", box.pairing.number

    return sorted(boxes, key=_order)
