"""An observer: writes down how many objects are left after each move, where NIM_LOG names a file."""

import os
from pathlib import Path

from referee.observers import MatchStep, Observer


class HeapLog(Observer):
    """Adds a line for each step of a match of Nim; it can touch nothing that it is told of."""

    def on_match_stepped(self, step: MatchStep) -> None:
        """Write a line, if a file is named and heaps are there."""
        where = os.environ.get("NIM_LOG")
        if where and step.setup.game == "nim" and step.position is not None:
            with Path(where).open("a", encoding="utf-8") as file:
                file.write(f"{step.setup.match} turn {step.turn}: {sum(step.position.heaps)} left\n")
