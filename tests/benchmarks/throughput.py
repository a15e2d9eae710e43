"""Measures the referee's cost of a tournament of programs that keep running: microseconds a turn, milliseconds a match.

Each figure comes from `referee tournament` as an organiser runs it, in the sandbox, with the C sample player. It is the
processor time of the referee's own process and of its workers, while all tables are taken. So costs that occur only
once in a tournament are left out. A straight line is fitted to the costs of matches of different length: its slope is
the cost of a turn, and its start is the cost of a match without turns. For comparison, a bare echo of Q's bytes is
measured, and fastchess with engines that answer at once, if its program is given.
"""

import argparse
import contextlib
import ctypes
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from collections.abc import Iterator
from math import comb
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import NamedTuple

from msgspec import Struct

from referee.cli.commands.new import make_player

from . import wire

MATCHES = 240
FIRST = 24
"""Number of matches after which measuring begins: by then, the programs have been started."""
TABLES = (1, 4, 16)
ENTRANTS = 4
"""Number of entrants, all with the same player; a cycle of pairs is six matches."""
_OWN, _CHILDREN = slice(11, 13), slice(13, 15)
"""Fields after a process's name in /proc/PID/stat: its user and system time, and those of children it has waited
for."""
_LOOK_S = 0.02
_SET_CHILD_SUBREAPER = 36
"""Option of prctl: a process that has lost its parent becomes a child of this process."""


class Kind(NamedTuple):
    """Kind of matches."""

    strategy: str
    """Strategy of the C sample."""
    options: str = ""
    """Options of the game, as lines of the tournament's file."""


KINDS = {
    "q": (Kind("heuristic"), Kind("random")),
    "quincy": (Kind("heuristic"), Kind("random")),
    "quadominos": (Kind("heuristic", "rounds = 1"), Kind("heuristic", "rounds = 4")),
}
"""Kinds of matches of each game, which differ in length."""


class Look(NamedTuple):
    """The progress of a tournament at some time, and its cost until then."""

    record_bytes: int
    at_s: float
    keeper_s: float
    """Processor time of the process that keeps the tournament."""
    workers_s: float


class Spent(Struct, frozen=True, kw_only=True):
    """The cost of a tournament, or of a part of it."""

    matches: int
    turns: int
    wall_s: float
    keeper_s: float
    """Processor time of the process that keeps the tournament."""
    workers_s: float
    starts: int = 0
    """Number of programs that were started."""
    others_s: float = 0.0
    """Processor time of everything else that was started: programs and sandboxes."""
    looks: list[Look] = []
    closings: list[tuple[int, int]] = []
    """Bytes of the tournament's record after each match, and turns of the match."""


class Share(NamedTuple):
    """The cost of one process, or of several together."""

    turn_us: float
    match_ms: float


def fit(points: list[tuple[float, float]]) -> Share:
    """Fit a straight line to the costs of matches.

    Args:
        points: turns of a match, and seconds that it took, for each length.
    """
    slope_s, begin_s = statistics.linear_regression(*zip(*points, strict=True))
    return Share(1e6 * slope_s, 1e3 * begin_s)


