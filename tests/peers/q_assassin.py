"""A player of Q that kills its referee with SIGKILL, again and again: `q_assassin.py MARK TURN DELAY_US...`.

It plays like dag. In its TURN-th turn it answers, and kills the referee DELAY_US microseconds later. The file MARK
counts the kills. So the same command line uses the next TURN (counted from 1 again) and DELAY_US when the match is
resumed. After the last one it plays on peacefully.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from protocol.client import run
from sample_players.python.q_simple import make_dag


def main(mark: Path, instants: list[tuple[int, float]]) -> None:
    """Play, and kill the referee if that is still to be done."""
    dag = make_dag()
    done = mark.stat().st_size if mark.exists() else 0
    turn, delay_us = instants[done] if done < len(instants) else (0, 0.0)
    asked = 0

    def _choose(view: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked == turn:
            with mark.open("a") as file:
                file.write("x")
            threading.Thread(target=_kill, args=(os.getppid(), time.perf_counter() + delay_us / 1e6)).start()
        return dag(view)

    run(_choose, say=None)


def _kill(referee: int, instant: float) -> None:
    while time.perf_counter() < instant:
        os.sched_yield()  # let the main thread answer in between
    os.kill(referee, signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), list(zip(map(int, sys.argv[2::2]), map(float, sys.argv[3::2]), strict=True)))
