"""Every kind of page as a picture, on phone, desk and paper and without scripts: no source code, no empty space."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import Struct

from referee.pages.contest_page import contest_page
from referee.pages.replay_frames import fold_record
from referee.pages.replay_page import replay_page, with_record
from referee.pages.replays import ReplayPages
from referee.plugins import find_game
from referee.record.reader import read_record

from ..web.sites import CARD, TestSite
from ..web.test_hostile_texts import pages_of
from .browser import Page
from .matches import ordinary, stepped
from .reports import SWISS, at_turn, report
from .sight import find_blanks, find_source
from .tournaments import Cast, Stage, spec

KNOWN = ("<script>alert(1)</script>", "<img src=x onerror=alert(1)>")
"""Markup in the texts of strangers."""


class Way(Struct, frozen=True):
    """A way to look at a page."""

    width: int = 1280
    height: int = 800
    runs_scripts: bool = True
    is_printed: bool = False


WAYS = {
    "desk": Way(),
    "phone": Way(width=400, height=800),
    "paper": Way(width=800, height=1100, is_printed=True),
    "no scripts": Way(runs_scripts=False),
    "phone without scripts": Way(width=400, runs_scripts=False),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a page of each kind in a report, and pages of matches that stand alone."""
    folder = tmp_path_factory.mktemp("files")
    cast = Cast(cheats={1: 2}, rude={2: 1}, dead=frozenset({8}), void=frozenset({2}), junk="junk")
    stage = Stage(spec(9, **SWISS), folder / "cup", cast).play()
    report(stage, replays=ReplayPages.ALL)
    pages = {page: stage.folder / page for page in ("report.html", "entrants/bot01.html", "replays/verify.html")}
    replayed = sorted((stage.folder / "replays").glob("cup-*.html"))
    pages |= {"replay of a tournament": replayed[0], "replay with a foul": replayed[1]}
    for name, story in {"replay": ordinary(6), "replay of steps": stepped()}.items():
        path = story.write(folder / f"{name}.jsonl")
        text = replay_page(fold_record(read_record(path), find_game))
        for kind, told in {
            name: text,
            f"{name} at a turn": at_turn(text, 3),
            f"{name} alone": with_record(text, path.read_bytes()),
        }.items():
            pages[kind] = folder / f"{kind}.html"
            pages[kind].write_text(told, encoding="utf-8")
    return pages


@contextmanager
def looking(page: Page, way: Way) -> Iterator[Page]:
    """Look at pages in some way."""
    page.run_scripts(may_run=way.runs_scripts)
    page.emulate(way.width, way.height, is_printed=way.is_printed)
    try:
        yield page
    finally:
        page.run_scripts(may_run=True)
        page.emulate(way.width, way.height)


@pytest.mark.parametrize("way", WAYS)
def test_no_page_of_a_report_or_a_replay_shows_its_source(browser: Page, files: dict[str, Path], way: str) -> None:
    """No text of a script, a style or a noscript element is visible, or takes room, and no screen of it is empty."""
    pictures = dict[str, str]()
    with looking(browser, WAYS[way]) as page:
        for kind, path in files.items():
            page.open(path)
            assert (kind, find_source(page, runs_scripts=WAYS[way].runs_scripts)) == (kind, [])
            pictures[kind] = page.take_picture()
    browser.visit("about:blank")
    for kind, picture in pictures.items():
        height, longest, last = find_blanks(browser, picture)
        is_scrolled = height > WAYS[way].height
        assert not is_scrolled or (kind, longest) < (kind, WAYS[way].height / 2)
        assert not is_scrolled or (kind, last) < (kind, WAYS[way].height / 4)


@pytest.mark.long
def test_no_page_of_a_site_shows_its_source(browser: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds for a visitor, an author and an organiser, in any way; texts of strangers are shown as they are."""
    contest = TestSite(tmp_path, monkeypatch)
    shown = {"archive": contest_page(CARD, "", is_still=True)}
    for name in ("", "ada", "ann"):
        visitor = contest.signed_in(name) if name else contest.visitor()
        for path in pages_of(contest):
            answer = visitor.ask("GET", path)
            if answer.headers["content-type"].startswith("text/html") and answer.body:
                shown[f"{name} {path}"] = answer.body.decode()
    for name, way in WAYS.items():
        with looking(browser, way) as page:
            for kind, text in shown.items():
                (tmp_path / "page.html").write_text(text, encoding="utf-8")
                page.open(tmp_path / "page.html")
                assert (name, kind, find_source(page, KNOWN, runs_scripts=way.runs_scripts)) == (name, kind, [])
    assert len(shown) > 30
    contest.members.streams.close_all()
    contest.store.close()
