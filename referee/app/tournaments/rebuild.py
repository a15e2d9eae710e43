"""Makes the ledger of a tournament again, from its record alone."""

from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from ...errors import DoesNotHold
from ...ledger.checking import project
from ...ledger.ledger import FILE, Ledger, LedgerError, file_of, url_of
from ...pairing.base import BadFormat
from ...plugins import PluginError
from ...record.reader import RecordError, check_key
from ...record.tournament_record import TournamentRecord, read_tournament
from ...tournament.machine import Tournament
from ...tournament.placing import placed
from ...tournament.standings import UnknownTieBreak
from ..report import tournament_of
from .conducting import locked

_PARTS = ("", "-wal", "-shm")
"""Endings of the files of an SQLite database."""


class Rebuilt(Struct, frozen=True, kw_only=True):
    """A ledger that was made again."""

    url: str
    tournament: Tournament
    steps: int
    """Events of the tournament."""


def rebuild_ledger(folder: Path, ledger: str | None, keys: Collection[str]) -> Rebuilt:
    """Make the ledger of the tournament in a folder again.

    Args:
        folder: of the tournament's records.
        ledger: file or URL where it is made; None: the usual one of the folder.
        keys: public keys, one of which must have sealed the tournament's record; empty: none is asked for.

    Raises:
        BadRequest: the folder has no tournament.
        BadRequest: another referee runs the tournament.
        DoesNotHold: the record does not hold, or the ledger can't be written.
    """
    path = tournament_of(folder)
    try:
        with locked(folder):
            record = read_tournament(path)
            _check_seal(record, keys)
            url = _url(folder, ledger)
            tournament = _written(url, record)
    except (RecordError, LedgerError, BadFormat, PluginError, UnknownTieBreak) as error:
        trouble = str(error)
    except OSError as error:
        trouble = f"{error.filename}: {error.strerror}"
    else:
        return Rebuilt(url=url, tournament=tournament, steps=len(record.steps))
    raise DoesNotHold(f"{trouble}; no ledger was changed")


def _url(folder: Path, ledger: str | None) -> str:
    if ledger is None:
        return url_of(folder / FILE)
    return ledger if "://" in ledger else url_of(Path(ledger))


def _check_seal(record: TournamentRecord, keys: Collection[str]) -> None:
    """Check that all of a record is sealed by one of the keys that are demanded."""
    check_key(record.path, 1, record.header.key, keys)
    if keys and not record.is_sealed:
        found = "the end of a record whose referee died; without --key it is taken as it is"
        raise RecordError(record.path, len(record.chain.lines) + 1, "a seal", found)


def _written(url: str, record: TournamentRecord) -> Tournament:
    """Write a ledger that nobody sees before it is whole.

    Raises:
        LedgerError: it can't be written, another process has it open, or it can't be replaced.
        OSError: it can't be moved into place.
    """
    path, name = file_of(url), record.header.spec.name
    if path is not None:
        return _replaced(path, record)
    with closing(Ledger(url)) as ledger:
        if ledger.has(name):
            raise LedgerError(
                f"the database has the tournament {name!r} already, and a ledger only grows: "
                "name an empty database with --ledger, and use that one from then on"
            )
        return _projected(record, ledger)


def _projected(record: TournamentRecord, ledger: Ledger) -> Tournament:
    with ledger.at_once():
        tournament = project(record, ledger)
        placed(tournament)  # a spec whose standings can't be made changes no ledger
    return tournament


def _replaced(path: Path, record: TournamentRecord) -> Tournament:
    """Write a ledger beside the old one, with all other tournaments of that, and move it into its place."""
    scratch = path.with_name(f"{path.name}.new")
    _remove(scratch)
    try:
        with closing(Ledger(url_of(scratch))) as new:
            if path.exists():
                with closing(Ledger(url_of(path))) as old:
                    new.adopt(old, but=record.header.spec.name)
                    old.settle()
            tournament = _projected(record, new)
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
