"""A Swiss whose rounds an organiser's program pairs: begun, failed, resumed, and audited without the program."""

import json
import stat
import sys
from pathlib import Path
from typing import Any

from referee.record.tournament_record import record_path

from .calling import referee

ROOT = Path(__file__).parents[2]
PAIRS = f"""\
#!{sys.executable}
import sys
if sys.argv[1:] == ["-r"]:
    print("Sample Pairings - Rel. 1.2")
    sys.exit()
sys.path.insert(0, {str(ROOT)!r})
from tests.benchmarks.swiss import main
sys.exit(main([sys.argv[2]]))
"""
"""A program with the command line and the output of bbpPairings."""
CUP = """\
game = "quincy"
entrants = ["house:random", "house:greedy", "house:random", "house:greedy", "house:random"]
tables = 2
seed = 7
sandbox = "off"

[format]
name = "swiss"
rounds = 3
"""
WITH_PROGRAM = f'{CUP}pairing_program = ["./pairs", "--dutch", "{{trf}}", "-p"]\n'


def cup(folder: Path, script: str = PAIRS, text: str = WITH_PROGRAM) -> Path:
    """Write the file of a tournament, and the program next to it."""
    program = folder / "pairs"
    program.write_text(script)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (folder / "cup.toml").write_text(text)
    return folder


def rounds(folder: Path) -> list[dict[str, Any]]:
    """Return the rounds in the record."""
    path = record_path(folder / "logs" / "cup", "cup")
    events = [json.loads(line).get("event", {}) for line in path.read_bytes().splitlines()]
    return [event for event in events if event.get("event") == "round-paired"]


def test_a_tournament_is_paired_by_a_program_and_audited_without_it(tmp_path: Path) -> None:
    """The record has the program's release and output.

    The audit checks the rounds by the rules, without the program.
    """
    cup(tmp_path)
    referee("tournament", "cup.toml", "--no-report", cwd=tmp_path)
    found = rounds(tmp_path)
    assert [event["round"] for event in found] == [1, 2, 3]
    assert {event["by"] for event in found} == {"pairs Sample Pairings - Rel. 1.2"}
    assert all(event["output"].startswith("3\n") for event in found)
    (tmp_path / "pairs").unlink()
    told = referee("audit", "logs/cup", cwd=tmp_path).stdout
    assert "0 broken" in told
    assert "paired by another program or version, so only the pairing rules were checked: round 1, 2, 3" in told


def test_after_a_failure_it_goes_on_where_it_was(tmp_path: Path) -> None:
    """It goes on with the corrected program and another command line, or with the built-in library."""
    cup(tmp_path, "#!/bin/sh\necho 'no licence' >&2; exit 3\n")
    told = referee("tournament", "cup.toml", "--no-report", cwd=tmp_path, status=1).stderr
    assert "round 1 is not paired by pairs: it ended with exit status 3: no licence\nnothing is lost: " in told
    assert "Traceback" not in told
    assert rounds(tmp_path) == []
    once = PAIRS.replace("sys.exit(main", "Path('once').exists() and sys.exit(5)\nPath('once').touch()\nsys.exit(main")
    cup(tmp_path, once.replace("import sys\n", "import sys\nfrom pathlib import Path\n", 1))
    told = referee("tournament", "cup.toml", "--no-report", cwd=tmp_path, status=1).stderr
    assert "round 2 is not paired by pairs: it ended with exit status 5: it printed nothing" in told
    (tmp_path / "pairs").rename(tmp_path / "others")
    (tmp_path / "once").unlink()
    (tmp_path / "cup.toml").write_text(WITH_PROGRAM.replace("./pairs", "./others") + "pairing_limit = 60\n")
    referee("tournament", "cup.toml", "--no-report", cwd=tmp_path, status=1)
    (tmp_path / "cup.toml").write_text(CUP)
    referee("tournament", "cup.toml", "--no-report", cwd=tmp_path)
    by = [event["by"].split()[0] for event in rounds(tmp_path)]
    assert by == ["pairs", "others", "py4swiss"]
    assert "0 broken" in referee("audit", "logs/cup", cwd=tmp_path).stdout


def test_a_tournament_that_began_without_a_program_takes_none(tmp_path: Path) -> None:
    """The first round decides how rounds are paired."""
    cup(tmp_path, text=CUP + "pairing_limit = 9\n")
    referee("tournament", "cup.toml", "--no-report", cwd=tmp_path)
    (tmp_path / "cup.toml").write_text(WITH_PROGRAM)
    told = referee("tournament", "cup.toml", "--no-report", cwd=tmp_path, status=2).stderr
    assert "pairing_program" in told


def test_a_check_finds_a_program_that_is_not_there(tmp_path: Path) -> None:
    """The check is the same as for an entrant's command. The command line is shown as the file has it."""
    cup(tmp_path)
    told = referee("tournament", "cup.toml", "--check", cwd=tmp_path)
    assert 'pairing_program = ["./pairs", "--dutch", "{trf}", "-p"]' in told.stdout
    (tmp_path / "cup.toml").write_text(WITH_PROGRAM + 'pairing_lines = ["XXP {random1} {ada}"]\n')
    told = referee("tournament", "cup.toml", "--check", cwd=tmp_path, status=1)
    assert "pairing_lines: no entrant is called ada" in told.stderr
    (tmp_path / "pairs").chmod(0o644)
    told = referee("tournament", "cup.toml", "--check", cwd=tmp_path, status=1)
    assert "pairing_program ./pairs can't be run: no program" in told.stderr


def test_what_can_pair_nothing_is_refused_with_its_line(tmp_path: Path) -> None:
    """Refused are a program without `{trf}`, matches of more than two seats, and a format without rounds to pair."""
    for words, line, why in (
        (WITH_PROGRAM.replace("{trf}", "trf"), 7, 'one of its words must hold "{trf}"'),
        (WITH_PROGRAM.replace('"quincy"', '"quincy"\nseats = 4'), 8, "a pairing_program pairs matches of 2, not of 4"),
        (WITH_PROGRAM.replace('"swiss"', '"roundrobin"'), 10, "pairing_program"),
        (CUP + "pairing_program = []\n", 10, "pairing_program"),
        (CUP + 'pairing_program = "bbpPairings"\n', 10, "pairing_program"),
    ):
        cup(tmp_path, text=words)
        told = referee("tournament", "cup.toml", "--check", cwd=tmp_path, status=2).stderr
        shown = "".join(told.replace("│", " ").split())  # wherever the terminal breaks its lines
        assert f"cup.toml:{line}:" in shown
        assert why.replace(" ", "") in shown
