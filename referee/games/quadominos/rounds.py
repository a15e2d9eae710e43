"""Rounds and turns of Quad-Ominos: the consequences of a legal tile or choice."""

# This module does everything that the referee does for the players: it deals, opens rounds without a quad, draws,
# skips, adds points, and deals again. So while the game goes on, the seat to move always has a legal move.

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from ..base import Shuffle, replace_at
from . import tiles
from .tiles import EMPTY, IS_QUAD, QUAD_ZERO, TOTALS, Cell, Face, Faces, LaidTiles, Tile

BONUS_POINTS = 25
PENALTY = 20
"""Points lost for each tile drawn, and for a turn that is skipped."""
MIDDLE: Cell = (0, 0)
_HAND_SIZES = {2: 30, 3: 20, 4: 15, 5: 12}
_LEAST_HAND = 10

Task = Literal["open", "lay", "bonus", "second", "extra"]
"""Task of the seat to move; View.step says what each word means."""
Event = dict[str, Any]
"""A public event, as plain data."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options that an organiser may set."""

    target: Annotated[int, Meta(ge=1, le=1_000_000)] = 800
    """The game ends after the first round that leaves a player with this many points or more; 1 to 1,000,000."""
    rounds: Annotated[int, Meta(ge=1, le=1000)] | None = None
    """The game ends after this many rounds, 1 to 1000, whatever the points. If it is null, `target` ends the game."""
    max_rounds: Annotated[int, Meta(ge=1, le=1000)] = 100
    """A game that `target` ends has this many rounds at most, 1 to 1000. Players who lose more points than they gain
    would never reach the target."""
    chain_bonus: bool = False
    """True if an additional tile that meets three or four corners earns a bonus, too. It is chosen once both additional
    tiles are laid."""


class State(Struct, frozen=True):
    """One moment of a game."""

    options: Options
    shuffle: Shuffle
    """The shuffle of the first round; each later round takes a later deal of the same shuffle."""
    scores: tuple[int, ...]
    """Points by seat; 0 for a dropped seat."""
    order: tuple[int, ...]
    """Seats still in the game, the one to move first."""
    hands: tuple[tuple[Tile, ...], ...]
    """Hands by seat, the newest tile last; empty for a dropped seat."""
    drew: tuple[int, ...]
    """By seat, the number of tiles that were drawn for it since its last move; they are the last ones of its hand."""
    skipped: tuple[int, ...]
    """By seat, the number of its turns that were skipped since its last move."""
    well: tuple[Tile, ...] = ()
    """Tiles left to draw, the next one first."""
    table: LaidTiles = EMPTY
    round: int = 0
    """Number of the round, 1 for the first."""
    step: Task = "lay"
    additional: int = 0
    """Number of additional tiles that may still be laid."""
    bonuses: int = 0
    """Number of choices between points and two additional tiles that the seat to move still has to make."""
    passes: int = 0
    """Number of turns in a row that were skipped."""
    continues: bool = False
    """True if the seat to move has made a move in this turn."""
    mover: int = -1
    """The seat that made the last play."""
    fresh: tuple[Cell, ...] = ()
    """Cells of the tiles that were laid in the last turn in which any were laid."""
    ended: str = ""
    """Id of the rule that ended the game; empty while the game goes on."""
    events: tuple[Event, ...] = ()
    """Events since the last news."""

    def __hash__(self) -> int:
        """Return a hash; fields in which few states differ are left out."""
        return hash((*self.table.board.items(), self.well, self.hands, self.scores, self.order, self.round, self.step))


def hand_size(players: int) -> int:
    """Return the number of tiles that each player is dealt."""
    return _HAND_SIZES.get(players, _LEAST_HAND)


# --- rounds


def deal(state: State) -> State:
    """Deal the next round to every seat in the game, the lowest first, and open it; the rest is the well."""
    number, order = state.round + 1, sorted(state.order)
    # Each round has a deal of its own, made from the match's seed, so that every round can be audited.
    shuffle = state.shuffle.later(number - 1) if number > 1 else state.shuffle
    deck = tuple(shuffle(range(len(tiles.TILES))))
    size = hand_size(len(order))
    hands: list[tuple[Tile, ...]] = [()] * len(state.scores)
    for index, seat in enumerate(order):
        hands[seat] = deck[index * size : (index + 1) * size]
    none = (0,) * len(hands)
    event = {"event": "dealt", "round": number, "tiles": size}
    return open_round(
        replace(
            state,
            round=number,
            hands=tuple(hands),
            well=deck[len(order) * size :],
            passes=0,
            drew=none,
            skipped=none,
            events=(*state.events, event),
        )
    )


