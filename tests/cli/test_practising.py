"""A practice match on a contest's site: requested by an author, killed with the host, played, and private."""

import json
import re
import signal
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from referee.web.contest.contest_file import CONTEST
from referee.web.submissions.store import Store

from ..hosted import Person, hosting
from ..web.submissions.test_matches import handed_in
from .calling import referee

CUP = 'game = "q"\nentrants = ["house:greedy", "house:random"]\nsandbox = "off"\n[format]\nname = "roundrobin"\n'


def test_an_author_practises(tmp_path: Path) -> None:
    """It is played once, whatever happens to the host, and nobody else sees it."""
    (tmp_path / CONTEST).write_text(
        'practice = true\n[[tournaments]]\nfile = "cup.toml"\nstart = 2999-01-01T00:00:00Z\n'
    )
    (tmp_path / "cup.toml").write_text(CUP)
    store = Store(tmp_path / "submissions")
    handed_in(store, "ada", "mine")
    store.close()
    ada, bob = Person(tmp_path, "authors.toml", "ada"), Person(tmp_path, "authors.toml", "bob")
    with hosting(tmp_path, signal.SIGKILL) as site:
        ada.sign_in(site)
        page = ada.send("author/practice", "author/practice", tournament="cup", version="1", opponent="house:random")
        assert "begins within seconds" in page
        shown_until(ada, "is played now")
    with hosting(tmp_path, signal.SIGTERM, "practice over: author ada, number 1\n") as site:
        ada.return_to(site)
        bob.sign_in(site)
        shown_until(ada, "/author/practice/1/replay")
        assert b"record holds" in ada.open("author/practice/1/replay")
        assert b"practice/ada/0001/q-" in ada.open("author/matches")
        for path in ("author/practice/1/replay", "tournaments/practice/ada/0001/challenge.json"):
            with pytest.raises(HTTPError, match="404"):
                bob.open(path)
    (record,) = (tmp_path / "logs/practice/ada/0001").glob("*.jsonl")
    referee("audit", str(record))


def test_an_author_plays_in_person(tmp_path: Path) -> None:
    """The author sees only the own hand, and moves when asked. Nobody else has the seat, and leaving ends the match."""
    (tmp_path / CONTEST).write_text(
        'practice = true\n[[tournaments]]\nfile = "cup.toml"\nstart = 2999-01-01T00:00:00Z\n'
    )
    (tmp_path / "cup.toml").write_text(CUP.replace('"q"', '"quincy"'))
    ada, bob = (Person(tmp_path, "authors.toml", name) for name in ("ada", "bob"))
    left = "practice over: author ada, number 1, trouble ada has left the table\n"
    with hosting(tmp_path, signal.SIGTERM, left) as site:
        for person in (ada, bob):
            person.sign_in(site)
        asked = {"tournament": "cup", "plays": "person", "opponent": "house:random"}
        assert "Leave the table" in ada.send("author/practice", "author/practice", **asked)
        with pytest.raises(HTTPError, match="404"):
            bob.open("author/practice/1/seat")
        states = map(_state, ada.follow("author/practice/1/events"))
        assert next(states)["still"].startswith("begins")
        asked_now = next(state for state in states if state["asked"])
        hand = {*re.findall(r'data-place="(\d\|\d)"', asked_now["svg"])}
        assert hand
        assert hand <= {*asked_now["options"]}
        ada.send("author/practice", "author/practice/1/give-up")
        assert any("ada has left the table" in state["over"] for state in states)
        shown_until(ada, "not played: ada has left the table")


def _state(event: bytes) -> dict[str, Any]:
    """Return the content of an event for the page of a seat."""
    told: dict[str, Any] = json.loads(event.removeprefix(b"data: "))
    return told


def shown_until(author: Person, text: str) -> None:
    """Watch as the page does, at each event, until it has a text."""
    for _ in author.follow("author/events"):
        if text in author.open("author/practice").decode():
            return
    raise AssertionError(text)
