"""Squares, dominoes and lines of Quincy."""

# A set of squares is one integer with a bit for each square: bit 10 * (row - 1) + (column - 1). The tenth bit of every
# row is always clear. So a shift never carries a stone from one edge of the board to the other, and every question
# costs a few shifts, however many stones there are.

from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal, TypeVar

T = TypeVar("T")

SIZE = 9
"""Number of rows, and of columns; both are numbered from 1."""
LINE = 4
"""Number of stones of the shortest line."""
LINES_TO_WIN = 2

Domino = tuple[int, int]
"""(end, end), the smaller end first; 0 is a blank."""
Square = tuple[int, int]
"""(row, column), 1 to 9 each; row 1 is the top one, column 1 the left one."""
Squares = int
"""A set of squares; the comment at the top of this module says how it is stored."""
Pair = tuple[Squares, Squares]
"""The squares of each team; a seat's team is the seat modulo 2."""
Stone = Literal["A", "B"]
"""`A` for the stones of seat 0 and its partner, seat 2; `B` for those of seat 1 and its partner, seat 3."""
STONES: tuple[Stone, Stone] = ("A", "B")
"""Stones by team."""

DOMINOES: tuple[Domino, ...] = tuple((low, high) for low in range(10) for high in range(low, 10))
"""The double-nine set; elsewhere a domino is written as its index in this tuple."""
NUMBERS = {ends: number for number, (low, high) in enumerate(DOMINOES) for ends in ((low, high), (high, low))}
"""Domino, with its ends in either order -> its index in DOMINOES."""
ALL_DOMINOES = tuple(range(len(DOMINOES)))
SQUARES: tuple[Square, ...] = tuple((row, column) for row in range(1, SIZE + 1) for column in range(1, SIZE + 1))
BITS: dict[Square, Squares] = {(row, column): 1 << (10 * row + column - 11) for row, column in SQUARES}

ROW: Squares = (1 << SIZE) - 1
"""The topmost row."""
_STEPS = (1, 10, 11, 9)
"""Distances in bits to the next square of a row, of a column, of a diagonal down to the right and to the left."""


def _reach(domino: Domino) -> Squares:
    """Return the squares that a domino names.

    Source: Quincy, Game Mechanics.
    """
    low, high = domino
    if low:
        return BITS[low, high] | BITS[high, low]
    return sum(bit for square, bit in BITS.items() if high in square or not high)


REACH: tuple[Squares, ...] = tuple(map(_reach, DOMINOES))
"""By domino, the squares on which it may add a stone. A domino with a blank may also remove a stone there."""
IS_WILD: tuple[bool, ...] = tuple(not low for low, _ in DOMINOES)
"""Flags by domino, true for a domino with a blank."""


def map_reach(make: Callable[[Domino, Square], T]) -> tuple[tuple[tuple[Squares, T], ...], ...]:
    """Return, by domino, a pair for each square that it names: the square's bit, and `make(domino, square)`."""
    return tuple(
        tuple((bit, make(domino, square)) for square, bit in BITS.items() if bit & reach)
        for domino, reach in zip(DOMINOES, REACH, strict=True)
    )


def write_rows(stones: Pair) -> tuple[str, ...]:
    """Return the board as nine strings: `.` for an empty square, else a stone."""
    first, second = stones
    return tuple([_write_row(first >> shift & ROW, second >> shift & ROW) for shift in range(0, 10 * SIZE, 10)])


@cache
def _write_row(first: int, second: int) -> str:
    """Return one row of the board in signs; 3 ** 9 rows are possible, so the cache stays small."""
    return "".join("A" if first >> at & 1 else "B" if second >> at & 1 else "." for at in range(SIZE))


def read_rows(rows: Sequence[str]) -> Pair:
    """Return the stones of a board that is given as nine strings."""
    signs = "".join(rows)
    first, second = (
        sum(bit for bit, sign in zip(BITS.values(), signs, strict=True) if sign == stone) for stone in STONES
    )
    return first, second


def list_squares(squares: Squares) -> list[Square]:
    """Return the squares of a set, row by row."""
    return [square for square, bit in BITS.items() if bit & squares]


def survey(stones: Squares) -> tuple[Squares, int]:
    """Find the lines that the stones of one team form.

    On each square of `fours`, four stones in a row begin. A longer run has several such squares, next to each other.
    So the gaps between these squares show how many lines there are in one direction.

    Returns:
        The squares of all lines together, and the number of lines. A line is a straight run of 4 or more stones that
        can't be extended; each direction is counted separately.

    Source: Quincy, Object of the Game. A run of 8 or 9 stones is one line.
    """
    squares = count = 0
    for step in _STEPS:
        pairs = stones & stones >> step
        # Two pairs, the second two squares after the first, make four in a row. This takes two shifts; to compare four
        # squares takes three. The tenth bit of each row, which is always clear, ends every run at the edge.
        fours = pairs & pairs >> 2 * step
        if fours:
            count += _firsts(fours, step).bit_count()
            pairs = fours | fours << step
            squares |= pairs | pairs << 2 * step
    return squares, count


def _firsts(fours: Squares, step: int) -> Squares:
    """Return the first square of every line of one direction."""
    return fours & ~(fours << step)


def lines(stones: Squares) -> list[list[Square]]:
    """Return the squares of every line, each line from its top or left end on."""
    all_lines = []
    for step in _STEPS:
        pairs = stones & stones >> step
        firsts = _firsts(pairs & pairs >> 2 * step, step)
        if firsts:
            all_lines += [list_squares(_run(stones, bit, step)) for bit in BITS.values() if bit & firsts]
    return all_lines


def _run(stones: Squares, bit: Squares, step: int) -> Squares:
    """Return the squares of a run of stones.

    Args:
        stones: the stones of one team.
        bit: the first square of the run.
        step: the distance in bits to the next square.
    """
    run = 0
    while bit & stones:
        run |= bit
        bit <<= step
    return run
