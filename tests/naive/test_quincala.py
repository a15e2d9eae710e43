"""The engine of Quincala Mixing and the naive rules agree on moves, successors, outcomes and counts.

`python -m tests.naive.test_quincala 10000` compares 10000 positions.
"""

import sys
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from referee.chance import Dealer
from referee.games.base import IllegalMove
from referee.games.quincala.game import Leg, Move, Options, Place, QuincalaGame, Stop, View
from referee.games.quincala.turns import State

from . import quincala as naive
from .quincala import Position

GAME = QuincalaGame()


def plain(move: Move) -> naive.Move:
    """Return an engine's move in the naive rules' form."""
    if isinstance(move, Place):
        return ("place", move.piece, move.dot)
    return ("leg", move.start, move.end) if isinstance(move, Leg) else ("stop",)


def seen(view: View) -> dict[str, Any]:
    """Return the content of a view, without the order of pieces and dots."""
    return {
        "board": {(spot.row, spot.column): set(spot.pieces) for spot in view.board},
        "hands": [sorted(hand) for hand in view.hands],
        "seat": view.order[0],
        "turns": view.turns,
        "skipped": view.skipped,
        "immune": {((spot.row, spot.column), piece) for spot in view.immune for piece in spot.pieces},
        "fresh": {((spot.row, spot.column), piece) for spot in view.fresh for piece in spot.pieces},
        "scores": view.scores,
    }


def described(position: Position) -> dict[str, Any]:
    """Return the same of a naive position."""
    return {
        "board": position.board,
        "hands": [sorted(hand) for hand in position.hands],
        "seat": position.seat,
        "turns": position.turns,
        "skipped": position.skips > 0,
        "immune": position.immune,
        "fresh": position.knockers,
        "scores": tuple(len(naive.mixed_sizes(position, seat)) for seat in (0, 1)),
    }


def compare(state: State, position: Position) -> None:
    """Check that engine and naive rules see the same position, moves and outcome."""
    assert described(position) == seen(GAME.view(state, 0))
    outcome = GAME.outcome(state)
    if position.end is None:
        assert outcome is None
        listed = [plain(move) for move in GAME.legal_moves(state)]
        assert len(set(listed)) == len(listed)
        assert naive.legal(position) == set(listed)
        return
    assert outcome is not None
    assert f"quincala.end.{position.end}" == outcome.reason
    winner = position.winner
    expected = ((0, 1),) if winner is None else ((winner,), (1 - winner,))
    assert expected == outcome.ranking


def guess(source: Random, position: Position) -> Move:
    """Return a move close to a legal one, which is mostly illegal."""
    near = [*position.board, *([position.here] * 9 if position.here else [])]
    (row, column), kind = source.choice(near or [(1, 1)]), source.random()
    if kind < 0.1:
        return Stop()
    if kind < 0.3:
        piece = source.choice([*position.hands[position.seat], "w1", "b3"])
        return Place(piece, (source.randint(0, 12), source.randint(0, 12)))
    if position.immune and kind < 0.6:
        return Leg((row, column), source.choice(sorted(position.immune))[0])
    down, right = source.choice(naive.DIRECTIONS)
    steps, aside = source.randint(1, 6), source.choice((0, 0, 0, 1))
    return Leg((row, column), (row + down * steps, column + right * steps + aside))


def is_legal(state: State, move: Move) -> bool:
    """Return whether the engine plays a move."""
    try:
        GAME.play(state, move)
    except IllegalMove:
        return False
    return True


def started(sizes: int, max_turns: int) -> tuple[State, Position]:
    """Return the starting position of both."""
    options = Options(sizes=sizes, max_turns=max_turns)  # type: ignore[arg-type]  # the tests ask for 3 to 5
    return GAME.new(options, 2, Dealer(bytes(32))), naive.start(sizes, max_turns)


def crowded(source: Random, sizes: int) -> tuple[State, Position]:
    """Return a position with few empty placing dots, or few moves, which random play does not reach."""
    seat, turns, skipped = source.randrange(2), source.randrange(90), source.random() < 0.3
    supply = [f"{colour}{size}" for colour in "wb" for size in range(1, sizes + 1)] * sizes
    source.shuffle(supply)
    del supply[source.choice((4, 12, 30, len(supply))) :]
    area = [(row, column) for row in range(1, 12) for column in range(1, 12)]
    wanted = naive.placing_dots(seat) if source.random() < 0.5 else source.sample(area, source.choice((2, 5, 40)))
    board: dict[naive.Dot, set[str]] = {}
    hands: tuple[list[str], list[str]] = ([], [])
    for piece in supply:
        dot = source.choice(wanted)
        tower = board.setdefault(dot, set())
        if any(other[1] == piece[1] for other in tower):
            hands[source.randrange(2)].append(piece)
        else:
            tower.add(piece)
    other = "bw"[seat]
    immune = {(dot, piece) for dot, tower in board.items() for piece in tower if piece[0] == other}
    immune = {marked for marked in sorted(immune) if source.random() < 0.5}
    position = Position(sizes, 100, board, hands, seat, turns, int(skipped), immune)
    return restored(position), settled(position)


