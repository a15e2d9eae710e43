"""Writes the public part of a contest as one zip of static files: pages, records, heads and key."""

# The paths in the archive are the site's addresses, and both use the same rule for what is public (published.py).
#
# A page that is opened as a file may not read the files next to it. So the record of a match is put into its replay,
# which then can verify the record without a server.

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

from ...app.report import report_tournament
from ...errors import BadRequest
from ...files.reading import files_below
from ...pages.contest_page import contest_page
from ...pages.links import REPLAYS
from ...pages.rendering import without_site
from ...pages.replay_page import with_record
from ...pages.replays import ReplayPages
from ...pages.report_files import Targets
from ...record.tournament_record import find_record
from ..contest_json import ContestCard
from ..published import HEADS, find_public_file
from .contest_file import Contest
from .publishing import SITE, Published


def write_archive(contest: Contest, public_key: bytes, target: Path) -> int:
    """Write the archive of a contest, and return the number of its files.

    Args:
        contest: the contest. Its reports are made again first, so that they include the latest ruling and match.
        public_key: public key in PEM.
        target: archive to write, which must not exist.

    Raises:
        BadRequest: the archive exists, or can't be written.
        DoesNotHold: a record does not hold or is missing.
    """
    cards, files = [], list[tuple[str, Path]]()
    for scheduled in contest.tournaments:
        published = Published(scheduled.plan.run_settings.folder)
        _report(published.folder)
        published.read()
        state = published.ended if published.is_over else "is not over"
        cards.append(published.card(scheduled, state, published.reported or 0, (), None))
        files += ((f"tournaments/{scheduled.name}/{path}", file) for path, file in _list_public_files(published))
    card = ContestCard(title=contest.title, sign_up=contest.sign_up, announcements=(), tournaments=cards)
    page = contest_page(card, contest.about, is_still=True)
    try:
        with zipfile.ZipFile(target, "x", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("index.html", page)
            archive.writestr("key.pem", public_key)
            for name, path in files:
                if path.suffix == ".html":
                    archive.writestr(name, _make_still(path))
                else:
                    archive.write(path, name)
            return len(archive.namelist())
    except OSError as error:
        raise BadRequest(f"can't write {target}: {error.strerror}") from None


def _make_still(path: Path) -> str:
    """Return a page that needs no server: its header only links to the first page."""
    page, record = without_site(path.read_text("utf-8")), path.parents[1] / f"{path.stem}.jsonl"
    if path.parent.name == REPLAYS and record.is_file():  # a page that is opened as a file may not read other files
        return with_record(page, record.read_bytes())
    return page


def _report(folder: Path) -> None:
    """Write the report of a tournament that has begun, in the site's form."""
    if folder.is_dir() and find_record(folder) is not None:
        targets = Targets(replays=ReplayPages.ALL, home=SITE, is_public=True)
        report_tournament(folder, targets, os.cpu_count() or 1)


def _list_public_files(published: Published) -> Iterator[tuple[str, Path]]:
    """Yield the path and the file of everything that is public in a tournament."""
    folder = published.folder
    for path in (HEADS, *(file.relative_to(folder).as_posix() for file in files_below(folder, "*"))):
        file = find_public_file(folder, path, is_over=published.is_over)
        if file is not None:
            yield path, file
