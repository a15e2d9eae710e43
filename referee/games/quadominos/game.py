"""Quad-Ominos: views, and which moves are legal. The consequences of a legal move are in rounds.py.

Source: the article "Quad-Ominos" of Wikipedia (2010) on the game by Pressman (1978). rules.toml lists every rule, and
says where the article is silent.
"""

# A move is one tile or one choice: a seat that earns a bonus is asked again, with its last tile on the table. A step of
# a move is a word (`points`, `done`), a square, `(row, column)`, or the numbers of a tile in the rotation in which it
# is laid. The referee draws and skips by itself: a seat is asked only if it can lay a tile.

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ...chance import Dealer
from ..base import BadSetup, Game, IllegalMove, News, Outcome, Shuffle, Step, rank_seats, replace_at, rules_beside
from ..drawing import square_name
from . import rounds, tiles
from .drawing import describe, draw_svg, draw_text
from .forms import Done, Lay, Move, Points, Position, View, read_table, read_tiles
from .rounds import MIDDLE, PENALTY, Options, State, Task
from .tiles import BY_NAME, FACE_BY_NAME, FACES, IS_QUAD, TILE_OF, TILES, Cell, Face, LaidTiles, Tile

FIXED_DEALS = Dealer(bytes(32))
"""The deals of the later rounds of a given position: always the same, because a position has no seed."""
_MOVES: dict[Step, Move] = {"points": Points(), "done": Done()}
_WORDS: dict[str, list[Step]] = {"bonus": ["points"], "extra": ["done"]}
"""Task -> words that are legal moves."""


