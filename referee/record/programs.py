"""The file of a tournament's programs, `programs.json` in its folder.

It decides nothing: results and standings follow from the records alone. It tells who plays with another program than
the one that the tournament was begun with, and when it was over.
"""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from .json_file import read_json, write_json

FILE = "programs.json"


class ProgramVersion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One content of a program's folder."""

    digest: str
    """SHA-256, in hex, of everything in it."""
    since: str
    """The time of day in UTC, ISO 8601, at which it was found there first; for people."""


class Programs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the entrants of a tournament played with; who is no folder is not in it."""

    entrants: dict[str, tuple[ProgramVersion, ...]] = {}
    """Entrant -> the contents of its folder, the first one first. One that came back stands there again."""
    over_at: str | None = None
    """When the tournament was over, like `since`; None: it is not, or nobody noted it."""

    @property
    def changed(self) -> dict[str, str]:
        """Entrant that has changed since the tournament was begun -> when that was found the last time."""
        return {name: versions[-1].since for name, versions in self.entrants.items() if len(versions) > 1}

    def differing(self, digests: Mapping[str, str]) -> list[str]:
        """Return the entrants that have ever had another program than the one that they have now.

        Args:
            digests: entrant -> SHA-256 of its folder now.
        """
        return [
            name
            for name, now in digests.items()
            if {version.digest for version in self.entrants.get(name, ())} != {now}
        ]

    def updated(self, digests: Mapping[str, str], at: str) -> "Programs":
        """Return the same with the programs that there are now.

        Args:
            digests: entrant -> SHA-256 of its folder now.
            at: the time of day.
        """
        entrants = dict(self.entrants)
        for name, digest in digests.items():
            known = entrants.get(name, ())
            if not known or known[-1].digest != digest:
                entrants[name] = (*known, ProgramVersion(digest=digest, since=at))
        return replace(self, entrants=entrants)


def read_programs(folder: Path) -> Programs | None:
    """Read which programs played in a folder's tournament.

    Returns:
        None if that was not written down.

    Raises:
        BadJsonFile: the file is not what it should be.
        OSError: it can't be read.
    """
    return read_json(folder / FILE, Programs, "remove it, and changes of programs are told from then on")


def write_programs(folder: Path, programs: Programs) -> None:
    """Write down which programs played; nobody ever finds half of it.

    Raises:
        OSError: it can't be written.
    """
    write_json(folder / FILE, programs)
