"""The Q game: turns, hands, scores and ends. Squares and neighbours are in tiles.py, the texts of rules in rules.toml.

Source: The Q Game, M. Felleisen. Where it says nothing or contradicts itself, we have decided: a tile must fit its row
and its column separately; placing the whole hand ends the game for a hand of any size; a round without a legal
placement ends the game; the last remaining player plays on.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ..base import BadSetup, Game, IllegalMove, News, Outcome, Shuffle, Step, rank_seats, replace_at, rules_beside
from ..drawing import square_name
from . import tiles
from .drawing import describe, draw_svg, draw_text
from .forms import Exchange, Move, Options, Pass, Place, Placement, Position, State, View
from .tiles import BETWEEN, BY_NAME, KINDS, NAMES, NEIGHBOURS, Board, Cell, Openings, Tile

# The turn order rotates: its first seat is the seat to move, and a seat that has moved goes to the end. The first
# `to_go` seats have not moved in this round. With an index into a fixed order, each expulsion would have to correct the
# index, depending on the place of the expelled seat.
#
# The pile is `bytes`, one byte for each tile. It can be hashed, and a player that looks ahead takes slices of it in
# every state. Slices of a tuple would copy eight times as much.
HAND_SIZE = 6
PASS, EXCHANGE, STOP = "pass", "exchange", "stop"
"""Steps that are words. All other steps are the name of a tile, or a square, `(row, column)`."""
_MOVES: Mapping[Step, Move] = {PASS: Pass(), EXCHANGE: Exchange()}


class QGame(Game[State, View, Move]):
    """The rules of the Q game."""

    name = "q"
    title = "The Q game"
    is_ranked_by_scores = True
    seats = range(2, 5)
    options_type = Options
    view_type = View
    move_type = Move
    position_type = Position
    rules = rules_beside(__file__)

    def new(self, options: Options, seats: int, shuffle: Shuffle) -> State:
        """Shuffle the 1080 tiles, deal six to each seat, beginning with seat 0, and put the next one on the map."""
        deck = tuple(shuffle(tiles.ALL_TILES))
        hands = tuple(deck[seat * HAND_SIZE : (seat + 1) * HAND_SIZE] for seat in range(seats))
        first = deck[seats * HAND_SIZE]
        rest = bytes(deck[seats * HAND_SIZE + 1 :])
        laid = ((0, 0, NAMES[first]),)
        board = {(0, 0): first}
        order = tuple(range(seats))
        return State(options, board, Openings(), laid, rest, hands, (0,) * seats, order, seats)

    def restore(self, options: Options, position: Any) -> State:
        """Return the state of a plain Position."""
        given = self.parse_position(position)
        board = {(spot.row, spot.column): BY_NAME[spot.tile] for spot in given.map}
        if len(board) != len(given.map):
            raise BadSetup("not a position of q: two tiles lie on the same row and column")
        pile = bytes(BY_NAME[name] for name in given.pile)
        hands = tuple(tuple(BY_NAME[name] for name in player.hand) for player in given.players)
        scores = tuple(player.score for player in given.players)
        seats = len(scores)
        laid = tuple((row, column, NAMES[tile]) for (row, column), tile in board.items())
        order = tuple(range(seats))
        return State(options, board, Openings(), laid, pile, hands, scores, order, seats)

    def imagine(self, options: Options, view: View, shuffle: Shuffle) -> State:
        """Deal the tiles that the view does not show to the pile and the other hands. A new round begins."""
        map_ = [BY_NAME[name] for _, _, name in view.map]
        hand = tuple(BY_NAME[name] for name in view.hand)
        unseen = shuffle(sorted((Counter(tiles.ALL_TILES) - Counter([*map_, *hand])).elements()))
        # A position from an organiser may have more tiles of a kind than the game has.
        if len(unseen) < view.tiles_left:
            unseen += shuffle(tiles.ALL_TILES)[: view.tiles_left - len(unseen)]
        others = [seat for seat in view.order if seat != view.seat]
        rest = unseen[view.tiles_left :]
        size = min(-(-len(rest) // max(len(others), 1)), HAND_SIZE)
        hands: list[tuple[Tile, ...]] = [()] * len(view.scores)
        for index, seat in enumerate(others):
            hands[seat] = tuple(rest[index * size : (index + 1) * size])
        hands[view.seat] = hand
        board = {(row, column): BY_NAME[name] for row, column, name in view.map}
        pile, scores, order = bytes(unseen[: view.tiles_left]), tuple(view.scores), tuple(view.order)
        return State(options, board, Openings(), view.map, pile, tuple(hands), scores, order, len(order))

    def seat_count(self, state: State) -> int:
        """Return the number of hands, including empty ones."""
        return len(state.hands)

    def to_move(self, state: State) -> int:
        """Return the first seat of the turn order."""
        return state.order[0]

    def view(self, state: State, seat: int) -> View:
        """Return the seat's own hand and what is public."""
        return View(
            seat=seat,
            hand=[NAMES[tile] for tile in state.hands[seat]],
            scores=list(state.scores),
            order=list(state.order),
            tiles_left=len(state.pile),
            map=state.laid,
        )

    def play(self, state: State, move: Move) -> State:
        """Play a move of the first seat of the turn order."""
        if isinstance(move, Place):
            return self._place(state, move)
        if isinstance(move, Exchange):
            return self._exchange(state)
        return _end_turn(state, last={"action": "pass"}, arriving=None)

    def _exchange(self, state: State) -> State:
        """Put the hand at the end of the pile, and then draw a new one. Source: The Q Game, Playing a Turn, 2."""
        seat = state.order[0]
        count = len(state.hands[seat])
        if count > len(state.pile):
            detail = f"{count} tiles in hand, only {len(state.pile)} left to hand out"
            raise IllegalMove("q.exchange.pile", detail)
        pile = state.pile + bytes(state.hands[seat])
        hands = replace_at(state.hands, seat, ())
        last = {"action": "exchange", "count": count}
        return _end_turn(state, last=last, arriving=tuple(pile[:count]), pile=pile[count:], hands=hands)

    def _place(self, state: State, move: Place) -> State:
        seat = state.order[0]
        placed = [((spot.row, spot.column), BY_NAME[spot.tile]) for spot in move.tiles]
        hand = _without(state.hands[seat], placed)
        board = _lay_tiles(state.board, placed)
        cells = [cell for cell, _ in placed]
        points = tiles.placement_points(board, cells, state.options.q_bonus)
        finished = not hand
        drawn = () if finished else tuple(state.pile[: len(placed)])
        points += state.options.finish_bonus if finished else 0
        laid = tuple((spot.row, spot.column, spot.tile) for spot in move.tiles)
        last = {"action": "place", "tiles": laid, "points": points}
        # A player that places its whole hand keeps its place in the turn order, because the outcome uses this order.
        changes: dict[str, Any] = {"order": state.order} if finished else {}
        return _end_turn(
            state,
            last=last,
            arriving=None if finished else drawn,
            board=board,
            free=state.free.after(cells),
            laid=state.laid + laid,
            pile=state.pile[len(drawn) :],
            hands=replace_at(state.hands, seat, hand),
            scores=replace_at(state.scores, seat, state.scores[seat] + points),
            placed=True,
            finished=finished,
            **changes,
        )

    def news(self, state: State) -> News:
        """Return the last play and the tiles that its player drew: None after a pass, or if it placed all its tiles."""
        draws = None if state.arriving is None else tuple(NAMES[tile] for tile in state.arriving)
        return News({**(state.last or {}), "seat": state.mover, "score": state.scores[state.mover]}, draws)

    def deliver(self, state: State) -> State:
        """Put the drawn tiles in front of the mover's hand."""
        hands = state.hands
        if state.arriving:
            hands = replace_at(hands, state.mover, state.arriving + hands[state.mover])
        return _begin_round_if_over(replace(state, hands=hands, arriving=None))

    def drop(self, state: State, seat: int) -> State:
        """Put the seat's hand at the end of the pile. Tiles that are still on the way to the seat leave the game.

        Source: The Q Game, Playing a Turn, last paragraph.
        """
        mover = seat == state.mover
        on_the_way = state.arriving if mover and state.arriving else ()
        dropped = replace(
            state,
            pile=state.pile + bytes(state.hands[seat]),
            hands=replace_at(state.hands, seat, ()),
            order=tuple(other for other in state.order if other != seat),
            # The first `to_go` seats of the order have not moved in this round.
            to_go=state.to_go - (1 if state.order.index(seat) < state.to_go else 0),
            arriving=None if mover else state.arriving,
            lost=state.lost + len(on_the_way),
        )
        return _begin_round_if_over(dropped)

    def outcome(self, state: State) -> Outcome | None:
        """Return the ranking by points if the game is over.

        Source: The Q Game, Ending a Game.
        """
        if state.finished:
            reason = "q.end.finished"
        elif not state.order:
            reason = "q.end.deserted"
        elif state.to_go == 0 and not state.placed:
            reason = "q.end.idle-round"
        else:
            return None
        return Outcome(rank_seats(state.scores, state.order), state.scores, state.order, reason)

    def legal_moves(self, state: State) -> list[Move]:
        """Return pass, exchange if it is allowed, and all placements of one tile; there are too many longer ones."""
        hand = state.hands[state.order[0]]
        moves: list[Move] = [Pass()]
        if len(hand) <= len(state.pile):
            moves.append(Exchange())
        held = sorted(set(hand))
        spots = sorted(state.openings.items())
        for tile in held:
            bit, name = 1 << tile, NAMES[tile]
            moves += [Place([Placement(*cell, name)]) for cell, kinds in spots if kinds & bit]
        return moves

    def legal_steps(self, state: State, chosen: tuple[Any, ...] = ()) -> Sequence[Step]:
        """Return `pass`, `exchange` and tiles; after a tile its squares; after a square `stop` and further tiles."""
        hand = state.hands[state.order[0]]
        if not chosen:
            words = [PASS, EXCHANGE] if len(hand) <= len(state.pile) else [PASS]
            return [*words, *_fitting(hand, state.openings.values())]
        placed = read_steps(chosen)
        spots = _in_line(state, placed) if placed else state.openings
        if len(chosen) % 2:
            bit = 1 << BY_NAME[chosen[-1]]
            return [cell for cell, kinds in spots.items() if kinds & bit]
        rest = list(hand)
        for tile in placed.values():
            rest.remove(tile)
        return [STOP, *_fitting(rest, spots.values())]

    def move_of(self, chosen: tuple[Any, ...]) -> Move | None:
        """Return the move if the last step is a word. A placement always ends with `stop`."""
        if chosen and chosen[-1] == STOP:
            pairs = zip(chosen[:-1:2], chosen[1::2], strict=True)
            return Place([Placement(row, column, name) for name, (row, column) in pairs])
        return _MOVES.get(chosen[0]) if chosen else None

    def steps_of(self, move: Move) -> tuple[Step, ...]:
        """Return tile and square by turns, then `stop`; or the one word."""
        if isinstance(move, Place):
            return (*(step for spot in move.tiles for step in (spot.tile, (spot.row, spot.column))), STOP)
        return (PASS,) if isinstance(move, Pass) else (EXCHANGE,)

    def places_of(self, step: Any) -> tuple[str, ...]:
        """Return the square, the tile of the hand, or the word."""
        return (step if isinstance(step, str) else square_name(*step),)

    def check_invariants(self, state: State) -> None:
        """Check the turn order, that dropped seats have no tiles, and that each tile of the map touches another one."""
        assert len(set(state.order)) == len(state.order) <= len(state.hands) == len(state.scores)
        assert all(not hand for seat, hand in enumerate(state.hands) if seat not in state.order)
        assert 0 <= state.to_go <= len(state.order)
        # The openings were updated after each play. Here they are computed again from the whole map.
        assert state.openings == tiles.openings(state.board)
        assert len(state.board) == 1 or all(tiles.neighbour_count(state.board, cell) for cell in state.board)

    def describe(self, play: Mapping[str, Any]) -> str:
        """Return a play in words."""
        return describe(play)

    def draw_text(self, state: State, eyes: Collection[int] | None = None) -> str:
        """Return the map and every seat's hand, for a terminal."""
        return draw_text(state, self.outcome(state), eyes)

    def draw_svg(self, state: State, eyes: Collection[int] | None = None, chosen: tuple[Any, ...] | None = None) -> str:
        """Return the map and the hands as an SVG document, with marks on the tiles of the last turn.

        If a person is choosing a move, the chosen tiles are shown on the map, and are marked instead.
        """
        return draw_svg(state, self.outcome(state), eyes, None if chosen is None else read_steps(chosen))


