"""Many matches at once on one referee whose loop stands still on purpose: is an honest player ever expelled for time?

Honest players answer at 90 % of their limit, those of every tenth match's second seat at 110 %: the first must never be
expelled, the others always. When the players' own process stood still is measured there, and told apart.
"""

import argparse
import contextlib
import gc
import heapq
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from protocol.frames import FrameReader
from protocol.limits import MAX_FRAME_FROM_REFEREE_BYTES, PROTOCOL_VERSION
from protocol.messages import Hello, Move, Ready
from referee.match.events import Answer, DeadlinePassed
from referee.record.fairness import Fairness, Timing, fairness, timings
from referee.record.reader import Record, read_record

from .fairness_server import LIMIT_MS, SEATS
from .staircase import frame

EARLY, LATE = 0.9, 1.1
"""Shares of the limit."""
EVERY = 10
"""One of so many matches has a late player, in its last seat."""
_BEAT_S = 0.005
"""How often the players' process looks at the clock, at least."""
_BEGINNING_MS = 1000.0
"""How long the first turns are spread over: matches do not all begin at one instant."""


class Player:
    """One connection: answers each turn a fixed time after it was read."""

    def __init__(self, port: int, number: int, seat: int) -> None:
        self.number, self.seat = number, seat
        self.name = f"p{number}s{seat}"
        self.is_late = seat == SEATS - 1 and number % EVERY == 0
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.sendall(frame(Hello(version=PROTOCOL_VERSION, name=self.name)))
        self._reader = FrameReader(MAX_FRAME_FROM_REFEREE_BYTES)
        self._answer = b""

    def read(self, now_s: float) -> float | None:
        """Read what is there.

        Returns:
            When its answer is due, if it was asked; None if it was not.

        Raises:
            EOFError: the referee closed.
        """
        data = self.sock.recv(65_536)
        if not data:
            raise EOFError
        self._reader.receive_data(data)
        due_s = None
        while (body := self._reader.next_frame()) is not None:
            said: dict[str, Any] = msgspec.msgpack.decode(body)
            if said["type"] == "offer":
                self.sock.sendall(frame(Ready(match=said["match"], nonce="00" * 16)))
            elif said["type"] == "turn":
                due_s = self._think(said, now_s)
        return due_s

    def _think(self, said: dict[str, Any], now_s: float) -> float:
        move = {"count": said["view"]["said"] + 1}
        self._answer = frame(Move(match=said["match"], turn=said["turn"], move=move))
        spread_ms = self.number * 37 % _BEGINNING_MS * LIMIT_MS / _BEGINNING_MS
        is_first = said["turn"] == 1
        wait_ms = (
            LIMIT_MS * LATE if self.is_late else min(spread_ms, LIMIT_MS * EARLY) if is_first else LIMIT_MS * EARLY
        )
        return now_s + wait_ms / 1000

    def answer(self) -> None:
        """Send what was thought of; a referee that has closed does not hear it."""
        with contextlib.suppress(OSError):
            self.sock.sendall(self._answer)


def answer_all(players: Sequence[Player]) -> "Standstills":
    """Answer until the referee has closed every connection; return when this process stood still meanwhile."""
    coming: list[tuple[float, int, Player]] = []
    left, count = len(players), 0
    stalls: list[tuple[float, float]] = []
    with selectors.DefaultSelector() as selector:
        for player in players:
            selector.register(player.sock, selectors.EVENT_READ, player)
        last_s = time.monotonic()
        while left:
            due_s = coming[0][0] if coming else last_s + _BEAT_S
            ready = selector.select(max(min(due_s - last_s, _BEAT_S), 0))
            now_s = time.monotonic()
            if now_s - last_s > _BEAT_S * 1.5:
                stalls.append((last_s, now_s))
            last_s = now_s
            for key, _ in ready:
                try:
                    answer_s = key.data.read(time.monotonic())
                except (EOFError, ConnectionError):
                    selector.unregister(key.fileobj)
                    key.data.sock.close()
                    left -= 1
                    continue
                if answer_s is not None:
                    count += 1
                    heapq.heappush(coming, (answer_s, count, key.data))
            while coming and coming[0][0] <= time.monotonic():
                heapq.heappop(coming)[2].answer()
    return Standstills(stalls)


class Standstills(Struct):
    """When a process stood still, on the clock that all processes share."""

    spans: list[tuple[float, float]]

    def between_ms(self, begin_s: float, end_s: float) -> float:
        """Return for how long that was between two instants."""
        return sum(max(min(end, end_s) - max(begin, begin_s), 0.0) * 1000 for begin, end in self.spans)