def open_round(state: State) -> State:
    """Ask the seat with the highest quad to open the round; if nobody has a quad, lay the tile of the highest total.

    A seat with a quad is asked even if it has no choice: otherwise the other seats would learn whether it also holds
    the quad-zero.

    Source: Quad-Ominos, Gameplay, second paragraph. If totals are equal, the tile opens whose four digits make the
    greater number.
    """
    held = [(IS_QUAD[tile], TOTALS[tile], tile, seat) for seat in state.order for tile in state.hands[seat]]
    is_quad, _, tile, seat = max(held)
    order = sorted(state.order)
    first = order.index(seat)
    state = replace(
        state,
        order=(*order[first:], *order[:first]),
        table=EMPTY,
        step="open",
        additional=0,
        bonuses=0,
        continues=False,
        fresh=(),
    )
    return state if is_quad else lay_opening(state, tile)


def opening_quads(hand: Iterable[Tile]) -> list[Tile]:
    """Return the quads with which a hand may open: its highest one, and the quad-zero if the hand has it.

    Args:
        hand: a hand with at least one quad.
    """
    quads = [tile for tile in hand if IS_QUAD[tile]]
    highest = max(quads)
    return [highest, QUAD_ZERO] if QUAD_ZERO in quads and highest != QUAD_ZERO else [highest]


def lay_opening(state: State, tile: Tile) -> State:
    """Lay the first tile of a round.

    Args:
        state: a state with an empty table.
        tile: a tile of the hand of the seat to move.
    """
    after = _lay(state, MIDDLE, tiles.FACE_BY_NAME[tiles.TILES[tile]])
    if tile == QUAD_ZERO:
        after = replace(_pay(after, 1), step="extra", additional=2)
    elif IS_QUAD[tile]:
        after = replace(after, bonuses=1)
    return _go_on(after)


def _win_round(state: State) -> State:
    """End a round in which the mover has laid its last tile: it gets the points of all tiles in the other hands."""
    seat = state.order[0]
    points = sum(TOTALS[tile] for other in state.order for tile in state.hands[other])
    scores = replace_at(state.scores, seat, state.scores[seat] + points)
    event = {"event": "went-out", "seat": seat, "points": points}
    return _end_round(replace(state, scores=scores, events=(*state.events, event)))


def _end_round(state: State) -> State:
    """End the game if it is time, else deal again."""
    options, ended = state.options, ""
    if options.rounds is not None:
        ended = "quadominos.end.rounds" if state.round == options.rounds else ""
    elif any(state.scores[seat] >= options.target for seat in state.order):
        ended = "quadominos.end.target"
    elif state.round == options.max_rounds:
        ended = "quadominos.end.cap"
    if ended:
        return replace(state, ended=ended, bonuses=0, additional=0)
    return deal(state)


# --- turns


def lay(state: State, cell: Cell, face: Face) -> State:
    """Lay one tile in a turn, with all its consequences."""
    step, options = state.step, state.options
    earns = tiles.count_corners(state.table, cell) >= 3 and (step == "lay" or options.chain_bonus)
    after = _lay(state, cell, face)
    changes: dict[str, Any] = {}
    if step == "bonus":
        changes = {"step": "second", "additional": 1, "bonuses": state.bonuses - 1 + earns}
    elif step != "lay":
        changes = {"additional": state.additional - 1, "bonuses": state.bonuses + earns}
    elif earns:
        changes = {"bonuses": 1}
    return _go_on(replace(after, **changes) if changes else after)


def take_points(state: State) -> State:
    """Take points for one bonus."""
    return _go_on(replace(_pay(state, 1), bonuses=state.bonuses - 1, additional=0))


def stop(state: State) -> State:
    """Lay no more additional tiles."""
    return _go_on(replace(state, additional=0))


def _lay(state: State, cell: Cell, face: Face) -> State:
    seat, tile = state.order[0], tiles.TILE_OF[face]
    points, hand = TOTALS[tile], state.hands[seat]
    at = hand.index(tile)
    where = {
        "row": cell[0],
        "column": cell[1],
        "tile": tiles.FACES[face],
        "met": tiles.count_corners(state.table, cell),
    }
    event = {"event": "laid", "seat": seat, "points": points, **where}
    return replace(
        state,
        table=tiles.lay(state.table, cell, face),
        hands=replace_at(state.hands, seat, hand[:at] + hand[at + 1 :]),
        scores=replace_at(state.scores, seat, state.scores[seat] + points),
        passes=0,
        fresh=(cell,) if state.step in ("open", "lay") else (*state.fresh, cell),
        events=(*state.events, event),
    )


