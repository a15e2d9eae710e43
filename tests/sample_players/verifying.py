"""Runs verify.js on records: one process of Node.js for all records of a table."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import sample_players

from ..needs import require

VERIFIER = Path(sample_players.__file__).parent / "javascript" / "verify.js"
Records = Mapping[str, bytes]


def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run the verifier."""
    return run_node(VERIFIER, *arguments)


def run_node(*arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run Node.js; skip the running test if there is none."""
    require("node")
    command = ["node", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def verdicts(folder: Path, records: Records, *options: object) -> dict[str, str]:
    """Return the verifier's findings for each record of a new folder; none if it holds.

    Args:
        folder: where they are written.
        records: bytes of the files by their names, without `.jsonl`.
        options: of the verifier.
    """
    folder.mkdir(exist_ok=True)
    for name, data in records.items():
        (folder / f"{name}.jsonl").write_bytes(data)
    done = run(folder, *options)
    found = dict.fromkeys(records, "")
    for line in done.stdout.splitlines():
        name, rest = line.removeprefix(f"{folder}/").split(".jsonl", 1)
        found[name] += "" if rest.startswith(" holds: ") else rest
    assert (done.returncode, done.stderr) == (int(any(found.values())), "")
    return found
