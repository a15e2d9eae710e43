"""Quincy's turns by tables, from small positions: legal moves, draws and skips. test_ends.py has the ends."""

import pytest

from referee.games.base import IllegalMove, News
from referee.games.quincy import board
from referee.games.quincy.board import Square
from referee.games.quincy.forms import PublicEvent, State
from referee.testing import plain

from ..q.random_play import Unshuffled
from .playing import GAME, OPTIONS, begun, column, dominoes, held, move, play, row, written

HAND = "35 19 44 05 04 00"
A = [(2, 2), (7, 4)]
B = [(5, 8), (4, 4), *row(4, 6, 9), (8, 5), (1, 1)]


def broken_rule(state: State, text: str) -> str | None:
    """Return the rule that a move breaks; the state must stay as it was in any case."""
    before = repr(state)
    broken = None
    try:
        GAME.play(state, move(text))
    except IllegalMove as error:
        broken = error
    assert before == repr(state)
    assert broken is None or (broken.rule_id in GAME.rules and broken.detail)
    return None if broken is None else broken.rule_id


MOVES: tuple[tuple[str, str, str | None], ...] = (
    ("5|3 on row 5, column 3", "35 +53", None),
    ("5|3 on row 3, column 5", "35 +35", None),
    ("5|3 on the 5 of the doubles line", "35 +55", "quincy.add.named"),
    ("5|3 one column too far", "35 +54", "quincy.add.named"),
    ("9|1 in the upper right corner", "19 +19", None),
    ("9|1 in the lower left corner", "19 +91", None),
    ("9|1 in the lower right corner", "19 +99", "quincy.add.named"),
    ("a double that is taken", "44 +44", "quincy.add.empty"),
    ("a double elsewhere", "44 +45", "quincy.add.named"),
    ("a domino of the pile", "12 +12", "quincy.play.owned"),
    ("a domino of the other hand", "67 +67", "quincy.play.owned"),
    ("the 5-blank in row 5", "05 +52", None),
    ("the 5-blank in column 5", "05 +95", None),
    ("the 5-blank where row and column cross", "05 +55", None),
    ("the 5-blank off row and column", "05 +46", "quincy.add.wild"),
    ("the 5-blank on the opponent's stone", "05 +58", "quincy.add.empty"),
    ("the 4-blank on an own stone", "04 +74", "quincy.add.empty"),
    ("the double blank anywhere", "00 +73", None),
    ("the double blank on a stone", "00 +22", "quincy.add.empty"),
    ("the 4-blank takes from row 4", "04 -44", None),
    ("the 5-blank takes from row 5", "05 -58", None),
    ("the 5-blank takes from column 5", "05 -85", None),
    ("the 5-blank takes off row and column", "05 -11", "quincy.remove.wild"),
    ("the 5-blank takes from an empty square", "05 -51", "quincy.remove.opponent"),
    ("the 4-blank takes an own stone", "04 -74", "quincy.remove.opponent"),
    ("the 4-blank takes from a line", "04 -46", "quincy.remove.unbreakable"),
    ("the double blank takes from anywhere", "00 -11", None),
    ("the double blank takes from a line", "00 -49", "quincy.remove.unbreakable"),
    ("the double blank takes an own stone", "00 -22", "quincy.remove.opponent"),
    ("a domino without a blank takes", "44 -44", "quincy.remove.blank"),
    ("the unplayable double is discarded", "44", None),
    ("a playable domino is discarded", "35", "quincy.discard.unplayable"),
    ("a playable blank is discarded", "04", "quincy.discard.unplayable"),
    ("an unplayable domino of somebody else", "66", "quincy.play.owned"),
)


@pytest.mark.parametrize(("_name", "text", "expected"), MOVES, ids=[row[0] for row in MOVES])
def test_moves(_name: str, text: str, expected: str | None) -> None:
    """A move is legal, or breaks the named rule; the list of legal moves agrees."""
    state = begun(HAND, "67 66", pile="12", a=[*A, (6, 6)], b=B)
    assert expected == broken_rule(state, text)
    assert (expected is None) == (move(text) in GAME.legal_moves(state))


def test_every_rule_of_a_move_is_broken_and_kept_above() -> None:
    """The table has an example of each rule that a move can break, and of moves that keep it."""
    assert {rule for rule in GAME.rules if not rule.startswith("quincy.end.")} == {row[2] for row in MOVES} - {None}


