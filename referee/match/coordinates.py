"""The hint for an author who counts rows and columns in another way than the referee.

To count from another number, or to write the column first, are the mistakes that beginners make most. The view shows
them nothing of it: the move looks right to its author.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from ..errors import BadMove
from ..games.base import Game

WOULD_BE_LEGAL = "the move would be legal"
"""Words of every hint."""


def add_hint(detail: str, game: Game[Any, Any, Any], state: Any, move: Any) -> str:
    """Return what is wrong with a bad move, and which change of its coordinates would make it legal, if one does.

    Args:
        detail: what is wrong.
        game: the game.
        state: the state in which the move is bad.
        move: the move, plain.
    """
    for words, change in _CHANGES.items():
        for changed in _change_coordinates(move, change):
            with suppress(BadMove):
                game.play(state, game.parse_move(changed))
                return f"{detail}; with {words} {WOULD_BE_LEGAL}"
    return detail


def _change_coordinates(move: Any, change: Callable[[int, int], tuple[int, int]]) -> Iterator[Any]:
    """Yield a plain move with all its coordinates changed, then with those of one key only.

    A pair of numbers need not be a place: a domino of Quincy is one, too.
    """
    if not isinstance(move, dict):
        return
    whole = _change(move, change)
    yield whole
    yield from ({**move, key: whole[key]} for key in move if whole[key] != move[key])


def _change(value: Any, change: Callable[[int, int], tuple[int, int]]) -> Any:
    match value:
        case {"row": int(row), "column": int(column), **others}:
            row, column = change(row, column)
            return {**others, "row": row, "column": column}
        case dict():
            return {key: _change(inner, change) for key, inner in value.items()}
        case [int(row), int(column), *rest]:
            return [*change(row, column), *rest]
        case list():
            return [_change(inner, change) for inner in value]
    return value


_CHANGES: dict[str, Callable[[int, int], tuple[int, int]]] = {
    "row and column exchanged": lambda row, column: (column, row),
    "rows and columns one larger": lambda row, column: (row + 1, column + 1),
    "rows and columns one smaller": lambda row, column: (row - 1, column - 1),
    "rows one larger": lambda row, column: (row + 1, column),
    "rows one smaller": lambda row, column: (row - 1, column),
    "columns one larger": lambda row, column: (row, column + 1),
    "columns one smaller": lambda row, column: (row, column - 1),
}
"""Change of coordinates in words -> the same of one place; the most likely mistake first."""
