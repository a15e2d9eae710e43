"""Services of a running referee: its key, the limits of programs, observers, and the endpoint for monitors.

A command says in RefereeOptions what its user chose; `services` makes the objects for one run and closes them after it.
"""

import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct
from msgspec.structs import replace

from ..errors import BadRequest
from ..net.links.addresses import listen, stop_listening
from ..net.matches.settings import MatchServices
from ..observers import InThread, Observer, Observers
from ..plugins import installed
from ..programs import confining
from ..programs.confining import Confinement
from ..programs.sandbox import NoSandboxError
from ..record.folder import record_names
from ..record.key import Sealer, default_path, load_or_make
from ..settings import RunTerms, SandboxMode

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

Say = Callable[[str], None]
"""Prints one sentence for the user."""
monotonic = time.monotonic
"""Monotonic seconds: the clock of all instants."""


# Imports of the monitor, of diagnostics and of Prometheus stand inside functions: few users ask for them, and all
# others would wait a tenth of a second for each command.


class RefereeOptions(Struct, frozen=True, kw_only=True):
    """The user's choices, whatever is played."""

    terms: RunTerms = RunTerms()
    """Terms of all matches; in a tournament, its file decides."""
    key: Path | None = None
    """File of the key that seals records; None: the default file."""
    diagnostics: Path | None = None
    """File to which diagnostics are appended."""
    heads: Path | None = None
    """File to which the heads of running records are appended."""
    metrics: str | None = None
    """Twisted endpoint string for monitors; None: there is no endpoint."""
    say: Say = lambda text: None
    observers: tuple[Observer, ...] = ()
    """Observers that the command adds."""

    def without_sandbox(self) -> Self:
        """Return the options of a run that starts no programs."""
        return replace(self, terms=replace(self.terms, sandbox=SandboxMode.OFF))


class Monitoring(Struct, frozen=True):
    """Observers of a referee, and its endpoint for monitors."""

    observers: Observers
    address: str | None
    """Twisted endpoint string of the endpoint for monitors; None: there is none."""
    registry: "CollectorRegistry | None"
    """Metrics of the endpoint; None if there is none."""

    @contextlib.asynccontextmanager
    async def open_endpoint(self, reactor: Any) -> AsyncIterator[None]:
        """Keep the endpoint for monitors open during a block, if there is one.

        Raises:
            EndpointError: its address can't be listened on.
        """
        if self.address is None or self.registry is None:
            yield
            return
        from ..web.monitor import monitor_site  # noqa: PLC0415  # few users ask for it, and all others would wait for the import

        port = await listen(reactor, self.address, monitor_site(self.registry, reactor))
        try:
            yield
        finally:
            await stop_listening(port)


class Services(Struct, frozen=True, kw_only=True):
    """Services of a running referee."""

    match: MatchServices
    """Services for matches."""
    monitoring: Monitoring
    say: Say = lambda text: None


@contextlib.contextmanager
def services(options: RefereeOptions, logs: Path) -> Iterator[Services]:
    """Make the services that the options ask for, and close them after the block.

    Args:
        options: the user's choices.
        logs: folder of the records.

    Raises:
        BadKey: the key can't be read or made.
        BadRequest: a sandbox is required, and there is none.
        OSError: a file for diagnostics or heads can't be written.
    """
    with monitoring(options) as watching:
        match = MatchServices(
            sealer=find_sealer(options.key, options.say),
            observers=watching.observers,
            terms=options.terms,
            confinement=find_confinement(options, logs),
        )
        try:
            yield Services(match=match, monitoring=watching, say=options.say)
        finally:
            match.confinement.close()


@contextlib.contextmanager
def monitoring(options: RefereeOptions) -> Iterator[Monitoring]:
    """Open the observers and the logs that the options ask for, and close them after the block.

    Raises:
        OSError: a file for diagnostics or heads can't be written.
    """
    numbers, added = _counting(options.metrics)
    if options.diagnostics is not None:
        from ..observers.diagnostics import DiagnosticLog  # noqa: PLC0415  # as the monitor

        # A disk may stand still for seconds. In a thread, the log does not hold up the loop that takes the times of
        # answers.
        added.append(InThread(DiagnosticLog(options.diagnostics)))
    if options.heads is not None:
        from ..observers.heads import HeadLog  # noqa: PLC0415  # as the monitor

        added.append(InThread(HeadLog(options.heads)))
    with Observers(*options.observers, *added) as observers:
        for make in installed().observers:
            observers.add(make)
        yield Monitoring(observers, options.metrics, numbers)


@contextlib.contextmanager
def counting(address: str | None) -> Iterator[Monitoring]:
    """Count metrics for the endpoint for monitors, if there is one; there are no other observers.

    Args:
        address: Twisted endpoint string; None: there is none.
    """
    numbers, counters = _counting(address)
    with Observers(*counters) as observers:
        yield Monitoring(observers, address, numbers)


def _counting(address: str | None) -> "tuple[CollectorRegistry | None, list[Observer]]":
    """Return the metrics of an address, and the observer that counts them."""
    if address is None:
        return None, []
    import prometheus_client  # noqa: PLC0415  # as the monitor

    from ..observers.metrics import Metrics  # noqa: PLC0415

    numbers = prometheus_client.CollectorRegistry()
    return numbers, [Metrics(numbers)]


def find_sealer(path: Path | None, say: Say) -> Sealer:
    """Return the key that seals records; make it on first use, and report that.

    Raises:
        BadKey: it can't be read or made.
    """
    where = path or default_path(os.environ)
    sealer, is_new = load_or_make(where)
    if is_new:
        say(f"made a key to seal records with: {where}")
    return sealer


def find_confinement(options: RefereeOptions, logs: Path) -> Confinement:
    """Return the confinement of programs; warn if it enforces less than it could, and clean up after killed referees.

    Args:
        options: terms, key, and the files for diagnostics and heads.
        logs: folder of the records.

    Raises:
        BadRequest: a sandbox is required, and there is none.
    """
    files = (options.diagnostics, options.heads)
    # A program that could read the key could sign records. One that could read the logs would see the answers of its
    # opponents, and could learn their moves by heart.
    secret_files = (logs, options.key or default_path(os.environ), *(file for file in files if file is not None))
    try:
        return confining.find_confinement(
            options.terms,
            hidden=secret_files,
            private_names=record_names,
            warn=options.say,
        )
    except NoSandboxError as error:
        raise BadRequest(f"--sandbox required: {error}") from None
