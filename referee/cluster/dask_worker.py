"""The Dask worker of a host: in a thread beside the loop that plays, and started anew when it loses the scheduler.

There is no nanny: it would limit the memory of this process alone, not of the programs, and kill the matches with it.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from threading import Thread
from typing import Any

import dask
from distributed import Worker, WorkerPlugin

from .host import Host
from .security import security_of

AGAIN_S = (0.5, 3.0)
"""How long a host waits before it connects again: not all of them at the same instant."""
CONNECT_S = 20.0
_LOG_BYTES = 10_000_000
_SPARE_THREADS = 2
"""Beside one for each match: that was given up, and is about to end."""


def log_to(path: Path) -> None:
    """Have what Dask logs written into a file: the terminal is for what the organiser of a host has to know.

    Args:
        path: of the file; an earlier one of many bytes is kept beside it.
    """
    file = RotatingFileHandler(path, maxBytes=_LOG_BYTES, backupCount=1, delay=True)
    file.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    for name in ("", *logging.root.manager.loggerDict):
        logger = logging.getLogger(name)
        if logger.handlers or not name:
            logger.handlers[:] = [file]


_SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.system-monitor.disk": False,
}
"""Dask would look into all threads a hundred times a second, measure its loop fifty times, and the machine twice: that
takes time from players."""


class _Releasing(WorkerPlugin):
    """Frees the threads that wait for matches when the worker closes, or it would never end.

    Args:
        host: this process's.
    """

    name = "referee"

    def __init__(self, host: Host) -> None:
        self._host = host

    def teardown(self, worker: Worker) -> None:
        """Let nobody wait any more; called by Dask."""
        self._host.release()


class DaskWorker:
    """The connection of a host to its scheduler.

    Args:
        address: of the scheduler.
        keys: folder of the certificates, if any.
        name: of the host.
        tables: how many matches it plays at a time.
        folder: for what Dask keeps.
        say: tells the organiser of the host something; called in any thread.
    """

    def __init__(
        self, address: str, keys: Path | None, name: str, tables: int, folder: Path, say: Callable[[str], None]
    ) -> None:
        self._address = address
        self._keys = keys
        self._name = name
        self._tables = tables
        self._folder = folder
        self._say = say
        self._loop: asyncio.AbstractEventLoop | None = None
        self._worker: Any = None
        self._serving: asyncio.Task[None] | None = None
        self._is_draining = False
        self._is_resting = False
        self._setting: asyncio.Future[None] | None = None
        """Kept from being forgotten."""
        self._thread: Thread | None = None

    def start(self, host: Host) -> None:
        """Connect, and stay connected."""
        dask.config.set(_SETTINGS)
        self._thread = Thread(target=lambda: asyncio.run(self._serve(host)), name="dask", daemon=True)
        self._thread.start()

    def tell(self, topic: str, event: dict[str, Any]) -> None:
        """Send an event to whoever listens to a topic, if there is a connection; in any thread."""
        if self._worker is not None:
            self._worker.log_event(topic, event)

    def drain(self) -> None:
        """Take no more matches; in any thread."""
        self._is_draining = True
        self._tell_tables()

    def rest(self, *, is_resting: bool) -> None:
        """Take no matches for a while, or take them again; in any thread."""
        self._is_resting = is_resting
        self._tell_tables()

    def close(self) -> None:
        """Leave the cluster, and wait for that; in any thread but its own."""
        if self._loop is not None and self._serving is not None:
            self._loop.call_soon_threadsafe(self._serving.cancel)
        if self._thread is not None:
            self._thread.join(CONNECT_S)

    @property
    def _open_tables(self) -> int:
        return 0 if self._is_draining or self._is_resting else self._tables

    def _tell_tables(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._set_tables)

    def _set_tables(self) -> None:
        if self._worker is not None:
            self._setting = asyncio.ensure_future(self._worker.set_resources(tables=self._open_tables))

    async def _serve(self, host: Host) -> None:
        self._loop, self._serving = asyncio.get_running_loop(), asyncio.current_task()
        while True:
            try:
                await self._connected(host)
                why = "it is gone"
            except asyncio.CancelledError:
                return
            except Exception as error:  # noqa: BLE001  # whatever it is, it is tried again
                why = f"{type(error).__name__}: {error}"[:300]
            self._worker = None
            host.release()
            self._say(f"no connection to the scheduler at {self._address}: {why}; it is tried again")
            await asyncio.sleep(random.uniform(*AGAIN_S))  # noqa: S311  # no secret

    async def _connected(self, host: Host) -> None:
        """Have one connection, for as long as it lasts."""
        worker: Any = Worker(
            self._address,
            name=self._name,
            nthreads=self._tables + _SPARE_THREADS,
            resources={"tables": self._open_tables},
            security=security_of(self._keys),
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            local_directory=str(self._folder),
            death_timeout=CONNECT_S,
            plugins=(_Releasing(host),),
        )
        try:
            await worker
            self._worker = worker
            self._set_tables()  # it may have begun to drain, or to rest, meanwhile
            self._say(f"connected to {self._address} as {self._name}, with {self._tables} tables")
            await worker.finished()
        finally:
            self._worker = None
            await worker.close(timeout=2, executor_wait=False)
