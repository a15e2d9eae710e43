"""`referee worker`: be a host of a cluster, which plays matches for tournaments that run on other machines."""

import contextlib
import fcntl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import rich_click as click
from msgspec import Struct
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread

from ...app.running import run_reactor
from ...app.services import Monitoring, counting
from ...cluster import calls
from ...cluster.host import Host, calibrate, new_name
from ...cluster.host_run import HostSettings
from ...cluster.security import check_address
from ...errors import BadRequest, Interrupted
from ...files.scratch import remove
from ...programs.confining import find_confinement
from ...programs.sandbox import NoSandboxError
from ...record.folder import record_names
from ...settings import RunTerms, SandboxMode
from ..common import FOLDER, Count, console
from ..options import declared_options, metrics_option

_LOCK = ".lock"
_LOOK_S = 0.2
"""Interval between two checks whether the last match is over, in seconds."""
_FETCH_LOOKS = 300
"""Most checks whether the result of the last match was fetched. There are many, because the scheduler may be away."""


class WorkerOptions(Struct, frozen=True, kw_only=True):
    """Options of a host."""

    address: str
    """Address of the scheduler."""
    tables: int
    """Number of matches played at the same time."""
    folder: Path
    keys: Path | None
    """Folder of the certificates."""
    sandbox: SandboxMode
    metrics: str | None
    """Twisted endpoint string for monitors."""
    say: Callable[[str], None]


def work(options: WorkerOptions) -> None:
    """Play matches as a host until the organiser asks it to end and the open matches are over.

    Raises:
        BadRequest: the address or the folder can't be used, Dask is not installed, or a sandbox is missing.
        RefereeError: the host can't have that many tables.
        EndpointError: the address for monitors can't be listened on.
        OSError: the machine failed.
    """
    check_address(options.address, options.keys)
    hidden = tuple(path.absolute() for path in (options.folder / "records", options.keys) if path is not None)
    calibration = calibrate(options.tables)
    with counting(options.metrics) as monitoring:
        settings = HostSettings(
            folder=options.folder.absolute(),
            hidden=hidden,
            sandbox=options.sandbox,
            calibration=calibration,
            observers=monitoring.observers,
        )
        # Report a missing sandbox now, on this machine. Otherwise the error would come with the first match, elsewhere.
        _check_sandbox(settings, options.say)
        options.say(
            f"calibration: a fixed piece of work, done on all {options.tables} tables at once, takes "
            f"{calibration.wall_ms:.1f} ms ({calibration.processor_ms:.1f} ms of processor time)"
        )
        with _own(settings.folder), contextlib.suppress(Interrupted):
            run_reactor(lambda reactor: _work_with_monitor(reactor, monitoring, options, settings))


def _check_sandbox(settings: HostSettings, say: Callable[[str], None]) -> None:
    try:
        terms = RunTerms(sandbox=settings.sandbox)
        find_confinement(terms, hidden=settings.hidden, private_names=record_names, warn=say).close()
    except NoSandboxError as error:
        remedy = f"or run programs with less protection: --sandbox {SandboxMode.AUTO} or {SandboxMode.OFF}"
        raise BadRequest(f"this machine can't run programs in a sandbox: {error}; {remedy}") from None


@contextlib.contextmanager
def _own(folder: Path) -> Iterator[None]:
    """Lock the folder against other hosts, and remove what an earlier host left of its open matches."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadRequest(f"another host uses {folder}; give each host a folder of its own") from None
        for name in ("records", "dask"):
            remove(folder / name)
        yield


async def _work_with_monitor(
    reactor: Any, monitoring: Monitoring, options: WorkerOptions, settings: HostSettings
) -> None:
    async with monitoring.open_endpoint(reactor):
        await _work(reactor, options, settings)


async def _work(reactor: Any, options: WorkerOptions, settings: HostSettings) -> None:
    from ...cluster.dask_worker import DaskWorker, redirect_logs  # noqa: PLC0415  # Dask is an extra; check_address has looked for it

    redirect_logs(settings.folder / "dask.log")
    name = new_name()
    worker = DaskWorker(options.address, options.keys, name, options.tables, settings.folder / "dask", options.say)
    host = Host(
        reactor, name, settings, worker.publish, options.say, lambda is_resting: worker.rest(is_resting=is_resting)
    )
    calls.handlers.update(enter=host.enter, store=host.store, stop=host.stop, describe=host.describe, play=host.play)
    worker.start(host)
    try:
        await Deferred()
    except CancelledError:
        options.say("this host takes no more matches; it ends when its matches are over, or at once if asked again")
        # A match that is broken off here would be played again elsewhere. To finish it costs only its own time.
        worker.drain()
        while not host.is_idle:
            await deferLater(reactor, _LOOK_S)
        for _ in range(_FETCH_LOOKS):
            if host.is_fetched:
                break
            await deferLater(reactor, _LOOK_S)
        await deferLater(reactor, 1.0)  # the result of the last match may still be on its way
    finally:
        await deferToThread(worker.close)
        await host.close()


(_sandbox_option,) = declared_options(RunTerms, "sandbox", default=SandboxMode.REQUIRED.value)


@click.command(epilog="Example:  referee worker tls://10.0.0.1:8786 --tables 4 --folder worker --keys keys")
@click.argument("scheduler")
@click.option("--tables", type=Count(1, 256), default=1, show_default=True, help="Play this many matches at once.")
@click.option(
    "--folder", type=FOLDER, default=Path("worker"), show_default=True, help="Folder for programs and records."
)
@click.option(
    "--keys", type=FOLDER, help="Folder of the certificates. See `referee cluster-keys`. (Default: no encryption)"
)
@_sandbox_option
@metrics_option
def worker(scheduler: str, **chosen: Any) -> None:
    """Play matches for tournaments that run with `--cluster`, through the Dask scheduler at SCHEDULER.

    A host has no signing key: the machine that runs the tournament checks and seals each record.

    After Ctrl-C or SIGTERM the host finishes its matches and takes no more; a second signal ends it at once. If the
    connection to the scheduler is lost, the host connects again.
    """
    sandbox = SandboxMode(chosen.pop("sandbox"))
    work(WorkerOptions(address=scheduler, say=console.say, sandbox=sandbox, **chosen))
