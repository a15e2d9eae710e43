"""`referee fairness` as an organiser runs it: figures for a match and for a folder, and errors that name the file."""

from pathlib import Path

import pytest

from .calling import played, referee

CUP = """
game = "quincy"
entrants = ["house:random", "house:greedy"]
format = "roundrobin"
"""
GOLDEN = Path(__file__).parents[1] / "golden"


def test_a_folder_is_told_match_by_match_and_together() -> None:
    """Figures are printed for every record and for all together."""
    found = played(referee("fairness", ".", "--json", cwd=GOLDEN))
    assert len(list(GOLDEN.glob("*.jsonl"))) == len(found["records"]) == found["all"]["matches"]
    assert sum(record["answers"] for record in found["records"]) == found["all"]["answers"]
    assert sum(len(record["late"]) for record in found["records"]) == len(found["all"]["late"])
    assert found["broken"] == []


def test_the_tables_tell_it_to_people() -> None:
    """Lag, players, expulsions and voided verdicts are described in words."""
    text = referee("fairness", ".", cwd=GOLDEN).stdout
    everything = f"all {len(list(GOLDEN.glob('*.jsonl')))}"
    for word in (
        "late-for-a-stall",
        "unsure: answers that were too late",
        "time used",
        "expelled for time",
        "stood still",
        everything,
    ):
        assert word in text


def test_what_is_no_record_is_named(tmp_path: Path) -> None:
    """The other records are reported all the same, and the exit status shows the error."""
    (tmp_path / "notes.jsonl").write_text("no record\n")
    (tmp_path / "clean.jsonl").write_bytes((GOLDEN / "clean.jsonl").read_bytes())
    found = played(referee("fairness", "clean.jsonl", "notes.jsonl", "--json", cwd=tmp_path, status=1))
    assert [record["record"] for record in found["records"]] == ["clean.jsonl"]
    assert found["broken"][0].startswith("notes.jsonl, line 0: expected a line of a record")
    text = referee("fairness", "notes.jsonl", cwd=tmp_path, status=1).stderr
    assert "not a record: notes.jsonl, line 0" in text
    (tmp_path / "notes.jsonl").unlink()


def test_the_record_of_a_tournament_is_passed_over(tmp_path: Path) -> None:
    """A tournament's folder has matches with times, and its own record, which has none."""
    (tmp_path / "cup.toml").write_text(CUP)
    referee("tournament", "cup.toml", cwd=tmp_path)
    found = played(referee("fairness", "logs/cup", "--json", cwd=tmp_path))
    assert found["records"]
    assert found["broken"] == []
    refused = referee("explain", "logs/cup/cup.jsonl", cwd=tmp_path, status=1).stderr
    assert "found the record of a tournament" in refused


@pytest.mark.parametrize(("path", "complaint"), [("nowhere", "no file or folder"), (".", "there is no record")])
def test_a_wrong_path_is_a_mistake_of_the_users(tmp_path: Path, path: str, complaint: str) -> None:
    """It ends with status 2 and a sentence."""
    assert complaint in " ".join(referee("fairness", path, cwd=tmp_path, status=2).stderr.split())
