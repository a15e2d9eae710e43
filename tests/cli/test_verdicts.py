"""What an author is told when its player is expelled: why, where to look, and what to do next."""

import shlex
import sys
from pathlib import Path

from referee.check.remedies import module_remedy

from .calling import referee

SAMPLE = Path(__file__).parents[2] / "sample_players" / "python_library" / "player.py"
WITHOUT_PACKAGES = f"cmd:{shlex.join((sys.executable, '-I', '-S', str(SAMPLE)))}"
"""The sample of Python, run by a Python in which nothing is installed."""


def test_an_expulsion_names_what_to_look_at(tmp_path: Path) -> None:
    """Below the ranking stand the line of the record, the file of the output, and a command that works as it stands."""
    shown = referee(
        *("play", "q", "house:random", "cmd:sh -c 'echo over and out; exit 3'", "--sandbox", "off"),
        *("--logs", "my logs"),
        cwd=tmp_path,
    ).stdout
    _, _, told = shown.partition("player2 was expelled: crashed")
    rows = dict(line.strip().split("  ", 1) for line in told.splitlines() if "  " in line.strip())
    number, _, record = rows["in the record"].strip().removeprefix("line ").partition(" of ")
    assert '"foul":{"seat":1' in (tmp_path / record).read_text().splitlines()[int(number) - 1]
    assert (tmp_path / rows["it printed"].strip()).read_text() == "over and out\n"
    command = shlex.split(rows["all about it"])
    assert command == ["referee", "explain", record, "player2"]
    assert "exit status 3: over and out" in referee(*command[1:], cwd=tmp_path).stdout


def test_a_match_without_a_foul_says_nothing_of_it(tmp_path: Path) -> None:
    """Who was not expelled needs no advice."""
    assert "was expelled" not in referee("play", "q", "house:random", "house:random", cwd=tmp_path).stdout


def test_a_sample_without_its_packages_says_how_to_run_it(tmp_path: Path) -> None:
    """The player says which Python lacks what; play and check tell where to find one that does not."""
    play = referee("play", "q", "house:random", WITHOUT_PACKAGES, "--sandbox", "off", cwd=tmp_path)
    check = referee("check", WITHOUT_PACKAGES, "--sandbox", "off", "--only", "connects", cwd=tmp_path, status=1)
    for shown in (play.stdout, check.stdout):
        told = " ".join(shown.split())
        assert "has no msgspec" in told
        assert "`. .venv/bin/activate`" in told
        assert "stdin and stdout do not lead to the referee" not in told
    printed = next((tmp_path / "logs").glob("*.stderr")).read_text()
    assert "No module named 'msgspec'" in printed
    assert f"This is {sys.executable}; run it with the Python that has the referee" in printed


def test_a_package_of_the_players_own_is_told_from_the_referees() -> None:
    """What the referee does not bring along is to be installed; other ends get no such advice."""
    assert module_remedy("ModuleNotFoundError: No module named 'numpy.linalg'") == (
        "Install numpy for the Python that runs the program, or put it into the folder."
    )
    assert module_remedy("exit status 1: KeyError: 'hand'") is None
