"""Asks all hosts of a cluster for their state, for `referee doctor --cluster`. Hosts are excluded in admission.py."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ..errors import RefereeError
from ..tournament.hosts import Calibration
from . import calls
from .security import check_address

REPLY_S = 20.0
"""Time that the scheduler, and then all hosts together, may take to answer, in seconds."""
_MAX_TEXT_CHARS = 300


class HostReport(Struct, frozen=True, kw_only=True):
    """The state that a host reports."""

    playing: int
    """Number of matches that the host plays now."""
    referee: str
    python: str
    distributed: str
    cores: int
    missing: tuple[str, ...]
    """Limits on programs that the host cannot enforce, under the names that `referee doctor` uses."""
    lag_ms: float
    """Time until the host's event loop began to process a call, in milliseconds."""
    free_mib: float
    """Free space on the disk of its folder, in MiB."""
    calibration: Calibration


class HostStatus(Struct, frozen=True, kw_only=True):
    """A host that the scheduler knows."""

    name: str
    tables: int
    """Number of matches that the host plays at a time; 0 if it takes no new matches."""
    report: HostReport | None
    why: str = ""
    """Reason why there is no report."""


def ask_hosts(address: str, keys: Path | None) -> list[HostStatus]:
    """Ask all hosts of a cluster for their state, once. No code from their answers runs here.

    Args:
        address: the scheduler's address.
        keys: folder of the certificates; None for a connection without encryption.

    Returns:
        The hosts, by name.

    Raises:
        BadRequest: the address cannot be used, or Dask is not installed.
        RefereeError: the scheduler does not answer.
    """
    check_address(address, keys)
    try:
        return asyncio.run(_ask_all(address, keys))
    except (OSError, TimeoutError) as error:
        reason = f"{type(error).__name__}: {error}"[:_MAX_TEXT_CHARS]
        raise RefereeError(
            f"the scheduler at {address} does not answer: {reason}; check that it runs, and that {keys or '--keys'} "
            "holds the certificates of its cluster"
        ) from None


async def _ask_all(address: str, keys: Path | None) -> list[HostStatus]:
    from .closed_pickle import make_plain_client  # noqa: PLC0415  # needs Dask, an extra; check_address has made sure that it is there

    async with asyncio.timeout(2 * REPLY_S), make_plain_client(address, keys, REPLY_S) as client:
        workers = (await client.scheduler.identity(n_workers=-1))["workers"]
        answers = await client.run(calls.describe, b"", workers=list(workers), on_error="return") if workers else {}
    return sorted(
        (read_status(about, answers.get(where)) for where, about in workers.items()), key=lambda host: host.name
    )


def read_status(about: dict[str, Any], answer: Any) -> HostStatus:
    """Read the answer of one host.

    Args:
        about: the scheduler's description of the host.
        answer: the host's answer, which may be any object.
    """
    report, why = None, ""
    try:
        report = msgspec.msgpack.decode(answer, type=HostReport)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError) as error:
        why = f"its answer cannot be read: {error}" if isinstance(answer, bytes) else f"no answer: {answer!r:.200}"
    tables = int(about.get("resources", {}).get("tables", 0))
    return HostStatus(name=str(about["name"]), tables=tables, report=report, why=why)