def _pay(state: State, bonuses: int) -> State:
    """Add the points of some bonuses to the score of the seat to move."""
    seat, points = state.order[0], bonuses * BONUS_POINTS
    event = {"event": "bonus", "seat": seat, "points": points}
    scores = replace_at(state.scores, seat, state.scores[seat] + points)
    return replace(state, scores=scores, events=(*state.events, event))


def _go_on(state: State) -> State:
    """Ask the same seat again if it may lay more tiles or has a bonus to choose; else end its turn, or the round."""
    seat = state.order[0]
    hand = state.hands[seat]
    if state.additional and tiles.can_lay(state.table, hand):
        return state
    if state.bonuses:
        # Two additional tiles are offered only if both can be laid; otherwise the points are the only choice.
        if next(tiles.firsts_of_two(state.table, hand), None) is not None:
            return replace(state, step="bonus", additional=2)
        state = _pay(state, state.bonuses)
    if not hand:
        return _win_round(state)
    return start_turn(state, (*state.order[1:], seat))


def start_turn(state: State, order: tuple[int, ...]) -> State:
    """Begin the turn of the first seat that can lay a tile; draw for the seats until one can.

    Args:
        state: a state after a turn.
        order: the turn order, from the seat whose turn is next.

    Returns:
        The state in which a seat is to move. If every seat was skipped, the next round has begun, or the game is over.
    """
    state = replace(state, order=order, step="lay", additional=0, bonuses=0, continues=False)
    # The table does not change while seats draw and are skipped, so the faces that fit are computed once.
    wanted = state.table.wanted()
    while not wanted & tiles.all_faces(state.hands[state.order[0]]):
        if state.well:
            state = _draw(state, wanted)
            continue
        state = _skip(state)
        if state.passes >= len(state.order):
            return _end_round(replace(state, events=(*state.events, {"event": "blocked"})))
    return state


def _draw(state: State, wanted: Faces) -> State:
    """Draw from the well until one of the wanted faces is drawn or the well is empty."""
    seat, well = state.order[0], state.well
    # All tiles are drawn in one step. After single draws there would be states in which nobody has anything to decide.
    fitting = (at for at, tile in enumerate(well, 1) if wanted & tiles.all_faces((tile,)))
    count = next(fitting, len(well))
    event = {"event": "drew", "seat": seat, "tiles": count, "lost": count * PENALTY}
    return replace(
        state,
        hands=replace_at(state.hands, seat, state.hands[seat] + well[:count]),
        well=well[count:],
        scores=replace_at(state.scores, seat, state.scores[seat] - count * PENALTY),
        drew=replace_at(state.drew, seat, state.drew[seat] + count),
        events=(*state.events, event),
    )


def _skip(state: State) -> State:
    """Skip the turn of a seat that can't lay a tile while the well is empty."""
    seat = state.order[0]
    return replace(
        state,
        order=(*state.order[1:], seat),
        scores=replace_at(state.scores, seat, state.scores[seat] - PENALTY),
        skipped=replace_at(state.skipped, seat, state.skipped[seat] + 1),
        passes=state.passes + 1,
        events=(*state.events, {"event": "skipped", "seat": seat, "lost": PENALTY}),
    )


# --- expulsion


def drop(state: State, seat: int) -> State:
    """Take a seat out of the game: its tiles go to the well's end, the next seat moves, and its score is 0."""
    was_to_move = state.order[0] == seat
    after = replace(
        state,
        order=tuple(other for other in state.order if other != seat),
        # The tiles are put at the end of the well, not shuffled into it: chance enters a game only at the start of a
        # round. The other seats can't know these tiles in either case.
        well=state.well + state.hands[seat],
        hands=replace_at(state.hands, seat, ()),
        scores=replace_at(state.scores, seat, 0),
        drew=replace_at(state.drew, seat, 0),
        skipped=replace_at(state.skipped, seat, 0),
    )
    if after.ended:
        return after
    if len(after.order) < 2:
        return replace(after, ended="quadominos.end.last")
    if not was_to_move:
        return after
    # The next seat moves. If the dropped seat was to open a round, the seat that now has the highest quad opens it.
    return open_round(after) if after.step == "open" else start_turn(after, after.order)
