"""A second implementation of Quincy, written only from its description, without the engine; slow and plain.

A move is a dict, as a player sends it, its domino either way round. Elsewhere a domino is a tuple, the smaller end
first; a square is (row, column), 1 to 9 each; a team is 0 or 1, and a seat's team is the seat modulo 2.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import product
from typing import Any

Domino = tuple[int, int]
Square = tuple[int, int]
Move = dict[str, Any]

DOMINOES: list[Domino] = [(low, high) for low in range(10) for high in range(low, 10)]
SQUARES: list[Square] = list(product(range(1, 10), range(1, 10)))
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def lines(board: dict[Square, int], team: int) -> list[list[Square]]:
    """Return every longest straight run of 4 or more stones of a team."""
    found = []
    for (row, column), (down, right) in product(SQUARES, DIRECTIONS):
        if board.get((row - down, column - right)) == team:
            continue
        run = [(row, column)] if board.get((row, column)) == team else []
        while run and board.get((run[-1][0] + down, run[-1][1] + right)) == team:
            run.append((run[-1][0] + down, run[-1][1] + right))
        if len(run) >= 4:
            found.append(run)
    return found


def is_named(domino: Domino, square: Square) -> bool:
    """Return whether a domino names a square, whatever lies there."""
    low, high = domino
    if low == high == 0:
        return True
    if low == 0:
        return high in square
    return square in ((low, high), (high, low))


class Table:
    """A game in progress; it changes with every move.

    Args:
        hands: by seat.
        pile: the next domino first.
        board: where stones lie already, and whose team's they are.
    """

    def __init__(
        self, hands: Sequence[Sequence[Domino]], pile: Sequence[Domino], board: dict[Square, int] | None = None
    ) -> None:
        self.hands = [list(hand) for hand in hands]
        self.pile = list(pile)
        self.board = dict(board or {})
        self.face_up: list[Domino] = []
        self.playing = list(range(len(hands)))
        self.turn = 0
        self.winner: int | None = None
        self.is_over = False
        self._skip()

    def copy(self) -> "Table":
        """Return a table that changes on its own."""
        return deepcopy(self)

    def added_to(self, domino: Domino) -> list[Square]:
        """Return where the player to move may add a stone by a domino."""
        return [square for square in SQUARES if is_named(domino, square) and square not in self.board]

    def removed_from(self, domino: Domino) -> list[Square]:
        """Return where the player to move may remove a stone by a domino."""
        if 0 not in domino:
            return []
        other = 1 - self.turn % 2
        kept = {square for line in lines(self.board, other) for square in line}
        return [
            square
            for square in SQUARES
            if is_named(domino, square) and self.board.get(square) == other and square not in kept
        ]

    def is_playable(self, domino: Domino) -> bool:
        """Return whether the player to move could play a domino."""
        return bool(self.added_to(domino) or self.removed_from(domino))

    def moves(self) -> Iterator[Move]:
        """Yield every legal move of the player to move."""
        for domino in self.hands[self.turn]:
            for square in self.added_to(domino):
                yield {"action": "add", "domino": list(domino), "square": list(square)}
            for square in self.removed_from(domino):
                yield {"action": "remove", "domino": list(domino), "square": list(square)}
            if not self.is_playable(domino):
                yield {"action": "discard", "domino": list(domino)}

    def play(self, move: Move) -> None:
        """Play a legal move to its end, with the draw."""
        seat = self.turn
        low, high = sorted(move["domino"])
        self.hands[seat].remove((low, high))
        self.face_up.append((low, high))
        if move["action"] == "add":
            row, column = move["square"]
            self.board[row, column] = seat % 2
        elif move["action"] == "remove":
            row, column = move["square"]
            del self.board[row, column]
        if len(lines(self.board, seat % 2)) >= 2:
            self.winner = seat % 2
            self.is_over = True
            return
        if self.pile:
            self.hands[seat].append(self.pile.pop(0))
        if move["action"] != "discard":
            self.turn = self._after(seat)
        self._skip()

    def leave(self, seat: int) -> None:
        """Remove a player; its dominoes go face down."""
        if seat == self.turn:
            self.turn = self._after(seat)
        self.playing.remove(seat)
        self.hands[seat] = []
        teams = {other % 2 for other in self.playing}
        if len(teams) == 1 and not self.is_over:
            self.winner = teams.pop()
            self.is_over = True
        self._skip()

    def _after(self, seat: int) -> int:
        """Return the next seat after a seat."""
        later = [other for other in self.playing if other > seat]
        return later[0] if later else self.playing[0]

    def _skip(self) -> None:
        """Skip players that can do nothing; their dominoes are discarded. If all are skipped, the game is over."""
        skipped = 0
        while not self.is_over:
            hand = self.hands[self.turn]
            if hand and (self.pile or any(self.is_playable(domino) for domino in hand)):
                return
            self.face_up += hand
            self.hands[self.turn] = []
            self.turn = self._after(self.turn)
            skipped += 1
            self.is_over = skipped == len(self.playing)


def count(table: Table, depth: int) -> int:
    """Return how many sequences of so many moves there are; a game that ends earlier counts once."""
    if table.is_over or depth == 0:
        return 1
    total = 0
    for move in list(table.moves()):
        later = table.copy()
        later.play(move)
        total += count(later, depth - 1)
    return total
