"""What a running referee tells of itself: the options for it, what they open, and who was turned away at the door.

Knows files and endpoints, no matches.
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import rich_click as click
from msgspec import Struct
from prometheus_client import CollectorRegistry

from ...clock import Port
from ...net.monitor import open_monitor
from ...net.telemetry import DiagnosticLog, Metrics, Several, Silence, Telemetry
from ...text import printable
from ..common import console

F = TypeVar("F", bound=Callable[..., Any])
MAX_TOLD = 100
"""Lines of those who were turned away."""


class Dropped(Silence):
    """Tells on stderr of an observer that failed; no record has it."""

    def note(self, event: str, /, **facts: Any) -> None:
        """Tell of it."""
        if event == "observer-failed":
            text = f"{facts['observer']} failed, and shows nothing more: {facts['error']}; what is played goes on"
            console.print(printable(text), markup=False, highlight=False, soft_wrap=True)


class TurnedAway(Silence):
    """Tells the organiser on stderr who was refused at the door, and why: no record has it.

    The same is told once, and after MAX_TOLD lines nothing more: who connects again and again fills no screen.
    """

    def __init__(self) -> None:
        self._told: set[str] = set()

    def note(self, event: str, /, **facts: Any) -> None:
        """Tell of a refusal."""
        if event not in ("connection-refused", "connection-pushed-out") or len(self._told) > MAX_TOLD:
            return
        who = " ".join(filter(None, (facts["address"], facts.get("name"))))
        sent = f"; it sent {facts['sent']}" if facts.get("sent") else ""
        text = printable(f"turned away: {who}: {facts.get('reason', 'too many connections that say no hello')}{sent}")
        if text in self._told:
            return
        self._told.add(text)
        more = "turned away: more than can be told" if len(self._told) > MAX_TOLD else text
        console.print(more, markup=False, highlight=False, soft_wrap=True)


class Monitoring(Struct, frozen=True):
    """Where a referee tells of itself."""

    telemetry: Several
    address: str | None
    """Twisted endpoint string of the endpoint for monitors; None: there is none."""
    registry: CollectorRegistry

    async def open(self, reactor: Any) -> Port | None:
        """Open the endpoint for monitors, if there is to be one.

        Raises:
            AddressError: its address can't be listened on.
        """
        return (
            None
            if self.address is None
            else await open_monitor(reactor, self.address, self.registry, self.telemetry.note)
        )


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
def watched(diagnostics: Path | None, metrics: str | None, *others: Telemetry) -> Iterator[Monitoring]:
    """Open what the options ask for, and close it afterwards.

    Args:
        diagnostics: file to add lines to.
        metrics: Twisted endpoint string for monitors.
        others: who is told besides.

    Raises:
        click.ClickException: the file can't be written.
    """
    registry = CollectorRegistry()
    sinks: list[Telemetry] = [Dropped(), *others, *([Metrics(registry)] if metrics is not None else [])]
    with contextlib.ExitStack() as stack:
        if diagnostics is not None:
            try:
                log = DiagnosticLog(diagnostics)
            except OSError as error:
                raise click.ClickException(f"can't write {diagnostics}: {error.strerror}") from None
            stack.callback(log.close)
            sinks.append(log)
        yield Monitoring(Several(*sinks), metrics, registry)
