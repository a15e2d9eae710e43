"""`python -m tests.benchmarks swiss --against` compares our pairings with those of another program."""

import shlex
from pathlib import Path

import pytest

from referee.tournament.pairing.base import PlayedRounds
from referee.tournament.pairing.dutch import TrfPlayer, trf_text

from ...benchmarks.swiss import main
from .rounds import played_rounds

FIRST = played_rounds(*[""] * 8, rounds=3)
"""The first round of eight: 1-5 6-2 3-7 8-4."""
MET = played_rounds("2w1", "1b0", rounds=2)
"""There is no second round of two."""


def written(path: Path, before: PlayedRounds) -> Path:
    """Return the file of a tournament before a round."""
    people = [TrfPlayer(f"e{entrant}") for entrant in before.order]
    path.write_text(trf_text(before, people, [("012", "cup")]))
    return path


def against(folder: Path, answer: str) -> str:
    """Return the options for a program that prints this answer if it is given a file, and else fails."""
    program = folder / "program.sh"
    program.write_text(f'grep -q ^XXR "$1" && {answer}\n')
    return f"--against=sh {shlex.quote(str(program))} {{trf}}"


@pytest.mark.parametrize(
    ("before", "answer", "opponents", "colours"),
    [
        (FIRST, r"printf '4\n1 5\n6 2\n3 7\n8 4\n'", 1, 1),
        (FIRST, r"printf '4\r\n8 4\r\n3 7\r\n1 5\r\n6 2\r\n'", 1, 1),
        (FIRST, r"printf '4\n1 5\n2 6\n3 7\n8 4\n'", 1, 0),
        (FIRST, r"printf '4\n1 5\n6 2\n3 8\n7 4\n'", 0, 0),
        (FIRST, r"printf '4\n1 5\n6 2\n3 7\n8 4\n'; exit 1", 0, 0),
        (FIRST, "printf none", 0, 0),
        (MET, "exit 1", 1, 1),
        (MET, r"printf '1\n2 1\n'", 0, 0),
    ],
)
def test_rounds_are_compared(
    before: PlayedRounds,
    answer: str,
    opponents: int,
    colours: int,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The order of the tables does not matter; having no pairing is an answer, too."""
    assert main([str(written(tmp_path / "cup.trf", before)), against(tmp_path, answer)]) == 0
    assert capfd.readouterr().out.splitlines() == [
        "     1 rounds paired by the other program, too",
        f"     {opponents} of them with the same opponents, {opponents:.2%}",
        f"     {colours} of them with the same opponents and colours, {colours:.2%}",
    ]


def test_rounds_that_differ_are_kept(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Random tournaments are compared round by round, and the other program's message is printed."""
    kept = tmp_path / "kept"
    options = ["--tournaments=1", f"--write={kept}", against(tmp_path, "echo 'no licence' >&2 && exit 3")]
    assert main(options) == 0
    told = capfd.readouterr()
    assert "     9 rounds paired by the other program, too\n     0 of them" in told.out
    assert told.err.count("the other program has no pairing: no licence\n") == 9
    assert {path.name for path in kept.iterdir()} == {"0.trf", *(f"0-round-{n}.trf" for n in range(1, 10))}


@pytest.mark.parametrize("command", ["sh program.sh", "no-such-program {trf}", ""])
def test_what_is_no_pairing_program_is_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The program must exist, and its command line must have `{trf}`."""
    with pytest.raises(SystemExit):
        main([f"--against={command}"])
    assert "--against names a program that is there, and {trf} where it is told the file" in capsys.readouterr().err
