"""Rogues act at random: the match ends, the honest players have no foul, and the record passes its audit."""

from pathlib import Path
from random import Random

import pytest

from .fray import Fray

MATCHES = 15


@pytest.mark.parametrize("seed", range(8))
def test_whatever_rogues_do_the_match_ends_and_the_honest_are_in_it(tmp_path: Path, seed: int) -> None:
    """No exception escapes, no honest player is blamed, the match is not void, and its record holds."""
    for number in range(MATCHES):
        folder = tmp_path / str(number)
        folder.mkdir()
        fray = Fray(folder, Random(seed * MATCHES + number))
        result = fray.play()
        assert {foul.seat for foul in result.fouls} <= fray.rogues, f"seed {seed}, match {number}"
        assert result.void is None


def test_frays_are_of_many_kinds(tmp_path: Path) -> None:
    """Random actions provoke most causes of a foul, and some matches have no foul."""
    causes: set[str] = set()
    for seed in range(60):
        folder = tmp_path / str(seed)
        folder.mkdir()
        fouls = Fray(folder, Random(1000 + seed)).play().fouls
        causes |= {str(foul.cause) for foul in fouls} or {"none"}
    assert causes >= {"none", "timeout", "malformed-message", "disconnected", "illegal-move", "out-of-turn"}
