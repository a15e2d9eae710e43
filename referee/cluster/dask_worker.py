"""The Dask worker of a host. It runs in a thread next to the loop that plays, and reconnects if it loses the scheduler.

It has no nanny (Dask's supervising process). A nanny would limit only the memory of this process, not that of the
programs, and would kill the matches together with the worker.
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
from .security import load_security

AGAIN_S = (0.5, 3.0)
"""Shortest and longest pause before a host reconnects, in seconds. The pause is random, so that the hosts do not all
reconnect at once."""
CONNECT_S = 20.0
_LOG_BYTES = 10_000_000
_SPARE_THREADS = 2
"""Threads in addition to one for each match, for matches that were given up and are about to end."""


def redirect_logs(path: Path) -> None:
    """Write Dask's log to a file. The terminal shows only what the organiser of a host has to know.

    Args:
        path: path of the file. When it grows large it is renamed, and the last such file is kept.
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
"""Dask would sample all threads a hundred times a second, its loop fifty times and the machine twice. That would take
processor time from the players."""


class _Releasing(WorkerPlugin):
    """Frees the threads that wait for matches when the worker closes: otherwise the worker would never end.

    Args:
        host: the host in this process.
    """

    name = "referee"

    def __init__(self, host: Host) -> None:
        self._host = host

    def teardown(self, worker: Worker) -> None:
        """Release the waiting threads. Called by Dask."""
        self._host.release()


class DaskWorker:
    """The connection of a host to its scheduler.

    Args:
        address: the scheduler's address.
        keys: folder of the certificates; None for a connection without encryption.
        name: name of the host.
        tables: number of matches that the host plays at a time.
        folder: folder for Dask's own files.
        say: prints a line for the organiser of the host; called in any thread.
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
        self.loop: asyncio.AbstractEventLoop | None = None
        """Loop of Dask's thread; None before it runs."""
        self.worker: Any = None
        """Dask's worker; None while there is none."""
        self._serving: asyncio.Task[None] | None = None
        self._is_draining = False
        self._is_resting = False
        self._setting: asyncio.Future[None] | None = None
        """The task that last changed the tables. Without this reference, Python might delete the task while it runs."""
        self._thread: Thread | None = None

    def start(self, host: Host) -> None:
        """Connect, and stay connected."""
        dask.config.set(_SETTINGS)
        self._thread = Thread(target=lambda: asyncio.run(self._serve(host)), name="dask", daemon=True)
        self._thread.start()

    def publish(self, topic: str, event: dict[str, Any]) -> None:
        """Publish an event under a topic, if there is a connection. Call it in any thread."""
        # Events are lost while there is no connection, but nothing depends on them. The whole record is returned at the
        # end, and when the tournament has reconnected, the lines of a running match are sent again from the first one.
        if self.worker is not None:
            self.worker.log_event(topic, event)

    def drain(self) -> None:
        """Take no more matches. Call it in any thread."""
        self._is_draining = True
        self._update_tables()

    def rest(self, *, is_resting: bool) -> None:
        """Take no matches for a while, or take them again. Call it in any thread."""
        self._is_resting = is_resting
        self._update_tables()

    def close(self) -> None:
        """Leave the cluster, and wait until that is done. Call it in any thread but the worker's."""
        if self.loop is not None and self._serving is not None:
            self.loop.call_soon_threadsafe(self._serving.cancel)
        if self._thread is not None:
            self._thread.join(CONNECT_S)

    @property
    def _open_tables(self) -> int:
        return 0 if self._is_draining or self._is_resting else self._tables

    def _update_tables(self) -> None:
        if self.loop is not None:
            self.loop.call_soon_threadsafe(self._set_tables)

    def _set_tables(self) -> None:
        if self.worker is not None:
            self._setting = asyncio.ensure_future(self.worker.set_resources(tables=self._open_tables))

    async def _serve(self, host: Host) -> None:
        self.loop, self._serving = asyncio.get_running_loop(), asyncio.current_task()
        while True:
            try:
                await self._connect(host)
                why = "the scheduler is gone"
            except asyncio.CancelledError:
                return
            except Exception as error:  # noqa: BLE001  # whatever the reason, the host reconnects
                why = f"{type(error).__name__}: {error}"[:300]
            # A worker that has given up cannot be started again, so a new one is made. It has the same name, so the
            # tournament treats it as the same host.
            self.worker = None
            host.release()
            self._say(f"no connection to the scheduler at {self._address}: {why}; trying again")
            await asyncio.sleep(random.uniform(*AGAIN_S))  # noqa: S311  # a pause, not a secret

    async def _connect(self, host: Host) -> None:
        """Connect, and return when the connection is lost."""
        worker: Any = Worker(
            self._address,
            name=self._name,
            nthreads=self._tables + _SPARE_THREADS,
            resources={"tables": self._open_tables},
            security=load_security(self._keys),
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            local_directory=str(self._folder),
            death_timeout=CONNECT_S,
            plugins=(_Releasing(host),),
        )
        try:
            await worker
            self.worker = worker
            self._set_tables()  # it may have begun to drain or to rest while it connected
            self._say(f"connected to {self._address} as {self._name}, with {self._tables} tables")
            await worker.finished()
        finally:
            self.worker = None
            await worker.close(timeout=2, executor_wait=False)
