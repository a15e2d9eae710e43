"""Random damage to a tournament's folder is reported, changes no result, or contradicts a head.

`python -m tests.benchmarks damage` tries far more.
"""

import shutil
from pathlib import Path
from random import Random

import pytest

from ...benchmarks.damage import HEADS, NAMED, SAME, is_late, play_runs, told, verdict
from ...record.tournament_damage import HONEST, ORGANISERS, STRANGERS, Damage, Runs

TRIES = 2


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Return two runs of one tournament."""
    return play_runs(tmp_path_factory.mktemp("runs"), 1)


@pytest.mark.forges
@pytest.mark.parametrize("damage", [*STRANGERS, *ORGANISERS, *HONEST], ids=lambda damage: str(damage.__name__))
def test_no_damage_goes_unnoticed(runs: Runs, tmp_path: Path, damage: Damage) -> None:
    """Damage that could have happened honestly contradicts a published head; all other damage shows in the folder."""
    expected, folder = told(runs.one), tmp_path / "cup"
    for seed in range(TRIES):
        shutil.copytree(runs.one, folder)
        damage(folder, runs, Random(seed))
        said = verdict(folder, runs, expected)
        assert said in (NAMED, SAME) or (said == HEADS and (damage in HONEST or is_late(folder, runs))), seed
        shutil.rmtree(folder)
