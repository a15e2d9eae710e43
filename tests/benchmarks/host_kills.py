"""Kills a hosted contest at random instants, again and again: in the end, nothing is lost or doubled.

While tournaments, checks and practice matches go on, authors hand in and ask for practice matches, and an organiser
pauses, starts and rules. After each kill (SIGKILL), the folder is checked, and after each start the pages. One of the
tournaments is also played undisturbed, with the same seeds: the results must be the same.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from http.client import HTTPException
from itertools import count
from pathlib import Path
from random import Random
from threading import Event
from typing import Any
from urllib.error import HTTPError

from referee.cli.submission_client import ServiceError
from referee.files.reading import files_below
from referee.record.key import VARIABLE
from referee.web.contest.contest_file import CONTEST, SUBMISSIONS
from referee.web.contest.intake import LOGS
from referee.web.submissions.archive import unpack
from referee.web.submissions.challenges import PRACTICE, Challenges
from referee.web.submissions.store import Store

from ..hosted import fetched, hosted
from . import kills
from .people import PLACE, Author, Left, Organiser, closed_in

FILE = """\
title = "Kills"
practice = true
[[tournaments]]
file = "kills.toml"
[[tournaments]]
file = "league.toml"
"""
LEAGUE = """\
name = "league"
game = "quincy"
seats = 2
tables = 1
sandbox = "off"
entrants = ["house:greedy", "house:random", "house:search"]
[format]
name = "roundrobin"
cycles = {cycles}
"""
TOURNAMENTS = ("kills", "league")
AUTHORS = ("ada", "bob")
HELD = b'id="record-text">'
SPANS_S = (0.5, 4.0, 20.0)
"""Longest times from a start to the kill: enough for the start, a match, and a check with a practice match after it."""
PAUSE_S = 0.3
"""Time between two looks at a page."""
LOOK_S = 2.0
"""Time between two checks whether everything is over; an author may ask 120 times a minute."""
PATIENCE_S = 120.0
LONGEST_S = 1800.0
"""Longest time from the last kill to the end."""


def main(arguments: list[str]) -> int:
    """Run the contest, kill it, and print the findings.

    Returns:
        0 if nothing was lost or doubled, every page was true, and every record passes the audit.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks host_kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--matches", type=int, default=400, help=f"a multiple of {kills.PER_CYCLE}")
    parser.add_argument("--cycles", type=int, default=30, help="of the other tournament: three matches each")
    parser.add_argument("--seed", type=int, default=1, help="of the instants")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        player, terms = kills.built(place / "player"), argparse.Namespace(tables=1, matches=chosen.matches)
        calm, wild = (kills.prepared(place / kind, player, terms, "anew") for kind in ("calm", "wild"))
        kills.run(calm)
        os.environ[VARIABLE] = str(wild.with_name("key"))
        (wild.with_name(CONTEST)).write_text(FILE)
        (wild.with_name("league.toml")).write_text(LEAGUE.format(cycles=chosen.cycles))
        contest = Killed(wild, Random(chosen.seed))
        for _ in range(chosen.kills):
            contest.live_and_die()
        everything = contest.finish()
        return max(contest.report(), _judge_archives(wild.parent, everything), kills.report(calm, wild, chosen.matches))


