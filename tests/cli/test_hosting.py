"""`referee host` as an organiser and a visitor find it: played, shown, killed, gone on with, verified."""

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from referee.app.contest.contest_file import CONTEST

from .calling import referee

ROUNDS = """
game = "q"
entrants = ["house:greedy", "house:dag", "house:ldasg", "house:random"]
sandbox = "off"
tables = 2
[format]
name = "roundrobin"
cycles = 2
"""
MATCHES = 12


@pytest.fixture
def contest(tmp_path: Path) -> Path:
    """Return the folder of a contest with one tournament."""
    (tmp_path / CONTEST).write_text('title = "Test"\n[[tournaments]]\nfile = "rounds.toml"\n')
    (tmp_path / "rounds.toml").write_text(ROUNDS)
    return tmp_path


@contextmanager
def hosting(contest: Path, number: signal.Signals) -> Iterator[str]:
    """Host a contest, and yield where its site is; end it by a signal."""
    address = ("--listen", "tcp:0:interface=127.0.0.1")
    command = [sys.executable, "-m", "referee", "host", str(contest), *address]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as host:
        assert host.stderr is not None
        try:
            while "site is on" not in (line := host.stderr.readline()):
                assert line, "the host ended before it listened"
            yield line.split()[-1]
        finally:
            host.send_signal(number)
            told = host.stderr.read()
    assert (host.returncode, told) == ((-9, "") if number == signal.SIGKILL else (0, STOPPED))


STOPPED = "stopping; `referee host` goes on with the tournaments where they are\n"


def shown_until(site: str, holds: Callable[[Any], bool]) -> Any:
    """Look on until something holds of the tournament; return how it was shown then."""
    return events_until(site, "events", lambda card: holds(card["tournaments"][0]))["tournaments"][0]


def events_until(site: str, name: str, holds: Callable[[Any], bool]) -> Any:
    """Take events until something holds of one; return that."""
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


def test_a_contest_is_played_and_shown(contest: Path, tmp_path: Path) -> None:
    """Through a kill in the middle; every match is played once, and visitors verify what they see."""
    with hosting(contest, signal.SIGKILL) as site:
        shown_until(site, lambda cup: cup["open_matches"])
        with pytest.raises(HTTPError, match="404"):
            fetched(site, "tournaments/rounds/rounds.jsonl")
        shown_until(site, lambda cup: cup["played"] >= 2)
        assert b'"board":null' in fetched(site, "api/live")
    (contest / CONTEST).write_text('spectators = "board only"\n' + (contest / CONTEST).read_text())
    with hosting(contest, signal.SIGINT) as site:
        seen = events_until(site, "live/events", lambda live: any(table["board"] for table in live["tables"]))
        assert seen["spectators"] == "board only"
        last = shown_until(site, lambda cup: cup["state"] == "is over" and cup["reported"] == MATCHES)
        assert (last["played"], last["open_matches"]) == (MATCHES, [])
        assert b"Each result follows from a signed record" in fetched(site, "")
        assert b"rounds-00001" in fetched(site, "tournaments/rounds/report.html")
        for number in range(1, MATCHES + 1):
            name = f"rounds-{number:05}"
            assert name.encode() in fetched(site, f"tournaments/rounds/replays/{name}.html")
            (tmp_path / f"{name}.jsonl").write_bytes(fetched(site, f"tournaments/rounds/{name}.jsonl"))
        (tmp_path / "rounds.jsonl").write_bytes(fetched(site, "tournaments/rounds/rounds.jsonl"))
        (tmp_path / "key.pem").write_bytes(fetched(site, "key.pem"))
        (tmp_path / "heads").write_bytes(fetched(site, "tournaments/rounds/heads"))
    records = [str(path) for path in sorted(tmp_path.glob("*.jsonl"))]
    referee("audit", *records, "--key", str(tmp_path / "key.pem"), "--heads", str(tmp_path / "heads"))


def test_wrong_uses_are_told(tmp_path: Path) -> None:
    """With what to do; and the example can be read."""
    assert "referee host --example" in referee("host", str(tmp_path), status=2).stderr
    folder = str(tmp_path / "new")
    assert "contest.toml" in referee("host", "--example", folder).stdout
    assert referee("host", "--check", folder).stdout == "cup: at once\nleague: at once\n"
