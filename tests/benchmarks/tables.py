"""Measures the referee's own cost of a tournament of real programs at different numbers of tables, in one process.

`python -m tests.benchmarks.tables FOLDER TABLES` plays one, and prints a line of JSON; `tournament` compares several.
`python -m tests.benchmarks tables` plays with each durability in turn, and prints the cost of `turn` relative to
`match`.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from referee.app.services import RefereeOptions, services
from referee.app.tournaments.conducting import conduct
from referee.cli.commands.new import make_player
from referee.net.tournaments.play import RunSettings
from referee.observers import Observer
from referee.plugins import installed
from referee.settings import Durability, RunTerms, SandboxMode
from referee.tournament.machine import Tournament
from referee.tournament.match_context import MatchEntry
from referee.tournament.spec import Participant, TournamentSpec

from ..time_controls import time_control

ENTRANTS = 128
"""Enough for 64 tables of two."""
ROUNDS = 2
REPEATED = 3


class Meter(Observer):
    """Counts turns, and the processor time of this process while the tournament runs; programs' time is their own."""

    def __init__(self) -> None:
        self.turns = self.matches = 0
        self.cpu_s = self.wall_s = 0.0

    def on_tournament_begun(self, tournament: Tournament, total: int | None) -> None:
        """Start the clocks."""
        self.cpu_s, self.wall_s = -time.process_time(), -time.monotonic()

    def on_match_closed(self, entry: MatchEntry) -> None:
        """Count a match's turns."""
        self.turns += entry.turns
        self.matches += 1

    def on_tournament_ended(self, tournament: Tournament) -> None:
        """Stop the clocks."""
        self.cpu_s += time.process_time()
        self.wall_s += time.monotonic()


def spec(programs: Path) -> TournamentSpec:
    """Return a Swiss tournament of copies of one program, which takes almost no time."""
    return TournamentSpec(
        name="tables",
        game="quincy",
        entrants=tuple(Participant(name=f"e{number}", player=str(programs / "c")) for number in range(ENTRANTS)),
        seats=2,
        format="swiss",
        format_options={"rounds": ROUNDS},
        time=time_control(per_move_ms=20_000.0, start_ms=60_000.0),
        seed=1,
    )


def main(arguments: list[str]) -> int:
    """Compare the durabilities at some numbers of tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks tables", description=__doc__)
    parser.add_argument("tables", type=int, nargs="*", default=[1, 8, 64], help="how many, one run after another")
    numbers: list[int] = parser.parse_args(arguments).tables
    with tempfile.TemporaryDirectory() as folder:
        for tables in numbers:
            runs = [_apart(folder, tables, durability) for _ in range(REPEATED) for durability in Durability]
            wall, cpu = (_ratio([run[key] for run in runs]) for key in ("wall_s", "cpu_s"))
            print(f"{tables:3} tables: durability turn : match is {wall:.2f} in wall time, {cpu:.2f} in processor time")
    return 0


def _apart(folder: str, tables: int, durability: Durability) -> dict[str, Any]:
    """Play a tournament in a process of its own, into a new folder of records."""
    command = [sys.executable, "-m", __name__, folder, str(tables), durability]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    shutil.rmtree(Path(folder) / f"logs{tables}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def _ratio(figures: list[float]) -> float:
    """Return the second kind of figures divided by the first, from the least of each: other programs delay the rest."""
    return min(figures[1::2]) / min(figures[::2])


def play(arguments: list[str]) -> int:
    """Play one tournament and print its cost."""
    folder, tables = Path(arguments[0]).absolute(), int(arguments[1])
    durability = Durability(arguments[2]) if len(arguments) > 2 else Durability.MATCH
    if not (folder / "c").exists():
        make_player("c", folder / "c")
    meter = Meter()
    run_settings = RunSettings(folder=folder / f"logs{tables}", tables=tables)
    terms = RunTerms(sandbox=SandboxMode.OFF, durability=durability)
    with services(RefereeOptions(terms=terms, observers=(meter,)), run_settings.folder) as at_hand:
        conduct(replace(spec(folder), durability=durability), installed().format("swiss"), run_settings, at_hand)
    print(json.dumps(told(meter)))
    return 0


def told(meter: Meter) -> dict[str, Any]:
    """Return the measurements as JSON values."""
    return {
        "matches": meter.matches,
        "turns": meter.turns,
        "wall_s": meter.wall_s,
        "cpu_s": meter.cpu_s,
        "per_minute": 60 * meter.matches / meter.wall_s,
        "share": meter.cpu_s / meter.wall_s,
        "us_a_turn": 1e6 * meter.cpu_s / meter.turns,
    }


if __name__ == "__main__":
    sys.exit(play(sys.argv[1:]))
