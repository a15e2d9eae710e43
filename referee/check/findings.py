"""The findings of steps, and bytes of the wire in a form that a person can read."""

import hashlib
import json
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct

from protocol import RemoteProtocolError
from protocol.decoding import unpack
from protocol.limits import PREFIX_BYTES

from ..match.events import Ending

MAX_SHOWN_BYTES = 2048
"""Number of bytes of a frame that are shown in hex; verdicts show as many."""
_MAX_TEXT_CHARS = 4000
_MAX_FRAMES = 4
"""Number of the referee's frames that are shown."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
"""A number. Two causes that differ only in numbers (even in that of a match's name) count as the same cause."""


class StepVerdict(StrEnum):
    """Verdict on a step."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


class Shown(Struct, frozen=True, kw_only=True):
    """Bytes of the wire in a form that a person can read."""

    length: int
    hex: str
    """First bytes in hex, with a blank between bytes."""
    decoded: str
    """Message in JSON, or the reason why the bytes are no message."""


class Trouble(Struct, frozen=True, kw_only=True):
    """Why a step failed."""

    happened: str
    expected: str
    remedy: str
    asked: tuple[Shown, ...] = ()
    """Last frames that the referee had sent since the program's last answer."""
    received: Shown | None = None
    """Frame that the program sent."""
    printed: str = ""
    cause: str
    """Hash of the reason, equal for all steps that fail for the same reason. The reason itself is not stored, because
    it may name paths of this machine."""


class Finding(Struct, frozen=True, kw_only=True):
    """Finding of one step."""

    number: int
    key: str
    title: str
    verdict: StepVerdict
    seconds: float
    note: str = ""
    """Measurement of a step that passed, or the reason why a step was skipped."""
    trouble: Trouble | None = None


class CheckReport(Struct, frozen=True, kw_only=True):
    """Report of a check."""

    version: Literal[1] = 1
    """Version of this object's form."""
    player: str
    """Player, as the caller named it."""
    passes: bool
    """Whether no step failed."""
    ok: int
    """Number of steps that passed."""
    failed: int
    """Number of steps that failed."""
    skipped: int
    """Number of steps that were skipped, each with its reason."""
    steps: Sequence[Finding]


class Skipped(Exception):
    """Raised by a step that does not apply to the program; the text says why."""


class Failed(Exception):
    """Raised by a step that the program does not pass.

    Args:
        happened: what the program did, in one sentence.
        expected: what it should have done.
        remedy: how to fix it.
        received: the bytes that the failure is about; None: the bytes that the program sent last.
        cause: text that is the same for all failures with the same cause; by default what happened and what was
            expected, without numbers.
    """

    def __init__(
        self,
        happened: str,
        expected: str,
        remedy: str,
        *,
        received: bytes | None = None,
        cause: str | None = None,
    ) -> None:
        super().__init__(happened)
        self.cause = cause or _NUMBER.sub("N", f"{happened} / {expected}")
        self.expected = expected
        self.remedy = remedy
        self.received = received
        self.asked: tuple[bytes, ...] = ()
        """Frames that the referee had sent since the program's last answer."""
        self.printed = ""

    @property
    def trouble(self) -> Trouble:
        """The failure in the form of a report."""
        return Trouble(
            happened=str(self),
            expected=self.expected,
            remedy=self.remedy,
            asked=tuple(map(show_bytes, self.asked[-_MAX_FRAMES:])),
            received=show_bytes(self.received) if self.received else None,
            printed=self.printed,
            cause=hashlib.sha256(self.cause.encode()).hexdigest()[:12],
        )


def name_late(awaited: str, ending: Ending | None) -> str:
    """Return the cause of a failure to answer in time. Steps and real matches name it the same.

    Args:
        awaited: the answer that was awaited.
        ending: whether the program was computing or waiting.
    """
    return f"{awaited} is late: {ending}"


def show_bytes(data: bytes) -> Shown:
    """Return bytes in a form that a person can read."""
    return Shown(length=len(data), hex=data[:MAX_SHOWN_BYTES].hex(" "), decoded=_describe(data)[:_MAX_TEXT_CHARS])


def _describe(data: bytes) -> str:
    """Return the message of a frame in JSON; for other bytes, their text and the reason why they are no message."""
    if len(data) < PREFIX_BYTES:
        return f"no frame: a prefix has {PREFIX_BYTES} bytes"
    length, body = int.from_bytes(data[:PREFIX_BYTES], "big"), data[PREFIX_BYTES:]
    if length > len(body):
        return f"{_text(data)} (as a frame, its prefix announces {length} bytes, and {len(body)} came)"
    try:
        value: Any = unpack(body[:length])
    except RemoteProtocolError as error:
        return f"{_text(data)} (as a frame: {error.detail})"
    rest = f", and {len(body) - length} bytes after it" if len(body) > length else ""
    return json.dumps(value, ensure_ascii=False) + rest


def _text(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data[:200])
