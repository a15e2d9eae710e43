"""Writes the report of a tournament, its tables, its moves and the pages of its matches, next to the records."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from ..files.whole import write_whole
from ..tournament.history import History
from . import crosstable, exports, match_list
from .entrant_page import entrant_page
from .links import ENTRANTS, find_links, find_outputs, report_address
from .match_summary import MatchSummary, match_text
from .replays import MakeReplays, ReplayPages, write_replays
from .report import Titles, report_page
from .summary import Summary
from .tournament_json import report_tournament


class Targets(Struct, frozen=True, kw_only=True):
    """Paths to write to; None: the default name in the tournament's folder."""

    html: Path | None = None
    csv: Path | None = None
    """A folder."""
    pgn: Path | None = None
    database: str | None = None
    """File of an SQLite database, or the URL of any database. If None and `is_public`, no database is written."""
    replays: ReplayPages = ReplayPages.FOULS
    home: str = ""
    """Address of a page that all pages link back to, relative to the report; empty if there is none. If it ends in a
    slash, it is a contest's site, and all pages get its header."""
    is_public: bool = False
    """True to leave out the output of programs, which only the organiser may see."""
    is_quick: bool = False
    """True if the records of the matches are not read; then times and moves are left out."""

    @property
    def site(self) -> str:
        """Address of a contest's site, relative to the pages of matches and entrants; empty if no site shows them."""
        return f"../{self.home}" if self.home.endswith("/") else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The paths that were written, and the summary."""

    summary: Summary
    html: Path
    csv: tuple[Path, ...]
    json: Path
    pgn: Path
    games: Path
    """The results in PGN, for rating programs."""
    trf: Path | None
    """The rounds in FIDE's format, for pairing programs; None if the tournament can't be written in it."""
    replays: int
    """Number of pages of matches that exist now."""


def write_report(
    folder: Path,
    history: History,
    match_summaries: Mapping[str, MatchSummary],
    titles: Titles,
    targets: Targets,
    make_replays: MakeReplays,
) -> Written:
    """Write the report of a tournament: its page, tables, moves, and the pages of its matches and entrants.

    Args:
        folder: folder of the records.
        history: the tournament so far.
        match_summaries: match -> summary of its record.
        titles: titles of the game and the format.
        targets: destinations of the files.
        make_replays: makes pages of matches.

    Raises:
        RecordError: the record of a match that gets a page does not hold.
        OSError: a file can't be written. No file is left half written: each is the old one or the new one.
    """
    summary = Summary(history, match_summaries)
    report = report_address(folder, targets.html)
    replayed = write_replays(folder, summary, targets.replays, report, targets.site, make_replays)
    page = targets.html or folder / "report.html"
    _write_pages(folder, summary, titles, targets, page, replayed)  # first, because visitors wait for it
    written = Written(
        summary=summary,
        html=page,
        csv=tuple(_write_tables(targets.csv or folder, summary)),
        json=folder / "tournament.json",
        pgn=targets.pgn or folder / "matches.txt",
        games=folder / "matches.pgn",
        trf=_write_trf(folder / "tournament.trf", summary),
        replays=len(replayed),
    )
    _write(written.pgn, _matches(summary))
    _write(written.games, exports.games_pgn(summary))
    plain = msgspec.json.encode(report_tournament(summary))
    write_whole(written.json, (msgspec.json.format(plain, indent=1), b"\n"))
    return written


def _write_pages(
    folder: Path, summary: Summary, titles: Titles, targets: Targets, report: Path, replayed: Collection[str]
) -> None:
    """Write the report and the pages next to it."""
    find = partial(
        find_links,
        report=report,
        folder=folder,
        replayed=replayed,
        printed={} if targets.is_public else find_outputs(folder, summary),
    )
    links = find(report, home=targets.home)
    _write(report, [report_page(summary, titles, links)])
    if summary.results:
        matches = match_list.list_matches(summary, links, summary.results[::-1])
        _write(report.parent / match_list.PAGE, [match_list.matches_page(matches)])
    if crosstable.has_page(summary):
        _write(report.parent / crosstable.PAGE, [crosstable.crosstable_page(summary, links)])
    entrants, home = report.parent / ENTRANTS, targets.home and f"../{targets.home}"
    entrants.mkdir(exist_ok=True)
    links = find(entrants / report.name, home=home)
    for entrant, name in enumerate(summary.pages):
        _write(entrants / f"{name}.html", [entrant_page(summary, entrant, links)])


def _write_tables(folder: Path, summary: Summary) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        "standings": exports.standings_csv,
        "crosstable": exports.crosstable_csv,
        "matches": exports.matches_csv,
        "fouls": exports.fouls_csv,
    }
    for name, make in tables.items():
        path = folder / f"{name}.csv"
        _write(path, [make(summary)])
        yield path


def _write_trf(path: Path, summary: Summary) -> Path | None:
    text = exports.tournament_trf(summary)
    if text is None:
        return None
    _write(path, [text])
    return path


def _matches(summary: Summary) -> Iterator[str]:
    for entry in summary.results:
        match = None if entry.is_ruled else summary.match_summaries.get(entry.match)
        opened, moves = ("", ()) if match is None else (match.opened, match.moves)
        result, void = summary.outcome(entry).sentence, summary.history.uncounted_reason(entry)
        yield match_text(entry, summary.spec.game, opened, moves, void, result)


def _write(path: Path, parts: Iterator[str] | Sequence[str]) -> None:
    """Write a file; readers see the old file until the new one is complete."""
    write_whole(path, (part.encode() for part in parts))
