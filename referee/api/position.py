"""A position of a game: the view of each seat, the legal moves, the position after a move, and the position as text.

The text of a position says how its game began, and lists all moves since then. A text of the board alone, as in chess,
would be shorter. But each game would need its own form, and the rules would have to decide whether such a position can
be reached at all. A text of moves has one form for all games, even those that packages add. It can't stand for an
impossible position, because reading it plays its moves.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, Literal, overload

import msgspec
from rich.text import Text

from .. import chance
from ..errors import BadMove, BadRequest, RefereeError
from ..games.arguments import read_options, read_seed, read_text, read_whole
from ..games.base import Game, MalformedMove
from ..games.notation import format_exactly, format_json, format_move, read_move, to_plain
from ..pages.words import with_names
from ..plugins import find_game, installed
from ..text import printable
from ..type_words import explain_mismatch
from ..typing import QMove, QuadOminosMove, QuadOminosView, QuincalaMove, QuincalaView, QuincyMove, QuincyView, QView
from .history import Origin, Step, StepKind, read_view

# The types of a game's views and moves as plain data. Because they have a default, `referee.Match` alone is a type as
# well: a match of any game. Python 3.11 itself has no such defaults, and only type checkers need them.
if TYPE_CHECKING:
    from typing_extensions import TypeVar

    V = TypeVar("V", default=Any)
    M = TypeVar("M", default=Any)
else:
    from typing import TypeVar

    V, M = TypeVar("V"), TypeVar("M")

_MOST_TEXT = 1_000_000
"""Longest text of a position, in characters: a hundred times the text of a long game of Quad-Ominos."""
_BLANKS = " \t\r\n"
_SETTING = re.compile("([a-z]+)=(.*)", re.DOTALL)
_ROOT = re.compile(r"<svg\b[^>]*>")
"""The first tag of a drawing."""
_BOX = re.compile(r'\bviewBox="\S+ \S+ ([0-9.]+) ([0-9.]+)"')
_SIZE = re.compile(r' (?:width|height)="[^"]*"')


class Position(Generic[V, M]):
    """A position of a game. It never changes: `play` returns another one.

    Two positions are equal if they are reached by the same moves from the same deal. Positions come from
    `referee.start`, from matches (`match.positions`), from a view (`referee.imagine`), and from a text (`from_text`).

    >>> position = referee.start("quincy", seed=7)
    >>> position
    <referee.Position of quincy: seat 0 to move>
    >>> position == match.positions[0]
    True
    """

    def __init__(
        self,
        game: Game[Any, Any, Any],
        origin: Origin,
        state: Any,
        *,
        last: Step | None = None,
        names: Sequence[str] = (),
    ) -> None:
        self._game = game
        self._origin = origin
        self._state = state
        self._last = last
        self._names = names or [f"seat {seat}" for seat in range(game.seat_count(state))]

    def __repr__(self) -> str:
        whose = "over" if self.seat is None else f"seat {self.seat} to move"
        return f"<referee.Position of {self.game}: {whose}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and (self.game, self._state) == (other.game, other._state)

    def __hash__(self) -> int:
        return hash((self.game, self._state))

    def __reduce__(self) -> tuple[Any, ...]:
        return Position.from_text, (self.to_text(),)

    def __str__(self) -> str:
        return Text.from_markup(self._game.draw_text(self._state)).plain

    @property
    def game(self) -> str:
        """Name of the game.

        >>> position.game
        'quincy'
        """
        return self._game.name

    @property
    def is_over(self) -> bool:
        """Whether the game has ended.

        >>> position.is_over, match.positions[-1].is_over
        (False, True)
        """
        return self._game.outcome(self._state) is not None

    @property
    def seat(self) -> int | None:
        """The seat whose turn it is; None if the game has ended.

        >>> position.seat
        0
        """
        return None if self.is_over else self._game.to_move(self._state)

    @property
    def scores(self) -> tuple[int, ...]:
        """Points by seat; empty if the game has no points before its end.

        >>> position.scores, match.positions[-1].scores
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

    def view(self, seat: int | None = None) -> V:
        """Return all that a seat may know, as the plain data that its player receives.

        Args:
            seat: the seat; None: the seat to move.

        Raises:
            RefereeError: there is no such seat, or the game has ended and no seat was given.

        >>> position.view()["hand"]
        [[8, 9], [4, 4], [0, 0], [3, 8], [2, 5]]
        """
        wanted = self.seat if seat is None else self._read_seat(seat)
        if wanted is None:
            raise BadRequest("the game has ended, so no seat is to move; give the seat whose view you want: view(0)")
        plain: V = to_plain(self._game.view(self._state, wanted))
        return plain

    def _read_seat(self, seat: int) -> int:
        number, seats = read_whole("seat", seat), self._game.seat_count(self._state)
        if not 0 <= number < seats:
            raise BadRequest(f"there are {seats} seats, so there is no seat {number}; seats are numbered from 0")
        return number

    def legal_moves(self) -> list[M]:
        """Return the legal moves of the seat to move, as plain data; empty if the game has ended.

        In Q these are the moves with one tile; moves with several tiles may be legal, too (see `is_legal`).

        >>> position.legal_moves()[0]
        {'action': 'add', 'domino': [8, 9], 'square': [8, 9]}
        """
        return [] if self.is_over else list(to_plain(self._game.legal_moves(self._state)))

    def is_legal(self, move: M | str) -> bool:
        """Return whether the seat to move may play a move; false for a malformed move, and after the end of the game.

        Args:
            move: the move as plain data, or as text for `parse_move`.

        >>> position.is_legal("add:8,9;8,9"), position.is_legal("add:8,9;1,1"), position.is_legal("castle")
        (True, False, False)
        """
        try:
            self._game.play(self._state, self._read_move(move))
        except (BadMove, _Ended):
            return False
        return True

    def parse_move(self, text: str) -> M:
        """Return the move that a text stands for, as plain data; `is_legal` decides whether it is legal.

        Args:
            text: a move in the short form of tables and exports; a move as JSON; or a move that is itself a text.

        Raises:
            MalformedMove: the text does not stand for a move.

        >>> position.parse_move("add:8,9;8,9")
        {'action': 'add', 'domino': [8, 9], 'square': [8, 9]}
        """
        try:
            move: M = read_move(self._game, read_text("move", text, "add:8,9;8,9"))
        except MalformedMove as error:
            raise MalformedMove(f"{error}{self._give_example()}") from None
        return move

    def _give_example(self) -> str:
        """Return the end of an error about a move: a legal move as an example, if there is one."""
        legal = self.legal_moves()[:1]
        return f", such as {format_move(legal[0])}" if legal else ""

    def format_move(self, move: M) -> str:
        """Return the short form of a move: one word without spaces, which `parse_move` and `play` can read.

        >>> position.format_move({"action": "add", "domino": [8, 9], "square": [8, 9]})
        'add:8,9;8,9'
        """
        return format_exactly(self._game, to_plain(move))

    def _read_move(self, move: M | str) -> Any:
        """Convert a move to the game's type of moves.

        Raises:
            MalformedMove: it does not have the form of a move.
            BadRequest: the game has ended.
        """
        if self.is_over:
            raise _Ended("the game has ended, so there is no move to play")
        if not isinstance(move, str):
            try:
                return self._game.parse_move(move)
            except MalformedMove as error:
                why = explain_mismatch(msgspec.ValidationError(str(error)))
                example = self._give_example()
                raise MalformedMove(f"this is not a move of {self.game}: {why}; give a move{example}") from None
        try:
            literal = self._game.parse_move(move)
            self._game.play(self._state, literal)
        except BadMove:
            return self._game.parse_move(self.parse_move(move))
        return literal  # the moves of this game are texts

    def play(self, move: M | str) -> "Position[V, M]":
        """Return the position after a move of the seat to move.

        Args:
            move: the move as plain data, or as text for `parse_move`.

        Raises:
            MalformedMove: the move does not have the form of a move of this game.
            IllegalMove: the move breaks a rule.
            RefereeError: the game has ended.

        >>> position.play("add:8,9;8,9")
        <referee.Position of quincy: seat 1 to move>
        """
        return self._after("move", self._read_move(move))

    def _after(self, kind: StepKind, value: Any = None) -> "Position[V, M]":
        step = Step(self._last, kind, value)
        state = step.apply(self._game, self._state)
        return Position(self._game, self._origin, state, last=step, names=self._names)

    def choose(self, player: str, *, seed: int = 0) -> M:
        """Return the move that a house player would make here; the player sees only the view of the seat to move.

        Args:
            player: name of the house player: `greedy`, `random`, `search`, or another one that plays the game.
            seed: decides the random choices of the player.

        Raises:
            RefereeError: there is no such player of this game, or the game has ended.

        >>> position.format_move(position.choose("greedy"))
        'add:4,4;4,4'
        """
        house = installed().player_of(self.game, read_text("player", player, "greedy"))
        if self.is_over:
            raise BadRequest("the game has ended, so there is no move to choose")
        view, options = self.view(), self._game.parse_options(self._origin.options)
        choose = house.make(self._game, options, chance.seed_from_number(read_seed(seed)))
        move: M = to_plain(choose(view))
        return move

    def svg(self, *, size: int | None = None, seat: int | None = None) -> str:
        """Return a drawing of the position, as an SVG document that needs no other files.

        Args:
            size: width in pixels; the height follows from it. None: as large as the game draws it.
            seat: draw only what this seat may know; None: everything.

        Raises:
            RefereeError: the size is not a whole number above 0, or there is no such seat.

        >>> position.svg(size=300)[:29]
        '<svg width="300" height="205"'
        """
        eyes = None if seat is None else {self._read_seat(seat)}
        drawing = with_names(self._game.draw_svg(self._state, eyes), self._names)
        return drawing if size is None else _resize(drawing, read_whole("size", size, 1))

    def _repr_svg_(self) -> str:
        """Return the drawing that a notebook shows."""
        return self.svg()

    def to_text(self) -> str:
        """Return the position as one line of text, which `Position.from_text` can read.

        The line has the name of the game, how the game began, and every move since then in its short form. It reveals
        the whole position, even hidden tiles. It does not contain the names of players.

        >>> position.play("add:8,9;8,9").to_text()
        'quincy seats=2 seed=7 add:8,9;8,9'
        """
        settings = msgspec.to_builtins(self._origin)
        begun = [f"{name}={format_json(value)}" for name, value in settings.items()]
        played, step = list[str](), self._last
        while step is not None:
            played.append(step.format(self._game))
            step = step.before
        return " ".join([self.game, *begun, *reversed(played)])

    @staticmethod
    def from_text(text: str) -> "Position":
        """Return the position that a text stands for; `to_text` makes such texts, or you write them.

        A text is a line of words: the name of the game; settings, which are `seats=`, `options=`, and one of `seed=`,
        `deal=`, `position=` and `view=`, with a value in JSON; then moves, each in its short form or as JSON without
        spaces.

        Args:
            text: the text, of at most a million characters.

        Raises:
            RefereeError: the text is not that of a position; the error names the first wrong word.

        >>> referee.Position.from_text("quincy seed=7 add:8,9;8,9") == position.play("add:8,9;8,9")
        True
        """
        if len(read_text("text", text, "quincy seed=7")) > _MOST_TEXT:
            raise BadRequest(f"the text of a position has at most {_MOST_TEXT} characters, not {len(text)}")
        name, *words = re.split(f"[{_BLANKS}]+", text.strip(_BLANKS))
        game, settings = find_game(name), dict[str, Any]()
        while words and (setting := _SETTING.fullmatch(words[0])) and setting[1] in Origin.__struct_fields__:
            settings[setting[1]] = _decode_setting(words.pop(0), setting[2])
        try:
            origin = msgspec.convert(settings, Origin, strict=True)
        except msgspec.ValidationError as error:
            raise BadRequest(f"the text is of no position of {name}: {explain_mismatch(error)}") from None
        with _judging(f"the text is of no position of {name}"):
            position: Position = Position(game, origin, origin.begin(game))
        for number, word in enumerate(words, 1):
            position = position._follow(word, f"move {number} of the text, {printable(word[:80])}")
        with _judging(f"the text is of no position of {name}"):
            game.check_invariants(position._state)  # noqa: SLF001  # a position of this class
        return position

    def _follow(self, word: str, place: str) -> "Position[V, M]":
        """Return the position after one word of a text.

        Args:
            word: the word.
            place: the word and its place, for errors.
        """
        with _judging(f"{place}, can't be played"):
            is_open = self._last is not None and self._last.kind == "play"
            if word == "~" and is_open:
                return self._after("deliver")
            if word.startswith("out="):
                return self._after("drop", self._read_seat_to_drop(word.removeprefix("out=")))
            if is_open:
                raise BadRequest("the draw of the last move must be handed out first: write ~")
            if word.startswith("~"):
                return self._after("play", self._read_move(word[1:]))
            return self.play(word)

    def _read_seat_to_drop(self, digits: str) -> int:
        if not digits.isdecimal():
            raise BadRequest("a seat is a whole number")
        seat, step = self._read_seat(int(digits[:9])), self._last
        while step is not None:
            if (step.kind, step.value) == ("drop", seat):
                raise BadRequest(f"seat {seat} is out already")
            step = step.before
        return seat


class _Ended(BadRequest):
    """The game has ended."""


@contextmanager
def _judging(what: str) -> Iterator[None]:
    """Turn every error of the rules into a BadRequest: a text may reach states that no match can reach.

    Raises:
        BadRequest: there was an error.
    """
    try:
        yield
    except RefereeError as error:
        raise BadRequest(f"{what}: {error}") from None
    except Exception as error:
        raise BadRequest(
            f"{what}: the rules fail with {type(error).__name__}: {printable(str(error)[:200])}"
        ) from error


def _decode_setting(word: str, value: str) -> Any:
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        raise BadRequest(f"{printable(word[:80])} has no value in JSON after its =") from None


def _resize(drawing: str, width: int) -> str:
    """Return a drawing with another width, in pixels."""
    root = _ROOT.search(drawing)
    box = root and _BOX.search(root[0])
    if root is None or box is None:
        return drawing
    height = round(width * float(box[2]) / float(box[1]))
    resized = f'<svg width="{width}" height="{height}"{_SIZE.sub("", root[0])[4:]}'
    return drawing[: root.start()] + resized + drawing[root.end() :]


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
