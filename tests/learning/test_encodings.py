"""Games as arrays: the parts of an observation, the actions, and policies as players."""

import re
from itertools import accumulate
from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest

from referee.chance import Dealer
from referee.learning import ENCODINGS, Encoding, Part, chooser, encoding_of
from referee.learning.base import LIMIT, Mask, Vector
from referee.learning.window import WINDOW
from referee.plugins import load
from referee.testing.seats import plain
from tests.docs.manual import ROOT

TABLES = [(game, seats) for game in ENCODINGS for seats in load().games[game].seats]
_STEPS = 60
MIDDLE = WINDOW // 2


def begun(encoding: Encoding, seed: int) -> Any:
    """Return the start of a game."""
    return encoding.rules.new(encoding.options, encoding.seats, Dealer(bytes([seed]) * 32))


def restored(encoding: Encoding, position: Any) -> Any:
    """Return a given position."""
    return encoding.rules.restore(encoding.options, position)


def seen(encoding: Encoding, state: Any, chosen: tuple[Any, ...] = ()) -> dict[str, Any]:
    """Return the observation of the seat to move by part: places and values that are not zero."""
    observation = encoding.observation(state, encoding.rules.to_move(state), chosen)
    found = {part.name: encoding.part(observation, part.name) for part in encoding.parts}
    return {
        name: {tuple(map(int, place)): round(float(part[tuple(place)]), 3) for place in np.argwhere(part)}
        for name, part in found.items()
    }


@pytest.mark.parametrize(("game", "seats"), TABLES)
def test_a_policy_chooses_over_the_wire_as_at_home(game: str, seats: int) -> None:
    """From a plain view alone, it gets the same observations, step by step, and chooses the same move."""
    encoding, source = encoding_of(game, seats), Random(seats)
    rules, state, steps = encoding.rules, begun(encoding, seats), 0
    while steps < _STEPS and rules.outcome(state) is None:
        asked: list[tuple[bytes, bytes]] = []
        answers: list[int] = []
        seat, chosen = rules.to_move(state), tuple[Any, ...]()
        while (move := rules.move_of(chosen)) is None:
            legal = encoding.legal(state, chosen)
            assert sorted(map(repr, rules.legal_steps(state, chosen))) == sorted(map(repr, legal.values()))
            observation, mask = encoding.observation(state, seat, chosen), encoding.mask(legal)
            assert np.abs(observation).max() <= LIMIT
            assert sorted(legal) == list(np.flatnonzero(mask))
            asked.append((observation.tobytes(), mask.tobytes()))
            answers.append(source.choice(sorted(legal)))
            chosen = (*chosen, legal[answers[-1]])
            steps += 1

        def policy(
            observation: Vector, mask: Mask, asked: list[tuple[bytes, bytes]] = asked, answers: list[int] = answers
        ) -> int:
            assert asked.pop(0) == (observation.tobytes(), mask.tobytes())
            return answers.pop(0)

        assert plain(move) == plain(chooser(encoding, policy)(plain(rules.view(state, seat))))
        state = rules.deliver(rules.play(state, move))


@pytest.mark.parametrize(("game", "seats"), TABLES)
def test_what_was_observed_stays_as_it_was(game: str, seats: int) -> None:
    """Two games with one encoding by turns look as with encodings of their own, and no array changes later."""
    shared, source = encoding_of(game, seats), Random(seats)
    games = [(encoding := encoding_of(game, seats), begun(encoding, seed)) for seed in (1, 2)]
    rules, kept = shared.rules, list[tuple[Vector, bytes]]()
    for _ in range(_STEPS):
        own, state = games.pop(0)
        if rules.outcome(state) is None:
            seat = rules.to_move(state)
            kept.append((shared.observation(state, seat), own.observation(state, seat).tobytes()))
            state = rules.deliver(rules.play(state, source.choice(rules.legal_moves(state))))
        games.append((own, state))
    assert len(kept) > _STEPS // 4
    assert all(observed.tobytes() == expected for observed, expected in kept)


def test_a_policy_that_chooses_what_it_may_not_is_named() -> None:
    """An illegal action is an error of the policy."""
    encoding = encoding_of("quincy")
    state = begun(encoding, 1)
    choose = chooser(encoding, lambda _, mask: int(np.flatnonzero(mask == 0)[0]))
    with pytest.raises(ValueError, match="the policy chose action 0"):
        choose(plain(encoding.rules.view(state, 0)))


def test_quincy_is_seen() -> None:
    """The observation has stones and lines of both players, the hand, played dominoes, and the rest."""
    encoding = encoding_of("quincy")
    rows = ["A........", *(["........."] * 7), "....BBBB."]
    position = {"board": rows, "hands": [[[0, 1], [9, 9]], [[1, 1]]], "pile": [[2, 2]], "face_up": [[0, 0]]}
    assert seen(encoding, restored(encoding, position)) == {
        "board": {(0, 0, 0): 1, **{(plane, 8, column): 1 for plane in (1, 3) for column in (4, 5, 6, 7)}},
        "hand": {(1,): 1, (54,): 1},
        "face_up": {(0,): 1},
        "hand_sizes": {(0,): 0.4, (1,): 0.2},
        "pile": {(0,): round(1 / 45, 3)},
        "same_turn": {},
    }


