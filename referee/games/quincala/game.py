"""Quincala Mixing: options, moves, views and positions. The course of a turn is in turns.py.

Source: Short Rules for Quincala Game 1 - Quincala Mixing (02/06/2010). The board that comes with the game is a
reconstruction, since the source's figures could not be found.
"""

# In the rules, a move may have so many legs that whole moves can't be listed. So a turn is played in parts, and each
# part is a move for the referee: `place` one piece, make one `leg`, or `stop`. The turn ends by itself when nothing
# more can be done: after the last piece if no leg is possible, and after a leg if no further leg is possible. Nobody
# draws, nothing is hidden and there is no chance: `deliver` has nothing to do, and the shuffle is not used.

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from ..base import BadSetup, Coordinate, Game, News, Outcome, Shuffle, Step, rules_beside
from ..drawing import square_name
from . import board as boards
from . import turns
from .board import DotPair, Layout, PieceName, PreparedMap
from .drawing import describe, draw_svg, draw_text
from .turns import GameEnding, Phase, State

Seat = Literal[0, 1]


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options that an organiser may set."""

    sizes: Literal[3, 4, 5] = 5
    """Number of sizes, 3 to 5. At the start, each player has the same number of towers, each with one piece of each
    size."""
    layout: Layout | None = None
    """The board. If it is not given, the board that comes with the game is used. That board is a reconstruction: the
    figures of the rules could not be found. On the command line, give the path of a TOML file like
    referee/games/quincala/boards.toml."""
    max_turns: Annotated[int, Meta(ge=1, le=100_000)] = 400
    """After this many turns of both players together, 1 to 100,000, the game is a draw. A turn is everything that a
    player does before the other player's turn begins. A skipped turn counts, too."""

    def __post_init__(self) -> None:
        """Refuse a layout that lacks the places of the towers.

        Raises:
            ValueError: the layout has no starting position for this number of sizes.
        """
        if str(self.sizes) not in self.board_layout.start:
            raise ValueError(f"the layout has no start.{self.sizes}: it can't be played with {self.sizes} sizes")

    @property
    def board_layout(self) -> Layout:
        """The layout of the game: the organiser's, or else the reconstruction."""
        return boards.RECONSTRUCTION if self.layout is None else self.layout


class Place(Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="place"):
    """Place one piece of the hand."""

    piece: PieceName
    """A piece of either colour: `w` for White or `b` for Black, then its size from 1."""
    dot: DotPair
    """`[row, column]` of an empty dot of the player's own placing areas; both count from 1, row 1 at White's edge."""


class Leg(Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="leg"):
    """Make one leg of the move."""

    start: DotPair
    """`[row, column]` of the tower that is lifted; for a further leg, the dot where the last leg ended."""
    end: DotPair
    """`[row, column]` of the dot where the leg ends; both count from 1, row 1 at White's edge, column 1 on White's
    left."""


class Stop(Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="stop"):
    """End the move, though a further leg is possible."""


Move = Place | Leg | Stop


