"""The contract of a game.

A state is immutable and hashable: `play`, `deliver` and `drop` return a new one, and an error leaves the old one as it
was.
Seats are numbered 0, 1, 2... in turn order at the start.
"""

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Sequence
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
"""A part of a move that is chosen at once: a move itself, or plain: a word, or a tuple of numbers."""
Coordinate = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""A row or a column: more than any game reaches, and an integer of every language."""


class Shuffle(Protocol):
    """Put items into a random order; chance reaches a game in this form only.

    It has no state of its own: a game may keep it in its state, and called again it gives the same order again.
    """

    def __call__(self, items: Sequence[T], /) -> list[T]:
        """Return the items in a random order: that of one deal."""

    def later(self, deal: int) -> "Shuffle":
        """Return the shuffle of another deal of the same game, which tells nothing of this one.

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
    """Where it is written."""


def rules_beside(module: str) -> dict[str, Rule]:
    """Return the rules that stand in rules.toml beside a module, by id.

    Args:
        module: its `__file__`.
    """
    text = Path(module).with_name("rules.toml").read_text(encoding="utf-8")
    return {rule.id: rule for rule in msgspec.convert(tomllib.loads(text)["rule"], list[Rule], strict=True)}


class MalformedMove(BadMove):
    """The move does not have the form of a move of this game, whatever the state."""


class IllegalMove(BadMove):
    """The move breaks a rule in this state.

    Args:
        rule_id: id of the broken rule, one of the game's `rules`.
        detail: what exactly breaks it.
    """

    def __init__(self, rule_id: str, detail: str) -> None:
        super().__init__(f"{rule_id}: {detail}")
        self.rule_id = rule_id
        self.detail = detail


class BadSetup(BadRequest):
    """Options or a position that the game cannot start from; the text tells the organiser what to mend."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended, for the seats still in it."""

    ranking: tuple[tuple[int, ...], ...]
    """Groups of seats from best to worst; seats of one group share the rank."""
    scores: tuple[int, ...]
    """Points by seat, of dropped seats too."""
    order: tuple[int, ...]
    """The seats still in the game in the turn order of the moment."""
    reason: str
    """Why it ended: the id of the rule."""


@dataclass(frozen=True, slots=True)
class News:
    """What the last play means to everybody and to its player."""

    public: dict[str, Any]
    """What all seats may know, plain."""
    draws: tuple[Any, ...] | None
    """What the player was handed, plain; None if nothing was due (an empty hand-out is a hand-out)."""


