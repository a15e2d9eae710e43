"""The contract of a game: the methods that a match calls on its rules."""

# A game is a set of functions on states. A state is immutable and hashable: `play`, `deliver` and `drop` return a new
# state, and an error leaves the old one unchanged. So the same code judges moves, replays a match from its record, and
# lets a player look ahead. A game reads no clock and draws no random numbers: it gets one shuffle at the start.
#
# A play has two steps, because a player must not use a piece that it has not received yet. `play` makes the move, and
# the drawn pieces are on their way. `deliver` puts them into the hand, after the player has confirmed them (or at once,
# if the match asks for no confirmation).
#
# Seats are numbered 0, 1, 2... in turn order at the start.

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Protocol, TypeVar

import msgspec
from msgspec import Meta

from ..errors import BadMove, BadRequest
from ..type_words import explain_mismatch, wrong_options
from .schema import schema_of

S = TypeVar("S")
V = TypeVar("V")
M = TypeVar("M")
T = TypeVar("T")

Step = Hashable
"""A part of a move that a person chooses with one action: a whole move, a word, or a tuple of numbers."""
Coordinate = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""A row or a column. The range is larger than any board, and fits into an integer of every language."""


# A generator of random numbers would be the obvious choice. But a generator has a state, so the result of a game would
# depend on the number of earlier draws, and two states with equal boards could continue differently. Here one shuffle
# at the start decides everything, and an auditor can check it against the seed.


class Shuffle(Protocol):
    """Puts items into a random order. It is the only source of chance in a game.

    A shuffle has no state: a second call gives the same order again. So a game may keep it in its own state.
    """

    def __call__(self, items: Sequence[T], /) -> list[T]:
        """Return the items in a random order, which is fixed for each deal."""

    def later(self, deal: int) -> "Shuffle":
        """Return the shuffle of a later deal of the same game. Nobody can infer this deal from it.

        Args:
            deal: 1, 2, 3... for the second deal and those after it.
        """


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a game. Verdicts refer to it by its id."""

    id: str
    """Permanent id, such as `q.fit.row`."""
    text: str
    """The rule in one sentence."""
    source: str
    """Where the rule was published."""


def rules_beside(module: str) -> dict[str, Rule]:
    """Return the rules in the rules.toml next to a module, by id.

    Args:
        module: the module's `__file__`.
    """
    text = Path(module).with_name("rules.toml").read_text(encoding="utf-8")
    return {rule.id: rule for rule in msgspec.convert(tomllib.loads(text)["rule"], list[Rule], strict=True)}


class MalformedMove(BadMove):
    """The move does not have the form of a move of this game. It would be wrong in every state."""


class IllegalMove(BadMove):
    """The move breaks a rule in this state.

    Args:
        rule_id: id of the broken rule, one of the game's `rules`.
        detail: what exactly breaks the rule, with the place and the piece.
    """

    def __init__(self, rule_id: str, detail: str) -> None:
        super().__init__(f"{rule_id}: {detail}")
        self.rule_id = rule_id
        self.detail = detail


class BadSetup(BadRequest):
    """The game can't start with these options or this position; the text says what the organiser must fix."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a game. It ranks the seats that are still in the game."""

    ranking: tuple[tuple[int, ...], ...]
    """Groups of seats from best to worst; seats of one group share the rank."""
    scores: tuple[int, ...]
    """Points of each seat, including dropped seats."""
    order: tuple[int, ...]
    """Seats that are still in the game, in their present turn order."""
    reason: str
    """Id of the rule that ended the game."""


@dataclass(frozen=True, slots=True)
class News:
    """The result of the last play, for everybody and for its player."""

    public: dict[str, Any]
    """News for all seats, as plain values."""
    draws: tuple[Any, ...] | None
    """Pieces that the player drew, as plain values; empty if none were left, None if the play draws nothing."""


@dataclass(frozen=True, slots=True)
class PgnMoves:
    """Moves in PGN, the file format of chess programs. Seat 0 is White."""

    words: tuple[str, ...]
    """Moves with their numbers, in order: `1.`, `e4`, `e5`, `2.`, `Nf3`."""
    tags: dict[str, str]
    """Tags that the moves need, such as `SetUp` and `FEN` if the game did not begin as usual."""


