"""The public tests of the Q course, where they are at hand: all of them, on the fold and over TCP."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAMPLE = (
    *("m10/Bonus/1", "m10/Bonus/3", "m10/Bonus/5", "m10/Bonus/7", "m10/Bonus/9"),
    *("m10/Tests/3", "m10/Tests/17", "m10/Tests/19", "m10/students/1", "m10/students/8"),
)
"""Every way in which a client breaks the wire, and some in which a player does."""
CASES = ROOT.parent / "shared" / "conformance" / "q" / "cases.jsonl"


@pytest.mark.skipif(not CASES.exists(), reason="the public cases are not at hand")
@pytest.mark.parametrize("arguments", [(), ("--tcp",)])
def test_all_public_cases_pass(arguments: tuple[str, ...]) -> None:
    """Rules and whole games give what the course says."""
    command = [sys.executable, "-m", "tests.q_cases", str(CASES), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    count = len(CASES.read_text().splitlines())
    assert f"{count} passed, 0 failed" == done.stdout.strip(), done.stderr


@pytest.mark.skipif(not CASES.exists(), reason="the public cases are not at hand")
def test_a_sample_passes_as_the_course_runs_it(tmp_path: Path) -> None:
    """Server and clients are two programs that meet over TCP."""
    lines = [line for line in CASES.read_text().splitlines() if json.loads(line)["id"] in SAMPLE]
    (tmp_path / "cases.txt").write_text("\n".join(lines))
    command = [sys.executable, "-m", "tests.q_cases", str(tmp_path / "cases.txt"), "--processes"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert f"{len(SAMPLE)} passed, 0 failed" == done.stdout.strip(), done.stderr
