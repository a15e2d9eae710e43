"""Makes a game of OpenSpiel a game of the referee.

The library's states change; the referee's must not. So a `Position` holds all actions so far, with those of chance,
which determine everything. It also holds a state of the library, which is only cloned, never changed.

In a game with hidden cards, a seat sees the library's information state, which is a text of all that it was shown. In
general, the library can't rebuild a full state from such a text. So `imagine` returns a position with nothing but the
view: it has legal moves, but after a move nothing is known. Players that look ahead need an open game.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import pyspiel
from msgspec import Struct

from protocol.limits import MAX_ITEMS
from referee.games.base import BadSetup, Game, IllegalMove, News, Outcome, PgnMoves, Rule, Shuffle, Step, rank_seats
from referee.text import visible

from .catalogue import LIBRARY, MAX_SEATS, SECOND_BEGINS, THOUSANDTHS, Unloadable, is_open, load_game, make_options
from .chance import draw_outcome
from .drawing import draw_board, draw_terminal

MAX_LISTED = 500
"""Most legal moves that a view lists; if there are more, it gives them as runs of numbers."""
_PART_CHARS = 1000
"""Length of a part of a text: a string in a message has at most 4,096 bytes."""
_MAX_TEXT = 200
"""Longest text of a move, in characters; an action with a longer one is a number."""

Move = str | int
"""An action's text as the library writes it, or its number."""


class View(Struct, frozen=True, kw_only=True):
    """What a seat may know."""

    seat: int
    """The seat that this view is for, from 0."""
    seats: int
    """Number of seats, including expelled ones."""
    to_move: int
    """The seat whose turn it is; -1: the game is over."""
    text: list[str]
    """The library's text of what the seat knows: its observation in an open game, its information state otherwise. A
    long text has several parts, to be joined."""
    legal: list[str | int]
    """The seat's legal moves, if it is its turn and there are at most 500: texts, or numbers if a text is not
    unique."""
    legal_count: int
    """Number of its legal moves; 0 if it is not its turn."""
    legal_runs: list[tuple[int, int]]
    """If there are more than 500, the numbers of the legal actions, ascending, as pairs: first and last of a run. An
    action is legal if its number lies in one of them. At most 4,096 runs are given."""
    history: list[int] | None
    """In an open game, the numbers of all actions so far, chance included, up to 4,096 of them; otherwise null."""
    out: list[int]
    """The seats that were expelled."""


