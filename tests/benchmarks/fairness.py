"""Tests whether a referee whose loop stands still on purpose, in many matches at once, expels honest players for time.

Honest players answer at 90 % of their limit, and must never be expelled. In every tenth match, the second seat moves at
110 %, and in as many others the first seat is ready at 110 %; these must always be expelled. The delays of the players'
own process are measured there, answer by answer, and are not the referee's fault. Every record must pass the audit, and
agree with the others.
"""

import argparse
import contextlib
import gc
import heapq
import math
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

from protocol.frames import FrameReader
from protocol.limits import MAX_FRAME_FROM_REFEREE_BYTES, PROTOCOL_VERSION
from protocol.messages import Hello, Move, Ready
from referee.record.audit.match import audit
from referee.record.audit.processes import contradictions
from referee.record.audit.times import presences
from referee.record.timing import Fairness, Timing, fairness, timings

from ..counting import CountingGame
from .fairness_server import LIMIT_MS, SEATS
from .staircase import frame

EARLY, LATE = 0.9, 1.1
"""Thinking times as shares of the limit."""
EVERY = 10
"""One match in this number has a player with late moves, in its last seat."""
_LOOK_S = 0.001
"""Longest time between two looks of the players' process at its sockets, and so the largest error of its own delay."""
_BEGINNING_MS = 1000.0
"""Time over which the first turns are spread, because matches do not all begin at one instant."""


class Player:
    """One connection: answers each turn a fixed time after it was read."""

    def __init__(self, port: int, number: int, seat: int) -> None:
        self.number, self.seat = number, seat
        self.name = f"p{number}s{seat}"
        self.is_late_to_start = seat == 0 and number % EVERY == EVERY // 2
        self.is_late = self.is_late_to_start or (seat == SEATS - 1 and number % EVERY == 0)
        self.is_known = False
        """Whether it was offered a seat."""
        self.spare_ms = 0.0
        """Share of its last request's limit after which the answer is due."""
        self._read_late_s = 0.0
        self._due_s = math.inf
        self._answered_s: float | None = None
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.sendall(frame(Hello(version=PROTOCOL_VERSION, name=self.name)))
        self._reader = FrameReader(MAX_FRAME_FROM_REFEREE_BYTES)
        self._answer = b""

    def read(self, looked_s: float) -> float | None:
        """Read all bytes that have arrived.

        Args:
            looked_s: time of the last look that found no bytes.

        Returns:
            The time at which its answer is due; None if it was not asked.

        Raises:
            EOFError: the referee has closed the connection.
        """
        data = self.sock.recv(65_536)
        if not data:
            raise EOFError
        self._reader.receive_data(data)
        due_s = None
        while (body := self._reader.next_frame()) is not None:
            said: dict[str, Any] = msgspec.msgpack.decode(body)
            if said["type"] == "offer":
                self.is_known = True
                due_s = self._think(Ready(match=said["match"], commitment="0" * 64), looked_s, self.is_late_to_start)
            elif said["type"] == "turn":
                move = {"count": said["view"]["said"] + 1}
                answer = Move(match=said["match"], turn=said["turn"], move=move)
                due_s = self._think(answer, looked_s, self.is_late)
        return due_s

    def _think(self, answer: Ready | Move, looked_s: float, is_late: bool) -> float:  # noqa: FBT001  # see read
        now_s = time.monotonic()
        self._answer = frame(answer)
        spread_ms = self.number * 37 % _BEGINNING_MS * LIMIT_MS / _BEGINNING_MS
        is_first = isinstance(answer, Ready)
        wait_ms = LIMIT_MS * LATE if is_late else min(spread_ms, LIMIT_MS * EARLY) if is_first else LIMIT_MS * EARLY
        self._read_late_s, self._due_s, self._answered_s = now_s - looked_s, now_s + wait_ms / 1000, None
        self.spare_ms = LIMIT_MS - wait_ms
        return self._due_s

    def answer(self) -> None:
        """Send the answer, if the referee has not closed the connection."""
        with contextlib.suppress(OSError):
            self.sock.sendall(self._answer)
        self._end_turn()

    def close(self) -> None:
        """Close the connection; an overdue answer is dropped."""
        self.sock.close()
        self._end_turn()

    def _end_turn(self) -> None:
        if self._answered_s is None:
            self._answered_s = time.monotonic()

    @property
    def own_ms(self) -> float:
        """Return the longest time for which its own process left its last request unread, and its due answer unsent."""
        overslept_s = max((self._answered_s or 0.0) - self._due_s, 0.0)
        return (self._read_late_s + overslept_s) * 1000


