"""Keeps files in memory that many processes read, in the name of this one.

What the kernel reads from the disk counts for the control group of whoever asks for it first, and can go with it.
"""

import os
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

AGAIN_S = 2.0
"""How long files are believed to stay in memory: to look at 60 MiB takes a millisecond."""
PIECE_BYTES = 131_072
"""The kernel reads no more at one request where a disk is set up as most are."""


class ResidentFiles:
    """Files that are read by this process as well, as often as they may have left memory.

    Args:
        find: returns the files that go by a name; it is called in a thread, again and again.
        now_s: returns the time, in seconds.
    """

    def __init__(self, find: Callable[..., Sequence[Path]], now_s: Callable[[], float] = time.monotonic) -> None:
        self._find, self._now_s = find, now_s
        self._next_s: dict[Hashable, float] = {}
        self._thread = ThreadPoolExecutor(1, "resident files")

    def keep(self, *name: Hashable) -> None:
        """Begin to read what goes by a name, unless that was done a short time ago.

        Args:
            name: that of which `find` returns the files.
        """
        now_s = self._now_s()
        if self._next_s.get(name, now_s) <= now_s:
            self._next_s[name] = now_s + AGAIN_S
            self._thread.submit(self._read, name)

    def _read(self, name: tuple[Hashable, ...]) -> None:
        for path in self._find(*name):
            with suppress(OSError):
                _bring_in(path)

    def close(self) -> None:
        """Read nothing more."""
        self._thread.shutdown(cancel_futures=True)


def _bring_in(path: Path) -> None:
    """Have the kernel read what of a file is not in memory, without waiting for it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for start in range(0, os.fstat(descriptor).st_size, PIECE_BYTES):
            os.posix_fadvise(descriptor, start, PIECE_BYTES, os.POSIX_FADV_WILLNEED)
    finally:
        os.close(descriptor)
