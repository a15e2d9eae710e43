"""What the matches of one loop have to take, many matches at a time, stage by stage.

All of them judge, then all write their lines, then all say what follows, then all send it. Taken one after the other,
each match would find the processor's caches full of what the one before it has just done last: that costs two thirds
more.
"""

from collections.abc import Callable
from itertools import islice

from twisted.python import log

Stages = tuple[Callable[[], None], ...]
"""What is done for one step of a match, in order; whatever else the agenda holds is at the same stage."""
AT_ONCE = 32
"""Matches that are taken together. Twice as many gain no more, and sockets would be looked at less often."""


class Agenda:
    """The matches of one loop that have something to take."""

    def __init__(self) -> None:
        self._due: dict[object, Stages] = {}
        """By match, in the order in which they came."""
        self._is_held = False

    def __len__(self) -> int:
        """Return how many matches have a step to take."""
        return len(self._due)

    def add(self, match: object, stages: Stages) -> None:
        """Take a step of a match: now, or together with those of others that come while the agenda is held."""
        if self._is_held:
            self._due[match] = stages
        else:
            self._take({match: stages})

    def has(self, match: object) -> bool:
        """Tell whether a match has a step to take."""
        return match in self._due

    def hold(self) -> None:
        """Let steps gather."""
        self._is_held = True

    def release(self) -> None:
        """Take the steps of the first matches, and those that follow; the others wait for the next time."""
        self._take(dict(islice(self._due.items(), AT_ONCE)))

    def _take(self, first: dict[object, Stages]) -> None:
        """Take the steps of some matches, and those that follow from them, whosever they are."""
        waiting, self._due, self._is_held = self._due, first, True
        try:
            while self._due:
                due, self._due = self._due, {}
                for match in due:
                    waiting.pop(match, None)
                for stage in zip(*due.values(), strict=True):
                    for act in stage:
                        try:
                            act()
                        except Exception:  # noqa: BLE001  # of one match; it keeps no other one from its steps
                            log.err()
        finally:
            self._due, self._is_held = waiting, False
