"""Writes a contest as one archive of static files, which opens without a server: pages, records, heads, key.

Its paths are the site's addresses, and the same rule decides what is for everybody: neither has what the other keeps.
"""

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

from ...app.report import report_tournament
from ...errors import BadRequest
from ...files.below import files_below
from ...pages.contest_page import contest_page
from ...pages.replay_page import with_record
from ...pages.report_files import REPLAYS, ReplayPages, Targets
from ...record.tournament_record import find_record
from ..cards import ContestCard
from ..published import HEADS, find_public_file
from .contest_file import Contest
from .publishing import HOME, Published


def write_archive(contest: Contest, public_key: bytes, target: Path) -> int:
    """Write a contest as an archive; return how many files it has.

    Args:
        contest: of which reports are made once more, so that nothing of the last ruling or match is missing.
        public_key: as a PEM file.
        target: the archive, which must not be there.

    Raises:
        BadRequest: the file is there, or it can't be written.
        DoesNotHold: a record does not hold or is missing.
    """
    cards, files = [], list[tuple[str, Path]]()
    for scheduled in contest.tournaments:
        published = Published(scheduled.plan.run_settings.folder)
        _report(published.folder)
        published.read()
        state = published.ended if published.is_over else "is not over"
        cards.append(published.card(scheduled, state, published.reported or 0, (), None))
        files += ((f"tournaments/{scheduled.name}/{path}", found) for path, found in _for_everybody(published))
    page = contest_page(
        ContestCard(title=contest.title, sign_up=contest.sign_up, tournaments=cards), contest.about, is_still=True
    )
    try:
        with zipfile.ZipFile(target, "x", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("index.html", page)
            archive.writestr("key.pem", public_key)
            for name, path in files:
                record = path.parents[1] / f"{path.stem}.jsonl"
                if path.parent.name == REPLAYS and record.is_file():  # a page that was opened as a file can't read it
                    archive.writestr(name, with_record(path.read_text("utf-8"), record.read_bytes()))
                else:
                    archive.write(path, name)
            return len(archive.namelist())
    except OSError as error:
        raise BadRequest(f"can't write {target}: {error.strerror}") from None


def _report(folder: Path) -> None:
    """Write the report of a tournament, if it has begun, as its site has it."""
    if folder.is_dir() and find_record(folder) is not None:
        targets = Targets(replays=ReplayPages.ALL, home=HOME, is_public=True)
        report_tournament(folder, targets, os.cpu_count() or 1)


def _for_everybody(published: Published) -> Iterator[tuple[str, Path]]:
    """Yield the files of a tournament that everybody may have, each with its address there."""
    folder = published.folder
    for path in (HEADS, *(found.relative_to(folder).as_posix() for found in files_below(folder, "*"))):
        found = find_public_file(folder, path, is_over=published.is_over)
        if found is not None:
            yield path, found
