"""What a tournament's process, its dispatcher and the hosts say to each other: msgpack of these forms, never code.

Who has the key is the coordinator. It talks to the dispatcher over a socket, and through it, in bytes that Dask only
carries, to the hosts.
"""

from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from ..net.run_terms import RunTerms
from ..tournament.hosts import Calibration

M = TypeVar("M")

MAX_ANSWER_BYTES = 1 << 28
"""Of a record that a host sends back; a match of 100,000 turns is about 100 MB."""
SEEN_S = 0.5
"""How often the dispatcher tells of the hosts; it is more seldom when the scheduler has much to do."""
MAX_TOLD_BYTES = 1 << 26
"""Of lines that a host tells at once."""
SPARE_BYTES = 1 << 20
"""Of a frame that carries an answer, for all else."""


# --- the coordinator and its dispatcher


class Connect(Struct, frozen=True, kw_only=True, tag="connect"):
    """The first order: where the scheduler is."""

    address: str
    keys: Path | None
    """Folder of the certificates; None: without any, on this machine alone."""
    topic: str
    """Of the events that are for this run."""


class Ask(Struct, frozen=True, kw_only=True, tag="ask"):
    """A host is asked for something."""

    number: int
    host: str
    """Its address."""
    call: str
    """Name of a function in calls.py."""
    data: bytes


class Drop(Struct, frozen=True, kw_only=True, tag="drop"):
    """Nobody waits for an answer any more; what waits at its host is not begun."""

    number: int
    """Of the ask."""


class HostAnswer(Struct, frozen=True, kw_only=True, tag="answer"):
    """What a host has answered."""

    number: int
    data: bytes | None
    """None: there is no answer."""
    why: str = ""

    def read(self, kind: Any) -> Any:
        """Return what a host has answered; None: nothing that makes sense."""
        try:
            return None if self.data is None else unpacked(self.data, kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None


class SeenHost(Struct, frozen=True, kw_only=True):
    """A host that the scheduler knows."""

    name: str
    """No two processes have the same."""
    address: str
    """Another one each time that it connects."""
    tables: int
    """How many matches it plays at a time; 0: no more than it has."""


class KnownHosts(Struct, frozen=True, kw_only=True, tag="seen"):
    """All hosts that the scheduler knows now."""

    hosts: tuple[SeenHost, ...]


class ToldByHost(Struct, frozen=True, kw_only=True, tag="told"):
    """A host tells of a match that it plays."""

    host: str
    """Its name, as the host says."""
    match: str
    offset: int
    """Where in the record this begins."""
    lines: bytes
    """Whole lines of the record."""


Order = Connect | Ask | Drop
Report = HostAnswer | KnownHosts | ToldByHost
ORDERS: Any = tuple[Order, ...]
REPORTS: Any = tuple[Report, ...]


# --- the coordinator and a host


class CommonVersions(Struct, frozen=True, kw_only=True):
    """What has to be the same wherever matches of a tournament are played."""

    referee: str
    python: str
    distributed: str
    rules: str
    """SHA-256 of the files of the game, in hex."""


class RunOffer(Struct, frozen=True, kw_only=True):
    """A run of a tournament comes to a host."""

    run: str
    """No other run of any tournament has the same."""
    tournament: str
    """Its name and its key: a host ends what it plays for an earlier run of it."""
    process: str
    """What the records call the host."""
    game: str
    versions: CommonVersions
    terms: RunTerms
    wanted: tuple[str, ...]
    """Matches that the host was given before; it stops all others of this run."""


class RunAnswer(Struct, frozen=True, kw_only=True):
    """A host's answer."""

    refused: str | None = None
    """Why it can't play here; None: it plays."""
    calibration: Calibration | None = None
    """Of one that plays."""


class ShippedJob(Struct, frozen=True, kw_only=True):
    """A match that a host is to play."""

    run: str
    match: str
    job: bytes
    programs: tuple[str, ...]
    """By seat, the digest of the program's folder; empty where there is none."""


class KeptFolder(Struct, frozen=True, kw_only=True):
    """A program's folder that a host is to keep."""

    digest: str
    folder: bytes


class StopMatch(Struct, frozen=True, kw_only=True):
    """A match is to be stopped in the middle, or (without one) all of a run, which comes no more."""

    run: str
    match: str | None


class PlayedMatch(Struct, frozen=True, kw_only=True, tag="played"):
    """A match is over: its record, but for the seal."""

    record: bytes
    printed: dict[int, bytes] = {}
    """By seat, the end of what its program printed."""


class Needs(Struct, frozen=True, kw_only=True, tag="needs"):
    """A match can't begin before the host has these programs."""

    digests: tuple[str, ...]


class NotBegun(Struct, frozen=True, kw_only=True, tag="not-begun"):
    """A match can't be played here; nothing of it was."""

    why: str


class BrokenOff(Struct, frozen=True, kw_only=True, tag="broken-off"):
    """A match did not come to its end."""

    why: str
    printed: dict[int, bytes] = {}
    """As of one that is over."""


Returned = PlayedMatch | Needs | NotBegun | BrokenOff
RETURNED: Any = Returned


def packed(message: Struct) -> bytes:
    """Return a message as bytes."""
    return msgspec.msgpack.encode(message, enc_hook=str)


def unpacked(data: bytes, kind: type[M]) -> M:
    """Return the message of bytes.

    Raises:
        DecodeError: they are none of this kind.
    """
    return msgspec.msgpack.decode(data, type=kind, dec_hook=lambda wanted, text: wanted(text))
