"""Finds the move that a player regrets most: where the house player that looks ahead would have done better by far."""

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from rich.text import Text

from sample_players.python.search import Budget, Judgement, Search

from ..chance import SEED_BYTES
from ..match.machine import Match
from ..pages.replay_frames import FrameKind, ReplayFrame, fold_record
from ..plugins import find_game
from ..record.reader import read_record

TURNS = 20
"""To be judged: each takes about a second."""

_LEAST = 0.05
"""Of a win: less is within what luck makes of so short a look."""


class Regret(Struct, frozen=True, kw_only=True):
    """A move, and a better one by the judgement of `house:search`."""

    turn: int
    seat: int
    position: str
    """Before the move, as the player saw it, drawn for a terminal without colours."""
    move: Any
    """Plain."""
    wins: float
    """Games of 100 that it wins, a draw counted as half of one."""
    better: Any
    """The better move, plain."""
    better_wins: float


def greatest_regret(records: Sequence[Path], name: str, turns: int = TURNS) -> Regret | None:
    """Return the move by which a player lost most, among some of its turns; None if none of them could be better.

    Args:
        records: of matches; the turns are drawn from all of them, for the same records the same ones.
        name: of the player in them.
        turns: how many are judged.
    """
    played = [turn for path in sorted(records) for turn in _turns(path, name)]
    drawn = random.Random(0).sample(played, min(turns, len(played)))  # noqa: S311  # no secret
    found = (regret for turn in drawn if (regret := _judged(*turn)) is not None)
    return max(found, key=lambda regret: regret.better_wins - regret.wins, default=None)


def _turns(path: Path, name: str) -> Iterator[tuple[Match, Any, ReplayFrame]]:
    """Yield the legal moves of a player: the match, the state before, and what it did."""
    folded = fold_record(read_record(path), find_game)
    seat = folded.match.setup.names.index(name)
    for before, frame in pairwise(folded.frames):
        if frame.kind is FrameKind.MOVE and frame.seat == seat:
            yield folded.match, before.state, frame


def _judged(match: Match, state: Any, frame: ReplayFrame) -> Regret | None:
    """Return what search has against a move; None if it finds no better one."""
    game, seat = match.game, frame.seat
    assert seat is not None
    judgement = judge(match, msgspec.to_builtins(game.view(state, seat)), frame.move)
    if judgement is None or judgement.better_wins - judgement.wins < _LEAST:
        return None
    return Regret(
        turn=frame.turn,
        seat=seat,
        position=Text.from_markup(game.draw_text(state, (seat,))).plain,
        move=frame.move,
        wins=round(100 * judgement.wins, 1),
        better=msgspec.json.decode(msgspec.json.encode(judgement.better)),
        better_wins=round(100 * judgement.better_wins, 1),
    )


def judge(match: Match, view: Any, move: Any) -> Judgement | None:
    """Return what `house:search` thinks of a move.

    Args:
        match: in which it was made.
        view: what the player saw, plain.
        move: plain.
    """
    return Search(match.game, match.options, bytes(SEED_BYTES), Budget()).judge(view, move)
