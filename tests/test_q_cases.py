"""The public tests of the Q course: all without a network, samples over TCP. See collect_ignore in conftest.py."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BREAKING_THE_WIRE = tuple(f"m10/Bonus/{number}" for number in (1, 3, 5, 7, 9))
"""Every kind of misbehaviour of a client."""
BREAKING_THE_RULES = ("m10/Tests/3", "m10/Tests/17", "m10/Tests/19", "m10/students/1", "m10/students/8")
"""Some kinds of misbehaviour of a player."""
CASES = ROOT.parent / "shared" / "conformance" / "q" / "cases.jsonl"


def passed(path: Path, *arguments: str) -> str:
    """Return the last output of the program that plays the cases of a file."""
    command = [sys.executable, "-m", "tests.q_cases", str(path), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    return done.stdout.strip() or done.stderr


def test_all_public_cases_pass() -> None:
    """Rules and whole games give the course's results."""
    assert f"{len(CASES.read_text().splitlines())} passed, 0 failed" == passed(CASES)


@pytest.mark.parametrize(
    ("how", "sample"),
    [
        ("--tcp", BREAKING_THE_WIRE + BREAKING_THE_RULES),
        ("--processes", BREAKING_THE_WIRE[:1] + BREAKING_THE_RULES[:1]),
    ],
)
def test_a_sample_passes_as_the_course_runs_it(tmp_path: Path, how: str, sample: tuple[str, ...]) -> None:
    """Referee and players meet over TCP, in one program or in two."""
    lines = [line for line in CASES.read_text().splitlines() if json.loads(line)["id"] in sample]
    (tmp_path / "cases.txt").write_text("\n".join(lines))
    assert f"{len(sample)} passed, 0 failed" == passed(tmp_path / "cases.txt", how)
