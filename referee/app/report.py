"""Reports on a tournament, during or after it, from its records alone."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from ..errors import BadRequest, DoesNotHold
from ..pages.match_summary import MatchSummary, summarize_match
from ..pages.replays import ReplayNotes, make_replay
from ..pages.report import Titles
from ..pages.report_files import Targets, Written, write_report
from ..pages.summary import Summary
from ..plugins import PluginError, find_format, find_game
from ..record.reader import RecordError, read_record
from ..record.resume import has_line
from ..record.tournament_record import TournamentRecord, find_record, read_tournament, refold
from ..tournament.commands import TakenTransition
from ..tournament.history import History, new_tournament
from ..tournament.pairing.base import BadFormat
from ..tournament.spec import TournamentSpec
from ..tournament.standings import UnknownTieBreak
from .pool import map_in_processes

# A report is made from the records alone. So everybody who has the records can make the same report, at any time, and
# there is no second store of results that could disagree with what was signed.


class ReportedTournament(Struct, frozen=True, kw_only=True):
    """A report that was written."""

    written: Written
    unfinished: int
    """Matches that are being played, or were interrupted."""
    database: str | None
    """Address of the database, without a password; None: none was written."""


Progress = Callable[[int, int], object]
"""Called with the number of records that were read so far, and the number of all records."""


def report_tournament(
    folder: Path, targets: Targets, jobs: int, progress: Progress = lambda _read, _all: None
) -> ReportedTournament:
    """Read the records of a tournament, and write its report.

    Args:
        folder: folder of the records.
        targets: the files to write.
        jobs: number of records read at the same time.
        progress: called as records are read.

    Raises:
        BadRequest: the folder has no tournament that could be played.
        DoesNotHold: a record does not hold or is missing, or a file can't be written.
    """
    path = find_tournament(folder)
    try:
        return _write_report(folder, path, targets, jobs, progress)
    except RecordError as error:
        raise DoesNotHold(f"{error}; referee audit {folder} tells more") from None
    except (BadFormat, PluginError, UnknownTieBreak) as error:
        raise BadRequest(f"{path}: {error}") from None
    except OSError as error:
        raise DoesNotHold(f"can't write {error.filename}: {error.strerror}") from None


def find_tournament(folder: Path) -> Path:
    """Return the record of the tournament in a folder.

    Raises:
        BadRequest: the folder has no tournament, or can't be read.
    """
    try:
        path = find_record(folder)
    except OSError as error:
        raise BadRequest(f"can't read {error.filename}: {error.strerror}") from None
    if path is None:
        why = "there is no record of one in it (NAME.jsonl); a match is read from its own file"
        raise BadRequest(f"{folder} holds no tournament: {why}")
    return path


def read_summary(folder: Path) -> Summary:
    """Read the record of a tournament, without the records of its matches.

    Raises:
        BadRequest: the folder has no tournament that could be played.
        RecordError: the record does not hold.
    """
    path = find_tournament(folder)
    try:
        return Summary(_history(read_tournament(path)), {})
    except (BadFormat, PluginError, UnknownTieBreak) as error:
        raise BadRequest(f"{path}: {error}") from None


def _history(record: TournamentRecord, take: Callable[[TakenTransition], object] = lambda _: None) -> History:
    """Return the history of a tournament.

    Args:
        record: record of the tournament.
        take: called with each of its transitions.
    """
    spec = record.header.spec
    tournament = new_tournament(spec, find_format(spec.format), record.header.salt)
    history = History(tournament, head=record.head, programs=record.header.programs)
    for transition in refold(record, history.take):
        take(transition)
    return history


def _write_report(folder: Path, path: Path, targets: Targets, jobs: int, progress: Progress) -> ReportedTournament:
    record, transitions = read_tournament(path), list[TakenTransition]()
    history = _history(record, transitions.append)
    spec = history.tournament.spec
    paths = [] if targets.is_quick else [folder / f"{entry.match}.jsonl" for entry in history.entries]
    match_summaries = dict[str, MatchSummary]()
    for count, digest in enumerate(map_in_processes(_read_summary_of_match, paths, jobs), 1):
        progress(count, len(paths))
        if digest is not None:
            match_summaries[digest.entry.match] = digest
    written = write_report(
        folder,
        history,
        match_summaries,
        find_titles(spec),
        targets,
        partial(_make_replays, jobs=jobs),
    )
    database = (
        None
        if targets.is_public and targets.database is None
        else _export(folder, record, transitions, history.tournament.placing_ratings(), targets)
    )
    return ReportedTournament(written=written, unfinished=len(history.tournament.playing), database=database)


def _export(
    folder: Path,
    record: TournamentRecord,
    taken: Sequence[TakenTransition],
    placing_ratings: Sequence[float] | None,
    targets: Targets,
) -> str:
    """Write a tournament to a database, and return its address.

    Raises:
        DoesNotHold: the database can't be written.
    """
    from ..pages.database import FILE, DatabaseError, write_database  # noqa: PLC0415  # only this needs SQLAlchemy, whose import takes time

    try:
        return write_database(targets.database or str(folder / FILE), record.header, taken, placing_ratings)
    except DatabaseError as error:
        raise DoesNotHold(str(error)) from None


def find_titles(spec: TournamentSpec) -> Titles:
    """Return the titles of a tournament's game and format, and the game's rules."""
    game = find_game(spec.game)
    return Titles(game.title, find_format(spec.format).title, game.rules)


def _read_summary_of_match(path: Path) -> MatchSummary | None:
    """Read a match's record; return None if there is no record: only an audit checks whether there should be one."""
    return summarize_match(read_record(path), find_game) if path.exists() and has_line(path) else None


def _make_replays(noted: ReplayNotes, folder: Path, jobs: int) -> None:
    make = partial(make_replay, folder=folder, noted=noted, find_game=find_game)
    for _ in map_in_processes(make, list(noted.matches), jobs):
        pass
