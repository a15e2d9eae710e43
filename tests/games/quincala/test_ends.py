"""How Quincala Mixing goes on and ends: skips, the aim, the limit, elimination; and whole random games."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from referee.chance import Dealer
from referee.games.base import Outcome
from referee.games.quincala.game import Move

from .positions import GAME, STOP, Towers, hands, leg, place, played, position

NEAR: Towers = {(6, 1): "b2 w1", (6, 3): "b1 w2", (6, 5): "b1", (5, 5): "w3", (11, 11): "b2"}
"""White's mixed towers lack size 3, which it can mix; Black's have 1 and 2."""
EACH: Towers = {**NEAR, (6, 7): "b3 w1"}
"""The same, but Black's mixed towers have 3, too."""
MIXED: Towers = {(5, 5): "w1", (6, 6): "b2"}
"""White's only move leaves one mixed tower, from which neither player can move."""
IDLE: Towers = {(5, 5): "w1", (6, 6): "w2 b3", (9, 9): "b1 w3"}
"""Black has no tower of its own."""

ENDS: tuple[tuple[str, Towers, dict[str, Any], tuple[Move, ...], str | None, tuple[tuple[int, ...], ...]], ...] = (
    ("all sizes mixed, in three towers", NEAR, {}, (leg(5, 5, 6, 5),), "aim", ((0,), (1,))),
    ("one size is missing", NEAR, {}, (leg(5, 5, 5, 6),), None, ()),
    (
        "the aim in the middle of a move is none",
        {**NEAR, (5, 5): "w2 w3"},
        {},
        (leg(5, 5, 6, 5),),
        None,
        (),
    ),
    (
        "the aim when the player stops",
        {**NEAR, (5, 5): "w2 w3"},
        {},
        (leg(5, 5, 6, 5), STOP),
        "aim",
        ((0,), (1,)),
    ),
    (
        "the opponent reaches it in the mover's turn",
        {(6, 1): "b2 w1", (6, 3): "b1 w2", (6, 5): "b3", (5, 5): "w1"},
        {},
        (leg(5, 5, 6, 5),),
        "aim",
        ((1,), (0,)),
    ),
    ("both: the one not having the turn wins", EACH, {"turns": 9}, (leg(5, 5, 6, 5),), "both", ((1,), (0,))),
    (
        "both, in Black's turn",
        {(6, 1): "w2 b1", (6, 3): "w1 b2", (6, 5): "w1", (5, 5): "b3", (6, 7): "w3 b1"},
        {"to_move": 1},
        (leg(5, 5, 6, 5),),
        "both",
        ((0,), (1,)),
    ),
    ("nobody can do anything", MIXED, {}, (leg(5, 5, 6, 6),), "skips", ((0, 1),)),
    ("one can place, nobody is skipped twice", MIXED, {"hands": [[], ["b1"]]}, (leg(5, 5, 6, 6),), None, ()),
    ("the last turn", NEAR, {"turns": 399}, (leg(5, 5, 5, 6),), "cap", ((0, 1),)),
    ("the last turn but one", NEAR, {"turns": 398}, (leg(5, 5, 5, 6),), None, ()),
    ("the aim in the last turn", NEAR, {"turns": 399}, (leg(5, 5, 6, 5),), "aim", ((0,), (1,))),
    ("a skip is the last turn", IDLE, {"turns": 398}, (leg(5, 5, 5, 6),), "cap", ((0, 1),)),
)


@pytest.mark.parametrize(("_name", "board", "rest", "moves", "reason", "ranking"), ENDS, ids=[row[0] for row in ENDS])
def test_the_end(
    _name: str,
    board: Towers,
    rest: dict[str, Any],
    moves: tuple[Move, ...],
    reason: str | None,
    ranking: tuple[tuple[int, ...], ...],
) -> None:
    """A game of three sizes goes on, or ends by the named rule and with the named ranking."""
    outcome = GAME.outcome(played(position(board, options={"sizes": 3}, **rest), *moves))
    if reason is None:
        assert outcome is None
    else:
        assert outcome is not None
        assert (f"quincala.end.{reason}", ranking) == (outcome.reason, outcome.ranking)


def test_every_end_has_an_example() -> None:
    """Each rule that ends a game is in the table above; elimination has its own test."""
    shown = {f"quincala.end.{row[4]}" for row in ENDS if row[4]} | {"quincala.end.eliminated"}
    assert shown == {rule for rule in GAME.rules if rule.startswith("quincala.end.")}


def test_the_scores_are_the_sizes_in_mixed_towers() -> None:
    """Two pieces of one size count once; pieces in towers of one colour do not count."""
    board = {(6, 1): "b2 w1", (6, 3): "b3 w1 w5", (7, 3): "w2 w4", (9, 9): "b1"}
    state = position(board)
    assert GAME.view(state, 0).scores == (2, 2)
    assert GAME.outcome(GAME.drop(state, 1)) == Outcome(((0,),), (2, 2), (0,), "quincala.end.eliminated")


