"""Computes the choice of Quincy's greedy player quickly, and plays the rest of a game with such players.

A four is four squares side by side. If it can still become a line, it is worth more the more stones it has. The worth
of a square is the sum over the fours through it. It is updated with every stone, not computed for every domino: a stone
changes sixteen fours at most. A test computes it from scratch and compares. The numbers are guesses.
"""

from itertools import pairwise
from typing import Literal, NamedTuple

from referee.games.quincy.board import BITS, DOMINOES, IS_WILD, LINE, LINES_TO_WIN, REACH, SQUARES, Pair, survey
from referee.games.quincy.forms import State

WORTH = (0, 1, 6, 36, 36)
"""Worth of a four by its number of stones, if only one team has stones there; a full line counts separately."""
LINE_WORTH = 200
WIN = 100_000
DEFENCE = 0.9
"""Worth of spoiling a four of the opponents, compared with an own four."""
LAST_DEFENCE = 3.0
"""Worth of spoiling a four once the opponents have a line: the next one wins."""
_WILD_COST = 12
"""Cost of playing a blank, which may be needed later. The double blank costs twice as much."""
_DOUBLE_GAIN = 2
"""Gain of playing a double early: it names a single square, which is easily lost."""

_STRETCHES = (
    [(row + step * down, column + step * right) for step in range(LINE)]
    for row, column in SQUARES
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
)
ALL_FOURS = tuple(sum(BITS[square] for square in four) for four in _STRETCHES if four[-1] in BITS)
"""Every four squares side by side."""
DOMINO_WORTH = tuple(_DOUBLE_GAIN * (low == high) - _WILD_COST * ((low == 0) + (high == 0)) for low, high in DOMINOES)
"""Worth of playing a domino, wherever its stone goes."""

_BIT = tuple(BITS.values())
"""Square -> its bit. Here squares are numbers, row by row; fours and dominoes are numbers, too."""
_SQUARES_OF = tuple(tuple(square for square, bit in enumerate(_BIT) if bit & four) for four in ALL_FOURS)
_FOURS_OF = tuple(tuple(n for n, four in enumerate(ALL_FOURS) if bit & four) for bit in _BIT)
_REACHED = tuple(tuple(square for square, bit in enumerate(_BIT) if bit & reach) for reach in REACH)
_EMPTY = 2
_STEPS = (5, 1)
"""Team -> the number that its stone adds to the code of a four. The code is 5 * (stones of team 0) + (stones of team
1)."""
_CODES = range(25)
_Action = Literal["add", "remove", "discard"]


class GreedyChoice(NamedTuple):
    """The move of a greedy player."""

    rating: float
    action: _Action
    domino: int
    square: int
    """0 for a discard."""


def _of_a_four(code: int, has_line: tuple[bool, bool]) -> tuple[float, ...]:
    """Return what a four adds to each of its squares: the worth of a stone of each team, and whether it makes a line.

    A team that faces a line (`has_line`, by team) defends more.
    """
    first, second = divmod(code, 5)
    gains = [more - less for less, more in pairwise((*WORTH, WORTH[-1]))]
    defences = [LAST_DEFENCE if other else DEFENCE for other in reversed(has_line)]
    return (
        (gains[first] if not second else 0) + (defences[0] * WORTH[second] if not first else 0),
        (gains[second] if not first else 0) + (defences[1] * WORTH[first] if not second else 0),
        (first, second) == (3, 0),
        (first, second) == (0, 3),
    )


def _changes(code: int, step: int, has_line: tuple[bool, bool]) -> tuple[tuple[int, float], ...]:
    """Return the changes for each square of a four when a stone is added or removed: (index of the sum, change)."""
    if code + step not in _CODES:
        return ()
    before, after = _of_a_four(code, has_line), _of_a_four(code + step, has_line)
    return tuple((n, new - old) for n, (old, new) in enumerate(zip(before, after, strict=True)) if new != old)


def _spoilt(code: int, team: int) -> tuple[float, float]:
    """Return the effect on a four if a team removes a stone from it: the spoilt worth, to be weighed, and the gain."""
    own, other = divmod(code, 5) if team == 0 else divmod(code, 5)[::-1]
    if not own:
        return (WORTH[other] - WORTH[other - 1] if other else 0), 0
    return 0, WORTH[own] if other == 1 else 0


_LINES = ((False, False), (False, True), (True, False), (True, True))
_OF_FOURS = {has_line: tuple(_of_a_four(code, has_line) for code in _CODES) for has_line in _LINES}
_CHANGES = {
    has_line: {
        step: tuple(_changes(code, step, has_line) for code in _CODES)
        for step in (*_STEPS, *(-back for back in _STEPS))
    }
    for has_line in _LINES
}
_SPOILT = tuple(tuple(_spoilt(code, team) for code in _CODES) for team in (0, 1))


