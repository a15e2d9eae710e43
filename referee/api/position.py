"""A position of a game: what a seat sees in it, what is legal, and what comes of a move."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from rich.text import Text

from sample_players.python.imagined import Shuffler

from ..errors import BadRequest
from ..games.arguments import read_options, read_text, read_whole
from ..games.base import Game
from ..pages.words import with_names
from ..plugins import find_game
from ..type_words import explain_mismatch


class Position:
    """A position of a game. It never changes: a move leads to another one. Equal ones came about in the same way.

    Positions come from matches (`match.positions`), from `referee.imagine`, and from `play`.
    """

    def __init__(self, game: Game[Any, Any, Any], state: Any, names: Sequence[str]) -> None:
        self._game = game
        self._state = state
        self._names = names

    def __repr__(self) -> str:
        whose = "over" if self.seat is None else f"seat {self.seat} to move"
        return f"<referee.Position of {self.game}: {whose}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and (self.game, self._state) == (other.game, other._state)

    def __hash__(self) -> int:
        return hash((self.game, self._state))

    def __str__(self) -> str:
        return Text.from_markup(self._game.draw_text(self._state)).plain

    @property
    def game(self) -> str:
        """Name of the game."""
        return self._game.name

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self._game.outcome(self._state) is not None

    @property
    def seat(self) -> int | None:
        """The seat whose turn it is; None if the game has ended."""
        return None if self.is_over else self._game.to_move(self._state)

    @property
    def scores(self) -> tuple[int, ...]:
        """Points by seat, as far as the game tells them before its end."""
        outcome = self._game.outcome(self._state)
        return tuple(getattr(self._state, "scores", ()) if outcome is None else outcome.scores)

    @property
    def ranking(self) -> tuple[tuple[int, ...], ...]:
        """Groups of seats from best to worst; empty while the game goes on."""
        outcome = self._game.outcome(self._state)
        return () if outcome is None else outcome.ranking

    def view(self, seat: int | None = None) -> Any:
        """Return all that a seat may know, plain, as its player is told it.

        Args:
            seat: whose view; None: that of the seat to move.

        Raises:
            RefereeError: there is no such seat, or nobody is to move.
        """
        wanted = self.seat if seat is None else seat
        if wanted is None:
            raise BadRequest("the game has ended, nobody is to move; say whose view it is to be: view(0)")
        wanted = read_whole("seat", wanted)
        if not 0 <= wanted < self._game.seat_count(self._state):
            raise BadRequest(f"there are {self._game.seat_count(self._state)} seats, there is no seat {wanted}")
        return _plain(self._game.view(self._state, wanted))

    def legal_moves(self) -> list[Any]:
        """Return legal moves of the seat to move, plain; empty if the game has ended.

        Of the Q game, these are the moves with one tile; several together may be legal, too.
        """
        return [] if self.is_over else list(_plain(self._game.legal_moves(self._state)))

    def play(self, move: Any) -> "Position":
        """Return the position after a move of the seat to move.

        Args:
            move: plain.

        Raises:
            MalformedMove: it has not the form of a move of this game.
            IllegalMove: it breaks a rule.
            RefereeError: the game has ended.
        """
        if self.is_over:
            raise BadRequest("the game has ended, there is no move to play")
        state = self._game.play(self._state, self._game.parse_move(move))
        return Position(self._game, self._game.deliver(state), self._names)

    def _repr_svg_(self) -> str:
        """Return the drawing that a notebook shows."""
        return with_names(self._game.draw_svg(self._state), self._names)


def imagine(game: str, view: Any, *, options: Mapping[str, Any] | None = None, seed: int = 0) -> Position:
    """Return a position in which the seat to move sees just this view; what it can't see is dealt at random.

    This is how a player finds its legal moves, and looks ahead.

    Args:
        game: name of the game.
        view: what a player was shown in its turn.
        options: of the match, by name.
        seed: decides what the view does not show.

    Raises:
        RefereeError: there is no such game, or the view is none of it.
    """
    rules = find_game(read_text("game", game, "quincy"))
    guess = random.Random(read_whole("seed", seed))  # noqa: S311  # a player guesses, it guards no secret
    try:
        typed = msgspec.convert(view, rules.view_type, strict=True)
    except msgspec.ValidationError as error:
        raise BadRequest(f"this is no view of {game}: {explain_mismatch(error)}") from None
    state = rules.imagine(rules.parse_options(read_options(options)), typed, Shuffler(guess))
    names = [f"seat {seat}" for seat in range(rules.seat_count(state))]
    return Position(rules, state, names)


def _plain(value: Any) -> Any:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(value))
