"""A player of Q that kills its referee with SIGKILL, once: `q_assassin.py MARK TURN DELAY_US`.

It plays as dag does. In its TURN-th turn it answers, and DELAY_US microseconds later the referee is dead; the file MARK
remembers that, so that the same command line plays on peacefully when the match is resumed.
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


def main(mark: Path, turn: int, delay_us: float) -> None:
    """Play, and kill if nobody has."""
    dag = make_dag()
    asked = 0

    def _choose(view: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked == turn and not mark.exists():
            mark.touch()
            threading.Thread(target=_kill, args=(os.getppid(), time.perf_counter() + delay_us / 1e6)).start()
        return dag(view)

    run(_choose, say=None)


def _kill(referee: int, instant: float) -> None:
    while time.perf_counter() < instant:
        os.sched_yield()  # let the main thread answer meanwhile
    os.kill(referee, signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
