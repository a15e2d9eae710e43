"""How many matches a minute a tournament of real programs plays, in the sandbox, and who takes the processor's time.

Each figure comes from `referee tournament` as an organiser runs it. What the referee's process and its workers took
stands beside what everything took that they started: what its starter has left alone in the world comes to this
process, which counts it.
Of that, the sandbox is what programs that end at once take more inside of one than outside, start for start; the rest
is the programs' own. The last figure is what the process that keeps the tournament takes for a turn while matches are
played: from the first that is over to the last, without what a tournament takes once.
"""

import argparse
import contextlib
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from math import comb
from operator import itemgetter
from pathlib import Path
from threading import Event, Thread
from typing import Any

from msgspec import Struct

from referee.app.running import run_reactor
from referee.cli.commands.new import make_player
from referee.programs.confining import Confinement, find_confinement
from referee.programs.environment import Invitation
from referee.programs.file_view import nothing_private
from referee.programs.player_spec import Launch
from referee.programs.program import Program
from referee.programs.sandbox import NoSandboxError
from referee.settings import RunTerms, SandboxMode

MATCHES = 400
FEW = 24
"""Matches of the tournament that the other one is compared with."""
TABLES = (1, 4, 8)
PLAYERS = ("house:greedy", "javascript", "c")
PROGRAMS = ("anew", "kept")
"""What the key `programs` of a tournament's file may be; the first one is what it is without that key."""
ENTRANTS = 4
"""All of the same player."""
TRIALS = 20
_OWN, _CHILDREN = slice(11, 13), slice(13, 15)
"""Of the fields behind a process's name in /proc/PID/stat: user and system time, and those of what it waited for."""
_LOOK_S = 0.05
_SET_CHILD_SUBREAPER = 36
"""Of prctl: what has lost its parent becomes a child of this process."""


class Spent(Struct, frozen=True, kw_only=True):
    """What one tournament took."""

    matches: int
    turns: int
    starts: int
    """Of programs."""
    sandboxes: int
    """House players share one."""
    wall_s: float
    referee_s: float
    """Of processor time, its workers' included, as the next one."""
    others_s: float
    keeper_us: float
    """Of processor time a turn, of the process that keeps the tournament."""


