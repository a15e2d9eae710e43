"""The contract of a game: what a match needs of its rules."""

# A game is a set of functions on states. A state is immutable and hashable: `play`, `deliver` and `drop` return a new
# one, and an error leaves the old one as it was. So a match can be replayed from its record, and a player can look
# ahead, with the same code that judges. A game has no clock and no chance of its own: the one shuffle is handed in at
# the start.
#
# A play has two halves, because a player must not use a piece that it has not received yet. `play` makes the move; the
# pieces that it draws are on their way. `deliver` puts them into the hand, once the player has confirmed them (at once,
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
"""A part of a move that a person chooses at once: a whole move, a word, or a tuple of numbers."""
Coordinate = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""A row or a column: more than any game reaches, and an integer of every language."""


# A generator of random numbers would be the obvious choice. But it has a state, so the result of a game would depend
# on how often each part of it had drawn, and two states with equal boards could differ in what comes next. One shuffle
# at the start decides everything, and an auditor can check it against the seed.


class Shuffle(Protocol):
    """Puts items into a random order; chance reaches a game in this form only.

    It has no state of its own: a game may store it in its state, and a second call gives the same order again.
    """

    def __call__(self, items: Sequence[T], /) -> list[T]:
        """Return the items in a random order: that of one deal."""

    def later(self, deal: int) -> "Shuffle":
        """Return the shuffle of another deal of the same game, from which this deal can't be inferred.

        Args:
            deal: 1, 2, 3... for the second deal and those after it.
        """


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a game, as a verdict names it."""

    id: str
    """Stable name, e.g. `q.fit.row`."""
    text: str
    """The rule in one sentence."""
    source: str
    """Place where the rule is written."""


def rules_beside(module: str) -> dict[str, Rule]:
    """Return the rules in the rules.toml next to a module, by id.

    Args:
        module: the module's `__file__`.
    """
    text = Path(module).with_name("rules.toml").read_text(encoding="utf-8")
    return {rule.id: rule for rule in msgspec.convert(tomllib.loads(text)["rule"], list[Rule], strict=True)}


class MalformedMove(BadMove):
    """The move does not have the form of a move of this game, whatever the state."""


class IllegalMove(BadMove):
    """The move breaks a rule in this state.

    Args:
        rule_id: id of the broken rule, one of the game's `rules`.
        detail: what exactly breaks it, with the place and the piece.
    """

    def __init__(self, rule_id: str, detail: str) -> None:
        super().__init__(f"{rule_id}: {detail}")
        self.rule_id = rule_id
        self.detail = detail


class BadSetup(BadRequest):
    """Options or a position that the game cannot start from; the text tells the organiser what to fix."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a game, for the seats still in it."""

    ranking: tuple[tuple[int, ...], ...]
    """Groups of seats from best to worst; seats of one group share the rank."""
    scores: tuple[int, ...]
    """Points by seat, of dropped seats too."""
    order: tuple[int, ...]
    """Seats that are still in the game, in their present turn order."""
    reason: str
    """Id of the rule by which it ended."""


@dataclass(frozen=True, slots=True)
class News:
    """News of the last play, for everybody and for its player."""

    public: dict[str, Any]
    """News for all seats, plain."""
    draws: tuple[Any, ...] | None
    """Pieces that the player was handed, as plain values: empty if none were left, None if it was to get none."""


@dataclass(frozen=True, slots=True)
class PgnMoves:
    """Moves in PGN, the file format of programs for chess. Seat 0 is White."""

    words: tuple[str, ...]
    """Moves with their numbers, in order: `1.`, `e4`, `e5`, `2.`, `Nf3`."""
    tags: dict[str, str]
    """Tags that the moves need, such as `SetUp` and `FEN` if the game did not begin as usual."""


