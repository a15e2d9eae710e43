"""With a seed, a real tournament has the same deals, results and standings at one table and at four, whoever plays."""

from pathlib import Path

import pytest

from .playing import audit, outcome, run, write_toml


@pytest.mark.parametrize(
    ("format_", "workers"),
    [
        ('name = "swiss"\nrounds = 2', "1"),
        ('name = "ladder"\nmatches = 5\nat_once = 2', "2"),
        ('name = "doubleelimination"', None),
    ],
)
def test_one_table_and_four_give_the_same_tournament(tmp_path: Path, format_: str, workers: str | None) -> None:
    """The matches have the same names, deals and results, and the champion is the same.

    At four tables, workers or the referee's own process play them; at one table, its own process does. Without
    processes, tests/tournament/test_reproducible.py tests that no format depends on its tables.
    """
    found = []
    for tables, options in ((1, ()), (4, () if workers is None else ("--workers", workers))):
        folder = tmp_path / f"{tables}"
        folder.mkdir()
        run(write_toml(folder, format_, tables=tables), *options)
        assert audit(folder / "logs" / "cup") == ""
        found.append(outcome(folder / "logs" / "cup" / "cup.jsonl"))
    assert found[0]["matches"]
    assert found[0] == found[1]
