"""Writes the small files of JSON in a tournament's folder."""

from pathlib import Path

import msgspec

from ..files.whole import write_whole


def json_bytes(value: msgspec.Struct) -> bytes:
    """Return the content of such a file."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def write_json(path: Path, value: msgspec.Struct) -> None:
    """Write a file in place of the one that was there; nobody ever finds half of it.

    Raises:
        OSError: it can't be written.
    """
    write_whole(path, [json_bytes(value)])