def main(arguments: list[str]) -> int:
    """Play the tournaments one after the other, and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks throughput", description=__doc__)
    parser.add_argument("--matches", type=int, default=MATCHES, help="of each tournament, at least")
    parser.add_argument("--tables", type=int, nargs="+", default=TABLES)
    parser.add_argument("--players", nargs="+", default=PLAYERS, metavar="PLAYER")
    parser.add_argument("--programs", nargs="+", default=PROGRAMS, choices=PROGRAMS)
    parser.add_argument("--workers", type=int, default=0, help="processes that play the matches; 0: the referee's own")
    parser.add_argument("--game", default="q")
    parser.add_argument("--seats", type=int, default=2, help=f"of a match, at most {ENTRANTS}")
    options = parser.parse_args(arguments)
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    sandbox_ms = run_reactor(start_in_sandbox_ms)
    print(f"to start a program takes {sandbox_ms:.1f} ms of processor time more in the sandbox than without one")
    print("programs player       tables | matches/min turns/s | ms of processor time a match: all = referee + sandbox")
    print("                             |                     | + programs (starts of programs a match); referee once;")
    print("                             |                     | us a turn of the process that keeps the tournament")
    with tempfile.TemporaryDirectory() as folder:
        for programs in options.programs:
            for player in options.players:
                for tables in options.tables:
                    where = Path(folder, f"{programs}-{player.replace(':', '-')}-{tables}")
                    few = played(Path(f"{where}-few"), player, programs, tables, options, FEW)
                    spent = played(where, player, programs, tables, options, FEW + options.matches)
                    print(f"{programs:8} {player:12} {tables:6} | {told(spent, few, sandbox_ms)}", flush=True)
    return 0


def told(spent: Spent, few: Spent, sandbox_ms: float) -> str:
    """Return what a tournament took, match for match, given what one of few matches took."""
    more = spent.matches - few.matches
    referee, others = (1000 * s / more for s in (spent.referee_s - few.referee_s, spent.others_s - few.others_s))
    once = 1000 * few.referee_s - referee * few.matches
    sandbox = min(others, sandbox_ms * (spent.sandboxes - few.sandboxes) / more)
    return (
        f"{60 * spent.matches / spent.wall_s:11.0f} {spent.turns / spent.wall_s:7.0f} |"
        f" {referee + others:5.0f} = {referee:4.1f} + {sandbox:4.1f} + {others - sandbox:5.1f}"
        f" ({spent.starts / spent.matches:.2f}); {once:.0f}; {spent.keeper_us:.0f} us"
    )


def played(folder: Path, player: str, programs: str, tables: int, options: argparse.Namespace, matches: int) -> Spent:
    """Play one tournament in a process of its own, or in so many beside it."""
    folder.mkdir()
    if ":" not in player:
        make_player(player, folder / player)
    cycles = -(-matches // comb(ENTRANTS, options.seats))
    entrants = "".join(f'[[entrants]]\nname = "e{number}"\nplayer = "{player}"\n' for number in range(ENTRANTS))
    kept = "" if programs == PROGRAMS[0] else f'programs = "{programs}"\n'
    file, diagnostics = folder / "speed.toml", folder / "diagnostics"
    file.write_text(
        f'game = "{options.game}"\nseats = {options.seats}\nseed = 1\nsandbox = "required"\ntables = {tables}\n{kept}'
        f'[format]\nname = "roundrobin"\ncycles = {cycles}\n{entrants}'
    )
    command = [sys.executable, "-m", "referee", "tournament", file.name, "--diagnostics", diagnostics.name]
    command += ["--workers", str(options.workers)]
    begun = time.monotonic()
    with (folder / "printed").open("w") as printed:
        process = subprocess.Popen(command, cwd=folder, stdout=printed, stderr=subprocess.STDOUT)
    record = folder / "logs" / "speed" / "speed.jsonl"
    watch = ProcessWatch(process.pid, record, diagnostics, min(options.workers, tables))
    own_s, others_s, status = _waited_for(process.pid)
    wall_s = time.monotonic() - begun
    workers_s = watch.end()
    if status:
        raise SystemExit((folder / "printed").read_text())
    turns = [turns for _, turns in _closed(record)]
    starts = diagnostics.read_text().count('"program-started"')
    return Spent(
        matches=len(turns),
        turns=sum(turns),
        starts=starts,
        sandboxes=1 if player.startswith("house:") else starts,
        wall_s=wall_s,
        referee_s=own_s + workers_s,
        others_s=others_s - workers_s,
        keeper_us=watch.keeper_us(),
    )


class ProcessWatch(Thread):
    """Looks again and again how much processor time the processes of a tournament have taken.

    Once workers have ended, nobody tells it apart.

    Args:
        keeper: the process that keeps the tournament.
        record: of the tournament.
        diagnostics: of the referee, which name the workers.
        count: of workers there will be.
    """

    def __init__(self, keeper: int, record: Path, diagnostics: Path, count: int) -> None:
        super().__init__()
        self._keeper = keeper
        self._record = record
        self._diagnostics = diagnostics
        self._count = count
        self._took_s: dict[int, float] = {}
        """Worker -> by the last look."""
        self._looks: list[tuple[int, float]] = []
        """Bytes of the record, and processor time of the keeper."""
        self._is_over = Event()
        self.start()

    def run(self) -> None:
        """Look until all is over."""
        while not self._is_over.wait(_LOOK_S):
            if len(self._took_s) < self._count and self._diagnostics.exists():
                started = (line for line in self._diagnostics.read_text().splitlines() if '"worker-started"' in line)
                self._took_s |= dict.fromkeys((json.loads(line)["pid"] for line in started), 0.0)
            for pid in self._took_s:
                with contextlib.suppress(OSError):
                    self._took_s[pid] = _took_s(pid, _OWN)
            with contextlib.suppress(OSError):
                self._looks.append((self._record.stat().st_size, _took_s(self._keeper, _OWN)))

    def end(self) -> float:
        """Return how much the workers took, all together."""
        self._is_over.set()
        self.join()
        return sum(self._took_s.values())

    def keeper_us(self) -> float:
        """Return what the keeper took for a turn between the first and the last look at which matches were played."""
        closed = _closed(self._record)
        looks = [(bisect_right(closed, size, key=itemgetter(0)), took_s) for size, took_s in self._looks]
        (first, begun_s), (last, _) = next(look for look in looks if look[0]), looks[-1]
        turns = sum(turns for _, turns in closed[first:last])
        return 1e6 * (next(took_s for count, took_s in looks if count == last) - begun_s) / turns if turns else 0.0


def _took_s(process: int, part: slice) -> float:
    fields = Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[part])) / os.sysconf("SC_CLK_TCK")


def _waited_for(referee: int) -> tuple[float, float, int]:
    """Wait for all children of this process; return what the referee took, what all others took, and its status."""
    own_s, others_s, status = 0.0, 0.0, 0
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:
            return own_s, others_s, status
        assert ended is not None, "it waits until there is one"
        took_s, children_s = _took_s(ended.si_pid, _OWN), _took_s(ended.si_pid, _CHILDREN)
        is_referee = ended.si_pid == referee
        own_s, others_s = (own_s + took_s, others_s) if is_referee else (own_s, others_s + took_s)
        others_s += children_s
        status = ended.si_status if is_referee else status
        os.waitpid(ended.si_pid, 0)


def _closed(record: Path) -> list[tuple[int, int]]:
    """Return the matches that are over, in that order: how long a tournament's record was then, and their turns."""
    found, size = [], 0
    for line in record.read_bytes().splitlines(keepends=True):
        size += len(line)
        if (event := json.loads(line).get("event", {})).get("event") == "match-closed":
            found.append((size, event["entry"]["turns"]))
    return found


async def start_in_sandbox_ms(reactor: Any) -> float:
    """Return how much more processor time a program's start takes inside of the sandbox."""
    inside = _confined(SandboxMode.REQUIRED)
    outside = _confined(SandboxMode.OFF)
    return (await _start_ms(reactor, inside)) - (await _start_ms(reactor, outside))


def _confined(mode: SandboxMode) -> Confinement:
    try:
        return find_confinement(RunTerms(sandbox=mode), hidden=(), private_names=nothing_private, warn=print)
    except NoSandboxError as error:
        raise SystemExit(f"no sandbox, no figures: {error}") from None


async def _start_ms(reactor: Any, confinement: Confinement) -> float:
    """Return what it takes to start a program that ends at once, the first one left out: it fills caches."""
    launch = Launch(name="nothing", argv=("/bin/true",))
    taken_s = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(TRIALS + 1):
            if number == 1:
                taken_s = -_all_s()
            program = Program(launch, Invitation(address="", token=""), Path(folder, "out"), reactor, confinement)
            await program.gone
    return 1000 * (taken_s + _all_s()) / TRIALS


def _all_s() -> float:
    """Return the processor time of this process and of all its children, none of which is left then."""
    with contextlib.suppress(ChildProcessError):
        while os.wait():
            pass
    took = os.times()
    return took.user + took.system + took.children_user + took.children_system
