"""A second implementation of Quincala Mixing, written only from the source and its rulings, without the engine.

Source: Short Rules for Quincala Game 1 - Quincala Mixing (02/06/2010). A piece is its name, `w3` or `b1`; a dot is
(row, column), rows and columns 1 to 11; a board is a dict from a dot to the set of pieces on it, with no empty sets.
Moves are plain: `("place", piece, dot)`, `("leg", start, end)`, `("stop",)`.
"""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

Dot = tuple[int, int]
Move = tuple[Any, ...]

COLOURS = "wb"
LAST = 11
MAX_LEGS = 100
TOWER_COLUMNS = {3: (4, 6, 8), 4: (3, 5, 7, 9), 5: (2, 4, 6, 8, 10)}
DIRECTIONS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)]


@dataclass
class Position:
    """Everything on which the rest of the game depends."""

    sizes: int
    max_turns: int
    board: dict[Dot, set[str]]
    hands: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    seat: int = 0
    turns: int = 0
    """Number of turns that are over, skipped ones too."""
    skips: int = 0
    """Number of turns skipped in a row, up to now."""
    immune: set[tuple[Dot, str]] = field(default_factory=set)
    """Pieces that may not be knocked in this turn."""
    knockers: set[tuple[Dot, str]] = field(default_factory=set)
    """Pieces that have knocked the other colour in this turn, at their present places."""
    legs: int = 0
    """Number of legs made in this turn."""
    here: Dot | None = None
    """Dot on which the last leg of this turn ended."""
    end: str | None = None
    """Reason for which the game is over: aim, both, cap or skips."""
    winner: int | None = None


def start(sizes: int, max_turns: int) -> Position:
    """Return the starting position of the reconstructed board."""
    board: dict[Dot, set[str]] = {}
    for colour, row in (("w", 2), ("b", 10)):
        for column in TOWER_COLUMNS[sizes]:
            board[row, column] = {f"{colour}{size}" for size in range(1, sizes + 1)}
    return Position(sizes, max_turns, board)


def size_of(piece: str) -> int:
    """Return a piece's size."""
    return int(piece[1])


def is_dot(dot: Dot) -> bool:
    """Return whether a dot lies in the playing area."""
    return 1 <= dot[0] <= LAST and 1 <= dot[1] <= LAST


def placing_dots(seat: int) -> list[Dot]:
    """Return the 40 dots of a player's two placing areas."""
    rows = (1, 2, 3, 4) if seat == 0 else (8, 9, 10, 11)
    return [(row, column) for row in rows for column in range(1, LAST + 1) if column != 6]


def free_placing_dots(position: Position) -> list[Dot]:
    """Return where the player to move may place."""
    return [dot for dot in placing_dots(position.seat) if dot not in position.board]


def is_placing(position: Position) -> bool:
    """Return whether the player to move has a piece to place and a dot for it."""
    return position.legs == 0 and bool(position.hands[position.seat]) and bool(free_placing_dots(position))


def lifted(position: Position, dot: Dot) -> set[str]:
    """Return the pieces that a leg from a dot would lift; none if no leg may start there."""
    colour = COLOURS[position.seat]
    tower = position.board.get(dot, set())
    own = {piece for piece in tower if piece[0] == colour}
    if position.legs == 0:
        return own if own == tower else set()
    if dot != position.here:
        return set()
    return own - {max(own, key=size_of)}


def leg_ends(position: Position, dot: Dot) -> list[Dot]:
    """Return where a leg from a dot may end."""
    moving = lifted(position, dot)
    ends = []
    for down, right in DIRECTIONS:
        for steps in range(1, len(moving) + 1):
            end = (dot[0] + steps * down, dot[1] + steps * right)
            if not is_dot(end):
                break
            if not any((end, piece) in position.immune for piece in knocked(position, moving, end)):
                ends.append(end)
            if end in position.board:
                break
    return ends


def knocked(position: Position, moving: set[str], end: Dot) -> set[str]:
    """Return the pieces on a dot that arriving ones would knock."""
    arriving = {size_of(piece) for piece in moving}
    return {piece for piece in position.board.get(end, set()) if size_of(piece) in arriving}


def all_legs(position: Position) -> list[Move]:
    """Return every leg that may be made now, even if a piece has yet to be placed."""
    if position.legs >= MAX_LEGS:
        return []
    return [("leg", dot, end) for dot in position.board for end in leg_ends(position, dot)]


def legal(position: Position) -> set[Move]:
    """Return every legal move; none if the game is over."""
    if position.end is not None:
        return set()
    if is_placing(position):
        dots = free_placing_dots(position)
        return {("place", piece, dot) for piece in position.hands[position.seat] for dot in dots}
    moves = set(all_legs(position))
    if position.legs > 0:
        moves.add(("stop",))
    return moves


def after(position: Position, move: Move) -> Position:
    """Return the position after a legal move."""
    new = deepcopy(position)
    new.skips = 0
    if move[0] == "place":
        _, piece, dot = move
        new.hands[new.seat].remove(piece)
        new.board[dot] = {piece}
        if is_placing(new) or all_legs(new):
            return new
    elif move[0] == "leg":
        _, begin, end = move
        make_leg(new, begin, end)
        if all_legs(new):
            return new
    finish_turn(new)
    return new


def make_leg(position: Position, begin: Dot, end: Dot) -> None:
    """Move the lifted pieces, and give the pieces that they knock to the opponent."""
    moving = lifted(position, begin)
    gone = knocked(position, moving, end)
    colour = COLOURS[position.seat]
    enemy_sizes = {size_of(piece) for piece in gone if piece[0] != colour}
    arriving = {piece for piece in moving if (begin, piece) in position.knockers or size_of(piece) in enemy_sizes}
    position.knockers -= {(begin, piece) for piece in moving}
    position.knockers -= {(end, piece) for piece in gone}
    position.knockers |= {(end, piece) for piece in arriving}
    stay = position.board.pop(begin) - moving
    if stay:
        position.board[begin] = stay
    position.board[end] = (position.board.get(end, set()) - gone) | moving
    position.hands[1 - position.seat].extend(gone)
    position.legs += 1
    position.here = end


def mixed_sizes(position: Position, seat: int) -> set[int]:
    """Return the sizes of a player's colour that stand in mixed towers."""
    mixed = [tower for tower in position.board.values() if len({piece[0] for piece in tower}) == 2]
    return {size_of(piece) for tower in mixed for piece in tower if piece[0] == COLOURS[seat]}


def finish_turn(position: Position) -> None:
    """Check the aim, and pass the turn on to a player that can do something."""
    reached = [seat for seat in (0, 1) if len(mixed_sizes(position, seat)) == position.sizes]
    if reached:
        position.end = "both" if len(reached) == 2 else "aim"
        position.winner = 1 - position.seat if len(reached) == 2 else reached[0]
    pass_on(position)
    skip_idle(position)


def skip_idle(position: Position) -> None:
    """Skip players that have nothing to place and no leg to make; the second skip in a row ends the game."""
    while position.end is None and not is_placing(position) and not all_legs(position):
        position.skips += 1
        if position.skips == 2:
            position.end = "skips"
        pass_on(position)


def pass_on(position: Position) -> None:
    """Begin the other player's turn, or end the game after the last turn."""
    position.turns += 1
    position.immune = position.knockers
    position.knockers = set()
    position.legs = 0
    position.here = None
    position.seat = 1 - position.seat
    if position.end is None and position.turns >= position.max_turns:
        position.end = "cap"