class QuadOminos(Game[State, View, Move]):
    """The rules of Quad-Ominos."""

    name = "quadominos"
    title = "Quad-Ominos"
    is_ranked_by_scores = True
    seats = range(2, 13)
    options_type = Options
    view_type = View
    move_type = Move
    position_type = Position
    rules = rules_beside(__file__)

    def new(self, options: Options, seats: int, shuffle: Shuffle) -> State:
        """Deal the first round from the shuffled tiles, seat 0 first, and open it."""
        none = (0,) * seats
        return rounds.deal(State(options, shuffle, none, tuple(range(seats)), ((),) * seats, none, none))

    def restore(self, options: Options, position: Any) -> State:
        """Return the state of a Position that is given as plain data; the referee draws first if no tile fits."""
        given = self.parse_position(position)
        table, well = read_table(given.board), read_tiles(given.well)
        hands = tuple(read_tiles(player.hand) for player in given.players)
        used = _all_tiles(table, well, *hands)
        if len(set(used)) != len(used):
            raise BadSetup("not a position of quadominos: it has a tile twice")
        scores = tuple(player.score for player in given.players)
        order, none = tuple(range(len(hands))), (0,) * len(hands)
        state = State(options, FIXED_DEALS, scores, order, hands, none, none, well=well, table=table, round=1)
        return rounds.start_turn(state, order) if table.board else rounds.open_round(state)

    def imagine(self, options: Options, view: View, shuffle: Shuffle) -> State:
        """Deal the tiles that the view does not show to the other hands and the well.

        If another seat is to move, it gets tiles with which it can move.
        """
        table, own_hand = read_table(view.board), read_tiles(view.hand)
        visible_tiles = set(_all_tiles(table, own_hand))
        unseen = shuffle([tile for tile in range(len(TILES)) if tile not in visible_tiles])
        others = [seat for seat in view.order if seat != view.seat]
        if view.order[0] != view.seat:
            needed = _find_tiles_for(view.step, table, unseen)
            unseen = [*needed, *(tile for tile in unseen if tile not in needed)]
        elif view.step == "open":  # nobody else holds a higher quad, so higher quads are dealt last: to the well
            highest = rounds.opening_quads(own_hand)[0]
            unseen.sort(key=lambda tile: IS_QUAD[tile] and tile > highest)
        hands: list[tuple[Tile, ...]] = [()] * len(view.scores)
        for seat in others:
            hands[seat], unseen = tuple(unseen[: view.hand_sizes[seat]]), unseen[view.hand_sizes[seat] :]
        hands[view.seat] = own_hand
        return State(
            options,
            shuffle,
            tuple(view.scores),
            tuple(view.order),
            tuple(hands),
            tuple(view.drew),
            tuple(view.skipped),
            well=tuple(unseen[: view.well]),
            table=table,
            round=view.round,
            step=view.step,
            additional=view.additional,
            bonuses=view.bonuses,
            passes=view.passes,
        )

    def seat_count(self, state: State) -> int:
        """Count the hands, empty ones too."""
        return len(state.hands)

    def to_move(self, state: State) -> int:
        """Return the first seat of the turn order."""
        return state.order[0]

    def is_same_turn(self, state: State) -> bool:
        """Return whether the seat to move has already made a move in this turn."""
        return state.continues

    def view(self, state: State, seat: int) -> View:
        """Return the seat's own hand and everything that is public."""
        hand = [TILES[tile] for tile in state.hands[seat]]
        return View(
            seat=seat,
            hand=hand,
            step=state.step,
            additional=state.additional,
            bonuses=state.bonuses,
            board=_board(state),
            order=list(state.order),
            scores=list(state.scores),
            hand_sizes=[len(other) for other in state.hands],
            well=len(state.well),
            round=state.round,
            drawn=hand[len(hand) - state.drew[seat] :],
            drew=list(state.drew),
            skipped=list(state.skipped),
            lost=[PENALTY * (drew + skipped) for drew, skipped in zip(state.drew, state.skipped, strict=True)],
            passes=state.passes,
        )

    def play(self, state: State, move: Move) -> State:
        """Play a move of the first seat of the turn order, and draw and skip for the seats after it."""
        if isinstance(move, Lay):
            face = _judge_lay(state, move)
            playing = _begin_play(state)
            if state.step == "open":
                return rounds.lay_opening(playing, TILE_OF[face])
            return rounds.lay(playing, (move.row, move.column), face)
        _judge_choice(state, move)
        return rounds.take_points(_begin_play(state)) if isinstance(move, Points) else rounds.stop(_begin_play(state))

    def news(self, state: State) -> News:
        """Return the events of the play, with the referee's draws and skips; later views show the drawn tiles."""
        return News({"seat": state.mover, "score": state.scores[state.mover], "events": list(state.events)}, None)

    def deliver(self, state: State) -> State:
        """Clear the events; a play gives its player nothing that would have to be delivered."""
        return replace(state, events=())

    def drop(self, state: State, seat: int) -> State:
        """Put the seat's tiles at the well's end; if the seat was to move, the next seat's turn begins."""
        return rounds.drop(state, seat)

    def outcome(self, state: State) -> Outcome | None:
        """Return the ranking by points once the game is over."""
        if not state.ended:
            return None
        return Outcome(rank_seats(state.scores, state.order), state.scores, state.order, state.ended)

    def legal_moves(self, state: State) -> list[Move]:
        """Return all legal moves; a tile that looks the same in several rotations is listed once."""
        hand, table = state.hands[state.order[0]], state.table
        if state.step == "open":
            return [Lay(*MIDDLE, TILES[tile]) for tile in rounds.opening_quads(hand)]
        if state.step == "bonus":
            return [Points(), *_lays(tiles.firsts_of_two(table, hand))]
        lays = _lays(tiles.lays(table, tiles.all_faces(hand)))
        return [Done(), *lays] if state.step == "extra" else [*lays]

    def legal_steps(self, state: State, chosen: tuple[Any, ...] = ()) -> Sequence[Step]:
        """Return the tiles in their legal rotations, and `points` or `done` where legal; after a tile, its squares."""
        hand, table = state.hands[state.order[0]], state.table
        if state.step == "open":
            return [MIDDLE] if chosen else [TILES[tile] for tile in rounds.opening_quads(hand)]
        if chosen:
            face = FACE_BY_NAME[chosen[0]]
            cells = tiles.find_cells(table, face)
            if state.step != "bonus":
                return cells
            held = tiles.all_faces(hand)
            return [cell for cell in cells if tiles.can_follow(table, held, cell, face)]
        if state.step == "bonus":
            faces = sorted({face for _, face in tiles.firsts_of_two(table, hand)})
        else:
            faces = tiles.each_face(table.wanted() & tiles.all_faces(hand))
        return [*_WORDS.get(state.step, ()), *map(FACES.__getitem__, faces)]

    def move_of(self, chosen: tuple[Any, ...]) -> Move | None:
        """Return the move of a word, or of a tile with its square; None if the steps are no whole move."""
        if len(chosen) == 2:
            tile, (row, column) = chosen
            return Lay(row, column, tile)
        return _MOVES.get(chosen[0]) if chosen else None

    def steps_of(self, move: Move) -> tuple[Step, ...]:
        """Return the tile and its square, or the word."""
        if isinstance(move, Lay):
            return move.tile, (move.row, move.column)
        return ("points",) if isinstance(move, Points) else ("done",)

    def check_invariants(self, state: State) -> None:
        """Check that each tile is in one place, corners agree, dropped seats hold nothing, and a move is legal."""
        seats = range(len(state.scores))
        used = _all_tiles(state.table, state.well, *state.hands)
        assert len(set(used)) == len(used), "a tile is twice in the game"
        assert len(set(state.order)) == len(state.order), "a seat has two turns"
        dropped = [seat for seat in seats if seat not in state.order]
        assert not any(state.hands[seat] or state.scores[seat] for seat in dropped), (
            "a dropped seat has tiles or points"
        )
        assert all(0 <= state.drew[seat] <= len(state.hands[seat]) for seat in seats), "more drawn than held"
        assert tiles.corners_agree(state.table.board), "two numbers at one corner"
        assert state.table == tiles.lay_all(state.table.board), "the free cells around the tiles are wrong"
        if not state.ended:
            assert all(state.hands[seat] for seat in state.order), "a hand is empty, but the round goes on"
            first, quads = state.hands[state.order[0]], [t for hand in state.hands for t in hand if IS_QUAD[t]]
            assert state.step != "open" or max(quads) in first, "the seat that is to open lacks the highest quad"
            assert self.legal_moves(state), "nothing is legal"

    def places_of(self, step: Any) -> tuple[str, ...]:
        """Return the tile as it is printed and its rotation; for other steps, the square or the word."""
        if not isinstance(step, str):
            return (square_name(*step),)
        if step not in FACE_BY_NAME:
            return (step,)
        return TILES[TILE_OF[FACE_BY_NAME[step]]], f"{step[:2]} over {step[:1:-1]}"

    def describe(self, play: Mapping[str, Any]) -> str:
        """Return a move, or an event of a play, in words."""
        return describe(play)

    def draw_text(self, state: State, eyes: Collection[int] | None = None) -> str:
        """Return the table and every seat's hand, for a terminal."""
        return draw_text(state, self.outcome(state), eyes)

    def draw_svg(self, state: State, eyes: Collection[int] | None = None, chosen: tuple[Any, ...] | None = None) -> str:
        """Return the table and the hands as an SVG document, with the tiles of the last turn marked.

        If a tile and its square are chosen, the tile lies there, and is marked instead of those of the last turn.
        """
        return draw_svg(state, self.outcome(state), eyes, chosen)