def _end_turn(state: State, **changes: Any) -> State:
    """Return the state after a turn: the mover goes to the end of the turn order, with other changes of its move."""
    seat = state.order[0]
    changes.setdefault("order", (*state.order[1:], seat))
    return replace(state, to_go=state.to_go - 1, mover=seat, **changes)


def _without(hand: tuple[Tile, ...], placed: list[tuple[Cell, Tile]]) -> tuple[Tile, ...]:
    """Return a hand without the placed tiles, in the same order."""
    if not placed:
        raise IllegalMove("q.place.some", "the placement lays no tile")
    rest = list(hand)
    try:
        for _, tile in placed:
            rest.remove(tile)
    except ValueError:
        missing = Counter(tile for _, tile in placed) - Counter(hand)
        named = ", ".join(f"{count} x {NAMES[tile]}" for tile, count in sorted(missing.items()))
        raise IllegalMove("q.place.owned", f"not in hand: {named}") from None
    return tuple(rest)


def _lay_tiles(board: Board, placed: list[tuple[Cell, Tile]]) -> Board:
    """Place tiles one after the other, and check each against the map with the earlier ones; return the new map."""
    if not tiles.in_line([cell for cell, _ in placed]):
        raise IllegalMove("q.place.line", f"{len(placed)} tiles lie neither in one row nor in one column")
    # A tile may touch tiles that were laid before it in the same turn, and then has to fit them.
    extended = dict(board)
    for cell, tile in placed:
        broken = _broken_rule(extended, cell, tile)
        if broken is not None:
            rule_id, detail = broken
            raise IllegalMove(rule_id, f"{NAMES[tile]} on row {cell[0]}, column {cell[1]} {detail}")
        extended[cell] = tile
    return extended


