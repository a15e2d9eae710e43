"""A game of OpenSpiel as a game of the referee.

The library's states can be changed; the referee's cannot. A `Position` therefore holds the list of all actions, chance
included, which determines everything, and a state of the library that is never changed, only cloned.

A seat of a game with hidden cards sees the library's information state: what it has been shown, and nothing else. From
such a text the library cannot, in general, rebuild a full state. So `imagine` returns a position that knows no more
than the view: its legal moves are known, but after a move nothing is. Players that look ahead need an open game.
"""

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Annotated, Any, ClassVar

import msgspec
import pyspiel
from msgspec import Meta, Struct

from referee.games.base import BadSetup, Game, IllegalMove, News, Outcome, PgnMoves, Rule, Shuffle, Step, rank_seats
from referee.text import visible

from .catalogue import LIBRARY, MAX_SEATS, is_open
from .chance import draw_outcome
from .drawing import draw_board, draw_terminal

MAX_LISTED = 500
"""Most legal moves that a view lists. A seat with more is told their number; any text or number may be tried."""
THOUSANDTHS = frozenset({"bargaining", "coin_game", "colored_trails", "first_sealed_auction", "sheriff"})
"""Games whose returns are not whole numbers. Their scores are in thousandths."""
SECOND_BEGINS = frozenset(
    {"antichess", "chess", "crazyhouse", "dark_chess", "einstein_wurfelt_nicht", "kriegspiel", "rbc"}
)
"""Games for two in which the library's player 1 always begins. It is seat 0, because seat 0 begins at the referee."""

Move = str | int
"""An action's text as the library writes it, or its number."""


class View(Struct, frozen=True, kw_only=True):
    """What a seat may know."""

    seat: int
    """The seat that this view is for, from 0."""
    to_move: int
    """The seat whose turn it is; -1: the game is over."""
    text: str
    """The library's text of what the seat knows: its observation in an open game, its information state otherwise."""
    legal: list[str | int]
    """The seat's legal moves if it is its turn and there are at most 500. A text that stands for two is a number."""
    legal_count: int
    """Number of its legal moves; 0 if it is not its turn."""
    history: list[int] | None
    """In an open game, the numbers of all actions so far, chance included; otherwise null."""
    out: list[int]
    """The seats that were expelled."""


class Position:
    """One moment of a game. It does not change; equal histories are equal positions.

    Args:
        native: the library's state; None: only `view` is known of this position.
        key: what tells two positions of equal histories apart: the shuffle that decides what is still to be drawn.
        drawn: number of chance nodes so far.
        out: the seats that were expelled.
        view: the view from which the position was imagined.
        last: the last seat that moved, its action, and the number of actions before it.
    """

    def __init__(
        self,
        native: Any,
        key: Shuffle | None,
        drawn: int = 0,
        out: frozenset[int] = frozenset(),
        view: View | None = None,
        last: tuple[int, int, int] | None = None,
    ) -> None:
        self.native, self.key, self.drawn, self.out, self.view, self.last = native, key, drawn, out, view, last

    @cached_property
    def history(self) -> tuple[int, ...]:
        """All actions so far, chance included."""
        return () if self.native is None else tuple(self.native.history())

    @cached_property
    def legal(self) -> dict[Move, int]:
        """Legal move -> action. The move is the action's text, or its number where a text stands for two actions."""
        moves: dict[Move, int] = {}
        if self.native is not None and not self.native.is_terminal():
            seat = self.native.current_player()
            for action in self.native.legal_actions():
                text = self.native.action_to_string(seat, action)
                moves[action if text in moves or len(text) > _MAX_TEXT else text] = action
        return moves

    def _identity(self) -> tuple[Any, ...]:
        view = None if self.view is None else msgspec.msgpack.encode(self.view)
        return self.history, self.out, view, self.native is None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        return f"Position{self._identity()}"

    def __deepcopy__(self, _memo: Any) -> "Position":
        return self


_MAX_TEXT = 200


