"""`referee report`: what is written where, what is told, and what is refused."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from referee.cli.main import main

from ..pages.tournaments import Cast, Stage, spec

FILES = {"report.html", "standings.csv", "crosstable.csv", "matches.csv", "fouls.csv", "tournament.json", "matches.txt"}
FILES |= {"matches.pgn", "tournament.trf"}


def run(*arguments: str | Path, status: int = 0) -> Result:
    """Run the command, its records read in this process unless said otherwise, and check its exit status."""
    jobs = () if "--jobs" in arguments else ("--jobs", "1")
    done = CliRunner(env={"COLUMNS": "300"}).invoke(main, ["report", *map(str, arguments), *jobs])
    assert status == done.exit_code, done.output
    return done


def words(text: str) -> str:
    """Return a complaint without its frame and its line ends."""
    return " ".join(text.replace("│", " ").split())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Give the folder of a tournament of more records than are read in one process."""
    cast = Cast(cheats={1: 1}, dead=frozenset({5}), void=frozenset({3}))
    return Stage(spec(7, "roundrobin"), tmp_path_factory.mktemp("made") / "cup", cast).play()


@pytest.fixture
def cup(made: Stage, tmp_path: Path) -> Path:
    """Give a copy of the folder, to be spoilt."""
    return Path(shutil.copytree(made.folder, tmp_path / "cup"))


def test_everything_goes_into_the_folder(cup: Path, made: Stage) -> None:
    """Page, tables, object, moves and the pages of fouls; the standings and the paths are told."""
    before = {path.name for path in cup.iterdir()}
    text = run(cup).stdout
    assert {path.name for path in cup.iterdir()} - before == {*FILES, "entrants", "replays"}
    assert f"cup is over: {made.tournament.played} matches, 4 given up, 1 void" in text
    (gone,) = made.tournament.suspended
    assert f" {made.spec.entrants[gone].name} (suspended) " in text
    assert text.count("suspended") == 1
    assert f"report: {cup / 'report.html'}" in text
    assert "bot00" in text
    worth = {entry.match for entry in made.entries if entry.fouls or entry.void}
    assert {path.stem for path in (cup / "replays").iterdir()} == worth


def test_the_same_records_make_the_same_files(cup: Path) -> None:
    """However many processes read them, and whatever was written before."""
    run(cup)
    once = {name: (cup / name).read_bytes() for name in FILES}
    shutil.rmtree(cup / "replays")
    command = [sys.executable, "-m", "referee", "report", str(cup), "--jobs", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.startswith("cup is over")
    assert once == {name: (cup / name).read_bytes() for name in FILES}


def test_json_and_places_of_ones_own(cup: Path, made: Stage, tmp_path: Path) -> None:
    """Each kind of file goes where it is told to; one object says where, and how it stands."""
    where = ("--html", tmp_path / "a.html", "--csv", tmp_path / "tables", "--pgn", tmp_path / "a.txt")
    found: Any = json.loads(run(cup, "--json", "--replays", "none", *where).stdout)
    assert found["written"] == {
        "html": str(tmp_path / "a.html"),
        "csv": [str(tmp_path / "tables" / f"{name}.csv") for name in ("standings", "crosstable", "matches", "fouls")],
        "json": str(cup / "tournament.json"),
        "pgn": str(tmp_path / "a.txt"),
        "games": str(cup / "matches.pgn"),
        "trf": str(cup / "tournament.trf"),
        "replays": 0,
    }
    assert (found["played"], found["void"], found["unfinished"]) == (made.tournament.played, 1, 0)
    assert len(found["standings"]) == 7
    assert not (cup / "report.html").exists()
    assert (tmp_path / "tables" / "standings.csv").is_file()


def test_a_running_tournament(cup: Path, made: Stage) -> None:
    """Matches that go on, or have hardly begun, are counted and left out; records of others are none of it."""
    last = cup / f"{made.entries[-1].match}.jsonl"
    last.write_bytes(b"".join(last.read_bytes().splitlines(keepends=True)[:4]))
    (cup / "cup-09999.jsonl").write_bytes(b"")
    found = json.loads(run(cup, "--json", "--replays", "none").stdout)
    assert (found["is_over"], found["unfinished"]) == (False, 2)
    assert found["played"] == made.tournament.played - 1
    (cup / "cup-09999.jsonl").unlink()


@pytest.mark.forges
def test_a_record_that_does_not_hold(cup: Path, made: Stage) -> None:
    """Status 1; the record and its line are named, and no report is written."""
    path = cup / f"{made.entries[0].match}.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"at_ms":', b'"at_ms": ', 1))
    told = run(cup, status=1).stderr
    assert f"{path}, line 2: expected" in told
    assert f"referee audit {cup}" in told
    assert not (cup / "report.html").exists()


def test_a_record_that_is_missing(cup: Path, made: Stage) -> None:
    """Status 1; it is told between which matches a record is missing, and no report is written."""
    (cup / f"{made.entries[2].match}.jsonl").unlink()
    told = run(cup, status=1).stderr
    assert "missing" in told
    assert made.entries[1].match in told
    assert not (cup / "report.html").exists()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "there is no spec.json in"),
        ("{", "truncated"),
        ('{"spec": {}, "salt": "00"}', "missing required field `name`"),
    ],
)
def test_a_folder_without_a_spec(tmp_path: Path, content: str | None, complaint: str) -> None:
    """Status 2, and a sentence that says what the folder lacks."""
    if content is not None:
        (tmp_path / "spec.json").write_text(content)
    assert complaint in words(run(tmp_path, status=2).stderr)


def test_a_spec_that_was_changed(cup: Path) -> None:
    """A format, a tie-break or a salt that there is not is named, whoever wrote it there."""
    path = cup / "spec.json"
    whole = path.read_text()
    for old, new, complaint in (
        ("roundrobin", "robin", "there is no pairing format 'robin'"),
        ("buchholz", "holz", "no tie-break 'holz'"),
        ("5a5a", "xyxy", "- at `$.salt`"),
    ):
        path.write_text(whole.replace(old, new))
        assert complaint in words(run(cup, status=2).stderr)
