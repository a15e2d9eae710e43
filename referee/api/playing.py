"""Plays one match in this process."""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from msgspec.structs import replace

from protocol.messages import MAX_LIMIT_MS, TimeControl

from .. import chance
from ..errors import BadRequest
from ..games.arguments import read_number, read_options, read_text
from ..match.setup import DEFAULT_TIME, MatchSetup
from ..net.matches.session import name_match
from ..plugins import find_game
from ..typing import QMove, QuadOminosMove, QuadOminosView, QuincalaMove, QuincalaView, QuincyMove, QuincyView, QView
from .match import Match
from .played import make_seed, play_to_end
from .players import Player, seat_players


@overload
def play(
    game: Literal["q"],
    players: Sequence[Player],
    *,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    per_move_s: float = ...,
) -> Match[QView, QMove]: ...
@overload
def play(
    game: Literal["quincy"],
    players: Sequence[Player],
    *,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    per_move_s: float = ...,
) -> Match[QuincyView, QuincyMove]: ...
@overload
def play(
    game: Literal["quincala"],
    players: Sequence[Player],
    *,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    per_move_s: float = ...,
) -> Match[QuincalaView, QuincalaMove]: ...
@overload
def play(
    game: Literal["quadominos"],
    players: Sequence[Player],
    *,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    per_move_s: float = ...,
) -> Match[QuadOminosView, QuadOminosMove]: ...
@overload
def play(
    game: str,
    players: Sequence[Player],
    *,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    per_move_s: float = ...,
) -> Match: ...
def play(
    game: str,
    players: Sequence[Player],
    *,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    per_move_s: float = DEFAULT_TIME.per_move_ms / 1000,
) -> Match:
    """Play one match in this process, without sockets.

    The rules, the verdicts and the record are those of `referee play`. A player that answers illegally or too late, or
    that raises an exception, is expelled, as a program would be. Its traceback is printed, and the others play on.

    Args:
        game: name of the game.
        players: players by seat, each a function from a view to a move, or `house:NAME`.
        seed: fixes the deal and the choices of house players; None: both are random, and nobody can know them
            beforehand.
        options: options of the game, by name; `referee list GAME` describes them.
        names: names of the players, by seat; None: the names of the functions.
        per_move_s: limit for each move, in seconds. A function that takes longer is not stopped, but expelled as soon
            as it returns.

    Returns:
        The match, played to its end.

    Raises:
        RefereeError: there is no such game, or it can't be played with these players or options.

    >>> print(referee.play("quincy", ["house:greedy", "house:random"], seed=7))
    quincy-...: greedy beat random, 27 turns
      1  greedy  1  winner
      2  random  0
    """
    rules = find_game(read_text("game", game, "quincy"))
    sitting = seat_players(rules, players, names)
    drawn, match = make_seed(seed), name_match(game)
    setup = MatchSetup(
        match=match,
        game=game,
        options=read_options(options),
        names=tuple(player.name for player in sitting),
        time=time_control(per_move_s),
        nonces=seed is None,
        commitment=chance.commitment(drawn),
    )
    played = play_to_end(rules, sitting, setup, drawn, is_fixed=seed is not None)
    for seat, text in played.tracebacks.items():
        tell(setup.names[seat], text)
    return Match(played)


def time_control(per_move_s: float) -> TimeControl:
    """Return the time control of matches in this process.

    Raises:
        BadRequest: the limit is not positive, or too long.
    """
    seconds = read_number("per_move_s", per_move_s)
    if not (math.isfinite(seconds) and 0 < seconds * 1000 <= MAX_LIMIT_MS):
        raise BadRequest(f"per_move_s is above 0 and at most {MAX_LIMIT_MS / 1000:g}, not {per_move_s}")
    return replace(DEFAULT_TIME, per_move_ms=seconds * 1000.0)


def tell(name: str, traceback: str) -> None:
    """Print the traceback of a player that was expelled for an exception, for its author."""
    print(f"{name} was expelled; its exception:\n{traceback}", file=sys.stderr, end="")  # noqa: T201  # for its author
