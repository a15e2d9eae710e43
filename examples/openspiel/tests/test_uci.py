"""The program for UCI engines: it tells the engine both clocks, and reads views of chess as python-chess does."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import chess
import pyspiel
import pytest

from protocol.messages import Offer, Resumed, Start, TimeControl, Turn
from referee.chance import Dealer
from referee_openspiel.catalogue import list_fit
from referee_openspiel.game import SpielGame
from referee_openspiel.uci import Clocks, Mirror

TERMS: dict[str, Any] = {
    "match": "m",
    "game": "openspiel:chess",
    "options": {},
    "names": ["ann", "bob"],
    "teams": [],
    "lot": False,
    "acknowledge": False,
    "commitment": "0" * 64,
    "nonces": True,
    "resume": "token",
}


class Now:
    """A clock that a test sets.

    Args:
        seconds: its reading.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        """Return the reading."""
        return self.seconds


def control(bank_ms: float | None) -> TimeControl:
    """Return a time control with an increment of a second."""
    return TimeControl(per_move_ms=6000.0, start_ms=1000.0, bank_ms=bank_ms, increment_ms=1000.0)


def turn(bank_ms: float | None, left_ms: float = 6000.0) -> Turn:
    """Return a request for a move."""
    return Turn(match="m", turn=1, view=None, left_ms=left_ms, bank_ms=bank_ms, head="0" * 64)


def test_the_engine_is_told_both_clocks() -> None:
    """The own one is the referee's; the opponent's runs from the own move to the next turn, and gets the increment."""
    clocks = Clocks(now := Now(100.0))
    clocks.hear(Offer(seat=0, time=control(60_000.0), **TERMS))
    now.seconds = 103.0  # all nonces have come
    clocks.hear(Start(match="m", view=None))
    clocks.hear(turn(60_000.0))
    limit = clocks.limit(None)
    assert (limit.white_clock, limit.black_clock, limit.white_inc, limit.black_inc) == (59.8, 60.0, 1.0, 1.0)
    now.seconds = 108.0
    clocks.press()
    now.seconds = 128.0
    clocks.hear(turn(56_000.0))
    limit = clocks.limit(None)
    assert (limit.white_clock, limit.black_clock) == (55.8, 41.0)


def test_black_measures_whites_first_move() -> None:
    """White's clock runs from the start."""
    clocks = Clocks(now := Now(0.0))
    clocks.hear(Offer(seat=1, time=control(60_000.0), **TERMS))
    now.seconds = 7.0
    clocks.hear(Start(match="m", view=None))
    now.seconds = 17.0
    clocks.hear(turn(60_000.0))
    limit = clocks.limit(None)
    assert (limit.white_clock, limit.black_clock) == (51.0, 59.8)


def test_a_program_that_came_back_does_not_know_the_other_clock() -> None:
    """It takes it for its own, which the referee says."""
    clocks = Clocks(now := Now(0.0))
    clocks.hear(Resumed(seat=0, time=control(60_000.0), turn=9, view=None, **TERMS))
    clocks.hear(turn(30_000.0))
    assert (clocks.limit(None).white_clock, clocks.limit(None).black_clock) == (29.8, 29.8)
    clocks.press()
    now.seconds = 5.0
    clocks.hear(turn(29_000.0))
    assert (clocks.limit(None).white_clock, clocks.limit(None).black_clock) == (28.8, 28.8)


def test_without_a_bank_there_is_a_time_for_each_move() -> None:
    """Most of what is left of it, for the answer has a way."""
    clocks = Clocks(Now(0.0))
    clocks.hear(Offer(seat=0, time=control(None), **TERMS))
    clocks.hear(turn(None, left_ms=1000.0))
    limit = clocks.limit(500)
    assert (limit.time, limit.nodes, limit.white_clock) == (pytest.approx(0.7), 500, None)


@pytest.mark.parametrize("options", [{}, {"chess960": True}], ids=str)
def test_both_libraries_have_the_same_moves(options: dict[str, bool]) -> None:
    """In every position of random matches, castling included, each legal move of python-chess is an action."""
    (kind,) = (kind for kind in list_fit() if kind.short_name == "chess")
    rules, source, mirror, castled = SpielGame(kind), Random(1), Mirror(pyspiel.load_game("chess", options)), 0
    for number in range(8):
        state = rules.new(rules.parse_options(options), 2, Dealer(bytes([number]) * 32))
        while rules.outcome(state) is None:
            view = {"history": list(state.history or ()), "text": rules.view(state, 0).text}
            board, other = mirror.follow(view)
            assert str(other) == str(state.native)
            moves = list(board.legal_moves)
            actions = {other.parse_move_to_action(board.uci(move)): move for move in moves}
            assert sorted(actions) == sorted(state.legal.values())
            castling = [action for action, move in actions.items() if board.is_castling(move)]
            castled += bool(castling)
            state = rules.play(state, castling[0] if castling else source.choice(rules.legal_moves(state)))
    assert castled > 0


def test_a_position_without_a_history_is_read_from_its_text() -> None:
    """After 4,096 actions a view has none."""
    fen = "8/8/8/8/8/5k2/6q1/7K w - - 0 60"
    board, state = Mirror(pyspiel.load_game("chess")).follow({"history": None, "text": [fen[:9], fen[9:]]})
    assert (board.fen(), str(state)) == (fen, fen)
    assert isinstance(board, chess.Board)


ENGINE = """
import sys
for line in sys.stdin:
    print({"uci": "uciok", "isready": "readyok"}.get(line.strip(), ""), flush=True)
"""
"""Answers the greeting, and has no options."""


@pytest.mark.parametrize(
    ("engine", "more", "complaint"),
    [
        ("no-such-engine", (), "cannot start the engine no-such-engine: "),
        ("ENGINE", ("--option", "Skill=3"), "the engine ENGINE refuses: engine does not support option Skill"),
        ("ENGINE", (), "no address: set REFEREE_ADDRESS"),
    ],
)
def test_what_goes_wrong_is_named(engine: str, more: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    """An engine that is not there, an option that it does not have, and no referee are errors of one line."""
    (tmp_path / "engine.py").write_text(ENGINE)
    command = engine.replace("ENGINE", f"{sys.executable} {tmp_path}/engine.py")
    environment = {name: value for name, value in os.environ.items() if name != "REFEREE_ADDRESS"}
    done = subprocess.run(  # noqa: S603  # the program of this package
        [sys.executable, "-m", "referee_openspiel.uci", command, *more],
        capture_output=True,
        text=True,
        check=False,
        env=environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 1
    assert done.stderr.startswith(complaint.replace("ENGINE refuses", f"{command} refuses"))
    assert done.stderr.count("\n") == 1
