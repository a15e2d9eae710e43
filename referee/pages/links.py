"""The addresses of the files that pages of a report link to, as each page sees them."""

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
    """Prefix of a record's address; empty or with a slash at its end."""
    replays: str = "replays/"
    """Prefix of a replay page's address."""
    replayed: Collection[str] = ()
    """The matches that have such a page."""
    entrants: str | None = "entrants/"
    """Prefix of an entrant's page; None: the report stands alone, without other pages."""
    report: str = "report.html"
    beside: str = ""
    """Prefix of the pages next to the report."""
    has_verifier: bool = False
    """True if a page that verifies records lies next to the replays."""
    home: str = ""
    """The page that all others lead back to; empty: there is none. One that ends in a slash is a contest's site."""
    printed: Mapping[tuple[str, int], str] = {}
    """Match and seat of a foul -> file with the output of the program, next to the record; for the organiser."""

    @property
    def site(self) -> str:
        """The first page of the contest's site that shows the page; empty: none does."""
        return self.home if self.home.endswith("/") else ""

    def output_file(self, entry: MatchEntry, seat: int) -> str:
        """Return the file with the output of a seat's program; empty if there is none."""
        return self.printed.get((entry.match, seat), "")

    def to_verify(self, summary: Summary) -> str:
        """Return the link that verifies the tournament's record; empty without a verifier, or before the end."""
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
        printed: match and seat -> the file of what its program printed.
        home: address of the page that all others lead back to, as this page sees it; empty: there is none.
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
    """Return where the report is, as the pages of matches see it.

    Args:
        folder: folder of the records.
        report: path of the report; None: it is in that folder.
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
    """Return the relative address of a folder, as the beginning of an address."""
    way = os.path.relpath(folder.resolve(), page.resolve().parent)
    return "" if way == "." else quote(Path(way).as_posix()) + "/"
