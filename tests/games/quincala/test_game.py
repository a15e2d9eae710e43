"""Placing, legs, knocking and immunity of Quincala Mixing by tables, from small positions."""

import pytest
from msgspec.structs import replace

from referee.chance import Dealer
from referee.games.base import News
from referee.games.quincala.game import Move, Options

from .positions import GAME, STOP, Towers, broken_rule, hands, leg, place, played, position, towers

TOWER: Towers = {(2, 4): "w1 w2 w3", (10, 10): "b1"}
BLOCKED: Towers = {**TOWER, (3, 4): "b5"}
SPREAD: Towers = {**TOWER, (6, 6): "b2 w4", (9, 9): "w5", (6, 8): "b4"}
FURTHER = (leg(2, 4, 4, 4),)

LEGS: tuple[tuple[str, Towers, tuple[Move, ...], Move, str | None], ...] = (
    ("one step", TOWER, (), leg(2, 4, 3, 4), None),
    ("as many steps as pieces", TOWER, (), leg(2, 4, 5, 4), None),
    ("one step more than pieces", TOWER, (), leg(2, 4, 6, 4), "quincala.leg.length"),
    ("no step", TOWER, (), leg(2, 4, 2, 4), "quincala.leg.length"),
    ("a diagonal", TOWER, (), leg(2, 4, 4, 6), None),
    ("the other diagonal", TOWER, (), leg(2, 4, 4, 2), None),
    ("to the left", TOWER, (), leg(2, 4, 2, 1), None),
    ("backwards", TOWER, (), leg(2, 4, 1, 4), None),
    ("a knight's move", TOWER, (), leg(2, 4, 4, 5), "quincala.leg.straight"),
    ("over the near edge", TOWER, (), leg(2, 4, 0, 4), "quincala.leg.area"),
    ("over the corner", TOWER, (), leg(2, 4, -1, 1), "quincala.leg.area"),
    ("as far as a number goes", TOWER, (), leg(2, 4, 2**31 - 1, 4), "quincala.leg.length"),
    ("onto a piece", BLOCKED, (), leg(2, 4, 3, 4), None),
    ("across a piece", BLOCKED, (), leg(2, 4, 4, 4), "quincala.leg.jump"),
    ("past a piece", BLOCKED, (), leg(2, 4, 4, 6), None),
    ("a single piece", SPREAD, (), leg(9, 9, 8, 9), None),
    ("from an empty dot", TOWER, (), leg(5, 5, 6, 5), "quincala.leg.own"),
    ("from beside the board", TOWER, (), leg(0, 0, 1, 1), "quincala.leg.own"),
    ("the opponent's tower", TOWER, (), leg(10, 10, 9, 10), "quincala.leg.own"),
    ("a mixed tower first", SPREAD, (), leg(6, 6, 7, 6), "quincala.leg.own"),
    ("a mixed tower later", SPREAD, (leg(2, 4, 4, 4), leg(4, 4, 6, 6)), leg(6, 6, 7, 6), None),
    ("a further leg, with a turn", TOWER, FURTHER, leg(4, 4, 4, 6), None),
    ("a further leg, straight on", TOWER, FURTHER, leg(4, 4, 5, 4), None),
    ("a further leg, back again", TOWER, FURTHER, leg(4, 4, 2, 4), None),
    ("a further leg counts what it lifts", TOWER, FURTHER, leg(4, 4, 4, 7), "quincala.leg.length"),
    ("a further leg from where the first began", TOWER, FURTHER, leg(2, 4, 3, 4), "quincala.leg.adjoining"),
    ("a further leg from another tower", SPREAD, FURTHER, leg(9, 9, 8, 9), "quincala.leg.adjoining"),
    ("a third leg", TOWER, (*FURTHER, leg(4, 4, 6, 6)), leg(6, 6, 6, 5), None),
    ("a stop before any leg", TOWER, (), STOP, "quincala.leg.stop"),
    ("a stop after the first leg", TOWER, FURTHER, STOP, None),
    ("a stop after the second leg", TOWER, (*FURTHER, leg(4, 4, 6, 6)), STOP, None),
    ("placing after a leg", TOWER, FURTHER, place("w1", 1, 1), "quincala.turn.order"),
    ("placing with an empty hand", TOWER, (), place("w1", 1, 1), "quincala.place.owned"),
)


