"""The pages of a tournament's matches: which matches may have a page, and how it is made, at once or on request.

The pages are in the folder `replays` next to the records. One style and one script there serve all of them, and each
page has the tournament's notes on its match.
"""

# A page is made by replaying its record, which takes milliseconds for a short match and half a second for a long match.
# For thousands of matches this would take minutes, and perhaps nobody opens most of the pages. So for a contest's site
# only the notes are written (`ReplayPages.ON_REQUEST`), and a page is made when the first visitor asks for it. A match
# is public if it has a page or notes.

import contextlib
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

from ..files.whole import write_whole
from ..record.audit.match import FindGame
from ..record.reader import read_record
from .links import REPLAYS
from .rendering import shared_files
from .replay_frames import StillSecret, fold_record
from .replay_page import LOOKS, replay_page
from .summary import MatchNotes, Summary, match_notes
from .verifying import PAGE, verifying_link, verifying_page

NOTES = "notes.json"


class ReplayPages(StrEnum):
    """Matches that get a page."""

    NONE = "none"
    FOULS = "fouls"
    """Matches in which a player fouled, and void ones."""
    ALL = "all"
    ON_REQUEST = "on-request"
    """All matches; a page is made when somebody asks for it."""


class ReplayNotes(Struct, frozen=True, kw_only=True):
    """Facts that the pages of a tournament's matches show and that are not in the matches' records."""

    report: str
    """Address of the tournament's page, relative to the pages of matches."""
    site: str
    """Address of the first page of a contest's site, relative to the pages of matches; empty if no site shows them."""
    matches: Mapping[str, MatchNotes]
    """Match that may have a page -> notes on the match."""


class _Names(Struct):
    """The names of matches in ReplayNotes; the notes stay undecoded."""

    matches: Mapping[str, msgspec.Raw] = {}


MakeReplays = Callable[[ReplayNotes, Path], None]
"""Function that makes the pages of matches in a folder; `make_replay` makes one page."""


def write_replays(
    folder: Path, summary: Summary, which: ReplayPages, report: str, site: str, make: MakeReplays
) -> Collection[str]:
    """Make the missing pages, or only the notes for making them on request. Replace pages that a ruling made wrong.

    A match gets no page while its deal is still to be played from other seats.

    Args:
        folder: folder of the records.
        summary: the tournament so far.
        which: the matches that get a page.
        report: see ReplayNotes.
        site: see ReplayNotes.
        make: makes the pages.

    Returns:
        The matches that have a page, or get a page on request.
    """
    pages = folder / REPLAYS
    entries = [entry for entry in summary.history.entries if entry.match not in summary.withheld]
    is_each = which in (ReplayPages.ALL, ReplayPages.ON_REQUEST)
    wanted = {entry.match for entry in entries if is_each or entry.fouls or entry.void is not None}
    with_record = {match for match in wanted if (folder / f"{match}.jsonl").is_file()}
    shown = set[str]() if which is ReplayPages.NONE else with_record
    noted = ReplayNotes(report=report, site=site, matches=match_notes(summary, shown))
    if shown:
        _prepare(pages, noted, f"{summary.spec.name}.jsonl")
    missing = {match: notes for match, notes in noted.matches.items() if not _is_written(pages, match, notes)}
    if which is ReplayPages.ON_REQUEST and shown:
        for match in missing:
            page_path(folder, match).unlink(missing_ok=True)
        write_whole(pages / NOTES, [msgspec.json.encode(noted)])
        return shown
    if missing:
        make(msgspec.structs.replace(noted, matches=missing), folder)
    return {entry.match for entry in entries if page_path(folder, entry.match).is_file()}


def _prepare(pages: Path, noted: ReplayNotes, record: str) -> None:
    """Write the files that the pages share; remove pages that another release of the referee has made."""
    pages.mkdir(exist_ok=True)
    shared = {name: text.encode() for name, text in shared_files(LOOKS, noted.site).items()}
    if any(not (pages / name).is_file() or (pages / name).read_bytes() != data for name, data in shared.items()):
        for page in pages.glob("*.html"):
            page.unlink()
    verifier = verifying_page(record, noted.report, noted.site).encode()
    for name, data in {**shared, PAGE: verifier}.items():
        write_whole(pages / name, [data])


def _is_written(pages: Path, match: str, notes: MatchNotes) -> bool:
    """Return whether the page of a match exists, with the present notes of its tournament."""
    page = pages / f"{match}.html"
    return page.is_file() and (not notes.is_ruled or notes.mark in page.read_text(encoding="utf-8"))


def page_path(folder: Path, match: str) -> Path:
    """Return the path of the page of a match.

    Args:
        folder: folder of the records.
        match: name of the match.
    """
    return folder / REPLAYS / f"{match}.html"


def make_replay(match: str, folder: Path, noted: ReplayNotes, find_game: FindGame) -> None:
    """Write the page of a match, unless its seed is still secret.

    Args:
        match: name of the match.
        folder: folder of the records.
        noted: the notes of the tournament.
        find_game: a game's name -> its rules.

    Raises:
        RecordError: the record does not hold.
        OSError: the record can't be read, or the page can't be written.
    """
    with contextlib.suppress(StillSecret):
        folded = fold_record(read_record(folder / f"{match}.jsonl"), find_game)
        verifier = verifying_link(f"{match}.jsonl", folded.record.chain.head)
        page = replay_page(folded, verifier, noted.report, noted.matches[match], noted.site, has_shared_files=True)
        write_whole(page_path(folder, match), [page.encode()])


def make_on_request(match: str, folder: Path, find_game: FindGame) -> None:
    """Write the page of a match when somebody asks for it, unless the page exists.

    Args:
        match: name of the match.
        folder: folder of the records.
        find_game: a game's name -> its rules.

    Raises:
        KeyError: the match is not public.
        RecordError: the record does not hold.
        OSError: a file can't be read or written.
    """
    if not page_path(folder, match).is_file():
        noted = msgspec.json.decode((folder / REPLAYS / NOTES).read_bytes(), type=ReplayNotes)
        if match not in noted.matches:
            raise KeyError(match)
        make_replay(match, folder, noted, find_game)


def read_names(folder: Path) -> frozenset[str]:
    """Return the matches that get a page on request; empty if there are no readable notes."""
    try:
        data = (folder / REPLAYS / NOTES).read_bytes()
        return frozenset(msgspec.json.decode(data, type=_Names).matches)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return frozenset()
