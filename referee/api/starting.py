"""Makes positions: from a new deal, or from the view of a seat."""

import os
from collections.abc import Mapping
from typing import Any, Literal, overload

from .. import chance
from ..games.arguments import read_options, read_seed, read_text, read_whole
from ..plugins import find_game
from ..typing import QMove, QuadOminosMove, QuadOminosView, QuincalaMove, QuincalaView, QuincyMove, QuincyView, QView
from .history import Origin, read_view
from .position import Position

Options = Mapping[str, Any] | None


@overload
def start(
    game: Literal["q"], *, seed: int | None = None, seats: int | None = None, options: Options = None
) -> Position[QView, QMove]: ...
@overload
def start(
    game: Literal["quincy"], *, seed: int | None = None, seats: int | None = None, options: Options = None
) -> Position[QuincyView, QuincyMove]: ...
@overload
def start(
    game: Literal["quincala"], *, seed: int | None = None, seats: int | None = None, options: Options = None
) -> Position[QuincalaView, QuincalaMove]: ...
@overload
def start(
    game: Literal["quadominos"], *, seed: int | None = None, seats: int | None = None, options: Options = None
) -> Position[QuadOminosView, QuadOminosMove]: ...
@overload
def start(game: str, *, seed: int | None = None, seats: int | None = None, options: Options = None) -> Position: ...
def start(game: str, *, seed: int | None = None, seats: int | None = None, options: Options = None) -> Position:
    """Return the position at the start of a game.

    Args:
        game: name of the game.
        seed: fixes the deal, which is the same as in `referee.play` with this seed; None: the deal is random.
        seats: number of seats; None: the fewest that the game takes.
        options: options of the game, by name; `referee list GAME` describes them.

    Raises:
        RefereeError: there is no such game, or it can't be played with these seats or options.

    >>> position = referee.start("quincy", seed=7)
    >>> while not position.is_over:
    ...     position = position.play(position.choose("greedy"))
    >>> position.ranking
    ((1,), (0,))
    """
    rules = find_game(read_text("game", game, "quincy"))
    origin = Origin(
        options=read_options(options),
        seats=rules.seats[0] if seats is None else read_whole("seats", seats),
        seed=None if seed is None else read_seed(seed),
        deal=os.urandom(chance.SEED_BYTES).hex() if seed is None else None,
    )
    return Position(rules, origin, origin.begin(rules))


@overload
def imagine(game: Literal["q"], view: QView, *, options: Options = None, seed: int = 0) -> Position[QView, QMove]: ...
@overload
def imagine(
    game: Literal["quincy"], view: QuincyView, *, options: Options = None, seed: int = 0
) -> Position[QuincyView, QuincyMove]: ...
@overload
def imagine(
    game: Literal["quincala"], view: QuincalaView, *, options: Options = None, seed: int = 0
) -> Position[QuincalaView, QuincalaMove]: ...
@overload
def imagine(
    game: Literal["quadominos"], view: QuadOminosView, *, options: Options = None, seed: int = 0
) -> Position[QuadOminosView, QuadOminosMove]: ...
@overload
def imagine(game: str, view: Any, *, options: Options = None, seed: int = 0) -> Position: ...
def imagine(game: str, view: Any, *, options: Options = None, seed: int = 0) -> Position:
    """Return a position in which the seat to move has exactly this view. Hidden cards and tiles are dealt at random.

    A player can use it to find its legal moves, and to look ahead.

    Args:
        game: name of the game.
        view: the view that a player received in its turn.
        options: options of the match, by name.
        seed: decides the hidden cards and tiles.

    Raises:
        RefereeError: there is no such game, or this is not a view of it.

    >>> view = match.turns[0].view
    >>> len(referee.imagine("quincy", view).legal_moves())
    88
    """
    rules = find_game(read_text("game", game, "quincy"))
    guess = read_whole("seed", seed)
    origin = Origin(view=read_view(rules, view), guess=guess, options=read_options(options))
    return Position(rules, origin, origin.begin(rules))
