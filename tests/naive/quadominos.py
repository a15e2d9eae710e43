"""A second implementation of Quad-Ominos, written only from its description, without the engine; slow and plain.

A tile is a string of its four numbers, ascending; a tile on the table is a string of the numbers as they lie, clockwise
from the top left. The table is a dict from (row, column) to such a string; rows grow downwards, columns to the right.
A move is a tuple: ("lay", row, column, numbers), ("points",) or ("done",).
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any

Cell = tuple[int, int]
Board = dict[Cell, str]
Move = tuple[Any, ...]
Deck = Callable[[int], list[str]]
"""The shuffled tiles of a round, 1 for the first: the players' hands, then the well."""

TILES = ["".join(four) for four in combinations_with_replacement("012345", 4) if "".join(four) != "0245"]
DEAL = {2: 30, 3: 20, 4: 15, 5: 12}
CORNERS = ((0, 0), (0, 1), (1, 1), (1, 0))
"""The corners of a tile, clockwise from its top left: (row, column) of the lattice of all corners."""


def total(tile: str) -> int:
    """Return the sum of a tile's numbers."""
    return sum(int(number) for number in tile)


def rotations(tile: str) -> set[str]:
    """Return the tile in all its rotations."""
    return {tile[turn:] + tile[:turn] for turn in range(4)}


def corner_numbers(board: Board) -> dict[Cell, str]:
    """Return the number at every corner where a tile lies."""
    numbers = {}
    for (row, column), tile in board.items():
        for (down, right), number in zip(CORNERS, tile, strict=True):
            numbers[row + down, column + right] = number
    return numbers


def free_sides(board: Board) -> set[Cell]:
    """Return the free cells of which a whole side touches a tile."""
    sides = ((1, 0), (-1, 0), (0, 1), (0, -1))
    return {(row + down, column + right) for row, column in board for down, right in sides} - set(board)


def met(board: Board, cell: Cell) -> int:
    """Count the corners of a free cell at which tiles lie."""
    numbers = corner_numbers(board)
    return sum((cell[0] + down, cell[1] + right) in numbers for down, right in CORNERS)


def lays(board: Board, hand: list[str]) -> Iterator[Move]:
    """Yield every way to lay one tile of a hand."""
    numbers = corner_numbers(board)
    for row, column in free_sides(board):
        wanted = [numbers.get((row + down, column + right)) for down, right in CORNERS]
        for tile in hand:
            for turned in rotations(tile):
                if all(want in (None, number) for want, number in zip(wanted, turned, strict=True)):
                    yield "lay", row, column, turned


def can_lay(board: Board, hand: list[str]) -> bool:
    """Return whether any tile of a hand can be laid."""
    return any(True for _ in lays(board, hand))


def after(board: Board, hand: list[str], move: Move) -> tuple[Board, list[str]]:
    """Return table and hand after a lay."""
    _, row, column, turned = move
    return {**board, (row, column): turned}, [tile for tile in hand if tile != "".join(sorted(turned))]


def firsts_of_two(board: Board, hand: list[str]) -> Iterator[Move]:
    """Yield the ways to lay a tile so that a second one can be laid."""
    return (move for move in lays(board, hand) if can_lay(*after(board, hand, move)))