def _board(state: State) -> tuple[tuple[int, int, str], ...]:
    return tuple([(row, column, FACES[face]) for (row, column), face in state.table.board.items()])


def _all_tiles(table: LaidTiles, *groups: Sequence[Tile]) -> list[Tile]:
    """Return every tile of the table and of some hands or the well."""
    return [*(TILE_OF[face] for face in table.board.values()), *(tile for group in groups for tile in group)]


def _lays(placements: Iterable[tuple[Cell, Face]]) -> list[Lay]:
    return [Lay(row, column, FACES[face]) for (row, column), face in placements]


def _begin_play(state: State) -> State:
    """Return the state in which the seat to move begins its play: its draws and skipped turns count from 0 again."""
    seat = state.order[0]
    drew, skipped = replace_at(state.drew, seat, 0), replace_at(state.skipped, seat, 0)
    return replace(state, continues=True, mover=seat, drew=drew, skipped=skipped)


def _judge_choice(state: State, move: Points | Done) -> None:
    """Refuse `points` or `done` where it is not a legal choice."""
    word, step = "points" if isinstance(move, Points) else "done", state.step
    if (word, step) in (("points", "bonus"), ("done", "extra")):
        return
    if step == "second":
        raise IllegalMove("quadominos.bonus.two", f"{word}, while the second additional tile is due")
    if step == "bonus":
        raise IllegalMove("quadominos.bonus.choice", "done, while 25 points or two additional tiles are to be chosen")
    if word == "points":
        raise IllegalMove("quadominos.bonus.choice", "points, while no bonus is due")
    raise IllegalMove("quadominos.turn.lay", "done, while a tile is due and can be laid")


