"""`referee compare` and programs that change: no verdict is taken for that of another program."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from referee.app.comparing import find_place
from referee.record.json_file import BadJsonFile
from referee.record.programs import FILE, read_programs
from referee.record.spec_file import SpecFile, read_spec_file, write_spec_file
from referee.tournament.spec import Participant, TournamentSpec

from ..time_controls import time_control
from .calling import referee

TOML = 'name = "ada"\nrun = "./ada"\n'
OPTIONS = ("--game", "quincy", "--sandbox", "off", "--tables", "2")
TIME = time_control(per_move_ms=1.0, start_ms=1.0)
BASE = "compare-q-random-ada"


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    """Return the folder of a program that never starts, which makes short matches."""
    folder = tmp_path / "ada"
    folder.mkdir()
    (folder / "player.toml").write_text(TOML)
    return folder


def spec(ada: Path, **options: Any) -> TournamentSpec:
    """Return what a comparison of `random` with `ada` is, some hypotheses being other ones."""
    return TournamentSpec(
        name=BASE,
        game="q",
        entrants=(Participant(name="random", player="house:random"), Participant(name="ada", player=str(ada))),
        seats=2,
        format="sprt",
        format_options={"hypotheses": {"elo0": 0.0, "elo1": 20.0, **options}, "max_pairs": 1, "window": 1},
        time=TIME,
    )


def compare(folder: Path, *options: str) -> str:
    """Compare until one does not start, and return all that is said, in one line."""
    done = referee("compare", "house:random", "ada", *OPTIONS, *options, cwd=folder, status=1)
    return " ".join((done.stdout + done.stderr).split())


def founded(folder: Path) -> TournamentSpec:
    """Return what was begun in a folder."""
    founding = read_spec_file(folder)
    assert founding is not None
    return founding.spec


def test_a_changed_program_is_compared_anew(ada: Path) -> None:
    """The same programs are not played again, and when it ended is said; a changed one plays in a folder of its own."""
    folder = ada.parent
    first = folder / "logs" / "compare-quincy-random-ada"
    assert "not decided: ada does not start: failed to start in 3 matches: ada: can't start ./ada" in compare(folder)
    over_at = str((read_programs(first) or pytest.fail("no programs")).over_at)
    said = compare(folder)
    assert (
        f"ended on {over_at[:10]} with the same programs; nothing was played. To play it anew, remove {first}" in said
    )
    (ada / "notes").write_text("better")
    said = compare(folder, "--json")
    assert f"ada has changed since the last comparison (see {first}); a new comparison is begun in {first}-2" in said
    assert json.loads(said[said.rindex('{"a"') :])["records"] == f"{first}-2"
    (ada / "notes").unlink()
    assert find_place(founded(first), folder / "logs").folder == first


def test_one_pair_of_a_program_that_never_starts(ada: Path) -> None:
    """Though it failed too seldom to be suspended, that it does not start is what is said."""
    assert "not decided: ada does not start: failed to start in 2 matches" in compare(ada.parent, "--pairs", "1")


def found(logs: Path, of: TournamentSpec) -> None:
    """Begin a comparison, as far as its folder is concerned."""
    folder = logs / of.name
    folder.mkdir(parents=True)
    write_spec_file(folder, SpecFile(spec=of, salt="00"))


def test_only_the_option_that_differs_is_named(ada: Path, tmp_path: Path) -> None:
    """Other hypotheses are another comparison; what was begun with them before goes on."""
    logs = tmp_path / "logs"
    found(logs, spec(ada))
    place = find_place(spec(ada, elo1=100.0), logs)
    why = "the last comparison of the two was another: elo1 was 20, is 100"
    assert place.notice == f"{why} (see {logs / BASE}); a new comparison is begun in {logs / BASE}-2"
    found(logs, place.spec)
    assert find_place(spec(ada, elo1=100.0), logs).notice == ""
    assert find_place(spec(ada), logs).folder == logs / BASE


def test_how_many_tables_there_are_is_no_matter(ada: Path, tmp_path: Path) -> None:
    """A comparison goes on with more tables as it was begun."""
    logs = tmp_path / "logs"
    found(logs, spec(ada))
    wide = spec(ada)
    wide.format_options["window"] = 8
    place = find_place(wide, logs)
    assert (place.folder, place.spec) == (logs / BASE, spec(ada))


@pytest.mark.forges
@pytest.mark.parametrize(("is_played", "name"), [(False, BASE), (True, f"{BASE}-2")])
def test_of_what_programs_nobody_noted(ada: Path, tmp_path: Path, *, is_played: bool, name: str) -> None:
    """A comparison without a note of its programs goes on if nothing was played in it; else nobody could tell."""
    logs = tmp_path / "logs"
    found(logs, spec(ada))
    if is_played:
        (logs / BASE / f"{BASE}-00001.jsonl").write_text("{}\n")
    place = find_place(spec(ada), logs)
    assert place.folder == logs / name
    assert ("nobody noted which programs" in place.notice) == is_played


def test_a_name_that_is_as_long_as_may_be_gets_its_number(ada: Path, tmp_path: Path) -> None:
    """The number takes the place of the last characters."""
    logs = tmp_path / "logs"
    long = replace(spec(ada), name="x" * 40)
    found(logs, long)
    assert find_place(replace(long, seed=1), logs).spec.name == "x" * 38 + "-2"


def test_a_damaged_note_of_programs_is_told(ada: Path, tmp_path: Path) -> None:
    """What to do stands in the error."""
    logs = tmp_path / "logs"
    found(logs, spec(ada))
    (logs / BASE / FILE).write_text("{")
    with pytest.raises(BadJsonFile, match="remove it, and changes of programs are told from then on"):
        find_place(spec(ada), logs)
