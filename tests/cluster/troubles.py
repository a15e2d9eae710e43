"""Runs a tournament while its hosts are killed, frozen and cut off, and compares its results."""

import json
import os
import re
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from ..net.tournaments.in_memory import lines_of
from .hosts import KEEPER, SCHEDULER_HOST, Farm

POLL_S = 0.05
LATE_S = 120.0
"""How long a host is frozen or cut off if nobody notices that it is lost."""
_COMPARED = ("ranking", "scores", "fouls", "reason", "turns")
_NAME = re.compile(r" as (\S+), with")


class Trouble(Struct, frozen=True, kw_only=True):
    """Something that goes wrong."""

    after: int
    """Number of closed matches after which it comes, once its target runs."""
    what: Literal["kill", "freeze", "cut", "dispatcher"]
    """Its target: a host or the program on it, or the process that speaks to the scheduler, which is killed."""
    host: str = ""


class Endured:
    """A tournament that runs on a farm in spite of all failures.

    Args:
        farm: where.
        file: of the tournament.
        say: called with a line about each trouble.
    """

    def __init__(self, farm: Farm, file: Path, say: Callable[[str], None] = lambda text: None) -> None:
        self._farm = farm
        self._file = file
        self._say = say
        self.record = file.parent / "logs" / file.stem / f"{file.stem}.jsonl"
        self._log = file.parent / "diagnostics"
        self._away: dict[str, tuple[str, int, float]] = {}
        """Frozen or cut off host -> which of both, how much of the diagnostics came before, and until when."""

    def run(self, troubles: Iterable[Trouble]) -> None:
        """Run it to its end.

        Raises:
            AssertionError: it did not come to its end.
        """
        waiting = deque(sorted(troubles, key=lambda trouble: trouble.after))
        self._start()
        while (status := self._farm.running[KEEPER].poll()) is None:
            while waiting and self.closed >= waiting[0].after and self._can_cause(waiting[0]):
                self._cause(waiting.popleft())
            for host in list(self._away):
                self._bring_back(host)
            time.sleep(POLL_S)
        assert status == 0, self._farm.printed(KEEPER)[-3000:]
        assert not waiting, f"it was over before {waiting}"

    @property
    def closed(self) -> int:
        """Number of closed matches."""
        return self.record.read_bytes().count(b'"event":"match-closed"') if self.record.exists() else 0

    def notes(self, event: str) -> list[dict[str, Any]]:
        """Return the diagnostics of one kind of event."""
        lines = self._log.read_text().splitlines(keepends=True) if self._log.exists() else []
        return [
            line for line in map(json.loads, (line for line in lines if line.endswith("\n"))) if line["event"] == event
        ]

    def _start(self) -> None:
        self._farm.start_tournament(self._file, "--diagnostics", str(self._log))

    def _can_cause(self, trouble: Trouble) -> bool:
        """Return whether the target is ready: one that was just started is not."""
        match trouble.what:
            case "dispatcher":
                return dispatchers_in(self._file.parent) != []
            case "freeze" | "cut":
                return self._names(trouble.host) != []
            case "kill":
                return True

    def _cause(self, trouble: Trouble) -> None:
        self._say(f"after {self.closed} matches: {trouble.what} {trouble.host}")
        match trouble.what:
            case "dispatcher":
                for pid in dispatchers_in(self._file.parent):
                    os.kill(pid, signal.SIGKILL)
            case "kill":
                self._kill(trouble.host)
            case "freeze":
                self._farm.freeze(trouble.host)
            case "cut":
                self._farm.network.cut(trouble.host)
        if trouble.what in ("freeze", "cut"):
            self._away[trouble.host] = trouble.what, len(self.notes("host-lost")), time.monotonic() + LATE_S

    def _kill(self, host: str) -> None:
        """Kill the program on a host, and start it again at once."""
        self._farm.kill(host)
        if host == KEEPER:
            self._start()
        elif host == SCHEDULER_HOST:
            self._farm.start_scheduler()
        else:
            self._farm.start_host(host)

    def _bring_back(self, host: str) -> None:
        """Let a host go on, once it was given up."""
        what, before, until = self._away[host]
        name = self._names(host)[-1]
        if any(note["host"] == name for note in self.notes("host-lost")[before:]) or time.monotonic() > until:
            del self._away[host]
            self._say(f"after {self.closed} matches: {host} comes back")
            if what == "cut":
                self._farm.network.mend(host)
            else:
                self._farm.wake(host)

    def _names(self, host: str) -> list[str]:
        """Return the names that a host has had, one for each start."""
        return _NAME.findall(self._farm.printed(host))


def dispatchers_in(folder: Path) -> list[int]:
    """Return the numbers of the processes that speak to Dask for the tournament in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it may be gone by now
            is_one = b"referee.cluster.dispatcher" in (process / "cmdline").read_bytes()
            if is_one and (process / "cwd").resolve() == folder.resolve():
                found.append(int(process.name))
    return found


def results(record: Path) -> dict[str, Any]:
    """Return the results that count, each by its pairing and leg, and the standings.

    Times, heads and numbers of attempts are left out, because they depend on the hosts.

    Raises:
        AssertionError: something was counted twice.
    """
    counted: dict[tuple[int, int], Any] = {}
    for entry in closed(record):
        fixture = entry["fixture"]
        key = fixture["number"], fixture["leg"]
        if entry["void"] is None:
            assert key not in counted, f"{fixture['match']} was counted before"
            counted[key] = [fixture["entrants"], *(entry[name] for name in _COMPARED)]
    commands = [command for line in lines_of(record) for command in line.get("commands", ())]
    return {"matches": counted, "standings": [each for each in commands if each["command"] == "end-tournament"][-1]}


def voided(record: Path) -> list[str]:
    """Return why matches were void."""
    return [entry["void"] for entry in closed(record) if entry["void"] is not None]


def closed(record: Path) -> list[dict[str, Any]]:
    """Return the result of each match."""
    events = [line.get("event", {}) for line in lines_of(record)]
    return [event["entry"] for event in events if event.get("event") == "match-closed"]
