"""A tournament on hosts with networks of their own, some of which crash; the benchmark `hosts` has worse failures."""

from pathlib import Path

import pytest

from ..net.tournaments.playing import audit, run
from .hosts import KEEPER, can_make_networks, farm
from .troubles import Endured, Trouble, results, voided

TOML = """\
name = "cup"
game = "q"
seed = 6
tables = 4
sandbox = "off"
{entrants}
[format]
name = "roundrobin"
"""
TROUBLES = (
    Trouble(after=1, what="kill", host="host1"),
    Trouble(after=2, what="kill", host=KEEPER),
)


def write(folder: Path) -> Path:
    """Write the file of a tournament, and return its path."""
    players = ("dag", "ldasg")
    entrants = "".join(
        f'[[entrants]]\nname = "p{number}"\nplayer = "house:{players[number % 2]}"\n' for number in range(4)
    )
    folder.mkdir()
    path = folder / "cup.toml"
    path.write_text(TOML.format(entrants=entrants))
    return path


@pytest.mark.needs("ip")
@pytest.mark.skipif(not can_make_networks(), reason="this machine lets nobody make networks")
@pytest.mark.long
def test_hosts_that_fail_change_no_result(tmp_path: Path) -> None:
    """Every result counts once, and is that of one machine with the same seed; nobody is blamed."""
    calm = write(tmp_path / "calm")
    run(calm)
    with farm(tmp_path, (1, 1)) as found:
        endured = Endured(found, write(tmp_path / "wild"))
        endured.run(TROUBLES)
    assert results(endured.record) == results(calm.parent / "logs" / "cup" / "cup.jsonl")
    assert audit(endured.record.parent) == ""
    assert all("its host" in why for why in voided(endured.record))
