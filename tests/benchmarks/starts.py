"""Measures the cost of starting programs for each match in the sandbox, and which processes cause it.

Each figure comes from `referee tournament` as an organiser runs it. It gives the processor time of the referee's
process and its workers, and that of all processes that they started. Processes that lose their parent become children
of this process, which counts them. The sandbox's share is the additional time for starting a program that ends at once
inside of a sandbox. The rest belongs to the programs.
"""

import argparse
import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

from referee.app.running import run_reactor
from referee.cli.commands.new import make_player
from referee.programs.confining import Confinement, find_confinement
from referee.programs.environment import Invitation
from referee.programs.file_view import nothing_private
from referee.programs.player_spec import Launch
from referee.programs.program import Program
from referee.programs.sandbox import NoSandboxError
from referee.settings import RunTerms, SandboxMode

from .throughput import ENTRANTS, Spent, adopt_orphans, play

MATCHES = 400
FEW = 24
"""Number of matches in the short tournament, which is subtracted from the long one."""
TABLES = (1, 4, 8)
PLAYERS = ("house:greedy", "javascript", "c")
PROGRAMS = ("anew", "kept")
"""Values of the key `programs` in a tournament's file; the first one is the default."""
TRIALS = 20


def main(arguments: list[str]) -> int:
    """Play the tournaments one after the other, and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks starts", description=__doc__)
    parser.add_argument("--matches", type=int, default=MATCHES, help="of each tournament, at least")
    parser.add_argument("--tables", type=int, nargs="+", default=TABLES)
    parser.add_argument("--players", nargs="+", default=PLAYERS, metavar="PLAYER")
    parser.add_argument("--programs", nargs="+", default=PROGRAMS, choices=PROGRAMS)
    parser.add_argument("--workers", type=int, default=0, help="processes that play the matches; 0: the referee's own")
    parser.add_argument("--game", default="q")
    parser.add_argument("--seats", type=int, default=2, help=f"of a match, at most {ENTRANTS}")
    options = parser.parse_args(arguments)
    adopt_orphans()
    sandbox_ms = run_reactor(start_in_sandbox_ms)
    print(f"to start a program takes {sandbox_ms:.1f} ms of processor time more in the sandbox than without one")
    print("programs player       tables | matches/min turns/s | ms of processor time a match: all = referee + sandbox")
    print("                             |                     | + programs (starts of programs a match); referee once")
    with tempfile.TemporaryDirectory() as folder:
        for programs in options.programs:
            for player in options.players:
                for tables in options.tables:
                    where = Path(folder, f"{programs}-{player.replace(':', '-')}-{tables}")
                    few = play_one(Path(f"{where}-few"), player, programs, tables, options, FEW)
                    spent = play_one(where, player, programs, tables, options, FEW + options.matches)
                    print(
                        f"{programs:8} {player:12} {tables:6} | {describe(spent, few, player, sandbox_ms)}", flush=True
                    )
    return 0


def describe(spent: Spent, few: Spent, player: str, sandbox_ms: float) -> str:
    """Return the cost of a match of a tournament, given the cost of a tournament of few matches."""
    more = spent.matches - few.matches
    few_s, many_s = (each.keeper_s + each.workers_s for each in (few, spent))
    referee, others = (1000 * s / more for s in (many_s - few_s, spent.others_s - few.others_s))
    once = 1000 * few_s - referee * few.matches
    sandboxes = 0 if player.startswith("house:") else spent.starts - few.starts  # house players share one
    sandbox = min(others, sandbox_ms * sandboxes / more)
    return (
        f"{60 * spent.matches / spent.wall_s:11.0f} {spent.turns / spent.wall_s:7.0f} |"
        f" {referee + others:5.0f} = {referee:4.1f} + {sandbox:4.1f} + {others - sandbox:5.1f}"
        f" ({spent.starts / spent.matches:.2f}); {once:.0f}"
    )


def play_one(folder: Path, player: str, programs: str, tables: int, options: argparse.Namespace, matches: int) -> Spent:
    """Play one tournament."""
    folder.mkdir()
    where = player if ":" in player else folder / player
    if isinstance(where, Path):
        make_player(player, where)
    kept = "" if programs == PROGRAMS[0] else f'programs = "{programs}"\n'
    settings = f'game = "{options.game}"\nseats = {options.seats}\ntables = {tables}\n{kept}'
    return play(folder / "cup", settings, where, matches, workers=min(options.workers, tables))


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
    """Return the mean cost of starting a program that ends at once. The first start fills caches and does not count."""
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
    """Wait for all children of this process; return the processor time of it and all of them."""
    with contextlib.suppress(ChildProcessError):
        while os.wait():
            pass
    took = os.times()
    return took.user + took.system + took.children_user + took.children_system
