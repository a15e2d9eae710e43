"""A tournament's file once the tournament has begun."""

from pathlib import Path
from random import Random

from referee.app.tournaments.from_file import read_plan
from referee.submissions.store import CheckOutcome, Store

from ...record.tournaments import Organiser
from ...submissions.receptions import archive

NOW = "2026-05-04T03:02:01.000+00:00"
CUP = """
game = "q"
entrants = ["house:random"]
entrants_from = "in"
[format]
name = "roundrobin"
"""


def hand_in(store: Store, author: str, note: str) -> None:
    """Hand a version in that passes."""
    version, _ = store.hand_in(author, archive(note=note), NOW)
    store.conclude(author, version.number, CheckOutcome(passed=True, report={}), NOW)


def test_a_tournament_plays_the_versions_that_it_began_with(tmp_path: Path) -> None:
    """Whatever is handed in meanwhile; and nobody takes the place of another by a name."""
    store = Store(tmp_path / "in")
    for author in ("ada", "bob"):
        hand_in(store, author, "first")
    file = tmp_path / "cup.toml"
    file.write_text(CUP)
    plan = read_plan(file)
    with Organiser(plan.run_settings.folder, plan.spec, Random(3)) as organiser:
        organiser.play(1)
    hand_in(store, "ada", "second")
    store.close()
    assert read_plan(file).spec == plan.spec
    assert (tmp_path / "in" / "ada" / "note").read_text() == "second"
    (tmp_path / "in" / "ada").unlink()
    (tmp_path / "in" / "ada").symlink_to(tmp_path / "in" / "bob")
    assert read_plan(file).spec != plan.spec