@dataclass
class Table:
    """A game."""

    target: int
    rounds: int | None
    max_rounds: int
    chain_bonus: bool
    deck: Deck
    scores: list[int]
    order: list[int]
    hands: list[list[str]] = field(default_factory=list)
    well: list[str] = field(default_factory=list)
    board: Board = field(default_factory=dict)
    round: int = 0
    step: str = "lay"
    additional: int = 0
    bonuses: int = 0
    passes: int = 0
    ended: str = ""

    # --- rounds

    def next_round(self) -> None:
        """Deal to all players in the game, and open."""
        self.round += 1
        deck = self.deck(self.round)
        self.order.sort()
        self.hands = [[] for _ in self.scores]
        size = DEAL.get(len(self.order), 10)
        for seat in self.order:
            self.hands[seat], deck = deck[:size], deck[size:]
        self.well = deck
        self.passes = 0
        self.open()

    def open(self) -> None:
        """Find who starts: the holder of the highest quad is asked, the highest total is laid for its holder."""
        self.board, self.step, self.additional, self.bonuses = {}, "lay", 0, 0
        held = [(tile, seat) for seat in self.order for tile in self.hands[seat]]
        quads = [(tile, seat) for tile, seat in held if len(set(tile)) == 1]
        tile, seat = max(quads or held, key=lambda pair: (total(pair[0]), pair[0]))
        self.order.sort()
        while self.order[0] != seat:
            self.order.append(self.order.pop(0))
        if quads:
            self.step = "open"
        else:
            self.lay_first(tile)

    def lay_first(self, tile: str) -> None:
        """Lay the first tile of a round."""
        seat = self.order[0]
        self.lay(("lay", 0, 0, tile))
        if tile == "0000":
            self.scores[seat] += 25
            self.step, self.additional = "extra", 2
        elif len(set(tile)) == 1:
            self.bonuses = 1
        self.go_on()

    def lay(self, move: Move) -> None:
        """Lay one tile for its total."""
        seat = self.order[0]
        self.board, self.hands[seat] = after(self.board, self.hands[seat], move)
        self.scores[seat] += total(move[3])
        self.passes = 0
        self.step = "lay"

    def end_round(self) -> None:
        """End a round; then end the game, if it is time, or deal again."""
        if self.rounds is not None:
            if self.round == self.rounds:
                self.ended = "rounds"
        elif any(self.scores[seat] >= self.target for seat in self.order):
            self.ended = "target"
        elif self.round == self.max_rounds:
            self.ended = "cap"
        if not self.ended:
            self.next_round()

    # --- turns

    def go_on(self) -> None:
        """Decide what comes after a tile or a choice."""
        seat = self.order[0]
        hand = self.hands[seat]
        if not hand:
            self.scores[seat] += 25 * self.bonuses
            self.scores[seat] += sum(total(tile) for other in self.order for tile in self.hands[other])
            self.end_round()
        elif self.additional > 0 and can_lay(self.board, hand):
            pass
        elif self.bonuses > 0 and any(True for _ in firsts_of_two(self.board, hand)):
            self.step, self.additional = "bonus", 2
        else:
            self.scores[seat] += 25 * self.bonuses
            self.order.append(self.order.pop(0))
            self.start_turn()

    def start_turn(self) -> None:
        """Draw for the player whose turn it is until a tile can be laid; otherwise skip it."""
        self.step, self.additional, self.bonuses = "lay", 0, 0
        while not self.ended:
            seat = self.order[0]
            while not can_lay(self.board, self.hands[seat]) and self.well:
                self.hands[seat].append(self.well.pop(0))
                self.scores[seat] -= 20
            if can_lay(self.board, self.hands[seat]):
                return
            self.scores[seat] -= 20
            self.passes += 1
            if self.passes >= len(self.order):
                self.end_round()
                return
            self.order.append(self.order.pop(0))

    def legal(self) -> list[Move]:
        """Return the moves of the player whose turn it is."""
        hand = self.hands[self.order[0]]
        if self.step == "open":
            quads = [tile for tile in hand if len(set(tile)) == 1]
            return [("lay", 0, 0, tile) for tile in quads if tile in ("0000", max(quads))]
        if self.step == "bonus":
            return [("points",), *firsts_of_two(self.board, hand)]
        if self.step == "extra":
            return [("done",), *lays(self.board, hand)]
        return list(lays(self.board, hand))

    def play(self, move: Move) -> "Table":
        """Return the game after a move; its earlier state does not change."""
        table = deepcopy(self)
        table.carry_out(move)
        return table

    def carry_out(self, move: Move) -> None:
        """Make a move."""
        seat, step, left = self.order[0], self.step, self.additional
        if step == "open":
            self.lay_first(move[3])
            return
        if move == ("points",):
            self.scores[seat] += 25
            self.bonuses -= 1
            self.step, self.additional = "lay", 0
        elif move == ("done",):
            self.step, self.additional = "lay", 0
        else:
            earns = met(self.board, (move[1], move[2])) >= 3 and (step == "lay" or self.chain_bonus)
            self.lay(move)
            self.additional = max(left - 1, 0)
            if step == "bonus":
                self.bonuses -= 1
                self.step = "second"
            elif step == "extra":
                self.step = "extra"
            self.bonuses += earns
        self.go_on()

    # --- ends

    def drop(self, seat: int) -> "Table":
        """Return the game without a player."""
        table = deepcopy(self)
        was_first = table.order[0] == seat
        table.order.remove(seat)
        table.well += table.hands[seat]
        table.hands[seat] = []
        table.scores[seat] = 0
        if table.ended:
            return table
        if len(table.order) < 2:
            table.ended = "last"
        elif was_first and table.step == "open":
            table.open()
        elif was_first:
            table.start_turn()
        return table

    def ranking(self) -> list[list[int]]:
        """Return the remaining players, best first, equal ones together."""
        levels = sorted({self.scores[seat] for seat in self.order}, reverse=True)
        return [sorted(seat for seat in self.order if self.scores[seat] == level) for level in levels]


def new(seats: int, deck: Deck, **options: Any) -> Table:
    """Return a new game."""
    settings = {"target": 800, "rounds": None, "max_rounds": 100, "chain_bonus": False, **options}
    table = Table(**settings, deck=deck, scores=[0] * seats, order=list(range(seats)))
    table.next_round()
    return table
