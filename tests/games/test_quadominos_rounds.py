"""Quad-Ominos, rounds and games: deals, openings, draws, skipped turns, ends, and players who leave."""

from typing import Any

import pytest

from referee.games.base import IllegalMove, Outcome
from referee.games.quadominos_rounds import State
from referee.games.quadominos_tiles import TILE_OF, TILES
from referee.testing import plain

from .quadominos_states import (
    CORNER,
    DONE,
    GAME,
    POINTS,
    ZEROS,
    Spot,
    broken_rule,
    dealt,
    happened,
    lay,
    lays_of,
    played,
    state_of,
)

STARTS = lay(0, 1, "0010")
"""Lays 0001 beside the quad-zero."""
SEATS = range(2, 13)


def total(names: list[str]) -> int:
    """Return the sum of all numbers of some tiles."""
    return sum(int(number) for name in names for number in name)


def held(state: State, seat: int) -> list[str]:
    """Return the tiles of a hand."""
    return [TILES[tile] for tile in state.hands[seat]]


# --- deals and openings


@pytest.mark.parametrize(
    ("seats", "size"), [(2, 30), (3, 20), (4, 15), (5, 12), *((seats, 10) for seats in range(6, 13))]
)
def test_hands_are_dealt(seats: int, size: int) -> None:
    """Each player is dealt its number of tiles; one of them opens, and the rest of the 125 is the well."""
    for number in range(20):
        state = dealt(number, seats)
        laid, drawn = len(state.table.board), sum(state.drew)
        assert seats * size == sum(map(len, state.hands)) + laid - drawn
        assert 125 - seats * size - drawn == len(state.well)
        assert laid == (0 if state.step == "open" else 1)


@pytest.mark.parametrize("seats", SEATS)
def test_the_highest_quad_opens_or_else_the_highest_total(seats: int) -> None:
    """The holder of the highest quad of all hands is asked; or else the highest total lies on row 0, column 0."""
    for number in range(30):
        state = dealt(number, seats)
        opened = [TILES[TILE_OF[face]] for face in state.table.board.values()]
        mine = held(state, state.order[0])
        names = [
            name for seat in range(seats) for name in held(state, seat)[: len(state.hands[seat]) - state.drew[seat]]
        ]
        quads = [name for name in (*names, *opened) if len(set(name)) == 1]
        assert (state.step == "open") == bool(quads)
        if quads:
            assert max(quads) in mine
            due = {max(quads), *({"0000"} & set(mine))}
            assert sorted((0, 0, quad) for quad in due) == lays_of(state)
            continue
        expected = max([*names, *opened], key=lambda name: (total([name]), name))
        assert [expected] == opened
        assert list(state.table.board) == [(0, 0)]


OPENINGS: tuple[tuple[str, list[list[str]], Spot, tuple[int, ...], str], ...] = (
    ("the highest quad", [["1111", "0123"], ["3333", "0133", "0333"]], (1, 0, "3333"), (0, 12), "bonus"),
    ("a quad before a total", [["4555", "0123"], ["1111", "0112", "1122"]], (1, 0, "1111"), (0, 4), "bonus"),
    ("the only quad", [["0000", "0001", "0002"], ["0123", "3445"]], (0, 1, "0000"), (25, 0), "extra"),
)
"""Name, hands, (the order before and after it, the only tile to open with), scores, what is asked then."""


@pytest.mark.parametrize(("_name", "hands", "opens", "scores", "step"), OPENINGS, ids=[row[0] for row in OPENINGS])
def test_opening_with_a_quad(
    _name: str, hands: list[list[str]], opens: Spot, scores: tuple[int, ...], step: str
) -> None:
    """Who holds the highest quad is asked to lay it, even without a choice; it scores its total, and earns a bonus."""
    state = state_of(*hands, board=())
    assert (opens[:2], "open", [(0, 0, opens[2])]) == (state.order, state.step, lays_of(state))
    after = played(state, lay(0, 0, opens[2]))
    assert (opens[:2], scores, step) == (after.order, after.scores, after.step)


LAID_OPENINGS: tuple[tuple[str, list[list[str]], str, int], ...] = (
    ("the highest total", [["2234", "0044"], ["3334", "0033"]], "3334", 13),
    ("of equal totals the greater", [["1445", "0014"], ["2444", "0024"]], "2444", 14),
)


