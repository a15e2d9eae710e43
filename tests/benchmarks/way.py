"""Counts the function calls of a move, of `referee play` and of a standings page, and the files that they are in.

Each is run in this process while every call of a Python function is counted. For a move, calls of the rules
(`referee/games`) and of the terminal (`referee/cli`) do not count: they belong to the game and to a view.
"""

import argparse
import io
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).parents[2]
OWN = (f"{ROOT}/referee/", f"{ROOT}/protocol/", f"{ROOT}/sample_players/")
LEFT_OUT = (
    "referee/games/",
    "referee/cli/",
    "referee/pages/",
    "referee/plugins.py",
    "referee/text.py",
    "sample_players/",
)
"""Calls that are left out of a move: those of the rules, and of a view of the match."""
FIRST_MOVE, LAST_MOVE = 5, 15
"""Moves between which calls are counted, far enough from the beginning and the end of the match."""
TOURNAMENT = 'game = "quincy"\nentrants = ["house:greedy", "house:random"]\nformat = "roundrobin"\n'


class Way:
    """Counts the calls of this project's functions in this thread."""

    def __init__(self) -> None:
        self.calls: Counter[CodeType] = Counter()
        self.moves: list[Counter[CodeType]] = []
        """All calls until each move was judged."""

    @contextmanager
    def follow(self) -> Iterator[None]:
        """Count all calls within a block."""
        sys.setprofile(self._take)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _take(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_flags & CO_OPTIMIZED or not code.co_filename.startswith(OWN):
            return  # bodies of modules and classes are not functions
        if code.co_qualname == "Match.handle" and type(frame.f_locals["event"]).__name__ == "MoveReceived":
            self.moves.append(self.calls.copy())
        self.calls[code] += 1

    def shortest_move(self) -> Counter[CodeType]:
        """Return the calls of the move that took the fewest, among those that count.

        On a busy machine the loop stalls, and measuring that needs calls that do not belong to the move.
        """
        windows = [self.moves[move + 1] - self.moves[move] for move in range(FIRST_MOVE, LAST_MOVE)]
        return min(map(_leave_out_views, windows), key=Counter[CodeType].total)


def _leave_out_views(calls: Counter[CodeType]) -> Counter[CodeType]:
    return Counter({code: count for code, count in calls.items() if not find_file(code).startswith(LEFT_OUT)})


def find_file(code: CodeType) -> str:
    """Return the file of a function, below the project."""
    return os.path.relpath(code.co_filename, ROOT)


def show(what: str, calls: Counter[CodeType], *, is_whole: bool) -> None:
    """Print the number of calls of a way, by file.

    Args:
        what: name of the way.
        calls: function -> number of calls.
        is_whole: whether every function is printed, not only the files.
    """
    files = Counter[str]()
    for code, count in calls.items():
        files[find_file(code)] += count
    print(f"{what}: {calls.total()} calls in {len(files)} files")
    for file, count in sorted(files.items()):
        print(f"  {count:8}  {file}")
        for code in sorted(
            (code for code in calls if is_whole and find_file(code) == file), key=lambda code: code.co_name
        ):
            print(f"    {calls[code]:8}  {code.co_qualname}")


def run_quietly(run: Callable[[], object]) -> None:
    """Run a command in this process, and drop what it prints."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            run()
        except SystemExit as ended:
            if ended.code:
                raise


def command(*words: str) -> Callable[[], object]:
    """Return a function that runs a command of the referee in this process."""
    from referee.cli.main import main  # noqa: PLC0415  # what it imports belongs to nobody's way

    return lambda: main.main([*words], standalone_mode=True)


def follow_play(folder: Path) -> Way:
    """Follow `referee play`."""
    way = Way()
    players = ("house:greedy", "house:random")
    with way.follow():
        run_quietly(command("play", "quincy", *players, "--seed", "7", "--logs", str(folder), "--json"))
    return way


def follow_standings(folder: Path) -> Way:
    """Follow `referee report` of a tournament that is over."""
    (folder / "cup.toml").write_text(TOURNAMENT)
    argv = [sys.executable, "-m", "referee", "tournament", "cup.toml", "--no-report"]
    subprocess.run(argv, cwd=folder, check=True, capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    way = Way()
    with way.follow():
        run_quietly(command("report", str(folder / "logs" / "cup"), "--jobs", "1", "--replays", "none"))
    return way


def main(arguments: list[str]) -> int:
    """Run the benchmark named in the arguments. It needs its own reactor, so each runs in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks way", description=__doc__)
    parser.add_argument("what", choices=("all", "play", "standings"), nargs="?", default="all")
    parser.add_argument("--functions", action="store_true", help="print every function, not only the files")
    options = parser.parse_args(arguments)
    if options.what == "all":
        more = ["--functions"] * options.functions
        argv = [sys.executable, "-m", "tests.benchmarks", "way"]
        return max(subprocess.run([*argv, what, *more], check=False).returncode for what in ("play", "standings"))
    with tempfile.TemporaryDirectory() as folder:
        if options.what == "play":
            way = follow_play(Path(folder))
            show("a move", way.shortest_move(), is_whole=options.functions)
            show("referee play, a whole match", way.calls, is_whole=options.functions)
        else:
            show("the report of a tournament", follow_standings(Path(folder)).calls, is_whole=options.functions)
    return 0