@dataclass(frozen=True)
class Position:
    """One moment of a game. It does not change; equal histories are equal positions."""

    native: Any = field(compare=False, default=None)
    """The library's state; None if only `view` is known of this position."""
    history: tuple[int, ...] | None = None
    """All actions so far, with those of chance."""
    out: frozenset[int] = frozenset()
    """The seats that were expelled."""
    view: View | None = field(hash=False, default=None)
    """The view from which the position was imagined."""
    key: Shuffle | None = field(compare=False, default=None)
    """The shuffle that decides all later chance nodes."""
    drawn: int = field(compare=False, default=0)
    """Number of chance nodes so far."""
    last: tuple[int, str, int, int] | None = field(compare=False, default=None)
    """The last seat that moved, its move, the number of its action, and the number of actions before it."""

    @cached_property
    def legal(self) -> dict[Move, int]:
        """Legal move -> action. The move is the action's text, or its number if two actions have the same text."""
        moves: dict[Move, int] = {}
        if self.native is not None and not self.native.is_terminal():
            seat = self.native.current_player()
            for action in self.native.legal_actions():
                text = self.native.action_to_string(seat, action)
                moves[action if text in moves or len(text) > _MAX_TEXT else text] = action
        return moves

    def __deepcopy__(self, _memo: Any) -> "Position":
        return self


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
        self.name = f"openspiel:{name}"  # type: ignore[misc]  # one class serves all seventy games
        self.title = kind.long_name  # type: ignore[misc]
        self.seats = range(max(2, kind.min_num_players), min(kind.max_num_players, MAX_SEATS) + 1)  # type: ignore[misc]
        source = f"{LIBRARY}, game {name}"
        rules = (
            Rule("openspiel.illegal", "A move is one of the actions that the library calls legal.", source),
            Rule("openspiel.end", "The game ends when the library says so; its returns are the scores.", source),
            Rule("openspiel.end.alone", "If one seat is left, it has won.", "the referee: an expelled player is out"),
        )
        self.rules = {rule.id: rule for rule in rules}  # type: ignore[misc]

    @cached_property
    def options_type(self) -> type[Struct]:  # type: ignore[override]  # made when it is needed, since seventy take long
        """The struct of the game's options."""
        return make_options(self._kind)

    # --- beginning

    def parse_options(self, raw: dict[str, Any]) -> Any:
        """Check options, and let the library try them."""
        options = super().parse_options(raw)
        self._begin(options, self.seats[0])
        return options

    def _begin(self, options: Any, seats: int) -> Any:
        """Return the library's state at the start."""
        has_seats = "players" in self._kind.parameter_specification
        try:
            return load_game(self._kind.short_name, options, seats if has_seats else None).new_initial_state()
        except Unloadable as error:
            raise BadSetup(f"options of {self.name}: {error}") from None

    def new(self, options: Any, seats: int, shuffle: Shuffle) -> Position:
        """Return the state at the start, with the first deal drawn."""
        return self._advance(Position(self._begin(options, seats), key=shuffle))

    def restore(self, options: Any, position: Any) -> Position:
        """Return the state after a list of actions, with those of chance. A later chance node can't be drawn."""
        actions, native = self.parse_position(position), self._begin(options, self.seats[0])
        try:
            _replay(native, actions)
        except ValueError as error:
            raise BadSetup(f"not a position of {self.name}: {error}") from None
        if native.is_chance_node() or native.is_terminal():
            raise BadSetup(f"not a position of {self.name}: no seat is to move after these actions")
        return Position(native, tuple(actions))

    def imagine(self, options: Any, view: View, shuffle: Shuffle) -> Position:
        """Return the position of a view: the whole position in an open game, otherwise only the view."""
        if view.history is None:
            return Position(view=view, key=shuffle)
        native = self._begin(options, view.seats)
        drawn = _replay(native, view.history)
        return Position(native, tuple(view.history), frozenset(view.out), key=shuffle, drawn=drawn)

    # --- questions

    def seat_count(self, state: Position) -> int:
        """Return the number of seats."""
        return max(self.seats) if state.native is None else int(state.native.num_players())

    def to_move(self, state: Position) -> int:
        """Return the seat whose turn it is."""
        return state.view.to_move if state.view is not None else self._swap(state.native.current_player())

    def _swap(self, number: int) -> int:
        """Return the seat of a player of the library, or the player of a seat."""
        return int(number) ^ (self._kind.short_name in SECOND_BEGINS)

    def view(self, state: Position, seat: int) -> View:
        """Return the library's text for the seat, and its legal moves."""
        if state.view is not None:
            return state.view
        to_move = self.to_move(state) if self.outcome(state) is None else -1
        legal = state.legal if seat == to_move else {}
        is_listed = len(legal) <= MAX_LISTED
        text, history = self._describe_knowledge(state.native, seat), state.history or ()
        return View(
            seat=seat,
            seats=self.seat_count(state),
            to_move=to_move,
            text=[text[at : at + _PART_CHARS] for at in range(0, len(text), _PART_CHARS)],
            legal=list(legal) if is_listed else [],
            legal_count=len(legal),
            legal_runs=[] if is_listed else _list_runs(sorted(legal.values()))[:MAX_ITEMS],
            history=list(history) if is_open(self._kind) and len(history) <= MAX_ITEMS else None,
            out=sorted(state.out),
        )

    def _describe_knowledge(self, native: Any, seat: int) -> str:
        player = self._swap(seat)
        if not is_open(self._kind) and self._kind.provides_information_state_string:
            return str(native.information_state_string(player))
        return str(native.observation_string(player))

    def legal_moves(self, state: Position) -> list[Move]:
        """Return all legal moves; for a position imagined from a view, the moves in the view."""
        if state.view is None:
            return list(state.legal)
        runs = state.view.legal_runs
        return list(state.view.legal) or [number for first, last in runs for number in range(first, last + 1)]

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
        returns, unit = state.native.returns(), 1000 if self._kind.short_name in THOUSANDTHS else 1
        scores = tuple(round(returns[self._swap(seat)] * unit) for seat in range(seats))
        return Outcome(rank_seats(scores, order), scores, order, "openspiel.end")

    # --- moves

    def play(self, state: Position, move: Move) -> Position:
        """Apply an action; then draw at chance nodes, and play for expelled seats."""
        if state.view is not None and move in self.legal_moves(state):
            return Position(key=state.key)
        action = state.legal.get(move)
        if action is None and isinstance(move, int) and move in state.legal.values():
            action = move
        if action is None:
            shown = visible(str(move))[:80]
            raise IllegalMove("openspiel.illegal", f"{shown} is not one of the {len(state.legal)} legal moves")
        native, seat = state.native.clone(), self.to_move(state)
        text = native.action_to_string(native.current_player(), action)[:_MAX_TEXT]
        native.apply_action(action)
        return self._advance(replace(state, native=native, last=(seat, text, action, len(state.history or ()))))

    def _advance(self, position: Position) -> Position:
        """Draw at chance nodes, and play a random action for expelled seats, until another seat is to move.

        The library has no expulsions. In a game of two, an expulsion ends the game. With more seats, the expelled seat
        stays in the game, and its actions are drawn by the match's own chance, so an audit can repeat them.
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
        return replace(position, native=native, history=tuple(native.history()), drawn=drawn)

    def news(self, state: Position) -> News:
        """Return the move and the chance actions after it in an open game; otherwise only the seat that has moved."""
        if state.last is None:
            return News({}, None)
        seat, text, action, before = state.last
        if not is_open(self._kind):
            return News({"seat": seat}, None)
        chance = list((state.history or ())[before + 1 :])
        return News({"seat": seat, "move": text, "action": action, "chance": chance}, None)

    def deliver(self, state: Position) -> Position:
        """Return the state as it is: the view already shows a seat its cards."""
        return state

    def drop(self, state: Position, seat: int) -> Position:
        """Take a seat out: from now on its actions are drawn at random, and it is not ranked."""
        return self._advance(replace(state, native=state.native.clone(), out=state.out | {seat}))

    def check_invariants(self, state: Position) -> None:
        """Check that a seat is to move unless the game is over."""
        if state.native is not None and self.outcome(state) is None:
            assert state.legal, "there is no legal action, but the game goes on"
            assert self.to_move(state) not in state.out, "an expelled seat is to move"

    # --- texts and drawings

    def describe(self, play: Mapping[str, Any]) -> str:
        """Return the library's text of a move."""
        return str(play.get("move", ""))

    def pgn(self, played: Iterable[tuple[Position, Move]]) -> PgnMoves | None:
        """Return the moves of chess; for its variants, the library's notation differs from that of other programs."""
        if self._kind.short_name != "chess":
            return None
        words: list[str] = []
        tags: dict[str, str] = {}
        for state, move in played:
            fen = str(state.native)
            _, side, *_, number = fen.split()
            if not words and fen != _CHESS_START:
                is_960 = state.native.get_game().get_parameters()["chess960"]
                tags = ({"Variant": "Chess960"} if is_960 else {}) | {"SetUp": "1", "FEN": fen}
            if side == "w" or not words:
                words.append(f"{number}{'.' if side == 'w' else '...'}")
            action = move if isinstance(move, int) else state.legal[move]
            words.append(state.native.action_to_string(state.native.current_player(), action))
        return PgnMoves(tuple(words), tags)

    def draw_text(self, state: Position, eyes: Collection[int] | None = None) -> str:
        """Return the library's text of the position."""
        return draw_terminal(*self._show(state, eyes))

    def draw_svg(
        self, state: Position, eyes: Collection[int] | None = None, chosen: tuple[Step, ...] | None = None
    ) -> str:
        """Return the board as SVG: drawn for a few grid games, otherwise the library's text."""
        return draw_board(self._kind.short_name, *self._show(state, eyes), self.seat_count(state))

    def _show(self, state: Position, eyes: Collection[int] | None) -> tuple[str, dict[int, str]]:
        """Return the public text, and seat -> private text for those eyes."""
        if state.view is not None:
            view, is_shown = state.view, eyes is None or state.view.seat in eyes
            return f"seat {view.to_move} to move", {view.seat: "".join(view.text)} if is_shown else {}
        if state.native is None:
            return "the position is not known", {}
        if is_open(self._kind):
            return str(state.native), {}
        over = self.outcome(state) is not None
        public = "the game is over" if over else f"seat {self.to_move(state)} to move"
        seats = range(self.seat_count(state)) if eyes is None else sorted(eyes)
        return public, {seat: self._describe_knowledge(state.native, seat) for seat in seats}


_CHESS_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def _replay(native: Any, history: Sequence[int]) -> int:
    """Apply actions; return the number of chance actions among them.

    Raises:
        ValueError: one of the actions is not legal.
    """
    drawn = 0
    for action in history:
        if native.is_terminal() or action not in native.legal_actions():
            raise ValueError(f"the action {action} is not possible there")
        drawn += native.is_chance_node()
        native.apply_action(action)
    return drawn


def _list_runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return ascending numbers as runs: the first and the last number of each run."""
    firsts = [number for at, number in enumerate(numbers) if at == 0 or numbers[at - 1] != number - 1]
    lasts = [number for at, number in enumerate(numbers, 1) if at == len(numbers) or numbers[at] != number + 1]
    return list(zip(firsts, lasts, strict=True))
