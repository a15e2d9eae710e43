"""Contests that accept programs, for tests: hosted by processes of their own, with real sockets."""

import json
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from referee.net.links.tokens import add_tokens
from referee.web.contest.contest_file import CONTEST
from referee.web.contest.intake import AUTHORS
from referee.web.submissions.archive import ArchiveEntry, pack

STANDING = str(Path(__file__).with_name("standing.py"))
TOML = b'name = "mine"\nrun = "python3 main.py"\ngames = ["q"]\n'
LIMIT_S = 60.0


def archive(does: str = "pass", note: str = "") -> bytes:
    """Return an archive whose check does something; a note makes it another archive."""
    files = {"player.toml": TOML, "does": does.encode(), "note": note.encode()}
    return pack([ArchiveEntry(path=path, data=data) for path, data in files.items()])


class Reception:
    """A contest while it is hosted.

    Args:
        process: its own.
        url: its address.
        tokens: of the authors.
        folder: of the submissions.
    """

    def __init__(self, process: "subprocess.Popen[str]", url: str, tokens: dict[str, str], folder: Path) -> None:
        self.process = process
        self.url = url
        self.tokens = tokens
        self.folder = folder
        self._said: list[str] = []
        self._news = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._news:
                self._said.append(line)
                self._news.notify_all()
        with self._news:
            self._said.append("ended")
            self._news.notify_all()

    def hears(self, *words: str) -> str:
        """Wait until it has printed a line with some words, and return that line."""
        with self._news:
            assert self._news.wait_for(lambda: self._found(words), LIMIT_S), self._said
            return self._found(words)

    def _found(self, words: tuple[str, ...]) -> str:
        return next((line for line in self._said if all(word in line for word in words)), "")

    def ask(self, author: str | None, path: str, body: bytes | None = None, method: str = "") -> tuple[int, Any]:
        """Send a request with an author's token, and return the status and the answer."""
        request = urllib.request.Request(self.url + path, body, method=method or ("PUT" if body is not None else "GET"))
        if author is not None:
            request.add_header("Authorization", f"Bearer {self.tokens.get(author, author)}")
        try:
            with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
                status, data = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                status, data = error.code, error.read()
        return status, data if path.endswith("/record") and status == 200 else json.loads(data)

    def hand_in(self, author: str, data: bytes) -> Any:
        """Hand a version in, wait for its verdict, and return the author's view of it."""
        status, taken = self.ask(author, "/submissions", data)
        assert status == 202, taken
        self.hears("version checked", f"author {author}, version {taken['number']},")
        return self.ask(author, f"/submissions/{taken['number']}")[1]

    def connect(self) -> socket.socket:
        """Return a bare connection."""
        parts = urlsplit(self.url)
        return socket.create_connection((parts.hostname or "", parts.port or 0), LIMIT_S)


@contextmanager
def receiving(folder: Path, *arguments: str, tokens: dict[str, str] | None = None) -> Iterator[Reception]:
    """Host a contest in a folder; by default, some authors have tokens."""
    (folder / CONTEST).write_text('title = "Course"\n')
    tokens = tokens or add_tokens(
        folder / AUTHORS, ["ada", "bob", "cyd", "dan", "eva", "fay", "gil", "hal"], may_renew=False
    )
    command = [sys.executable, STANDING, *arguments]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            found = Reception(process, "", tokens, folder / "submissions")
            found.url = found.hears("the site is on").split()[-1]
            yield found
        finally:
            process.terminate()
            process.wait(LIMIT_S)