class Pieces(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Pieces on one dot: `[row, column, pieces]`."""

    row: Coordinate
    """Row; row 1 is at White's edge."""
    column: Coordinate
    """Column; column 1 is on White's left."""
    pieces: Annotated[tuple[PieceName, ...], Meta(min_length=1, max_length=5)]
    """The pieces, the smallest first: `w` for White or `b` for Black, then the size from 1."""


class View(Struct, frozen=True, kw_only=True):
    """The view of one seat: everything, as nothing is hidden."""

    seat: Seat
    """The seat that this view is for: 0 plays White, 1 Black."""
    sizes: int
    """Number of sizes: 3, 4 or 5."""
    layout: tuple[str, ...]
    """A text for each row, row 1 at White's edge first; the first character is column 1. `w` is a dot of White's
    placing areas, `b` of Black's, `x` of both, `.` any other dot; a space means that there is no dot."""
    board: tuple[Pieces, ...]
    """`[row, column, pieces]` of every tower, its smallest piece first; rows count from 1 at White's edge, columns from
    1 on White's left."""
    hands: tuple[tuple[PieceName, ...], tuple[PieceName, ...]]
    """By seat, the pieces of both colours that it has yet to place."""
    scores: tuple[int, int]
    """By seat, the number of different sizes that its colour has in mixed towers. A seat that has all sizes wins."""
    order: tuple[Seat, ...]
    """The seats still in the game, the one to move first."""
    phase: Phase
    """Task of the seat to move: `place` a piece of the hand; `move`, that is, make the first leg; `continue`, that is,
    make a further leg or stop. `over` if the game is over."""
    steps: int
    """Number of moves (pieces placed and legs made) in this turn so far, from 0."""
    path: tuple[DotPair, ...]
    """`[row, column]` of the dot where the first leg began, then of the dot where each leg ended. Before the first move
    of a turn, it is the path of the last turn. In phase `continue`, a further leg starts on its last dot."""
    placed: tuple[DotPair, ...]
    """`[row, column]` of the dots where pieces were placed, in the same turn as `path`."""
    immune: tuple[Pieces, ...]
    """`[row, column, pieces]` of the pieces that may not be knocked off in this turn."""
    fresh: tuple[Pieces, ...]
    """`[row, column, pieces]` of the pieces that have knocked off the other colour in this turn. They will be immune in
    the next turn, unless their own side knocks them off before."""
    turns: int
    """Number of turns of both players together that are over, from 0; skipped turns count, too."""
    max_turns: int
    """Number of turns after which the game is a draw."""
    skipped: bool
    """True if the turn just before this one was skipped, and this one has had no move yet."""


class Position(Struct, frozen=True, forbid_unknown_fields=True):
    """A position to start from, at the beginning of a turn."""

    board: tuple[Pieces, ...]
    """The towers."""
    hands: tuple[tuple[PieceName, ...], tuple[PieceName, ...]] = ((), ())
    """By seat, the pieces that it has yet to place."""
    to_move: Seat = 0
    """Seat whose turn it is."""
    immune: tuple[Pieces, ...] = ()
    """Pieces of the other seat's colour that may not be knocked in this turn."""
    turns: Annotated[int, Meta(ge=0, le=100_000)] = 0
    """Number of turns that are over."""
    skipped: bool = False
    """True if the last turn was skipped."""


class QuincalaGame(Game[State, View, Move]):
    """The rules of Quincala Mixing."""

    name = "quincala"
    title = "Quincala Mixing"
    seats = range(2, 3)
    options_type = Options
    view_type = View
    move_type = Move
    position_type = Position
    rules = rules_beside(__file__)
    file_options = frozenset({"layout"})

    def new(self, options: Options, seats: int, shuffle: Shuffle) -> State:
        """Set up the layout's starting position; there is no chance in it."""
        field = boards.find_field(options.board_layout.map)
        start = options.board_layout.start[str(options.sizes)]  # type: ignore[index]  # a Literal is a str
        board = [0] * len(field.places)
        for seat, towers in enumerate((start.white, start.black)):
            for row, column in towers:
                board[field.number(row, column)] = boards.full_tower(seat, options.sizes)
        return turns.begin(
            State(field=field, sizes=options.sizes, max_turns=options.max_turns, board=tuple(board)),
        )

    def restore(self, options: Options, position: Any) -> State:
        """Return the state of a Position that is given as plain data; seats that can do nothing are skipped."""
        given = self.parse_position(position)
        field = boards.find_field(options.board_layout.map)
        _check_supply(given, options.sizes)
        towers = _read_marks(field, given.board)
        immune = _read_marks(field, given.immune)
        for dot, marked in immune.items():
            if marked & ~(towers.get(dot, 0) & boards.OWN[1 - given.to_move]):
                row, column = field.places[dot]
                detail = f"row {row}, column {column} has not all immune pieces, of the colour that is not to move"
                raise BadSetup(f"not a position of quincala: {detail}")
        return turns.begin(
            State(
                field=field,
                sizes=options.sizes,
                max_turns=options.max_turns,
                board=tuple(towers.get(dot, 0) for dot in range(len(field.places))),
                hands=_read_hands(given.hands),
                seat=given.to_move,
                immune=immune,
                turns=given.turns,
                skips=int(given.skipped),
            )
        )

    def imagine(self, options: Options, view: View, shuffle: Shuffle) -> State:
        """Return the state itself, but without the last play's description. A view shows all the rest, even options."""
        field = boards.find_field(view.layout)
        towers = _read_marks(field, view.board)
        seat = view.order[0]
        return State(
            field=field,
            sizes=view.sizes,
            max_turns=view.max_turns,
            board=tuple(towers.get(dot, 0) for dot in range(len(field.places))),
            hands=_read_hands(view.hands),
            seat=seat,
            phase=view.phase,
            steps=view.steps,
            turns=view.turns,
            skips=int(view.skipped),
            immune=_read_marks(field, view.immune),
            fresh=_read_marks(field, view.fresh),
            path=tuple(field.number(*dot) for dot in view.path),
            placed=tuple(field.number(*dot) for dot in view.placed),
        )

    def seat_count(self, state: State) -> int:
        """Return two."""
        return 2

    def to_move(self, state: State) -> int:
        """Return the seat whose turn it is."""
        return state.seat

    def is_same_turn(self, state: State) -> bool:
        """Return whether the turn has had a move already."""
        return state.steps > 0

    def view(self, state: State, seat: int) -> View:
        """Return everything: nothing is hidden."""
        field = state.field
        rest = tuple(other for other in state.order if other != state.seat)
        first = tuple(other for other in state.order if other == state.seat)
        return View(
            seat=seat,  # type: ignore[arg-type]  # the match asks for seats that there are
            sizes=state.sizes,
            layout=field.rows,
            board=_to_pieces(field, ((dot, tower) for dot, tower in enumerate(state.board) if tower)),
            hands=(_to_names(state.hands[0]), _to_names(state.hands[1])),
            scores=boards.count_mixed(state.board),
            order=first + rest,  # type: ignore[arg-type]  # seats are 0 and 1
            phase=state.phase,
            steps=state.steps,
            path=tuple(field.places[dot] for dot in state.path),
            placed=tuple(field.places[dot] for dot in state.placed),
            immune=_to_pieces(field, sorted(state.immune.items())),
            fresh=_to_pieces(field, sorted(state.fresh.items())),
            turns=state.turns,
            max_turns=state.max_turns,
            skipped=state.skips > 0,
        )

    def play(self, state: State, move: Move) -> State:
        """Play one part of the turn; the turn ends by itself when nothing more can be done."""
        if isinstance(move, Leg):
            return turns.leg(state, move.start, move.end)
        if isinstance(move, Place):
            return turns.place(state, boards.PIECES[move.piece], *move.dot)
        return turns.stop(state)

    def news(self, state: State) -> News:
        """Return the last play, the pieces that it moved and knocked off, and the seats skipped after it."""
        return News(dict(state.last or {}), None)

    def deliver(self, state: State) -> State:
        """Return the state unchanged: a play gives nobody anything that is hidden from the other seat."""
        return state

    def drop(self, state: State, seat: int) -> State:
        """Take a seat out of the game, which ends it; all pieces stay where they are."""
        order = tuple(other for other in state.order if other != seat)
        ending = state.ending or GameEnding("quincala.end.eliminated", None)
        return replace(state, order=order, ending=ending, phase="over")

    def outcome(self, state: State) -> Outcome | None:
        """Return the ranking once the game is over: the winner first, or both seats on one level."""
        if state.ending is None:
            return None
        rule, winner = state.ending
        levels: list[tuple[int, ...]] = [state.order]
        if winner is not None:
            levels = [tuple(seat for seat in state.order if seat == ranked) for ranked in (winner, 1 - winner)]
        ranking = tuple(level for level in levels if level)
        return Outcome(ranking, boards.count_mixed(state.board), state.order, rule)

    def legal_moves(self, state: State) -> list[Move]:
        """Return every legal move: each piece on each dot, each leg, and `stop` first where it is allowed."""
        places = state.field.places
        if state.phase == "place":
            free = [places[dot] for dot in state.field.areas[state.seat] if not state.board[dot]]
            return [Place(name, dot) for name in dict.fromkeys(_to_names(state.hands[state.seat])) for dot in free]
        if state.phase == "continue":
            here = places[state.path[-1]]
            return [Stop(), *(Leg(here, places[end]) for end in turns.further_ends(state))]
        legs = boards.first_legs(state.field, state.board, state.immune, state.seat)
        return [Leg(places[start], places[end]) for start, end in legs]

    def check_invariants(self, state: State) -> None:
        """Check the places and numbers of the pieces, and that immune and fresh pieces have the right colour."""
        full = boards.full_tower(0, state.sizes) | boards.full_tower(1, state.sizes)
        held = Counter(piece for hand in state.hands for piece in hand)
        for dot, tower in enumerate(state.board):
            assert not tower or state.field.is_dot[dot], "a tower stands outside of the playing area"
            assert not tower & boards.same_sizes(tower), "two pieces of a size stand on one dot"
            assert not tower & ~full, "a piece of a size that is not played with"
            held.update(boards.pieces(tower))
        assert all(count <= state.sizes for count in held.values()), "there are too many pieces of a kind"
        assert all(full >> piece & 1 for piece in held), "a piece of a size that is not played with"
        for marks, colour in ((state.immune, 1 - state.seat), (state.fresh, state.seat)):
            assert all(marked and not marked & ~state.board[dot] for dot, marked in marks.items())
            assert state.ending or all(not marked & ~boards.OWN[colour] for marked in marks.values())
        assert set(state.order) <= {0, 1}
        assert (state.phase == "over") == (state.ending is not None)

    def places_of(self, step: Step) -> tuple[str, ...]:
        """Return the piece and its dot, both ends of a leg, or the word `stop`."""
        if isinstance(step, Place):
            return step.piece, square_name(*step.dot)
        return (square_name(*step.start), square_name(*step.end)) if isinstance(step, Leg) else ("stop",)

    def describe(self, play: Mapping[str, Any]) -> str:
        """Return a play in words."""
        return describe(play)

    def draw_text(self, state: State, eyes: Collection[int] | None = None) -> str:
        """Return the board and both hands, for a terminal; nothing is hidden."""
        return draw_text(state)

    def draw_svg(self, state: State, eyes: Collection[int] | None = None, chosen: tuple[Any, ...] | None = None) -> str:
        """Return the board and both hands as an SVG document, with the last move marked; nothing is hidden."""
        return draw_svg(state, state.seat if chosen is not None else None)


def _to_names(hand: Iterable[int]) -> tuple[str, ...]:
    return tuple(boards.NAMES[piece] for piece in hand)


def _read_hands(hands: tuple[tuple[str, ...], tuple[str, ...]]) -> turns.Hands:
    """Return hands as sorted piece numbers."""
    white, black = (tuple(sorted(boards.PIECES[name] for name in hand)) for hand in hands)
    return white, black


def _to_pieces(field: PreparedMap, marks: Iterable[tuple[int, int]]) -> tuple[Pieces, ...]:
    """Return pieces on dots as a view writes them."""
    return tuple(Pieces(*field.places[dot], boards.names(tower)) for dot, tower in marks)


def _read_marks(field: PreparedMap, shown: Iterable[Pieces]) -> dict[int, int]:
    """Return pieces on dots, by dot.

    Raises:
        BadSetup: a place is no dot, a dot is named twice, or a dot has two pieces of one size.
    """
    marks: dict[int, int] = {}
    for spot in shown:
        dot, tower = field.number(spot.row, spot.column), boards.bits([boards.PIECES[name] for name in spot.pieces])
        where = f"row {spot.row}, column {spot.column}"
        if dot < 0:
            raise BadSetup(f"not a position of quincala: {where} is not in the playing area")
        if dot in marks:
            raise BadSetup(f"not a position of quincala: {where} is named twice")
        if tower.bit_count() < len(spot.pieces) or tower & boards.same_sizes(tower):
            raise BadSetup(f"not a position of quincala: {where} has two pieces of one size")
        marks[dot] = tower
    return marks


def _check_supply(given: Position, sizes: int) -> None:
    """Refuse a position with more pieces of one kind than there are sizes, or with a size that is not in the game."""
    held = Counter(name for names in (*(spot.pieces for spot in given.board), *given.hands) for name in names)
    for name, count in sorted(held.items()):
        if int(name[1]) > sizes:
            raise BadSetup(f"not a position of quincala: {name} is not played with {sizes} sizes")
        if count > sizes:
            raise BadSetup(f"not a position of quincala: {count} of {name}, there are {sizes}")
