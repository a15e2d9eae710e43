"""Persons play whole matches in a browser: in each game one by clicks alone against one by keys alone."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.keys import Keys

from referee.net.links.tokens import add_tokens
from referee.web.contest.contest_file import CONTEST

from ...hosted import hosting
from ...pages.browser import Page, start_browser
from ...warm import run

BY_HAND = 5
"""Number of uses of a person's pointer or keyboard, which are slow; functions of the page play the rest."""
WAIT_S = 240
"""Time for the rest of a match on a busy machine."""
SHORT = {
    "q": (),
    "quincy": (),
    "quincala": ("--option", "sizes=3", "--option", "max_turns=4"),
    "quadominos": ("house:random", "house:random", "--option", "target=10", "--option", "max_rounds=1"),
}
NEXT = """
    const at = (selector) => document.querySelector(selector);
    const has = (name) => document.body.classList.contains(name);
    const next = (passes) => {
      const pass = passes && [...document.querySelectorAll(".word")].find((word) => word.textContent === "pass");
      return pass || at("#hand-in:enabled") || at(".place.can") || at(".word");
    };
"""
LOOK = f"""
    {NEXT}
    const [last, name, done] = arguments;
    const look = () => {{
      const status = at("#status").textContent;
      const seen = {{ version: document.body.dataset.version, status }};
      if (seen.version === last) return false;
      if (has("over")) done({{ ...seen, is: "over" }});
      else if (status === `${{name}} is to move`) done({{ ...seen, is: "waiting" }});
      else if (has("asked")) done({{ ...seen, is: "asked", next: next(false) }});
      else return false;
      return true;
    }};
    const observer = new MutationObserver(() => look() && observer.disconnect());
    if (!look()) observer.observe(document.body, {{ subtree: true, childList: true, attributes: true }});
"""
"""Script that waits for a new state of one person's page; returns the state, and the next thing to touch."""
STUCK = """
    const { activeElement, body, visibilityState } = document;
    return [visibilityState, document.hasFocus(), body.className, body.innerText, activeElement.outerHTML.slice(0, 99)];
"""
"""The state of a page with nothing new."""
GO_ON = f"""
    {NEXT}
    const byKeys = arguments[0];
    let last = "";
    const press = (on) => on.dispatchEvent(new KeyboardEvent("keydown", {{ key: "Enter", bubbles: true }}));
    const go = () => {{
      if (!has("asked") || document.body.dataset.version === last) return;
      last = document.body.dataset.version;
      const touched = next(true);
      if (touched.matches("button")) touched.click();
      else if (byKeys) {{ touched.focus(); press(touched); }}
      else touched.dispatchEvent(new MouseEvent("click", {{ bubbles: true }}));
    }};
    new MutationObserver(go).observe(document.body, {{ subtree: true, childList: true, attributes: true }});
    go();
"""
"""Script that plays as long as there is something to do; in the Q game it passes, because the game would take long."""


class Tab:
    """The page of one person.

    Args:
        driver: of the browser.
        link: of the page.
        other: name of the other person.
        by_keys: whether it plays by keys alone; else by clicks alone.
    """

    def __init__(self, driver: webdriver.Chrome, link: str, other: str, *, by_keys: bool) -> None:
        self._driver = driver
        self._other = other
        self._by_keys = by_keys
        self._last = ""
        self.status = ""
        self.acts = 0
        self.page = Page(driver)
        driver.switch_to.new_window("tab")
        self._handle = driver.current_window_handle
        driver.set_script_timeout(60)
        driver.get(link)

    def play(self) -> bool:
        """Choose and hand in until it is the other's turn, or long enough; return whether it is the other's."""
        self._to_front()
        while self.acts < BY_HAND and (seen := self._look())["is"] == "asked":
            self.acts += 1
            if self._by_keys:
                self.page.press(Keys.ENTER)
            else:
                seen["next"].click()
        return self.acts < BY_HAND and bool(seen["is"] == "waiting")

    def go_on(self) -> None:
        """Let the page play on by itself."""
        self._driver.switch_to.window(self._handle)
        self.page.run(GO_ON, self._by_keys)

    def reload(self) -> None:
        """Load the page again, as if the tab had been closed; it shows the same state."""
        self._to_front()
        self._look()
        before, self._last = self.status, ""
        self._driver.refresh()
        self._look()
        self._last = ""
        assert self.status == before

    def ending(self) -> str:
        """Wait for the end, and return its text."""
        self._driver.switch_to.window(self._handle)
        self.page.wait_until("document.body.classList.contains('over')")
        return self.page.text("#status")

    def _to_front(self) -> None:
        """Show the page, as to a person who acts there; in a hidden tab a browser may postpone work."""
        self._driver.switch_to.window(self._handle)
        self._driver.execute_cdp_cmd("Page.bringToFront", {})

    def _look(self) -> Any:
        try:
            seen = self._driver.execute_async_script(LOOK, self._last, self._other)
        except TimeoutException:
            raise AssertionError(f"nothing new after {self.acts} acts: {self.page.run(STUCK)}") from None
        self._last, self.status = seen["version"], seen["status"]
        return seen


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Give a browser for all matches."""
    driver = start_browser(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture(autouse=True)
def close_tabs(browser: webdriver.Chrome) -> Iterator[None]:
    """Close a test's tabs, because pages of a contest ask for their host as long as they are open."""
    yield
    first, *others = browser.window_handles
    for handle in others:
        browser.switch_to.window(handle)
        browser.close()
    browser.switch_to.window(first)
    browser.get("about:blank")
    Page(browser).complaints()


