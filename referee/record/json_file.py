"""Reads and replaces the small files of JSON in a tournament's folder."""

from pathlib import Path
from typing import TypeVar

import msgspec

from ..errors import RefereeError
from ..files.whole import write_whole

T = TypeVar("T")


class BadJsonFile(RefereeError):
    """A file that says what a tournament is or was played with, and is damaged; the text says where and why."""


def read_json(path: Path, kind: type[T], remedy: str) -> T | None:
    """Read a file.

    Args:
        path: the file.
        kind: what it has.
        remedy: what to do if it is damaged.

    Returns:
        None if there is none.

    Raises:
        BadJsonFile: the file is not what it should be.
        OSError: it can't be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadJsonFile(f"{path}: {error}; {remedy}") from None


def write_json(path: Path, value: msgspec.Struct) -> None:
    """Write a file in place of the one that was there; nobody ever finds half of it.

    Raises:
        OSError: it can't be written.
    """
    write_whole(path, [msgspec.json.format(msgspec.json.encode(value), indent=2), b"\n"])