def main(arguments: list[str]) -> int:
    """Play the tournaments one after the other, and print a line for each game and number of tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks throughput", description=__doc__)
    parser.add_argument("--games", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--tables", type=int, nargs="+", default=TABLES)
    parser.add_argument("--matches", type=int, default=MATCHES, help="of each tournament that are measured")
    parser.add_argument("--workers", type=int, default=0, help="processes that play the matches; 0: the referee's own")
    parser.add_argument("--think-ms", type=int, default=0, help="how long players sleep before each answer")
    parser.add_argument("--fastchess", metavar="FILE", help="fastchess's program")
    options = parser.parse_args(arguments)
    adopt_orphans()
    shares = "us a turn   ms a match"
    print(f"{'':11} | {'':6} | turns     | {'referee: processor':22} | {'of it, keeping process':22} | on the wall")
    print(f"{'game':11} | tables | a match   | {shares} | {shares} | turns/s  matches/min | echo, us")
    with tempfile.TemporaryDirectory() as folder:
        for tables in options.tables:
            echo_us = wire.measure("echo", tables, max(60 // tables, 3), Path(folder, f"echo-{tables}")).processor
            for game in options.games:
                where = Path(folder, f"{game}-{tables}")
                kinds = [
                    measure(where / str(number), game, kind, tables, options) for number, kind in enumerate(KINDS[game])
                ]
                print(f"{game:11} | {tables:6} | {describe(kinds)} | {echo_us:6.1f}", flush=True)
        if options.fastchess is not None:
            for tables in options.tables:
                print(f"fastchess   | {tables:6} | {play_chess(Path(folder), options.fastchess, tables)}", flush=True)
    return 0


def describe(kinds: list[Spent]) -> str:
    """Return the figures of matches of different length."""
    whole = fit([(each.turns / each.matches, (each.keeper_s + each.workers_s) / each.matches) for each in kinds])
    keeper = fit([(each.turns / each.matches, each.keeper_s / each.matches) for each in kinds])
    wall_s, turns, matches = (sum(getattr(each, what) for each in kinds) for what in ("wall_s", "turns", "matches"))
    lengths = " and ".join(f"{each.turns / each.matches:.0f}" for each in kinds)
    both = " | ".join(f"{share.turn_us:9.0f} {share.match_ms:12.2f}" for share in (whole, keeper))
    return f"{lengths:9} | {both} | {turns / wall_s:7.0f} {60 * matches / wall_s:12.0f}"


def measure(folder: Path, game: str, kind: Kind, tables: int, options: argparse.Namespace) -> Spent:
    """Play a tournament of matches of a kind; return their cost while all tables were taken."""
    folder.mkdir(parents=True)
    player = write_player(folder / "player", kind.strategy, options.think_ms)
    settings = f'game = "{game}"\ntables = {tables}\nprograms = "kept"\n'
    workers, matches = min(options.workers, tables), FIRST + options.matches + tables
    spent = play(folder / "cup", settings, player, matches, game_options=kind.options, workers=workers)
    sizes = [size for size, _ in spent.closings]
    counts = [bisect_right(sizes, look.record_bytes) for look in spent.looks]
    first = next(at for at, count in enumerate(counts) if count >= FIRST)
    last = next(at for at in reversed(range(len(counts))) if counts[at] <= spent.matches - tables)
    (_, *begun), (_, *ended) = spent.looks[first], spent.looks[last]
    wall_s, keeper_s, workers_s = (after - before for before, after in zip(begun, ended, strict=True))
    closings = spent.closings[counts[first] : counts[last]]
    turns = sum(turns for _, turns in closings)
    return Spent(matches=len(closings), turns=turns, wall_s=wall_s, keeper_s=keeper_s, workers_s=workers_s)


def write_player(folder: Path, strategy: str, think_ms: int) -> Path:
    """Make a C sample player that follows a strategy, and sleeps before each answer."""
    make_player("c", folder)
    settings, source = folder / "player.toml", folder / "player.c"
    settings.write_text(settings.read_text().replace('"./player"', f'"./player {strategy}"'))
    if think_ms:
        begin = "    struct moves moves = {0};\n"
        head, _, tail = source.read_text().partition(begin)
        source.write_text(f"#include <unistd.h>\n{head}{begin}    usleep({1000 * think_ms});\n{tail}")
    return folder


def play(
    folder: Path, settings: str, player: Path | str, matches: int, *, game_options: str = "", workers: int = 0
) -> Spent:
    """Play one tournament of entrants that are all the same, in a process of its own.

    Args:
        folder: a new folder for it.
        settings: the first lines of the tournament's file.
        player: player as the file names it.
        matches: number of matches, at least.
        game_options: options of the game, as lines of that file.
        workers: processes that play the matches; 0: the tournament's own does.
    """
    folder.mkdir(parents=True)
    seats = int(match[1]) if (match := re.search(r"^seats = (\d+)$", settings, re.MULTILINE)) else 2
    entrants = "".join(f'[[entrants]]\nname = "e{number}"\nplayer = "{player}"\n' for number in range(ENTRANTS))
    file, diagnostics = folder / "speed.toml", folder / "diagnostics"
    file.write_text(
        f'{settings}seed = 1\nsandbox = "required"\n[format]\nname = "roundrobin"\n'
        f"cycles = {-(-matches // comb(ENTRANTS, seats))}\n[options]\n{game_options}\n{entrants}"
    )
    command = [sys.executable, "-m", "referee", "tournament", file.name, "--diagnostics", diagnostics.name]
    begun = time.monotonic()
    with (folder / "printed").open("w") as printed:
        process = subprocess.Popen(
            [*command, "--workers", str(workers)], cwd=folder, stdout=printed, stderr=subprocess.STDOUT
        )
    record = folder / "logs" / "speed" / "speed.jsonl"
    watch = ProcessWatch(process.pid, record, diagnostics, workers)
    keeper_s, others_s, status = wait_for_all(process.pid)
    wall_s = time.monotonic() - begun
    looks = watch.end()
    if status:
        raise SystemExit((folder / "printed").read_text())
    closings, workers_s = list(list_closings(record)), looks[-1].workers_s
    return Spent(
        matches=len(closings),
        turns=sum(turns for _, turns in closings),
        wall_s=wall_s,
        keeper_s=keeper_s,
        workers_s=workers_s,
        starts=diagnostics.read_text().count('"program-started"'),
        others_s=others_s - workers_s,
        looks=looks,
        closings=closings,
    )


def list_closings(record: Path) -> Iterator[tuple[int, int]]:
    """Yield, for each match of a tournament's record, the bytes of the record after it, and its turns."""
    size = 0
    for line in record.read_bytes().splitlines(keepends=True):
        size += len(line)
        event = json.loads(line).get("event", {})
        if event.get("event") == "match-closed":
            yield size, event["entry"]["turns"]


