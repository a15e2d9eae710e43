"""Compares the cost of a refereed turn of Q with a bare Twisted echo of the same bytes, in one run.

The player answers from a list, so that nearly all time is the server's. Prints the wall time and the server process's
user and system time for 1, 2, 8 and 200 connections; then the time of each stage.
"""

import argparse
import operator
import os
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from protocol import Connection, ConnectionState, Role
from protocol.frames import FrameReader
from protocol.limits import MAX_FRAME_FROM_REFEREE_BYTES, PROTOCOL_VERSION
from protocol.messages import Hello, Ready
from referee.games.q.game import QGame
from referee.match import commands as c
from referee.match.machine import Match
from referee.net.links.player_protocol import make_message
from referee.record.key import RECORD_PURPOSE, Sealer
from referee.record.schema import FIRST_PREV
from referee.record.writer import RecordWriter, encode_transition, new_salts

from . import staircase

_HELLO = staircase.frame(Hello(version=PROTOCOL_VERSION, name=staircase.NAME))
_READY = staircase.frame(Ready(match="bench", commitment="0" * 64))
_MOVES = staircase.move_frames("bench")
_STAGE_RUNS = 15
"""The first ones warm up; the median counts."""


class Player:
    """One connection that answers every turn with the next move of the list, once it may begin."""

    def __init__(self, address: int | str, *, greets: bool) -> None:
        self.sock = _connected(address)
        self._reader = FrameReader(MAX_FRAME_FROM_REFEREE_BYTES)
        self._may_answer = False
        self.turns = 0
        self.is_asked = False
        """Whether its first turn has come."""
        self.is_told_end = False
        """Whether the whole match has been sent; after that, the server waits only for the disk."""
        if greets:
            self.sock.sendall(_HELLO)

    def begin(self) -> None:
        """Answer the first turn, and every later one at once."""
        self._may_answer = True
        self._move()

    def read(self) -> bool:
        """Read all messages that have arrived, and answer; return whether the connection is still open."""
        data = self.sock.recv(65_536)
        if not data:
            return False
        self._reader.receive_data(data)
        while (body := self._reader.next_frame()) is not None:
            kind = body[:12]
            if b"turn" in kind:
                self.is_asked = True
                if self._may_answer:
                    self._move()
            elif b"offer" in kind:
                self.sock.sendall(_READY)
            elif b"end" in kind:
                self.is_told_end = True
        return True

    def _move(self) -> None:
        self.sock.sendall(_MOVES[self.turns])
        self.turns += 1


def _connected(address: int | str) -> socket.socket:
    """Return a connection to a port, or to the path of a Unix socket."""
    if isinstance(address, str):
        local = socket.socket(socket.AF_UNIX)
        local.connect(address)
        return local
    remote = socket.create_connection(("127.0.0.1", address))
    remote.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return remote


class Cost(NamedTuple):
    """What was spent, in microseconds."""

    wall: float
    user: float
    system: float

    @property
    def processor(self) -> float:
        """User and system time of the server's process."""
        return self.user + self.system


def play_once(server: int, address: int | str, connections: int, *, greets: bool) -> tuple[int, Cost]:
    """Play one match on each of many connections at once.

    Args:
        server: process of the server.
        address: the server's port, or the path of its Unix socket.
        connections: number of connections at once.
        greets: whether the server wants a hello.

    Returns:
        The number of answered turns, and their cost. The wall time is from the first answer until every player has
        heard the end. The processor time is until the last connection is closed, so it includes sealing the matches.
    """
    players = [Player(address, greets=greets) for _ in range(connections)]
    with selectors.DefaultSelector() as selector:
        for player in players:
            selector.register(player.sock, selectors.EVENT_READ, player)
        while not all(player.is_asked for player in players):
            for key, _ in selector.select():
                key.data.read()
        before = _spent_us(server)
        for player in players:
            player.begin()
        left, playing = connections, {*players}
        told = before
        while left:
            for key, _ in selector.select():
                is_open = key.data.read()
                if key.data.is_told_end or not is_open:
                    playing.discard(key.data)
                if not is_open:
                    selector.unregister(key.fileobj)
                    key.data.sock.close()
                    left -= 1
            if not playing and told is before:
                told = _spent_us(server)
        spent = Cost(*map(operator.sub, _spent_us(server), before))
        return sum(player.turns for player in players), spent._replace(wall=told.wall - before.wall)


