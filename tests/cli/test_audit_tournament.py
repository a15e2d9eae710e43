"""`referee audit` of a tournament, as people read it: what holds, what was not verified, and what is broken."""

import shutil
from pathlib import Path

import pytest

from ..record.tournaments import play_cup
from .calling import referee


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small tournament, and the output of its programs."""
    folder = tmp_path_factory.mktemp("played") / "cup"
    play_cup(folder, 1)
    for number in range(30):
        (folder / f"cup-{number:05}.seat0.e0.stderr").touch()
    (folder / "report.html").touch()
    return folder


def said(*arguments: str, cwd: Path, status: int = 0) -> str:
    """Return the output of an audit, in single spaces."""
    done = referee("audit", *arguments, cwd=cwd, status=status)
    return " ".join((done.stdout + done.stderr).split())


def test_what_holds_and_what_nothing_proves(played: Path) -> None:
    """The output has a few lines, however many files there are."""
    text = said(".", cwd=played)
    assert "the tournament cup.jsonl holds: finished, 9 matches" in text
    assert "2 rulings of the organiser:" in text
    assert "nothing in it proves report.html, what programs printed (30 *.stderr)" in text
    assert "no manifest" not in text


def test_what_was_not_looked_at(played: Path) -> None:
    """The output names the unchecked matches of a lone record, and a hash that it does not have."""
    text = said("cup.jsonl", "--head", "a" * 64, cwd=played, status=1)
    assert "the result is not proved by an unredacted record: cup-0000" in text
    assert f"BROKEN expected a line with the hash {'a' * 64} in a record that holds; found none" in text


@pytest.mark.forges
def test_what_is_broken(played: Path, tmp_path: Path) -> None:
    """The error names the file, and the tournament."""
    folder = Path(shutil.copytree(played, tmp_path / "cup"))
    (folder / "cup-00001.jsonl").unlink()
    text = said("cup", cwd=tmp_path, status=1)
    assert "BROKEN the tournament cup/cup.jsonl: cup/cup-00001.jsonl expected the record of cup-00001" in text


@pytest.mark.forges
def test_a_tournament_that_goes_on_is_told_what_to_do_about_a_missing_record(played: Path, tmp_path: Path) -> None:
    """With --unsealed, that option is no longer advised."""
    folder = Path(shutil.copytree(played, tmp_path / "cup"))
    record = folder / "cup.jsonl"
    record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:-1]))
    (folder / "cup-00001.jsonl").unlink()
    assert "--unsealed audits what is there" in said("cup", cwd=tmp_path, status=1)
    text = said("cup", "--unsealed", cwd=tmp_path, status=1)
    assert "expected the record of cup-00001, which was played" in text
    assert "copy a tournament's record first" in text
    assert "--unsealed" not in text
