"""The actors of the course's tests: honest, cheating, raising or looping, as their specification says.

An actor may be called directly or over TCP; it reports its misbehaviour by raising Misbehaviour.
"""

import re
from collections import Counter
from enum import StrEnum
from typing import Any

from referee.dialects.cs4500.cheats import CHEATS
from sample_players.python.q_simple import first_spot, most_constrained_spot, strategy

STRATEGIES = {"dag": first_spot, "ldasg": most_constrained_spot}
STAFF_NAME = re.compile(r"^(?P<how>non|inv)(?P<method>Setup|TT|TakeTurn|NT|NewTiles|Win)(?P<what>.*)$")
STAFF_METHODS = {
    "Setup": "setup",
    "TT": "take-turn",
    "TakeTurn": "take-turn",
    "NT": "new-tiles",
    "NewTiles": "new-tiles",
    "Win": "win",
}


class Kind(StrEnum):
    """How a call goes wrong."""

    RAISES = "raises"
    """The player's code raises an exception, so its program ends."""
    LOOPS = "loops"
    """It never answers."""
    GARBLES = "garbles"
    """It answers with bytes that are no message."""


class Misbehaviour(Exception):
    """Raised in place of an answer."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind)
        self.kind = kind


class Actor:
    """One actor.

    Args:
        spec: `[name, strategy]`, `[name, strategy, method]` raises in the method, `[name, strategy, method, k]` loops
            in its k-th call, `[name, strategy, "a cheat", cheat]` cheats.
        staff: whether names such as `nonSetup` tell what the actor does, as those of the staff's clients do.
    """

    def __init__(self, spec: list[Any], *, staff: bool = False) -> None:
        self.name = str(spec[0])
        self._choose = strategy(STRATEGIES[spec[1]])
        self._cheat = CHEATS[spec[3]] if len(spec) == 4 and spec[2] == "a cheat" else None
        self._fails: tuple[str, int, Kind] | None = None
        if len(spec) == 3:
            self._fails = (spec[2], 1, Kind.RAISES)
        elif len(spec) == 4 and self._cheat is None:
            self._fails = (spec[2], int(spec[3]), Kind.LOOPS)
        self._garbles_placements = False
        found = STAFF_NAME.match(self.name) if staff else None
        if found is not None:
            self._garbles_placements = found["how"] == "inv" and STAFF_METHODS[found["method"]] == "take-turn"
            if not self._garbles_placements:
                self._fails = (STAFF_METHODS[found["method"]], 1, Kind.GARBLES)
        self._calls: Counter[str] = Counter()

    @property
    def loops(self) -> bool:
        """Whether it may never answer some call."""
        return self._fails is not None and self._fails[2] is Kind.LOOPS

    def call(self, method: str) -> None:
        """Count a call of `setup`, `take-turn`, `new-tiles` or `win`.

        Raises:
            Misbehaviour: this is the call that goes wrong.
        """
        self._calls[method] += 1
        if self._fails is not None and self._fails[:2] == (method, self._calls[method]):
            raise Misbehaviour(self._fails[2])

    def move(self, view: Any) -> Any:
        """Return the answer to a turn.

        Raises:
            Misbehaviour: this is the call that goes wrong.
        """
        self.call("take-turn")
        cheat = self._cheat(view) if self._cheat is not None else None
        move = self._choose(view) if cheat is None else cheat
        if self._garbles_placements and move["action"] == "place":
            raise Misbehaviour(Kind.GARBLES)
        return move
