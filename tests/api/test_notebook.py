"""A notebook's output in a browser: a page within a page that steps through a match without a network."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

import referee
from tests.pages.browser import start_browser
from tests.record.tournaments import play_cup


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Give the module's tests a browser."""
    driver = start_browser(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


def opened(browser: webdriver.Chrome, shown: str, folder: Path) -> None:
    """Open a page with a notebook's output, and go into its frame."""
    page = folder / "notebook.html"
    page.write_text(f"<!DOCTYPE html><title>{escape('a notebook')}</title>{shown}")
    browser.get(page.as_uri())
    browser.switch_to.frame(browser.find_element(By.TAG_NAME, "iframe"))


def complaints(browser: webdriver.Chrome) -> list[str]:
    """Return the browser's messages about the page."""
    return [entry["message"] for entry in browser.get_log("browser")]  # type: ignore[no-untyped-call]


def test_a_match_is_stepped_through(browser: webdriver.Chrome, tmp_path: Path) -> None:
    """The frame has the board and the slider of the replay page; both step through the turns."""
    match = referee.play("quincy", ["house:greedy", "house:random"], seed=1)
    opened(browser, match._repr_html_(), tmp_path)
    board = browser.find_element(By.ID, "board")
    before = board.get_attribute("innerHTML")
    browser.find_element(By.ID, "forward").click()
    assert browser.find_element(By.ID, "turn").text == f"turn 1 / {match.result.turns}"
    assert browser.find_element(By.ID, "slider").get_attribute("value") == "1"
    assert board.get_attribute("innerHTML") != before
    assert complaints(browser) == []


def test_a_tournament_shows_standings_and_the_history_of_ratings(browser: webdriver.Chrome, tmp_path: Path) -> None:
    """The frame has a row of the table for each entrant, and a line of the chart for each that has played."""
    play_cup(tmp_path / "cup", 3, 5)
    cup = referee.load(tmp_path / "cup")
    assert isinstance(cup, referee.Tournament)
    opened(browser, cup._repr_html_(), tmp_path)
    assert len(browser.find_elements(By.CSS_SELECTOR, "#standings-table tbody tr")) == 5
    assert len(browser.find_elements(By.CSS_SELECTOR, "#history svg.broad .trace")) == 5
    assert complaints(browser) == []