@pytest.mark.parametrize(("_name", "board", "before", "move", "expected"), LEGS, ids=[row[0] for row in LEGS])
def test_leg(_name: str, board: Towers, before: tuple[Move, ...], move: Move, expected: str | None) -> None:
    """A step of moving is legal, or breaks the named rule; the state stays as it was."""
    assert expected == broken_rule(played(position(board), *before), move)


@pytest.mark.parametrize("down", [-1, 0, 1])
@pytest.mark.parametrize("right", [-1, 0, 1])
def test_a_leg_goes_in_eight_directions(down: int, right: int) -> None:
    """A leg goes straight or diagonally, from one step to as many as there are pieces; no other direction is legal."""
    state = position({(6, 6): "w1 w2 w3 w4 w5", (11, 1): "b1"})
    for steps in range(1, 6):
        expected = "quincala.leg.length" if down == right == 0 else None
        assert expected == broken_rule(state, leg(6, 6, 6 + steps * down, 6 + steps * right))


PLACINGS: tuple[tuple[str, Move, str | None], ...] = (
    ("an own piece", place("w1", 1, 1), None),
    ("a piece of the opponent's colour", place("b2", 1, 1), None),
    ("the far corner of the second area", place("w1", 4, 11), None),
    ("a piece that is not in hand", place("w2", 1, 1), "quincala.place.owned"),
    ("a piece of the opponent's hand", place("b5", 1, 1), "quincala.place.owned"),
    ("a path between the areas", place("w1", 1, 6), "quincala.place.area"),
    ("a path before the areas", place("w1", 5, 1), "quincala.place.area"),
    ("the opponent's area", place("w1", 11, 1), "quincala.place.area"),
    ("beside the board", place("w1", 0, 1), "quincala.place.area"),
    ("far from the board", place("w1", 2**31 - 1, -(2**31)), "quincala.place.area"),
    ("an occupied dot", place("w1", 2, 4), "quincala.place.empty"),
    ("a leg before placing", leg(2, 4, 3, 4), "quincala.turn.order"),
    ("a stop before placing", STOP, "quincala.leg.stop"),
)


@pytest.mark.parametrize(("_name", "move", "expected"), PLACINGS, ids=[row[0] for row in PLACINGS])
def test_placing(_name: str, move: Move, expected: str | None) -> None:
    """A step of placing is legal, or breaks the named rule; the state stays as it was."""
    assert expected == broken_rule(position(TOWER, hands=[["w1", "b2"], ["b5"]]), move)


def test_a_hand_is_placed_piece_by_piece_before_moving() -> None:
    """The pieces go down in an order of the player's choice; after the last one it moves, still in the same turn."""
    state = position(TOWER, hands=[["w1", "b2"], []])
    assert GAME.view(state, 0).phase == "place"
    assert not GAME.is_same_turn(state)
    state = played(state, place("b2", 1, 1))
    assert hands(state) == ["w1", ""]
    assert (GAME.to_move(state), GAME.is_same_turn(state)) == (0, True)
    state = played(state, place("w1", 1, 2))
    assert towers(state) == {**TOWER, (1, 1): "b2", (1, 2): "w1"}
    assert GAME.view(state, 0).phase == "move"
    assert GAME.view(state, 0).placed == ((1, 1), (1, 2))
    state = played(state, leg(1, 2, 2, 2))
    assert (GAME.to_move(state), GAME.is_same_turn(state)) == (1, False)


def test_what_finds_no_empty_dot_stays_in_hand() -> None:
    """With one empty dot in the placing areas, one of two pieces is placed; then the player moves."""
    dots = [(row, column) for row in range(1, 5) for column in range(1, 12) if column != 6]
    filling = [f"{color}{size}" for color in "bw" for size in range(1, 6) for _ in range(5)]
    board = dict(zip(dots[1:], filling, strict=False))
    state = position(board, hands=[["w5", "w4"], []])
    assert {place(piece, 1, 1) for piece in ("w5", "w4")} == set(GAME.legal_moves(state))
    state = played(state, place("w4", 1, 1))
    assert (GAME.view(state, 0).phase, hands(state)) == ("move", ["w5", ""])
    assert broken_rule(state, place("w5", 1, 1)) == "quincala.place.empty"
    state = played(state, leg(4, 11, 5, 11))
    assert (GAME.to_move(state), hands(state)) == (1, ["w5", ""])


