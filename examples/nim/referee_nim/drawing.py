"""Draws the heaps of Nim as SVG, with one element on each line: pages of many boards store equal lines once."""

from collections.abc import Sequence

_STEP = 20


def draw_svg(heaps: Sequence[int]) -> str:
    """Return one SVG document: the names of the seats, and a row of dots for each heap."""
    width, height = 22 * _STEP, (len(heaps) + 3) * _STEP
    names = [
        f'<text x="{_STEP + seat * width // 2}" y="{_STEP}" font-size="14" data-seat="{seat}">seat {seat}</text>'
        for seat in range(2)
    ]
    dots = [
        f'<circle cx="{(column + 1) * _STEP}" cy="{(row + 2) * _STEP}" r="7"/>'
        for row, size in enumerate(heaps)
        for column in range(size)
    ]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" fill="currentColor">',
            f'<rect class="ground" width="{width}" height="{height}" fill="#fff"/>',
            *names,
            *dots,
            "</svg>",
        )
    )