class Told(Struct):
    """What the referee's process tells at the end."""

    opened_s: dict[str, float]
    """By match, on the clock that all processes share."""
    stalls: list[tuple[float, float]]
    """Its standstills, on the same clock."""


@dataclass
class Verdict:
    """An expulsion for time, and whose fault it was."""

    timing: Timing
    player: Player
    own_ms: float
    """For how long the players' process stood still meanwhile: that is no fault of the referee's."""

    @property
    def is_unjust(self) -> bool:
        """Whether a player was expelled that would have been in time on an idle machine of its own."""
        return not self.player.is_late and self.timing.used_ms - self.own_ms > LIMIT_MS


def play(matches: int, turns: int, stall_ms: float) -> tuple[Fairness, list[Verdict], Told, list[Player], float]:
    """Play all matches at once.

    Args:
        matches: how many.
        turns: of each.
        stall_ms: the longest standstill on purpose.

    Returns:
        The figures of the records, the expulsions, what the referee told, the players, and the seconds it took.
    """
    with tempfile.TemporaryDirectory() as folder:
        server_module = "tests.benchmarks.fairness_server"
        command = [sys.executable, "-m", server_module, folder, str(matches), str(turns), str(stall_ms)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            begun = time.monotonic()
            players = [Player(port, number, seat) for number in range(matches) for seat in range(SEATS)]
            own = answer_all(players)
            seconds = time.monotonic() - begun
            told = msgspec.json.decode(server.stdout.readline(), type=Told)
        records = [read_record(path) for path in sorted(Path(folder).glob("*.jsonl"))]
        by_record = [timings(record) for record in records]
        verdicts = [
            _verdict(one, record, players, told, own)
            for record, found in zip(records, by_record, strict=True)
            for one in found
            if one.cause is not None
        ]
    return fairness([one for found in by_record for one in found], len(records)), verdicts, told, players, seconds


def _verdict(one: Timing, record: Record, players: Sequence[Player], told: Told, own: Standstills) -> Verdict:
    """Find out how much of a late answer's time the players' own process stood still."""
    event = record.steps[one.line - 2].event
    assert isinstance(event, Answer | DeadlinePassed)
    player = next(player for player in players if player.name == one.name)
    opened_s = told.opened_s[one.match]
    return Verdict(one, player, own.between_ms(opened_s + event.sent_ms / 1000, opened_s + event.at_ms / 1000))


def tell(found: Fairness, verdicts: Sequence[Verdict], told: Told, players: Sequence[Player], seconds: float) -> int:
    """Print what came of it.

    Returns:
        Exit status: 1 if an innocent was expelled, or a late player was not.
    """
    late = {player.name for player in players if player.is_late}
    caught = late & {verdict.timing.name for verdict in verdicts}
    unjust = [verdict for verdict in verdicts if verdict.is_unjust]
    slept = [verdict for verdict in verdicts if not verdict.is_unjust and not verdict.player.is_late]
    lag = found.lag
    stalls_ms = [(end - begin) * 1000 for begin, end in told.stalls]
    print(
        f"{found.matches} matches at once, {found.answers} answers in {seconds:.0f} s, {found.answers / seconds:.0f}/s"
    )
    print(f"standstills: {len(stalls_ms)}, the longest {max(stalls_ms, default=0):.0f} ms")
    print(f"the referee's lag in ms: median {lag.median_ms:.1f}, 95 % {lag.p95_ms:.1f}, 99 % {lag.p99_ms:.1f}", end="")
    print(f", most {lag.most_ms:.1f}")
    print(f"answers in the last tenth of their limit: {found.close}; verdicts not given: {len(found.voided)}")
    print(f"innocents expelled: {len(unjust)}; late players expelled: {len(caught)} of {len(late)}")
    print(f"expelled because the players' own process was late: {len(slept)}")
    for verdict in [*unjust, *slept]:
        one = verdict.timing
        times = (
            f"used {one.used_ms:.1f}, lag {one.lag_ms:.1f}, stalled {one.stalled_ms:.1f}, own {verdict.own_ms:.1f} ms"
        )
        print(f"  {'UNJUST ' if verdict.is_unjust else ''}{one.match} line {one.line}, {one.name}: {times}")
    return int(bool(unjust) or caught != late)


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks fairness", description=__doc__)
    parser.add_argument("--matches", type=int, default=200, help="at once")
    parser.add_argument("--turns", type=int, default=100_000, help="of all matches together")
    parser.add_argument("--stall", type=float, default=150.0, help="longest standstill on purpose, in ms")
    options = parser.parse_args(arguments)
    gc.disable()  # a player that looks for garbage is late
    return tell(*play(options.matches, -(-options.turns // options.matches), options.stall))