class Killed:
    """A contest that is killed again and again.

    Args:
        path: of the tournament that is compared; the contest's other files are beside it.
        source: of the random instants.
    """

    def __init__(self, path: Path, source: Random) -> None:
        self._path, self._folder, self._source = path, path.parent, source
        self._authors = [Author(self._folder, name) for name in AUTHORS]
        self._organiser = Organiser(self._folder, Random(source.random()))
        self._numbers = count()
        self._left, self._told = Counter[str](), Counter[str]()
        self._starts_s = list[float]()
        self.faults = set[str]()

    # --- alive

    def live_and_die(self) -> None:
        """Host the contest, let people act, kill it, and check the disk."""
        left, begun = self._looked(), time.monotonic()
        people: list[Author | Organiser] = [*self._authors, self._organiser]
        with hosted(self._folder) as (host, site), ThreadPoolExecutor() as pool:
            self._starts_s.append(time.monotonic() - begun)
            is_over = Event()
            acting = [pool.submit(self._act, each, site, left, is_over) for each in people]
            span_s = self._source.choice(SPANS_S)
            try:
                if span_s > SPANS_S[0]:
                    self._until("the first page", lambda: card_of(site, "kills")["played"] >= left.closed)
                time.sleep(self._source.uniform(0, span_s))
            finally:
                host.kill()
                is_over.set()
            for deeds in acting:
                self._told.update(deeds.result())
        self._until("the last process", lambda: not processes_of(self._folder))
        self._left[kills.state_of(self._path)] += 1

    def _act(self, person: Author | Organiser, site: str, left: Left, is_over: Event) -> Counter[str]:
        """Open pages, and act until the host is gone; return the outcomes."""
        told, is_in = Counter[str](), False
        while not is_over.wait(person.pace_s):
            try:
                if not is_in:
                    person.sign_in(site)
                    self.faults.update(person.look(site, left))
                    is_in = True
                person.act(site, next(self._numbers))
                told["done"] += 1
            except (HTTPError, ServiceError) as error:
                status = error.code if isinstance(error, HTTPError) else error.status
                told[f"refused with {status}" if status else "no answer"] += 1
            except (OSError, HTTPException):
                told["no answer"] += 1
        return told

    def _until(
        self, what: str, holds: Callable[[], bool], patience_s: float = PATIENCE_S, pause_s: float = PAUSE_S
    ) -> None:
        give_up = time.monotonic() + patience_s
        while not holds():
            if time.monotonic() > give_up:
                self.faults.add(f"{what} was not as it must be within {patience_s:.0f} s")
                return
            time.sleep(pause_s)

    def finish(self) -> bytes:
        """Host the contest to its end, and return the archive that an organiser downloads."""
        left = self._looked()
        with hosted(self._folder) as (host, site):
            for author in self._authors:
                author.sign_in(site)
                self.faults.update(author.look(site, left))
            self._organiser.sign_in(site)
            if card_of(site, "league")["state"] == "is paused by the organiser":
                self._organiser.send(PLACE, f"{PLACE}/start")
            self._until("the end", lambda: self._is_over(site), LONGEST_S, LOOK_S)
            archive = self._organiser.open("organiser/contest.tar")
            host.send_signal(signal.SIGTERM)
            host.wait()
        return archive

    def _is_over(self, site: str) -> bool:
        cards = [card_of(site, name) for name in TOURNAMENTS]
        states = {version["state"] for author in self._authors for version in author.versions(site)}
        challenges = Challenges(self._folder / LOGS / PRACTICE).waiting()
        return {card["state"] for card in cards} == {"is over"} and not challenges and states <= {"passed", "failed"}

    # --- dead

    def _looked(self) -> Left:
        """Check the disk while no host runs."""
        challenges = Challenges(self._folder / LOGS / PRACTICE)
        with closing(Store(self._folder / SUBMISSIONS)) as store:
            for author in self._authors:
                self.faults.update(wrong_in(store, author))
            versions = {author.name: len(store.versions(author.name)) for author in self._authors}
        kept = {author.name: len(challenges.list_own(author.name)) for author in self._authors}
        for author in self._authors:
            if not author.granted <= kept[author.name] <= author.asked:
                self.faults.add(f"{author.name} asked {author.asked} times, {author.granted} granted, {kept} kept")
        return Left(
            closed=len(closed_in(self._path)),
            is_paused=(self._folder / LOGS / "league.paused").exists(),
            versions=versions,
            challenges=kept,
        )

    def report(self) -> int:
        """Print the actions and findings; return 0 if there was no fault."""
        self._looked()
        self._judge_rulings()
        print(f"killed {self._left.total()} times; started within {max(self._starts_s):.1f} s at most")
        kills.print_left(self._left)
        print("what people did:", ", ".join(f"{what} {times}" for what, times in self._told.most_common()))
        print(
            "versions:", *(f"{author.name} {len(author.taken)} of {len(author.sent)} told" for author in self._authors)
        )
        with closing(Store(self._folder / SUBMISSIONS)) as store:
            versions = [version for author in self._authors for version in store.versions(author.name)]
        print("  ", dict(Counter(version.trouble or str(version.state) for version in versions)))
        self._judge_practice()
        audit = kills.audited(self._folder / "league.toml")
        litter = [path for path in self._folder.rglob("*") if path.name.endswith(".new") or ".partial-" in path.name]
        print(f"left over on the disk: {len(litter)} half files", *litter[:5])
        for fault in sorted(self.faults):
            print("FAULT:", fault)
        return int(bool(self.faults) or audit != 0)

    def _judge_rulings(self) -> None:
        lines = kills.lines_of(self._folder / "league.toml")
        on_record = Counter(line["event"]["ruling"]["reason"] for line in lines if kills.event_of(line) == "ruled")
        print(f"rulings: {len(self._organiser.ruled)} taken, {on_record.total()} on record")
        if lost := self._organiser.ruled - on_record.keys():
            self.faults.add(f"rulings that were taken are on no record: {sorted(lost)}")
        if twice := [reason for reason, times in on_record.items() if times > 1]:
            self.faults.add(f"rulings are on record twice: {twice}")

    def _judge_practice(self) -> None:
        """Compare practice matches with their records, and audit those."""
        challenges = Challenges(self._folder / LOGS / PRACTICE)
        every = [challenge for author in AUTHORS for challenge in challenges.list_own(author)]
        records = [path for each in every for path in challenges.folder(each).glob("*.jsonl")]
        print("practice:", dict(Counter(challenge.trouble or "played" for challenge in every)))
        played = sum(challenge.trouble is None for challenge in every)
        audit = [sys.executable, "-m", "referee", "audit", *map(str, records)]
        if records and subprocess.run(audit, check=False, stdout=subprocess.DEVNULL).returncode:
            self.faults.add("a practice match's record does not hold")
        if not played <= len(records) <= len(every):
            self.faults.add(f"{played} practice matches were played, and there are {len(records)} records")


