"""With a seed, a real tournament has the same deals, results and standings at one table and at three."""

from pathlib import Path

import pytest

from .playing import audit, outcome, run, write_toml


@pytest.mark.parametrize(
    "format_",
    [
        'name = "swiss"\nrounds = 2',
        'name = "roundrobin"',
        'name = "ladder"\nmatches = 5\nat_once = 2',
        'name = "knockout"',
        'name = "doubleelimination"',
        'name = "gauntlet"',
    ],
)
def test_one_table_and_three_give_the_same_tournament(tmp_path: Path, format_: str) -> None:
    """The same matches under the same names, each with its deal and its result, and the same champion."""
    found = []
    for tables in (1, 3):
        folder = tmp_path / f"{tables}"
        folder.mkdir()
        run(write_toml(folder, format_, tables=tables))
        assert audit(folder / "logs" / "cup") == ""
        found.append(outcome(folder / "logs" / "cup" / "cup.jsonl"))
    assert found[0]["matches"]
    assert found[0] == found[1]
