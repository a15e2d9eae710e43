"""Random games of Quad-Ominos: invariants of every state, what a seat may know, and that every game ends."""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from referee import chance
from referee.games.quadominos.forms import Move
from referee.games.quadominos.rounds import State
from referee.games.quadominos.tiles import BY_NAME, FACE_BY_NAME, TILE_OF, LaidTiles, lay_all

from .states import GAME, ZEROS, dealt, state_of

seeds = st.integers(0, 2**32)
SEATS = st.integers(2, 12)
POINTS = {"laid": 1, "bonus": 1, "went-out": 1, "drew": -1, "skipped": -1}
"""Event -> whether its points are won or lost."""


def any_move(state: State, source: Random) -> Move:
    """Return a legal move."""
    return source.choice(GAME.legal_moves(state))


def gained(events: list[dict[str, Any]], seats: int) -> list[int]:
    """Return what each seat won by some events."""
    points = [0] * seats
    for event in events:
        if event["event"] in POINTS:
            points[event["seat"]] += POINTS[event["event"]] * event["points" if "points" in event else "lost"]
    return points


def after_turns(source: Random, seats: int, turns: int) -> State | None:
    """Return a state after some random moves; None if the game ended before."""
    state = dealt(source.randrange(2**32), seats)
    for _ in range(turns):
        if GAME.outcome(state) is not None:
            return None
        state = GAME.deliver(GAME.play(state, any_move(state, source)))
    return None if GAME.outcome(state) else state


@settings(max_examples=12)
@given(seed=seeds, seats=SEATS, chain=st.booleans())
def test_random_games_keep_every_invariant(seed: int, seats: int, chain: bool) -> None:  # noqa: FBT001  # of hypothesis
    """All 125 tiles stay in the game, scores add up to the reported points, and the game ends."""
    source = Random(seed)
    state = dealt(seed, seats, chain_bonus=chain, target=300)
    assert gained(list(state.events), seats) == list(state.scores)
    state = GAME.deliver(state)
    while GAME.outcome(state) is None:
        seat = GAME.to_move(state)
        after = GAME.play(state, any_move(state, source))
        public = GAME.news(after).public
        told = gained(public["events"], seats)
        assert [before + won for before, won in zip(state.scores, told, strict=True)] == list(after.scores)
        assert (seat, after.scores[seat]) == (public["seat"], public["score"])
        state = GAME.deliver(after)
        GAME.check_invariants(state)
        tiles = [*map(TILE_OF.__getitem__, state.table.board.values()), *state.well]
        tiles += [tile for hand in state.hands for tile in hand]
        assert sorted(tiles) == list(range(125))


@pytest.mark.parametrize("seats", range(2, 13))
def test_random_games_reach_the_target(seats: int) -> None:
    """By default, games of random players end by the target after a few rounds."""
    source, state = Random(seats), dealt(seats, seats)
    while (outcome := GAME.outcome(state)) is None:
        state = GAME.deliver(GAME.play(state, any_move(state, source)))
    assert outcome.reason == "quadominos.end.target"
    assert state.round < 30


def test_a_game_out_of_reach_of_its_target_ends() -> None:
    """The greatest number of rounds ends a game that does not reach its target."""
    source, state = Random(1), dealt(1, 12, target=1_000_000, max_rounds=5)
    while (outcome := GAME.outcome(state)) is None:
        state = GAME.deliver(GAME.play(state, any_move(state, source)))
    assert (outcome.reason, state.round) == ("quadominos.end.cap", 5)


@settings(max_examples=25)
@given(seed=seeds, seats=SEATS, turns=st.integers(0, 120))
def test_a_view_shows_nothing_hidden(seed: int, seats: int, turns: int) -> None:
    """A seat's view does not depend on the tiles that others hold or will draw."""
    source = Random(seed)
    state = after_turns(source, seats, turns)
    if state is None:
        return
    for seat in range(seats):
        expected = msgspec.msgpack.encode(GAME.view(state, seat))
        assert expected == msgspec.msgpack.encode(GAME.view(permuted(state, seat, source), seat))


