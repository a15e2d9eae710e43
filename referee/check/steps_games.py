"""The steps in each game: beginning, end, largest view, most seats, a player that leaves; and those of the clocks.

Every game there is gets the same steps, those of plugins too.
"""

from functools import partial

from ..games.base import seats_text
from ..text import counted
from .context import CheckContext, CheckStep
from .findings import Failed, Skipped
from .positions import SHORT_OPTIONS, largest, near_end
from .scripted_match import ScriptedMatch, ScriptedTerms

_OPENING_MOVES = 5
_TIGHT_S = 1.0
"""Less than any tournament should allow, and enough for a program that keeps an eye on `left_ms`."""
_TIGHT_MOVES = 6
_BANK_S = 4.0
_INCREMENT_S = 0.1


def _played(context: CheckContext, terms: ScriptedTerms, moves: int | None) -> str:
    """Play so many moves, or to the end."""
    with context.match(terms) as match:
        match.finish(moves)
        if moves is None:  # only who has read `end` takes another match
            ScriptedMatch(match.session, ScriptedTerms(game=terms.game)).finish(1)
        return f"{counted(match.moves, 'move')}, the slowest {match.slowest_s:.2f} s"


def _opening(name: str, context: CheckContext) -> str:
    game = context.game_called(name)
    try:
        return _played(context, ScriptedTerms(game=game), _OPENING_MOVES)
    except Failed as failure:
        if not context.says_its_games:
            failure.remedy += f" If it does not play {name}: say what it plays, with `games` in player.toml or --game."
        raise


def _ending(name: str, context: CheckContext) -> str:
    return _played(context, near_end(context.game_called(name)), None)


def _large(name: str, context: CheckContext) -> str:
    return _played(context, largest(context.game_called(name)), 1)


def _most_seats(name: str, context: CheckContext) -> str:
    game = context.game_called(name)
    if len(game.seats) == 1:
        raise Skipped(f"{name} has {seats_text(game.seats)} seats, always")
    seats = game.seats[-1]
    note = _played(context, ScriptedTerms(game=game, seats=seats, seat=seats - 1), 2)
    return f"{seats} seats, {note}"


def _leaver(name: str, context: CheckContext) -> str:
    game = context.game_called(name)
    seats = next((seats for seats in game.seats if seats > 2), None)
    if seats is None:
        raise Skipped(f"{name} has {seats_text(game.seats)} seats: when another is expelled, the match is over")
    return _played(context, ScriptedTerms(game=game, seats=seats, leaver=1), 3)


def _timed(context: CheckContext, **limits: float) -> str:
    terms = context.terms(options=SHORT_OPTIONS.get(context.game.name, {}), **limits)
    return _played(context, terms, _TIGHT_MOVES)


def steps(games: tuple[str, ...]) -> tuple[CheckStep, ...]:
    """Return the steps of some games.

    Args:
        games: their names.
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
        CheckStep("tight-clock", f"it keeps a limit of {_TIGHT_S:g} s a move", partial(_timed, per_move_s=_TIGHT_S)),
        CheckStep(
            "bank-clock",
            f"it keeps a bank of {_BANK_S:g} s for {_TIGHT_MOVES} moves",
            partial(_timed, bank_s=_BANK_S, increment_s=_INCREMENT_S),
        ),
    )
