"""The file that says what a tournament is, `charter.json` in its folder. Knows its form; refuses to know its course."""

import os
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from ..tournament.charter import Charter

FILE = "charter.json"


class BadFounding(Exception):
    """A file that is no charter's; the text says where and why."""


class Founding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is written down before a tournament's first match."""

    charter: Charter
    salt: Annotated[str, Meta(pattern=r"^([0-9a-f]{2})+$(?!\n)")]
    """16 bytes in hex, chosen at random: the format's chance follows from it, and with the referee's key every seed."""


def read_founding(folder: Path) -> Founding | None:
    """Read what a folder's tournament is.

    Returns:
        None if the folder holds no tournament yet.

    Raises:
        BadFounding: the file is not what it should be.
        OSError: it can't be read.
    """
    path = folder / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Founding)
    except FileNotFoundError:
        return None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadFounding(f"{path}: {error}; it is written by `referee tournament` and must not be changed") from None


def write_founding(folder: Path, founding: Founding) -> None:
    """Write down what a tournament is; nobody ever finds half of it.

    Raises:
        OSError: it can't be written.
    """
    partial = folder / f"{FILE}.new"
    with partial.open("wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(founding), indent=2) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / FILE)