def ranked(scores: Sequence[int], order: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """Return some seats ranked by points, as an outcome has them.

    Args:
        scores: by seat.
        order: the seats, in the order in which those of one rank stand.
    """
    levels: dict[int, tuple[int, ...]] = {}
    for seat in order:
        levels[scores[seat]] = (*levels.get(scores[seat], ()), seat)
    return tuple(levels[points] for points in sorted(levels, reverse=True))


def replaced(values: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    """Return a tuple with another value at one place."""
    return (*values[:index], value, *values[index + 1 :])


def seats_text(seats: range) -> str:
    """Return numbers of seats in words: `2`, `2 to 4`, or `2 or 4` where some in between are none of them."""
    if seats.step == 1 and len(seats) > 1:
        return f"{seats[0]} to {seats[-1]}"
    return " or ".join(filter(None, (", ".join(map(str, seats[:-1])), str(seats[-1]))))


class Game(ABC, Generic[S, V, M]):
    """A game's rules, as a match needs them. S, V, M: its state, its view, its move."""

    name: ClassVar[str]
    title: ClassVar[str]
    seats: ClassVar[range]
    """By how many it can be played; those in between need not all be among them."""
    options_type: ClassVar[type[msgspec.Struct]]
    view_type: ClassVar[type[msgspec.Struct]]
    move_type: ClassVar[Any]
    position_type: ClassVar[Any]
    """The form of a given position."""
    rules: ClassVar[dict[str, Rule]]
    is_ranked_by_scores: ClassVar[bool] = False
    """Whether nothing but scores ranks those who are in the game at its end; a redacted record is judged by that."""
    file_options: ClassVar[frozenset[str]] = frozenset()
    """Options whose value an organiser gives as the path of a TOML file; the game is given what stands in the file."""
    _boxed_move: ClassVar[Any]
    """A struct around move_type: msgspec keeps what it knows of a struct, but looks through a bare union every time."""

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
            known = ", ".join(field.name for field in msgspec.structs.fields(self.options_type)) or "none"
            raise BadSetup(f"options of {self.name}: {wrong} (it knows: {known})") from None

    def parse_position(self, raw: Any) -> Any:
        """Turn a plain value into a position; `restore` says whether it is possible.

        Raises:
            BadSetup: it has not the form of a position.
        """
        try:
            return msgspec.convert(raw, self.position_type, strict=True)
        except msgspec.ValidationError as error:
            raise BadSetup(f"not a position of {self.name}: {explain_mismatch(error)}") from None

    def parse_move(self, raw: Any) -> M:
        """Turn a plain value into a move.

        Raises:
            MalformedMove: it has not the form of a move.
        """
        try:
            move: M = msgspec.convert({"move": raw}, self._boxed_move, strict=True).move
        except msgspec.ValidationError as error:
            raise MalformedMove(str(error)) from None
        return move

    @abstractmethod
    def new(self, options: Any, seats: int, shuffle: Shuffle) -> S:
        """Return the state at the start of a game.

        Args:
            options: from parse_options.
            seats: how many, within `self.seats`.
            shuffle: the only source of chance.
        """

    @abstractmethod
    def restore(self, options: Any, position: Any) -> S:
        """Return the state of a given position.

        Args:
            options: from parse_options.
            position: plain; its form is the game's affair.

        Raises:
            BadSetup: it is not a position of this game.
        """

    @abstractmethod
    def imagine(self, options: Any, view: V, shuffle: Shuffle) -> S:
        """Return a state in which the view's seat sees just this view: for players that look ahead from what they know.

        Args:
            options: from parse_options.
            view: of a state that is not over.
            shuffle: decides what the seat can't see.
        """

    def teams(self, options: Any, seats: int) -> tuple[tuple[int, ...], ...]:
        """Return the seats that win and lose together; empty if everyone plays for itself."""
        return ()

    @abstractmethod
    def seat_count(self, state: S) -> int:
        """Return how many seats the game has, dropped ones too."""

    @abstractmethod
    def to_move(self, state: S) -> int:
        """Return the seat whose turn it is; only asked while outcome(state) is None."""

    def is_same_turn(self, state: S) -> bool:
        """Tell whether the seat to move is still in the turn of its last play, whose time goes on running."""
        return False

    @abstractmethod
    def view(self, state: S, seat: int) -> V:
        """Return what the seat may know, and nothing else."""

    @abstractmethod
    def play(self, state: S, move: M) -> S:
        """Return the state after a move of the seat whose turn it is. What it draws is on the way to it (deliver).

        Raises:
            IllegalMove: the move breaks a rule; the state is unchanged.
        """

    @abstractmethod
    def news(self, state: S) -> News:
        """Return what the last play means; only asked right after play."""

    @abstractmethod
    def deliver(self, state: S) -> S:
        """Return the state in which what the last play handed out has reached its player."""

    @abstractmethod
    def drop(self, state: S, seat: int) -> S:
        """Return the state without an eliminated seat; its pieces go where the rules say."""

    @abstractmethod
    def outcome(self, state: S) -> Outcome | None:
        """Return how the game ended, or None while it goes on."""

    @abstractmethod
    def legal_moves(self, state: S) -> list[M]:
        """Return legal moves of the seat whose turn it is; which ones of a large game, its docstring says."""

    def legal_steps(self, state: S, chosen: tuple[Step, ...] = ()) -> Sequence[Step]:
        """Return what may be chosen next for a move of the seat whose turn it is; a whole move is one step by default.

        There is always something, as long as the move is not whole; and whatever is chosen, it becomes a legal move.
        The order follows from how the state came about.

        Args:
            state: one that is not over.
            chosen: the steps of the move so far, each of them legal; not yet a whole move.
        """
        return self.legal_moves(state)

    def move_of(self, chosen: tuple[Step, ...]) -> M | None:
        """Return the move that legal steps make, or None while it is not whole."""
        return chosen[0] if chosen else None  # type: ignore[return-value]  # a step is a move

    def steps_of(self, move: M) -> tuple[Step, ...]:
        """Return steps that make a move; a move of `legal_moves` has legal ones."""
        return (move,)

    def places_of(self, step: Step) -> tuple[str, ...]:
        """Return what a person touches one after the other to choose a step: places of the drawing, and words.

        A place is called what `data-place` says in `draw_svg`. Of the legal steps, no two are chosen in the same way,
        and none by the beginning of another's.
        """
        return (step if isinstance(step, str) else str(msgspec.to_builtins(step)),)

    @abstractmethod
    def check_invariants(self, state: S) -> None:
        """Raise AssertionError if the state contradicts itself: for tests and the auditor."""

    @abstractmethod
    def draw_text(self, state: S, eyes: Collection[int] | None = None) -> str:
        """Return the board for a terminal, with the markup of rich.

        Args:
            state: what to draw.
            eyes: as for `draw_svg`.
        """

    @abstractmethod
    def draw_svg(self, state: S, eyes: Collection[int] | None = None, chosen: tuple[Step, ...] | None = None) -> str:
        """Return the board and what seats hold as one SVG document that needs nothing from outside.

        One element a line: pages of many boards keep equal lines once. Ink is `currentColor`, set on the root, and the
        background is the one element of class `ground`, so that a page can darken both. Where a seat's name belongs,
        `<text data-seat="N">` holds a stand-in; who knows the names writes them there. What a seat alone may know
        stands in a group of its own, `<g data-hand="N">`.

        Args:
            state: what to draw.
            eyes: the seats through whose eyes it is seen: what is not public is drawn if one of them may know it. With
                none, it is what spectators see of a match that is being played. None: all is drawn.
            chosen: of one pair of eyes, the steps of its move so far: what lies elsewhere by them may be shown so, and
                every place by which it may choose a step (`places_of`) is an element with `data-place`. None: nothing
                can be touched.
        """
