"""People who use a hosted contest in a benchmark: authors who hand in and practise, an organiser who decides."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from urllib.error import HTTPError

from msgspec import Struct

from referee.cli.commands.new import make_player
from referee.cli.submission_client import find_service
from referee.web.submissions.archive import ArchiveEntry, pack
from referee.web.submissions.folder import gather

from ..hosted import Person
from . import kills

PLACE = "organiser/tournaments/league"


class Author(Person):
    """An author who hands in again and again, and asks for practice matches.

    Args:
        contest: its folder.
        name: the author's.
    """

    pace_s = 0.3
    """Time between two actions."""

    def __init__(self, contest: Path, name: str) -> None:
        super().__init__(contest, "authors.toml", name)
        self.name = name
        self.sent, self.taken = set[str](), set[str]()
        """Hashes of the versions that were handed in, and hashes of those with an answer."""
        self.asked, self.granted = 0, 0
        """Number of practice matches that were requested, and number of those with an answer."""
        folder = contest / f"of-{name}"
        make_player("c", folder)
        lines = (folder / "player.toml").read_text().splitlines()
        lines = ['games = ["quincy"]' if line.startswith("games") else line for line in lines]
        (folder / "player.toml").write_text("\n".join(lines))
        self._files = gather(folder).entries

    def look(self, site: str, left: "Left") -> Iterator[str]:
        """Yield what the pages tell otherwise than the disk did when nobody ran."""
        shown = len(self.versions(site)), self.open("author/practice").count(b'<th scope="row">')
        kept = left.versions[self.name], left.challenges[self.name]
        if shown != kept:
            yield f"{self.name} is shown {shown} versions and challenges, and has {kept}"

    def versions(self, site: str) -> list[dict[str, Any]]:
        """Return the versions as the service reports them."""
        return list(find_service(site, self.token, None).get("submissions")["submissions"])

    def act(self, site: str, number: int) -> None:
        """Hand another version in, and ask for a practice match of the newest one that has passed."""
        versions = self.versions(site)
        if not {"waiting", "checking"} & {version["state"] for version in versions}:
            data = pack([*self._files, ArchiveEntry(path="note", data=str(number).encode())])
            self.sent.add(sha256 := hashlib.sha256(data).hexdigest())
            find_service(site, self.token, None).upload(data)
            self.taken.add(sha256)
        passed = [version["number"] for version in versions if version["state"] == "passed"]
        if passed:
            self._challenge(str(passed[-1]))

    def _challenge(self, version: str) -> None:
        self.asked += 1
        try:
            asked = {"tournament": "kills", "version": version, "opponent": "house:random"}
            self.send("author/practice", "author/practice", **asked)
        except HTTPError:
            self.asked -= 1  # refused, because too many are waiting
            raise
        self.granted += 1


class Organiser(Person):
    """An organiser who pauses a tournament, starts it, and rules.

    Args:
        contest: its folder.
        source: of the random actions.
    """

    pace_s = 1.5
    """Time between two actions, in which the tournament goes on."""

    def __init__(self, contest: Path, source: Random) -> None:
        super().__init__(contest, "organisers.toml", "ann")
        self.ruled = set[str]()
        """Reasons of accepted rulings."""
        self._league = contest / "league.toml"
        self._source = source

    def look(self, _site: str, left: "Left") -> Iterator[str]:
        """Yield what the pages tell otherwise than the disk did when nobody ran."""
        if left.is_paused and b"is paused by the organiser" not in self.open("organiser"):
            yield "a pause was forgotten"

    def act(self, _site: str, number: int) -> None:
        """Do one random action of an organiser."""
        closed, deed = closed_in(self._league), self._source.choice(("start", "start", "pause", "rule", "rule"))
        if deed != "rule":
            self.send(PLACE, f"{PLACE}/{deed}")
        elif closed:
            entry, reason = self._source.choice(closed), f"reason {number}"
            about = {"subject": entry["fixture"]["match"], "to": self._source.choice(entry["names"])}
            self.send(PLACE, f"{PLACE}/rule", kind="award", reason=reason, **about)
            self.ruled.add(reason)


class Left(Struct):
    """The files on the disk while no host runs."""

    closed: int
    """Matches of the compared tournament."""
    is_paused: bool
    """Whether the other tournament is paused."""
    versions: dict[str, int]
    challenges: dict[str, int]


def closed_in(path: Path) -> list[Any]:
    """Return the matches that a tournament's record has, with their results."""
    return [line["event"]["entry"] for line in kills.lines_of(path) if kills.event_of(line) == "match-closed"]
