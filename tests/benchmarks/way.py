"""How long the way of a move, of `referee play` and of a standings page is: how many calls, in how many files.

Each is run in this process while every call of a Python function is counted. Calls of the rules (`referee/games`) and
of the terminal (`referee/cli`) are left out of a move: they are a game's and a view's own.
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
LEFT_OUT = ("referee/games/", "referee/cli/", "sample_players/")
"""Not counted of a move."""
FIRST_MOVE, LAST_MOVE = 5, 15
"""Moves between which calls are counted: none of a match's first or last steps is among them."""
TOURNAMENT = 'game = "quincy"\nentrants = ["house:greedy", "house:random"]\nformat = "roundrobin"\n'


class Way:
    """Counts the calls of this project's functions, in this thread, while it is followed."""

    def __init__(self) -> None:
        self.calls: Counter[CodeType] = Counter()
        self.moves: list[Counter[CodeType]] = []
        """The calls up to each move that is judged."""

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Count all calls within."""
        sys.setprofile(self._take)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _take(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_flags & CO_OPTIMIZED or not code.co_filename.startswith(OWN):
            return  # bodies of modules and classes are no functions
        if code.co_qualname == "Match.handle" and type(frame.f_locals["event"]).__name__ == "MoveReceived":
            self.moves.append(self.calls.copy())
        self.calls[code] += 1

    def move(self) -> Counter[CodeType]:
        """Return the calls of all moves between the first one and the last one that count."""
        calls = self.moves[LAST_MOVE] - self.moves[FIRST_MOVE]
        return Counter({code: count for code, count in calls.items() if not file_of(code).startswith(LEFT_OUT)})


def file_of(code: CodeType) -> str:
    """Return the file of a function, below the project."""
    return os.path.relpath(code.co_filename, ROOT)


def show(what: str, calls: Counter[CodeType], times: int, *, is_whole: bool) -> None:
    """Print how long a way is, and which files it leads through.

    Args:
        what: was followed.
        calls: of functions.
        times: so often it was gone.
        is_whole: whether every function is printed, not only the files.
    """
    files = Counter[str]()
    for code, count in calls.items():
        files[file_of(code)] += count
    print(f"{what}: {calls.total() / times:.0f} calls in {len(files)} files")
    for file, count in sorted(files.items()):
        print(f"  {count / times:8.1f}  {file}")
        for code in sorted(
            (code for code in calls if is_whole and file_of(code) == file), key=lambda code: code.co_name
        ):
            print(f"    {calls[code] / times:8.1f}  {code.co_qualname}")


def quietly(run: Callable[[], object]) -> None:
    """Run a command in this process, and forget what it prints."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            run()
        except SystemExit as ended:
            if ended.code:
                raise


def command(*words: str) -> Callable[[], object]:
    """Return what runs a command of the referee in this process."""
    from referee.cli.main import main  # noqa: PLC0415  # what it imports belongs to nobody's way

    return lambda: main.main([*words], standalone_mode=True)


def follow_play(folder: Path) -> Way:
    """Follow `referee play`."""
    way = Way()
    players = ("house:greedy", "house:random")
    with way.followed():
        quietly(command("play", "quincy", *players, "--seed", "7", "--logs", str(folder), "--json"))
    return way


def follow_standings(folder: Path) -> Way:
    """Follow `referee report` of a tournament that is over."""
    (folder / "cup.toml").write_text(TOURNAMENT)
    argv = [sys.executable, "-m", "referee", "tournament", "cup.toml", "--no-report"]
    subprocess.run(argv, cwd=folder, check=True, capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    way = Way()
    with way.followed():
        quietly(command("report", str(folder / "logs" / "cup"), "--jobs", "1", "--replays", "none"))
    return way


def main(arguments: list[str]) -> int:
    """Run the benchmark named in the arguments: it takes one reactor, so each runs in a process of its own."""
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
            show("a move", way.move(), LAST_MOVE - FIRST_MOVE, is_whole=options.functions)
            show("referee play, a whole match", way.calls, 1, is_whole=options.functions)
        else:
            show("the report of a tournament", follow_standings(Path(folder)).calls, 1, is_whole=options.functions)
    return 0
