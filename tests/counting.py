"""An endless game for tests of everything around a game: the players count, one after the other.

It has no chance, nothing hidden and no skill: a turn costs only its messages.
"""

from collections.abc import Collection
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from referee.games.base import BadSetup, Game, IllegalMove, News, Outcome, Rule, Shuffle, Step

_HERE = "this page"
_RULES = (
    Rule("counting.next", "A player says the number after the last one.", _HERE),
    Rule("counting.end.limit", "The game ends when the limit was said.", _HERE),
    Rule("counting.end.deserted", "The game ends when nobody is left.", _HERE),
)
_TALK = "x" * 4000


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Length, counting seats, and size of the news."""

    limit: Annotated[int, Meta(ge=1)] = 1_000_000_000
    """The last number."""
    talk: Annotated[int, Meta(ge=0, le=1000)] = 0
    """Number of strings of 4000 characters in the news of a move."""
    alone: bool = False
    """Whether only the first player counts, and the others listen."""


class View(Struct, frozen=True):
    """The view of every seat: the whole state."""

    seat: int
    """The seat that this view is for."""
    said: int
    """The last number; 0 before the first."""
    order: list[int]
    """The seats still in the game, the one to move first."""
    counts: list[int]
    """How many numbers each seat said."""


class Count(Struct, frozen=True, forbid_unknown_fields=True):
    """A move: the next number."""

    count: int
    """One more than the last number."""


class State(Struct, frozen=True):
    """One moment of a game."""

    options: Options
    said: int
    order: tuple[int, ...]
    counts: tuple[int, ...]


class CountingGame(Game[State, View, Count]):
    """The rules of counting."""

    name = "counting"
    title = "Counting"
    seats = range(1, 5)
    options_type = Options
    view_type = View
    move_type = Count
    rules = {rule.id: rule for rule in _RULES}  # noqa: RUF012  # the contract's own

    def new(self, options: Options, seats: int, shuffle: Shuffle) -> State:
        """Begin before 1."""
        return State(options, 0, tuple(range(seats)), (0,) * seats)

    def restore(self, options: Options, position: Any) -> State:
        """Begin nowhere else."""
        raise BadSetup("counting begins at 1")

    def imagine(self, options: Options, view: View, shuffle: Shuffle) -> State:
        """Return the state itself: nothing is hidden."""
        return State(options, view.said, tuple(view.order), tuple(view.counts))

    def seat_count(self, state: State) -> int:
        """Count the seats, dropped ones too."""
        return len(state.counts)

    def to_move(self, state: State) -> int:
        """Return the first seat of the order."""
        return state.order[0]

    def view(self, state: State, seat: int) -> View:
        """Show everything."""
        return View(seat, state.said, list(state.order), list(state.counts))

    def play(self, state: State, move: Count) -> State:
        """Say a number."""
        if move.count != state.said + 1:
            raise IllegalMove("counting.next", f"{move.count} does not follow {state.said}")
        seat = state.order[0]
        counts = tuple(count + (other == seat) for other, count in enumerate(state.counts))
        order = state.order if state.options.alone else (*state.order[1:], seat)
        return replace(state, said=move.count, order=order, counts=counts)

    def news(self, state: State) -> News:
        """Return the number as public news, with as many long strings as the options say."""
        return News({"said": state.said, "talk": [_TALK] * state.options.talk}, None)

    def deliver(self, state: State) -> State:
        """Hand out nothing."""
        return state

    def drop(self, state: State, seat: int) -> State:
        """Go on without a seat."""
        return replace(state, order=tuple(other for other in state.order if other != seat))

    def outcome(self, state: State) -> Outcome | None:
        """Rank by how many numbers a seat said."""
        if state.order and state.said < state.options.limit:
            return None
        reason = "counting.end.limit" if state.order else "counting.end.deserted"
        levels = sorted({state.counts[seat] for seat in state.order}, reverse=True)
        ranking = tuple(tuple(seat for seat in state.order if state.counts[seat] == level) for level in levels)
        return Outcome(ranking, state.counts, state.order, reason)

    def legal_moves(self, state: State) -> list[Count]:
        """Return the next number."""
        return [Count(state.said + 1)]

    def check_invariants(self, state: State) -> None:
        """Check that every number was said by somebody."""
        assert sum(state.counts) == state.said

    def draw_text(self, state: State, eyes: Collection[int] | None = None) -> str:
        """Return the last number."""
        return str(state.said)

    def draw_svg(
        self, state: State, eyes: Collection[int] | None = None, chosen: tuple[Step, ...] | None = None
    ) -> str:
        """Return the last number as a drawing."""
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">\n<rect class="ground"/>\n'
            f"<text>{state.said}</text>\n</svg>"
        )


def count(view: Any) -> Any:
    """Return the move of a player that counts."""
    return {"count": view["said"] + 1}
