"""The functions that Dask calls on a host, by name: bytes in, bytes out, and none of them raises.

The dispatcher imports this module only to name the functions. That is why it imports nothing of the referee: the
dispatcher's process stays small, and starts fast.
"""

import asyncio
from collections.abc import Callable

handlers: dict[str, Callable[[bytes], bytes]] = {}
"""Name of a call -> the method of this process's host that answers it. Empty where there is no host."""


def enter(data: bytes) -> bytes:
    """Admit a run of a tournament."""
    return handlers["enter"](data)


def store(data: bytes) -> bytes:
    """Store a program's folder."""
    return handlers["store"](data)


def stop(data: bytes) -> bytes:
    """Stop a match, or all matches of a run."""
    return handlers["stop"](data)


async def describe(data: bytes) -> bytes:
    """Report the host's state. A thread does the work, so that Dask's own loop does not wait."""
    return await asyncio.to_thread(handlers["describe"], data)


def play(data: bytes) -> bytes:
    """Play a match to its end. If the match is being played or was played here already, return that result.

    The call occupies one of the worker's threads for as long as the match takes.
    """
    return handlers["play"](data)


PLAYS = {"play": 1, "fetch": 0}
"""Both names call `play`; the value is the number of tables that the call needs.

A host that takes no more matches offers no tables. So `fetch` needs none: it gets the result of a match that the host
has played.
"""
CALLS: dict[str, Callable[[bytes], bytes]] = {call.__name__: call for call in (enter, store, stop)}
"""The calls that are answered at once, by name."""
