"""The functions that Dask calls on a host, by their names: bytes in, bytes out, and none of them ever raises.

The dispatcher imports this module only to name them, and so it imports nothing else.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol


class Called(Protocol):
    """What answers on a host."""

    def enter(self, data: bytes) -> bytes:
        """Let a run of a tournament in."""

    def keep(self, data: bytes) -> bytes:
        """Keep a program's folder."""

    def stop(self, data: bytes) -> bytes:
        """Stop a match, or all of a run."""

    def describe(self, data: bytes) -> bytes:
        """Say how the host is."""

    def play(self, data: bytes) -> bytes:
        """Play a match to its end."""


answering: list[Called] = []
"""This process's host, if it is one."""


def enter(data: bytes) -> bytes:
    """Let a run of a tournament in."""
    return answering[0].enter(data)


def keep(data: bytes) -> bytes:
    """Keep a program's folder."""
    return answering[0].keep(data)


def stop(data: bytes) -> bytes:
    """Stop a match, or all of a run."""
    return answering[0].stop(data)


async def describe(data: bytes) -> bytes:
    """Say how the host is; that is tried out in a thread, for Dask's own loop is not to stand still meanwhile."""
    return await asyncio.to_thread(answering[0].describe, data)


def play(data: bytes) -> bytes:
    """Play a match to its end: it takes a table, and a thread as long."""
    return answering[0].play(data)


def fetch(data: bytes) -> bytes:
    """Wait for the end of a match that a host plays, or has played, while it takes no more of them."""
    return answering[0].play(data)


PLAYS: dict[str, tuple[Callable[[bytes], bytes], int]] = {play.__name__: (play, 1), fetch.__name__: (fetch, 0)}
"""Those that last as long as a match, and how many tables they take."""
CALLS: dict[str, Callable[[bytes], bytes]] = {call.__name__: call for call in (enter, keep, stop)}
"""Those that are answered at once."""
