"""The file that says what a tournament is, `spec.json` in its folder."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ..tournament.spec import TournamentSpec
from .json_file import read_json, write_json

FILE = "spec.json"


class SpecFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is written down before a tournament's first match."""

    spec: TournamentSpec
    salt: Annotated[str, Meta(pattern=r"^([0-9a-f]{2})+$(?!\n)")]
    """16 bytes in hex, chosen at random: the format's chance follows from it, and with the referee's key every seed."""


def read_spec_file(folder: Path) -> SpecFile | None:
    """Read what a folder's tournament is.

    Returns:
        None if the folder holds no tournament yet.

    Raises:
        BadJsonFile: the file is not what it should be.
        OSError: it can't be read.
    """
    remedy = "it is written by `referee tournament` and must not be changed"
    return read_json(folder / FILE, SpecFile, remedy)


def write_spec_file(folder: Path, spec_file: SpecFile) -> None:
    """Write down what a tournament is; nobody ever finds half of it.

    Raises:
        OSError: it can't be written.
    """
    write_json(folder / FILE, spec_file)
