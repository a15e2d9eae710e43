"""Finds the turn that a player regrets most: in which a house player would have done better by far.

What a turn is worth says `house:search`, but where it says that points tell as much: there, it is the points that the
turn makes, beside those of `house:greedy`.
"""

import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from rich.text import Text

from sample_players.python.greedy import make_greedy
from sample_players.python.search import Budget, Judgement, Search, judges_by_points, judges_turns

from ..chance import SEED_BYTES
from ..match.machine import Match
from ..pages.replay_frames import FrameKind, fold_record
from ..plugins import find_game
from ..record.reader import read_record

Measure = Literal["points", "wins"]
TURNS: dict[Measure, int] = {"points": 200, "wins": 20}
"""To be judged: about as many as half a minute is enough for."""
_LEAST: dict[Measure, float] = {"points": 1, "wins": 5}
"""A loss that is told: less of a win is within what luck makes of so short a look."""
_NO_SEED = bytes(SEED_BYTES)


class Regret(Struct, frozen=True, kw_only=True):
    """A turn, and what a house player would have done better."""

    turn: int
    seat: int
    position: str
    """Before the turn, as the player saw it, drawn for a terminal without colours."""
    moves: tuple[Any, ...]
    """Plain. One, or all of the turn where nothing comes to light between them."""
    better: tuple[Any, ...]
    """What the house player would have done, plain."""
    measure: Measure
    """What is compared: points of the turn, or games of 100 that it wins from there, a draw counted as half of one."""
    worth: float
    better_worth: float
    judged: int
    """How many turns were judged, to find this one."""
    mean_loss: float
    """What each of them lost, on average."""


class JudgedTurn(Struct, frozen=True, kw_only=True):
    """What a player did."""

    match: Match
    number: int
    seat: int
    state: Any
    """Before it."""
    moves: tuple[Any, ...]
    """Plain."""


def greatest_regret(records: Sequence[Path], name: str, most: int | None = None) -> Regret | None:
    """Return the turn by which a player lost most, among some of its turns; None if none of them could be better.

    Args:
        records: of matches of one game; the turns are drawn from all of them, for the same records the same ones.
        name: of the player in them.
        most: how many are judged; None: as many as there is usually time for.
    """
    played = [turn for path in sorted(records) for turn in _turns(path, name)]
    if not played:
        return None
    measure: Measure = "points" if judges_by_points(played[0].match.game) else "wins"
    judge = by_points if measure == "points" else by_search
    drawn = random.Random(0).sample(played, min(most or TURNS[measure], len(played)))  # noqa: S311  # no secret
    found = [(judgement, turn) for turn in drawn if (judgement := judge(turn)) is not None]
    worst, turn = max(found, key=lambda pair: _loss(pair[0]), default=(None, None))
    if worst is None or turn is None or _loss(worst) < _LEAST[measure]:
        return None
    return Regret(
        turn=turn.number,
        seat=turn.seat,
        position=Text.from_markup(turn.match.game.draw_text(turn.state, (turn.seat,))).plain,
        moves=turn.moves,
        better=tuple(msgspec.json.decode(msgspec.json.encode(worst.better))),
        measure=measure,
        worth=round(worst.worth, 1),
        better_worth=round(worst.better_worth, 1),
        judged=len(drawn),
        mean_loss=round(sum(_loss(judgement) for judgement, _ in found) / len(drawn), 1),
    )


def _loss(judgement: Judgement) -> float:
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
            found.append(JudgedTurn(match=match, number=frame.turn, seat=seat, state=before.state, moves=(frame.move,)))
    return found


def by_search(turn: JudgedTurn) -> Judgement | None:
    """Return what `house:search` thinks of a turn; None if it would have done the same."""
    match = turn.match
    search = Search(match.game, match.options, _NO_SEED, Budget())
    return search.judge(_seen(turn), turn.moves)


def by_points(turn: JudgedTurn) -> Judgement | None:
    """Return the points of a turn of one move, and the most that `house:greedy` finds; None if it makes no more."""
    match = turn.match
    better = make_greedy(match.game, match.options, _NO_SEED)(_seen(turn))
    points, most = _points(turn, turn.moves[0]), _points(turn, better)
    return Judgement(worth=points, better=(better,), better_worth=most) if most > points else None


def _seen(turn: JudgedTurn) -> Any:
    """Return what the player saw, plain."""
    return msgspec.to_builtins(turn.match.game.view(turn.state, turn.seat))


def _points(turn: JudgedTurn, move: Any) -> int:
    game, seat = turn.match.game, turn.seat
    after = game.play(turn.state, game.parse_move(move))
    return int(after.scores[seat] - turn.state.scores[seat])