@pytest.mark.parametrize(("_name", "hands", "tile", "points"), LAID_OPENINGS, ids=[row[0] for row in LAID_OPENINGS])
def test_opening_without_a_quad(_name: str, hands: list[list[str]], tile: str, points: int) -> None:
    """The referee lays the tile of the highest total for its holder, and the next seat is to move."""
    state = state_of(*hands, board=())
    assert GAME.view(state, 0).board == ((0, 0, tile),)
    assert (state.order, state.scores, state.step) == ((0, 1), (0, points), "lay")
    assert not GAME.is_same_turn(state)


@pytest.mark.parametrize("seats", [2, 3])
def test_an_opening_yet_to_be_made_shows_the_others_who_is_to_open(seats: int) -> None:
    """With the quad-zero beside the highest quad or without it, everybody else sees the same."""
    others = [["1111", "0044"], ["0002", "0011"]][: seats - 1]
    with_it = state_of(["5555", "0000", "0055"], *others, board=(), well=["0001", "0003"])
    without_it = state_of(["5555", "0001", "0055"], *others, board=(), well=["0000", "0003"])
    for seat in range(1, seats):
        seen = GAME.view(with_it, seat)
        assert seen == GAME.view(without_it, seat)
        assert (seen.step, seen.order[0], seen.board) == ("open", 0, ())
    assert len(lays_of(with_it)) == 2
    assert lays_of(without_it) == [(0, 0, "5555")]


def test_an_opening_quad_without_two_more_tiles() -> None:
    """Who opens with a quad and can't lay two additional tiles is paid 25 points."""
    state = played(state_of(["0002", "0044"], ["4444", "0024"], board=()), lay(0, 0, "4444"))
    assert (state.scores, state.order, state.step) == ((0, 16 + 25), (0, 1), "lay")


def test_who_has_no_choice_opens_with_no_other_tile() -> None:
    """The rule names the quad that is due, and no quad-zero that the seat does not hold."""
    state = state_of(["5555", "1111"], ["0000"], board=())
    with pytest.raises(IllegalMove, match=r"open\.highest: 1111, while 5555 is to open the round"):
        GAME.play(state, GAME.parse_move(lay(0, 0, "1111")))


TWO_QUADS = [["5555", "0000", "0001", "0055", "0555"], ["4444", "0002", "0011"]]
HIGHEST, ZERO = lay(0, 0, "5555"), lay(0, 0, "0000")
ON_ZERO, ON_ZERO_TOO = lay(0, 1, "0010"), lay(-1, 0, "5500")
CHOICES: tuple[tuple[str, list[dict[str, Any]], dict[str, Any], str | None], ...] = (
    ("the highest quad", [], HIGHEST, None),
    ("the quad-zero", [], ZERO, None),
    ("another tile", [], lay(0, 0, "0001"), "quadominos.open.highest"),
    ("a quad of another", [], lay(0, 0, "4444"), "quadominos.lay.owned"),
    ("another place", [], lay(0, 1, "0000"), "quadominos.open.middle"),
    ("points at once", [], POINTS, "quadominos.bonus.choice"),
    ("nothing", [], DONE, "quadominos.turn.lay"),
    ("points for the highest quad", [HIGHEST], POINTS, None),
    ("nothing for the highest quad", [HIGHEST], DONE, "quadominos.bonus.choice"),
    ("a tile on the quad-zero", [ZERO], ON_ZERO, None),
    ("points on top of those of the quad-zero", [ZERO], POINTS, "quadominos.bonus.choice"),
    ("no tile on the quad-zero", [ZERO], DONE, None),
    ("a tile that does not fit", [ZERO], lay(0, 1, "0001"), "quadominos.lay.match"),
    ("a second tile", [ZERO, ON_ZERO], ON_ZERO_TOO, None),
    ("no second tile", [ZERO, ON_ZERO], DONE, None),
    ("points for the second tile", [ZERO, ON_ZERO], POINTS, "quadominos.bonus.choice"),
)


@pytest.mark.parametrize(("_name", "before", "raw", "expected"), CHOICES, ids=[row[0] for row in CHOICES])
def test_two_quads_to_open_with(
    _name: str, before: list[dict[str, Any]], raw: dict[str, Any], expected: str | None
) -> None:
    """Who holds the quad-zero beside the highest quad opens with one of them, and goes on as that one lets it."""
    state = played(state_of(*TWO_QUADS, board=()), *before)
    assert (GAME.to_move(state), GAME.is_same_turn(state)) == (0, bool(before))
    assert expected == broken_rule(state, raw)


