"""The tournament's notes on the page of a match: rulings, its fate, stops, and spectators."""

import re
from html import unescape
from pathlib import Path

from referee.pages.replay_frames import fold_record
from referee.pages.replay_page import replay_page
from referee.pages.replays import ReplayPages
from referee.pages.summary import describe_sight
from referee.plugins import load
from referee.record.reader import read_record
from referee.tournament.events import MatchOpened, TournamentResumed

from ..record.records import record_of
from .matches import SCRIPT
from .reports import data_of, report
from .tournaments import AT, LATER, Stage, spec


def notices(stage: Stage, match: str) -> list[str]:
    """Return the notices on the page of a match after making the report again."""
    report(stage, replays=ReplayPages.ALL)
    text = page(stage, match).read_text(encoding="utf-8")
    return [read(notice) for notice in re.findall(r'<p class="notice.*?</p>', text)]


def page(stage: Stage, match: str) -> Path:
    """Return the page of a match."""
    return stage.folder / "replays" / f"{match}.html"


def read(text: str) -> str:
    """Return the visible text in a part of a page."""
    return unescape(re.sub(r"<[^>]*>", "", text))


def test_a_ruling_stands_on_the_page_of_its_match(tmp_path: Path) -> None:
    """An older page is made again, and leads to the match that was played instead."""
    stage = Stage(spec(3, "roundrobin"), tmp_path)
    (first, _), (second, _) = (stage.play_one(next(stage.tournament.fixtures())) for _ in range(2))
    assert notices(stage, first.match) == []
    page(stage, second.match).write_text("as it was")
    stage.rule("replay", SCRIPT, match=first.match)
    stage.play()
    again = next(entry for entry in stage.entries if entry.fixture.attempt)
    uncounted, ruling, others = notices(stage, first.match)
    assert uncounted.startswith("This match does not count: ")
    assert ruling.startswith("Ruling 1 by jury, ")
    assert ruling.endswith(f"{first.match} to be played once more. Reason: {SCRIPT}")
    assert others == f"This leg was also played as {again.match}."
    text = page(stage, first.match).read_text(encoding="utf-8")
    assert (SCRIPT in text, f'<a href="{again.match}.html">' in text) == (False, True)
    assert [notice[:8] for notice in notices(stage, again.match)] == ["Ruling 1", "This leg"]
    assert page(stage, second.match).read_text() == "as it was"


def test_a_page_tells_what_spectators_saw(tmp_path: Path) -> None:
    """The page has it for each run of the referee while the match was open."""
    stage = Stage(spec(3, "roundrobin"), tmp_path)
    fixture = next(stage.tournament.fixtures())
    stage.take(MatchOpened(at=AT, fixture=fixture))
    stage.take(TournamentResumed(at=LATER, referee="0.0", spectators="delay 60"))
    entry, _ = stage.close(fixture)
    assert notices(stage, entry.match) == []
    text = read(page(stage, entry.match).read_text(encoding="utf-8"))
    assert "Spectators saw" in text
    nothing = "during the match: nothing, because no site showed the match"
    assert f"{nothing}; then what all seats were allowed to know, 60 s later" in text


def test_what_spectators_see_in_words() -> None:
    """Nobody sees boards of a duplicate deal."""
    told = {None: "nothing", "after": "only who played", "board only": "what all seats were allowed to know"}
    assert [describe_sight(given, is_duplicate=False).partition(",")[0] for given in told] == [*told.values()]
    assert describe_sight("board only", is_duplicate=True) == "only who played"


def test_a_stop_of_the_referee_is_told(tmp_path: Path) -> None:
    """The stop is described at the top, with turn and instant, and at the next frame."""
    path = tmp_path / "m.jsonl"
    path.write_bytes(record_of("resumed"))
    folded = fold_record(read_record(path), load().game)
    ((turn, at_ms),) = folded.resumptions
    text = replay_page(folded)
    assert f"The referee stopped and resumed the match in turn {turn}, " in text
    (marked,) = [frame for frame in data_of(text)["frames"] if frame["resumed"]]
    assert marked["at"] > at_ms
