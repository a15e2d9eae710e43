"""The steps in each game, plugins' games too: beginning, end, largest view, most seats, a player that leaves."""

# The file also has the steps about clocks, and the last steps: in each game, one match that the referee itself plays,
# against house players.
#
# To reach the end of a game or its largest view, the check plays a game with random moves and begins a match in the
# middle of it. The random numbers are the same in every check, so that a failed step can be repeated. Games of Q are
# too long for this, so its positions are built instead.

import itertools
import time
from functools import cache, partial
from typing import Any

import msgspec
from msgspec.structs import replace

from .. import chance
from ..files.scratch import temporary_folder
from ..games.base import seats_text
from ..games.q.tiles import COLORS, NAMES, SHAPES
from ..match.setup import DEFAULT_TIME
from ..net.matches.session import MatchSession
from ..net.matches.settings import MatchServices, MatchSettings
from ..programs.output import shorten_crash
from ..programs.player_spec import house_launch
from ..testing.seats import AnyGame
from ..text import counted
from .context import CheckContext, CheckStep, demanding
from .findings import Failed, Skipped
from .scripted_match import ScriptedMatch, ScriptedTerms, explain_foul

SHORT_OPTIONS: dict[str, dict[str, Any]] = {"quadominos": {"rounds": 1}, "quincala": {"sizes": 3, "max_turns": 30}}
"""Options that make long games short, for matches that are played to their end."""
_KEY = chance.derive(chance.seed_from_number(1), "a game of the check")
_PLAYS_LEFT = 8
"""Number of plays before the end at which `ending` begins: each of two seats has about four."""
_LIMIT_S = 3.0
"""Longest time to play a random game. If a plugin's game takes longer, its last state so far is used."""
_Q_HAND = 6
_OPENING_MOVES = 5
_TIGHT_S = 1.0
"""A limit shorter than that of any tournament; enough for a program that obeys `left_ms`."""
_TIGHT_MOVES = 6
_BANK_S = 4.0
_INCREMENT_S = 0.1
_OPPONENT = "random"
_LAST_CHARS = 800


def steps(games: tuple[str, ...]) -> tuple[CheckStep, ...]:
    """Return the steps in each game, and the steps about clocks.

    Args:
        games: names of the games.
    """
    kinds = (
        ("opening", "plays the first moves of a new game", _opening),
        ("ending", "plays a game to its end", _ending),
        ("large", "moves where the view is largest", _large),
        ("seats", "plays with the most seats", _most_seats),
        ("leaver", "plays on when another player is expelled", _leaver),
    )
    return (
        *(
            CheckStep(f"{key}-{name}", f"{name}: it {title}", partial(run, name))
            for name in games
            for key, title, run in kinds
        ),
        CheckStep("tight-clock", f"it keeps a limit of {_TIGHT_S:g} s a move", partial(_clock, per_move_s=_TIGHT_S)),
        CheckStep(
            "bank-clock",
            f"it keeps a bank of {_BANK_S:g} s for {_TIGHT_MOVES} moves",
            partial(_clock, bank_s=_BANK_S, increment_s=_INCREMENT_S),
        ),
    )


def match_steps(games: tuple[str, ...]) -> tuple[CheckStep, ...]:
    """Return the steps that are whole matches.

    Args:
        games: names of the games.
    """
    return tuple(
        CheckStep(f"match-{name}", f"{name}: it plays a match in the referee itself", partial(_match, name))
        for name in games
    )


# --- the steps


def _play(context: CheckContext, terms: ScriptedTerms, moves: int | None) -> str:
    """Play a match until the program has made a number of moves, or to the end of the game (None)."""
    with context.match(terms) as match:
        match.finish(moves)
        if moves is None:
            # A second match shows that the program has read `end`.
            ScriptedMatch(match.session, ScriptedTerms(game=terms.game)).finish(1)
        return f"{counted(match.moves, 'move')}, the slowest {match.slowest_s:.2f} s"


def _opening(name: str, context: CheckContext) -> str:
    game = context.find_game(name)
    try:
        return _play(context, ScriptedTerms(game=game), _OPENING_MOVES)
    except Failed as failure:
        if not context.says_its_games:
            failure.remedy += f" If it does not play {name}, name its games: with `games` in player.toml or --game."
        raise


def _ending(name: str, context: CheckContext) -> str:
    return _play(context, near_end(context.find_game(name)), None)


def _large(name: str, context: CheckContext) -> str:
    return _play(context, largest(context.find_game(name)), 1)


def _most_seats(name: str, context: CheckContext) -> str:
    game = context.find_game(name)
    if len(game.seats) == 1:
        raise Skipped(f"{name} always has {seats_text(game.seats)} seats")
    seats = game.seats[-1]
    note = _play(context, ScriptedTerms(game=game, seats=seats, seat=seats - 1), 2)
    return f"{seats} seats, {note}"


def _leaver(name: str, context: CheckContext) -> str:
    game = context.find_game(name)
    seats = next((seats for seats in game.seats if seats > 2), None)
    if seats is None:
        raise Skipped(f"{name} has {seats_text(game.seats)} seats: if the other player is expelled, the match is over")
    return _play(context, ScriptedTerms(game=game, seats=seats, leaver=1), 3)


