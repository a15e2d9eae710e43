"""The engine of Quad-Ominos and the naive one have the same legal moves, states and ends over random play.

`python -m tests.naive.test_quadominos 10000` compares 10000 positions.
"""

import sys
from collections import Counter
from random import Random
from typing import Any

import pytest

from referee import chance
from referee.games.base import IllegalMove
from referee.games.quadominos.forms import Done, Lay, Move, Points
from referee.games.quadominos.game import QuadOminos
from referee.games.quadominos.rounds import State
from referee.games.quadominos.tiles import FACES, TILES
from tests.games.quadominos.states import ARC, BAY, CORNER, ONE, Spot, state_of

from . import quadominos as naive

GAME = QuadOminos()
POSITIONS = 700
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"chain_bonus": True},
    {"target": 150},
    {"target": 100_000, "max_rounds": 3},
    {"rounds": 2, "chain_bonus": True},
)
REASONS = {"": None, **{word: f"quadominos.end.{word}" for word in ("target", "rounds", "cap", "last")}}


def as_tuple(move: Move) -> naive.Move:
    """Return a move as the naive engine writes it."""
    if isinstance(move, Lay):
        return ("lay", move.row, move.column, move.tile)
    return ("points",) if isinstance(move, Points) else ("done",)


def facts(state: State) -> dict[str, Any]:
    """Return the engine's facts that both must agree on."""
    outcome = GAME.outcome(state)
    return {
        "hands": [[TILES[tile] for tile in hand] for hand in state.hands],
        "well": [TILES[tile] for tile in state.well],
        "board": {cell: FACES[face] for cell, face in state.table.board.items()},
        "scores": list(state.scores),
        "order": list(state.order),
        "round": state.round,
        "ended": outcome and outcome.reason,
        "ranking": outcome and [sorted(level) for level in outcome.ranking],
        "due": None if outcome else (state.step, state.additional, state.bonuses, state.passes),
        "legal": None if outcome else sorted(map(as_tuple, GAME.legal_moves(state))),
    }


def naive_facts(table: naive.Table) -> dict[str, Any]:
    """Return the same facts of the naive engine."""
    due = (table.step, table.additional, table.bonuses, table.passes)
    return {
        "hands": table.hands,
        "well": table.well,
        "board": table.board,
        "scores": table.scores,
        "order": table.order,
        "round": table.round,
        "ended": REASONS[table.ended],
        "ranking": table.ranking() if table.ended else None,
        "due": None if table.ended else due,
        "legal": None if table.ended else sorted(table.legal()),
    }


def compare_game(source: Random, most: int) -> Counter[str]:
    """Play one random game with both engines, of at most `most` moves, and compare every position.

    Returns:
        How often each kind of step and each end occurred.
    """
    seats, options = source.randint(2, 12), source.choice(OPTIONS)
    dealer = chance.Dealer(source.randbytes(chance.SEED_BYTES))
    state = GAME.new(GAME.parse_options(options), seats, dealer)
    table = naive.new(seats, lambda deal: (dealer.later(deal - 1) if deal > 1 else dealer)(naive.TILES), **options)
    met: Counter[str] = Counter()
    while met.total() < most:
        expected = naive_facts(table)
        assert expected == facts(state)
        met[table.ended or table.step] += 1
        if table.ended:
            break
        for guessed in guesses(source, table):
            assert (guessed in expected["legal"]) == is_legal(state, guessed), guessed
        assert expected["legal"] == sorted(by_steps(state))
        if source.random() < 0.01:
            seat = source.choice(table.order)
            state, table = GAME.drop(state, seat), table.drop(seat)
        else:
            move = source.choice(expected["legal"])
            state, table = GAME.deliver(GAME.play(state, as_move(move))), table.play(move)
    return met


def by_steps(state: State) -> list[naive.Move]:
    """Return every move that legal steps make."""
    found: list[naive.Move] = []
    for step in GAME.legal_steps(state):
        cells: Any = () if GAME.move_of((step,)) else GAME.legal_steps(state, (step,))
        found += [("lay", *cell, step) for cell in cells] or [(step,)]
    return found


def guesses(source: Random, table: naive.Table) -> list[naive.Move]:
    """Return moves, legal or not, with any tile in any order of its numbers, on the table or next to it."""
    cells = [*table.board, *((row + source.randint(-1, 1), column + 1) for row, column in table.board), (0, 0)]
    hand = table.hands[table.order[0]]
    found: list[naive.Move] = [("points",), ("done",)]
    for _ in range(8):
        tile = source.choice(hand if source.random() < 0.8 else naive.TILES)
        found.append(("lay", *source.choice(cells), "".join(source.sample(tile, 4))))
    return found


