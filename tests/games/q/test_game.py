"""Turns, hands, scores and ends of Q by tables, from small positions. test_tiles.py has squares and runs."""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from referee.games.base import IllegalMove, News, Outcome
from referee.games.q import tiles
from referee.games.q.forms import Exchange, Move, Options, Pass, Place, Placement, State
from referee.games.q.game import QGame

from .random_play import Unshuffled, tile_count

GAME = QGame()
R, G, B = "red-star", "green-star", "blue-star"
RC, GC = "red-clover", "green-clover"
ALIEN = "purple-diamond"
Spot = tuple[int, int, str]
MAP: list[Spot] = [(0, 0, R)]


def position(*hands: list[str], pile: list[str] | None = None, scores: Any = None, spots: Any = None) -> State:
    """Return the state of a position, seats in turn order."""
    players = [{"score": 0, "hand": hand} for hand in hands]
    for player, score in zip(players, scores or (), strict=False):
        player["score"] = score
    return GAME.restore(Options(), {"map": spots or MAP, "pile": pile or [], "players": players})


def place(*spots: Spot) -> Place:
    """Return a placement."""
    return Place([Placement(*spot) for spot in spots])


def broken_rule(state: State, move: Move) -> str | None:
    """Return the rule that a move breaks; the state must stay as it was in any case."""
    before = repr(state)
    broken = None
    try:
        GAME.play(state, move)
    except IllegalMove as error:
        broken = error
    assert before == repr(state)
    assert broken is None or (broken.rule_id in GAME.rules and broken.detail)
    return None if broken is None else broken.rule_id


def turn(state: State, move: Move) -> State:
    """Return the state after a turn, with all drawn tiles delivered."""
    return GAME.deliver(GAME.play(state, move))


def names(of: Iterable[int]) -> list[str]:
    """Return tiles by name."""
    return [tiles.NAMES[tile] for tile in of]


PLACEMENTS: tuple[tuple[str, list[str], list[Spot], str | None], ...] = (
    ("nothing", [G], [], "q.place.some"),
    ("one tile", [G], [(0, 1, G)], None),
    ("a tile that is not in hand", [G], [(0, 1, B)], "q.place.owned"),
    ("a tile twice, once in hand", [G, B], [(0, 1, G), (0, 2, G)], "q.place.owned"),
    ("a tile twice, twice in hand", [G, G], [(0, 1, G), (0, 2, G)], None),
    ("more tiles than in hand", [G], [(0, 1, G), (0, 2, B)], "q.place.owned"),
    ("an empty hand", [], [(0, 1, G)], "q.place.owned"),
    ("a row", [G, B], [(0, 1, G), (0, 2, B)], None),
    ("a row, outwards on both sides", [G, B], [(0, 1, G), (0, -1, B)], None),
    ("a column", [G, B], [(1, 0, G), (2, 0, B)], None),
    ("a column beside the map", [G, B], [(0, 1, G), (1, 1, B)], None),
    ("neither row nor column", [G, B], [(0, 1, G), (1, 0, B)], "q.place.line"),
    ("an occupied spot", [G], [(0, 0, G)], "q.place.free"),
    ("one spot twice", [G, B], [(0, 1, G), (0, 1, B)], "q.place.free"),
    ("a spot beside nothing", [G], [(0, 2, G)], "q.place.adjacent"),
    ("a diagonal spot", [G], [(1, 1, G)], "q.place.adjacent"),
    ("beside a tile that comes later", [G, B], [(0, 2, B), (0, 1, G)], "q.place.adjacent"),
    ("the farthest spot", [G], [(2**31 - 1, -(2**31), G)], "q.place.adjacent"),
    ("no fit in the row", [ALIEN], [(0, 1, ALIEN)], "q.fit.row"),
    ("no fit in the column", [ALIEN], [(1, 0, ALIEN)], "q.fit.column"),
    ("the second tile does not fit", [G, ALIEN], [(0, 1, G), (0, 2, ALIEN)], "q.fit.row"),
    ("each fits the map, not the other", [G, RC], [(0, 1, G), (0, 2, RC)], "q.fit.row"),
    ("an equal tile", [R], [(0, 1, R)], None),
)


