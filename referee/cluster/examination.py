"""What each host of a cluster says of itself, for whoever looks after it."""

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
"""How long the scheduler, and then all hosts together, may take to answer."""
_MOST_TEXT = 300


class HostReport(Struct, frozen=True, kw_only=True):
    """What a host says of itself."""

    playing: int
    """Matches."""
    referee: str
    python: str
    distributed: str
    cores: int
    missing: tuple[str, ...]
    """What it can't enforce on programs, as `referee doctor` calls it there."""
    lag_ms: float
    """How long its loop took to take up a call."""
    free_mib: float
    """On the disk of its folder."""
    calibration: Calibration


class AskedHost(Struct, frozen=True, kw_only=True):
    """A host that the scheduler knows."""

    name: str
    tables: int
    """How many matches it plays at a time; 0: it takes no more."""
    report: HostReport | None
    why: str = ""
    """Why there is no report."""


class NoAnswer(RefereeError):
    """A scheduler that can't be asked; the text says why."""


def ask_hosts(address: str, keys: Path | None) -> list[AskedHost]:
    """Ask all hosts of a cluster how they are, once; nothing that they answer is run here.

    Args:
        address: of the scheduler.
        keys: folder of the certificates.

    Raises:
        NoCluster: the address can't be used, or Dask is not installed.
        NoAnswer: the scheduler does not answer.
    """
    check_address(address, keys)
    try:
        return asyncio.run(_asked(address, keys))
    except (OSError, TimeoutError) as error:
        found = f"{type(error).__name__}: {error}"[:_MOST_TEXT]
        text = f"the scheduler at {address} does not answer: {found}"
        raise NoAnswer(f"{text}; is it running, and are these the certificates of its cluster?") from None


async def _asked(address: str, keys: Path | None) -> list[AskedHost]:
    from .closed_pickle import plain_client  # noqa: PLC0415  # needs Dask, which was looked for

    async with asyncio.timeout(2 * REPLY_S), plain_client(address, keys, REPLY_S) as client:
        found = (await client.scheduler.identity(n_workers=-1))["workers"]
        answers = await client.run(calls.describe, b"", workers=list(found), on_error="return") if found else {}
    return sorted((_read(about, answers.get(where)) for where, about in found.items()), key=lambda host: host.name)


def _read(about: dict[str, Any], answer: Any) -> AskedHost:
    report, why = None, ""
    try:
        report = msgspec.msgpack.decode(answer, type=HostReport)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError) as error:
        why = f"its answer makes no sense: {error}" if isinstance(answer, bytes) else f"no answer: {answer!r:.200}"
    tables = int(about.get("resources", {}).get("tables", 0))
    return AskedHost(name=str(about["name"]), tables=tables, report=report, why=why)
