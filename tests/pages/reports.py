"""Reports of small tournaments, and how tests read pages."""

import csv
import io
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

from referee.pages.match_summary import summarize_match
from referee.pages.replay_page import head_at_turn, split_page
from referee.pages.replays import ReplayNotes, make_replay
from referee.pages.report import Titles
from referee.pages.report_files import Targets, Written, write_report
from referee.plugins import find_game
from referee.record.reader import read_record

from .matches import ESCAPE, IMAGE, SCRIPT
from .tournaments import REGISTRY, Cast, Stage

CAST = Cast(cheats={1: 2}, rude={2: 1}, dead=frozenset({8}), void=frozenset({2}), junk=f"{SCRIPT}{IMAGE}{ESCAPE}")
SWISS: dict[str, Any] = {"format_options": {"rounds": 4}}


def report(stage: Stage, **targets: Any) -> Written:
    """Write the report of a tournament next to its records."""
    game, format_ = REGISTRY.game(stage.spec.game), REGISTRY.format(stage.spec.format)
    records = (stage.folder / f"{entry.match}.jsonl" for entry in stage.entries)

    def _make_replays(noted: ReplayNotes, folder: Path) -> None:
        for match in noted.matches:
            make_replay(match, folder, noted, REGISTRY.game)

    return write_report(
        stage.folder,
        stage.history,
        {path.stem: summarize_match(read_record(path), find_game) for path in records if path.is_file()},
        Titles(game.title, format_.title, game.rules),
        Targets(**targets),
        _make_replays,
    )


def page(stage: Stage) -> str:
    """Return the page as it was written."""
    return (stage.folder / "report.html").read_text(encoding="utf-8")


def entrant_page(stage: Stage, name: str) -> str:
    """Return the page of an entrant as it was written."""
    return (stage.folder / "entrants" / f"{name}.html").read_text(encoding="utf-8")


def section(text: str, name: str) -> str:
    """Return what is to be read in a part of the page."""
    found = re.search(rf'<section id="{name}".*?</section>', text, re.DOTALL)
    assert found is not None, name
    return read(found[0])


def header(text: str) -> str:
    """Return what is to be read above a page's sections."""
    return read(text.partition("<body>")[2].partition("<section")[0])


def read(markup: str) -> str:
    """Return the readable text of a part of a page, without spaces before punctuation."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split()).replace(" :", ":")


def raw_data_of(text: str) -> str:
    """Return the data for a page's script, as the page has it."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return found[1]


def data_of(text: str) -> Any:
    """Return the data that a page's script reads."""
    return json.loads(raw_data_of(text))


def rows(stage: Stage, name: str) -> list[dict[str, str]]:
    """Return the lines of a table that was written."""
    return list(csv.DictReader(io.StringIO((stage.folder / f"{name}.csv").read_text(encoding="utf-8"))))


def at_turn(replay: str, turn: int) -> str:
    """Return the page of a match with the board of a turn, as a site sends it to readers without scripts."""
    head, rest = split_page(replay.encode())
    return head_at_turn(head, rest, turn) + bytes(rest).decode()
