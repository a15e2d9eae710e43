"""Messages between a tournament's process, its dispatcher and the hosts: these structs in msgpack, never code.

    coordinator  --- socket --->  dispatcher  --- Dask --->  hosts
    (has the key)                 (no key)                   (no key)

The coordinator talks to its dispatcher over a socket (`Order`, `Report`). It talks to the hosts through the
dispatcher, in bytes that Dask only transports (`RunOffer`, `ShippedJob`, ...).
"""

from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from ..settings import RunTerms
from ..tournament.hosts import Calibration

M = TypeVar("M")

MAX_ANSWER_BYTES = 1 << 28
"""Largest answer of a host: one record. A match of 100,000 turns has about 100 MB."""
HOSTS_REPORT_S = 0.5
"""Interval at which the dispatcher reports the hosts, in seconds. It is longer when the scheduler is busy."""
MAX_LINES_BYTES = 1 << 26
"""Largest piece of a record that a host sends while it plays."""
SPARE_BYTES = 1 << 20
"""Room in a frame for everything but the answer that it carries."""


# --- between the coordinator and its dispatcher


class Connect(Struct, frozen=True, kw_only=True, tag="connect"):
    """The first order: where the scheduler is."""

    address: str
    keys: Path | None
    """Folder of the certificates; None for a connection without encryption, which is for this machine only."""
    topic: str
    """Dask topic under which hosts publish the events of this run."""


class Ask(Struct, frozen=True, kw_only=True, tag="ask"):
    """Order to call a function on a host."""

    number: int
    host: str
    """The host's address."""
    call: str
    """Name of a function in calls.py."""
    data: bytes


class Drop(Struct, frozen=True, kw_only=True, tag="drop"):
    """Order to give up a call: if it still waits at its host, it does not begin."""

    number: int
    """Number of the `Ask`."""


class HostAnswer(Struct, frozen=True, kw_only=True, tag="answer"):
    """A host's answer to a call."""

    number: int
    data: bytes | None
    """The answer; None if there was none. `why` then gives the reason."""
    why: str = ""

    def read(self, kind: Any) -> Any:
        """Return the message in the answer; None if there is no message, or none of this kind."""
        try:
            return None if self.data is None else decode_message(self.data, kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None


class SeenHost(Struct, frozen=True, kw_only=True):
    """A host that the scheduler knows."""

    name: str
    """Name of the host; no two processes have the same name."""
    address: str
    """Address of the host; it has a new one each time it connects."""
    tables: int
    """Number of matches that the host plays at a time; 0 if it takes no new matches."""


class KnownHosts(Struct, frozen=True, kw_only=True, tag="seen"):
    """Report of all hosts that the scheduler knows now."""

    hosts: tuple[SeenHost, ...]


class HostLines(Struct, frozen=True, kw_only=True, tag="told"):
    """Report of new lines in the record of a match that a host plays."""

    host: str
    """The name that the host gives itself."""
    match: str
    offset: int
    """Position of the first of these lines in the record, in bytes."""
    lines: bytes
    """Whole lines of the record."""


Order = Connect | Ask | Drop
Report = HostAnswer | KnownHosts | HostLines
ORDERS: Any = tuple[Order, ...]
REPORTS: Any = tuple[Report, ...]


# --- between the coordinator and a host


class CommonVersions(Struct, frozen=True, kw_only=True):
    """Versions that must be the same on all machines that play matches of a tournament."""

    referee: str
    python: str
    distributed: str
    rules: str
    """SHA-256 of the game's files, in hex."""


class RunOffer(Struct, frozen=True, kw_only=True):
    """Asks a host to play for a run of a tournament."""

    run: str
    """Unique name of this run."""
    tournament: str
    """The tournament's name and public key. The host stops what it still plays for an earlier run of it."""
    process: str
    """Name of the host in the records."""
    game: str
    versions: CommonVersions
    terms: RunTerms
    wanted: tuple[str, ...]
    """Matches that the host was given before and should go on with. It stops all other matches of this run."""


class RunAnswer(Struct, frozen=True, kw_only=True):
    """A host's answer to `RunOffer`, `StoredFolder` or `StopMatch`."""

    refused: str | None = None
    """Reason for a refusal; None if the host agrees."""
    calibration: Calibration | None = None
    """The host's speed, if it was offered a run and agrees to play."""


class ShippedJob(Struct, frozen=True, kw_only=True):
    """Asks a host to play a match."""

    run: str
    match: str
    job: bytes
    programs: tuple[str, ...]
    """Digest of each seat's program folder; an empty text for a seat without such a folder."""


class StoredFolder(Struct, frozen=True, kw_only=True):
    """Asks a host to store a program's folder."""

    digest: str
    folder: bytes


class StopMatch(Struct, frozen=True, kw_only=True):
    """Asks a host to stop a match, or all matches of a run that is over."""

    run: str
    match: str | None
    """Name of the match; None for all matches of the run."""


class PlayedMatch(Struct, frozen=True, kw_only=True, tag="played"):
    """The record of a match that is over, without the seal."""

    record: bytes
    printed: dict[int, bytes] = {}
    """Seat -> the end of what its program printed."""


class Needs(Struct, frozen=True, kw_only=True, tag="needs"):
    """The match cannot begin before the host has these programs."""

    digests: tuple[str, ...]


class NotBegun(Struct, frozen=True, kw_only=True, tag="not-begun"):
    """The match cannot be played on this host. It has not begun."""

    why: str


class BrokenOff(Struct, frozen=True, kw_only=True, tag="broken-off"):
    """The match began and did not reach its end."""

    why: str
    printed: dict[int, bytes] = {}
    """Seat -> the end of what its program printed."""


Returned = PlayedMatch | Needs | NotBegun | BrokenOff
RETURNED: Any = Returned


def encode_message(message: Struct) -> bytes:
    """Encode a message."""
    return msgspec.msgpack.encode(message, enc_hook=str)


def decode_message(data: bytes, kind: type[M]) -> M:
    """Decode a message.

    Args:
        data: the bytes of one message.
        kind: the struct that it must be.

    Raises:
        DecodeError: the bytes are not a message of this kind.
    """
    return msgspec.msgpack.decode(data, type=kind, dec_hook=lambda wanted, text: wanted(text))