@pytest.mark.parametrize(("_name", "hand", "spots", "expected"), PLACEMENTS, ids=[row[0] for row in PLACEMENTS])
def test_placement(_name: str, hand: list[str], spots: list[Spot], expected: str | None) -> None:
    """A placement is legal, or breaks the named rule; the state stays as it was."""
    assert expected == broken_rule(position(hand, [B]), place(*spots))


SCORES: tuple[tuple[str, list[str], list[Spot], int], ...] = (
    ("one of two tiles", [G, B], [(0, 1, G)], 1 + 2),
    ("two of three tiles", [G, B, B], [(0, 1, G), (0, 2, B)], 2 + 3),
    ("the whole hand of one", [G], [(0, 1, G)], 1 + 2 + 6),
    ("the whole hand of two", [G, B], [(0, 1, G), (0, 2, B)], 2 + 3 + 6),
    (
        "a Q with the whole hand",
        ["green-star", "blue-star", "yellow-star", "orange-star", "purple-star"],
        [(0, column, f"{tiles.COLORS[column]}-star") for column in range(1, 6)],
        5 + 6 + 6 + 6,
    ),
)


@pytest.mark.parametrize(("_name", "hand", "spots", "points"), SCORES, ids=[row[0] for row in SCORES])
def test_score(_name: str, hand: list[str], spots: list[Spot], points: int) -> None:
    """A placement scores its runs, and a bonus for the whole hand, however many tiles are left to draw."""
    for pile in ([], [R, R, R]):
        played = GAME.play(position(hand, [B], pile=pile, scores=(10, 20)), place(*spots))
        assert played.scores == (10 + points, 20)
        assert points == GAME.news(played).public["points"]


def test_bonuses_are_options() -> None:
    options = GAME.parse_options({"q_bonus": 8, "finish_bonus": 4})
    players = [{"score": 0, "hand": ["purple-star"]}, {"score": 0, "hand": []}]
    spots = [(0, column, f"{color}-star") for column, color in enumerate(tiles.COLORS[:5])]
    state = GAME.restore(options, {"map": spots, "pile": [], "players": players})
    assert GAME.play(state, place((0, 5, "purple-star"))).scores[0] == 1 + 6 + 8 + 4


def test_new_deals_in_seat_order() -> None:
    """Each seat gets six tiles from the top, the next tile goes on the map, and the rest is the pile."""
    state = GAME.new(Options(), 3, Unshuffled())
    deck = tiles.ALL_TILES
    assert state.hands == (deck[:6], deck[6:12], deck[12:18])
    assert state.board == {(0, 0): deck[18]}
    assert tuple(state.pile) == deck[19:]
    assert state.order == (0, 1, 2)
    assert state.scores == (0, 0, 0)
    assert GAME.outcome(state) is None


def test_a_placement_draws_as_many_tiles() -> None:
    """As many tiles as were placed come from the front of the pile, and go in front of the rest of the hand."""
    state = position([G, B, RC], [B], pile=[GC, R, ALIEN])
    played = GAME.play(state, place((0, 1, G), (0, 2, B)))
    assert GAME.news(played) == News(
        {"action": "place", "tiles": ((0, 1, G), (0, 2, B)), "points": 5, "seat": 0, "score": 5}, (GC, R)
    )
    assert names(played.hands[0]) == [RC]
    assert names(played.pile) == [ALIEN]
    assert names(GAME.deliver(played).hands[0]) == [GC, R, RC]


@pytest.mark.parametrize(("pile", "draws"), [([], ()), ([GC], (GC,))])
def test_a_placement_draws_no_more_than_there_is(pile: list[str], draws: tuple[str, ...]) -> None:
    """A pile that is too small is handed out whole; it may be empty."""
    played = GAME.play(position([G, B, RC], [B], pile=pile), place((0, 1, G), (0, 2, B)))
    assert draws == GAME.news(played).draws
    assert played.pile == b""


def test_a_pass_hands_out_nothing() -> None:
    """The news has the pass, and no tiles are handed out."""
    played = GAME.play(position([G], [B], pile=[R]), Pass())
    assert GAME.news(played) == News({"action": "pass", "seat": 0, "score": 0}, None)
    assert GAME.to_move(GAME.deliver(played)) == 1


