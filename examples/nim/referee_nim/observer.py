"""An observer: writes how many objects are left after each move to the file that NIM_LOG names."""

import os
from pathlib import Path

from referee.observers import MatchTransition, Observer


class HeapLog(Observer):
    """Adds a line for each transition of a match of Nim; an observer can't change the match."""

    def on_match_advanced(self, transition: MatchTransition) -> None:
        """Write a line, if NIM_LOG names a file and the heaps are dealt."""
        where = os.environ.get("NIM_LOG")
        if where and transition.setup.game == "nim" and transition.position is not None:
            with Path(where).open("a", encoding="utf-8") as file:
                file.write(f"{transition.setup.match} turn {transition.turn}: {sum(transition.position.heaps)} left\n")
