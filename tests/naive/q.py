"""A second implementation of the Q game, written only from its description, without the engine; slow and plain.

A tile is its name, `colour-shape`; a map is a dict from (row, column) to a tile.
"""

from collections.abc import Iterable, Sequence

Cell = tuple[int, int]
Board = dict[Cell, str]
Placed = tuple[int, int, str]
"""Row, column, tile."""


def attributes(tile: str) -> tuple[str, str]:
    """Return a tile's colour and shape."""
    color, shape = tile.split("-")
    return color, shape


def sides(cell: Cell) -> list[Cell]:
    """Return the four cells beside a cell."""
    row, column = cell
    return [(row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column)]


def axis_fits(tile: str, neighbours: Iterable[str]) -> bool:
    """Return whether all neighbours of one axis have the tile's colour, or all have its shape."""
    color, shape = attributes(tile)
    pairs = [attributes(neighbour) for neighbour in neighbours]
    return all(other[0] == color for other in pairs) or all(other[1] == shape for other in pairs)


def may_lie(board: Board, cell: Cell, tile: str) -> bool:
    """Return whether a tile may be laid on a cell: free, next to the map, fitting in its row and in its column."""
    beside = sides(cell)
    if cell in board or not any(side in board for side in beside):
        return False
    row = [board[side] for side in beside[:2] if side in board]
    column = [board[side] for side in beside[2:] if side in board]
    return axis_fits(tile, row) and axis_fits(tile, column)


def owns(hand: Sequence[str], placed: Sequence[Placed]) -> bool:
    """Return whether a hand has the placed tiles, each as often as it is placed."""
    wanted = [tile for _, _, tile in placed]
    return all(wanted.count(tile) <= hand.count(tile) for tile in wanted)


def is_line(placed: Sequence[Placed]) -> bool:
    """Return whether all placed tiles lie in one row or one column."""
    return len({row for row, _, _ in placed}) == 1 or len({column for _, column, _ in placed}) == 1


def result(board: Board, hand: Sequence[str], placed: Sequence[Placed]) -> Board | None:
    """Return the map after a placement; None if the placement is illegal."""
    if not placed or not owns(hand, placed) or not is_line(placed):
        return None
    after = dict(board)
    for row, column, tile in placed:
        if not may_lie(after, (row, column), tile):
            return None
        after[row, column] = tile
    return after


def runs(board: Board) -> list[list[Cell]]:
    """Return every maximal run of the whole map, of rows and of columns."""
    found = []
    for row, column in board:
        if (row, column - 1) not in board:
            run = [(row, column)]
            while (row, run[-1][1] + 1) in board:
                run.append((row, run[-1][1] + 1))
            found.append(run)
        if (row - 1, column) not in board:
            run = [(row, column)]
            while (run[-1][0] + 1, column) in board:
                run.append((run[-1][0] + 1, column))
            found.append(run)
    return found


def score(after: Board, hand: Sequence[str], placed: Sequence[Placed], q_bonus: int, finish_bonus: int) -> int:
    """Return the points of a legal placement.

    Args:
        after: the map with the placement.
        hand: before the placement.
        placed: the placement.
        q_bonus: for each completed Q.
        finish_bonus: for laying the whole hand.
    """
    new = {(row, column) for row, column, _ in placed}
    points = len(placed)
    for run in runs(after):
        if len(run) < 2 or not new & set(run):
            continue
        points += len(run)
        colors, shapes = zip(*(attributes(after[cell]) for cell in run), strict=True)
        if len(run) == 6 and (len(set(colors)) == 6 or len(set(shapes)) == 6):
            points += q_bonus
    return points + (finish_bonus if len(placed) == len(hand) else 0)


class Table:
    """A whole game: hands by seat, the pile's front first, and the seats that have yet to move in the round.

    Args:
        board: the map.
        hands: by seat.
        pile: what is left to hand out.
        bonuses: for completing a Q, for laying the whole hand.
    """

    def __init__(
        self, board: Board, hands: Sequence[Sequence[str]], pile: Sequence[str], bonuses: tuple[int, int] = (6, 6)
    ) -> None:
        self.board = dict(board)
        self.hands = [list(hand) for hand in hands]
        self.pile = list(pile)
        self.q_bonus, self.finish_bonus = bonuses
        self.scores = [0] * len(hands)
        self.order = list(range(len(hands)))
        self.waiting = list(self.order)
        """Seats that have yet to move in this round."""
        self.has_placed = False
        """Whether a seat has placed a tile in this round."""
        self.end: str | None = None
        """Reason for which the game is over."""

    def singles(self) -> list[Placed]:
        """Return every placement of one tile of the mover's hand."""
        free = {side for cell in self.board for side in sides(cell)}
        hand = set(self.hands[self.order[0]])
        return [(*cell, tile) for cell in free for tile in hand if may_lie(self.board, cell, tile)]

    def can_exchange(self) -> bool:
        """Return whether the pile has as many tiles as the mover's hand."""
        return len(self.pile) >= len(self.hands[self.order[0]])

    def skip(self) -> None:
        """Let the mover pass."""
        self._moved()

    def exchange(self) -> bool:
        """Let the mover exchange its hand; return whether it may."""
        if not self.can_exchange():
            return False
        seat = self.order[0]
        count = len(self.hands[seat])
        self.pile += self.hands[seat]
        self.hands[seat], self.pile = self.pile[:count], self.pile[count:]
        self._moved()
        return True

    def place(self, placed: Sequence[Placed]) -> bool:
        """Let the mover place tiles, one after the other; return whether it may."""
        seat = self.order[0]
        hand = self.hands[seat]
        after = result(self.board, hand, placed)
        if after is None:
            return False
        self.scores[seat] += score(after, hand, placed, self.q_bonus, self.finish_bonus)
        self.board = after
        for _, _, tile in placed:
            hand.remove(tile)
        self.has_placed = True
        if not hand:
            self.end = "q.end.finished"
            return True
        self.hands[seat] = self.pile[: len(placed)] + hand
        self.pile = self.pile[len(placed) :]
        self._moved()
        return True

    def drop(self, seat: int) -> None:
        """Take a seat out of the game; its tiles go under the pile."""
        self.pile += self.hands[seat]
        self.hands[seat] = []
        self.order.remove(seat)
        if seat in self.waiting:
            self.waiting.remove(seat)
        self._settle()

    def ranking(self) -> list[list[int]]:
        """Return groups of the seats still in the game, the most points first."""
        levels = sorted({self.scores[seat] for seat in self.order}, reverse=True)
        return [sorted(seat for seat in self.order if self.scores[seat] == level) for level in levels]

    def _moved(self) -> None:
        seat = self.order.pop(0)
        self.order.append(seat)
        self.waiting.remove(seat)
        self._settle()

    def _settle(self) -> None:
        """End the game, or begin a new round, if the round is over."""
        if not self.order:
            self.end = "q.end.deserted"
        elif not self.waiting and not self.has_placed:
            self.end = "q.end.idle-round"
        elif not self.waiting:
            self.waiting, self.has_placed = list(self.order), False
