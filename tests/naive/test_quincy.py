"""Quincy's engine and its naive second implementation agree over random play.

`python -m tests.naive.test_quincy 10000` compares 10000 positions.
"""

import sys
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from referee import chance
from referee.games.base import BadSetup, IllegalMove
from referee.games.quincy.forms import State
from referee.games.quincy.game import QuincyGame
from referee.testing import plain

from . import quincy as naive
from .quincy import Domino, Move, Square, Table

GAME = QuincyGame()
OPTIONS = GAME.parse_options({})
POSITIONS = 2000
"""Number of positions in the regular suite, which take about ten seconds."""


def rows(board: dict[Square, int]) -> list[str]:
    """Return a board as positions and views write it."""
    return ["".join(".AB"[board.get((row, column), -1) + 1] for column in range(1, 10)) for row in range(1, 10)]


def position(
    hands: Sequence[Sequence[Domino]], pile: Sequence[Domino], board: dict[Square, int] | None = None
) -> dict[str, Any]:
    """Return a plain position."""
    return {"board": rows(board or {}), "hands": plain(hands), "pile": plain(pile)}


def sides(
    hands: Sequence[Sequence[Domino]], pile: Sequence[Domino], board: dict[Square, int] | None = None
) -> tuple[State, Table]:
    """Return the same position in both implementations."""
    return GAME.restore(OPTIONS, position(hands, pile, board)), Table(hands, pile, board)


def begun(source: Random) -> tuple[State, Table]:
    """Return a new game, or a crowded position with few dominoes left, in both implementations."""
    seats = source.choice((2, 4))
    if source.random() < 0.4:
        state = GAME.new(OPTIONS, seats, chance.Dealer(source.randbytes(32)))
        dominoes = naive.DOMINOES
        return state, Table(
            [[dominoes[number] for number in hand] for hand in state.hands], [dominoes[n] for n in state.pile]
        )
    while True:
        deck = source.sample(naive.DOMINOES, 55)
        hands = [[deck.pop() for _ in range(source.randint(0, 5))] for _ in range(seats)]
        pile = [deck.pop() for _ in range(source.choice((0, 0, 2, 10)))]
        squares = source.sample(naive.SQUARES, source.randint(0, 81))
        board = {square: source.randint(0, 1) for square in squares}
        counts = [len(naive.lines(board, team)) for team in (0, 1)]
        if max(counts) < 2:
            return sides(hands, pile, board)
        with pytest.raises(BadSetup, match="two lines already"):
            GAME.restore(OPTIONS, position(hands, pile, board))


def guess(source: Random, hand: Sequence[Domino]) -> Move:
    """Return something with the form of a move: mostly a domino of the hand, and any square."""
    low, high = source.choice(hand) if source.random() < 0.9 else source.choice(naive.DOMINOES)
    action = source.choice(("add", "add", "remove", "remove", "discard"))
    if action == "discard":
        return {"action": action, "domino": [low, high]}
    near = [low or source.randint(1, 9), high or source.randint(1, 9)]
    square = near if source.random() < 0.5 else source.choice(naive.SQUARES)
    return {"action": action, "domino": [low, high], "square": source.sample(list(square), 2)}


def is_legal(state: State, move: Move) -> bool:
    """Return whether the engine accepts a move."""
    try:
        GAME.play(state, GAME.parse_move(move))
    except IllegalMove:
        return False
    return True


def compare(state: State, table: Table, source: Random) -> list[Move]:
    """Check that both implementations have the same state and the same next states; return the legal moves."""
    outcome = GAME.outcome(state)
    assert table.is_over == (outcome is not None)
    assert table.winner == state.winner
    view = plain(GAME.view(state, table.turn))
    assert rows(table.board) == view["board"]
    assert plain(table.face_up) == view["face_up"]
    assert len(table.pile) == view["pile"]
    assert plain(sorted(naive.lines(table.board, 0))) == sorted(line(view, "A"))
    assert plain(sorted(naive.lines(table.board, 1))) == sorted(line(view, "B"))
    for seat, hand in enumerate(table.hands):
        assert plain(hand) == plain(GAME.view(state, seat))["hand"]
    if outcome is not None:
        winners = [seat for seat in table.playing if seat % 2 == table.winner]
        assert [int(seat in winners) for seat in range(len(table.hands))] == list(outcome.scores)
        assert sorted(outcome.ranking[0]) == (winners or table.playing)
        return []
    assert table.turn == GAME.to_move(state) == view["order"][0]
    legal = list(table.moves())
    assert sorted(map(str, legal)) == sorted(str(plain(move)) for move in GAME.legal_moves(state))
    for _ in range(12):
        move = guess(source, table.hands[table.turn])
        turned = {**move, "domino": move["domino"][::-1]}
        assert (move in legal) == is_legal(state, move) == is_legal(state, turned)
    return legal


