"""Makes drawings of games fit for a file or a page: the players' names in them, and equal lines kept once."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TypeVar

from ..text import printable

T = TypeVar("T")

MAX_CHARS = 20
"""Of a name in a drawing: as many as the protocol lets a name have; a forged record may tell longer ones."""
_STAND_IN = re.compile(r'(<text\b[^<>]*\bdata-seat="(\d{1,2})"[^<>]*>)[^<>]*(?=</text>)')


def with_names(svg: str, names: Sequence[str]) -> str:
    """Write the players' names where a drawing has stand-ins for them.

    Args:
        svg: what a game's `draw_svg` returned.
        names: the players by seat.
    """
    short = (name if len(name) <= MAX_CHARS else name[: MAX_CHARS - 1] + "…" for name in map(printable, names))
    by_seat = {str(seat): escape(name) for seat, name in enumerate(short)}
    return _STAND_IN.sub(lambda found: found[1] + by_seat.get(found[2], "?"), svg)


def pooled(texts: Iterable[str | None]) -> tuple[list[str], list[list[int] | None]]:
    """Keep the lines of many texts once each.

    Args:
        texts: drawings of one match, each much like the one before it; None stays None.

    Returns:
        The lines, and for each text `[first, count, first, count...]`: which lines it consists of. A board of which one
        tile changed costs that tile and a few numbers.
    """
    numbers: dict[str, int] = {}
    runs = [
        None if text is None else _runs([numbers.setdefault(line, len(numbers)) for line in text.split("\n")])
        for text in texts
    ]
    return list(numbers), runs


def unpooled(lines: Sequence[T], runs: Sequence[int]) -> Iterator[T]:
    """Yield the lines of a text that were pooled.

    Args:
        lines: of all texts.
        runs: of this one.
    """
    for first, count in zip(runs[::2], runs[1::2], strict=True):
        yield from lines[first : first + count]


def _runs(numbers: Iterable[int]) -> list[int]:
    found: list[int] = []
    for number in numbers:
        if found and number == found[-2] + found[-1]:
            found[-1] += 1
        else:
            found += (number, 1)
    return found