class SpielGame(Game[Position, View, Move]):
    """The rules of one game of the library.

    Args:
        kind: the library's description of it.
    """

    view_type = View
    move_type = Move
    position_type = list[int]
    rules_version = LIBRARY
    is_ranked_by_scores = True
    seats: ClassVar[range]

    def __init__(self, kind: pyspiel.GameType) -> None:
        name = kind.short_name
        self._kind = kind
        self.name = f"openspiel:{name}"  # type: ignore[misc]  # a class for each of seventy games would say no more
        self.title = kind.long_name  # type: ignore[misc]
        self._parameters = dict(kind.parameter_specification)
        self.seats = range(max(2, kind.min_num_players), min(kind.max_num_players, MAX_SEATS) + 1)  # type: ignore[misc]
        source = f"{LIBRARY}, game {name}"
        texts = {
            "openspiel.illegal": "A move is one of the actions that the library calls legal.",
            "openspiel.end": "The game ends when the library says so; its returns are the scores.",
            "openspiel.end.alone": "If one seat is left, it has won.",
        }
        self.rules = {id_: Rule(id_, text, source) for id_, text in texts.items()}  # type: ignore[misc]
        self._unit = 1000 if name in THOUSANDTHS else 1
        self._first = int(name in SECOND_BEGINS)

    @cached_property
    def options_type(self) -> type[Struct]:  # type: ignore[override]  # made when it is asked for: seventy take long
        """The struct of the game's options."""
        return _make_options(self._kind.short_name, self._parameters)

    # --- beginning

    def parse_options(self, raw: dict[str, Any]) -> Any:
        """Check options, and let the library try them."""
        options = super().parse_options(raw)
        self._load(options, self.seats[0])
        return options

    def _load(self, options: Any, seats: int) -> Any:
        # Only what differs from the default is passed on: to some games, a default that is spelled out is an error.
        defaults = self.options_type()
        given = {
            name: value
            for name, value in msgspec.structs.asdict(options).items()
            if value != getattr(defaults, name) or name == "ansi_color_output"
        }
        if "players" in self._parameters:
            given["players"] = seats
        try:
            game = pyspiel.load_game(self._kind.short_name, given)
        except Exception as error:  # noqa: BLE001  # the library raises a class of its own, and others
            raise BadSetup(f"options of {self.name}: {visible(str(error))[:200]}") from None
        return game

    def new(self, options: Any, seats: int, shuffle: Shuffle) -> Position:
        """Return the state at the start, with the first deal drawn."""
        return self._advance(Position(self._load(options, seats).new_initial_state(), shuffle))

    def restore(self, options: Any, position: Any) -> Position:
        """Return the state after a list of actions, chance included. What comes after it draws nothing."""
        actions, native = self.parse_position(position), self._load(options, self.seats[0]).new_initial_state()
        try:
            _replay(native, actions)
        except ValueError as error:
            raise BadSetup(f"not a position of {self.name}: {error}") from None
        if native.is_chance_node() or native.is_terminal():
            raise BadSetup(f"not a position of {self.name}: no seat is to move after these actions")
        return Position(native, None)

    def imagine(self, options: Any, view: View, shuffle: Shuffle) -> Position:
        """Return the position of a view: the whole position in an open game, otherwise one that knows only the view."""
        if view.history is None:
            return Position(None, shuffle, view=view)
        for count in self.seats:
            native = self._load(options, count).new_initial_state()
            try:
                drawn = _replay(native, view.history)
            except (ValueError, pyspiel.SpielError):
                continue  # a game of another number of seats
            position = Position(native, shuffle, drawn, frozenset(view.out))
            if self.view(position, view.seat) == view:
                return position
        raise ValueError("the history of a view is not one of this game")

    # --- questions

    def seat_count(self, state: Position) -> int:
        """Return the number of seats."""
        return max(self.seats) if state.native is None else int(state.native.num_players())

    def to_move(self, state: Position) -> int:
        """Return the seat whose turn it is."""
        return state.view.to_move if state.view is not None else self._swap(state.native.current_player())

    def _swap(self, number: int) -> int:
        """Return the seat of a player of the library, or the player of a seat."""
        return int(number) ^ self._first

    def view(self, state: Position, seat: int) -> View:
        """Return the library's text for the seat, and its legal moves."""
        if state.view is not None:
            return state.view
        native = state.native
        is_over = native.is_terminal() or len(state.out) >= self.seat_count(state) - 1
        to_move = -1 if is_over else self.to_move(state)
        legal = list(state.legal) if seat == to_move else []
        return View(
            seat=seat,
            to_move=to_move,
            text=self._describe(native, seat),
            legal=legal if len(legal) <= MAX_LISTED else [],
            legal_count=len(legal),
            history=list(state.history) if is_open(self._kind) else None,
            out=sorted(state.out),
        )

    def _describe(self, native: Any, seat: int) -> str:
        player = self._swap(seat)
        if not is_open(self._kind) and self._kind.provides_information_state_string:
            return str(native.information_state_string(player))
        return str(native.observation_string(player))

    def legal_moves(self, state: Position) -> list[Move]:
        """Return all legal moves; of a position that was imagined from a view, those that the view lists."""
        return list(state.view.legal) if state.view is not None else list(state.legal)

    def outcome(self, state: Position) -> Outcome | None:
        """Return the library's returns as scores, or None while the game goes on."""
        if state.native is None:
            return None
        seats = self.seat_count(state)
        order = tuple(seat for seat in range(seats) if seat not in state.out)
        if len(order) < 2:
            return Outcome((order,) if order else (), (0,) * seats, order, "openspiel.end.alone")
        if not state.native.is_terminal():
            return None
        returns = state.native.returns()
        scores = tuple(round(returns[self._swap(seat)] * self._unit) for seat in range(seats))
        return Outcome(rank_seats(scores, order), scores, order, "openspiel.end")

    # --- moves

    def play(self, state: Position, move: Move) -> Position:
        """Apply an action; then draw what chance decides, and play for seats that were expelled."""
        if state.view is not None and move in state.view.legal:
            return Position(None, state.key)
        action = state.legal.get(move)
        if action is None and isinstance(move, int) and move in state.legal.values():
            action = move
        if action is None:
            shown = visible(str(move))[:80]
            raise IllegalMove("openspiel.illegal", f"{shown} is not one of the {len(state.legal)} legal moves")
        native, seat = state.native.clone(), self.to_move(state)
        native.apply_action(action)
        return self._advance(
            Position(native, state.key, state.drawn, state.out, last=(seat, action, len(state.history)))
        )

    def _advance(self, position: Position) -> Position:
        """Draw at chance nodes, and play a random action for expelled seats, until another seat is to move.

        The library knows no expulsion. In a game of two it ends the game. With more seats the expelled one stays at the
        table like a player who is not looking: its actions are drawn by the match's own chance, so an audit finds them.
        """
        native, drawn = position.native, position.drawn
        is_alone = len(position.out) >= native.num_players() - 1
        while not native.is_terminal() and not is_alone:
            if native.is_chance_node():
                outcomes = native.chance_outcomes()
            elif self._swap(native.current_player()) in position.out:
                actions = native.legal_actions()
                outcomes = [(action, 1 / len(actions)) for action in actions]
            else:
                break
            if position.key is None:
                raise IllegalMove("openspiel.illegal", "a given position has no chance to draw from")
            drawn += 1
            native.apply_action(draw_outcome(outcomes, position.key, drawn))
        return Position(native, position.key, drawn, position.out, last=position.last)

    def news(self, state: Position) -> News:
        """Return the action and what chance drew after it in an open game; otherwise only who has moved."""
        if state.last is None:
            return News({}, None)
        seat, action, before = state.last
        if not is_open(self._kind):
            return News({"seat": seat}, None)
        return News({"seat": seat, "action": action, "chance": list(state.history[before + 1 :])}, None)

    def deliver(self, state: Position) -> Position:
        """Return the state as it is: what a seat is dealt is in its view."""
        return state

    def drop(self, state: Position, seat: int) -> Position:
        """Take a seat out: from now on its actions are drawn by lot, and it is not ranked."""
        native = state.native.clone()
        return self._advance(Position(native, state.key, state.drawn, state.out | {seat}, last=state.last))

    def check_invariants(self, state: Position) -> None:
        """Check that a seat is to move unless the game is over."""
        if state.native is not None and self.outcome(state) is None:
            assert state.legal, "no legal action, and the game goes on"
            assert self.to_move(state) not in state.out, "an expelled seat is to move"

    # --- texts and drawings

    def pgn(self, played: Iterable[tuple[Position, Move]]) -> PgnMoves | None:
        """Return the moves of chess; the library writes those of its variants otherwise than other programs do."""
        if self._kind.short_name != "chess":
            return None
        words: list[str] = []
        variant: dict[str, str] = {}
        usual = start = str(pyspiel.load_game("chess").new_initial_state())
        for state, move in played:
            fen = str(state.native)
            _, side, *_, number = fen.split()
            if not words:
                start = fen
                variant = {"Variant": "Chess960"} if state.native.get_game().get_parameters()["chess960"] else {}
            if side == "w" or not words:
                words.append(f"{number}{'.' if side == 'w' else '...'}")
            action = move if isinstance(move, int) else state.legal[move]
            words.append(state.native.action_to_string(state.native.current_player(), action))
        return PgnMoves(tuple(words), {} if start == usual else {**variant, "SetUp": "1", "FEN": start})

    def draw_text(self, state: Position, eyes: Collection[int] | None = None) -> str:
        """Return the library's text of the position."""
        return draw_terminal(self._show(state, eyes))

    def draw_svg(
        self, state: Position, eyes: Collection[int] | None = None, chosen: tuple[Step, ...] | None = None
    ) -> str:
        """Return the board as SVG: drawn for a few grid games, otherwise the library's text."""
        public, private = self._show(state, eyes)
        return draw_board(self._kind.short_name, public, private, self.seat_count(state))

    def _show(self, state: Position, eyes: Collection[int] | None) -> tuple[str, dict[int, str]]:
        """Return the public text, and seat -> private text for those eyes."""
        if state.view is not None:
            view = state.view
            return f"seat {view.to_move} to move", {view.seat: view.text} if eyes is None or view.seat in eyes else {}
        if state.native is None:
            return "what follows is not known", {}
        if is_open(self._kind):
            return str(state.native), {}
        over = self.outcome(state) is not None
        public = "the game is over" if over else f"seat {self.to_move(state)} to move"
        seats = range(self.seat_count(state)) if eyes is None else sorted(eyes)
        return public, {seat: self._describe(state.native, seat) for seat in seats}


