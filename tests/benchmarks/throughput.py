"""What a tournament of programs that stay costs the referee: microseconds a turn and milliseconds a match, in one run.

Each figure comes from `referee tournament` as an organiser runs it, in the sandbox, with the C sample player. It is the
processor time of the referee's own process and of its workers. Each kind of match is played twice, a few times and many
times, so that what a tournament takes once falls out. A line through matches of different length parts the rest: its
slope is a turn, and where it begins is a match without its turns. Beside it stand a bare echo of Q's bytes, and
fastchess with engines that answer at once, if its program is given.
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
from math import comb
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import NamedTuple

from msgspec import Struct

from referee.cli.commands.new import make_player

from . import wire

FEW, MANY = 24, 120
"""Matches of the two tournaments of a kind; the few start as many programs as the many."""
TABLES = (1, 4, 16)
ENTRANTS = 4
"""All of the same player, so that a cycle of pairs is six matches."""
_OWN, _CHILDREN = slice(11, 13), slice(13, 15)
"""Of the fields behind a process's name in /proc/PID/stat: user and system time, and those of what it waited for."""
_LOOK_S = 0.05
_SET_CHILD_SUBREAPER = 36
"""Of prctl: what has lost its parent becomes a child of this process."""


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


class Spent(Struct, frozen=True, kw_only=True):
    """What one tournament took."""

    matches: int
    turns: int
    starts: int
    """Number of programs that were started."""
    wall_s: float
    keeper_s: float
    """Processor time of the process that keeps the tournament, as all below."""
    workers_s: float
    others_s: float
    """That of everything else that was started: programs and sandboxes."""


class Share(NamedTuple):
    """What one process, or several together, took."""

    turn_us: float
    match_ms: float


def fit(points: list[tuple[float, float]]) -> Share:
    """Part what matches took by a straight line.

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
    parser.add_argument("--matches", type=int, default=MANY, help=f"of each tournament, besides {FEW}")
    parser.add_argument("--workers", type=int, default=0, help="processes that play the matches; 0: the referee's own")
    parser.add_argument("--think-ms", type=int, default=0, help="how long players sleep before each answer")
    parser.add_argument("--fastchess", metavar="FILE", help="fastchess's program")
    options = parser.parse_args(arguments)
    adopt_orphans()
    print("            |        |    referee, processor     |  keeping process, of it  |        together      |  echo")
    print(
        "game        | tables | us a turn  ms a match     | us a turn  ms a match    | turns/s  matches/min | us a turn"
    )
    with tempfile.TemporaryDirectory() as folder:
        for tables in options.tables:
            echo_us = wire.measure("echo", tables, max(60 // tables, 3), Path(folder, "echo")).processor
            for game in options.games:
                where = Path(folder, f"{game}-{tables}")
                pairs = [
                    measure(where / str(number), game, kind, tables, options) for number, kind in enumerate(KINDS[game])
                ]
                print(f"{game:11} | {tables:6} | {describe(pairs)} | {echo_us:6.1f}", flush=True)
        if options.fastchess is not None:
            for tables in options.tables:
                print(f"fastchess   | {tables:6} | {play_chess(Path(folder), options.fastchess, tables)}", flush=True)
    return 0


def describe(pairs: list[tuple[Spent, Spent]]) -> str:
    """Return the figures of pairs of tournaments, one of few matches and one of many for each length."""
    differences = [
        (
            (many.turns - few.turns) / (many.matches - few.matches),
            (many.keeper_s - few.keeper_s) / (many.matches - few.matches),
            (many.workers_s - few.workers_s) / (many.matches - few.matches),
        )
        for few, many in pairs
    ]
    whole = fit([(turns, keeper_s + workers_s) for turns, keeper_s, workers_s in differences])
    keeper = fit([(turns, keeper_s) for turns, keeper_s, _ in differences])
    turns_s, matches_min = (
        statistics.mean(getattr(many, what) - getattr(few, what) for few, many in pairs)
        / statistics.mean(many.wall_s - few.wall_s for few, many in pairs)
        for what in ("turns", "matches")
    )
    return (
        f"{whole.turn_us:9.0f} {whole.match_ms:11.2f}     | {keeper.turn_us:9.0f} {keeper.match_ms:11.2f}    |"
        f" {turns_s:7.0f} {60 * matches_min:12.0f}"
    )


def measure(folder: Path, game: str, kind: Kind, tables: int, options: argparse.Namespace) -> tuple[Spent, Spent]:
    """Play a tournament of few matches of a kind, and one of many."""
    folder.mkdir(parents=True)
    player = write_player(folder / "player", kind.strategy, options.think_ms)
    settings = f'game = "{game}"\ntables = {tables}\nprograms = "kept"\n'
    workers = min(options.workers, tables)
    few, many = (
        play(folder / str(matches), settings, player, matches, game_options=kind.options, workers=workers)
        for matches in (FEW, FEW + options.matches)
    )
    return few, many


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
        folder: is made for it.
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
    watch = WorkerWatch(diagnostics, workers)
    keeper_s, others_s, status = wait_for_all(process.pid)
    wall_s = time.monotonic() - begun
    workers_s = watch.end()
    if status:
        raise SystemExit((folder / "printed").read_text())
    turns = list_turns(folder / "logs" / "speed" / "speed.jsonl")
    return Spent(
        matches=len(turns),
        turns=sum(turns),
        starts=diagnostics.read_text().count('"program-started"'),
        wall_s=wall_s,
        keeper_s=keeper_s,
        workers_s=workers_s,
        others_s=others_s - workers_s,
    )


def list_turns(record: Path) -> list[int]:
    """Return the turns of each match of a tournament's record."""
    events = (json.loads(line).get("event", {}) for line in record.read_bytes().splitlines())
    return [event["entry"]["turns"] for event in events if event.get("event") == "match-closed"]


