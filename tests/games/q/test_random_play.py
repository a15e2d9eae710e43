"""Random games of Q: invariants of every state, and the same verdicts from an independent checker.

Rounds are computed a second time here, with a list of the seats that have yet to move, to check the engine.
"""

from random import Random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.base import IllegalMove
from referee.games.q.forms import Exchange, Move, Pass, Place, State

from ...naive import q as naive_q
from .random_play import GAME, TOTAL, any_legal, dealt, grown, guess, replaced, shortened, tile_count

keys = st.binary(min_size=32, max_size=32)
seeds = st.integers(0, 2**32)
MAX_TURNS = 250


class Rounds:
    """The seats that have yet to move in this round, in order, and whether any has placed."""

    def __init__(self, state: State) -> None:
        self.order = list(state.order)
        self.left = list(state.order)
        self.placed = False
        self.is_idle = False

    def moved(self, move: Move) -> None:
        """Note that the first seat has moved."""
        self.placed = self.placed or isinstance(move, Place)
        self.order.append(self.order.pop(0))
        self.left.pop(0)
        self._settle()

    def dropped(self, seat: int) -> None:
        """Note that a seat has left the game."""
        self.order.remove(seat)
        self.left = [other for other in self.left if other != seat]
        self._settle()

    def _settle(self) -> None:
        if not self.left:
            self.is_idle = not self.placed
            self.left = list(self.order)
            self.placed = False


def check(state: State, rounds: Rounds) -> None:
    """Check what holds between two turns."""
    GAME.check_invariants(state)
    assert tile_count(state) == TOTAL
    assert all(len(hand) <= 6 for hand in state.hands)
    assert len(state.laid) == len(state.board)
    outcome = GAME.outcome(state)
    if state.finished:
        assert outcome is not None
        assert outcome.reason == "q.end.finished"
    elif not rounds.order:
        assert outcome is not None
        assert outcome.reason == "q.end.deserted"
    elif rounds.is_idle:
        assert outcome is not None
        assert outcome.reason == "q.end.idle-round"
        assert tuple(rounds.order) == outcome.order
    else:
        assert outcome is None
        assert tuple(rounds.order) == state.order
        assert len(rounds.left) == state.to_go


def play(state: State, move: Move) -> State:
    """Play and deliver a legal move, and check the reported points."""
    seat = state.order[0]
    played = GAME.play(state, move)
    public = GAME.news(played).public
    assert state.scores[seat] + public.get("points", 0) == played.scores[seat] == public["score"]
    assert (public.get("points", 0) > 0) == isinstance(move, Place)
    assert [score for other, score in enumerate(state.scores) if other != seat] == [
        score for other, score in enumerate(played.scores) if other != seat
    ]
    assert tile_count(played) == TOTAL
    return GAME.deliver(played)


@settings(max_examples=60)
@given(key=keys, seed=seeds, seats=st.integers(2, 4), pile=st.sampled_from((0, 5, 20, 60, 1080)))
def test_random_games_keep_every_invariant(key: bytes, seed: int, seats: int, pile: int) -> None:
    """There are always 1080 tiles, scores add up to the reported points, and rounds end when they should."""
    source = Random(seed)
    state = shortened(dealt(key, seats), pile)
    rounds = Rounds(state)
    check(state, rounds)
    for _ in range(MAX_TURNS):
        if GAME.outcome(state) is not None:
            break
        if source.random() < 0.005:
            seat = source.choice(state.order)
            state = GAME.drop(state, seat)
            rounds.dropped(seat)
        else:
            move = any_legal(state, source)
            state = play(state, move)
            rounds.moved(move)
        check(state, rounds)


@settings(max_examples=25)
@given(key=keys, seed=seeds, q_bonus=st.integers(0, 20), finish_bonus=st.integers(0, 20))
def test_an_independent_checker_agrees(key: bytes, seed: int, q_bonus: int, finish_bonus: int) -> None:
    """On random placements, legal or not, a plain reading of the rules gives the same verdict and the same points."""
    source = Random(seed)
    state = dealt(key, 2, q_bonus=q_bonus, finish_bonus=finish_bonus)
    for _ in range(25):
        for count in (1, 1, 2, 3, 6):
            compare(state, guess(state, source, count))
        grows = grown(state, source, source.choice((1, 2, 3, 6)))
        if grows is not None:
            compare(state, grows)
        state = play(state, any_legal(state, source))
        if GAME.outcome(state) is not None:
            break


def compare(state: State, move: Place) -> None:
    """Compare the verdicts of the engine and the checker on one placement."""
    board = {(row, column): tile for row, column, tile in state.laid}
    hand = [*GAME.view(state, state.order[0]).hand]
    placed = [(spot.row, spot.column, spot.tile) for spot in move.tiles]
    expected = naive_q.result(board, hand, placed)
    try:
        played = GAME.play(state, move)
    except IllegalMove:
        played = None
    assert (played is None) == (expected is None), placed
    if played is None or expected is None:
        return
    assert expected == {(row, column): tile for row, column, tile in played.laid}
    options = state.options
    points = naive_q.score(expected, hand, placed, options.q_bonus, options.finish_bonus)
    assert points == GAME.news(played).public["points"]


@settings(max_examples=30)
@given(key=keys, seed=seeds, turns=st.integers(0, 12))
def test_a_view_shows_nothing_hidden(key: bytes, seed: int, turns: int) -> None:
    """A seat's view does not depend on the tiles that others hold, wait for, or will draw."""
    source = Random(seed)
    state = dealt(key, 3)
    for _ in range(turns):
        state = GAME.deliver(GAME.play(state, source.choice((Pass(), Exchange(), any_legal(state, source)))))
        if GAME.outcome(state) is not None:
            return
    for moment in (state, GAME.play(state, Exchange())):
        for seat in range(3):
            expected = msgspec.msgpack.encode(GAME.view(moment, seat))
            assert expected == msgspec.msgpack.encode(GAME.view(permuted(moment, seat, source), seat))


def permuted(state: State, seat: int, source: Random) -> State:
    """Return the state with all tiles that are hidden from a seat shuffled again."""
    others = [other for other in range(len(state.hands)) if other != seat]
    arriving = state.arriving or ()
    hidden = [*state.pile, *(tile for other in others for tile in state.hands[other]), *arriving]
    source.shuffle(hidden)
    hands = list(state.hands)
    for other in others:
        hands[other] = tuple(hidden.pop() for _ in hands[other])
    on_the_way = None if state.arriving is None else tuple(hidden.pop() for _ in arriving)
    return replaced(state, hands=tuple(hands), arriving=on_the_way, pile=tuple(hidden))
