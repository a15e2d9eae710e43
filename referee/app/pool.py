"""Does the same work for many files or rounds, in other processes where that is faster.

These processes end with this one, however it ends, and keep no terminal, pipe or port open after that.
"""

import ctypes
import gc
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from ..errors import RefereeError

# A pool of processes is worth its start (some tens of milliseconds for each) from a few records on. They are forked,
# not spawned: what this process has imported is there at once, and functions of `referee.evaluate` can't be pickled.
#
# A forked worker must never outlive its parent: it would keep a terminal, a pipe or a port open. `prctl` ties it to
# the parent in Linux; elsewhere it ends with the broken pipe. Signals are blocked while workers start, because a
# Ctrl-C between fork and `_begin` would run this process's own handler in the child.

T = TypeVar("T")
W = TypeVar("W")
_FEW = 4
"""Number of records that this process can read while other processes would start."""
_HELD = (signal.SIGINT, signal.SIGTERM)
_MOST_TOGETHER = 16
"""Most items that are sent to a process together."""
_PR_SET_PDEATHSIG = 1
"""Number of the call of prctl in Linux that sets the signal a process gets when its parent ends."""


def map_in_processes(
    work: Callable[[W], T], items: Sequence[W], jobs: int, *, is_slow: bool = False
) -> Generator[T, None, None]:
    """Yield what a function returns for each item, in order; close the generator if you leave before the end.

    Args:
        work: the function; other processes can be sent it, its arguments, its results and its exceptions.
        items: arguments of the function.
        jobs: number of processes; 1: this one alone.
        is_slow: whether one item takes seconds, so that it is worth a process and a message of its own.

    Raises:
        RefereeError: one of the processes was killed.
        Exception: the function raised it for an item.
    """
    if (len(items) <= _FEW and not is_slow) or jobs == 1:
        with _pause_collection():
            yield from map(work, items)
        return
    with _pause_collection(), _pool(jobs) as pool:
        # Items are sent in batches, because each message has a cost of its own. Each process gets several batches: with
        # one large batch, a single process could still be at work when all others have nothing to do.
        size = 1 if is_slow else max(1, min(_MOST_TOGETHER, len(items) // jobs // 4))
        with _hold_signals():
            parts = deque(pool.submit(_work_through, work, items[at : at + size]) for at in range(0, len(items), size))
        while parts:
            yield from parts.popleft().result()


def _work_through(work: Callable[[W], T], items: Sequence[W]) -> list[T]:
    return [work(item) for item in items]


@contextmanager
def _pool(jobs: int) -> Iterator[Executor]:
    """Start processes that end with this one, and end at once if the caller leaves early."""
    others = {*multiprocessing.active_children()}
    forking = multiprocessing.get_context("fork")  # a forked process has the modules of this one
    pool = ProcessPoolExecutor(jobs, forking, initializer=_begin, initargs=(os.getpid(),))
    try:
        yield pool
    except BaseException as error:
        for worker in {*multiprocessing.active_children()} - others:
            worker.kill()
        # The workers are dead. Wait here for the executor's own thread, so that it has ended before Python exits.
        # That thread also fails the pending futures. Don't cancel them: it would print an error when it fails a
        # cancelled one.
        pool.shutdown()
        if isinstance(error, BrokenProcessPool):
            raise RefereeError("a process at work was killed; was there too little memory? try --jobs 1") from None
        raise
    pool.shutdown()


def _begin(parent: int) -> None:
    """Make this process a worker: it ends with its parent, and leaves signals and stdout to its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before prctl took effect
        os._exit(1)
    # A player's function may print. Its lines must not get into the command's own output, which may be JSON.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nowhere, stream)
    os.close(nowhere)
    gc.disable()


@contextmanager
def _hold_signals() -> Iterator[None]:
    """Delay signals while processes start, so that none of them is ended before it has begun."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _pause_collection() -> Iterator[None]:
    """Pause the garbage collector: records have no cycles, and looking for them takes as long as reading."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