class WorkerWatch(Thread):
    """Looks again and again how much processor time workers have taken: once they have ended, nobody can say.

    Args:
        diagnostics: diagnostics of the referee, which name the workers.
        count: number of workers that there will be.
    """

    def __init__(self, diagnostics: Path, count: int) -> None:
        super().__init__()
        self._diagnostics = diagnostics
        self._count = count
        self._took_s: dict[int, float] = {}
        """Worker -> its processor time at the last look, in seconds."""
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

    def end(self) -> float:
        """Return how much all of them took, in seconds."""
        self._is_over.set()
        self.join()
        return sum(self._took_s.values())


def adopt_orphans() -> None:
    """Have what loses its parent become a child of this process, so that its processor time can be read."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _took_s(process: int, part: slice) -> float:
    fields = Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[part])) / os.sysconf("SC_CLK_TCK")


def wait_for_all(first: int) -> tuple[float, float, int]:
    """Wait for all children of this process; return what the first took, what all others took, and its status."""
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
    """Have fastchess play games between engines that answer at once; return what a ply took of its own process."""
    if importlib.util.find_spec("chess") is None:
        return "python-chess is not installed: pip install -e '.[test]'"
    engine, games = folder / "engine", folder / f"games-{tables}.pgn"
    engine.write_text(_ENGINE.format(python=sys.executable, moves=_list_chess_moves()))
    engine.chmod(0o755)
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


def _list_chess_moves() -> list[str]:
    """Return a game that nobody may claim to be over before its last ply."""
    import chess  # noqa: PLC0415  # it is an extra

    for source in map(Random, range(1000)):
        board = chess.Board()
        while len(board.move_stack) < _PLIES and not board.is_game_over(claim_draw=True):
            board.push(source.choice(list(board.legal_moves)))
        if len(board.move_stack) == _PLIES:
            return [move.uci() for move in board.move_stack]
    raise AssertionError("no game of that length")