def line(view: Any, stone: str) -> list[Any]:
    """Return the squares of the lines of one stone."""
    return [found["squares"] for found in view["lines"] if found["stone"] == stone]


def compare_games(source: Random, positions: int) -> int:
    """Compare random games until a number of positions were compared.

    Returns:
        How many of the positions were the end of a game.
    """
    compared = ends = 0
    while compared < positions:
        state, table = begun(source)
        while legal := compare(state, table, source):
            compared += 1
            if source.random() < 0.02:
                seat = source.choice(table.playing)
                state = GAME.drop(state, seat)
                table.leave(seat)
                continue
            move = source.choice(legal)
            state = GAME.deliver(GAME.play(state, GAME.parse_move(move)))
            table.play(move)
        compared += 1
        ends += 1
    return ends


def test_both_implementations_agree() -> None:
    """Board, hands, lines, legal moves, refusals, skips, ends and winners are the same in random games."""
    assert compare_games(Random("quincy"), POSITIONS) > 100


def engine_count(state: State, depth: int) -> int:
    """Return the number of sequences of `depth` moves; a game that ends earlier counts once."""
    if depth == 0 or GAME.outcome(state) is not None:
        return 1
    return sum(engine_count(GAME.deliver(GAME.play(state, move)), depth - 1) for move in GAME.legal_moves(state))


THREE = dict.fromkeys([(1, 1), (1, 2), (1, 3)], 0)
CORNER = {**THREE, **dict.fromkeys([(2, 4), (3, 4), (4, 4)], 0)}
ROW_5 = dict.fromkeys([(5, column) for column in range(1, 9)], 1)
COUNTS: tuple[tuple[str, Any, Any, dict[Square, int], int, int], ...] = (
    ("ordinary dominoes", [[(3, 5), (1, 9)], [(2, 4), (6, 7)]], [(4, 8)], {}, 4, 4 * 4 * 4 * 2),
    ("doubles and their twins", [[(2, 2), (2, 3)], [(3, 3), (2, 4)]], [], {}, 4, 4 * 4),
    ("blanks that add and remove", [[(0, 5), (0, 9)], [(0, 4), (3, 8)]], [], {}, 2, 34 * 19),
    ("the double blank", [[(0, 0)], [(1, 2)]], [(5, 6)], {(9, 9): 1}, 3, 320 - 4),
    ("unplayable ones that are discarded", [[(1, 1), (2, 2), (1, 2)], [(1, 3)]], [(3, 3)], THREE, 3, 9),
    ("a line that can't be broken", [[(0, 5), (5, 9)], [(0, 8), (8, 9)]], [], ROW_5, 3, 576),
    ("a win cuts the game short", [[(1, 4), (6, 9)], [(2, 6), (5, 9)]], [], CORNER, 4, 41),
)


@pytest.mark.parametrize(
    ("_name", "hands", "pile", "board", "depth", "expected"), COUNTS, ids=[row[0] for row in COUNTS]
)
def test_counts(_name: str, hands: Any, pile: Any, board: dict[Square, int], depth: int, expected: int) -> None:
    """Both find the known number of sequences of moves from a small position."""
    state, table = sides(hands, pile, board)
    assert (expected, expected) == (engine_count(state, depth), naive.count(table, depth))


if __name__ == "__main__":
    wanted = int(sys.argv[1])
    print(f"{wanted} positions agree, {compare_games(Random(), wanted)} games ended")
