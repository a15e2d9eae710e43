"""Speed of random players in one process: these games, PettingZoo's classic games, and similar ones of OpenSpiel.

Speed is by processor time, on one core. "By rules", a step only lists the legal steps, draws one and plays it. "With
arrays", each step also makes the input of a program that learns: the observation and the mask of legal actions. For
these games and PettingZoo's, the environment makes them; for OpenSpiel's, it is the tensor. OpenSpiel's rules are
written in C++, the others in Python. For these games, the shares of the parts of a step with arrays are printed, too.
Timing each call makes these steps slower.

It needs the extra `test`; if packages for the other libraries' games are missing, it names them.
"""

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

from referee.learning import ENCODINGS
from referee.learning.pettingzoo import raw_env

from .rules import GAMES, by_steps, dealt

CLASSIC = ("tictactoe_v3", "connect_four_v3", "go_v5", "chess_v6")
SPIEL = ("tic_tac_toe", "connect_four", "go(board_size=19)", "chess", "backgammon", "gin_rummy", "quoridor")
PACKAGES = {"PettingZoo": "'pettingzoo[classic]'", "OpenSpiel": "open-spiel"}
"""Packages for the games of others."""

PlayGame = Callable[[Random], int]
"""Plays one random game; returns its steps."""
Row = tuple[str, str, Callable[[], PlayGame]]
"""Library, name of the game, and function that makes the player."""


def by_rules(number: int) -> PlayGame:
    """Return a function that plays one of our games, with only its rules."""
    game = GAMES[number]

    def _play(source: Random) -> int:
        state, steps = dealt(game, source), 0
        while game.outcome(state) is None:
            state, count = by_steps(game, state, source)
            steps += count
        return steps

    return _play


def in_environment(env: Any) -> PlayGame:
    """Return a function that plays games in an environment of PettingZoo."""

    def _play(source: Random) -> int:
        env.reset(seed=source.getrandbits(31))
        steps = 0
        for _ in env.agent_iter():
            observed, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            (legal,) = observed["action_mask"].astype(bool).nonzero()  # as numbers, that takes three times as long
            env.step(int(legal[source.randrange(len(legal))]))
            steps += 1
        return steps

    return _play


def in_own(name: str) -> PlayGame:
    """Return a function that plays one of our games with arrays."""
    return in_environment(raw_env(name))


def in_classic(name: str) -> PlayGame:
    """Return a function that plays one of PettingZoo's own games."""
    return in_environment(import_module(f"pettingzoo.classic.{name}").raw_env())


def in_spiel(name: str, *, with_arrays: bool) -> PlayGame:
    """Return a function that plays a game of OpenSpiel."""
    game = import_module("pyspiel").load_game(name)
    is_open = game.get_type().provides_observation_tensor

    def _play(source: Random) -> int:
        state, steps = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                actions, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(source.choices(actions, chances)[0])
                continue
            if with_arrays:
                np.array(state.observation_tensor() if is_open else state.information_state_tensor(), np.float32)
                legal = np.flatnonzero(state.legal_actions_mask())
                state.apply_action(int(legal[source.randrange(len(legal))]))
            else:
                state.apply_action(source.choice(state.legal_actions()))
            steps += 1
        return steps

    return _play


def measured(play: PlayGame, seconds: float) -> str:
    """Play for some seconds, and return the figures of one row."""
    source, games, steps = Random(1), 0, 0
    play(source)  # objects that are made once
    begun = time.process_time()
    while (took := time.process_time() - begun) < seconds:
        steps += play(source)
        games += 1
    return f"{games / took:10.1f} {steps / games:8.0f} {took / steps * 1e6:8.1f}"


def timed(plain: Callable[..., Any], part: str, spent: dict[str, float]) -> Callable[..., Any]:
    """Return a wrapper that adds the seconds of each call to those of its part."""

    def _timed(*arguments: Any) -> Any:
        begun = time.perf_counter()
        result = plain(*arguments)
        spent[part] += time.perf_counter() - begun
        return result

    return _timed


def shares(name: str, seconds: float) -> str:
    """Play for some seconds, and return the shares of a step with arrays; the rest comes last."""
    env, spent, source = raw_env(name), defaultdict[str, float](float), Random(1)
    play, rules, encoding = in_environment(env), env.encoding.rules, env.encoding
    methods = ((rules, "legal_steps"), (encoding, "legal"), (encoding, "observation"), (encoding, "mask"))
    playing = ((rules, method) for method in ("move_of", "play", "deliver", "outcome"))
    play(source)  # objects that are made once
    with ExitStack() as patches:
        for owner, method in (*methods, *playing):
            part = method if (owner, method) in methods else "play"
            patches.enter_context(patch.object(owner, method, timed(getattr(owner, method), part, spent)))
        begun = time.perf_counter()
        while (took := time.perf_counter() - begun) < seconds:
            play(source)
    spent["legal"] -= spent["legal_steps"]  # which are made in it
    parts = [spent[part] / took for part in ("legal_steps", "legal", "play", "observation", "mask")]
    return "".join(f"{share:13.0%}" for share in (*parts, 1 - sum(parts)))


RULES: tuple[Row, ...] = (
    *(("referee", game.name, partial(by_rules, number)) for number, game in enumerate(GAMES)),
    *(("OpenSpiel", name, partial(in_spiel, name, with_arrays=False)) for name in SPIEL),
)
ARRAYS: tuple[Row, ...] = (
    *(("referee", name, partial(in_own, name)) for name in ENCODINGS),
    *(("PettingZoo", name, partial(in_classic, name)) for name in CLASSIC),
    *(("OpenSpiel", name, partial(in_spiel, name, with_arrays=True)) for name in SPIEL),
)


def print_rows(rows: Iterable[Row], seconds: float) -> set[str]:
    """Measure and print rows; return the missing packages."""
    missing = set()
    for whose, name, make in rows:
        try:
            play = make()
        except ImportError:
            missing.add(PACKAGES[whose])
        else:
            print(f"  {f'{whose}: {name}':<42} {measured(play, seconds)}", flush=True)
    return missing


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks learning", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="processor time of each row, at least one game")
    seconds = parser.parse_args(arguments).seconds
    warnings.simplefilter("ignore", DeprecationWarning)
    print(f"  {'':<44} games a s  steps of  us a step\n  {'':<44}            a game\nby rules")
    missing = print_rows(RULES, seconds)
    print("with arrays")
    missing |= print_rows(ARRAYS, seconds)
    parts = ("legal steps", "actions", "playing", "observation", "mask", "the rest")
    print(f"shares of a step with arrays\n  {'':<20}{''.join(f'{part:>13}' for part in parts)}")
    for name in ENCODINGS:
        print(f"  {name:<20}{shares(name, seconds)}", flush=True)
    if missing:
        print(f"not measured here, for want of packages: pip install {' '.join(sorted(missing))}")
    return 0
