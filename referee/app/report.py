"""Reports on a tournament, while it runs or afterwards, from its spec and its records alone."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from ..errors import BadRequest, DoesNotHold
from ..pages.digest import Digest, digest_of
from ..pages.report import Titles
from ..pages.report_files import Targets, Written, make_replay, write_report
from ..pairing.base import BadFormat
from ..plugins import PluginError, find_game, installed
from ..record.json_file import BadJsonFile
from ..record.manifest import record_files
from ..record.match_entries import BadCourse, course
from ..record.reader import RecordError, read_record
from ..record.spec_file import FILE, SpecFile, read_spec_file
from ..record.tournament_folder import has_line
from ..tournament.history import refolded
from ..tournament.machine import NotOpen
from ..tournament.standings import UnknownTieBreak
from .pool import each


class BadTournamentFolder(BadRequest):
    """A folder that has no tournament, or one that could not be played; the text says why."""


class NotReported(DoesNotHold):
    """Records that do not hold, or a file that can't be written; the text says which."""


class UnfinishedRecord(Struct, frozen=True):
    """A record that tells of no result: of a match that goes on, or that broke off."""

    path: Path


class TournamentReport(Struct, frozen=True, kw_only=True):
    """What was reported."""

    written: Written
    unfinished: int
    """Matches that go on, or broke off."""


def report_on(folder: Path, targets: Targets, jobs: int) -> TournamentReport:
    """Read the records of a tournament, and write its report.

    Args:
        folder: of the records.
        targets: where everything goes.
        jobs: so many records are read at the same time.

    Raises:
        BadTournamentFolder: the folder has no spec that could be played.
        NotReported: a record does not hold or is missing, or a file can't be written.
        BadJsonFile: the file of the programs is damaged.
    """
    try:
        spec_file = find_spec_file(folder)
    except BadJsonFile as error:
        raise BadTournamentFolder(str(error)) from None
    try:
        return _reported(folder, spec_file, targets, jobs)
    except (RecordError, BadCourse, NotOpen) as error:
        raise NotReported(f"{error}; referee audit {folder} tells more") from None
    except (BadFormat, PluginError, UnknownTieBreak) as error:
        raise BadTournamentFolder(f"{folder / FILE}: {error}") from None
    except OSError as error:
        raise NotReported(f"can't write {error.filename}: {error.strerror}") from None


def find_spec_file(folder: Path) -> SpecFile:
    """Read what the tournament of a folder is.

    Raises:
        BadTournamentFolder: there is none, or its file can't be read.
        BadJsonFile: its file is not what it should be.
    """
    try:
        spec_file = read_spec_file(folder)
    except OSError as error:
        raise BadTournamentFolder(f"can't read {folder / FILE}: {error.strerror}") from None
    if spec_file is None:
        raise BadTournamentFolder(f"{folder} holds no tournament: there is no {FILE} in it")
    return spec_file


def _reported(folder: Path, spec_file: SpecFile, targets: Targets, jobs: int) -> TournamentReport:
    paths = [path for path in record_files(folder) if path.parent == folder]
    found = list(each(partial(_digest, tournament=spec_file.spec.name), paths, jobs))
    digests = {digest.entry.match: digest for digest in found if isinstance(digest, Digest)}
    format_ = installed().format(spec_file.spec.format)
    entries = course(digest.entry for digest in digests.values())
    written = write_report(
        folder,
        refolded(spec_file.spec, format_, spec_file.salt, entries),
        digests,
        Titles(find_game(spec_file.spec.game).title, format_.title),
        targets,
        lambda records, target: _make_replays(records, target, jobs),
    )
    return TournamentReport(written=written, unfinished=sum(isinstance(digest, UnfinishedRecord) for digest in found))


def _digest(path: Path, tournament: str) -> Digest | UnfinishedRecord | None:
    """Read a record; None if it is of no match of the tournament."""
    if not has_line(path):
        return UnfinishedRecord(path)  # its match has hardly begun
    record = read_record(path)
    context = record.header.context
    if context is None or context.tournament != tournament:
        return None
    return UnfinishedRecord(path) if record.seal is None else digest_of(record)


def _make_replays(records: Sequence[Path], target: Path, jobs: int) -> None:
    for _ in each(partial(make_replay, target=target, find_game=find_game), records, jobs):
        pass
