"""A stand-in for `referee check`: the player's folder decides its result. A program, run by tests."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]


def check(folder: Path) -> int:
    """Do what the folder's file `does` says, and return the exit status."""
    does = (folder / "does").read_text() if (folder / "does").exists() else "pass"
    if does == "nonsense":
        print("{")
        return 2
    if does == "nest":
        nest(folder)
    if does == "crash":
        raise RecursionError(f"in {Path(__file__)} and {folder}")
    if does == "hang":
        print(json.dumps({"step": {"number": 1, "title": "it is slow", "note": f"{folder}/x"}}), flush=True)
        subprocess.Popen(SLEEPER, start_new_session=True)  # as a player's program does
        if "HANGING" in os.environ:
            Path(os.environ["HANGING"]).open("a").close()  # a pipe, at whose other end a test waits
        time.sleep(600)
    passes = does in ("pass", "nest")
    (folder / "built").touch()
    step = {"number": 7, "title": "it greets", "verdict": "ok" if passes else "failed"}
    trouble = {"happened": f"nothing came from {folder}", "expected": "hello", "remedy": "send one"}
    trouble["printed"] = "first\nKeyError: 7\n"
    trouble["remedy"] = "/opt/organiser/venv/bin/python3 runs it"
    print("7 it greets")
    print(json.dumps({"player": str(folder), "passes": passes, "steps": [{**step, "trouble": trouble}]}))
    return 0 if passes else 1


def nest(folder: Path) -> None:
    """Make more folders within folders than any path can name."""
    os.chdir(folder)
    for _ in range(1500):
        os.mkdir("deep")  # noqa: PTH102  # no path could name it
        os.chdir("deep")


if __name__ == "__main__":
    sys.exit(check(Path(sys.argv[-1]).absolute()))
