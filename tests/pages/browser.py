"""Starts a headless Chromium without a network; without Chromium, tests that need it are skipped."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import JavascriptException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

from ..needs import find_program, require

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def start_browser(profile: Path) -> webdriver.Chrome:
    """Start a browser.

    Args:
        profile: an empty folder for all that it keeps.
    """
    require("chromium", "chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = str(find_program("chromium"))
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(find_program("chromedriver")))


class Page:
    """An open page.

    Args:
        browser: what it is open in.
    """

    def __init__(self, browser: webdriver.Chrome) -> None:
        self._browser = browser

    def open(self, path: Path) -> None:
        """Open a file, and drop the messages of earlier pages."""
        self.visit(path.as_uri())

    def visit(self, address: str) -> None:
        """Open an address, and drop the messages of earlier pages."""
        self._browser.get("about:blank")
        self.complaints()
        self._browser.get(address)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a function's body in the page, and return its result."""
        return self._browser.execute_script(script, *arguments)

    def text(self, selector: str) -> str:
        """Return the text of an element."""
        return str(self.run("return document.querySelector(arguments[0]).textContent", selector))

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all elements that fit."""
        script = "return [...document.querySelectorAll(arguments[0])].map((element) => element.textContent)"
        return list(self.run(script, selector))

    def click(self, identifier: str) -> None:
        """Click on a button as a person does, with the pointer."""
        self._browser.find_element("id", identifier).click()

    def choose(self, identifier: str, path: Path) -> None:
        """Choose a file."""
        self._browser.find_element("id", identifier).send_keys(str(path))

    def write(self, identifier: str, text: str) -> None:
        """Write into a field."""
        self._browser.find_element("id", identifier).send_keys(text)

    def select(self, identifier: str, value: str) -> None:
        """Choose one of a list."""
        self.run("document.getElementById(arguments[0]).value = arguments[1]", identifier, value)

    def send(self, action: str, button: int = 0) -> None:
        """Submit a form by a button that leads to an address, and wait for the answer."""
        leading = "return [...document.forms].filter((form) => new URL(form.action).pathname === arguments[0])"
        buttons = f"{leading}.flatMap((form) => [...form.querySelectorAll('button')])"
        with self._next_page():
            self._browser.execute_script(buttons, action)[button].click()

    def follow(self, selector: str) -> None:
        """Click on a link or a button that leads to another page, and wait until that page is there."""
        with self._next_page():
            self.run("document.querySelector(arguments[0]).click()", selector)

    @contextmanager
    def _next_page(self) -> Iterator[None]:
        """Wait until what is done in the block has led to another page.

        A click returns before the browser leaves the page, so that a test which went on at once could look at the old
        one. Only a new window object has lost the mark.
        """
        self.run("window.isLeft = true")
        yield
        is_there = "return !window.isLeft && document.readyState === 'complete'"
        WebDriverWait(self._browser, 60, poll_frequency=0.05).until(lambda _: self.run(is_there))

    @contextmanager
    def other_window(self) -> Iterator[None]:
        """Work in another window for a while."""
        own = self._browser.current_window_handle
        self._browser.switch_to.new_window("window")
        yield
        self._browser.close()
        self._browser.switch_to.window(own)

    def go_to_window(self, number: int) -> None:
        """Work in another window from now on; it is opened if there is none of this number, counted from 0."""
        handles = self._browser.window_handles
        if number < len(handles):
            self._browser.switch_to.window(handles[number])
        else:
            self._browser.switch_to.new_window("window")

    def forget(self) -> None:
        """Remove the cookies of all sites."""
        self._browser.execute_cdp_cmd("Network.clearBrowserCookies", {})

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        webdriver.ActionChains(self._browser).send_keys(*keys).perform()

    def wait_until(self, condition: str) -> None:
        """Wait until an expression holds; it is evaluated at each change of the page.

        A page that is left while this waits is followed. `follow` is for an expression that may hold on the old page.
        """
        script = f"""
            const done = arguments[0];
            const holds = () => {condition};
            if (holds()) return done();
            const observer = new MutationObserver(() => holds() && done());
            observer.observe(document.body, {{ subtree: true, childList: true, attributes: true }});
        """
        self._browser.set_script_timeout(60)
        while True:
            try:
                self._browser.execute_async_script(script)
            except JavascriptException as error:
                if "document unloaded" not in str(error.msg):
                    raise
            else:
                return

    def run_scripts(self, *, may_run: bool) -> None:
        """Switch the pages' own scripts on or off."""
        self._browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not may_run})

    def emulate(self, width: int, height: int, *, is_dark: bool = False, is_printed: bool = False) -> None:
        """Give the page a window of this size, and a light or a dark theme; or show it as on paper."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        theme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self._browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"media": "print" if is_printed else "", "features": [theme]}
        )

    def move_to(self, zone: str) -> None:
        """Set the time zone of the page's reader; empty: that of this machine."""
        self._browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": zone})

    def wait_for(self, promise: str) -> Any:
        """Return what a promise gives."""
        script = f"const done = arguments[0]; ({promise}).then(done, (error) => done({{ error: String(error) }}))"
        return self._browser.execute_async_script(script)

    def run_later(self, script: str, *arguments: Any) -> Any:
        """Run a function's body in the page, and return the argument of its callback, which is its last argument."""
        return self._browser.execute_async_script(script, *arguments)

    def take_picture(self) -> str:
        """Return a picture of the whole page as a PNG file in base 64."""
        whole = {"format": "png", "captureBeyondViewport": True}
        return str(self._browser.execute_cdp_cmd("Page.captureScreenshot", whole)["data"])

    def picture(self, path: Path) -> None:
        """Write a picture of the whole page."""
        path.write_bytes(base64.b64decode(self.take_picture()))

    def complaints(self) -> list[Any]:
        """Return the new messages in the console since the last call."""
        return list(self._browser.get_log("browser"))  # type: ignore[no-untyped-call]  # selenium has not typed it
