"""The public tests of the Q course, where they are at hand: all of them, on the fold and over TCP."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CASES = ROOT.parent / "shared" / "conformance" / "q" / "cases.jsonl"


@pytest.mark.skipif(not CASES.exists(), reason="the public cases are not at hand")
@pytest.mark.parametrize("arguments", [(), ("--tcp",)])
def test_all_public_cases_pass(arguments: tuple[str, ...]) -> None:
    """Rules and whole games give what the course says."""
    command = [sys.executable, "-m", "tests.q_cases", str(CASES), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    count = len(CASES.read_text().splitlines())
    assert f"{count} passed, 0 failed" == done.stdout.strip(), done.stderr
