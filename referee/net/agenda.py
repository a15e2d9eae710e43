"""What the matches of one loop have to take, many matches at a time, stage by stage.

All of them judge, then all write their lines, then all say what follows, then all send it. Taken one after the other,
each match would find the processor's caches full of what the one before it has just done last: that costs two thirds
more.
"""

from collections.abc import Callable

from twisted.python import log

Stages = tuple[Callable[[], None], ...]
"""What is done for one step of a match, in order; whatever else the agenda holds is at the same stage."""


class Agenda:
    """The matches of one loop that have something to take."""

    def __init__(self) -> None:
        self._due: dict[object, Stages] = {}
        """By match."""
        self._is_held = False

    def add(self, match: object, stages: Stages) -> None:
        """Take a step of a match: now, or together with those of others that come while the agenda is held."""
        self._due[match] = stages
        if not self._is_held:
            self.release()

    def has(self, match: object) -> bool:
        """Tell whether a match has a step to take."""
        return match in self._due

    def hold(self) -> None:
        """Let steps gather."""
        self._is_held = True

    def release(self) -> None:
        """Take all steps that have gathered, and those that follow from them."""
        self._is_held = True
        try:
            while self._due:
                due, self._due = self._due, {}
                for stage in zip(*due.values(), strict=True):
                    for act in stage:
                        try:
                            act()
                        except Exception:  # noqa: BLE001  # of one match; it keeps no other one from its steps
                            log.err()
        finally:
            self._is_held = False
