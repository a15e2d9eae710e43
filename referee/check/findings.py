"""What a step can find, and how bytes are shown."""

import hashlib
import json
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from protocol import RemoteProtocolError
from protocol.decoding import unpack
from protocol.limits import PREFIX_BYTES

MAX_SHOWN_BYTES = 2048
"""Of one frame, in hex: as much as a verdict keeps."""
_MAX_TEXT_CHARS = 4000
_MAX_FRAMES = 4
"""Of what the referee had sent."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
"""Names of matches have one, too."""


class StepVerdict(StrEnum):
    """How a step went."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


class Shown(Struct, frozen=True, kw_only=True):
    """Bytes of the wire, for a reader."""

    length: int
    hex: str
    """Of the first ones, a blank between bytes."""
    decoded: str
    """The message in JSON, or why there is none."""


class Trouble(Struct, frozen=True, kw_only=True):
    """Why a step failed."""

    happened: str
    expected: str
    remedy: str
    asked: tuple[Shown, ...] = ()
    """What the referee had sent since the program's last answer; the last frames of it."""
    received: Shown | None = None
    """What the program sent."""
    printed: str = ""
    cause: str
    """The same for every step that fails for the same reason; a hash, as the reason may name paths of this machine."""


class Finding(Struct, frozen=True, kw_only=True):
    """How one step went."""

    number: int
    key: str
    title: str
    verdict: StepVerdict
    seconds: float
    note: str = ""
    """Of a step that went well, what was measured; of a skipped one, why."""
    trouble: Trouble | None = None


class CheckReport(Struct, frozen=True, kw_only=True):
    """What a check found."""

    player: str
    """How it was given."""
    passes: bool
    ok: int
    failed: int
    skipped: int
    steps: Sequence[Finding]


class Skipped(Exception):
    """A step that does not apply; the text says why."""


class Failed(Exception):
    """A step that the program does not pass.

    Args:
        happened: what the program did, in one sentence.
        expected: what it should have done.
        remedy: how to mend it.
        received: the bytes in question; None: what it sent last.
        cause: what it has in common with other failures; None: what happened and what was expected, but for numbers.
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
        """Frames that the referee had sent since the last answer."""
        self.printed = ""

    @property
    def trouble(self) -> Trouble:
        """All that is known of it."""
        return Trouble(
            happened=str(self),
            expected=self.expected,
            remedy=self.remedy,
            asked=tuple(map(shown, self.asked[-_MAX_FRAMES:])),
            received=shown(self.received) if self.received else None,
            printed=self.printed,
            cause=hashlib.sha256(self.cause.encode()).hexdigest()[:12],
        )


def shown(data: bytes) -> Shown:
    """Return bytes as a reader can use them."""
    return Shown(length=len(data), hex=data[:MAX_SHOWN_BYTES].hex(" "), decoded=_decoded(data)[:_MAX_TEXT_CHARS])


def _decoded(data: bytes) -> str:
    """Return the message of a frame in JSON; of anything else, what it looks like."""
    if len(data) < PREFIX_BYTES:
        return f"no frame: a prefix has {PREFIX_BYTES} bytes"
    length, body = int.from_bytes(data[:PREFIX_BYTES], "big"), data[PREFIX_BYTES:]
    if length > len(body):
        return f"{_text(data)} (as a frame, its prefix announces {length} bytes, and {len(body)} came)"
    try:
        value: Any = unpack(body[:length])
    except RemoteProtocolError as error:
        return f"{_text(data)} (as a frame: {error.detail})"
    rest = f", and {len(body) - length} bytes behind it" if len(body) > length else ""
    return json.dumps(value, ensure_ascii=False) + rest


def _text(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data[:200])
