"""How fast random players play in one process: these games, PettingZoo's classic games, and OpenSpiel's of like size.

Processor time, on one core. By rules: the legal steps alone, one drawn, the move played. With arrays: in each step also
what a program that learns is given, the observation and the mask of legal actions: of these games and PettingZoo's
through the environment, of OpenSpiel's the tensor. OpenSpiel's rules are written in C++, those of the others in Python.

Needs, besides the extra `test`: pip install 'pettingzoo[classic]' open-spiel
"""

import argparse
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from random import Random
from typing import Any

import numpy as np

from referee.encoding import ENCODINGS
from referee.pettingzoo import raw_env

from .rules import GAMES, by_steps, dealt

CLASSIC = ("tictactoe_v3", "connect_four_v3", "go_v5", "chess_v6")
SPIEL = ("tic_tac_toe", "connect_four", "go(board_size=19)", "chess", "backgammon", "gin_rummy", "quoridor")

PlayGame = Callable[[Random], int]
"""Plays one random game; returns its steps."""


def by_rules(number: int) -> PlayGame:
    """Return what plays one of our games by its rules alone."""
    game = GAMES[number]

    def _play(source: Random) -> int:
        state, steps = dealt(game, source), 0
        while game.outcome(state) is None:
            state, count = by_steps(game, state, source)
            steps += count
        return steps

    return _play


def in_environment(env: Any) -> PlayGame:
    """Return what plays games in an environment of PettingZoo."""

    def _play(source: Random) -> int:
        env.reset(seed=source.getrandbits(31))
        steps = 0
        for _ in env.agent_iter():
            observed, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            (legal,) = observed["action_mask"].astype(bool).nonzero()  # of numbers, that takes three times as long
            env.step(int(legal[source.randrange(len(legal))]))
            steps += 1
        return steps

    return _play


def in_spiel(game: Any, *, with_arrays: bool) -> PlayGame:
    """Return what plays a game of OpenSpiel."""
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
    """Play for so long, and return the figures of one row."""
    source, games, steps = Random(1), 0, 0
    play(source)  # what is made once
    begun = time.process_time()
    while (took := time.process_time() - begun) < seconds:
        steps += play(source)
        games += 1
    return f"{games / took:10.1f} {steps / games:8.0f} {took / steps * 1e6:8.1f}"


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks learning", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="processor time of each row, at least one game")
    seconds = parser.parse_args(arguments).seconds
    warnings.simplefilter("ignore", DeprecationWarning)
    pyspiel = import_module("pyspiel")
    print(f"  {'':<44} games a s  steps of  us a step\n  {'':<44}            a game")

    def _row(name: str, play: PlayGame) -> None:
        print(f"  {name:<42} {measured(play, seconds)}", flush=True)

    print("by rules")
    for number, game in enumerate(GAMES):
        _row(f"referee: {game.name}", by_rules(number))
    for name in SPIEL:
        _row(f"OpenSpiel: {name}", in_spiel(pyspiel.load_game(name), with_arrays=False))
    print("with arrays")
    for name in ENCODINGS:
        _row(f"referee: {name}", in_environment(raw_env(name)))
    for name in CLASSIC:
        _row(f"PettingZoo: {name}", in_environment(import_module(f"pettingzoo.classic.{name}").raw_env()))
    for name in SPIEL:
        _row(f"OpenSpiel: {name}", in_spiel(pyspiel.load_game(name), with_arrays=True))
    return 0
