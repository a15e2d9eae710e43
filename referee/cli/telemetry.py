"""The options by which a running referee tells of itself, and what they open. Knows files and endpoints, no matches."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import rich_click as click
from msgspec import Struct
from prometheus_client import CollectorRegistry

from ..net.clock import Port
from ..net.monitor import open_monitor
from ..net.telemetry import DiagnosticLog, Metrics, Several, Telemetry

F = TypeVar("F", bound=Callable[..., Any])


class Watched(Struct, frozen=True):
    """Where a referee tells of itself."""

    telemetry: Telemetry
    address: str | None
    """Twisted endpoint string of the endpoint for monitors; None: there is none."""
    registry: CollectorRegistry

    async def open(self, reactor: Any) -> Port | None:
        """Open the endpoint for monitors, if there is to be one.

        Raises:
            AddressError: its address can't be listened on.
        """
        return None if self.address is None else await open_monitor(reactor, self.address, self.registry)


def telemetry_options(function: F) -> F:
    """Add the options to a command."""
    log = click.option(
        "--diagnostics",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Add what happens at the edges (connections, stalls, expulsions) to FILE, as lines of JSON.",
    )
    monitor = click.option(
        "--metrics",
        metavar="ENDPOINT",
        help="Serve /metrics for Prometheus and /health there, e.g. tcp:9100:interface=127.0.0.1",
    )
    return log(monitor(function))


@contextlib.contextmanager
def watched(diagnostics: Path | None, metrics: str | None) -> Iterator[Watched]:
    """Open what the options ask for, and close it afterwards.

    Raises:
        click.ClickException: the file can't be written.
    """
    registry = CollectorRegistry()
    sinks: list[Telemetry] = [Metrics(registry)] if metrics is not None else []
    with contextlib.ExitStack() as stack:
        if diagnostics is not None:
            try:
                log = DiagnosticLog(diagnostics)
            except OSError as error:
                raise click.ClickException(f"can't write {diagnostics}: {error.strerror}") from None
            stack.callback(log.close)
            sinks.append(log)
        yield Watched(Several(*sinks), metrics, registry)
