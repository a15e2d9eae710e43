"""How a game of Quincy ends: two lines, a wash, expulsions at any point; and what a view shows and hides."""

from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee import chance
from referee.games.base import News, Outcome
from referee.games.quincy.board import Square
from referee.games.quincy.forms import PublicEvent, State
from referee.match.commands import Result
from referee.match.machine import Match
from referee.match.setup import MatchSetup
from referee.testing import ScriptedSeat, plain

from ...driving import drive, random_chooser
from .playing import GAME, OPTIONS, begun, column, held, move, play, row, written

keys = st.binary(min_size=32, max_size=32)
seeds = st.integers(0, 2**32)

WINS: tuple[tuple[str, list[Square], str, bool], ...] = (
    ("the first line", row(1, 1, 3), "14 +14", False),
    ("a second line elsewhere", [*row(1, 1, 3), *column(9, 4, 7)], "14 +14", True),
    ("a second line that crosses the first", [*row(1, 1, 4), *column(2, 2, 3)], "24 +42", True),
    ("both lines from one stone", [*row(4, 1, 3), *column(4, 5, 7)], "44 +44", True),
    ("a run of eight", [*row(3, 1, 4), *row(3, 6, 8)], "35 +35", False),
    ("a run of eight, from a line and a half", row(3, 1, 7), "38 +38", False),
    ("four and four in one row", [*row(3, 1, 4), *row(3, 7, 9)], "36 +36", True),
    ("a longer line and a crossing one", [*row(3, 2, 6), *column(7, 4, 6)], "37 +37", True),
    ("a diagonal and a row", [(1, 1), (2, 2), (3, 3), *row(4, 5, 7)], "44 +44", True),
    ("the other diagonal and a column", [(9, 1), (8, 2), (7, 3), *column(4, 7, 9)], "46 +64", True),
    ("three and three", [*row(1, 1, 2), *column(9, 1, 2)], "13 +13", False),
)


@pytest.mark.parametrize(("_name", "stones", "text", "is_win"), WINS, ids=[row[0] for row in WINS])
def test_two_lines_win(_name: str, stones: list[Square], text: str, is_win: bool) -> None:  # noqa: FBT001  # of a table
    """A team wins at the end of a turn in which its stones form two lines, in one move or in two."""
    state = begun(f"{text[:2]} 99", "29", pile="66 77", a=[square for square in stones if square != (9, 9)])
    played = GAME.play(state, move(text))
    expected = Outcome(((0,), (1,)), (1, 0), (1, 0), "quincy.end.lines") if is_win else None
    assert expected == GAME.outcome(played)
    assert (None if is_win else ((6, 6),)) == GAME.news(played).draws


def test_a_win_draws_nothing() -> None:
    """The pile and the hand stay as they are, and nothing is to be delivered."""
    played = GAME.play(begun("44 12", "29", pile="66", a=[*row(4, 1, 3), *column(4, 5, 7)]), move("44 +44"))
    public = {"action": "add", "domino": (4, 4), "square": (4, 4), "seat": 0, "lines": 2}
    assert News(public, None) == GAME.news(played)
    assert (held(played, 0), written(played.pile)) == ("12", "66")
    assert played == GAME.deliver(played)


def test_partners_win_together() -> None:
    """In a game of four, a team's stones count together; both partners have the first rank and the point."""
    state = begun("12 13", "44 25", "34 35", "45 46", b=[*row(4, 1, 3), *column(4, 5, 7)])
    won = play(state, "12 +12", "44 +44")
    assert Outcome(((3, 1), (2, 0)), (0, 1, 0, 1), (2, 3, 0, 1), "quincy.end.lines") == GAME.outcome(won)
    assert GAME.teams(OPTIONS, 4) == ((0, 2), (1, 3))
    assert GAME.teams(OPTIONS, 2) == ()


def test_all_dominoes_exhausted_is_a_wash() -> None:
    """If the last domino is played without a winner, all seats share the rank, without a point."""
    state = play(begun("12", "34", pile="56"), "12 +12", "34 +34")
    assert GAME.outcome(state) is None
    washed = play(state, "56 +56")
    assert Outcome(((1, 0),), (0, 0), (1, 0), "quincy.end.wash") == GAME.outcome(washed)


def test_nobody_can_play_any_more() -> None:
    """When all dominoes left in the hands are unplayable, they are discarded, and the game is a wash."""
    state = play(begun("12 11", "22", a=[(1, 1), (2, 2)]), "12 +12")
    assert Outcome(((1, 0),), (0, 0), (1, 0), "quincy.end.wash") == GAME.outcome(state)
    assert written(state.face_up) == "12 22 11"


