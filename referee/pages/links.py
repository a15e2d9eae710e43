"""The addresses of the files that pages of a report link to, relative to each page."""

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from protocol.limits import NAME_PATTERN

from ..record.folder import output_path
from ..tournament.match_context import MatchEntry
from .summary import Summary
from .verifying import PAGE, verifying_link

REPLAYS = "replays"
"""Folder of the pages of matches, next to the records."""
ENTRANTS = "entrants"
"""Folder of the pages of entrants, next to the report."""


class PageLinks(Struct, frozen=True, kw_only=True):
    """Addresses of the files that a page links to, relative to the page."""

    records: str = ""
    """Prefix of a record's address; empty, or with a slash at its end."""
    replays: str = "replays/"
    """Prefix of the address of a match's page."""
    replayed: Collection[str] = ()
    """The matches that have a page."""
    entrants: str | None = "entrants/"
    """Prefix of the address of an entrant's page; None: there are no pages but the report."""
    report: str = "report.html"
    beside: str = ""
    """Prefix of the addresses of the pages next to the report."""
    has_verifier: bool = False
    """True if there is a page that verifies records, next to the pages of matches."""
    home: str = ""
    """Address of a page that all pages link back to; empty if there is none. A contest's site ends in a slash."""
    printed: Mapping[tuple[str, int], str] = {}
    """Match and seat of a foul -> file next to the record with the program's output. Only the organiser may see it."""

    @property
    def site(self) -> str:
        """The first page of the contest's site that shows this page; empty if no site shows it."""
        return self.home if self.home.endswith("/") else ""

    def output_file(self, entry: MatchEntry, seat: int) -> str:
        """Return the file with the output of a seat's program; empty if there is none."""
        return self.printed.get((entry.match, seat), "")

    def to_verify(self, summary: Summary) -> str:
        """Return the link that verifies the tournament's record; empty without a verifier, or during the tournament."""
        is_there = self.has_verifier and summary.tournament.is_over
        return self.replays + verifying_link(f"{summary.spec.name}.jsonl", summary.history.head) if is_there else ""


def find_links(
    at: Path,
    report: Path,
    folder: Path,
    *,
    replayed: Collection[str],
    printed: Mapping[tuple[str, int], str],
    home: str,
) -> PageLinks:
    """Return the links of a page.

    Args:
        at: path of the page.
        report: path of the report; the pages of the entrants are next to it.
        folder: folder of the records.
        replayed: the matches that have a page.
        printed: match and seat -> the file with the program's output.
        home: address of the page that all pages link back to, relative to this page; empty if there is none.
    """
    return PageLinks(
        records=_prefix(at, folder),
        replays=_prefix(at, folder / REPLAYS),
        replayed=replayed,
        entrants=_prefix(at, report.parent / ENTRANTS),
        report=_prefix(at, report.parent) + quote(report.name),
        beside=_prefix(at, report.parent),
        has_verifier=(folder / REPLAYS / PAGE).is_file(),
        home=home,
        printed=printed,
    )


def report_address(folder: Path, report: Path | None) -> str:
    """Return the address of the report, relative to the pages of matches.

    Args:
        folder: folder of the records.
        report: path of the report; None: the report is in that folder.
    """
    page = report or folder / "report.html"
    return _prefix(folder / REPLAYS / page.name, page.parent) + quote(page.name)


def find_outputs(folder: Path, summary: Summary) -> Mapping[tuple[str, int], str]:
    """Return match and seat of each foul -> the file next to the record with the output of the program."""
    paths = {
        (entry.match, foul.seat): output_path(folder, entry.match, foul.seat, entry.names[foul.seat])
        for entry, foul in summary.fouls()
        if re.match(NAME_PATTERN, entry.names[foul.seat])
    }
    return {key: path.name for key, path in paths.items() if path.is_file()}


def _prefix(page: Path, folder: Path) -> str:
    """Return the address of a folder relative to a page, as a prefix of addresses."""
    way = os.path.relpath(folder.resolve(), page.resolve().parent)
    return "" if way == "." else quote(Path(way).as_posix()) + "/"
