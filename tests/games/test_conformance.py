"""Every registered game passes the conformance suite, and games that break the contract fail it."""

import dataclasses
import re
from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import Annotated, Any

import pytest
from msgspec import Meta, Struct
from msgspec.structs import replace

from referee.chance import Dealer
from referee.games.base import Game, IllegalMove, News, Outcome, Step
from referee.games.q.forms import Move, State, View
from referee.games.q.game import QGame
from referee.games.q.tiles import NAMES
from referee.games.schema import schema_of
from referee.plugins import load
from referee.testing import JUNK, check_game, spoilt

GAMES = load().games
ASKED = r"to (move|place|go on)\b"
"""Words of drawings for the seat whose turn it is."""


@pytest.mark.parametrize("name", sorted(GAMES))
def test_every_registered_game_conforms(name: str) -> None:
    """All installed games, built in or not, pass the same suite."""
    check_game(GAMES[name], Random(name), max_turns=60)


@pytest.mark.parametrize("is_deserted", [False, True])
@pytest.mark.parametrize("name", ["q", "quadominos", "quincala", "quincy"])
def test_a_finished_game_has_nobody_to_move(name: str, is_deserted: bool) -> None:  # noqa: FBT001  # a table
    """Neither the text nor the drawing of a game's last state asks anybody for a move, however the game ended."""
    game, source = GAMES[name], Random(name)
    state = game.new(game.parse_options({}), 2, Dealer(b"\x05" * 32))
    assert re.search(ASKED, game.draw_text(state))
    while (outcome := game.outcome(state)) is None:
        if is_deserted:
            state = game.drop(state, game.to_move(state))
        else:
            moves = game.legal_moves(state)
            state = game.deliver(game.play(state, moves[0] if name == "q" else source.choice(moves)))
    for shown in (game.draw_text(state), game.draw_svg(state)):
        assert not re.search(ASKED, shown), f"{outcome.reason}: {shown}"


class Renamed(QGame):
    """Breaks a rule that it does not list."""

    def play(self, state: State, move: Move) -> State:
        try:
            return super().play(state, move)
        except IllegalMove as error:
            raise IllegalMove("q.unheard-of", error.detail) from None


class Telling(QGame):
    """Shows a view that is not its type."""

    def view(self, state: State, seat: int) -> View:
        view: Any = {"seat": str(seat)}
        return view  # type: ignore[no-any-return]


class Binary(QGame):
    """Tells news that a record can't hold."""

    def news(self, state: State) -> News:
        return News({"bytes": b"\x00"}, None)


class Stubborn(QGame):
    """Does not forget a dropped seat."""

    def drop(self, state: State, seat: int) -> State:
        return state


class Overwriting(QGame):
    """Writes on the map of the old state."""

    def play(self, state: State, move: Move) -> State:
        played = super().play(state, move)
        board: Any = state.board
        board.update(played.board)
        return played


class Endless(QGame):
    """Never ends, not even without players."""

    def outcome(self, state: State) -> Outcome | None:
        return None

    def to_move(self, state: State) -> int:
        return state.order[0] if state.order else 0


class Reversed(QGame):
    """Ranks the seat with the fewest points first."""

    def outcome(self, state: State) -> Outcome | None:
        ended = super().outcome(state)
        return None if ended is None else dataclasses.replace(ended, ranking=ended.ranking[::-1])


class Moody(QGame):
    """Deals differently each time."""

    def __init__(self) -> None:
        self.dealt = 0

    def new(self, options: Any, seats: int, shuffle: Any) -> State:
        self.dealt += 1
        return super().new(options, seats, shuffle.later(self.dealt))


class Betraying(QGame):
    """Shows a seat the top of the pile."""

    def view(self, state: State, seat: int) -> View:
        return replace(super().view(state, seat), hand=[NAMES[tile] for tile in state.pile[:1]])


class Chatty(QGame):
    """Draws the next tile of the pile."""

    def draw_svg(self, state: State, eyes: Collection[int] | None = None, chosen: Any = None) -> str:
        return super().draw_svg(state, eyes).replace("</svg>", f"<desc>{NAMES[state.pile[0]]}</desc></svg>")