@pytest.mark.parametrize(
    ("hand", "pile", "expected"),
    [([G, B], [], "q.exchange.pile"), ([G, B], [R], "q.exchange.pile"), ([G, B], [R, R], None), ([], [], None)],
)
def test_exchange_needs_as_many_tiles(hand: list[str], pile: list[str], expected: str | None) -> None:
    """An exchange is legal if the pile has at least as many tiles as the hand."""
    assert expected == broken_rule(position(hand, [B], pile=pile), Exchange())


def test_an_exchange_appends_the_hand_and_draws_from_the_front() -> None:
    """The old hand goes to the end of the pile; the new one comes from its front."""
    played = GAME.play(position([G, B], [B], pile=[RC, GC, R]), Exchange())
    assert GAME.news(played) == News({"action": "exchange", "count": 2, "seat": 0, "score": 0}, (RC, GC))
    assert names(played.pile) == [R, G, B]
    assert names(GAME.deliver(played).hands[0]) == [RC, GC]


def test_an_empty_hand_may_exchange_and_does_not_finish() -> None:
    """A seat without tiles is handed out nothing, and the game goes on."""
    state = position([], [B, G], pile=[R])
    played = GAME.play(state, Exchange())
    assert GAME.news(played).draws == ()
    assert GAME.outcome(GAME.deliver(played)) is None


ROUNDS: tuple[tuple[str, list[Move], str | None], ...] = (
    ("the round is not over", [Pass()], None),
    ("all pass", [Pass(), Pass()], "q.end.idle-round"),
    ("all exchange", [Exchange(), Exchange()], "q.end.idle-round"),
    ("one exchanges, one passes", [Exchange(), Pass()], "q.end.idle-round"),
    ("the first one places", [place((0, 1, G)), Pass()], None),
    ("the last one places", [Pass(), place((0, 1, B))], None),
    ("placed in the round before, the next one not over", [place((0, 1, G)), Pass(), Pass()], None),
    ("placed in the round before only", [place((0, 1, G)), Pass(), Pass(), Pass()], "q.end.idle-round"),
)


@pytest.mark.parametrize(("_name", "moves", "expected"), ROUNDS, ids=[row[0] for row in ROUNDS])
def test_end_of_round(_name: str, moves: list[Move], expected: str | None) -> None:
    """A round without a placement ends the game at its end."""
    state = position([G, G], [B, B], pile=[R] * 9)
    for move in moves:
        assert GAME.outcome(state) is None
        state = turn(state, move)
    outcome = GAME.outcome(state)
    assert expected == (outcome and outcome.reason)


def test_one_seat_alone_plays_on() -> None:
    """A game with one seat left goes on until a round without a placement."""
    state = turn(position([G, G, G], pile=[R] * 9), place((0, 1, G)))
    assert GAME.outcome(state) is None
    outcome = GAME.outcome(turn(state, Pass()))
    assert outcome == Outcome(((0,),), (3,), (0,), "q.end.idle-round")


def test_an_empty_pile_does_not_end_the_game() -> None:
    """The game goes on when no tiles are left to hand out."""
    assert GAME.outcome(turn(position([G, G], [B], pile=[]), place((0, 1, G)))) is None


def test_finishing_ends_at_once() -> None:
    """Placing the whole hand ends the game. Nothing is handed out, and the finisher stays first in the order."""
    played = GAME.play(turn(position([G], [B], [RC], pile=[R], scores=(9, 0, 9)), Pass()), place((0, 1, B)))
    assert GAME.news(played).draws is None
    assert played.scores == (9, 9, 9)
    assert GAME.outcome(GAME.deliver(played)) == Outcome(((1, 2, 0),), (9, 9, 9), (1, 2, 0), "q.end.finished")


def test_ranking_goes_by_points() -> None:
    """More points rank higher; equal points share a rank."""
    state = position([G], [G], [G], [G], scores=(5, 9, 5, 0))
    for _ in range(4):
        state = turn(state, Pass())
    assert GAME.outcome(state) == Outcome(((1,), (0, 2), (3,)), (5, 9, 5, 0), (0, 1, 2, 3), "q.end.idle-round")


def test_a_dropped_hand_goes_to_the_end_of_the_pile() -> None:
    """The tiles of a dropped seat are handed out last, in the order of its hand; its points stay."""
    state = GAME.drop(position([G, B], [RC], pile=[R], scores=(7, 0)), 0)
    assert names(state.pile) == [R, G, B]
    assert state.hands == ((), (tiles.BY_NAME[RC],))
    assert state.order == (1,)
    assert state.scores == (7, 0)
    assert tile_count(state) == 1 + 1 + 3