def _spent_us(process: int) -> Cost:
    """Return the present wall time, and the user and system time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    tick_us = 1e6 / os.sysconf("SC_CLK_TCK")
    return Cost(time.perf_counter() * 1e6, int(fields[11]) * tick_us, int(fields[12]) * tick_us)


def measure(kind: str, connections: int, matches: int, socket_path: Path | None = None) -> Cost:
    """Start a server, measure its cost of a turn, one match after the other, and end it.

    Args:
        kind: of the server.
        connections: number of connections at once.
        matches: number of matches, one after the other on each.
        socket_path: of the Unix socket at which it listens; None: it listens at a port.
    """
    command = [sys.executable, "-m", "tests.benchmarks.wire_server", kind]
    command += [] if socket_path is None else [str(socket_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            told = server.stdout.readline()
            address = int(told) if socket_path is None else str(socket_path)
            greets = kind == "referee"
            play_once(server.pid, address, min(connections, 20), greets=greets)  # warms up
            runs = [play_once(server.pid, address, connections, greets=greets) for _ in range(matches)]
            turns = sum(answered for answered, _ in runs)
            return Cost(*(sum(spent) / turns for spent in zip(*(cost for _, cost in runs), strict=True)))
        finally:
            server.kill()


def stages() -> dict[str, float]:
    """Return the processor time of each stage in microseconds a turn; all stages run on the same match."""
    events = staircase.events()
    fold = Match(QGame(), staircase.setup("bench"), staircase.SEED)
    took: dict[str, float] = {}
    steps: list[tuple[c.Command, ...]] = []
    took["unframe, decode, check the move"] = _timed(lambda: _receive(_MOVES))
    took["fold: judge, play, view"] = _timed(lambda: steps.extend(fold.handle(event) for event in events))
    with tempfile.TemporaryDirectory() as folder:
        writer = RecordWriter(Path(folder) / "record.jsonl", Sealer.new())
        took["record: all of it"] = _timed(lambda: deque(map(writer.write_transition, events, steps), maxlen=0))
        writer.close()
    made = partial(encode_transition, standstills=(), salts=new_salts())
    took["  of it: hide, hash and render the line"] = _timed(lambda: deque(map(made, events, steps), maxlen=0))
    sealer = Sealer.new()
    took["the seal, its share of one turn"] = _timed(lambda: sealer.sign(RECORD_PURPOSE, FIRST_PREV))
    said = [command for step in steps for command in step if isinstance(command, c.AskMove | c.TellSeat)]
    took["make, encode and frame what is said"] = _timed(
        lambda: [staircase.frame(make_message(command, fold, (), FIRST_PREV)) for command in said]
    )
    return {name: seconds / staircase.TURNS * 1e6 for name, seconds in took.items()}


def _receive(frames: list[bytes]) -> None:
    connection = Connection(Role.REFEREE)
    connection._match = "bench"
    for frame in frames:
        connection.state = ConnectionState.ASKED
        connection.receive_data(frame)
        connection.next_event()


def _timed(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _each_of(rows: list[dict[str, float]]) -> dict[str, list[float]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks wire", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the median counts")
    options = parser.parse_args(arguments)
    sizes = [len(frames) for frames in staircase.referee_frames("bench")]
    print(f"{staircase.TURNS} turns a match; the referee sends {sizes[0]} to {sizes[-1]} bytes a turn,")
    print(f"the player about {len(_MOVES[50])}; dealing and connecting are left out")
    processor_us = 0.0
    for connections, matches in ((1, 60), (2, 30), (8, 10), (200, 3)):
        pairs = [
            (measure("echo", connections, matches), measure("referee", connections, matches))
            for _ in range(options.runs)
        ]
        print(f"{connections} connection{'s' * (connections > 1)}, microseconds a turn:")
        print(f"  {'':<12} {'wall':>8} {'processor':>10} {'user':>8} {'system':>8}")
        for name, costs in zip(("echo", "refereed"), zip(*pairs, strict=True), strict=True):
            wall, user, system, processor = (
                statistics.median(getattr(cost, field) for cost in costs)
                for field in ("wall", "user", "system", "processor")
            )
            print(f"  {name:<12} {wall:8.1f} {processor:10.1f} {user:8.1f} {system:8.1f}")
            processor_us = processor
        ratios = [
            statistics.median(getattr(own, field) / getattr(bare, field) for bare, own in pairs)
            for field in ("wall", "processor")
        ]
        print(f"  {'ratio':<12} {ratios[0]:8.2f} {ratios[1]:10.2f}")
    print(f"stages of a refereed turn (share of {processor_us:.1f} us of processor time at 200 connections):")
    found = {
        name: statistics.median(values) for name, values in _each_of([stages() for _ in range(_STAGE_RUNS)]).items()
    }
    for name, micros in found.items():
        print(f"  {name:<40} {micros:6.1f} us  {micros / processor_us:5.0%}")
    return 0