def rank_seats(scores: Sequence[int], order: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """Rank seats by points; return groups of seats from best to worst.

    Args:
        scores: points by seat.
        order: the seats to rank; seats that share a rank stay in this order.
    """
    levels: dict[int, tuple[int, ...]] = {}
    for seat in order:
        levels[scores[seat]] = (*levels.get(scores[seat], ()), seat)
    return tuple(levels[points] for points in sorted(levels, reverse=True))


def replace_at(values: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    """Return a copy of a tuple with a new value at one index."""
    return (*values[:index], value, *values[index + 1 :])


def seats_text(seats: range) -> str:
    """Describe possible numbers of seats: `2`, `2 to 4`, or `2 or 4` if not all numbers in between are possible."""
    if seats.step == 1 and len(seats) > 1:
        return f"{seats[0]} to {seats[-1]}"
    return " or ".join(filter(None, (", ".join(map(str, seats[:-1])), str(seats[-1]))))


class Game(ABC, Generic[S, V, M]):
    """The rules of a game. S, V and M are the types of its states, views and moves."""

    name: ClassVar[str]
    title: ClassVar[str]
    seats: ClassVar[range]
    """Numbers of seats with which the game can be played, such as 2 or 4."""
    options_type: ClassVar[type[msgspec.Struct]]
    view_type: ClassVar[type[msgspec.Struct]]
    move_type: ClassVar[Any]
    position_type: ClassVar[Any]
    """Type of the positions from which a game can start."""
    rules: ClassVar[dict[str, Rule]]
    rules_version: ClassVar[str] = ""
    """Name and version of the package that contains the rules, such as `OpenSpiel 2.0.2`; empty for a built-in game.

    The header of a record holds it, so that an audit with another version can report this.
    """
    is_ranked_by_scores: ClassVar[bool] = False
    """True if only the scores decide the ranking. Then an audit of a redacted record checks the ranking."""
    file_options: ClassVar[frozenset[str]] = frozenset()
    """Options whose value an organiser gives as the path of a TOML file; the game gets the content of the file."""
    _boxed_move: ClassVar[Any]
    """Struct that contains a move. msgspec prepares a struct once, but would analyse a bare union at every call."""

    def __init_subclass__(cls) -> None:
        """Prepare the parsing of moves for a subclass."""
        super().__init_subclass__()
        if hasattr(cls, "move_type"):
            cls._boxed_move = msgspec.defstruct("Box", [("move", cls.move_type)])

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schemas of `view`, `move` and `options`. Descriptions are the docstrings below the fields."""
        return schema_of({"view": self.view_type, "move": self.move_type, "options": self.options_type})

    def parse_options(self, raw: dict[str, Any]) -> Any:
        """Parse and check the options.

        Args:
            raw: name of an option -> plain value. Missing options have their defaults.

        Raises:
            BadSetup: an unknown option, or a value of the wrong type or range.
        """
        try:
            return msgspec.convert(raw, self.options_type, strict=True)
        except msgspec.ValidationError as error:
            wrong = "; ".join(wrong_options(raw, self.options_type)) or explain_mismatch(error)
            option_names = ", ".join(field.name for field in msgspec.structs.fields(self.options_type)) or "none"
            raise BadSetup(f"options of {self.name}: {wrong} (it knows: {option_names})") from None

    def parse_position(self, raw: Any) -> Any:
        """Parse a position. Only its form is checked here; `restore` checks whether the position is possible.

        Raises:
            BadSetup: the value does not have the form of a position.
        """
        try:
            return msgspec.convert(raw, self.position_type, strict=True)
        except msgspec.ValidationError as error:
            raise BadSetup(f"not a position of {self.name}: {explain_mismatch(error)}") from None

    def parse_move(self, raw: Any) -> M:
        """Parse a move.

        Raises:
            MalformedMove: the value does not have the form of a move.
        """
        try:
            # Parsing is strict: the text "3" is not the number 3. Otherwise a program could win here with a message
            # that another implementation of the protocol refuses.
            move: M = msgspec.convert({"move": raw}, self._boxed_move, strict=True).move
        except msgspec.ValidationError as error:
            raise MalformedMove(str(error)) from None
        return move

    @abstractmethod
    def new(self, options: Any, seats: int, shuffle: Shuffle) -> S:
        """Return the state at the start of a game.

        Args:
            options: the parsed options.
            seats: number of seats, one of `self.seats`.
            shuffle: the only source of random numbers.
        """

    @abstractmethod
    def restore(self, options: Any, position: Any) -> S:
        """Return the state of a given position.

        Args:
            options: the parsed options.
            position: the position as a plain value, in the form of `position_type`.

        Raises:
            BadSetup: this is not a position of the game.
        """

    @abstractmethod
    def imagine(self, options: Any, view: V, shuffle: Shuffle) -> S:
        """Return a possible state in which the view's seat has this view, for players that look ahead.

        Args:
            options: the parsed options.
            view: view of a state that is not over.
            shuffle: random order for everything that the seat can't see.
        """

    def teams(self, options: Any, seats: int) -> tuple[tuple[int, ...], ...]:
        """Return the groups of seats that win and lose together; empty if each seat plays for itself."""
        return ()

    @abstractmethod
    def seat_count(self, state: S) -> int:
        """Return the number of seats, including dropped ones."""

    @abstractmethod
    def to_move(self, state: S) -> int:
        """Return the seat whose turn it is. It is called only while outcome(state) is None."""

    def is_same_turn(self, state: S) -> bool:
        """Return whether the seat to move is still in the turn of its last play, so that its clock keeps running."""
        return False

    @abstractmethod
    def view(self, state: S, seat: int) -> V:
        """Return the view of a seat: exactly what it may know."""

    @abstractmethod
    def play(self, state: S, move: M) -> S:
        """Return the state after a move of the seat whose turn it is.

        Pieces that it draws are on their way until `deliver`.

        Raises:
            IllegalMove: the move breaks a rule; the state is unchanged.
        """

    @abstractmethod
    def news(self, state: S) -> News:
        """Return the news of the last play. It is called only right after `play`."""

    @abstractmethod
    def deliver(self, state: S) -> S:
        """Return the state in which the player has received the pieces that the last play drew."""

    @abstractmethod
    def drop(self, state: S, seat: int) -> S:
        """Return the state without an eliminated seat; the rules decide where its pieces go."""

    @abstractmethod
    def outcome(self, state: S) -> Outcome | None:
        """Return the outcome, or None while the game goes on."""

    @abstractmethod
    def legal_moves(self, state: S) -> list[M]:
        """Return the legal moves of the seat to move.

        A game with too many of them says in its docstring which ones it lists.
        """

    def legal_steps(self, state: S, chosen: tuple[Step, ...] = ()) -> Sequence[Step]:
        """Return the steps that can be chosen next for a move of the seat to move. By default, a step is a whole move.

        Until the move is complete, there is always at least one step, and every step leads to a legal move. The order
        is the same for equal histories of the game.

        Args:
            state: a state that is not over.
            chosen: the legal steps of the move so far. The move is not complete yet.
        """
        return self.legal_moves(state)

    def move_of(self, chosen: tuple[Step, ...]) -> M | None:
        """Return the move that some legal steps make; None if the move is not complete."""
        return chosen[0] if chosen else None  # type: ignore[return-value]  # a step is a move

    def steps_of(self, move: M) -> tuple[Step, ...]:
        """Return the steps that make a move. If the move is one of `legal_moves`, the steps are legal."""
        return (move,)

    def places_of(self, step: Step) -> tuple[str, ...]:
        """Return what a person touches to choose a step, in order: places of the drawing, and words.

        The name of a place is its `data-place` in `draw_svg`. Different legal steps have different sequences, and no
        sequence is the beginning of another.
        """
        return (step if isinstance(step, str) else str(msgspec.to_builtins(step)),)

    def describe(self, play: Mapping[str, Any]) -> str:
        """Describe a play in words. By default the text is empty, and pages show the play's fields.

        Args:
            play: a move in the form of the wire, or the public news of a play, or one event of these news.
        """
        return ""

    def pgn(self, played: Iterable[tuple[S, M]]) -> PgnMoves | None:
        """Return the moves of a match in PGN; None, the default, for a game that chess programs don't know.

        Args:
            played: each move with the state before it. They are computed only if the method reads them.
        """
        return None

    @abstractmethod
    def check_invariants(self, state: S) -> None:
        """Raise AssertionError if the state contradicts itself. Tests and auditors call this."""

    @abstractmethod
    def draw_text(self, state: S, eyes: Collection[int] | None = None) -> str:
        """Return the board as text for a terminal, with the markup of the library rich.

        Args:
            state: the state to draw.
            eyes: seats that look at the drawing; see `draw_svg`.
        """

    @abstractmethod
    def draw_svg(self, state: S, eyes: Collection[int] | None = None, chosen: tuple[Step, ...] | None = None) -> str:
        """Return the board and the seats' hands as one SVG document without links to other files.

        Each element is one line, because pages with many boards store equal lines only once. The colour of ink is
        `currentColor`, set on the root, and the background is the only element of class `ground`, so that a page can
        darken both. The element `<text data-seat="N">` has a placeholder that a page replaces by the seat's name. The
        group `<g data-hand="N">` contains everything that only seat N may know.

        Args:
            state: the state to draw.
            eyes: seats that look at the drawing. Secrets are drawn only if one of these seats may know them. An empty
                collection gives the drawing for spectators of a running match. None draws everything.
            chosen: steps of the move so far, if a person at the only seat in `eyes` is choosing a move. Pieces may be
                drawn where these steps put them. Every place that the person can touch for a step (`places_of`) is an
                element with `data-place`. None if nothing can be touched.
        """
