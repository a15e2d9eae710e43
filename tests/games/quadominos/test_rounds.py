"""Rounds and games of Quad-Ominos: deals, openings, draws, skipped turns, ends, and players that leave."""

from typing import Any

import pytest

from referee.games.base import Outcome
from referee.games.quadominos.rounds import State
from referee.testing import plain

from .states import CORNER, GAME, TWO_QUADS, ZERO, ZEROS, dealt, happened, held, lay, lays_of, played, state_of

STARTS = lay(0, 1, "0010")
"""Lays 0001 next to the quad-zero."""


# --- draws and skipped turns


def waiting(well: list[str], *others: list[str], mine: tuple[str, ...] = ("0001", "0005")) -> State:
    """Return a state on the quad-zero in which the seat after seat 0 can't lay a tile."""
    return state_of(list(mine), ["2222", "3333"], *others, board=ZEROS, well=well)


@pytest.mark.parametrize(
    ("well", "drew"), [(["0003"], 1), (["1111", "0003"], 2), (["1111", "4444", "1222", "0003", "0002"], 4)]
)
def test_the_referee_draws_until_a_tile_can_be_laid(well: list[str], drew: int) -> None:
    """Each drawn tile costs 20 points. All seats are sent how many, only the player which."""
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
    """A seat that can't lay a tile when the well is empty loses 20 points once, after those for its draws."""
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
    """The last tile of a hand ends the round, and scores all tiles of the other hands."""
    state = state_of(["0001"], ["0002", "1234"], ["2222"], board=ZEROS, rounds=1)
    assert {"event": "went-out", "seat": 0, "points": 2 + 10 + 8} in happened(state, STARTS)
    after = played(state, STARTS)
    assert GAME.outcome(after) == Outcome(((0,), (1, 2)), (1 + 20, 0, 0), (0, 1, 2), "quadominos.end.rounds")


def test_going_out_with_three_corners() -> None:
    """A last tile that earns a bonus takes 25 points, because there are no two more tiles."""
    after = played(state_of(["2223"], ["1111"], board=CORNER, rounds=1), lay(1, 1, "2223"))
    assert after.scores == (9 + 25 + 4, 0)


def test_going_out_with_additional_tiles() -> None:
    """The second additional tile may be the last of the hand."""
    moves = (lay(1, 1, "2223"), lay(0, -1, "0000"), lay(-1, 0, "0010"))
    after = played(state_of(["2223", "0000", "0001"], ["1111"], board=CORNER, rounds=1), *moves)
    assert after.scores == (9 + 0 + 1 + 4, 0)


def test_a_blocked_round() -> None:
    """A round ends when all players in turn were skipped; nobody gets the points."""
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
    """The next round has all 125 tiles again in another order, and the draws of the last one are forgotten."""
    after = played(state_of(["0001"], ["0002"], ["1111"], board=ZEROS), STARTS)
    again = played(state_of(["0001"], ["0002"], ["1111"], board=ZEROS, rounds=5), STARTS)
    assert after.round == 2
    assert after.hands == again.hands
    assert len(after.table.board) + len(after.well) + sum(map(len, after.hands)) == 125
    events = happened(state_of(["0001"], ["0002"], ["1111"], board=ZEROS), STARTS)
    assert events[2] == {"event": "dealt", "round": 2, "tiles": 20}


def test_the_news_tell_how_the_round_was_opened() -> None:
    """The news has the referee's actions before the first move."""
    state = dealt(0, 2)
    events = happened(state, plain(GAME.legal_moves(state)[0]))
    assert [event["event"] for event in events[:2]] == ["dealt", "laid"]
    assert events[0] == {"event": "dealt", "round": 1, "tiles": 30}


# --- players who leave


def three(step: str) -> State:
    """Return a state of three seats; the first one has some task."""
    hands = (["2223", "0000", "0001", "0333"], ["0002", "1111"], ["0003", "5555"])
    if step == "open":
        return state_of(*TWO_QUADS, ["1111", "0044"], board=())
    if step == "extra":
        return played(three("open"), ZERO)
    moves = {"lay": [], "bonus": [lay(1, 1, "2223")], "second": [lay(1, 1, "2223"), lay(0, -1, "0000")]}
    return played(state_of(*hands, board=CORNER, well=["4444"]), *moves[step])


@pytest.mark.parametrize("step", ["lay", "bonus", "second", "extra"])
def test_who_leaves_loses_its_turn(step: str) -> None:
    """Whatever its task when it leaves, its tiles go to the well's end, and the next seat's turn begins."""
    state = three(step)
    assert step == state.step
    after = GAME.drop(state, 0)
    GAME.check_invariants(after)
    assert (after.order, after.step, after.additional, after.bonuses) == ((1, 2), "lay", 0, 0)
    assert state.well + state.hands[0] == after.well
    assert (after.hands[0], after.scores[0], GAME.is_same_turn(after)) == ((), 0, False)


def test_who_leaves_while_it_opens() -> None:
    """The seats that stay open the round again."""
    after = GAME.drop(three("open"), 0)
    assert (after.order, after.scores, after.step) == ((1, 2), (0, 0, 0), "open")
    assert lays_of(after) == [(0, 0, "4444")]
    GAME.check_invariants(after)


@pytest.mark.parametrize("step", ["open", "lay", "bonus", "second", "extra"])
@pytest.mark.parametrize("seat", [1, 2])
def test_who_leaves_out_of_turn(step: str, seat: int) -> None:
    """The seat to move keeps its task."""
    state = three(step)
    after = GAME.drop(state, seat)
    GAME.check_invariants(after)
    assert (0, step, state.additional) == (GAME.to_move(after), after.step, after.additional)
    assert GAME.is_same_turn(state) == GAME.is_same_turn(after)
    assert GAME.legal_moves(state) == GAME.legal_moves(after)


def test_the_last_one_wins() -> None:
    """The game ends when one player is left, whatever its score; without players, the ranking is empty."""
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
    """A round is blocked only if all remaining players were skipped with the well empty."""
    state = state_of(["0001", "4444"], ["2222"], ["0003", "5555"], board=ZEROS)
    after = played(state, STARTS)
    assert (GAME.to_move(after), after.passes) == (2, 1)
    dropped = GAME.drop(after, 2)
    assert (GAME.to_move(dropped), dropped.round, len(dropped.well)) == (0, 1, 1)
    assert held(dropped, 0) == ["4444", "0003"]


def test_the_next_round_is_for_those_who_stay() -> None:
    """A player that left is dealt nothing, and the number of tiles fits the remaining players."""
    state = state_of(["0001"], ["0002"], ["0003"], ["1111"], board=ZEROS)
    after = played(GAME.drop(state, 2), STARTS)
    assert (after.round, after.hands[2], sorted(after.order)) == (2, (), [0, 1, 3])
    assert (after.step, sum(map(len, after.hands)), len(after.well)) == ("open", 60, 65)


def test_who_leaves_after_the_end_is_not_ranked() -> None:
    after = played(state_of(["0001"], ["0002"], ["1111"], board=ZEROS, rounds=1), STARTS)
    assert GAME.outcome(GAME.drop(after, 0)) == Outcome(((1, 2),), (0, 0, 0), (1, 2), "quadominos.end.rounds")
