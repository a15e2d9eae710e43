"""Hostile answers of a cluster's host, and a client that receives them."""

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from distributed import Client, get_worker
from distributed.protocol.serialize import Serialize

WAIT_S = 5.0
"""Seconds for which the client waits: a refused call may never end."""


class Code:
    """An object that creates a file when a client unpickles it.

    Args:
        file: its path.
    """

    def __init__(self, file: str) -> None:
        self._file = file

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is run."""
        return exec, (f"import sys\nif 'referee.cluster.closed_pickle' in sys.modules: open({self._file!r}, 'w')",)


def result(file: str) -> Any:
    """Answer with code."""
    return Code(file)


def event(file: str) -> bytes:
    """Return an event with code."""
    worker = get_worker()
    code: Any = Serialize(Code(file))  # type: ignore[no-untyped-call]
    message = {"op": "log-event", "topic": "run", "msg": code}
    worker.loop.add_callback(worker.batched_stream.send, message)
    return b""


def exception(file: str) -> None:
    """Fail with code."""
    raise ValueError(Code(file))


async def _ask(address: str, keys: Path, folder: Path) -> None:
    from referee.cluster.security import load_security  # noqa: PLC0415  # a client imports it; hosts here do not

    plain = ["msgpack", "error"]
    for call in (result, event, exception):
        client: Any = Client(  # type: ignore[no-untyped-call]
            address,
            security=load_security(keys),
            asynchronous=True,
            set_as_default=False,
            serializers=plain,
            deserializers=plain,
        )
        await client
        heard = asyncio.Event()
        client.subscribe_topic("run", lambda _, heard=heard: heard.set())
        future = client.submit(call, str(folder / call.__name__), pure=False)
        waiting = [asyncio.ensure_future(_outcome(future)), asyncio.ensure_future(heard.wait())]
        needed = waiting if call is event else waiting[:1]
        await asyncio.wait(needed, timeout=WAIT_S)
    os._exit(0)


async def _outcome(future: Any) -> None:
    with suppress(Exception):  # whatever it is, it came to an end
        await future


if __name__ == "__main__":
    from referee.cluster.closed_pickle import close_pickle

    if sys.argv[4] == "closed":
        close_pickle()
    asyncio.run(_ask(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