LINES: tuple[tuple[str, list[Square], int], ...] = (
    ("nothing", [], 0),
    ("three", row(1, 1, 3), 0),
    ("four in a row", row(1, 1, 4), 1),
    ("four in a column", column(9, 6, 9), 1),
    ("four on the doubles line", [(6, 6), (7, 7), (8, 8), (9, 9)], 1),
    ("four across the doubles line", [(9, 1), (8, 2), (7, 3), (6, 4)], 1),
    ("four in a square", [*row(1, 1, 2), *row(2, 1, 2)], 0),
    ("four around the edge", [(1, 8), (1, 9), (2, 1), (2, 2)], 0),
    ("four with a gap", [*row(1, 1, 3), (1, 5)], 0),
    ("seven", row(5, 2, 8), 1),
    ("eight", row(5, 2, 9), 1),
    ("nine", column(5, 1, 9), 1),
    ("four and four with a gap", [*row(5, 1, 4), *row(5, 6, 9)], 2),
    ("two rows, one below the other", [*row(5, 1, 4), *row(6, 1, 4)], 2),
    ("a row and a column that cross", [*row(5, 3, 6), *column(4, 4, 7)], 2),
    ("a row and a column with a common end", [*row(1, 1, 4), *column(1, 1, 4)], 2),
    ("a square of four by four", [(r, c) for r in range(1, 5) for c in range(1, 5)], 10),
)


@pytest.mark.parametrize(("_name", "stones", "expected"), LINES, ids=[row[0] for row in LINES])
def test_lines(_name: str, stones: list[Square], expected: int) -> None:
    """A line is a longest straight run of four or more; nothing can be removed from its squares."""
    squares = sum(board.BITS[stone] for stone in set(stones))
    kept, count = board.survey(squares)
    lines = board.lines(squares)
    assert expected == count == len(lines)
    assert set(board.list_squares(kept)) == {square for line in lines for square in line}
    assert all(set(line) <= set(stones) and len(line) >= 4 for line in lines)


def test_a_lengthened_line_is_unbreakable_too() -> None:
    """A stone that is added at the end of a line is part of it; a stone next to it is not."""
    state = play(begun("39 12", "03 09", a=[*row(3, 5, 8), (2, 3)]), "39 +39")
    assert GAME.view(state, 1).lines[0].squares == row(3, 5, 9)
    assert broken_rule(state, "03 -39") == "quincy.remove.unbreakable"
    assert broken_rule(state, "09 -39") == "quincy.remove.unbreakable"
    assert broken_rule(state, "03 -23") is None


def test_a_removed_stone_is_gone() -> None:
    """The square is empty again. If it is filled later, the rest of three stones in a row is no line any more."""
    state = play(begun("05 12", "35 34", a=[(9, 9)], b=row(5, 1, 3)), "05 -52")
    assert GAME.view(state, 0).board[4] == "B.B......"
    assert broken_rule(state, "35 +53") == "quincy.add.empty"
    assert GAME.view(play(state, "35 +35"), 0).lines == []


def test_new_deals_in_seat_order() -> None:
    """Five dominoes a seat from the front, seat 0 first; the rest is the pile, and the board is empty."""
    state = GAME.new(OPTIONS, 4, Unshuffled())
    assert [held(state, seat) for seat in range(4)] == [
        "00 01 02 03 04",
        "05 06 07 08 09",
        "11 12 13 14 15",
        "16 17 18 19 22",
    ]
    assert (len(state.pile), written(state.pile[:2])) == (35, "23 24")
    assert GAME.view(state, 0).board == (".........",) * 9
    assert len(GAME.new(OPTIONS, 2, Unshuffled()).pile) == 45


def test_a_play_draws_one() -> None:
    """The next domino of the pile is on its way to the end of the hand; then the next seat is to move."""
    state = begun("35 19", "24", pile="66 77")
    played = GAME.play(state, move("35 +53"))
    public = {"action": "add", "domino": (3, 5), "square": (5, 3), "seat": 0, "lines": 0}
    assert News(public, ((6, 6),)) == GAME.news(played)
    assert (held(played, 0), written(played.pile)) == ("19", "77")
    after = GAME.deliver(played)
    assert (held(after, 0), GAME.to_move(after), GAME.is_same_turn(after)) == ("19 66", 1, False)
    assert GAME.view(after, 0).drew == dominoes("66")
    assert GAME.view(after, 1).drew == []


def test_an_empty_pile_hands_out_nothing() -> None:
    """The hand-out is empty, but there is one."""
    played = GAME.play(begun("05 19", "24", b=[(5, 5)]), move("05 -55"))
    public = {"action": "remove", "domino": (0, 5), "square": (5, 5), "seat": 0, "lines": 0}
    assert News(public, ()) == GAME.news(played)
    assert held(GAME.deliver(played), 0) == "19"