@pytest.mark.parametrize("seat", [0, 1])
def test_the_other_one_wins_when_one_of_two_is_expelled(seat: int) -> None:
    """In a game of two, the seat that is left wins; the dominoes of the expelled one lie face down."""
    state = GAME.drop(begun("12 13", "34 35", pile="56"), seat)
    scores = (int(seat != 0), int(seat != 1))
    assert Outcome(((1 - seat,),), scores, (1 - seat,), "quincy.end.eliminated") == GAME.outcome(state)
    assert held(state, seat) == ""
    assert GAME.view(state, 1 - seat).since[-1] == PublicEvent(seat, "expelled", (), None)
    deserted = GAME.outcome(GAME.drop(state, 1 - seat))
    assert Outcome((), (0, 0), (), "quincy.end.eliminated") == deserted


def test_the_partner_plays_on_alone() -> None:
    """In a game of four, a team without one of its players goes on; without both, the others win."""
    state = GAME.drop(begun("12 13", "23 24", "34 35", "45 46"), 0)
    assert (GAME.outcome(state), GAME.to_move(state), held(state, 0)) == (None, 1, "")
    state = play(state, "23 +23", "34 +34", "45 +45")
    assert GAME.to_move(state) == 1
    won = GAME.drop(state, 2)
    assert Outcome(((1, 3),), (0, 1, 0, 1), (1, 3), "quincy.end.eliminated") == GAME.outcome(won)


def test_the_lone_partner_can_win() -> None:
    """An expelled partner has no rank and no point."""
    state = GAME.drop(begun("12 13", "23 24", "44 35", "45 46", a=[*row(4, 1, 3), *column(4, 5, 7)]), 0)
    won = play(state, "23 +23", "44 +44")
    assert Outcome(((2,), (3, 1)), (0, 0, 1, 0), (3, 1, 2), "quincy.end.lines") == GAME.outcome(won)


def test_who_is_expelled_before_its_draw_arrives_loses_it_too() -> None:
    """A domino on its way lies face down, and is in no hand."""
    played = GAME.play(begun("12 13", "23 24", "34 35", "45 46", pile="66 77"), move("12 +12"))
    dropped = GAME.drop(played, 0)
    assert (GAME.to_move(dropped), held(dropped, 0), written(dropped.pile)) == (1, "", "77")
    assert {"66", "13"} <= set(written(dropped.face_down).split())
    assert dropped == GAME.deliver(dropped)


def test_who_is_expelled_between_a_discard_and_its_play_ends_its_turn() -> None:
    """The next seat's turn is a new one."""
    state = play(begun("11 12", "23 24", "34 35", "45 46", pile="66 77", a=[(1, 1)]), "11")
    assert GAME.is_same_turn(state)
    assert GAME.is_same_turn(GAME.drop(state, 1))
    dropped = GAME.drop(state, 0)
    assert (GAME.to_move(dropped), GAME.is_same_turn(dropped)) == (1, False)


def test_an_expulsion_can_leave_nobody_who_can_play() -> None:
    """If the last one with a playable domino leaves, the others share a wash."""
    state = begun("12", "11", "22", "33", a=[(1, 1), (2, 2), (3, 3)])
    outcome = GAME.outcome(GAME.drop(state, 0))
    assert outcome is not None
    assert (outcome.reason, sorted(outcome.ranking[0]), outcome.scores) == ("quincy.end.wash", [1, 2, 3], (0, 0, 0, 0))


# --- views


def test_a_view_tells_what_happened_since_the_last_move() -> None:
    """A view has the others' moves, skips and expulsions until the seat has moved again."""
    state = play(begun("12 13", "23 24", "11", "45 46", a=[(1, 1)]), "12 +12", "23 +23")
    added = (PublicEvent(1, "add", ((2, 3),), (2, 3)), PublicEvent(2, "skip", ((1, 1),), None))
    assert list(added) == GAME.view(state, 0).since
    assert list(added[1:]) == GAME.view(state, 1).since
    dropped = GAME.drop(state, 3)
    assert [*added, PublicEvent(3, "expelled", (), None)] == GAME.view(dropped, 0).since
    assert GAME.view(play(dropped, "13 +13"), 0).since == []


def test_a_view_is_plain_and_whole() -> None:
    """A program in any language is sent lists, numbers and short strings."""
    state = play(begun("12 35", "08 24", pile="66 77 88", a=row(1, 1, 4), b=[(9, 9)], face_up="99"), "35 +53")
    assert plain(GAME.view(state, 1)) == {
        "seat": 1,
        "stone": "B",
        "hand": [[0, 8], [2, 4]],
        "drew": [],
        "same_turn": False,
        "order": [1, 0],
        "hand_sizes": [2, 2],
        "pile": 2,
        "board": ["AAAA.....", *["........."] * 3, "..A......", *["........."] * 3, "........B"],
        "lines": [{"stone": "A", "squares": [[1, 1], [1, 2], [1, 3], [1, 4]]}],
        "face_up": [[9, 9], [3, 5]],
        "since": [{"seat": 0, "action": "add", "dominoes": [[3, 5]], "square": [5, 3]}],
    }