def permuted(state: State, seat: int, source: Random) -> State:
    """Return the state with all tiles that are hidden from a seat shuffled again."""
    hidden = [*state.well, *(tile for other, hand in enumerate(state.hands) if other != seat for tile in hand)]
    source.shuffle(hidden)
    hands = tuple(
        hand if other == seat else tuple(hidden.pop() for _ in hand) for other, hand in enumerate(state.hands)
    )
    return replace(state, hands=hands, well=tuple(hidden))


@settings(max_examples=15)
@given(seed=seeds, seats=SEATS, turns=st.integers(0, 120))
def test_an_imagined_state_can_be_played_on(seed: int, seats: int, turns: int) -> None:
    """A whole game can be played from the imagined state of any seat, at every step."""
    source = Random(seed)
    state = after_turns(source, seats, turns)
    if state is None:
        return
    seat = source.choice(state.order)
    shuffle = chance.Dealer(source.randbytes(chance.SEED_BYTES))
    imagined = GAME.imagine(state.options, GAME.view(state, seat), shuffle)
    assert (state.hands[seat], state.order, len(state.well)) == (
        imagined.hands[seat],
        imagined.order,
        len(imagined.well),
    )
    assert list(map(len, state.hands)) == list(map(len, imagined.hands))
    for _ in range(40):
        if GAME.outcome(imagined) is not None:
            break
        imagined = GAME.deliver(GAME.play(imagined, any_move(imagined, source)))
        GAME.check_invariants(imagined)


def test_whoever_is_asked_for_whatever_can_be_imagined() -> None:
    """At every step, each seat can imagine a state in which the seat to move has a move."""
    met: Counter[str] = Counter()
    for number in range(60):
        source, seats = Random(number), 2 + number % 4
        state = dealt(number, seats, chain_bonus=True)
        for _ in range(25):
            met[state.step] += 1
            for seat in range(seats if met[state.step] < 30 else 0):
                shuffle = chance.Dealer(source.randbytes(chance.SEED_BYTES))
                imagined = GAME.imagine(state.options, GAME.view(state, seat), shuffle)
                assert GAME.legal_moves(imagined)
            state = GAME.deliver(GAME.play(state, any_move(state, source)))
    assert met.keys() == {"open", "lay", "bonus", "second", "extra"}


BROKEN: tuple[tuple[str, Callable[[State], dict[str, Any]]], ...] = (
    ("twice", lambda state: {"well": state.hands[0]}),
    ("two turns", lambda state: {"order": (*state.order, state.order[0])}),
    ("more drawn", lambda state: {"drew": (99, *state.drew[1:])}),
    ("two numbers", lambda state: {"table": lay_all({**state.table.board, (0, 1): FACE_BY_NAME["0003"]})}),
    ("free cells around", lambda state: {"table": LaidTiles(state.table.board, {})}),
    ("a hand is empty", lambda state: {"hands": ((), *state.hands[1:])}),
    ("nothing is legal", lambda state: {"hands": ((BY_NAME["3333"],), *state.hands[1:])}),
    ("a dropped seat", lambda state: {"order": state.order[:1]}),
)


@pytest.mark.parametrize(("says", "broken"), BROKEN)
def test_a_state_that_contradicts_itself_is_found_out(says: str, broken: Callable[[State], dict[str, Any]]) -> None:
    state = state_of(["0001", "0005"], ["0002", "1111"], board=ZEROS)
    GAME.check_invariants(state)
    with pytest.raises(AssertionError, match=says):
        GAME.check_invariants(replace(state, **broken(state)))


@settings(max_examples=10)
@given(seed=seeds, seats=SEATS)
def test_players_may_leave_at_any_point(seed: int, seats: int) -> None:
    """A player may leave before or after its play is delivered; the others go on until one is left."""
    source = Random(seed)
    state = dealt(seed, seats)
    while GAME.outcome(state) is None:
        if source.random() < 0.15:
            gone = source.choice(state.order)
            was_same_turn = GAME.is_same_turn(state) and gone != GAME.to_move(state)
            state = GAME.drop(state, gone)
            assert (state.hands[gone], state.scores[gone]) == ((), 0)
            if GAME.outcome(state) is None:
                assert was_same_turn == GAME.is_same_turn(state)
        else:
            state = GAME.play(state, any_move(state, source))
            state = GAME.deliver(state) if source.random() < 0.8 else state
        GAME.check_invariants(state)
    assert len(state.order) >= 1
