"""A player program that lets a UCI engine play `openspiel:chess`.

    python -m referee_openspiel.uci stockfish
    python -m referee_openspiel.uci stockfish --nodes 2000 --option "Skill Level=3"

The engine is started once and stays for all matches of the program. With a bank, the engine gets both clocks, and
manages its own time. Without a bank, it gets most of the time for each move.
"""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable
from contextlib import closing
from threading import Timer
from typing import Any

import chess
import pyspiel
from chess.engine import EngineError, EngineTerminatedError, Limit, SimpleEngine

from protocol.client import ClientError, run
from protocol.messages import Message, Offer, Resumed, Start, Terms, TimeControl, Turn

SHARE = 0.7
"""Share of a move's time that the engine may think. The rest is for messages to the engine and back on a busy
machine."""
SPARE_S = 0.2
"""Time kept back from the clock for the same reason, in seconds; but never more than half of the time left."""


class Clocks:
    """The clocks of both seats, as the engine gets them.

    The referee says how much a seat has left of its own bank, but not of the opponent's. The opponent's clock runs from
    the own move to the next turn, so it can be measured here, except for the delay of two messages. A program that is
    taken back into a match has not seen all of it, and assumes that both clocks are equal.

    Args:
        now: reads a clock, in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._control: TimeControl | None = None
        self._own_s: float | None = None
        """Seconds left of the own bank; None if there is no bank."""
        self._other_s: float | None = None
        """Seconds left of the opponent's bank, before its current move; None if that is not known."""
        self._running_since_s: float | None = None
        """Reading of the clock when the opponent's clock began to run; None while it stands still."""
        self.move_s = 0.0
        """Time until the referee's limit for the current move, in seconds."""

    def hear(self, message: Message) -> None:
        """Update the clocks by a message of the referee."""
        match message:
            case Offer() | Resumed():
                self._control, self._is_second = message.time, message.seat == 1
                bank_ms = message.time.bank_ms if isinstance(message, Offer) else None
                self._other_s, self._running_since_s = None if bank_ms is None else bank_ms / 1000, None
            case Start() if self._is_second:
                self._running_since_s = self._now()
            case Turn():
                self._own_s = None if message.bank_ms is None else message.bank_ms / 1000
                self.move_s = message.left_ms / 1000
                self._stop()

    def press(self) -> None:
        """Start the opponent's clock: the own move is made."""
        self._running_since_s = self._now()

    def _stop(self) -> None:
        if self._other_s is not None and self._running_since_s is not None:
            assert self._control is not None, "a turn comes after an offer"
            self._other_s += self._control.increment_ms / 1000 - (self._now() - self._running_since_s)
        self._running_since_s = None

    def limit(self, nodes: int | None) -> Limit:
        """Return the limit of the current move.

        Args:
            nodes: positions to search; None: as many as the time allows.
        """
        assert self._control is not None, "a turn comes after an offer"
        if self._own_s is None:
            return Limit(time=self.move_s * SHARE, nodes=nodes)
        own_s = max(self._own_s - SPARE_S, self._own_s / 2)
        other_s = own_s if self._other_s is None else max(self._other_s, 0.01)
        white_s, black_s = (other_s, own_s) if self._is_second else (own_s, other_s)
        increment_s = self._control.increment_ms / 1000
        return Limit(
            white_clock=white_s, black_clock=black_s, white_inc=increment_s, black_inc=increment_s, nodes=nodes
        )


class EnginePlayer:
    """Lets an engine choose the moves of all matches.

    Args:
        engine: the engine, started.
        nodes: positions to search a move; None: as many as the time allows.
    """

    def __init__(self, engine: SimpleEngine, nodes: int | None) -> None:
        self._engine, self._nodes = engine, nodes
        self.clocks = Clocks()

    def begin(self, terms: Terms) -> Callable[[Any], Any]:
        """Return the function from a view to a move for one match."""
        mirror = Mirror(pyspiel.load_game("chess", {"chess960": True} if terms.options.get("chess960") else {}))
        return lambda view: self._choose(mirror, terms.match, view)

    def _choose(self, mirror: "Mirror", match: str, view: Any) -> str:
        board, state = mirror.follow(view)
        # An engine that manages the bank does not know that the referee also has a limit for each move.
        protocol = self._engine.protocol
        stop = Timer(self.clocks.move_s * SHARE, lambda: protocol.loop.call_soon_threadsafe(protocol.send_line, "stop"))
        stop.start()
        move = self._engine.play(board, self.clocks.limit(self._nodes), game=match).move
        stop.cancel()
        if move is None:
            raise RuntimeError("the engine has resigned, but the referee has no resignation")
        self.clocks.press()
        return str(state.action_to_string(state.current_player(), state.parse_move_to_action(board.uci(move))))


class Mirror:
    """The position of one match, both in python-chess and in OpenSpiel.

    Args:
        rules: the game of OpenSpiel.
    """

    def __init__(self, rules: Any) -> None:
        self._rules = rules
        self._state: Any = None
        self._board = chess.Board()

    def follow(self, view: Any) -> tuple[chess.Board, Any]:
        """Return the board and the state that a view of `openspiel:chess` shows.

        After 4,096 actions, a view has no history any more. Then an engine can't know whether a position is a
        repetition.
        """
        if view["history"] is None:
            self._state = self._rules.new_initial_state("".join(view["text"]))
            self._board = chess.Board(str(self._state))
            return self._board, self._state
        history = list(view["history"])
        known = None if self._state is None else self._state.history()
        if known is None or history[: len(known)] != known:
            known = self._begin(history)
        for action in history[len(known) :]:
            self._board.push_san(self._state.action_to_string(self._state.current_player(), action))
            self._state.apply_action(action)
        return self._board, self._state

    def _begin(self, history: list[int]) -> list[int]:
        """Set up the first position; return the actions that led to it."""
        self._state = self._rules.new_initial_state()
        if self._state.is_chance_node():  # this draws the first position of Chess960
            self._state.apply_action(history[0])
        self._board = chess.Board(str(self._state), chess960=self._rules.get_parameters()["chess960"])
        return list(self._state.history())


def main() -> None:
    """Play every match that is offered to this program."""
    parser = argparse.ArgumentParser(prog="uci", description="Let a UCI engine play openspiel:chess.")
    parser.add_argument("engine", help="path of the engine, or its name on the PATH; quoted, with its arguments")
    parser.add_argument("--nodes", type=int, help="positions to search a move; by default as many as time allows")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the engine")
    chosen = parser.parse_args()
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/games"))  # where Debian puts engines
    os.environ["PATH"] = path
    try:
        engine = SimpleEngine.popen_uci(shlex.split(chosen.engine))
    except (OSError, ValueError, EngineError) as error:
        sys.exit(f"cannot start the engine {chosen.engine}: {str(error) or 'its answers are not UCI'}")
    with closing(engine):
        player = EnginePlayer(engine, chosen.nodes)
        try:
            engine.configure({name: value for name, _, value in (option.partition("=") for option in chosen.option)})
            run(make=player.begin, on_message=player.clocks.hear)
        except EngineTerminatedError as error:
            sys.exit(f"the engine {chosen.engine} has ended: {error}")
        except EngineError as error:
            sys.exit(f"the engine {chosen.engine} refuses: {error}; an option is given as NAME=VALUE")
        except ClientError as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()