def _judge_lay(state: State, move: Lay) -> Face:
    """Return the face that a move lays; refuse an illegal move."""
    face, cell, table = _owned_face(state, move.tile), (move.row, move.column), state.table
    if state.step == "open":
        _judge_opening(state, cell, TILE_OF[face])
        return face
    where = f"{move.tile} on row {move.row}, column {move.column}"
    if cell in table.board:
        raise IllegalMove("quadominos.lay.free", f"{where} lies on {FACES[table.board[cell]]}")
    if not tiles.touches(table, cell):
        raise IllegalMove("quadominos.lay.side", f"{where} touches no side of a tile")
    if not tiles.fits(table, cell, face):
        raise IllegalMove("quadominos.lay.match", f"{where}: {tiles.clashes(table, cell, face)}")
    if state.step == "bonus" and not tiles.can_follow(table, tiles.all_faces(state.hands[state.order[0]]), cell, face):
        raise IllegalMove("quadominos.bonus.two", f"after {where}, no second additional tile can be laid")
    return face


def _owned_face(state: State, name: str) -> Face:
    printed = "".join(sorted(name))
    tile = BY_NAME.get(printed)
    if tile is None or tile not in state.hands[state.order[0]]:
        raise IllegalMove("quadominos.lay.owned", f"not in hand: {printed}")
    # A tile with these numbers is in hand, but in an order that no rotation gives, such as a mirror image.
    face = FACE_BY_NAME.get(name)
    if face is None:
        raise IllegalMove("quadominos.tile.turned", f"{name} is no rotation of {printed}")
    return face


def _judge_opening(state: State, cell: Cell, tile: Tile) -> None:
    quads = rounds.opening_quads(state.hands[state.order[0]])
    if tile not in quads:
        due = " or ".join(TILES[quad] for quad in quads)
        raise IllegalMove("quadominos.open.highest", f"{TILES[tile]}, while {due} is to open the round")
    if cell != MIDDLE:
        raise IllegalMove("quadominos.open.middle", f"row {cell[0]}, column {cell[1]}")


def _find_tiles_for(step: Task, table: LaidTiles, unseen: Sequence[Tile]) -> Sequence[Tile]:
    """Return some of the unseen tiles such that a seat that holds them has a legal move in its step."""
    if step == "open":
        return rounds.opening_quads(unseen)[:1]
    if step != "bonus":
        return (next(tile for tile in unseen if tiles.can_lay(table, (tile,))),)
    cell, face = next(tiles.firsts_of_two(table, unseen))
    after, first = tiles.lay(table, cell, face), TILE_OF[face]
    second = next(tile for tile in unseen if tile != first and tiles.can_lay(after, (tile,)))
    return first, second
