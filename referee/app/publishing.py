"""Publishes a tournament that is over, as a folder that needs no other files, for everybody or for one author."""

import shutil
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..errors import BadRequest
from ..files.scratch import remove
from ..pages.explanation_page import list_answers, list_messages
from ..pages.rendering import page
from ..pages.report_files import Targets
from ..pages.summary import Summary
from ..pages.words import move_words
from ..plugins import find_game
from ..record.folder import read_output
from ..text import nearest
from ..tournament.match_context import MatchEntry
from .records.explain import find_view, foul_lines, word_standing
from .report import Progress, ReportedTournament, find_tournament, read_summary, report_tournament

# The folder of a tournament also holds what programs printed, requests, builds and the database. So that folder is not
# copied as a whole. Only the records that the tournament's record names are copied into an empty folder, and the report
# is made there. So all that is published follows from these records.

OWN = "own"
"""Folder of an author's own pages, in what is published for that author."""


def publish_tournament(
    folder: Path, target: Path, author: str | None, targets: Targets, jobs: int, progress: Progress
) -> ReportedTournament:
    """Publish a tournament: its records, its report, and for one author the explained matches and the own output.

    Args:
        folder: folder of the tournament.
        target: new or empty folder.
        author: name of the entrant whose author gets the folder; None: it is for everybody.
        targets: which pages to make.
        jobs: number of records read at the same time.
        progress: called as records are read.

    Raises:
        BadRequest: the tournament is not over, there is no such entrant, or the target is not empty.
        DoesNotHold: a record does not hold or is missing, or a file can't be written.
    """
    summary = read_summary(folder)
    tournament = summary.tournament
    if not tournament.is_over:
        raise BadRequest(
            f"{tournament.spec.name} is not over: records of open deals are not public; publish it at the end"
        )
    names = list(summary.names)
    if author is not None and author not in names:
        raise BadRequest(f"there is no entrant {author!r} in {tournament.spec.name}{nearest(author, names)}")
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise BadRequest(f"{target} is not empty: give a new folder, or remove it first")
    target.mkdir(parents=True, exist_ok=True)
    try:
        records = [find_tournament(folder), *(folder / f"{entry.match}.jsonl" for entry in summary.history.entries)]
        for record in records:
            if record.is_file() and not record.is_symlink():  # a missing one is reported as the report is made
                shutil.copyfile(record, target / record.name)
        reported = report_tournament(target, replace(targets, is_public=True), jobs, progress)
        if author is not None:
            _write_own_pages(folder, target, reported.written.summary, names.index(author))
    except BaseException:
        remove(target)
        raise
    return reported


def _write_own_pages(folder: Path, target: Path, summary: Summary, entrant: int) -> None:
    """Write the pages of an entrant's own matches: its requests and answers, its times, fouls and output."""
    own = target / OWN
    own.mkdir()
    rows = []
    for entry in summary.entries_by_entrant[entrant]:
        if entry.is_ruled:
            continue
        seat = entry.fixture.entrants.index(entrant)
        output = read_output(folder / f"{entry.match}.jsonl", seat, entry.names[seat])
        if output is not None:
            (own / f"{entry.match}.output.txt").write_text(output)
        (own / f"{entry.match}.html").write_text(
            _explain_match(folder, target, entry, seat, has_output=output is not None)
        )
        rows.append((entry, summary.outcome(entry).with_points(entry.scores), output is not None))
    index = page(
        "own_matches",
        {},
        looks="member",
        styles=("contest",),
        name=summary.names[entrant],
        title=summary.spec.name,
        rows=rows,
    )
    (target / "index.html").write_text(index)


def _explain_match(folder: Path, target: Path, entry: MatchEntry, seat: int, *, has_output: bool) -> str:
    """Return the page that explains a match to the author of a seat."""
    explanation = find_view(folder / f"{entry.match}.jsonl", str(seat)).explain_seat()
    match, verdict = msgspec.to_builtins(explanation), explanation.verdict
    return page(
        "own_match",
        {},
        looks="member",
        styles=("contest",),
        scripts=("sorting",),
        match=match,
        standing=word_standing(explanation),
        foul=() if verdict is None else list(foul_lines(explanation, verdict)),
        answers=list_answers(match["conversation"], partial(move_words, find_game(explanation.game))),
        spoken=() if verdict is None else list(list_messages(match["conversation"], verdict.foul.turn)),
        has_output=has_output,
        has_replay=(target / "replays" / f"{entry.match}.html").is_file(),
    )
