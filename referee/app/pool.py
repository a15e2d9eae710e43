"""Does the same work for many files or rounds, in other processes where that is quicker.

Those processes end with this one, however it ends, and hold nothing that others wait for.
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

T = TypeVar("T")
W = TypeVar("W")
_FEW = 4
"""So few records are done before other processes have started."""
_HELD = (signal.SIGINT, signal.SIGTERM)
_MOST_TOGETHER = 16
"""So many items are sent to a process together."""
_PR_SET_PDEATHSIG = 1
"""Of Linux' prctl: which signal a process gets when its parent ends."""


def map_in_processes(work: Callable[[W], T], items: Sequence[W], jobs: int) -> Generator[T, None, None]:
    """Yield what a function returns for each of some items, in their order; close it if you leave before the end.

    Args:
        work: can be sent to other processes, as can what it takes, returns and raises.
        items: what it takes, one each.
        jobs: how many processes work; 1: this one alone.

    Raises:
        RefereeError: one of the processes was killed.
        Exception: what the work raises for an item.
    """
    if len(items) <= _FEW or jobs == 1:
        with _pause_collection():
            yield from map(work, items)
        return
    with _pause_collection(), _pool(jobs) as pool:
        size = max(1, min(_MOST_TOGETHER, len(items) // jobs // 4))
        with _hold_signals():
            parts = deque(pool.submit(_work_through, work, items[at : at + size]) for at in range(0, len(items), size))
        while parts:
            yield from parts.popleft().result()


def _work_through(work: Callable[[W], T], items: Sequence[W]) -> list[T]:
    return [work(item) for item in items]


@contextmanager
def _pool(jobs: int) -> Iterator[Executor]:
    """Start processes that end with this one; whoever leaves early ends them at once."""
    others = {*multiprocessing.active_children()}
    forking = multiprocessing.get_context("fork")  # their parent is this process, and what is imported is there
    pool = ProcessPoolExecutor(jobs, forking, initializer=_begin, initargs=(os.getpid(),))
    try:
        yield pool
    except BaseException as error:
        for worker in {*multiprocessing.active_children()} - others:
            worker.kill()
        # They are dead, and what looks after them is to be gone before Python ends. It ends the work that waits, too:
        # nothing is cancelled here, or it would print that it can't end that.
        pool.shutdown()
        if isinstance(error, BrokenProcessPool):
            raise RefereeError("a process at work was killed; was there too little memory? try --jobs 1") from None
        raise
    pool.shutdown()


def _begin(parent: int) -> None:
    """Make this process one that works for another: it ends with that, and leaves signals and stdout to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before it could be said that this one is to
        os._exit(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nowhere, stream)
    os.close(nowhere)
    gc.disable()


@contextmanager
def _hold_signals() -> Iterator[None]:
    """Let what would end this process wait while others start, so that none of them meets it before it has begun."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _pause_collection() -> Iterator[None]:
    """Look for no cycles: a record is none, and to look for some in what is kept of it takes as long as to read it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