def test_without_an_empty_dot_nothing_is_placed() -> None:
    """A hand that finds no dot at all does not keep its player from moving."""
    dots = [(row, column) for row in range(1, 5) for column in range(1, 12) if column != 6]
    filling = [f"{color}{size}" for color in "bw" for size in range(1, 6) for _ in range(5)]
    state = position(dict(zip(dots, filling, strict=False)), hands=[["w5"], []])
    assert GAME.view(state, 0).phase == "move"


def test_the_turn_ends_after_placing_if_nothing_can_move() -> None:
    """A player that has placed, but has no tower of its own colour alone, has had its turn; it was not skipped."""
    state = played(position({(6, 6): "w1 b2"}, hands=[["b1"], []]), place("b1", 1, 1))
    assert GAME.news(state).public["skipped"] == ()
    view = GAME.view(state, 1)
    assert (view.order, view.turns, view.phase) == ((1, 0), 1, "move")


def test_a_further_leg_leaves_the_largest_and_all_of_the_opponents() -> None:
    """From the mixed tower that a leg made, all the mover's pieces but the largest are lifted, older ones too."""
    state = position({(2, 4): "w1 w3", (3, 4): "w2 w4 b5", (10, 10): "b1"})
    state = played(state, leg(2, 4, 3, 4))
    assert towers(state)[3, 4] == "w1 w2 w3 w4 b5"
    state = played(state, leg(3, 4, 6, 4))
    assert towers(state) == {(3, 4): "w4 b5", (6, 4): "w1 w2 w3", (10, 10): "b1"}


KNOCKS: tuple[tuple[str, str, str, str, str, str, str], ...] = (
    # after the arrival: the tower, White's hand, Black's hand, pieces that are immune in Black's turn
    ("the opponent's piece", "w1", "b1", "w1", "", "b1", "w1"),
    ("an own piece", "w1 w2", "w1", "w1 w2", "", "w1", ""),
    ("one of each colour", "w1 w2", "w1 b2 b3", "w1 w2 b3", "", "w1 b2", "w2"),
    ("two pieces", "w2 w3", "b1 b2 b3", "b1 w2 w3", "", "b2 b3", "w2 w3"),
    ("other sizes", "w1 w4", "w2 b3", "w1 w2 b3 w4", "", "", ""),
)


@pytest.mark.parametrize("row", KNOCKS, ids=[row[0] for row in KNOCKS])
def test_knocking(row: tuple[str, ...]) -> None:
    """Arriving pieces knock pieces of their sizes to the opponent; one that knocks the other colour is immune."""
    _, arriving, tower, expected, white, black, immune = row
    state = GAME.play(position({(5, 5): arriving, (6, 6): tower, (11, 1): "b1"}), leg(5, 5, 6, 6))
    assert expected == towers(state)[6, 6]
    assert [white, black] == hands(state)
    state = state if GAME.to_move(state) == 1 else played(state, STOP)
    assert ([((6, 6), immune)] if immune else []) == [
        ((spot.row, spot.column), " ".join(spot.pieces)) for spot in GAME.view(state, 1).immune
    ]


def test_what_is_knocked_is_in_the_hand_before_the_next_leg() -> None:
    """After a leg, the opponent holds the knocked piece at once, before the move is over, and all seats are sent it."""
    played_leg = GAME.play(position({(5, 5): "w1 w2", (6, 6): "b1", (11, 1): "b1"}), leg(5, 5, 6, 6))
    assert (GAME.to_move(played_leg), hands(played_leg)) == (0, ["", "b1"])
    expected = {"action": "leg", "start": (5, 5), "end": (6, 6), "moved": ("w1", "w2"), "knocked": ("b1",)}
    assert GAME.news(played_leg) == News({**expected, "seat": 0, "skipped": ()}, None)
    assert GAME.deliver(played_leg) == played_leg


IMMUNITY: tuple[tuple[str, str, str | None], ...] = (
    ("onto the immune piece", "w1", "quincala.knock.immune"),
    ("onto another immune piece", "w2", None),
    ("onto a piece that is not immune", "", None),
)