def test_who_can_do_nothing_is_skipped() -> None:
    """White is to move again, in a new turn. The skipped turn counts, and all seats are sent it."""
    state = played(position(IDLE, options={"sizes": 3}), leg(5, 5, 5, 6))
    assert GAME.news(state).public["skipped"] == [1]
    view = GAME.view(state, 1)
    assert (view.order, view.turns, view.skipped, view.steps) == ((0, 1), 2, True, 0)
    assert not GAME.is_same_turn(state)
    after = GAME.view(played(state, leg(5, 6, 5, 5)), 1)
    assert (after.turns, after.skipped) == (4, True)


def test_immunity_ends_with_a_skipped_turn() -> None:
    """The opponent's next turn is over when it is skipped."""
    state = position(IDLE, options={"sizes": 3}, to_move=1, immune={(5, 5): "w1"})
    assert (GAME.to_move(state), GAME.view(state, 0).immune) == (0, ())


def test_a_position_may_begin_with_a_skip() -> None:
    """A player that can do nothing in a given position is skipped; if that was the last turn, the game is a draw."""
    state = position(IDLE, options={"sizes": 3}, to_move=1, turns=7)
    assert (GAME.to_move(state), GAME.view(state, 0).turns) == (0, 8)
    outcome = GAME.outcome(position(IDLE, options={"sizes": 3}, to_move=1, skipped=True))
    assert outcome is not None
    assert outcome.reason == "quincala.end.skips"


def test_a_move_ends_with_its_hundredth_leg() -> None:
    """Two towers can exchange a piece many times; after the hundredth leg it is the opponent's turn."""
    state = position({(5, 5): "w1 w3", (5, 6): "w2", (11, 1): "b1"})
    for number in range(100):
        assert (GAME.to_move(state), GAME.is_same_turn(state)) == (0, number > 0)
        state = played(state, leg(5, 5 + number % 2, 5, 6 - number % 2))
    assert GAME.to_move(state) == 1


DROPS: tuple[tuple[str, tuple[Move, ...]], ...] = (
    ("before the turn", ()),
    ("between two pieces", (place("w1", 1, 1),)),
    ("after placing", (place("w1", 1, 1), place("b3", 1, 2))),
    ("within a move", (place("w1", 1, 1), place("b3", 1, 2), leg(5, 5, 4, 5))),
    ("after the turn", (place("w1", 1, 1), place("b3", 1, 2), leg(5, 5, 4, 5), STOP)),
)


@pytest.mark.parametrize(("_name", "moves"), DROPS, ids=[row[0] for row in DROPS])
@pytest.mark.parametrize("gone", [0, 1])
def test_an_eliminated_player_loses(_name: str, moves: tuple[Move, ...], gone: int) -> None:
    """Whenever one player is dropped, the other has won; if both are dropped, nobody has."""
    state = played(position({(5, 5): "w2 w3", (9, 9): "b2"}, hands=[["w1", "b3"], ["b1"]]), *moves)
    dropped = GAME.drop(state, gone)
    GAME.check_invariants(dropped)
    assert hands(dropped) == hands(state)
    assert GAME.outcome(dropped) == Outcome(((1 - gone,),), (0, 0), (1 - gone,), "quincala.end.eliminated")
    assert GAME.outcome(GAME.drop(dropped, 1 - gone)) == Outcome((), (0, 0), (), "quincala.end.eliminated")


def test_a_drop_after_the_end_does_not_change_the_reason() -> None:
    """A winner that leaves after the end is no longer ranked, and the reason stays."""
    state = played(position(NEAR, options={"sizes": 3}), leg(5, 5, 6, 5))
    assert GAME.outcome(GAME.drop(state, 0)) == Outcome(((1,),), (3, 2), (1,), "quincala.end.aim")


@pytest.mark.parametrize("sizes", [3, 4, 5])
def test_random_games_end(sizes: int) -> None:
    """Every game of legal moves ends within its turns, and no piece is lost or made on the way."""
    source = Random(sizes)
    options = GAME.parse_options({"sizes": sizes, "max_turns": 120})
    supply = Counter({f"{color}{size}": sizes for color in "wb" for size in range(1, sizes + 1)})
    for _ in range(3):
        state = GAME.new(options, 2, Dealer(bytes(32)))
        while GAME.outcome(state) is None:
            state = GAME.deliver(GAME.play(state, source.choice(GAME.legal_moves(state))))
            view = GAME.view(state, 0)
            held = Counter(piece for spot in view.board for piece in spot.pieces)
            assert supply == held + Counter(piece for hand in view.hands for piece in hand)
        assert GAME.view(state, 0).turns <= 120
        assert GAME.view(state, 0).phase == "over"