def _replay(native: Any, history: list[int]) -> int:
    """Apply actions; return the number of those that chance drew.

    Raises:
        ValueError: one of them is not legal.
    """
    drawn = 0
    for action in history:
        if native.is_terminal() or action not in native.legal_actions():
            raise ValueError(f"the action {action} is not possible there")
        drawn += native.is_chance_node()
        native.apply_action(action)
    return drawn


_Whole = Annotated[int, Meta(ge=-10_000, le=10_000)]
_LEFT_OUT = frozenset(
    {"players", "rng_seed", "seed", "random_start_player", "fen", "subgame", "instances_file", "boards_file"}
)
"""Parameters that are no options: seats and chance are the match's affair, a wrong FEN ends the process, and files of
the organiser's machine are not part of a record."""
_TYPES: dict[type, Any] = {bool: bool, int: _Whole, float: float, str: str}


def _make_options(name: str, parameters: dict[str, Any]) -> type[Struct]:
    """Make the struct of a game's options from the library's description of its parameters."""
    fields: list[tuple[str, Any, Any]] = []
    for parameter, default in sorted(parameters.items()):
        if parameter in _LEFT_OUT or type(default) not in _TYPES or not parameter.isidentifier():
            continue
        value = False if parameter == "ansi_color_output" else default  # colours would be noise in a view
        meaning = Meta(description=f"The library's parameter {parameter} of {name}.")
        fields.append((parameter, Annotated[_TYPES[type(default)], meaning], value))
    return msgspec.defstruct("Options", fields, frozen=True, kw_only=True, forbid_unknown_fields=True)