def answer_all(players: Sequence[Player]) -> None:
    """Answer until the referee has closed every connection."""
    coming: list[tuple[float, int, Player]] = []
    left, count = len(players), 0
    with selectors.DefaultSelector() as selector:
        for player in players:
            selector.register(player.sock, selectors.EVENT_READ, player)
        looked_s = time.monotonic()
        while left:
            ready = selector.select(0 if coming and coming[0][0] <= time.monotonic() else _LOOK_S)
            looked_before_s, looked_s = looked_s, time.monotonic()
            for key, _ in ready:
                try:
                    answer_s = key.data.read(looked_before_s)
                except (EOFError, ConnectionError):
                    selector.unregister(key.fileobj)
                    key.data.close()
                    if not key.data.is_known:
                        sys.exit(f"{key.data.name} was refused, though it said hello at once")
                    left -= 1
                    continue
                if answer_s is not None:
                    count += 1
                    heapq.heappush(coming, (answer_s, count, key.data))
            while coming and coming[0][0] <= time.monotonic():
                heapq.heappop(coming)[2].answer()


@dataclass
class Verdict:
    """An expulsion for time, and its cause."""

    timing: Timing
    player: Player

    @property
    def is_unjust(self) -> bool:
        """Whether the expelled player answers in time, and its process was late by less than the time to spare.

        The used time in the record does not count here: it ends with the verdict, even if the answer was on its way.
        """
        return not self.player.is_late and self.player.own_ms < self.player.spare_ms


def play(matches: int, turns: int, stall_ms: float) -> tuple[Fairness, list[Verdict], list[float], list[Player], float]:
    """Play all matches at once.

    Args:
        matches: how many.
        turns: of each.
        stall_ms: the longest standstill on purpose.

    Returns:
        The figures of the records, the expulsions, the referee's standstills in ms, the players, and the time in s.
    """
    with tempfile.TemporaryDirectory() as folder:
        server_module = "tests.benchmarks.fairness_server"
        command = [sys.executable, "-m", server_module, folder, str(matches), str(turns), str(stall_ms)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            begun = time.monotonic()
            players = [Player(port, number, seat) for number in range(matches) for seat in range(SEATS)]
            answer_all(players)
            seconds = time.monotonic() - begun
            stalls_ms = msgspec.json.decode(server.stdout.readline(), type=list[float])
        records = [audit(path, lambda _name: CountingGame()) for path in sorted(Path(folder).glob("*.jsonl"))]
        for lie in contradictions(presence for record in records for presence in presences(record)):
            sys.exit(f"{lie.match} does not tell of the standstill until {lie.at_ms} ms that {lie.witness} had, too")
    found = [timing for record in records for timing in timings(record)]
    by_name = {player.name: player for player in players}
    verdicts = [Verdict(item, by_name[item.name]) for item in found if item.cause is not None]
    return fairness(found, len(records)), verdicts, stalls_ms, players, seconds


def tell(
    found: Fairness, verdicts: Sequence[Verdict], stalls_ms: Sequence[float], players: Sequence[Player], seconds: float
) -> int:
    """Print the results.

    Returns:
        Exit status: 1 if an innocent player was expelled, or a late player was not.
    """
    late = {player.name for player in players if player.is_late}
    caught = late & {verdict.timing.name for verdict in verdicts}
    unjust = [verdict for verdict in verdicts if verdict.is_unjust]
    slept = [verdict for verdict in verdicts if not verdict.is_unjust and not verdict.player.is_late]
    lag = found.lag
    print(
        f"{found.matches} matches at once, {found.answers} answers in {seconds:.0f} s, {found.answers / seconds:.0f}/s"
    )
    print(f"standstills: {len(stalls_ms)}, the longest {max(stalls_ms, default=0):.0f} ms")
    print(f"the referee's lag in ms: median {lag.median_ms:.1f}, 95 % {lag.p95_ms:.1f}, 99 % {lag.p99_ms:.1f}", end="")
    print(f", most {lag.most_ms:.1f}")
    print(f"answers in the last tenth of their limit: {found.close}; verdicts not given: {len(found.voided)}")
    print(f"innocents expelled: {len(unjust)}; late players expelled: {len(caught)} of {len(late)}")
    print(f"late by their own machine, which the players' process told of itself: {len(slept)}")
    for verdict in [*unjust, *slept]:
        one = verdict.timing
        times = (
            f"used {one.used_ms:.1f}, lag {one.lag_ms:.1f}, stalled {one.stalled_ms:.1f}, "
            f"own {verdict.player.own_ms:.1f} ms"
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
    gc.disable()  # a player that collects garbage is late
    return tell(*play(options.matches, -(-options.turns // options.matches), options.stall))