class Stones:
    """A board, with the worth of every square to each team.

    Args:
        stones: stones by team.
    """

    def __init__(self, stones: Pair) -> None:
        self.bits = [0, 0]
        self.lines = [0, 0]
        self._unbreakable = [0, 0]
        self._owner = [_EMPTY] * len(_BIT)
        self._codes = [0] * len(_SQUARES_OF)
        self._changes = _CHANGES[self._has_line()]
        self._sums = [self._values(which) for which in range(4)]
        for team, own in enumerate(stones):
            for square, bit in enumerate(_BIT):
                if bit & own:
                    self.add(team, square)

    def copy(self) -> "Stones":
        """Return an independent copy."""
        other = object.__new__(Stones)
        other.bits, other.lines, other._unbreakable = self.bits[:], self.lines[:], self._unbreakable[:]
        other._owner, other._codes = self._owner[:], self._codes[:]
        other._sums, other._changes = [sums[:] for sums in self._sums], self._changes
        return other

    def add(self, team: int, square: int) -> None:
        """Add a stone of a team on an empty square."""
        self.bits[team] |= _BIT[square]
        is_line = self._sums[2 + team][square]
        self._owner[square] = team
        self._change(square, _STEPS[team])
        if is_line:
            has_none = not self.lines[team]
            self._unbreakable[team], self.lines[team] = survey(self.bits[team])
            if has_none:  # from now on the others defend more
                self._changes = _CHANGES[self._has_line()]
                self._sums[1 - team] = self._values(1 - team)

    def remove(self, team: int, square: int) -> None:
        """Remove a stone of a team that is not part of a line."""
        self.bits[team] ^= _BIT[square]
        self._owner[square] = _EMPTY
        self._change(square, -_STEPS[team])

    def choice(self, team: int, hand: list[int], *, can_draw: bool) -> GreedyChoice:
        """Return what a greedy player would do with a hand of at least one domino.

        Args:
            team: team of the player.
            hand: dominoes.
            can_draw: whether there is a pile.
        """
        best = GreedyChoice(-2.0 * WIN, "discard", hand[0], 0)
        for domino in hand:
            own, square = self._best_add(team, domino)
            if own > best.rating:
                best = GreedyChoice(own, "add", domino, square)
            is_playable = own > -WIN
            if IS_WILD[domino]:
                removing, square = self._best_removal(team, domino)
                is_playable |= removing > -WIN
                if removing > best.rating:
                    best = GreedyChoice(removing, "remove", domino, square)
            discarding = WIN if can_draw else -WIN
            if not is_playable and discarding > best.rating:
                best = GreedyChoice(discarding, "discard", domino, 0)
        return best

    def _best_add(self, team: int, domino: int) -> tuple[float, int]:
        """Return the rating of the best square that a domino can add a stone on, below -WIN if there is none."""
        owner, worth, lines = self._owner, self._sums[team], self._sums[2 + team]
        best, at = -2.0 * WIN, 0
        for square in _REACHED[domino]:
            if owner[square] == _EMPTY:
                rating = worth[square]
                if lines[square]:
                    count = survey(self.bits[team] | _BIT[square])[1]
                    rating = WIN if count >= LINES_TO_WIN else rating + LINE_WORTH * (count - self.lines[team])
                if rating > best:
                    best, at = rating, square
        return best + DOMINO_WORTH[domino], at

    def _best_removal(self, team: int, domino: int) -> tuple[float, int]:
        """Return the rating of the best stone that a domino can remove, below -WIN if there is none."""
        other, spoilt, codes = 1 - team, _SPOILT[team], self._codes
        defence = LAST_DEFENCE if self.lines[other] else DEFENCE
        best, at = -2.0 * WIN, 0
        for square in _REACHED[domino]:
            if self._owner[square] == other and not _BIT[square] & self._unbreakable[other]:
                rating = 0.0
                for four in _FOURS_OF[square]:
                    spoiling, gain = spoilt[codes[four]]
                    rating += defence * spoiling + gain
                if rating > best:
                    best, at = rating, square
        return best + DOMINO_WORTH[domino], at

    def _has_line(self) -> tuple[bool, bool]:
        return self.lines[0] > 0, self.lines[1] > 0

    def _values(self, which: int) -> list[float]:
        """Return one of the sums for every square, computed from the present fours."""
        of_code = [row[which] for row in _OF_FOURS[self._has_line()]]
        of_four = [of_code[code] for code in self._codes].__getitem__
        return [sum(map(of_four, fours)) for fours in _FOURS_OF]

    def _change(self, square: int, step: int) -> None:
        codes, sums, changes = self._codes, self._sums, self._changes[step]
        for four in _FOURS_OF[square]:
            code = codes[four]
            codes[four] = code + step
            for which, change in changes[code]:
                one, two, three, last = _SQUARES_OF[four]
                worth = sums[which]
                worth[one] += change
                worth[two] += change
                worth[three] += change
                worth[last] += change


def winner(state: State, stones: Stones) -> int | None:
    """Play on, greedily, until the game is over.

    Args:
        state: the state, in which nothing is hidden.
        stones: its board, which is not changed.

    Returns:
        The team that wins, or None for a wash.
    """
    stones, order = stones.copy(), list(state.order)
    hands, pile = [list(hand) for hand in state.hands], list(reversed(state.pile))
    skipped = 0
    while skipped < len(order):
        seat = order[0]
        team, hand = seat % 2, hands[seat]
        choice = stones.choice(team, hand, can_draw=bool(pile)) if hand else None
        if choice is None or (choice.action == "discard" and not pile):
            hand.clear()
            skipped += 1
        else:
            skipped = 0
            hand.remove(choice.domino)
            if choice.action == "add":
                stones.add(team, choice.square)
                if stones.lines[team] >= LINES_TO_WIN:
                    return team
            if pile:
                hand.append(pile.pop())
            if choice.action == "discard":
                continue
            if choice.action == "remove":
                stones.remove(1 - team, choice.square)
        order.append(order.pop(0))
    return None
