"""A test's side of a server of matches: starts the process, opens tables, and checks their results."""

import json
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec import Struct

from referee.plugins import load
from referee.record.audit.match import audit
from referee.record.reader import Record

from ..counting import CountingGame
from ..time_controls import grouped

WAIT_S = 30.0
"""Longest wait for a message that must come."""
_REGISTRY = load()
_COUNTING = CountingGame()


class Outcome(Struct, frozen=True):
    """A match that was played, its record audited."""

    record: Record
    opened_s: float
    """Instant of the match's opening, on the clock that all processes share."""
    stalls: list[tuple[float, float]]
    """The referee's standstills, on the same clock."""

    @property
    def fouls(self) -> list[tuple[int, str, str | None]]:
        """Seat, cause and the code or rule of each foul."""
        return [(foul.seat, str(foul.cause), foul.rule or foul.code) for foul in self.result.fouls]

    @property
    def result(self) -> Any:
        """The result."""
        assert self.record.result is not None
        return self.record.result.result

    def stalled_ms(self, start_ms: float, end_ms: float) -> float:
        """Return how long the referee stood still between two instants of the match."""
        start_s, end_s = (self.opened_s + ms / 1000 for ms in (start_ms, end_ms))
        return sum(max(min(end, end_s) - max(begin, start_s), 0.0) * 1000 for begin, end in self.stalls)


class MatchServer:
    """A running server of matches.

    Args:
        folder: where its records go.
        key: the public key that seals them, in hex.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.folder = folder
        self._key = key
        self._wire, theirs = socket.socketpair()
        self._wire.settimeout(WAIT_S)
        self._lines = self._wire.makefile("r")
        command = [sys.executable, "-m", "tests.peers.match_server_process", str(theirs.fileno()), str(folder)]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        theirs.close()
        self._idle_kib = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self._wire.close()
        assert self._process.wait(WAIT_S) == 0

    def open(self, match: str, game: str, seats: int, **settings: Any) -> str:
        """Open a table for so many players, and return its address."""
        policy = {"min_players": seats, "max_players": seats}
        job = {"game": game, "settings": {"match": match, **grouped(settings)}, "policy": policy}
        self._wire.sendall(msgspec.json.encode(job) + b"\n")
        return str(self._until("address"))

    def wait_for(self, names: list[str]) -> None:
        """Wait until just these have signed up."""
        while self._until("said") != f"signed up: {', '.join(names)}":
            pass

    def outcome(self) -> Outcome:
        """Wait for the end of the match."""
        facts = self._line("record")
        record = audit(Path(facts["record"]), find_game, keys=[self._key])
        return Outcome(record, facts["opened_s"], [(begin, end) for begin, end in facts["stalls"]])

    def _until(self, key: str) -> Any:
        return self._line(key)[key]

    def _line(self, key: str) -> dict[str, Any]:
        while True:
            facts: dict[str, Any] = json.loads(self._lines.readline())
            assert "error" not in facts, facts["error"]
            if key in facts:
                return facts

    @contextmanager
    def few_files(self, limit: int) -> Iterator[None]:
        """Limit the number of files that the referee may have open."""
        usual = resource.prlimit(self._process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(self._process.pid, resource.RLIMIT_NOFILE, (limit, usual[1]))
        try:
            yield
        finally:
            resource.prlimit(self._process.pid, resource.RLIMIT_NOFILE, usual)

    # --- memory

    def settle(self) -> None:
        """Take the present size for that of an idle referee."""
        Path(f"/proc/{self._process.pid}/clear_refs").write_text("5")  # the peak begins again
        self._idle_kib = self._status_kib("VmRSS")

    @property
    def grown_kib(self) -> int:
        """Growth from its size when idle to its peak."""
        return self._status_kib("VmHWM") - self._idle_kib

    def _status_kib(self, name: str) -> int:
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(name)).split()[1])


def find_game(name: str) -> Any:
    """Return a game's rules, those of the tests' own game too."""
    return _COUNTING if name == _COUNTING.name else _REGISTRY.game(name)