def _broken_rule(board: Board, cell: Cell, tile: Tile) -> tuple[str, str] | None:
    """Return the id of the rule that a tile on a cell would break, with a description; None if it is legal."""
    if cell in board:
        return "q.place.free", f"lies on {NAMES[board[cell]]}"
    if not tiles.touches(board, cell):
        return "q.place.adjacent", "touches no tile"
    axis = tiles.misfit(board, cell, tile)
    if axis is not None:
        return f"q.fit.{axis}", f"disagrees with its neighbours in the {axis}"
    return None


def _begin_round_if_over(state: State) -> State:
    """Begin a new round if the last one is over and had a legal placement; otherwise return the same state."""
    if state.to_go > 0 or not state.placed or not state.order or state.finished:
        return state
    return replace(state, to_go=len(state.order), placed=False)


def read_steps(chosen: tuple[Any, ...]) -> dict[Cell, Tile]:
    """Return the tiles that some steps place, by cell."""
    return {cell: BY_NAME[name] for name, cell in zip(chosen[::2], chosen[1::2], strict=False)}


def _fitting(hand: Iterable[Tile], spots: Iterable[int]) -> list[str]:
    """Return the names of the tiles that fit on at least one of some spots, in tile order."""
    held = sorted(set(hand))
    wanted, fitting = sum(1 << tile for tile in held), 0
    for kinds in spots:
        fitting |= kinds & wanted
        if fitting == wanted:
            break
    return [NAMES[tile] for tile in held if fitting >> tile & 1]


def _in_line(state: State, placed: Mapping[Cell, Tile]) -> dict[Cell, int]:
    """Return the free cells in line with the placed tiles where a tile fits -> the kinds that fit, as bits."""
    rows, columns = {row for row, _ in placed}, {column for _, column in placed}
    only_row = next(iter(rows)) if len(rows) == 1 else None
    only_column = next(iter(columns)) if len(columns) == 1 else None
    spots = {
        cell: kinds
        for cell, kinds in state.openings.items()
        if (cell[0] == only_row or cell[1] == only_column) and cell not in placed
    }
    for row, column in placed:
        for down, right in NEIGHBOURS:
            cell = row + down, column + right
            is_in_line = cell[0] == only_row or cell[1] == only_column
            if is_in_line and cell not in placed and cell not in state.board:
                spots[cell] = _fitting_kinds(state.board, placed, cell)
    return spots


def _fitting_kinds(board: Board, placed: Mapping[Cell, Tile], cell: Cell) -> int:
    """Return the kinds that fit on a cell, given tiles that are not on the map yet."""
    row, column = cell
    left, right, above, below = (
        placed.get(side, board.get(side, KINDS))
        for side in ((row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column))
    )
    return BETWEEN[left][right] & BETWEEN[above][below]