def test_tiles_on_the_way_to_a_dropped_seat_are_lost() -> None:
    """A seat that drops out before its draw has arrived loses the draw for everybody; its old hand goes to the pile."""
    played = GAME.play(position([G, B], [RC], pile=[R, GC]), place((0, 1, G)))
    state = GAME.drop(played, 0)
    assert names(state.pile) == [GC, B]
    assert state.arriving is None
    assert state.lost == 1
    assert tile_count(played) == tile_count(state)


def test_tiles_on_the_way_reach_their_seat_when_another_drops() -> None:
    played = GAME.play(position([G, B], [RC], pile=[R, GC]), place((0, 1, G)))
    state = GAME.deliver(GAME.drop(played, 1))
    assert names(state.hands[0]) == [R, B]
    assert names(state.pile) == [GC, RC]
    assert state.lost == 0


DROPS: tuple[tuple[str, list[Move], int, str | None, int], ...] = (
    ("before anybody moved: the round goes on without it", [], 0, None, 1),
    ("the last one to move, nobody placed", [Pass(), Pass()], 2, "q.end.idle-round", 0),
    ("the last one to move, somebody placed", [place((0, 1, G)), Pass()], 2, None, 0),
    ("one that has moved already", [Pass()], 0, None, 1),
    ("one that placed already keeps the round alive", [place((0, 1, G))], 0, None, 1),
)


@pytest.mark.parametrize(("_name", "moves", "seat", "reason", "next_seat"), DROPS, ids=[row[0] for row in DROPS])
def test_drop_and_the_round(_name: str, moves: list[Move], seat: int, reason: str | None, next_seat: int) -> None:
    """A seat that leaves no longer counts for the round; its placements still do."""
    state = position([G, G], [G, G], [G, G], pile=[R] * 9)
    for move in moves:
        state = turn(state, move)
    state = GAME.drop(state, seat)
    outcome = GAME.outcome(state)
    assert reason == (outcome and outcome.reason)
    if outcome is None:
        assert next_seat == GAME.to_move(state)
    GAME.check_invariants(state)


def test_a_placer_that_leaves_keeps_its_round_alive() -> None:
    """If the seat that placed drops out and the others pass, the game goes on; the next round ends it."""
    state = GAME.drop(turn(position([G, G], [G], [G], pile=[R] * 9), place((0, 1, G))), 0)
    state = turn(turn(state, Pass()), Pass())
    assert GAME.outcome(state) is None
    state = turn(turn(state, Pass()), Pass())
    assert GAME.outcome(state) is not None


def test_nobody_left() -> None:
    """Without seats, the ranking is empty."""
    state = GAME.drop(GAME.drop(position([G], [B], scores=(3, 4)), 1), 0)
    assert GAME.outcome(state) == Outcome((), (3, 4), (), "q.end.deserted")


def test_view() -> None:
    """A view has the seat's own hand, all points, the turn order, the size of the pile, and the map."""
    state = turn(position([G, B], [RC], pile=[R, GC], scores=(3, 4)), place((0, 1, G)))
    assert msgspec.to_builtins(GAME.view(state, 0)) == {
        "seat": 0,
        "hand": [R, B],
        "scores": [6, 4],
        "order": [1, 0],
        "tiles_left": 1,
        "map": ((0, 0, R), (0, 1, G)),
    }


def test_legal_moves_lists_every_single_tile() -> None:
    """Pass, the exchange if the pile is large enough, and each square of each kind of tile in hand."""
    state = position([G, G, ALIEN], [B], pile=[R, R])
    around = [(-1, 0), (0, -1), (0, 1), (1, 0)]
    assert GAME.legal_moves(state) == [Pass(), *(place((row, column, G)) for row, column in around)]
    richer = position([G], [B], pile=[R])
    assert GAME.legal_moves(richer)[:2] == [Pass(), Exchange()]


def test_the_board_is_drawn() -> None:
    """A drawing has the map, all hands and points, and says which seat is to move and which are out."""
    state = GAME.drop(position([G], [ALIEN], [], spots=[(-2, 0, R), (-1, 0, R)], scores=(1, 22, 333)), 1)
    text = GAME.draw_text(state)
    for part in ("★", "  -2", "22 points", "333 points", "to move", "out"):
        assert part in text
