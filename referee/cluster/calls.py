"""The functions that Dask calls on a host, by their names: bytes in, bytes out, and none of them ever raises.

The dispatcher imports this module only to name them, and so it imports nothing else.
"""

import asyncio
from collections.abc import Callable

answering: dict[str, Callable[[bytes], bytes]] = {}
"""What answers on this process's host, if it is one: name of a call -> method."""


def enter(data: bytes) -> bytes:
    """Let a run of a tournament in."""
    return answering["enter"](data)


def keep(data: bytes) -> bytes:
    """Keep a program's folder."""
    return answering["keep"](data)


def stop(data: bytes) -> bytes:
    """Stop a match, or all of a run."""
    return answering["stop"](data)


async def describe(data: bytes) -> bytes:
    """Say how the host is; that is tried out in a thread, for Dask's own loop is not to stand still meanwhile."""
    return await asyncio.to_thread(answering["describe"], data)


def play(data: bytes) -> bytes:
    """Play a match to its end, or wait for the end of one that is played or was; it takes a thread as long."""
    return answering["play"](data)


PLAYS = {"play": 1, "fetch": 0}
"""As what `play` is asked for -> how many tables it takes: a host that takes no more matches has none to take."""
CALLS: dict[str, Callable[[bytes], bytes]] = {call.__name__: call for call in (enter, keep, stop)}
"""Those that are answered at once."""
