"""A position of a game: the view of each seat, the legal moves, and the position after a move."""

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
    """A position of a game. It never changes: `play` returns another one.

    Two positions are equal if they are reached by the same moves from the same deal. Positions come from matches
    (`match.positions`), from `referee.imagine`, and from `play`.

    >>> position = match.positions[0]
    >>> position
    <referee.Position of quincy: seat 0 to move>
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
        """Name of the game.

        >>> match.positions[0].game
        'quincy'
        """
        return self._game.name

    @property
    def is_over(self) -> bool:
        """Whether the game has ended.

        >>> match.positions[0].is_over, match.positions[-1].is_over
        (False, True)
        """
        return self._game.outcome(self._state) is not None

    @property
    def seat(self) -> int | None:
        """The seat whose turn it is; None if the game has ended.

        >>> match.positions[0].seat
        0
        """
        return None if self.is_over else self._game.to_move(self._state)

    @property
    def scores(self) -> tuple[int, ...]:
        """Points by seat; empty if the game tells no points before its end.

        >>> match.positions[0].scores, match.positions[-1].scores
        ((), (1, 0))
        """
        outcome = self._game.outcome(self._state)
        return tuple(getattr(self._state, "scores", ()) if outcome is None else outcome.scores)

    @property
    def ranking(self) -> tuple[tuple[int, ...], ...]:
        """Groups of seats from best to worst; empty while the game goes on.

        >>> match.positions[-1].ranking
        ((0,), (1,))
        """
        outcome = self._game.outcome(self._state)
        return () if outcome is None else outcome.ranking

    def view(self, seat: int | None = None) -> Any:
        """Return all that a seat may know, as the plain data that its player receives.

        Args:
            seat: the seat; None: the seat to move.

        Raises:
            RefereeError: there is no such seat, or the game has ended and no seat was given.

        >>> match.positions[0].view()["hand"]
        [[8, 9], [4, 4], [0, 0], [3, 8], [2, 5]]
        """
        wanted = self.seat if seat is None else seat
        if wanted is None:
            raise BadRequest("the game has ended, nobody is to move; say whose view it is to be: view(0)")
        wanted = read_whole("seat", wanted)
        if not 0 <= wanted < self._game.seat_count(self._state):
            raise BadRequest(f"there are {self._game.seat_count(self._state)} seats, there is no seat {wanted}")
        return _plain(self._game.view(self._state, wanted))

    def legal_moves(self) -> list[Any]:
        """Return the legal moves of the seat to move, as plain data; empty if the game has ended.

        In Q these are the moves with one tile; moves with several tiles may be legal, too.

        >>> match.positions[0].legal_moves()[0]
        {'action': 'add', 'domino': [8, 9], 'square': [8, 9]}
        """
        return [] if self.is_over else list(_plain(self._game.legal_moves(self._state)))

    def play(self, move: Any) -> "Position":
        """Return the position after a move of the seat to move.

        Args:
            move: the move as plain data.

        Raises:
            MalformedMove: the move does not have the form of a move of this game.
            IllegalMove: the move breaks a rule.
            RefereeError: the game has ended.

        >>> match.positions[0].play({"action": "add", "domino": [8, 9], "square": [8, 9]})
        <referee.Position of quincy: seat 1 to move>
        """
        if self.is_over:
            raise BadRequest("the game has ended, there is no move to play")
        state = self._game.play(self._state, self._game.parse_move(move))
        return Position(self._game, self._game.deliver(state), self._names)

    def _repr_svg_(self) -> str:
        """Return the drawing that a notebook shows."""
        return with_names(self._game.draw_svg(self._state), self._names)


def imagine(game: str, view: Any, *, options: Mapping[str, Any] | None = None, seed: int = 0) -> Position:
    """Return a position in which the seat to move has exactly this view. Hidden cards and tiles are dealt at random.

    A player uses it to find its legal moves, and to look ahead.

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
    guess = random.Random(read_whole("seed", seed))  # noqa: S311  # a player guesses, it guards no secret
    try:
        typed = msgspec.convert(view, rules.view_type, strict=True)
    except msgspec.ValidationError as error:
        raise BadRequest(f"this is no view of {game}: {explain_mismatch(error)}") from None
    state = rules.imagine(rules.parse_options(read_options(options)), typed, Shuffler(guess))
    names = [f"seat {seat}" for seat in range(rules.seat_count(state))]
    return Position(rules, state, names)


# Through msgpack, and not through a copy: tuples become lists, as on the wire. A function that works with these views
# then works unchanged as a program.


def _plain(value: Any) -> Any:
    """Return a value as the plain data that a player would receive over the wire."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(value))
