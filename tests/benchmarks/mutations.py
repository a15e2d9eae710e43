"""Changes files of every kind at random, lets every command read them, and counts the readers that failed.

A reader reports that a file is not valid, or reads it; it never crashes, runs for ever or takes all memory. The number
of a failure repeats it.
"""

import argparse
import hashlib
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from referee.app.records import audit as auditing

from ..mutations.kinds import KINDS
from ..mutations.running import tried

_MEMORY_BYTES = 4 << 30
_MEMORY = Path("/dev/shm")
"""Folder where files need no disk, because records sync their lines."""
_REMEMBERED = 100
"""Number of records whose audits are remembered."""
_KEPT = 3
"""Number of failures of one kind that are shown."""


def main(arguments: list[str]) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="mutations", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="of each kind")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first; those that follow count up")
    parser.add_argument("--kind", choices=KINDS, action="append")
    options = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    auditing.examine = _remembered(auditing.examine)
    failures = 0
    for name in options.kind or KINDS:
        failures += _tried(name, options.seed, options.count)
    print(f"{failures} readers failed")
    return 1 if failures else 0


def _remembered(examine: Callable[..., Any]) -> Callable[..., Any]:
    """Audit unchanged records once, because most of a tournament's are the same every time."""
    known: dict[tuple[str, str], Any] = {}

    def _examine(path: Path, demands: Any) -> Any:
        key = f"{path.resolve()} {demands}", hashlib.sha256(path.read_bytes()).hexdigest()
        if key not in known:
            if len(known) == _REMEMBERED:
                known.clear()
            known[key] = examine(path, demands)
        return known[key]

    return _examine


def _tried(name: str, first: int, count: int) -> int:
    """Change and read files of a kind; return how often a reader failed."""
    kind, began, shown = KINDS[name], time.monotonic(), Counter[str]()
    failures = refused = 0
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as scratch:
        honest, folder = Path(scratch) / "honest", Path(scratch) / "changed"
        honest.mkdir()
        kind.make(honest)
        for number in range(first, first + count):
            shutil.copytree(honest, folder, symlinks=True)
            what = kind.change(folder, Random(number))
            for reader, read in kind.readers.items():
                is_taken, problem = tried(read, folder)
                refused += not is_taken
                if not problem:
                    continue
                failures += 1
                sort = f"{reader} {problem.splitlines()[-1][:60]}"
                shown[sort] += 1
                if shown[sort] <= _KEPT:
                    print(f"--- {name} {number}, {reader}, {what}\n{problem}", flush=True)
            shutil.rmtree(folder)
    seconds = time.monotonic() - began
    print(f"{name:16} {count:6} files in {seconds:4.0f} s, {refused} refusals, {failures} readers failed", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
