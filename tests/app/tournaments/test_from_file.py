"""A tournament's file after the tournament has begun."""

import shutil
from pathlib import Path
from random import Random

import pytest

from referee.app.tournaments.beginning import load_or_begin
from referee.app.tournaments.from_file import read_plan
from referee.errors import BadRequest
from referee.observers import Observers
from referee.plugins import installed
from referee.web.submissions.store import CheckOutcome, Store

from ...record.records import SEALER
from ...record.tournaments import Organiser
from ...web.submissions.receptions import archive

NOW = "2026-05-04T03:02:01.000+00:00"
CUP = """
game = "q"
entrants = ["house:random"]
entrants_from = "in"
[format]
name = "roundrobin"
"""


def hand_in(store: Store, author: str, note: str) -> None:
    """Hand in a version that passes the check."""
    version, _ = store.hand_in(author, archive(note=note), NOW)
    store.conclude(author, version.number, CheckOutcome(passed=True, report={}), NOW)


def test_a_tournament_plays_the_versions_that_it_began_with(tmp_path: Path) -> None:
    """Versions that are handed in later do not change it, and no entrant can take another's place by a name."""
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


LONG = "abcdefghijklmnopqrstuvwxyz"


def begin(file: Path, folders: tuple[str, ...], rest: str = "") -> None:
    """Write the file of a tournament with players of a folder, and begin it."""
    file.write_text(f'{rest}game = "q"\nentrants_from = "in"\n[format]\nname = "roundrobin"\n')
    add(file, *folders)
    plan = read_plan(file)
    with Organiser(plan.run_settings.folder, plan.spec, Random(3)) as organiser:
        organiser.play(1)


def add(file: Path, *folders: str) -> None:
    """Make players' folders."""
    for name in folders:
        folder = file.parent / "in" / name
        folder.mkdir(parents=True)
        (folder / "player.toml").write_text('name = "p"\nrun = "true"\n')


def names_of(file: Path) -> dict[str, str]:
    """Return the entrants' names by the names of their folders, or by their form."""
    return {Path(entrant.player).name: entrant.name for entrant in read_plan(file).spec.entrants}


@pytest.mark.parametrize(
    ("before", "late"),
    [
        ((f"{LONG}1", "plain"), (f"{LONG}0", f"{LONG}2")),
        (("j\u00fcrgen", "plain"), ("jurgen", "jürgén")),
        (("\u5f20", "\u738b"), ("\u4e00", "\u9648", "player")),
        ((f"{LONG}1", f"{LONG}2", "abcdefghijklmnopqrst"), ("abcdefghijklmnopqrs1", f"{LONG}0")),
        (("a.b", "c"), ("ab", "a b", "_ab")),
    ],
)
def test_a_name_once_given_stays(tmp_path: Path, before: tuple[str, ...], late: tuple[str, ...]) -> None:
    """If folders are added, the entrants that play keep their names, and the new ones get others."""
    file = tmp_path / "cup.toml"
    begin(file, before)
    names = names_of(file)
    for count, folder in enumerate(late, len(before) + 1):
        add(file, folder)
        now = names_of(file)
        assert names == {folder: now[folder] for folder in before}
        assert len(set(now.values())) == count


def test_a_house_player_keeps_its_name_when_it_is_listed_again(tmp_path: Path) -> None:
    """Names that were made for players without a name are kept, too."""
    file = tmp_path / "cup.toml"
    begin(file, ("a",), 'entrants = ["house:dag"]\n')
    field = read_plan(file).spec.entrants
    file.write_text(file.read_text().replace('["house:dag"]', '["house:dag", "house:dag"]'))
    now = read_plan(file).spec.entrants
    assert (*field, "dag1") == (*now[:2], now[2].name)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("seed = 4\n", "seed was not given, is 4"),
        (
            'entrants = ["house:dag", "house:greedy"]\n',
            "a and b are no longer among the entrants, dag and greedy are new among them",
        ),
        ('entrants = [{player = "in/a", rating = 7}, "in/b"]\n', "a is given another program or rating"),
    ],
)
def test_a_refusal_is_a_sentence(tmp_path: Path, change: str, complaint: str) -> None:
    """The error describes the difference in words, and no text is cut off."""
    file = tmp_path / "cup.toml"
    begin(file, ("a", "b"))
    text = file.read_text()
    file.write_text(change + (text.replace('entrants_from = "in"\n', "") if "entrants" in change else text))
    plan = read_plan(file)
    with pytest.raises(BadRequest) as caught:
        load_or_begin(plan.run_settings.folder, plan.spec, installed().format("roundrobin"), SEALER, Observers())
    assert complaint in str(caught.value)
    assert not set("{}()'") & set(str(caught.value).removeprefix(str(plan.run_settings.folder)))


def test_a_refusal_names_those_alone_that_are_gone(tmp_path: Path) -> None:
    """The message names a folder that was removed, and not the folders after it."""
    file = tmp_path / "cup.toml"
    begin(file, ("a", "b", "c", "d"))
    (tmp_path / "in" / "b").rename(tmp_path / "in" / "e")
    shutil.copytree(tmp_path / "in" / "e", tmp_path / "in" / "f")
    plan = read_plan(file)
    with pytest.raises(BadRequest) as caught:
        load_or_begin(plan.run_settings.folder, plan.spec, installed().format("roundrobin"), SEALER, Observers())
    assert "began differently: b is no longer among the entrants, e and f are new among them;" in str(caught.value)
