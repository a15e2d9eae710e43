"""A player of Q that answers 10 ms after a request, as exactly as the system's clock allows: for benchmarks."""

import time
from typing import Any

from protocol.client import run
from sample_players.python.q_simple import make_dag

ANSWER_S = 0.01


def main() -> None:
    """Play one match."""
    dag = make_dag()

    def _choose(view: Any) -> Any:
        due = time.monotonic() + ANSWER_S
        move = dag(view)
        time.sleep(max(due - time.monotonic(), 0))
        return move

    run(_choose, say=None)


if __name__ == "__main__":
    main()
