"""What is left of each seat's time for a whole match. Knows the arithmetic of the time controls, and no instants.

A bank, as a chess clock has it: what a seat's moves take goes off it, and for each move that was in time the increment
is added. Without a bank every move has the same limit; with one, the smaller of the two counts.
"""

from .setup import MatchSetup

_DIGITS = 3
"""Microseconds, as instants have."""


class Banks:
    """The time left to every seat.

    Args:
        setup: what was settled.
    """

    def __init__(self, setup: MatchSetup) -> None:
        self._per_move_ms = setup.per_move_ms
        self._increment_ms = setup.increment_ms
        self._left_ms = None if setup.bank_ms is None else [setup.bank_ms] * len(setup.names)

    def __repr__(self) -> str:
        return f"Banks({self._left_ms})"

    def left_ms(self, seat: int) -> float | None:
        """Return what is left in a seat's bank; None if there is none."""
        return None if self._left_ms is None else self._left_ms[seat]

    def limit_ms(self, seat: int) -> float:
        """Return how long the seat's next move may take."""
        left_ms = self.left_ms(seat)
        return self._per_move_ms if left_ms is None else min(self._per_move_ms, left_ms)

    def charge(self, seat: int, used_ms: float) -> None:
        """Take a move that was in time off the seat's bank, and add the increment."""
        self._add(seat, self._increment_ms - max(used_ms, 0.0))

    def let_pass(self, seat: int, passed_ms: float) -> None:
        """Take time off the seat's bank that passed before the referee died."""
        self._add(seat, -passed_ms)

    def _add(self, seat: int, ms: float) -> None:
        if self._left_ms is not None:
            self._left_ms[seat] = round(max(self._left_ms[seat] + ms, 0.0), _DIGITS)