def _clock(context: CheckContext, **limits: float) -> str:
    terms = context.terms(options=SHORT_OPTIONS.get(context.game.name, {}), **limits)
    return _play(context, terms, _TIGHT_MOVES)


def _match(name: str, context: CheckContext) -> str:
    """Play a match with the session that real matches use; the program has seat 0."""
    game = context.find_game(name)
    context.close()  # the session starts its own process of the program
    loop = context.loop
    with temporary_folder("match-", context.folder) as folder:
        times = {"per_move_ms": context.times.move_s * 1000.0, "start_ms": context.times.start_s * 1000.0}
        settings = MatchSettings(
            options=SHORT_OPTIONS.get(game.name, {}),
            position=short_q() if game.name == "q" else None,
            time=replace(DEFAULT_TIME, **times),
            folder=folder,
        )
        services = MatchServices(confinement=context.confinement)
        session = MatchSession(loop.reactor, loop.seconds, game, settings, services)
        with demanding("a program that can be built and started", "Fix what the message names."):
            context.builds.build(context.launch)
            others = (replace(house_launch(_OPPONENT), name=f"house{seat}") for seat in range(1, game.seats[0]))
            report = loop.result(session.play([context.launch, *others]))
        fouls = [foul for foul in report.result.fouls if foul.seat == 0]
        if fouls:
            where = f"it was expelled in turn {fouls[0].turn}: "
            failure = explain_foul(fouls[0], game, bytes.fromhex(fouls[0].evidence), where)
            texts = [path.read_text(errors="replace") for path in sorted(folder.glob("*.seat0.*.stderr"))]
            failure.printed = shorten_crash("".join(texts), str(failure))[-_LAST_CHARS:]
            raise failure
        return f"{counted(report.result.turns, 'turn')}, in which it used {report.result.used_ms[0] / 1000:.2f} s"


# --- where matches begin


def near_end(game: AnyGame) -> ScriptedTerms:
    """Return the terms of a match that begins shortly before the end. It has the fewest seats; the program moves."""
    if game.name == "q":
        return _begin_with(game, game.restore(game.parse_options({}), short_q()))
    states = _playout(game, game.seats[0])
    return _begin_with(game, states[max(len(states) - 1 - _PLAYS_LEFT, 0)])


def largest(game: AnyGame) -> ScriptedTerms:
    """Return the terms of a match that begins with the longest view, which needs the fewest seats or the most."""
    if game.name == "q":
        return _begin_with(game, game.restore(game.parse_options({}), _full_q()))
    # Few seats hold many tiles each, many seats make long lists by seat: which view is longer depends on the game.
    states = (state for seats in (game.seats[0], game.seats[-1]) for state in _playout(game, seats)[:-1])
    state = max(states, key=lambda state: len(msgspec.msgpack.encode(game.view(state, game.to_move(state)))))
    return _begin_with(game, state)


def short_q() -> dict[str, Any]:
    """Return a position of Q, in plain form, with few tiles on the map and an almost empty pile."""
    hands = [list(NAMES[:_Q_HAND]), list(NAMES[_Q_HAND : 2 * _Q_HAND])]
    return {
        "map": [[0, 0, "red-star"], [0, 1, "red-circle"], [1, 0, "blue-star"]],
        "pile": list(NAMES[-3:]),
        "players": [{"score": 0, "hand": hand} for hand in hands],
    }


def _full_q() -> dict[str, Any]:
    """Return a position of Q, in plain form, with nearly all tiles on the map.

    All tiles of a row share a colour, and all tiles of a column share a shape.
    """
    seats, pile = 4, 3
    grid = [
        [row, column, f"{COLORS[row % 6]}-{SHAPES[column % 6]}"]
        for row, column in itertools.product(range(30), range(36))
    ]
    on_map = len(grid) - seats * _Q_HAND - pile
    rest = [tile for _, _, tile in grid[on_map:]]
    players = [{"score": 0, "hand": rest[_Q_HAND * seat : _Q_HAND * (seat + 1)]} for seat in range(seats)]
    return {"map": grid[:on_map], "pile": rest[seats * _Q_HAND :], "players": players}


def _begin_with(game: AnyGame, state: Any) -> ScriptedTerms:
    """Return the terms of a match that begins with a state; the program has the seat that moves next."""
    options, seats = SHORT_OPTIONS.get(game.name, {}), game.seat_count(state)
    return ScriptedTerms(game=game, state=state, options=options, seat=game.to_move(state), seats=seats)


@cache
def _playout(game: AnyGame, seats: int) -> tuple[Any, ...]:
    """Play a game with random moves and return its states; the last one is the end, unless time runs out."""
    options = game.parse_options(SHORT_OPTIONS.get(game.name, {}))
    states, source = [game.new(options, seats, chance.Dealer(_KEY))], chance.Stream(_KEY)
    give_up = time.monotonic() + _LIMIT_S
    while game.outcome(states[-1]) is None and time.monotonic() < give_up:
        legal = game.legal_moves(states[-1])
        states.append(game.deliver(game.play(states[-1], legal[source.below(len(legal))])))
    return tuple(states)