def rank_seats(scores: Sequence[int], order: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """Return seats ranked by points, in the form of an outcome.

    Args:
        scores: points by seat.
        order: the seats to rank; seats that share a rank stay in this order.
    """
    levels: dict[int, tuple[int, ...]] = {}
    for seat in order:
        levels[scores[seat]] = (*levels.get(scores[seat], ()), seat)
    return tuple(levels[points] for points in sorted(levels, reverse=True))


def replace_at(values: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    """Return a tuple with another value at one index."""
    return (*values[:index], value, *values[index + 1 :])


def seats_text(seats: range) -> str:
    """Return possible numbers of seats in words: `2`, `2 to 4`, or `2 or 4` if not all in between are possible."""
    if seats.step == 1 and len(seats) > 1:
        return f"{seats[0]} to {seats[-1]}"
    return " or ".join(filter(None, (", ".join(map(str, seats[:-1])), str(seats[-1]))))


class Game(ABC, Generic[S, V, M]):
    """A game's rules, as a match needs them. S, V and M are the types of its state, its views and its moves."""

    name: ClassVar[str]
    title: ClassVar[str]
    seats: ClassVar[range]
    """Numbers of seats with which it can be played, such as 2 or 4."""
    options_type: ClassVar[type[msgspec.Struct]]
    view_type: ClassVar[type[msgspec.Struct]]
    move_type: ClassVar[Any]
    position_type: ClassVar[Any]
    """Form of a position to start from."""
    rules: ClassVar[dict[str, Rule]]
    rules_version: ClassVar[str] = ""
    """Name and version of the package that has the rules, such as `OpenSpiel 2.0.2`; empty: the referee has them. The
    header of a record states it, so that an audit with another version can say so."""
    is_ranked_by_scores: ClassVar[bool] = False
    """True if only scores rank the seats at the end; an audit of a redacted record checks the ranking by that."""
    file_options: ClassVar[frozenset[str]] = frozenset()
    """Options whose value an organiser gives as the path of a TOML file; the game gets the content of the file."""
    _boxed_move: ClassVar[Any]
    """Struct around move_type: msgspec prepares a struct once, but analyses a bare union at each call."""

    def __init_subclass__(cls) -> None:
        """Box the move type of a new game."""
        super().__init_subclass__()
        if hasattr(cls, "move_type"):
            cls._boxed_move = msgspec.defstruct("Box", [("move", cls.move_type)])

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schemas of `view`, `move` and `options`: each field described by the docstring beneath it."""
        return schema_of({"view": self.view_type, "move": self.move_type, "options": self.options_type})

    def parse_options(self, raw: dict[str, Any]) -> Any:
        """Check options.

        Args:
            raw: option name -> plain value; missing ones take their default.

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
        """Turn a plain value into a position; `restore` checks whether the position is possible.

        Raises:
            BadSetup: it does not have the form of a position.
        """
        try:
            return msgspec.convert(raw, self.position_type, strict=True)
        except msgspec.ValidationError as error:
            raise BadSetup(f"not a position of {self.name}: {explain_mismatch(error)}") from None

    def parse_move(self, raw: Any) -> M:
        """Turn a plain value into a move.

        Raises:
            MalformedMove: it does not have the form of a move.
        """
        try:
            # Strict: the text "3" is not the number 3. Otherwise a program could win here with a message that another
            # implementation of the protocol refuses.
            move: M = msgspec.convert({"move": raw}, self._boxed_move, strict=True).move
        except msgspec.ValidationError as error:
            raise MalformedMove(str(error)) from None
        return move

    @abstractmethod
    def new(self, options: Any, seats: int, shuffle: Shuffle) -> S:
        """Return the state at the start of a game.

        Args:
            options: from parse_options.
            seats: number of seats, one of `self.seats`.
            shuffle: the only source of chance.
        """

    @abstractmethod
    def restore(self, options: Any, position: Any) -> S:
        """Return the state of a given position.

        Args:
            options: from parse_options.
            position: a plain value of the game's own form.

        Raises:
            BadSetup: it is not a position of this game.
        """

    @abstractmethod
    def imagine(self, options: Any, view: V, shuffle: Shuffle) -> S:
        """Return a possible state in which the view's seat sees this view, for players that look ahead.

        Args:
            options: from parse_options.
            view: view of a state that is not over.
            shuffle: decides everything that the seat can't see.
        """

    def teams(self, options: Any, seats: int) -> tuple[tuple[int, ...], ...]:
        """Return the groups of seats that win and lose together; empty if each seat plays for itself."""
        return ()

    @abstractmethod
    def seat_count(self, state: S) -> int:
        """Return the number of seats, dropped ones included."""

    @abstractmethod
    def to_move(self, state: S) -> int:
        """Return the seat whose turn it is; only called while outcome(state) is None."""

    def is_same_turn(self, state: S) -> bool:
        """Return whether the seat to move is still in the turn of its last play; its clock then keeps running."""
        return False

    @abstractmethod
    def view(self, state: S, seat: int) -> V:
        """Return the view of a seat: all that it may know, and nothing else."""

    @abstractmethod
    def play(self, state: S, move: M) -> S:
        """Return the state after a move of the seat whose turn it is.

        Pieces that it draws are on their way until `deliver`.

        Raises:
            IllegalMove: the move breaks a rule; the state is unchanged.
        """

    @abstractmethod
    def news(self, state: S) -> News:
        """Return the news of the last play; only called right after play."""

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
        """Return the steps that may be chosen next for a move of the seat to move; by default, a step is a whole move.

        There is always at least one until the move is whole, and every choice leads to a legal move. The order is the
        same for equal histories of the game.

        Args:
            state: a state that is not over.
            chosen: the steps of the move so far, each of them legal; not a whole move yet.
        """
        return self.legal_moves(state)

    def move_of(self, chosen: tuple[Step, ...]) -> M | None:
        """Return the move that legal steps make, or None while it is not whole."""
        return chosen[0] if chosen else None  # type: ignore[return-value]  # a step is a move

    def steps_of(self, move: M) -> tuple[Step, ...]:
        """Return steps that make a move; a move of `legal_moves` has legal ones."""
        return (move,)

    def places_of(self, step: Step) -> tuple[str, ...]:
        """Return what a person touches to choose a step, in order: places of the drawing, and words.

        The name of a place is its `data-place` in `draw_svg`. Each legal step has a sequence of its own, and no
        sequence is the beginning of another.
        """
        return (step if isinstance(step, str) else str(msgspec.to_builtins(step)),)

    def describe(self, play: Mapping[str, Any]) -> str:
        """Return a play in words for people. By default there are no words, and pages show the play's fields.

        Args:
            play: a move in the form of the wire, or what the others are told of it: an event of `news`, or all of it.
        """
        return ""

    def pgn(self, played: Iterable[tuple[S, M]]) -> PgnMoves | None:
        """Return the moves of a match as PGN has them; by default None, for a game that programs for chess don't know.

        Args:
            played: each move with the state before it. They are computed only if the method reads them.
        """
        return None

    @abstractmethod
    def check_invariants(self, state: S) -> None:
        """Raise AssertionError if the state contradicts itself: for tests and the auditor."""

    @abstractmethod
    def draw_text(self, state: S, eyes: Collection[int] | None = None) -> str:
        """Return the board for a terminal, with the markup of rich.

        Args:
            state: the state to draw.
            eyes: seats that look; see `draw_svg`.
        """

    @abstractmethod
    def draw_svg(self, state: S, eyes: Collection[int] | None = None, chosen: tuple[Step, ...] | None = None) -> str:
        """Return the board and the seats' hands as one SVG document that needs nothing from outside.

        Each element is one line, because pages with many boards store equal lines once. Ink is `currentColor`, set on
        the root, and the background is the only element of class `ground`, so that a page can darken both. A seat's
        name is a stand-in in `<text data-seat="N">`, which a page replaces. What only one seat may know is in a group
        of its own, `<g data-hand="N">`.

        Args:
            state: the state to draw.
            eyes: the seats that look: what is not public is drawn if one of them may know it. Empty: as spectators see
                a match that is being played. None: everything is drawn.
            chosen: the steps of the move so far of the one seat that looks. Pieces may be drawn where these steps put
                them, and every place by which the seat may choose a step (`places_of`) is an element with
                `data-place`. None: nothing can be touched.
        """
