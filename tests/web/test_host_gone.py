"""A host that stops and comes back, as its open pages see it, below a path of a web server in front."""

import http.client
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from ..hosted import started
from ..pages.browser import Page, start_browser
from .tour import Tour

PREFIX = "/contest"


class Front(BaseHTTPRequestHandler):
    """A web server in front: it shows a site below a path, and answers while the site is gone."""

    port = 0
    """Port of the site."""

    def do_GET(self) -> None:
        """Pass a request on."""
        site = http.client.HTTPConnection("127.0.0.1", self.port)
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            site.request(self.command, self.path.removeprefix(PREFIX), body, dict(self.headers))
            answer = site.getresponse()
        except OSError:
            self.send_error(502)
            return
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() != "transfer-encoding":
                self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        try:
            while data := answer.read1(65536):
                self.wfile.write(data)
        except OSError:
            pass
        finally:
            site.close()

    do_POST = do_GET  # noqa: N815  # the server's own

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def front() -> Iterator[str]:
    """Yield the address at which the web server shows the site."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Front)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def host(contest: Path) -> "Iterator[subprocess.Popen[str]]":
    """Host a contest behind the web server, and kill the host at the end."""
    process, site = started(contest)
    Front.port = urlsplit(site).port or 0
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """Give a browser."""
    driver = start_browser(tmp_path / "profile")
    yield Page(driver)
    driver.quit()


NOTICE = "document.querySelector('.notice-of-host')?.textContent.includes('does not answer')"


@pytest.mark.long
def test_pages_that_follow_say_that_the_host_is_gone_and_recover(tmp_path: Path, page: Page) -> None:
    """They recover by themselves, although the web server answers in between; the session survives."""
    tour = Tour(tmp_path, page)
    with front() as site:
        tour.goes_on(site)
        shown = []
        with host(tour.contest) as first:
            for number, path in enumerate(("", "live", "author/queue")):
                page.go_to_window(number)
                tour.author(path) if path.startswith("author") else tour.visitor(path)
                shown.append(page.text("h1"))
            first.kill()
        for number, _ in enumerate(shown):
            page.go_to_window(number)
            page.wait_until(NOTICE)
        with host(tour.contest):
            for number, title in enumerate(shown):
                page.go_to_window(number)
                page.wait_until("!document.querySelector('.notice-of-host')")
                assert page.text("h1") == title


@pytest.mark.long
def test_what_is_handed_in_while_the_host_is_gone_is_not_lost(tmp_path: Path, page: Page) -> None:
    """The chosen file stays; once the host is back, the same page hands it in."""
    tour = Tour(tmp_path, page)
    with front() as site:
        tour.goes_on(site)
        with host(tour.contest) as first:
            tour.author()
            page.choose("archive", tour.broken)
            first.kill()
        page.wait_until(NOTICE)
        page.run("document.querySelector('#hand-in button').click()")
        assert page.run("return document.querySelector('#archive').files.length") == 1
        with host(tour.contest):
            page.wait_until("!document.querySelector('.notice-of-host')")
            page.send(f"{PREFIX}/author/hand-in")
            assert page.run("return location.pathname") == f"{PREFIX}/author/versions/1"


@pytest.mark.long
def test_who_is_not_signed_in_any_more_keeps_the_page(tmp_path: Path, page: Page) -> None:
    """The chosen file stays, too: the author signs in in another window, and hands in."""
    tour = Tour(tmp_path, page)
    with front() as site, host(tour.contest):
        tour.goes_on(site)
        tour.author()
        page.choose("archive", tour.broken)
        page.forget()
        page.run("document.querySelector('#hand-in button').click()")
        page.wait_until("document.querySelector('.notice-of-host a')")
        way = page.run("return document.querySelector('.notice-of-host a').href")
        assert way.startswith(f"{site}/sign-in?back=")
        tour.sign_in_elsewhere(way)
        page.send(f"{PREFIX}/author/hand-in")
        assert page.run("return location.pathname") == f"{PREFIX}/author/versions/1"
