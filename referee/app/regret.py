"""Finds the turn that a player regrets most: in which `house:search` would have done better by far.

First it takes a short look at as many turns as there is time for, then a long one at the few that seem worst. In each
look, what was done and what search would have done are tried in the same imagined deals, so that a turn that only
seemed bad is found out by the second one.
"""

import random
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from rich.text import Text

from sample_players.python.search import Budget, Judgement, Search, judges_turns

from ..chance import SEED_BYTES
from ..match.machine import Match
from ..pages.replay_frames import FrameKind, fold_record
from ..plugins import find_game
from ..record.reader import read_record

FIRST_LOOK_S = 0.05
"""Budget of search for a decision, in the look at many turns."""
WORST = 3
"""So many turns are looked at again."""
_DECISIONS = 3
"""A judgement takes the time of so many at most: a turn of several moves, and the comparison."""
_LEAST = 5.0
"""Games of 100 that a turn loses at least, to be told: less is within what luck makes of so short a look."""
_NO_SEED = bytes(SEED_BYTES)


class Regret(Struct, frozen=True, kw_only=True):
    """A turn, and what `house:search` would have done better; both are worth games of 100 that are won from there."""

    record: str
    """Path of the one of its match."""
    turn: int
    before: int
    """Number of the turn before it, 0 for the deal: as the board is then, the player saw it."""
    seat: int
    position: str
    """Before the turn, as the player saw it, drawn for a terminal without colours."""
    moves: tuple[Any, ...]
    """Plain. One, or all of the turn where nothing comes to light between them."""
    better: tuple[Any, ...]
    """What search would have done, plain."""
    worth: float
    """A draw counts as half of a win."""
    better_worth: float
    judged: int
    """How many turns were looked at, to find this one."""
    mean_loss: float
    """What each of them lost, on average."""


class JudgedTurn(Struct, frozen=True, kw_only=True):
    """What a player did."""

    record: Path
    match: Match
    number: int
    before: int
    """Number of the turn before."""
    seat: int
    state: Any
    """Before it."""
    moves: tuple[Any, ...]
    """Plain."""


Looked = tuple[Judgement, JudgedTurn]


def greatest_regret(
    records: Sequence[Path], name: str, limit_s: float, clock: Callable[[], float] = time.monotonic
) -> Regret | None:
    """Return the turn by which a player lost most, among those that there is time for; None if none was bad.

    Args:
        records: of matches of one game that are over; turns of all of them are drawn, for the same records in the
            same order.
        name: of the player in them.
        limit_s: how long it may take, in seconds.
        clock: tells seconds.
    """
    begun_s = clock()
    played = [turn for path in sorted(records) for turn in _turns(path, name)]
    judged = 0
    found: list[Looked] = []
    for turn in random.Random(0).sample(played, len(played)):  # noqa: S311  # no secret
        found += _judged(turn, FIRST_LOOK_S)
        judged += 1
        if clock() - begun_s >= limit_s / 2:
            break
    longer_s = max((limit_s - (clock() - begun_s)) / WORST / _DECISIONS, FIRST_LOOK_S)
    worst = [again for _, turn in sorted(found, key=_loss)[-WORST:] for again in _judged(turn, longer_s)]
    return _regret(max(worst, key=_loss), judged, sum(map(_loss, found))) if worst else None


def _regret(looked: Looked, judged: int, lost: float) -> Regret | None:
    judgement, turn = looked
    if _loss(looked) < _LEAST:
        return None
    return Regret(
        record=str(turn.record),
        turn=turn.number,
        before=turn.before,
        seat=turn.seat,
        position=Text.from_markup(turn.match.game.draw_text(turn.state, (turn.seat,))).plain,
        moves=turn.moves,
        better=tuple(msgspec.json.decode(msgspec.json.encode(judgement.better))),
        worth=round(judgement.worth, 1),
        better_worth=round(judgement.better_worth, 1),
        judged=judged,
        mean_loss=round(lost / judged, 1),
    )


def _judged(turn: JudgedTurn, budget_s: float) -> list[Looked]:
    """Return what is lost by a turn; nothing if search would have done the same."""
    judgement = by_search(turn, budget_s)
    return [] if judgement is None else [(judgement, turn)]


def _loss(looked: Looked) -> float:
    judgement, _ = looked
    return judgement.better_worth - judgement.worth


def _turns(path: Path, name: str) -> list[JudgedTurn]:
    """Return what a player did legally: whole turns where search can judge them, else each move by itself."""
    folded = fold_record(read_record(path), find_game)
    match, seat = folded.match, folded.match.setup.names.index(name)
    are_whole = judges_turns(match.game)
    found: list[JudgedTurn] = []
    for before, frame in pairwise(folded.frames):
        if frame.kind is not FrameKind.MOVE or frame.seat != seat:
            continue
        if found and are_whole and match.game.is_same_turn(before.state):
            found[-1] = replace(found[-1], moves=(*found[-1].moves, frame.move))
        else:
            found.append(
                JudgedTurn(
                    record=path,
                    match=match,
                    number=frame.turn,
                    before=before.turn,
                    seat=seat,
                    state=before.state,
                    moves=(frame.move,),
                )
            )
    return found


def by_search(turn: JudgedTurn, budget_s: float) -> Judgement | None:
    """Return what `house:search` thinks of a turn with a budget for a decision; None if it would have done the same."""
    match = turn.match
    search = Search(match.game, match.options, _NO_SEED, Budget(seconds=budget_s))
    return search.judge(msgspec.to_builtins(match.game.view(turn.state, turn.seat)), turn.moves)
