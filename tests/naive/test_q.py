"""The engine of Q and its naive second implementation agree over random play.

`python -m tests.naive.test_q 10000` compares 10000 positions.
"""

import sys
from random import Random
from typing import Any

import pytest

from referee.games.base import IllegalMove
from referee.games.q.forms import Exchange, Options, Pass, Place, State
from referee.games.q.game import QGame
from referee.games.q.tiles import NAMES

from ..games.q.random_play import dealt, guess, shortened
from . import q as naive

GAME = QGame()
POSITIONS = 2000
"""Number of positions in the regular suite, which take some seconds."""
ILLEGAL = 5
"""Placements tried in each position in addition to the played one; most of them are illegal."""


def begun(source: Random) -> tuple[State, naive.Table]:
    """Return a new game in both implementations, mostly with a short pile."""
    seats = source.randint(2, 4)
    state = shortened(dealt(source.randbytes(32), seats), source.choice((0, 3, 12, 40, 1000)))
    names = [[NAMES[tile] for tile in hand] for hand in state.hands]
    board = {cell: NAMES[tile] for cell, tile in state.board.items()}
    return state, naive.Table(board, names, [NAMES[tile] for tile in state.pile])


def seen(state: State) -> dict[str, Any]:
    """Return the engine's state in the naive implementation's form."""
    outcome = GAME.outcome(state)
    return {
        "board": {cell: NAMES[tile] for cell, tile in state.board.items()},
        "hands": [[NAMES[tile] for tile in hand] for hand in state.hands],
        "pile": [NAMES[tile] for tile in state.pile],
        "scores": list(state.scores),
        "order": list(state.order),
        "end": outcome.reason if outcome else None,
        "ranking": [sorted(level) for level in outcome.ranking] if outcome else None,
    }


def kept(table: naive.Table) -> dict[str, Any]:
    """Return the naive implementation's state in that form."""
    names = ("board", "hands", "pile", "scores", "order", "end")
    return {**{name: getattr(table, name) for name in names}, "ranking": table.ranking() if table.end else None}


def placed_of(move: Place) -> list[naive.Placed]:
    """Return a placement in the naive implementation's form."""
    return [(spot.row, spot.column, spot.tile) for spot in move.tiles]


def compare_moves(state: State, table: naive.Table, source: Random) -> None:
    """Compare the single placements, the exchange, and the verdicts on random placements of several tiles."""
    legal = GAME.legal_moves(state)
    singles = {placed_of(move)[0] for move in legal if isinstance(move, Place)}
    assert set(table.singles()) == singles
    assert table.can_exchange() == (Exchange() in legal)
    if not state.hands[state.order[0]]:
        return
    for _ in range(ILLEGAL):
        move = guess(state, source, source.randint(1, 6))
        allowed = naive.result(table.board, table.hands[table.order[0]], placed_of(move))
        try:
            GAME.play(state, move)
        except IllegalMove:
            assert allowed is None, move
        else:
            assert allowed is not None, move


def stepped(state: State, table: naive.Table, source: Random) -> Any:
    """Return a move of random steps; after each, the naive rules allow the same tiles and squares."""
    hand, steps = table.hands[table.order[0]], list[Any]()
    while (move := GAME.move_of(tuple(steps))) is None:
        offered: Any = GAME.legal_steps(state, tuple(steps))
        placed = [(*cell, tile) for tile, cell in zip(steps[::2], steps[1::2], strict=False)]
        board = naive.result(table.board, hand, placed) if placed else table.board
        assert board is not None
        free = {side for cell in board for side in naive.sides(cell)}
        fitting = {
            (tile, cell)
            for tile in set(hand)
            for cell in free
            if naive.result(board, [tile], [(*cell, tile)])
            and naive.owns(hand, [*placed, (*cell, tile)])
            and naive.is_line([*placed, (*cell, tile)])
        }
        if len(steps) % 2:
            assert sorted(cell for tile, cell in fitting if tile == steps[-1]) == sorted(offered)
        else:
            words = {"stop"} if steps else {"pass", *(["exchange"] if table.can_exchange() else [])}
            assert {tile for tile, _ in fitting} | words == set(offered)
        steps.append(source.choice(offered))
    return move


def chosen(state: State, source: Random) -> Any:
    """Return a legal move, perhaps a placement of several tiles."""
    if source.random() < 0.15:
        return source.choice([move for move in GAME.legal_moves(state) if not isinstance(move, Place)])
    if state.hands[state.order[0]] and source.random() < 0.4:
        for _ in range(10):
            move = guess(state, source, source.randint(2, 6))
            try:
                GAME.play(state, move)
            except IllegalMove:
                continue
            return move
    return source.choice(GAME.legal_moves(state))


def play_both(state: State, table: naive.Table, move: Any) -> State:
    """Play a legal move in both."""
    if isinstance(move, Place):
        assert table.place(placed_of(move))
    elif isinstance(move, Exchange):
        assert table.exchange()
    else:
        assert isinstance(move, Pass)
        table.skip()
    return GAME.deliver(GAME.play(state, move))


def compare(positions: int, seed: int) -> int:
    """Compare both implementations over a number of positions; return the number of games."""
    source, games, count = Random(seed), 0, 0
    while count < positions:
        state, table = begun(source)
        games += 1
        while True:
            assert seen(state) == kept(table)
            count += 1
            if table.end or count >= positions:
                break
            if source.random() < 0.02:
                seat = source.choice(table.order)
                state = GAME.drop(state, seat)
                table.drop(seat)
                continue
            compare_moves(state, table, source)
            move = stepped(state, table, source) if source.random() < 0.2 else chosen(state, source)
            state = play_both(state, table, move)
    return games


@pytest.mark.parametrize("seed", range(4))
def test_both_agree_over_random_play(seed: int) -> None:
    """Legal moves, successors, scores and ends are the same, and so are the verdicts on any placements."""
    assert compare(POSITIONS // 4, seed) > 1


SPOTS = ((0, 0, "red-star"), (0, 1, "red-8star"))
COUNTS: tuple[tuple[tuple[str, ...], int, tuple[int, int]], ...] = (
    (("blue-clover",), 0, (1, 1)),
    (("red-star",), 0, (7, 7)),
    (("red-square", "green-star"), 1, (10, 10)),
    (("red-square", "green-star"), 2, (11, 11)),
)
"""Hand, tiles left, and the number of moves by hand: a pass, six spots next to two reds, three next to the star alone,
an exchange if the pile has as many. Then the same for the second player, who holds the same hand, after a pass.
"""


@pytest.mark.parametrize(("hand", "left", "counts"), COUNTS)
def test_moves_from_a_small_position_are_counted(hand: tuple[str, ...], left: int, counts: tuple[int, int]) -> None:
    """Both players have as many moves as a person counts."""
    players = [{"score": 0, "hand": list(hand)}, {"score": 0, "hand": list(hand)}]
    spots = [list(spot) for spot in SPOTS]
    state = GAME.restore(Options(), {"map": spots, "pile": ["red-star"] * left, "players": players})
    after = GAME.deliver(GAME.play(state, Pass()))
    assert counts == (len(GAME.legal_moves(state)), len(GAME.legal_moves(after)))


def main(arguments: list[str]) -> int:
    """Compare a number of positions, and print the result."""
    positions = int(arguments[0]) if arguments else 10_000
    print(f"{positions} positions of {compare(positions, 1)} games of q: both agree")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