@pytest.mark.parametrize(
    ("moves", "score", "is_over"),
    [
        ([HIGHEST], 20, False),
        ([HIGHEST, POINTS], 20 + 25, True),
        ([ZERO], 25, False),
        ([ZERO, DONE], 25, True),
        ([ZERO, ON_ZERO], 25 + 1, False),
        ([ZERO, ON_ZERO, DONE], 25 + 1, True),
        ([ZERO, ON_ZERO, ON_ZERO_TOO], 25 + 1 + 10, True),
    ],
)
def test_what_an_opening_scores(moves: list[dict[str, Any]], score: int, is_over: bool) -> None:  # noqa: FBT001  # of a table
    """The quad-zero takes 25 points and up to two tiles, the highest quad one of both; then the turn is over."""
    after = played(state_of(*TWO_QUADS, board=()), *moves)
    assert (score, is_over) == (after.scores[0], not GAME.is_same_turn(after))


def test_a_quad_zero_without_tiles_to_follow() -> None:
    """If nothing fits on an opening quad-zero, its turn is over with the 25 points."""
    after = played(state_of(["5555", "0000", "1234"], ["4444", "0002"], board=()), ZERO)
    assert (after.scores, after.step, GAME.to_move(after)) == ((25, 0), "lay", 1)


# --- draws and skipped turns


def waiting(well: list[str], *others: list[str], mine: tuple[str, ...] = ("0001", "0005")) -> State:
    """Return a state on the quad-zero in which the seat after seat 0 can't lay a tile."""
    return state_of(list(mine), ["2222", "3333"], *others, board=ZEROS, well=well)


@pytest.mark.parametrize(
    ("well", "drew"), [(["0003"], 1), (["1111", "0003"], 2), (["1111", "4444", "1222", "0003", "0002"], 4)]
)
def test_the_referee_draws_until_a_tile_can_be_laid(well: list[str], drew: int) -> None:
    """Each drawn tile costs 20 points; everybody is told how many, the player alone which."""
    state = waiting(well)
    assert happened(state, STARTS)[1:] == [{"event": "drew", "seat": 1, "tiles": drew, "lost": 20 * drew}]
    assert GAME.news(GAME.play(state, GAME.parse_move(STARTS))).draws is None
    after = played(state, STARTS)
    assert (GAME.to_move(after), after.scores) == (1, (1, -20 * drew))
    own, other = GAME.view(after, 1), GAME.view(after, 0)
    assert ["2222", "3333", *well[:drew]] == own.hand
    assert (well[:drew], []) == (own.drawn, other.drawn)
    for view in (own, other):
        assert ([0, drew], [0, 20 * drew], len(well) - drew) == (view.drew, view.lost, view.well)
    assert {"".join(sorted(tile)) for _, _, tile in lays_of(after)} == {"0003"}
    moved = GAME.view(played(after, lay(-1, 0, "0300")), 1)
    assert (moved.drawn, moved.drew) == ([], [0, 0])


@pytest.mark.parametrize("well", [[], ["1111"], ["1111", "4444"]])
def test_with_the_well_empty_a_turn_is_skipped(well: list[str]) -> None:
    """Who can't lay a tile when the well is empty loses 20 points once, after those for what was drawn in vain."""
    lost = 20 * len(well) + 20
    state = waiting(well)
    assert happened(state, STARTS)[-1] == {"event": "skipped", "seat": 1, "lost": 20}
    after = played(state, STARTS)
    view = GAME.view(after, 1)
    assert (GAME.to_move(after), GAME.is_same_turn(after), view.passes) == (0, False, 1)
    assert ([1, -lost], [0, 1], [0, lost]) == (view.scores, view.skipped, view.lost)


def test_what_was_lost_adds_up() -> None:
    """A seat sees everything that was drawn and skipped for it since its last move."""
    state = waiting(["1111"], mine=("0001", "0005", "0004", "5555"))
    after = played(state, STARTS, lay(-1, 0, "0500"))
    view = GAME.view(after, 1)
    assert (view.drawn, view.drew, view.skipped, view.lost) == (["1111"], [0, 1], [0, 2], [0, 60])


def test_a_tile_ends_a_row_of_skipped_turns() -> None:
    """Skipped turns count from the last tile on."""
    state = waiting([], ["0002", "4444"], ["4445", "5555"])
    assert GAME.view(played(state, STARTS), 0).passes == 1
    after = played(state, STARTS, lay(-1, 0, "0200"))
    assert (GAME.to_move(after), after.passes, after.skipped) == (0, 1, (0, 1, 0, 1))


# --- ends of rounds and games


