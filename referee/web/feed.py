"""The Atom feed of a contest, with the published results and the organiser's announcements."""

# All links are relative, as on the pages: a feed reader resolves them against the address of the feed. The ids are made
# from the heads of records. A head never changes, so a feed reader shows no entry twice.
# Source: RFC 4287, The Atom Syndication Format.

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

from msgspec import Struct

from ..pages.tournament_json import TournamentReport
from ..text import visible
from .contest_json import Announcement
from .published import has_replay

PATH, ATOM = "/feed.atom", "application/atom+xml; charset=utf-8"
MOST = 50
"""Most entries of the feed, the latest ones."""
_NAMESPACE = "http://www.w3.org/2005/Atom"
_NEVER = "1970-01-01T00:00:00Z"


class FeedEntry(Struct, frozen=True, kw_only=True):
    """A result or an announcement."""

    id: str
    at: str
    """Time of its publication, ISO 8601 in UTC."""
    title: str
    address: str
    """Address of the page that shows this entry, relative to the site's first page."""


def list_results(folder: Path, report: TournamentReport) -> Iterator[FeedEntry]:
    """Yield the latest results of a tournament.

    Args:
        folder: folder of the tournament's records.
        report: report of the tournament.
    """
    for match in report.entries[: -MOST - 1 : -1]:
        name = match.fixture.match
        if not match.head or not has_replay(folder, name):
            continue
        files = (folder / f"{name}.jsonl", folder / "replays" / f"{name}.html")
        ended = next((file.stat().st_mtime for file in files if file.is_file()), 0.0)
        at = datetime.fromtimestamp(ended, UTC).isoformat(timespec="seconds")
        address = f"tournaments/{folder.name}/replays/{name}.html"
        yield FeedEntry(id=f"urn:referee:{match.head}", at=at, title=f"{name}: {match.result}", address=address)


def list_announced(announcements: Iterable[Announcement]) -> Iterator[FeedEntry]:
    """Yield the announcements of organisers."""
    for each in announcements:
        yield FeedEntry(id=f"urn:referee:announced:{each.at}", at=each.at, title=each.text, address="")


def make_feed(title: str, entries: Iterable[FeedEntry]) -> bytes:
    """Return the feed.

    Args:
        title: title of the contest.
        entries: entries in any order; the latest are shown, the newest first.
    """
    latest: Sequence[FeedEntry] = sorted(entries, key=lambda entry: entry.at, reverse=True)[:MOST]
    feed = Element("feed", xmlns=_NAMESPACE)
    SubElement(feed, "title").text = visible(title)
    SubElement(feed, "id").text = "urn:referee:contest"
    SubElement(feed, "updated").text = latest[0].at if latest else _NEVER
    SubElement(SubElement(feed, "author"), "name").text = visible(title)
    SubElement(feed, "link", rel="self", href=PATH.removeprefix("/"))
    SubElement(feed, "link", rel="alternate", href="./")
    for entry in latest:
        element = SubElement(feed, "entry")
        SubElement(element, "id").text = entry.id
        SubElement(element, "title").text = visible(entry.title)
        SubElement(element, "updated").text = entry.at
        SubElement(element, "link", rel="alternate", href=entry.address or "./")
    data: bytes = tostring(feed, encoding="utf-8", xml_declaration=True)
    return data