class ProcessWatch(Thread):
    """Looks again and again at a tournament's record and at the processor time of its processes.

    Once workers have ended, their processor time is known only from these looks.

    Args:
        keeper: process that keeps the tournament.
        record: record of the tournament.
        diagnostics: diagnostics of the referee, which name the workers.
        count: number of workers that there will be.
    """

    def __init__(self, keeper: int, record: Path, diagnostics: Path, count: int) -> None:
        super().__init__()
        self._keeper = keeper
        self._record = record
        self._diagnostics = diagnostics
        self._count = count
        self._took_s: dict[int, float] = {}
        """Worker -> its processor time at the last look, in seconds."""
        self._looks = [Look(0, time.monotonic(), 0.0, 0.0)]
        self._is_over = Event()
        self.start()

    def run(self) -> None:
        """Look until `end`."""
        while not self._is_over.wait(_LOOK_S):
            if len(self._took_s) < self._count and self._diagnostics.exists():
                started = (line for line in self._diagnostics.read_text().splitlines() if '"worker-started"' in line)
                self._took_s |= dict.fromkeys((json.loads(line)["pid"] for line in started), 0.0)
            for pid in self._took_s:
                with contextlib.suppress(OSError):
                    self._took_s[pid] = _took_s(pid, _OWN)
            with contextlib.suppress(OSError):
                size, keeper_s = self._record.stat().st_size, _took_s(self._keeper, _OWN)
                self._looks.append(Look(size, time.monotonic(), keeper_s, sum(self._took_s.values())))

    def end(self) -> list[Look]:
        """Return all looks."""
        self._is_over.set()
        self.join()
        return self._looks


def adopt_orphans() -> None:
    """Make processes that lose their parent children of this process, so that their processor time can be read."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _took_s(process: int, part: slice) -> float:
    fields = Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[part])) / os.sysconf("SC_CLK_TCK")


def wait_for_all(first: int) -> tuple[float, float, int]:
    """Wait for all children; return the time of the first, the time of all others, and the first's status."""
    own_s, others_s, status = 0.0, 0.0, 0
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:
            return own_s, others_s, status
        assert ended is not None, "it waits until there is one"
        took_s, children_s = _took_s(ended.si_pid, _OWN), _took_s(ended.si_pid, _CHILDREN)
        is_first = ended.si_pid == first
        own_s, others_s = (own_s + took_s, others_s) if is_first else (own_s, others_s + took_s)
        others_s += children_s
        status = ended.si_status if is_first else status
        os.waitpid(ended.si_pid, 0)


# --- fastchess

_PLIES = 120
"""Plies of a game of chess; then fastchess ends it."""
_GAMES = 40
_ENGINE = """#!{python}
moves = {moves!r}
for line in open(0):
    words = line.split()
    if words[:1] == ["position"]:
        played = len(words[words.index("moves") + 1 :]) if "moves" in words else 0
    elif words[:1] == ["go"]:
        print("bestmove", moves[played % len(moves)], flush=True)
    elif words[:1] == ["isready"]:
        print("readyok", flush=True)
    elif words[:1] == ["uci"]:
        print("uciok", flush=True)
    elif words[:1] == ["quit"]:
        break
"""
_UCI_MOVE = re.compile(r"\b[a-h][1-8][a-h][1-8][qrbn]?\b")


def play_chess(folder: Path, program: str, tables: int) -> str:
    """Let fastchess play games between engines that answer at once; return the cost of a ply in its own process."""
    if importlib.util.find_spec("chess") is None:
        return "python-chess is not installed: pip install -e '.[test]'"
    engine, games = folder / "engine", folder / f"games-{tables}.pgn"
    write_engine(engine, _list_chess_moves())
    command = [program, "-engine", f"cmd={engine}", "name=one", "-engine", f"cmd={engine}", "name=two"]
    command += ["-each", "tc=60+1", "-rounds", str(_GAMES // 2), "-games", "2", "-maxmoves", str(_PLIES // 2)]
    command += ["-concurrency", str(tables), "-force-concurrency", "-pgnout", "notation=uci", f"file={games}"]
    begun = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    own_s, others_s, status = wait_for_all(process.pid)
    wall_s = time.monotonic() - begun
    if status:
        return f"it failed with status {status}"
    plies = sum(len(_UCI_MOVE.findall(line)) for line in games.read_text().splitlines() if not line.startswith("["))
    own_us, all_us = 1e6 * own_s / plies, 1e6 * (own_s + others_s) / plies
    return f"{own_us:.0f} us of processor time a ply, {all_us:.0f} with engines; {plies / wall_s:.0f} plies a second"


def write_engine(file: Path, moves: list[str]) -> None:
    """Write a UCI engine that plays these moves at once, and again from the first when they run out."""
    file.write_text(_ENGINE.format(python=sys.executable, moves=moves))
    file.chmod(0o755)


def _list_chess_moves() -> list[str]:
    """Return a game in which nobody may claim a draw before its last ply."""
    import chess  # noqa: PLC0415  # it is an extra

    for source in map(Random, range(1000)):
        board = chess.Board()
        while len(board.move_stack) < _PLIES and not board.is_game_over(claim_draw=True):
            board.push(source.choice(list(board.legal_moves)))
        if len(board.move_stack) == _PLIES:
            return [move.uci() for move in board.move_stack]
    raise AssertionError("no game of that length")
