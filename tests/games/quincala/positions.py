"""Small positions and short moves for the tests of Quincala Mixing."""

from collections.abc import Mapping
from typing import Any

from referee.games.base import IllegalMove
from referee.games.quincala.game import Leg, Move, Place, QuincalaGame, Stop
from referee.games.quincala.turns import State

GAME = QuincalaGame()
Dot = tuple[int, int]
Towers = Mapping[Dot, str]
"""(row, column) -> the names of the pieces there, with spaces between."""
STOP = Stop()


def position(towers: Towers, *, options: Mapping[str, Any] | None = None, **rest: Any) -> State:
    """Return the state of a position; by default with 5 sizes and White to move."""
    rest["immune"] = [[*dot, pieces.split()] for dot, pieces in rest.get("immune", {}).items()]
    board = [[*dot, pieces.split()] for dot, pieces in towers.items()]
    return GAME.restore(GAME.parse_options(dict(options or {})), {"board": board, **rest})


def leg(row: int, column: int, end_row: int, end_column: int) -> Leg:
    """Return a leg."""
    return Leg((row, column), (end_row, end_column))


def place(piece: str, row: int, column: int) -> Place:
    """Return a placing."""
    return Place(piece, (row, column))


def played(state: State, *moves: Move) -> State:
    """Return the state after moves; each must also be listed as legal."""
    for move in moves:
        assert move in GAME.legal_moves(state)
        state = GAME.deliver(GAME.play(state, move))
        GAME.check_invariants(state)
    return state


def broken_rule(state: State, move: Move) -> str | None:
    """Return the rule that a move breaks. The state stays as it is, and the list of legal moves agrees."""
    before = repr(state)
    broken = None
    try:
        GAME.play(state, move)
    except IllegalMove as error:
        broken = error
    assert before == repr(state)
    assert broken is None or (broken.rule_id in GAME.rules and broken.detail)
    assert (broken is None) == (move in GAME.legal_moves(state))
    return None if broken is None else broken.rule_id


def towers(state: State) -> dict[Dot, str]:
    """Return the tower on each dot, from its smallest piece."""
    return {(spot.row, spot.column): " ".join(spot.pieces) for spot in GAME.view(state, 0).board}


def hands(state: State) -> list[str]:
    """Return what each seat holds."""
    return [" ".join(hand) for hand in GAME.view(state, 0).hands]