@pytest.mark.parametrize("game", SHORT)
def test_a_whole_match_by_clicks_and_by_keys(game: str, browser: webdriver.Chrome, tmp_path: Path) -> None:
    """Both see the end, there is no error, and the record is an ordinary one that holds."""
    command = [sys.executable, "-m", "referee", "play", game, "me:ada", "me:bob", "--no-open", "--seed", "11"]
    command += [*SHORT[game], "--logs", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as playing:
        assert playing.stderr is not None
        try:
            links = [re.findall(r"http://\S+", playing.stderr.readline())[0] for _ in range(2)]
            tabs = [Tab(browser, links[0], "bob", by_keys=False), Tab(browser, links[1], "ada", by_keys=True)]
            tabs[0].reload()
            at = 0
            while tabs[at].play():
                at = 1 - at
            for tab in tabs:
                tab.go_on()
            browser.switch_to.new_window("tab")  # so that no board has to be painted
            assert playing.wait(WAIT_S) == 0
            for tab in tabs:
                assert re.search(r" beat |: draw|, then ", tab.ending())
                assert tab.page.complaints() == []
        finally:
            playing.kill()
    assert run(["audit", str(tmp_path)]).returncode == 0


CUP = 'game = "quincy"\nentrants = ["house:greedy", "house:random"]\nsandbox = "off"\n[format]\nname = "roundrobin"\n'


class Author:
    """An author at a contest's site.

    Args:
        driver: of the browser.
        token: token with which it signs in.
    """

    def __init__(self, driver: webdriver.Chrome, token: str) -> None:
        self._driver = driver
        self._token = token
        driver.implicitly_wait(60)  # for the page that a link leads to

    def sign_in(self, site: str) -> None:
        """Sign in, and go to the practice matches."""
        self._driver.switch_to.new_window("tab")
        self._driver.get(f"{site}/sign-in")
        self._driver.find_element("name", "token").send_keys(self._token, Keys.ENTER)
        self.follow("Practice")

    def return_to(self, site: str) -> None:
        """Continue at a site whose host was restarted; sessions survive it."""
        self._driver.switch_to.new_window("tab")
        self._driver.get(f"{site}/author")
        self.follow("Practice")

    def follow(self, link: str) -> None:
        """Follow a link, or press a button, once it is there."""
        self._driver.find_element("xpath", f"//*[self::a or self::button][text()='{link}']").click()

    def sit_down(self, link: str) -> str:
        """Go to the seat, and return its address."""
        self.follow(link)
        self._driver.find_element("id", "hand-in")
        return self._driver.current_url


@pytest.mark.long
def test_an_author_plays_on_a_contests_site(browser: webdriver.Chrome, tmp_path: Path) -> None:
    """It plays by keys, despite a kill of the host. Then the replay is shown, and the record passes the audit."""
    (tmp_path / CONTEST).write_text(
        'practice = true\n[[tournaments]]\nfile = "cup.toml"\nstart = 2999-01-01T00:00:00Z\n'
    )
    (tmp_path / "cup.toml").write_text(CUP)
    ada, page = Author(browser, add_tokens(tmp_path / "authors.toml", ["ada"], may_renew=False)["ada"]), Page(browser)
    with hosting(tmp_path, signal.SIGKILL) as site:
        ada.sign_in(site)
        tab = Tab(browser, ada.sit_down("Play it yourself"), "greedy", by_keys=True)
        while tab.acts < BY_HAND:
            tab.play()
    with hosting(tmp_path, signal.SIGTERM, "practice over: author ada, number 1\n") as site:
        ada.return_to(site)
        ada.sit_down("Take your seat")
        page.run(GO_ON, True)
        page.wait_until("document.body.classList.contains('over')")
        assert re.search(r" beat |: draw|, then ", page.text("#status"))
        ada.follow("Practice matches")
        ada.follow("Replay")
        browser.find_element("xpath", "//*[contains(text(), 'record holds')]")
        told = [each["message"] for each in page.complaints() if each["level"] == "SEVERE"]
        assert [message for message in told if site in message] == [], "only the pages of the other host complain"
    assert run(["audit", str(tmp_path / "logs/practice/ada/0001")]).returncode == 0
