"""Long and wide names in the charts of a report, and tables that are wider than a phone."""

from pathlib import Path

import pytest

from .browser import Page
from .reports import report
from .tournaments import Stage, spec

NAMES = ("W" * 20, "M" * 19 + "x", "a-name-of-20-letters", "i" * 20)
OUTSIDE = """
    return [...document.querySelectorAll(".chart text, .chart title + text")].filter((label) => {
        const box = label.getBoundingClientRect(), frame = label.closest("svg").getBoundingClientRect();
        return box.width && (box.right > frame.right + 1 || box.left < frame.left - 1);
    }).map((label) => label.textContent);
"""


@pytest.mark.parametrize("width", [360, 400, 1280, 1920])
def test_no_name_is_cut_off(browser: Page, tmp_path: Path, width: int) -> None:
    """In charts of points and of ratings, with wide letters and in bold, each name is whole."""
    stage = Stage(spec(4, "roundrobin", names=NAMES), tmp_path / "cup").play()
    report(stage)
    browser.emulate(width, 900)
    browser.open(stage.folder / "report.html")
    browser.run("for (const text of document.querySelectorAll('.chart text')) text.style.fontWeight = 700")
    assert browser.run(OUTSIDE) == []
    labels = browser.texts(".chart text")
    assert all(any(label.startswith(f"{name} ") for label in labels) for name in NAMES)


def test_no_name_is_stretched(browser: Page, tmp_path: Path) -> None:
    """A name that may be too long is smaller than the others; its letters keep their form."""
    stage = Stage(spec(4, "roundrobin", names=NAMES), tmp_path / "cup").play()
    report(stage)
    browser.emulate(1280, 900)
    browser.open(stage.folder / "report.html")
    measured = browser.run("""
        const height = (text) => text.getBoundingClientRect().height;
        const labels = [...document.querySelectorAll(".broad .curve text")];
        return labels.filter((label) => label.textContent.startsWith("W")).map((label) => [
            height(label) / height(document.querySelector(".broad .grid + text")),
            label.textLength.baseVal.value - label.getComputedTextLength(),
        ]);""")
    assert measured
    assert all(height < 1 and abs(stretched) < 1 for height, stretched in measured)


def test_the_axis_of_ratings_fits(browser: Page, tmp_path: Path) -> None:
    """Its numbers are round, and the curves take most of the height."""
    stage = Stage(spec(7, "roundrobin"), tmp_path / "cup").play()
    report(stage)
    browser.emulate(1280, 900)
    browser.open(stage.folder / "report.html")
    levels, share = browser.run("""
        const chart = document.querySelector(".chart .broad");
        const curves = [...chart.querySelectorAll(".trace:not(.lead)")].map((each) => each.getBoundingClientRect());
        const top = Math.min(...curves.map((each) => each.top));
        const bottom = Math.max(...curves.map((each) => each.bottom));
        const levels = [...chart.querySelectorAll(".grid + text")].map((text) => Number(text.textContent));
        return [levels, (bottom - top) / chart.getBoundingClientRect().height];""")
    step = abs(levels[1] - levels[0])
    assert len(levels) >= 3
    assert str(step).rstrip("0") in {"1", "2", "5"}
    assert all(level % step == 0 for level in levels)
    assert share > 0.6


def test_a_table_that_scrolls_shows_that_it_does(browser: Page, cup: Stage) -> None:
    """On a phone its right edge is darker as long as there are more columns."""
    browser.emulate(400, 900)
    browser.open(cup.folder / "report.html")
    hints = """
        const wide = [...document.querySelectorAll(".wide")].filter((box) => box.scrollWidth > box.clientWidth + 1);
        return wide.map((box) => getComputedStyle(box).backgroundAttachment.split(", ").join(" "))"""
    found = browser.run(hints)
    assert len(found) > 2
    assert set(found) == {"local local scroll scroll"}


@pytest.mark.parametrize("width", [360, 400])
def test_long_names_leave_room_for_results(browser: Page, tmp_path: Path, width: int) -> None:
    """On a phone the names of a crosstable stay while its results scroll.

    More than half of the width is for results.
    """
    stage = Stage(spec(4, "roundrobin", names=NAMES), tmp_path / "cup").play()
    report(stage)
    browser.emulate(width, 900)
    browser.open(stage.folder / "report.html")
    names, table = browser.run("""
        const widthOf = (selector) => document.querySelector(selector).getBoundingClientRect().width;
        return [widthOf("#cross-table tbody th:nth-child(2)"), widthOf(".wide:has(#cross-table)")]""")
    assert names < table / 2


@pytest.mark.parametrize("is_dark", [False, True])
def test_the_shadow_at_the_edge_is_seen_through_results(browser: Page, cup: Stage, *, is_dark: bool) -> None:
    """The colours of a crosstable must not hide that there are more columns."""
    browser.emulate(400, 900, is_dark=is_dark)
    browser.open(cup.folder / "report.html")
    colours = browser.run("""
        const cells = document.querySelectorAll("#cross-table tbody td");
        return [...cells].map((cell) => getComputedStyle(cell).backgroundColor)""")
    assert len(set(colours)) > 2
    assert all("/ 0.65" in colour or colour == "rgba(0, 0, 0, 0)" for colour in colours)
