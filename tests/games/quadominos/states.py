"""Positions of Quad-Ominos for tests, in a short form."""

from collections.abc import Sequence
from typing import Any

from referee import chance
from referee.games.base import IllegalMove
from referee.games.quadominos.forms import Lay
from referee.games.quadominos.game import QuadOminos
from referee.games.quadominos.rounds import State
from referee.games.quadominos.tiles import TILES

GAME = QuadOminos()
Spot = tuple[int, int, str]
"""Row, column, and the numbers as they lie."""
POINTS = {"action": "points"}
DONE = {"action": "done"}
ONE: tuple[Spot, ...] = ((0, 0, "0224"),)
"""The sample of the article."""
CORNER: tuple[Spot, ...] = ((0, 0, "0120"), (0, 1, "1122"), (1, 0, "0234"))
"""Three tiles around row 1, column 1, where 2223 and 2233 fit."""
BAY: tuple[Spot, ...] = (*CORNER, (0, 2, "1222"), (1, 2, "2242"))
"""CORNER with one more side: on row 1, column 1, only 2223 fits."""
ARC: tuple[Spot, ...] = ((0, 0, "3351"), (0, 1, "3345"), (0, 2, "3344"), (1, 2, "4423"), (2, 2, "3233"), (2, 1, "0335"))
"""On row 1, column 0, only the corner at the bottom right meets a diagonal neighbour."""
ZEROS: tuple[Spot, ...] = ((0, 0, "0000"),)
TWO_QUADS = [["5555", "0000", "0001", "0055", "0555"], ["4444", "0002", "0011"]]
"""Hands, of which the first can open with one of two quads."""


def position(
    *hands: Sequence[str], board: Sequence[Spot] = ONE, well: Sequence[str] = (), scores: Sequence[int] = ()
) -> dict[str, Any]:
    """Return a plain position; the first hand is to move."""
    points = [*scores, *([0] * len(hands))]
    players = [{"score": points[seat], "hand": list(hand)} for seat, hand in enumerate(hands)]
    return {"board": [list(spot) for spot in board], "well": list(well), "players": players}


def state_of(
    *hands: Sequence[str],
    board: Sequence[Spot] = ONE,
    well: Sequence[str] = (),
    scores: Sequence[int] = (),
    **options: Any,
) -> State:
    """Return the state of a position."""
    return GAME.restore(GAME.parse_options(options), position(*hands, board=board, well=well, scores=scores))


def dealt(number: int, seats: int, **options: Any) -> State:
    """Return a new game; the number selects the deal."""
    return GAME.new(GAME.parse_options(options), seats, chance.Dealer(chance.seed_from_number(number)))


def lay(row: int, column: int, tile: str) -> dict[str, Any]:
    """Return a plain move."""
    return {"action": "lay", "row": row, "column": column, "tile": tile}


HIGHEST, ZERO = lay(0, 0, "5555"), lay(0, 0, "0000")
"""Moves that may open TWO_QUADS."""


def played(state: State, *moves: dict[str, Any]) -> State:
    """Return the state after plain moves."""
    for raw in moves:
        state = GAME.deliver(GAME.play(state, GAME.parse_move(raw)))
    return state


def held(state: State, seat: int) -> list[str]:
    """Return the tiles of a hand."""
    return [TILES[tile] for tile in state.hands[seat]]


def lays_of(state: State) -> list[Spot]:
    """Return the legal tiles with their places, in order."""
    moves = GAME.legal_moves(state)
    return sorted((move.row, move.column, move.tile) for move in moves if isinstance(move, Lay))


def broken_rule(state: State, raw: dict[str, Any]) -> str | None:
    """Return the id of the rule that a move breaks; None if it is legal. The state stays as it was."""
    before = repr(state)
    try:
        GAME.play(state, GAME.parse_move(raw))
    except IllegalMove as error:
        return error.rule_id
    finally:
        assert before == repr(state)
    return None


def happened(state: State, raw: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what everybody is told of a move."""
    events: list[dict[str, Any]] = GAME.news(GAME.play(state, GAME.parse_move(raw))).public["events"]
    return events