def test_going_out_collects() -> None:
    """The last tile of a hand ends the round, and scores what all other hands hold."""
    state = state_of(["0001"], ["0002", "1234"], ["2222"], board=ZEROS, rounds=1)
    assert {"event": "went-out", "seat": 0, "points": 2 + 10 + 8} in happened(state, STARTS)
    after = played(state, STARTS)
    assert GAME.outcome(after) == Outcome(((0,), (1, 2)), (1 + 20, 0, 0), (0, 1, 2), "quadominos.end.rounds")


def test_going_out_with_three_corners() -> None:
    """A last tile that earns a bonus takes 25 points, for there are no two more."""
    after = played(state_of(["2223"], ["1111"], board=CORNER, rounds=1), lay(1, 1, "2223"))
    assert after.scores == (9 + 25 + 4, 0)


def test_going_out_with_additional_tiles() -> None:
    """The second additional tile may be the last of the hand."""
    moves = (lay(1, 1, "2223"), lay(0, -1, "0000"), lay(-1, 0, "0010"))
    after = played(state_of(["2223", "0000", "0001"], ["1111"], board=CORNER, rounds=1), *moves)
    assert after.scores == (9 + 0 + 1 + 4, 0)


def test_a_blocked_round() -> None:
    """A round ends when every player in turn was skipped; nobody collects."""
    state = state_of(["0055", "1111"], ["1234"], board=ZEROS, rounds=1)
    events = happened(state, lay(0, 1, "0550"))
    assert [event["event"] for event in events] == ["laid", "skipped", "skipped", "blocked"]
    after = played(state, lay(0, 1, "0550"))
    assert GAME.outcome(after) == Outcome(((0,), (1,)), (10 - 20, -20), (1, 0), "quadominos.end.rounds")


ENDS: tuple[tuple[str, dict[str, Any], list[int], str | None], ...] = (
    ("just below the target", {}, [795, 0], None),
    ("the target", {}, [797, 0], "quadominos.end.target"),
    ("another at the target", {}, [0, 800], "quadominos.end.target"),
    ("another target", {"target": 10}, [7, 0], "quadominos.end.target"),
    ("the last round", {"rounds": 1}, [0, 0], "quadominos.end.rounds"),
    ("not the last round", {"rounds": 2}, [1000, 0], None),
    ("too many rounds", {"max_rounds": 1}, [0, 0], "quadominos.end.cap"),
    ("too many rounds and the target", {"max_rounds": 1}, [800, 0], "quadominos.end.target"),
)


@pytest.mark.parametrize(("_name", "options", "scores", "expected"), ENDS, ids=[row[0] for row in ENDS])
def test_ends(_name: str, options: dict[str, Any], scores: list[int], expected: str | None) -> None:
    """After a round, which is worth 1 and 2 points here, the game is over or the next round is dealt."""
    after = played(state_of(["0001"], ["0002"], board=ZEROS, scores=scores, **options), STARTS)
    outcome = GAME.outcome(after)
    assert expected == (outcome and outcome.reason)
    assert (1 if expected else 2) == after.round


def test_the_target_is_looked_at_after_a_round() -> None:
    """Points in the middle of a round do not end a game."""
    after = played(state_of(["0001", "0002"], ["0003"], board=ZEROS, scores=[800, 0]), STARTS)
    assert GAME.outcome(after) is None


def test_equal_scores_share_the_rank() -> None:
    """The highest scores win together."""
    after = played(state_of(["0001"], ["0002"], ["1111"], board=ZEROS, scores=[0, 7, 9], rounds=1), STARTS)
    outcome = GAME.outcome(after)
    assert outcome is not None
    assert outcome.ranking == ((2,), (0, 1))


def test_a_new_round_is_dealt_anew() -> None:
    """The next round has all 125 tiles again, another deal, and nothing left of what was drawn before."""
    after = played(state_of(["0001"], ["0002"], ["1111"], board=ZEROS), STARTS)
    again = played(state_of(["0001"], ["0002"], ["1111"], board=ZEROS, rounds=5), STARTS)
    assert after.round == 2
    assert after.hands == again.hands
    assert len(after.table.board) + len(after.well) + sum(map(len, after.hands)) == 125
    events = happened(state_of(["0001"], ["0002"], ["1111"], board=ZEROS), STARTS)
    assert events[2] == {"event": "dealt", "round": 2, "tiles": 20}


def test_the_news_tell_how_the_round_was_opened() -> None:
    """What the referee did before the first move is told with it."""
    state = dealt(0, 2)
    events = happened(state, plain(GAME.legal_moves(state)[0]))
    assert [event["event"] for event in events[:2]] == ["dealt", "laid"]
    assert events[0] == {"event": "dealt", "round": 1, "tiles": 30}


# --- players who leave