def card_of(site: str, name: str) -> Any:
    """Return the card of a tournament on the first page."""
    return next(card for card in json.loads(fetched(site, "api/contest"))["tournaments"] if card["name"] == name)


def wrong_in(store: Store, author: Author) -> Iterator[str]:
    """Yield the mistakes in the stored versions of an author."""
    versions = store.versions(author.name)
    kept = [version.sha256 for version in versions]
    if not author.taken <= set(kept) <= author.sent or len(set(kept)) < len(kept):
        yield f"{author.name}: a version is lost, or there twice"
    for version in versions:
        player = store.player_folder(author.name, version.number)
        data = (player.parent / "archive.tar.gz").read_bytes()
        entries = {entry.path: entry.data for entry in unpack(data)}
        files = {path.relative_to(player).as_posix(): path.read_bytes() for path in files_below(player, "*")}
        if (
            hashlib.sha256(data).hexdigest() != version.sha256 or not entries.items() <= files.items()
        ):  # builds add to them
            yield f"{author.name}: version {version.number} is not as it was handed in"


def processes_of(folder: Path) -> list[int]:
    """Return the processes that were started for a contest."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if os.fsencode(folder) in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def _judge_archives(contest: Path, everything: bytes) -> int:
    """Unpack the organiser's archive and audit it, and check the public one; return 0 if they are whole."""
    unpacked = contest.with_name("unpacked")
    unpacked.mkdir()
    subprocess.run(["tar", "-x", "-C", str(unpacked)], input=everything, check=True)
    copy = unpacked / contest.name
    shutil.copy(contest / "key", copy / "key")
    statuses = [kills.audited(copy / f"{name}.toml") for name in TOURNAMENTS]
    target = contest.with_name("public.zip")
    command = [sys.executable, "-m", "referee", "host", str(contest), "--archive", str(target)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with zipfile.ZipFile(target) as archive:
        torn = [name for name in archive.namelist() if not _is_whole(name, archive.read(name), contest)]
        pages = sum("/replays/" in name for name in archive.namelist())
        print(f"public archive: {len(archive.namelist())} files, {pages} replays, not whole: {torn or 'none'}")
    return max(*statuses, bool(torn))


def _is_whole(name: str, data: bytes, contest: Path) -> bool:
    """Return whether a file of the public archive is valid for its ending, and equal to the one on the disk."""
    below = contest / LOGS / name.removeprefix("tournaments/")
    if name.endswith(".html") and not data.rstrip().endswith(b"</html>"):
        return False
    if HELD in data:  # no server provides the record for a replay in an archive, so the page contains it
        record: str = json.loads(data.partition(HELD)[2].partition(b"</script>")[0])
        return record.encode() == (below.parent.parent / f"{below.stem}.jsonl").read_bytes()
    return not name.startswith("tournaments/") or name.endswith("heads") or below.read_bytes() == data