@settings(max_examples=25)
@given(key=keys, seed=seeds, seats=st.sampled_from((2, 4)))
def test_views_do_not_depend_on_what_they_hide(key: bytes, seed: int, seats: int) -> None:
    """A seat's view does not depend on the others' hands, the pile, and the dominoes that were laid face down."""
    source = Random(seed)
    state = GAME.new(OPTIONS, seats, chance.Dealer(key))
    while GAME.outcome(state) is None:
        played = GAME.play(state, source.choice(GAME.legal_moves(state)))
        for moment in (state, played):
            seat = source.randrange(seats)
            expected = msgspec.msgpack.encode(GAME.view(moment, seat))
            assert expected == msgspec.msgpack.encode(GAME.view(permuted(moment, seat, source), seat))
        state = GAME.deliver(played)
        if source.random() < 0.02:
            state = GAME.drop(state, source.choice(state.order))


def permuted(state: State, seat: int, source: Random) -> State:
    """Return the state with all dominoes that are hidden from a seat shuffled again."""
    hands: list[Any] = list(state.hands)
    others = [other for other in range(len(hands)) if other != seat]
    hidden = [
        *state.pile,
        *state.face_down,
        *(state.arriving or ()),
        *(hand for other in others for hand in hands[other]),
    ]
    source.shuffle(hidden)
    for other in others:
        hands[other] = tuple(hidden.pop() for _ in hands[other])
    parts = {name: getattr(state, name) for name in ("pile", "face_down", "arriving")}
    mixed = {name: None if part is None else tuple(hidden.pop() for _ in part) for name, part in parts.items()}
    return msgspec.structs.replace(state, hands=tuple(hands), **mixed)


def test_an_imagined_state_deals_what_is_hidden() -> None:
    """The other hands change with the shuffle; if there is no pile, the seat to move can always play a domino."""
    crowd = [(number, number) for number in range(1, 9)]
    state = play(begun("35 12", "11 22 99", a=crowd[::2], b=crowd[1::2]), "35 +53")
    seen = GAME.view(state, 0)
    hands = set()
    for number in range(60):
        imagined = GAME.imagine(OPTIONS, seen, chance.Dealer(bytes([number] * 32)))
        GAME.check_invariants(imagined)
        assert plain(seen) == plain(GAME.view(imagined, 0))
        assert {type(legal_move).__name__ for legal_move in GAME.legal_moves(imagined)} & {"Add", "Remove"}
        hands.add(held(imagined, 1))
    assert len(hands) > 50


@settings(max_examples=40)
@given(key=keys, seed=seeds, seats=st.sampled_from((2, 4)))
def test_who_leaves_at_any_point_leaves_a_whole_game(key: bytes, seed: int, seats: int) -> None:
    """A seat may leave before or after a delivery: no domino is lost, and the game ends within 55 moves."""
    source = Random(seed)
    state = GAME.new(OPTIONS, seats, chance.Dealer(key))
    moves = 0
    while GAME.outcome(state) is None:
        state = GAME.play(state, source.choice(GAME.legal_moves(state)))
        moves += 1
        GAME.check_invariants(state)
        if source.random() < 0.05:
            state = GAME.drop(state, source.choice(state.order))
            GAME.check_invariants(state)
        state = GAME.deliver(state)
        GAME.check_invariants(state)
        if source.random() < 0.05 and GAME.outcome(state) is None:
            state = GAME.drop(state, source.choice(state.order))
            GAME.check_invariants(state)
    assert moves <= 55


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("acknowledge", [False, True])
def test_a_match_is_played_to_its_end(seats: int, acknowledge: bool) -> None:  # noqa: FBT001  # of a table
    """Random players finish a match, and a team shares its rank in the result."""
    seed = bytes(32)
    setup = MatchSetup(
        match="m",
        game="quincy",
        names=tuple("abcd"[:seats]),
        acknowledge=acknowledge,
        commitment=chance.commitment(seed),
    )
    match = Match(GAME, setup, seed)
    choose = random_chooser(GAME, Random(seats), match)
    for _ in drive(match, [ScriptedSeat(choose) for _ in range(seats)]):
        pass
    result = match.result
    assert isinstance(result, Result)
    assert (result.void, result.fouls) == (None, ())
    assert set(result.ranking) <= {(0, 2), (1, 3), (0,), (1,), tuple(range(seats))}
