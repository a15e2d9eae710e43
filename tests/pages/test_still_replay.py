"""A replay in a browser that runs no scripts."""

from pathlib import Path

from .browser import Page
from .matches import hostile
from .reports import at_turn
from .test_browser import frames_of, opened, written


def test_a_page_stands_without_its_script(browser: Page, tmp_path: Path) -> None:
    """On a phone, with hostile players: turns and boards are readable, and no useless button is there."""
    record = written(hostile(), tmp_path)
    page = record.with_suffix(".html")
    page.write_text(at_turn(page.read_text(encoding="utf-8"), 2), encoding="utf-8")
    browser.run_scripts(may_run=False)
    try:
        shown = opened(browser, record, 360, 740)
        assert shown.run("return document.documentElement.scrollWidth") == 360
        assert shown.run("return document.querySelector('.drawn svg').getBoundingClientRect().height") > 200
        assert len(shown.texts("#turns tbody tr")) == len(frames_of(record))
        seen = "[...document.querySelectorAll('button, .chart, #board')].filter((part) => part.getClientRects().length)"
        assert shown.run(f"return {seen}.map((part) => part.outerHTML)") == []
    finally:
        browser.run_scripts(may_run=True)
