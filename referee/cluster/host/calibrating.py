"""What a fixed piece of work takes on this machine under full load: on all tables at once, before anything is played.

Idle neighbours would flatter it: cores share caches and heat, and there may be fewer of them than tables.
"""

import hashlib
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from multiprocessing import get_context
from statistics import median
from typing import Any

from ...errors import RefereeError
from ...tournament.hosts import Calibration

WORK_S = 0.6
"""How long each table works: about a hundred pieces."""
_ROUNDS = 40_000
"""Of one piece: some milliseconds of a core."""
_START_S = 60.0
_DIGITS = 3


class NotCalibrated(RefereeError):
    """A machine on which not all tables can work at once; the text says what to do."""


def calibrate(tables: int, work_s: float = WORK_S) -> Calibration:
    """Return what a piece of work takes here; of all pieces on all tables, the median.

    It is to be called before this process has threads: it forks.

    Args:
        tables: how many matches are played at a time.
        work_s: how long each table works.

    Raises:
        NotCalibrated: the machine can't have so many processes.
    """
    context = get_context("fork")
    gate = context.Barrier(tables)
    try:
        with ProcessPoolExecutor(tables, context, initializer=_wait, initargs=(gate,)) as pool:
            pieces = [piece for found in pool.map(_work, [work_s] * tables) for piece in found]
    except (BrokenExecutor, OSError) as error:
        raise NotCalibrated(f"{tables} tables can't work here at once: {error}; give it fewer --tables") from None
    walls, processors = zip(*pieces, strict=True)
    return Calibration(
        tables=tables,
        wall_ms=round(1000 * median(walls), _DIGITS),
        processor_ms=round(1000 * median(processors), _DIGITS),
    )


def _wait(gate: Any) -> None:
    """Let all tables begin at once."""
    gate.wait(_START_S)


def _work(work_s: float) -> list[tuple[float, float]]:
    """Do pieces of work for a while; return the seconds that each took, by the clock and of the core."""
    found: list[tuple[float, float]] = []
    until = time.perf_counter() + work_s
    while not found or time.perf_counter() < until:
        begun_s, spent_s = time.perf_counter(), time.process_time()
        _piece()
        found.append((time.perf_counter() - begun_s, time.process_time() - spent_s))
    return found


def _piece() -> bytes:
    """Do what programs do: count, look up, sort, and make text of it; half a MiB of memory is gone over."""
    table: dict[int, int] = {}
    for number in range(_ROUNDS):
        table[number * 7919 % 10_007] = table.get(number % 10_007, 0) + number
    return hashlib.sha256(repr(sorted(table.values())).encode()).digest()
