"""The history of a position: the beginning of its game, and each step since then."""

import random
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from sample_players.python.imagined import Shuffler

from .. import chance
from ..errors import BadRequest, RefereeError
from ..games.base import BadSetup, Game, seats_text
from ..games.notation import format_exactly, to_plain
from ..pages.replay_frames import FrameKind, ReplayFrame
from ..type_words import explain_mismatch

StepKind = Literal["move", "play", "deliver", "drop"]
"""A whole move; its first half; its second half, which hands out what was drawn; or the expulsion of a seat."""


class Origin(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The beginning of a position: a deal, a given position, or a view. The fields are the settings of its text."""

    options: dict[str, Any] = {}
    """Options of the game that are not their defaults."""
    seats: Annotated[int, Meta(ge=1)] | None = None
    """Number of seats of a deal; None for the fewest."""
    seed: Annotated[int, Meta(ge=0, le=chance.MAX_SEED)] | None = None
    """Number that fixes the deal, as for a match of players without nonces."""
    deal: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")] | None = None
    """Key of the deal in hex, in place of a seed: 32 bytes."""
    position: Any = None
    """Position in the game's own form."""
    view: Any = None
    """View of a seat, plain or typed. Cards and tiles that it does not show are dealt at random."""
    guess: int = 0
    """Seed for the cards and tiles that a view does not show."""

    def begin(self, game: Game[Any, Any, Any]) -> Any:
        """Return the state in which the game begins.

        Raises:
            BadRequest: there is no such beginning; the text says why.
        """
        if (self.seed, self.deal, self.position, self.view).count(None) != 3:
            raise BadRequest(
                "a position begins with one of seed=, deal=, position= and view=; write, for example, seed=7"
            )
        options = game.parse_options(self.options)
        if self.view is not None:
            return self._imagine(game, options)
        if self.position is not None:
            return game.restore(options, self.position)
        seats = game.seats[0] if self.seats is None else self.seats
        if seats not in game.seats:
            raise BadSetup(f"{game.name} takes {seats_text(game.seats)} players, not {seats}")
        if self.seed is not None:
            key = chance.shuffle_key(chance.seed_from_number(self.seed), [None] * seats)
        else:
            key = bytes.fromhex(self.deal or "")
        return game.new(options, seats, chance.Dealer(key))

    def _imagine(self, game: Game[Any, Any, Any], options: Any) -> Any:
        view = self.view if isinstance(self.view, game.view_type) else read_view(game, self.view)
        guess = random.Random(self.guess)  # noqa: S311  # it guesses for a player, and guards no secret
        try:
            return game.imagine(options, view, Shuffler(guess))
        except RefereeError:
            raise
        except Exception as error:
            # A game may rely on views that it has made itself; this view only has the right form.
            raise BadRequest(f"this is not a view of {game.name}: no position looks like that") from error


def read_view(game: Game[Any, Any, Any], view: Any) -> Any:
    """Convert a plain view to the game's type of views.

    Raises:
        BadRequest: it does not have the form of a view of the game.
    """
    try:
        return msgspec.convert(view, game.view_type, strict=True)
    except msgspec.ValidationError as error:
        raise BadRequest(f"this is not a view of {game.name}: {explain_mismatch(error)}") from None


class Step(Struct, frozen=True):
    """A step from one state to the next; it also holds the step before it."""

    before: "Step | None"
    kind: StepKind
    value: Any = None
    """The move, typed, or the seat that was expelled."""

    def apply(self, game: Game[Any, Any, Any], state: Any) -> Any:
        """Return the state after this step."""
        if self.kind == "drop":
            return game.drop(state, self.value)
        if self.kind != "deliver":
            state = game.play(state, self.value)
        return state if self.kind == "play" else game.deliver(state)

    def format(self, game: Game[Any, Any, Any]) -> str:
        """Return the step as one word."""
        if self.kind == "drop":
            return f"out={self.value}"
        if self.kind == "deliver":
            return "~"
        return ("~" if self.kind == "play" else "") + format_exactly(game, to_plain(self.value))


def trace_steps(game: Game[Any, Any, Any], start: Any, frames: Iterable[ReplayFrame]) -> Iterator[Step | None]:
    """Yield for each frame of a match the last step to its state; None if the frame shows the start or no state.

    A frame does not say which halves of moves and which expulsions its event has carried out: the draw of a move waits
    until its player has confirmed it, and an expulsion until no answer is due. So the steps are found by trying all
    that are possible.

    Args:
        game: the rules.
        start: the state in which the match began.
        frames: the frames of the match.
    """
    state: Any = start
    last: Step | None = None
    expelled: list[int] = []  # seats whose expulsion has yet to be carried out
    for frame in frames:
        if frame.foul is not None:
            expelled.append(frame.foul.seat)
        if frame.state is not None:
            state, last = _reach(game, state, last, frame, expelled)
        yield last


def _reach(
    game: Game[Any, Any, Any], state: Any, last: Step | None, frame: ReplayFrame, expelled: list[int]
) -> tuple[Any, Step | None]:
    """Return the state of a frame and the last step to it; remove the seats that this step drops from `expelled`."""
    for kinds, left in _list_due(game, last, frame, len(expelled)):
        reached, step = state, last
        for kind, value in [*kinds, *(("drop", seat) for seat in expelled[:left])]:
            step = Step(step, kind, value)
            reached = step.apply(game, reached)
        if reached == frame.state:
            del expelled[:left]
            return reached, step
    raise AssertionError(f"no step leads to the state of turn {frame.turn}")


def _list_due(
    game: Game[Any, Any, Any], last: Step | None, frame: ReplayFrame, expelled: int
) -> Iterator[tuple[list[tuple[StepKind, Any]], int]]:
    """Yield possible steps to a frame, the simplest first: parts of a move, and a number of expelled seats."""
    for left in range(expelled + 1):
        yield [], left
    parts: list[tuple[StepKind, Any]] = [("deliver", None)] if last is not None and last.kind == "play" else []
    if frame.kind is FrameKind.MOVE:
        move = game.parse_move(frame.move)
        parts += [("move", move), ("play", move)]
    for part in parts:
        for left in range(expelled + 1):
            yield [part], left