def settled(position: Position) -> Position:
    """Return a naive position at the beginning of a turn, after skips."""
    naive.skip_idle(position)
    return position


def restored(position: Position) -> State:
    """Return the engine's state of a naive position at the beginning of a turn."""
    raw = {
        "board": [[*dot, sorted(tower)] for dot, tower in position.board.items()],
        "hands": [list(hand) for hand in position.hands],
        "to_move": position.seat,
        "turns": position.turns,
        "skipped": position.skips > 0,
        "immune": [[*dot, [p for d, p in position.immune if d == dot]] for dot in {dot for dot, _ in position.immune}],
    }
    options = GAME.parse_options({"sizes": position.sizes, "max_turns": position.max_turns})
    return GAME.restore(options, raw)


def walk(source: Random, begin: Callable[[], tuple[State, Position]], most: int) -> int:
    """Play at random from a position, and compare all positions and verdicts; return the number of positions."""
    state, position = begin()
    compare(state, position)
    count = 1
    while position.end is None and count < most:
        legal = naive.legal(position)
        for tried in (guess(source, position) for _ in range(5)):
            assert (plain(tried) in legal) == is_legal(state, tried)
        move = source.choice(GAME.legal_moves(state))
        state, position = GAME.deliver(GAME.play(state, move)), naive.after(position, plain(move))
        compare(state, position)
        count += 1
    return count


def compared(seed: int, wanted: int) -> int:
    """Compare at least `wanted` positions, of whole games and of crowded positions by turns; return their number."""
    source = Random(seed)
    count = 0
    while count < wanted:
        sizes = source.choice((3, 4, 5))
        max_turns = source.choice((10, 60, 400))
        count += walk(source, lambda: started(sizes, max_turns), 400)  # noqa: B023  # called at once
        for _ in range(8):
            count += walk(source, lambda: crowded(source, sizes), 12)  # noqa: B023  # called at once
    return count


@pytest.mark.parametrize("seed", range(4))
def test_engine_and_naive_rules_agree(seed: int) -> None:
    """Legal moves, successor states, skips and outcomes are the same over random play."""
    assert compared(seed, 500) >= 500


def engine_count(state: State, depth: int) -> int:
    """Count the ways to play `depth` steps, with the engine."""
    if depth == 0:
        return 1
    moves = [] if GAME.outcome(state) else GAME.legal_moves(state)
    return sum(engine_count(GAME.play(state, move), depth - 1) for move in moves)


def naive_count(position: Position, depth: int) -> int:
    """Count the same with the naive rules."""
    if depth == 0:
        return 1
    return sum(naive_count(naive.after(position, move), depth - 1) for move in naive.legal(position))


SOWING = Position(3, 100, {(5, 5): {"w1", "w3"}, (5, 6): {"w2"}, (6, 6): {"b1", "b2"}})
KNOCKING = Position(3, 100, {(1, 1): {"w1", "w2"}, (2, 2): {"b1", "b3"}, (1, 2): {"w3"}})
PLACING = Position(3, 100, {(4, 4): {"w1"}, (5, 5): {"b1"}}, (["b2"], ["w3"]))
ENDING = Position(3, 100, {(6, 1): {"b2", "w1"}, (6, 3): {"b1", "w2"}, (6, 5): {"b1"}, (5, 5): {"w3"}})
MOST_COUNTED = 1200
"""Largest number of steps that the naive rules count in the suite, in about a second. They agree on larger ones,
too."""
COUNTS: tuple[tuple[str, Position, tuple[int, ...]], ...] = (
    ("three sizes", naive.start(3, 400), (50, 710, 8381)),
    ("four sizes", naive.start(4, 400), (72, 1380)),
    ("five sizes", naive.start(5, 400), (96, 2224)),
    ("sowing", SOWING, (22, 276, 3303)),
    ("knocking", KNOCKING, (9, 107, 1118)),
    ("placing", PLACING, (39, 312)),
    ("near the end", ENDING, (8, 56, 416, 3190)),
)


@pytest.mark.parametrize(("_name", "position", "expected"), COUNTS, ids=[row[0] for row in COUNTS])
def test_counts_of_steps(_name: str, position: Position, expected: tuple[int, ...]) -> None:
    """The numbers of ways to play one, two, three... steps from a small position are known."""
    state = restored(position)
    for depth, count in enumerate(expected, start=1):
        assert count == engine_count(state, depth)
        assert count > MOST_COUNTED or count == naive_count(position, depth)


if __name__ == "__main__":
    print(compared(0, int(sys.argv[1])), "positions agree")
