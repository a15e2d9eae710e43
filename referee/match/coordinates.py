"""The hint for an author whose program counts rows and columns in another way than the referee.

Beginners most often count from 1, or write the column before the row. Such a move looks right to its author, so the
referee tries these mistakes out and names the one that explains the bad move.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from ..errors import BadMove
from ..games.base import Game

WOULD_BE_LEGAL = "the move would be legal"
"""Phrase that every hint contains."""


def add_hint(detail: str, game: Game[Any, Any, Any], state: Any, move: Any) -> str:
    """Add a hint to the description of a bad move, if a change of its coordinates makes the move legal.

    Args:
        detail: what is wrong with the move.
        game: the game.
        state: the state in which the move is bad.
        move: the bad move, as the player sent it.

    Returns:
        The description with the hint, or the description alone.
    """
    for words, change in _CHANGES.items():
        for changed in _change_coordinates(move, change):
            with suppress(BadMove):
                game.play(state, game.parse_move(changed))
                return f"{detail}; with {words} {WOULD_BE_LEGAL}"
    return detail


def _change_coordinates(move: Any, change: Callable[[int, int], tuple[int, int]]) -> Iterator[Any]:
    """Yield the move with all its coordinates changed, then with the coordinates of only one key changed.

    Changing everything can be wrong, because a pair of numbers need not be a place: a domino of Quincy is also a pair.
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
"""Description of a change -> the function that applies it to one place. The most likely mistake comes first."""
