"""Does the same work for many files, in other processes where that is quicker. Refuses to know the work."""

import gc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from rich.progress import track

from .common import console, is_interactive

T = TypeVar("T")
_FEW = 4
"""So few records are done before other processes have started."""


def each(
    work: Callable[[Path], T], files: Sequence[Path], jobs: int, doing: str, *, is_quiet: bool = False
) -> Iterator[T]:
    """Yield what a function returns for each file, in the files' order.

    Args:
        work: can be sent to other processes, as can what it returns and raises.
        files: the files.
        jobs: so many at the same time.
        doing: what a terminal is told meanwhile: `auditing`.
        is_quiet: whether it is told nothing.

    Raises:
        Exception: what the work raises for a file.
    """
    if len(files) <= _FEW or jobs == 1:
        with _without_collection():
            yield from map(work, files)
        return
    with _without_collection(), ProcessPoolExecutor(jobs, initializer=gc.disable) as pool:
        found = pool.map(work, files, chunksize=max(1, min(16, len(files) // jobs)))
        is_plain = is_quiet or not is_interactive()
        yield from track(found, doing, len(files), console=console, transient=True, disable=is_plain)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Look for no cycles: a record is none, and to look for some in what is kept of it takes as long as to read it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