def test_a_discard_draws_and_the_turn_goes_on() -> None:
    """Unplayable dominoes are discarded one after another, the drawn one too; then the same seat plays."""
    state = begun("11 22 35", "24", pile="33 77 88", a=[(1, 1), (2, 2), (3, 3)])
    played = GAME.play(state, move("22"))
    assert News({"action": "discard", "domino": (2, 2), "seat": 0, "lines": 0}, ((3, 3),)) == GAME.news(played)
    state = GAME.deliver(played)
    assert (GAME.to_move(state), GAME.is_same_turn(state), held(state, 0)) == (0, True, "11 35 33")
    assert (GAME.view(state, 0).drew, GAME.view(state, 0).same_turn) == (dominoes("33"), True)
    state = play(state, "33")
    assert (GAME.to_move(state), GAME.is_same_turn(state), held(state, 0)) == (0, True, "11 35 77")
    state = play(state, "77 +77")
    assert (GAME.to_move(state), GAME.is_same_turn(state), held(state, 0)) == (1, False, "11 35 88")


def test_nobody_has_to_discard() -> None:
    """An unplayable domino may stay in the hand, and can be played once its square is empty again."""
    state = play(begun("11 35", "01 24", pile="77 88 99", a=[(1, 1)]), "35 +53")
    kept = play(state, "24 +42")
    assert broken_rule(kept, "11 +11") == "quincy.add.empty"
    assert broken_rule(kept, "11") is None
    freed = play(state, "01 -11")
    assert broken_rule(freed, "11 +11") is None
    assert broken_rule(freed, "11") == "quincy.discard.unplayable"


def test_without_a_pile_a_discard_is_not_replaced() -> None:
    """The turn goes on with the rest of the hand."""
    state = play(begun("11 35", "24", a=[(1, 1)]), "11")
    assert (GAME.to_move(state), held(state, 0)) == (0, "35")


def skips(state: State) -> list[tuple[int, str]]:
    """Return the skipped seats, and the dominoes that each laid face up."""
    return [
        (event.seat, " ".join(f"{low}{high}" for low, high in event.dominoes))
        for event in state.log
        if event.action == "skip"
    ]


def test_who_holds_only_unplayable_dominoes_is_skipped() -> None:
    """When nothing is left to draw, they are discarded for good, and the turn goes to the next seat."""
    state = play(begun("35 34", "11 22", "45", "67", a=[(1, 1), (2, 2)]), "35 +53")
    assert (GAME.to_move(state), held(state, 1), skips(state)) == (2, "", [(1, "11 22")])
    assert written(state.face_up) == "35 11 22"
    later = play(state, "45 +45", "67 +67", "34 +34")
    assert [seat for seat, _ in skips(later)] == [1, 1, 2, 3, 0]
    outcome = GAME.outcome(later)
    assert outcome is not None
    assert outcome.reason == "quincy.end.wash"


def test_while_the_pile_lasts_unplayable_dominoes_are_exchanged_instead() -> None:
    """A seat that can draw is not skipped, though it can only discard."""
    state = play(begun("35 34", "11 22", pile="77 78", a=[(1, 1), (2, 2)]), "35 +53")
    assert (GAME.to_move(state), skips(state)) == (1, [])
    assert [plain(legal_move)["action"] for legal_move in GAME.legal_moves(state)] == ["discard", "discard"]


def test_a_turn_may_end_with_discards_alone() -> None:
    """A seat that drew the last domino in vain, and can play none of the others, is skipped in mid-turn."""
    state = play(begun("11 22", "45", pile="33", a=[(1, 1), (2, 2), (3, 3)]), "22")
    assert (GAME.to_move(state), GAME.is_same_turn(state)) == (1, False)
    assert skips(state) == [(0, "11 33")]
    assert written(state.face_up) == "22 11 33"


def test_a_position_may_begin_with_a_skip() -> None:
    """If seat 0 of a position can do nothing, the next one begins."""
    state = begun("11", "45", a=[(1, 1)])
    assert (GAME.to_move(state), skips(state)) == (1, [(0, "11")])
    assert GAME.view(state, 1).since == [PublicEvent(0, "skip", ((1, 1),), None)]


def test_turns_go_round_the_table() -> None:
    """Four seats move in the order 0, 1, 2, 3, with the stones of two teams."""
    state = play(begun("12 13", "23 24", "34 35", "45 46"), "12 +12", "23 +23", "34 +34", "45 +45")
    assert GAME.to_move(state) == 0
    view = GAME.view(state, 3)
    assert [view.board[at][at + 1] for at in range(4)] == ["A", "B", "A", "B"]
    assert [GAME.view(state, seat).stone for seat in range(4)] == ["A", "B", "A", "B"]


def test_all_blanks_at_once_have_every_move() -> None:
    """Ten dominoes with blanks add on each empty square of their rows and columns, the double blank anywhere."""
    state = begun(" ".join(f"0{end}" for end in range(10)), "12", b=A)
    assert len(GAME.legal_moves(state)) == 9 * 17 + 81
