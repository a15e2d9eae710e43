"""Draws the progress of a player that learns, as an SVG file for any browser."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 640, 320
"""Size of the drawing in pixels."""
LEFT, RIGHT, TOP, BOTTOM = 56, 520, 40, 276
"""Edges of the part with the curves, in pixels."""
COLOURS = ("#1f5fa8", "#b4441c", "#2c7a3f")


class Mark(NamedTuple):
    """Result of one test."""

    seconds: float
    """Processor time since the start."""
    reward: float
    """Mean reward, from -1 to 1."""
    error: float
    """Half the width of its 95 % interval."""


def draw_curves(title: str, curves: Mapping[str, Sequence[Mark]]) -> str:
    """Return an SVG document with a curve and its interval for each opponent.

    Args:
        title: title of the drawing.
        curves: name of an opponent -> the tests against it, the first one first.
    """
    most = max(mark.seconds for marks in curves.values() for mark in marks)

    def place(seconds: float, reward: float) -> str:
        x = LEFT + seconds / most * (RIGHT - LEFT)
        y = (TOP + BOTTOM) / 2 - min(max(reward, -1), 1) * (BOTTOM - TOP) / 2
        return f"{x:.1f},{y:.1f}"

    parts = [f'<text x="{LEFT}" y="22" font-size="15">{title}: mean reward in processor time</text>']
    for reward, label in ((-1, "-1"), (-0.5, "-0.5"), (0, "0"), (0.5, "+0.5"), (1, "+1")):
        x, y = place(0, reward).split(",")
        parts.append(f'<line x1="{x}" y1="{y}" x2="{RIGHT}" y2="{y}" stroke="#ccc"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{float(y) + 4}" text-anchor="end">{label}</text>')
    for seconds in (0, most / 2, most):
        x = place(seconds, 0).split(",")[0]
        parts.append(f'<text x="{x}" y="{BOTTOM + 20}" text-anchor="middle">{seconds:.0f} s</text>')
    ends = []
    for colour, (name, marks) in zip(COLOURS, curves.items(), strict=False):
        above = [place(mark.seconds, mark.reward + mark.error) for mark in marks]
        below = [place(mark.seconds, mark.reward - mark.error) for mark in reversed(marks)]
        line = " ".join(place(mark.seconds, mark.reward) for mark in marks)
        parts.append(f'<polygon points="{" ".join(above + below)}" fill="{colour}" opacity=".15"/>')
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        ends.append((float(place(marks[-1].seconds, marks[-1].reward).split(",")[1]), colour, name, marks[-1].reward))
    lowest = 0.0
    for end, colour, name, reward in sorted(ends):
        lowest = max(end + 4, lowest + 14)  # labels do not overlap
        parts.append(f'<text x="{RIGHT + 8}" y="{lowest:.1f}" fill="{colour}">{reward:+.2f} {name}</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    style = 'font-family="system-ui,DejaVu Sans,sans-serif" font-size="12"'
    return "\n".join(
        (f"{head} {style}>", f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', *parts, "</svg>", "")
    )