def test_q_is_seen() -> None:
    """A tile of the move so far is on the map and not in the hand; a tile without a square is separate."""
    encoding = encoding_of("q")
    players = [{"score": 50, "hand": ["red-star", "red-8star"]}, {"score": 2000, "hand": ["blue-star"]}]
    state = restored(encoding, {"map": [[0, 0, "green-star"]], "pile": ["red-star"] * 108, "players": players})
    first = {(0, MIDDLE, MIDDLE): 1, (7, MIDDLE, MIDDLE): 1}
    second = {(plane, MIDDLE, MIDDLE + 1): 1 for plane in (0, 6, 12)}
    common = {"scores": {(0,): 0.5, (1,): 10}, "tiles_left": {(0,): 0.1}}
    held = {(0,): round(1 / 6, 3), (6,): round(1 / 6, 3)}
    assert seen(encoding, state) == {"map": first, "hand": held, "tile": {}, **common}
    chosen: tuple[Any, ...] = ("red-star", (0, 1), "red-8star")
    assert seen(encoding, state, chosen) == {"map": {**first, **second}, "hand": {}, "tile": {(6,): 1}, **common}


def test_quadominos_is_seen() -> None:
    """The observation has numbers at their corners, the chosen tile as it will lie, and the task."""
    encoding = encoding_of("quadominos")
    players = [{"score": -20, "hand": ["0001", "1111"]}, {"score": 0, "hand": ["2345"]}]
    state = restored(encoding, {"board": [[0, 0, "1100"]], "well": ["5555"], "players": players})
    corners = {(plane, MIDDLE, MIDDLE): value for plane, value in ((0, 1), (1, 0.2), (2, 0.2))}
    assert seen(encoding, state, ("0100",)) == {
        "table": corners,
        "hand": {(1,): 1, (55,): 1},
        "tile": {(0,): 1, (2,): 0.2},
        "task": {(1,): 1},
        "additional": {},
        "scores": {(0,): -0.2},
        "hand_sizes": {(0,): round(2 / 30, 3), (1,): round(1 / 30, 3)},
        "well": {(0,): round(1 / 125, 3)},
        "round": {(0,): 0.01},
    }


@pytest.mark.parametrize("seat", [0, 1])
def test_quincala_is_seen(seat: int) -> None:
    """Both seats see their own pieces first; the areas are those of the seat."""
    encoding = encoding_of("quincala", options={"sizes": 3})
    dots = [place for place, is_dot in zip(*_dots(), strict=True) if is_dot]
    (row, column), (other_row, other_column) = dots[0], dots[-1]
    board = [[row, column, ["w1", "w2"]], [other_row, other_column, ["b3"]]]
    found = seen(encoding, restored(encoding, {"board": board, "hands": [["w3"], []], "to_move": seat}))
    own, other = 5 * seat, 5 - 5 * seat
    assert found["board"] == {
        (own, row - 1, column - 1): 1,
        (own + 1, row - 1, column - 1): 1,
        (other + 2, other_row - 1, other_column - 1): 1,
    }
    assert found["hands"] == {(seat, own + 2): 0.2}
    assert found["black"] == ({(0,): 1} if seat else {})
    assert len(found["phase"]) == 1


def _dots() -> Any:
    """Return the places of the board of Quincala, and whether each is a dot."""
    game = load().games["quincala"]
    field = game.new(game.parse_options({}), 2, Dealer(bytes(32))).field
    return field.places, field.is_dot


def test_what_lies_beyond_the_window_has_one_action() -> None:
    """The action stands for the first square outside the window; such squares are not in the observation."""
    encoding = encoding_of("q")
    map_ = [[0, column, "red-star"] for column in range(60)]
    players = [{"score": 0, "hand": ["red-star"]}, {"score": 0, "hand": ["red-star"]}]
    state = restored(encoding, {"map": map_, "pile": [], "players": players})
    legal = encoding.legal(state, ("red-star",))
    squares: Any = encoding.rules.legal_steps(state, ("red-star",))
    beyond = [square for square in squares if not 14 <= square[1] <= 44]
    assert len(squares) == 122
    assert len(legal) == 2 * WINDOW + 1
    assert legal[encoding.actions - 1] == beyond[0]
    assert encoding.part(encoding.observation(state, 0), "map")[0].sum() == WINDOW


def listed(parts: tuple[Part, ...]) -> list[str]:
    """Return the rows of a table of parts: place, name, shape and meaning of each."""
    sizes = [prod(part.shape) for part in parts]
    ends = list(accumulate(sizes))
    return [
        f"| {end - size} to {end - 1} | `{part.name}` | {' x '.join(map(str, part.shape))} | {part.meaning} |"
        for part, size, end in zip(parts, sizes, ends, strict=True)
    ]


@pytest.mark.parametrize("game", ENCODINGS)
def test_the_manual_has_every_array(game: str) -> None:
    """The tables of actions and observations are those of the fewest seats, with default options."""
    page = (ROOT / "docs/reference/arrays.md").read_text()
    section = re.split(r"(?m)^## ", page[page.index(f"\n## {load().games[game].title}\n") + 4 :])[0]
    encoding = encoding_of(game)
    rows = [line for line in section.splitlines() if line.startswith("| ") and line[2].isdigit()]
    assert [*listed(encoding.kinds), *listed(encoding.parts)] == rows