class Open(QGame):
    """Draws the hand of a seat that has just moved, for everybody."""

    def draw_svg(self, state: State, eyes: Collection[int] | None = None, chosen: Any = None) -> str:
        held = [] if state.last is None else [NAMES[tile] for tile in state.hands[state.mover]]
        return super().draw_svg(state, eyes).replace("</svg>", f"<desc>{held}</desc></svg>")


class Silent(QGame):
    """Has no words for a move."""

    class Bare(Struct):
        """A move."""

        told: int
        """The news."""
        untold: int

    move_type = Bare  # type: ignore[assignment]  # only its schema is looked at


class Astray(QGame):
    """Offers every square for a tile."""

    def legal_steps(self, state: State, chosen: tuple[Any, ...] = ()) -> Sequence[Step]:
        return [*state.openings] if len(chosen) == 1 else super().legal_steps(state, chosen)


class Narrow(QGame):
    """Offers no exchange."""

    def legal_steps(self, state: State, chosen: tuple[Any, ...] = ()) -> Sequence[Step]:
        return [step for step in super().legal_steps(state, chosen) if step != "exchange"]


class Stuck(QGame):
    """Offers tiles that have no square left."""

    def legal_steps(self, state: State, chosen: tuple[Any, ...] = ()) -> Sequence[Step]:
        return [] if len(chosen) == 3 else super().legal_steps(state, chosen)


class Trusting(QGame):
    """Lists an exchange that is not legal."""

    def play(self, state: State, move: Move) -> State:
        if state.mover == 1:
            raise IllegalMove("q.exchange.pile", "not today")
        return super().play(state, move)


BROKEN: tuple[tuple[Callable[[], Game[Any, Any, Any]], str], ...] = (
    (Renamed, "q.unheard-of is not a rule"),
    (Telling, "a view is not a View"),
    (Binary, "public news is not plain"),
    (Stubborn, "was dropped, but is to move"),
    (Overwriting, "play changed the old state"),
    (Endless, "was dropped, but is to move"),
    (Reversed, "the ranking is not by scores"),
    (Moody, "the same seed gave another deal"),
    (Betraying, "imagines a state with another view"),
    (Chatty, "a drawing for .* shows what is hidden"),
    (Open, "a drawing for spectators shows what is hidden, after"),
    (Silent, "Bare: its property untold has no description"),
    (Trusting, "is among the legal moves, but is not legal"),
    (Astray, "is among the legal moves, but is not legal"),
    (Narrow, "the step exchange of .* is not legal"),
    (Stuck, "can't become a move"),
)


@pytest.mark.parametrize(("broken", "says"), BROKEN)
def test_a_broken_game_is_found_out(broken: Callable[[], Game[Any, Any, Any]], says: str) -> None:
    """The error says what the game breaks."""
    with pytest.raises(AssertionError, match=says):
        check_game(broken(), Random(3), games=3, max_turns=30)


class Named(Struct, tag_field="kind", tag="named"):
    """Something with a name."""

    name: Annotated[str, Meta(description="From its Meta.")]
    """From beneath."""


class Pair(Named, tag_field="kind", tag="pair"):
    """Two of them."""

    parts: tuple[Named, ...] = ()
    """Spread over
    two lines."""


def test_docstrings_beneath_fields_describe_the_schema() -> None:
    """Inherited fields have descriptions, too. A tag describes its struct, and the description of a Meta stays."""
    found = schema_of({"one": Pair | None})["$defs"]
    described = {
        name: {key: value["description"] for key, value in part["properties"].items()} for name, part in found.items()
    }
    assert described == {
        "Named": {"kind": "Something with a name.", "name": "From its Meta."},
        "Pair": {"kind": "Two of them.", "name": "From its Meta.", "parts": "Spread over two lines."},
    }


def test_spoilt_values_are_copies() -> None:
    """Changing a copy of a move leaves the move as it was."""
    raw = {"action": "place", "tiles": [[0, 1, "red-star"]]}
    kept = repr(raw)
    source = Random(0)
    changed = [spoilt(raw, source) for _ in range(200)]
    assert kept == repr(raw)
    assert any(value != raw and isinstance(value, dict) for value in changed)
    assert any(value in JUNK for value in changed)
