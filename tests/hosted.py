"""A contest that is hosted in its own process, and visitors of its site."""

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

from referee.net.links.tokens import add_tokens

STOPPED = "stopping; `referee host` will continue the tournaments where they stop now\n"


@contextmanager
def hosted(contest: Path) -> "Iterator[tuple[subprocess.Popen[str], str]]":
    """Host a contest, and yield the process, and where its site is; what has not ended then is killed."""
    host, site = started(contest)
    with host:
        try:
            yield host, site
        finally:
            host.kill()


def started(contest: Path) -> "tuple[subprocess.Popen[str], str]":
    """Host a contest, and return the process, and where its site is."""
    address = ("--listen", "tcp:0:interface=127.0.0.1")
    command = [sys.executable, "-m", "referee", "host", str(contest), *address]
    host = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert host.stderr is not None
    said = ""
    while "site is on" not in (line := host.stderr.readline()):
        said += line
        assert line, f"the host ended before it listened: {said}"
    return host, line.split()[-1]


@contextmanager
def hosting(contest: Path, number: signal.Signals, says: str | None = "") -> Iterator[str]:
    """Host a contest, and yield where its site is; end it by a signal.

    Args:
        contest: its folder.
        number: of the signal.
        says: what it prints before it prints that it stops; None: anything.
    """
    host, site = started(contest)
    with host:
        assert host.stderr is not None
        try:
            yield site
        finally:
            host.send_signal(number)
            told = host.stderr.read()
    told = told if says is not None else STOPPED * told.endswith(STOPPED)
    assert (host.returncode, told) == ((-9, "") if number == signal.SIGKILL else (0, (says or "") + STOPPED))


def shown_until(site: str, holds: Callable[[Any], bool]) -> Any:
    """Watch until a condition holds for the tournament; return its state then."""
    return events_until(site, "events", lambda card: holds(card["tournaments"][0]))["tournaments"][0]


def events_until(site: str, name: str, holds: Callable[[Any], bool]) -> Any:
    """Read events until a condition holds for one; return this event."""
    with urllib.request.urlopen(f"{site}/api/{name}", timeout=60) as events:
        for line in events:
            if line.startswith(b"data: "):
                told = json.loads(line.removeprefix(b"data: "))
                if holds(told):
                    return told
    raise AssertionError("the site told no more")


def fetched(site: str, path: str) -> bytes:
    """Return what is at an address."""
    with urllib.request.urlopen(f"{site}/{path}", timeout=60) as answer:
        return bytes(answer.read())


class Person:
    """A person who is signed in, with a browser without scripts.

    Args:
        contest: its folder.
        file: of tokens, in that.
        name: whose token is made.
    """

    def __init__(self, contest: Path, file: str, name: str) -> None:
        self.token = add_tokens(contest / file, [name], may_renew=True)[name]
        self._cookies = CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self._cookies))
        self._site = ""

    def sign_in(self, site: str) -> str:
        """Sign in, and return the page that is shown then."""
        self._site = site
        return self.send("sign-in", "sign-in", token=self.token)

    def return_to(self, site: str) -> None:
        """Go on at a site whose host was started again: sessions outlive it."""
        self._site = site

    def open(self, path: str) -> bytes:
        """Return what is at an address."""
        with self._opener.open(f"{self._site}/{path}", timeout=60) as answer:
            return bytes(answer.read())

    def cookie(self, name: str) -> str:
        """Return a cookie that the site has given."""
        return next(cookie.value or "" for cookie in self._cookies if cookie.name == name)

    def follow(self, path: str) -> Iterator[bytes]:
        """Yield the events of an address."""
        with self._opener.open(f"{self._site}/{path}", timeout=60) as events:
            yield from (line for line in events if line.startswith(b"data: "))

    def send(self, page: str, action: str, **fields: str) -> str:
        """Submit a form of a page, and return the page that is shown then."""
        token = self.open(page).partition(b'name="form_token" value="')[2].partition(b'"')[0]
        body = urlencode({"form_token": token.decode(), **fields}).encode()
        with self._opener.open(f"{self._site}/{action}", body, timeout=60) as answer:
            return str(answer.read().decode())