def is_legal(state: State, move: naive.Move) -> bool:
    """Return whether the engine plays a move."""
    try:
        GAME.play(state, as_move(move))
    except IllegalMove:
        return False
    return True


def as_move(move: naive.Move) -> Move:
    """Return a move of the naive engine as the game's."""
    if move[0] == "lay":
        return Lay(*move[1:])
    return Points() if move == ("points",) else Done()


def compare(positions: int, seed: int) -> Counter[str]:
    """Compare a number of positions of random games."""
    source, met = Random(seed), Counter[str]()
    while met.total() < positions:
        met += compare_game(source, positions - met.total())
    return met


def test_both_engines_agree() -> None:
    """In games with all options and numbers of seats, positions, legal moves, successors and ends are the same."""
    met = compare(POSITIONS, 5)
    assert met.keys() >= {"lay", "bonus", "second", "target"}


@pytest.mark.parametrize("seats", [2, 7])
def test_both_engines_agree_on_openings(seats: int) -> None:
    """In every opening, also with a quad-zero and a higher quad, both have the same task."""
    source, found = Random(seats), 0
    for number in range(100):
        dealer = chance.Dealer(chance.seed_from_number(number))
        state = GAME.new(GAME.parse_options({}), seats, dealer)
        found += len(GAME.legal_moves(state)) == 2
        table = naive.new(seats, lambda _, dealer=dealer: dealer(naive.TILES))  # type: ignore[misc]  # bound at once
        for _ in range(6):
            expected = naive_facts(table)
            assert expected == facts(state)
            move = source.choice(expected["legal"])
            state, table = GAME.deliver(GAME.play(state, as_move(move))), table.play(move)
    assert found


# --- counts

COUNTS: tuple[tuple[str, tuple[Spot, ...], list[list[str]], list[str], dict[str, Any], tuple[int, ...]], ...] = (
    ("one tile", ONE, [["0002", "0223", "1222"], ["0024", "1234"]], ["0044", "2222"], {}, (4, 5, 13, 22)),
    ("three corners", CORNER, [["2223", "0001", "0003", "3344"], ["0002", "2233"]], ["0000"], {}, (7, 26, 125, 366)),
    ("four corners", BAY, [["2223", "0001"], ["0002", "0004"]], ["1111", "2234"], {}, (6, 33, 90, 90)),
    (
        "a chain",
        ARC,
        [["0015", "0005", "0033", "0133"], ["0333", "1333"]],
        ["0055"],
        {"chain_bonus": True},
        (10, 113, 793, 4431),
    ),
    ("an opening", (), [["5555", "0000", "0001", "0055"], ["0005", "0555"]], ["0002"], {}, (2, 18, 100, 1064)),
    ("the only quad", (), [["0000", "0001", "0055"], ["0005", "0123"]], ["0002"], {}, (1, 13, 76, 272)),
)


def naive_table(
    hands: list[list[str]], board: tuple[Spot, ...], well: list[str], options: dict[str, Any]
) -> naive.Table:
    """Return a position of one round in the naive engine's form."""
    seats = len(hands)
    settings = {"target": 800, "rounds": 1, "max_rounds": 100, "chain_bonus": False, **options}
    table = naive.Table(**settings, deck=lambda _: [], scores=[0] * seats, order=list(range(seats)), round=1)
    table.hands, table.well = [list(hand) for hand in hands], list(well)
    table.board = {(row, column): tile for row, column, tile in board}
    if board:
        table.start_turn()
    else:
        table.open()
    return table


def count(state: State, depth: int) -> int:
    """Count the ways to play `depth` moves; a way may end earlier, with the round."""
    if not depth or state.ended:
        return 1
    return sum(count(GAME.play(state, move), depth - 1) for move in GAME.legal_moves(state))


def naive_count(table: naive.Table, depth: int) -> int:
    """Count the same with the naive engine."""
    if not depth or table.ended:
        return 1
    return sum(naive_count(table.play(move), depth - 1) for move in table.legal())


@pytest.mark.parametrize(
    ("_name", "board", "hands", "well", "options", "counts"), COUNTS, ids=[row[0] for row in COUNTS]
)
def test_counts_of_small_positions(
    _name: str,
    board: tuple[Spot, ...],
    hands: list[list[str]],
    well: list[str],
    options: dict[str, Any],
    counts: tuple[int, ...],
) -> None:
    """The numbers of ways to play 1, 2, 3... moves from small positions are known; the naive engine agrees."""
    state = state_of(*hands, board=board, well=well, rounds=1, **options)
    table = naive_table(hands, board, well, options)
    depths = range(1, len(counts) + 1)
    assert counts == tuple(count(state, depth) for depth in depths)
    assert counts[:3] == tuple(naive_count(table, depth) for depth in depths[:3])


if __name__ == "__main__":
    print(dict(compare(int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 1)))
