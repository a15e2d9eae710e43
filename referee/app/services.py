"""What a running referee has at hand: its key, what it holds programs to, where it tells of itself."""

import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..errors import BadRequest
from ..net.group_commit import Durability
from ..net.links.addresses import listen, stop_listening
from ..net.matches.settings import MatchServices
from ..net.run_terms import RunTerms
from ..observers import InThread, Observer, Observers
from ..observers.heads import HeadLog
from ..plugins import installed
from ..programs import confining
from ..programs.confining import Confinement, SandboxMode
from ..programs.limits import ProgramLimits
from ..programs.sandbox import NoSandboxError
from ..record.folder import record_names
from ..record.key import Sealer, default_path, load_or_make

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

Say = Callable[[str], None]
"""Tells whoever runs the referee something, in one sentence."""
monotonic = time.monotonic
"""Monotonic seconds: the clock of all instants."""


class SandboxMissing(BadRequest):
    """A sandbox is required, and this machine has none, or one that holds less than it should."""


class RefereeOptions(Struct, frozen=True, kw_only=True):
    """What whoever runs the referee chooses, whatever is played."""

    key: Path | None = None
    """File of the key that seals records; None: where it is kept by default."""
    sandbox: str = SandboxMode.AUTO
    memory_mib: int = ProgramLimits().memory_mib
    """What one program may use."""
    durability: str = Durability.MATCH
    """What of a running match outlives the machine's power; in a tournament, its file says so."""
    diagnostics: Path | None = None
    """File that lines of diagnostics are added to."""
    heads: Path | None = None
    """File that the heads of running records are added to."""
    metrics: str | None = None
    """Twisted endpoint string for monitors."""
    say: Say = lambda text: None
    observers: tuple[Observer, ...] = ()
    """Who is told what happens."""


class Monitoring(Struct, frozen=True):
    """Where a referee tells of itself, and who else is told what happens."""

    observers: Observers
    address: str | None
    """Twisted endpoint string of the endpoint for monitors; None: there is none."""
    registry: "CollectorRegistry | None"
    """What it serves; None as well."""

    @contextlib.asynccontextmanager
    async def open_endpoint(self, reactor: Any) -> AsyncIterator[None]:
        """Have the endpoint for monitors open, if there is to be one.

        Raises:
            EndpointError: its address can't be listened on.
        """
        if self.address is None or self.registry is None:
            yield
            return
        from ..web.monitor import monitor_site  # noqa: PLC0415  # few ask for it, and all would wait for the import

        port = await listen(reactor, self.address, monitor_site(self.registry, reactor))
        try:
            yield
        finally:
            await stop_listening(port)


class Services(Struct, frozen=True, kw_only=True):
    """What a running referee has at hand."""

    match: MatchServices
    """What a match needs of it."""
    monitoring: Monitoring
    say: Say = lambda text: None


@contextlib.contextmanager
def services(options: RefereeOptions, logs: Path) -> Iterator[Services]:
    """Have at hand what the options ask for.

    Args:
        options: that were chosen.
        logs: folder of the records.

    Raises:
        BadKey: the key can't be read or made.
        SandboxMissing: it is required.
        OSError: the file for diagnostics or for heads can't be written.
    """
    with monitoring(options) as watching:
        match = MatchServices(
            sealer=find_sealer(options.key, options.say),
            observers=watching.observers,
            terms=RunTerms(
                durability=Durability(options.durability), sandbox=options.sandbox, memory_mib=options.memory_mib
            ),
            confinement=find_confinement(options, logs),
        )
        try:
            yield Services(match=match, monitoring=watching, say=options.say)
        finally:
            match.confinement.close()


@contextlib.contextmanager
def monitoring(options: RefereeOptions) -> Iterator[Monitoring]:
    """Open where the referee tells of itself, and close it afterwards.

    Raises:
        OSError: the file for diagnostics or for heads can't be written.
    """
    numbers, own = _counting(options.metrics)
    if options.diagnostics is not None:
        from ..observers.diagnostics import DiagnosticLog  # noqa: PLC0415  # as the monitor

        own.append(InThread(DiagnosticLog(options.diagnostics)))
    if options.heads is not None:
        own.append(InThread(HeadLog(options.heads)))
    with Observers(*options.observers, *own) as observers:
        for make in installed().observers:
            observers.add(make)
        yield Monitoring(observers, options.metrics, numbers)


@contextlib.contextmanager
def counting(address: str | None) -> Iterator[Monitoring]:
    """Tell monitors alone what happens, if there is to be an endpoint for them.

    Args:
        address: Twisted endpoint string of it; None: there is none.
    """
    numbers, own = _counting(address)
    with Observers(*own) as observers:
        yield Monitoring(observers, address, numbers)


def _counting(address: str | None) -> "tuple[CollectorRegistry | None, list[Observer]]":
    """Return the numbers that are served at an address, and who counts them."""
    if address is None:
        return None, []
    import prometheus_client  # noqa: PLC0415  # as the monitor

    from ..observers.metrics import Metrics  # noqa: PLC0415

    numbers = prometheus_client.CollectorRegistry()
    return numbers, [Metrics(numbers)]


def find_sealer(path: Path | None, say: Say) -> Sealer:
    """Return the key that seals records; make it on first use, and say so.

    Raises:
        BadKey: it can't be read or made.
    """
    where = path or default_path(os.environ)
    sealer, is_new = load_or_make(where)
    if is_new:
        say(f"made a key to seal records with: {where}")
    return sealer


def find_confinement(options: RefereeOptions, logs: Path) -> Confinement:
    """Return what programs are held to, and say so if that is less than it could be; clear up after killed referees.

    Args:
        options: key, sandbox, memory, and the files for diagnostics and heads.
        logs: folder of the records.

    Raises:
        SandboxMissing: it is required.
    """
    files = (options.diagnostics, options.heads)
    own = (logs, options.key or default_path(os.environ), *(file for file in files if file is not None))
    try:
        return confining.find_confinement(
            options.sandbox,
            ProgramLimits(memory_mib=options.memory_mib),
            hidden=own,
            private_names=record_names,
            warn=options.say,
        )
    except NoSandboxError as error:
        raise SandboxMissing(f"--sandbox required: {error}") from None