def three(step: str) -> State:
    """Return a state of three seats, the first of which is asked for something."""
    hands = (["2223", "0000", "0001", "0333"], ["0002", "1111"], ["0003", "5555"])
    if step == "open":
        return state_of(*TWO_QUADS, ["1111", "0044"], board=())
    if step == "extra":
        return played(three("open"), ZERO)
    moves = {"lay": [], "bonus": [lay(1, 1, "2223")], "second": [lay(1, 1, "2223"), lay(0, -1, "0000")]}
    return played(state_of(*hands, board=CORNER, well=["4444"]), *moves[step])


@pytest.mark.parametrize("step", ["lay", "bonus", "second", "extra"])
def test_who_leaves_loses_its_turn(step: str) -> None:
    """Whatever a seat is asked for when it leaves, its tiles go to the well's end, and the next seat's turn begins."""
    state = three(step)
    assert step == state.step
    after = GAME.drop(state, 0)
    GAME.check_invariants(after)
    assert (after.order, after.step, after.additional, after.bonuses) == ((1, 2), "lay", 0, 0)
    assert state.well + state.hands[0] == after.well
    assert (after.hands[0], after.scores[0], GAME.is_same_turn(after)) == ((), 0, False)


def test_who_leaves_while_it_opens() -> None:
    """The round is opened once more, by those who stay."""
    after = GAME.drop(three("open"), 0)
    assert (after.order, after.scores, after.step) == ((1, 2), (0, 0, 0), "open")
    assert lays_of(after) == [(0, 0, "4444")]
    GAME.check_invariants(after)


@pytest.mark.parametrize("step", ["open", "lay", "bonus", "second", "extra"])
@pytest.mark.parametrize("seat", [1, 2])
def test_who_leaves_out_of_turn(step: str, seat: int) -> None:
    """The seat to move goes on with what it was asked for."""
    state = three(step)
    after = GAME.drop(state, seat)
    GAME.check_invariants(after)
    assert (0, step, state.additional) == (GAME.to_move(after), after.step, after.additional)
    assert GAME.is_same_turn(state) == GAME.is_same_turn(after)
    assert GAME.legal_moves(state) == GAME.legal_moves(after)


def test_the_last_one_wins() -> None:
    """The game ends when one player is left, whatever its score; with nobody left, nobody is ranked."""
    state = state_of(["0001", "0005"], ["0002"], ["0003"], board=ZEROS, scores=[5, -40, 900])
    alone = GAME.drop(GAME.drop(state, 2), 0)
    assert GAME.outcome(alone) == Outcome(((1,),), (0, -40, 0), (1,), "quadominos.end.last")
    assert GAME.outcome(GAME.drop(alone, 1)) == Outcome((), (0, 0, 0), (), "quadominos.end.last")


def test_what_a_leaver_held_can_be_drawn() -> None:
    """The tiles of an eliminated player come after what was in the well."""
    state = state_of(["0001", "0005"], ["2222"], ["3333"], board=ZEROS, well=["4444"])
    after = GAME.drop(state, 0)
    assert (after.order, after.scores) == ((1, 2), (0, -40, 0))
    assert held(after, 1) == ["2222", "4444", "0001"]


def test_skipped_turns_of_a_leaver_block_nothing() -> None:
    """A round is blocked only if all who stay were skipped with the well empty."""
    state = state_of(["0001", "4444"], ["2222"], ["0003", "5555"], board=ZEROS)
    after = played(state, STARTS)
    assert (GAME.to_move(after), after.passes) == (2, 1)
    dropped = GAME.drop(after, 2)
    assert (GAME.to_move(dropped), dropped.round, len(dropped.well)) == (0, 1, 1)
    assert held(dropped, 0) == ["4444", "0003"]


def test_the_next_round_is_for_those_who_stay() -> None:
    """Who left is dealt nothing, and as many tiles are dealt as fit those who stay."""
    state = state_of(["0001"], ["0002"], ["0003"], ["1111"], board=ZEROS)
    after = played(GAME.drop(state, 2), STARTS)
    assert (after.round, after.hands[2], sorted(after.order)) == (2, (), [0, 1, 3])
    assert (after.step, sum(map(len, after.hands)), len(after.well)) == ("open", 60, 65)


def test_who_leaves_after_the_end_is_not_ranked() -> None:
    """The result stands for the others."""
    after = played(state_of(["0001"], ["0002"], ["1111"], board=ZEROS, rounds=1), STARTS)
    assert GAME.outcome(GAME.drop(after, 0)) == Outcome(((1, 2),), (0, 0, 0), (1, 2), "quadominos.end.rounds")