@pytest.mark.parametrize(("_name", "immune", "expected"), IMMUNITY, ids=[row[0] for row in IMMUNITY])
def test_an_immune_piece_is_not_knocked(_name: str, immune: str, expected: str | None) -> None:
    """A leg must not end where it would knock an immune piece; joining one of another size is no knock."""
    marked = {(6, 6): immune} if immune else {}
    state = position({(6, 6): "w1 w2", (7, 7): "b1"}, to_move=1, immune=marked)
    assert expected == broken_rule(state, leg(7, 7, 6, 6))


def test_immunity_lasts_for_the_opponents_next_turn() -> None:
    """A piece that has knocked can't be knocked in the next turn; after that it can."""
    board = {(5, 5): "w1", (6, 6): "b1", (7, 7): "b1 b2", (1, 1): "w3", (11, 1): "b3"}
    state = played(position(board), leg(5, 5, 6, 6), place("b1", 11, 11))
    assert broken_rule(state, leg(7, 7, 6, 6)) == "quincala.knock.immune"
    state = played(state, leg(11, 1, 10, 1), leg(1, 1, 2, 1))
    assert broken_rule(state, leg(7, 7, 6, 6)) is None


def test_immunity_travels_with_the_piece() -> None:
    """A piece that knocks and goes on is immune where it ends; the piece that it left behind is not."""
    board = {(5, 5): "w1 w2", (6, 6): "b1 b2", (8, 1): "b4"}
    state = played(position(board), leg(5, 5, 6, 6), leg(6, 6, 6, 7))
    marks = [((spot.row, spot.column), spot.pieces) for spot in GAME.view(state, 1).immune]
    assert marks == [((6, 6), ("w2",)), ((6, 7), ("w1",))]


def test_a_knocked_piece_loses_its_immunity() -> None:
    """The mover may knock its own piece that knocked in the same move; neither piece is immune then."""
    board = {(5, 5): "w1 w2", (5, 6): "b2", (5, 7): "w2 w3", (11, 1): "b4"}
    state = played(position(board), leg(5, 5, 5, 6), leg(5, 6, 5, 7))
    assert [((spot.row, spot.column), spot.pieces) for spot in GAME.view(state, 0).fresh] == [((5, 6), ("w2",))]
    state = played(state, leg(5, 7, 5, 6), STOP)
    assert towers(state) == {(5, 6): "w1 w2", (5, 7): "w3", (11, 1): "b4"}
    assert hands(state) == ["", "w2 b2"]
    assert GAME.view(state, 1).immune == ()
    state = played(state, place("w2", 8, 1), place("b2", 9, 1), leg(9, 1, 8, 1))
    assert (towers(state)[8, 1], hands(state)) == ("b2", ["w2", ""])


def test_the_start_has_full_towers() -> None:
    """With N sizes each player has N full towers on its second row; White begins with a move."""
    for sizes, columns in ((3, (4, 6, 8)), (4, (3, 5, 7, 9)), (5, (2, 4, 6, 8, 10))):
        state = GAME.new(GAME.parse_options({"sizes": sizes}), 2, Dealer(bytes(32)))
        expected = {
            (row, column): " ".join(f"{color}{size}" for size in range(1, sizes + 1))
            for row, color in ((2, "w"), (10, "b"))
            for column in columns
        }
        assert expected == towers(state)
        view = GAME.view(state, 1)
        assert (view.order, view.phase, view.scores, view.hands) == ((0, 1), "move", (0, 0), ((), ()))


def test_there_is_no_chance() -> None:
    """Every shuffle deals the same game."""
    assert GAME.new(Options(), 2, Dealer(bytes(32))) == GAME.new(Options(), 2, Dealer(b"\1" * 32))


def test_both_seats_see_the_same() -> None:
    """Nothing is hidden: the views differ only in the seat."""
    state = played(position(TOWER, hands=[["w1"], ["b2"]]), place("w1", 1, 1), leg(2, 4, 3, 4))
    assert GAME.view(state, 0) == replace(GAME.view(state, 1), seat=0)


def test_every_verdict_has_an_example() -> None:
    """Each rule that a move can break has an example above that breaks it, and one that keeps it."""
    shown = {row[-1] for table in (LEGS, PLACINGS, IMMUNITY) for row in table}
    effects = {"place.surplus", "leg.sowing", "leg.cap", "knock.hand", "knock.lost", "turn.skip"}
    named = {f"quincala.{e}" for e in effects}
    verdicts = {rule for rule in GAME.rules if not rule.startswith("quincala.end.")} - named
    assert {None, *verdicts} == shown
