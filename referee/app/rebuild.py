"""Makes the ledger of a tournament again, from its spec and its records alone."""

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from msgspec import Struct

from ..errors import DoesNotHold
from ..ledger.ledger import FILE, Ledger, LedgerError, file_of, url_of
from ..ledger.refolding import Refolded, examined, in_order, refold
from ..pairing.base import BadFormat
from ..plugins import PluginError, installed
from ..record.json_file import BadJsonFile
from ..record.manifest import NAME as MANIFEST
from ..record.manifest import check_manifest
from ..record.match_entries import BadCourse
from ..record.reader import RecordError
from ..record.spec_file import SpecFile
from ..tournament.machine import Tournament
from ..tournament.placing import placed
from ..tournament.standings import UnknownTieBreak
from .conducting import locked
from .pool import each
from .report import find_spec_file

_PARTS = ("", "-wal", "-shm")
"""Endings of the files of an SQLite database."""


class NotRebuilt(DoesNotHold):
    """A ledger can't be made again; the text says why. The old one is as it was."""


class RebuildOptions(Struct, frozen=True, kw_only=True):
    """What a ledger is made of, and where."""

    ledger: str | None = None
    """File or URL; None: the usual one of the folder."""
    keys: tuple[str, ...] = ()
    """Public keys, one of which must have sealed each record; empty: the one that it names itself."""
    is_audited: bool = True
    """Whether the matches themselves are verified."""
    jobs: int = 1
    """So many records are read at the same time."""

    def url(self, folder: Path) -> str:
        """Return where the ledger of a folder's tournament is made."""
        if self.ledger is None:
            return url_of(folder / FILE)
        return self.ledger if "://" in self.ledger else url_of(Path(self.ledger))


class Rebuilt(Struct, frozen=True, kw_only=True):
    """A ledger that was made again."""

    url: str
    tournament: Tournament
    results: int
    unfinished: int
    """Matches that are not over."""


def rebuild_ledger(folder: Path, options: RebuildOptions, seen: Callable[[int], None]) -> Rebuilt:
    """Make the ledger of the tournament in a folder again.

    Args:
        folder: of the records.
        options: of what and where it is made.
        seen: called as soon as a record is read, with how many there are in all.

    Raises:
        BadTournamentFolder: the folder has no tournament.
        BadRequest: another referee runs the tournament.
        NotRebuilt: a record does not hold or is missing, or the ledger can't be written.
    """
    try:
        with locked(folder):
            return _rebuilt(folder, options, seen)
    except (BadJsonFile, BadCourse, RecordError, LedgerError, BadFormat, PluginError, UnknownTieBreak) as error:
        trouble = str(error)
    except OSError as error:
        trouble = f"{error.filename}: {error.strerror}"
    raise NotRebuilt(f"{trouble}; no ledger was changed")


def _rebuilt(folder: Path, options: RebuildOptions, seen: Callable[[int], None]) -> Rebuilt:
    spec_file, url = find_spec_file(folder), options.url(folder)
    if (folder / MANIFEST).exists():
        check_manifest(folder, options.keys)
    found = _read(folder, spec_file.spec.name, options, seen)
    results = in_order(found)

    def _fold(ledger: Ledger) -> Tournament:
        with ledger.at_once():
            tournament = refold(spec_file, installed().format(spec_file.spec.format), found, results, ledger)
            placed(tournament)  # a spec whose standings can't be made changes no ledger
            return tournament

    tournament = _written(url, spec_file, _fold)
    return Rebuilt(url=url, tournament=tournament, results=len(results), unfinished=len(found) - len(results))


def _read(folder: Path, tournament: str, options: RebuildOptions, seen: Callable[[int], None]) -> list[Refolded]:
    """Read the records of a tournament."""
    paths = sorted(folder.glob("*.jsonl"))
    work = partial(examined, tournament=tournament, keys=options.keys, is_audited=options.is_audited)
    found = []
    with closing(each(work, paths, options.jobs)) as examinations:
        for record in examinations:
            seen(len(paths))
            if record is not None:
                found.append(record)
    return found


def _written(url: str, spec_file: SpecFile, write: Callable[[Ledger], Tournament]) -> Tournament:
    """Write a ledger that nobody sees before it is whole.

    Raises:
        LedgerError: it can't be written, another process has it open, or it can't be replaced.
        OSError: it can't be moved into place.
    """
    path, name = file_of(url), spec_file.spec.name
    if path is not None:
        return _replaced(path, name, write)
    with closing(Ledger(url)) as ledger:
        if ledger.spec(name) is not None:
            raise LedgerError(
                f"the database has the tournament {name!r} already, and a ledger only grows: "
                "name an empty database with --ledger, and use that one from then on"
            )
        return write(ledger)


def _replaced(path: Path, name: str, write: Callable[[Ledger], Tournament]) -> Tournament:
    """Write a ledger beside the old one, with all other tournaments of that, and move it into its place."""
    scratch = path.with_name(f"{path.name}.new")
    _remove(scratch)
    try:
        with closing(Ledger(url_of(scratch))) as new:
            if path.exists():
                with closing(Ledger(url_of(path))) as old:
                    new.adopt(old, but=name)
                    old.settle()
            tournament = write(new)
            new.settle()
        if path.exists():
            Ledger(url_of(path)).settle()  # nobody has opened it meanwhile
        scratch.replace(path)
    finally:
        _remove(scratch)
    return tournament


def _remove(path: Path) -> None:
    for part in _PARTS:
        path.with_name(path.name + part).unlink(missing_ok=True)
