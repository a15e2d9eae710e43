"""A player program that lets a UCI engine play `openspiel:chess`.

    python -m referee_openspiel.uci stockfish
    python -m referee_openspiel.uci stockfish --nodes 2000 --option "Skill Level=3"

The engine is started once and stays for all matches of the program. With a bank, the engine manages its own time: it is
told both clocks, as over the board. Otherwise it is given most of the time of one move.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import chess
import chess.engine
import pyspiel
from chess.engine import Limit, SimpleEngine

from protocol.client import ClientError, run
from protocol.messages import Terms

SHARE = 0.7
"""Share of a move's time that the engine may think. The rest is for the way to it and back on a busy machine."""
SPARE_S = 0.05
"""Time kept back from the clock for the same reason, in seconds."""


class Clock:
    """The seat's clock as the engine is told it.

    The opponent's clock is not known to a player. The engine is told that it stands where its own does, which is what
    engines assume of an even game.

    Args:
        terms: the match's terms.
        nodes: positions to search a move; None: as many as the time allows.
    """

    def __init__(self, terms: Terms, nodes: int | None) -> None:
        control = terms.time
        self._nodes = nodes
        self._move_s = None if control.per_move_ms is None else control.per_move_ms / 1000
        self._bank_s = None if control.bank_ms is None else control.bank_ms / 1000
        self._increment_s = control.increment_ms / 1000

    def limit(self) -> Limit:
        """Return the limit of the next move."""
        time_s = None if self._move_s is None else max(self._move_s * SHARE - SPARE_S, 0.01)
        if self._bank_s is None:
            return Limit(time=time_s, nodes=self._nodes)
        left_s = max(self._bank_s - SPARE_S, 0.01)
        return Limit(
            white_clock=left_s,
            black_clock=left_s,
            white_inc=self._increment_s,
            black_inc=self._increment_s,
            nodes=self._nodes,
        )

    def spend(self, seconds: float) -> None:
        """Take the time of a move off the bank, and add the increment."""
        if self._bank_s is not None:
            self._bank_s += self._increment_s - seconds


def make_chooser(engine: SimpleEngine, nodes: int | None) -> Callable[[Terms], Callable[[Any], Any]]:
    """Return what makes the function from a view to a move for each match.

    Args:
        engine: the engine, started.
        nodes: positions to search a move; None: as many as the time allows.
    """

    def _make(terms: Terms) -> Callable[[Any], Any]:
        clock, rules = Clock(terms, nodes), pyspiel.load_game("chess")

        def _choose(view: Any) -> Any:
            begun = time.monotonic()
            # The board is built from all moves, not from the FEN, so that the engine sees repetitions.
            board, state = chess.Board(), rules.new_initial_state()
            for action in view["history"]:
                board.push_uci(pyspiel.chess.action_to_move(action, state.board()).to_lan())
                state.apply_action(action)
            move = engine.play(board, clock.limit(), game=terms.match).move
            if move is None:
                raise RuntimeError("the engine has resigned; the referee knows no resignation")
            clock.spend(time.monotonic() - begun)
            return state.parse_move_to_action(move.uci())

        return _choose

    return _make


def main() -> None:
    """Play every match that is offered to this program."""
    parser = argparse.ArgumentParser(prog="uci", description="Let a UCI engine play openspiel:chess.")
    parser.add_argument("engine", help="path of the engine, or its name on the PATH")
    parser.add_argument("--nodes", type=int, help="positions to search a move; by default as many as time allows")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the engine")
    chosen = parser.parse_args()
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/games"))  # where Debian puts engines
    os.environ["PATH"] = path
    try:
        engine = SimpleEngine.popen_uci(chosen.engine)
    except (OSError, chess.engine.EngineError) as error:
        sys.exit(f"cannot start the engine {chosen.engine}: {error}")
    with closing(engine):
        engine.configure(dict(option.split("=", 1) for option in chosen.option))
        try:
            run(make=make_chooser(engine, chosen.nodes))
        except ClientError as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()
