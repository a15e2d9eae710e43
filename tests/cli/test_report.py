"""`referee report`: its files, its output, and its errors."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from referee.cli.main import main
from referee.record.tournament_record import TournamentWriter
from referee.tournament import events as e

from .. import warm
from ..pages.tournaments import AT, SALT, Cast, Stage, spec
from ..record.records import SEALER

FILES = {"report.html", "standings.csv", "crosstable.csv", "matches.csv", "fouls.csv", "tournament.json", "matches.txt"}
FILES |= {"matches.html", "matches.pgn", "tournament.trf", "tournament.sqlite"}


def run(*arguments: str | Path, status: int = 0) -> Result:
    """Run the command, by default reading the records in this process, and check its exit status."""
    jobs = () if "--jobs" in arguments else ("--jobs", "1")
    done = CliRunner(env={"COLUMNS": "300"}).invoke(main, ["report", *map(str, arguments), *jobs])
    assert status == done.exit_code, done.output
    return done


def words(text: str) -> str:
    """Return an error message without its frame and its line ends."""
    return " ".join(text.replace("│", " ").split())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Return the folder of a tournament with more records than one process reads."""
    cast = Cast(cheats={1: 1}, dead=frozenset({5}), void=frozenset({3}))
    return Stage(spec(7, "roundrobin"), tmp_path_factory.mktemp("made") / "cup", cast).play()


@pytest.fixture
def cup(made: Stage, tmp_path: Path) -> Path:
    """Return a copy of the folder, which a test may spoil."""
    return Path(shutil.copytree(made.folder, tmp_path / "cup"))


def test_everything_goes_into_the_folder(cup: Path, made: Stage) -> None:
    """The folder gets page, tables, object, moves and the pages of fouls; the standings and the paths are printed."""
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
    assert {path.stem for path in (cup / "replays").iterdir()} == worth | {"verify", "replay"}


@pytest.mark.forges
def test_a_quick_report_reads_no_record_of_a_match(cup: Path, made: Stage) -> None:
    """It has all that the tournament's own record says, even of a match whose record does not hold."""
    names = [line["name"] for line in json.loads(run(cup, "--json").stdout)["standings"]]
    assert 'id="time"' in (cup / "report.html").read_text()
    record = cup / f"{made.entries[0].match}.jsonl"
    record.write_bytes(record.read_bytes().replace(b"\n", b"\n{}\n", 1))
    run(cup, status=1)
    told = json.loads(run(cup, "--quick", "--json").stdout)
    assert [line["name"] for line in told["standings"]] == names
    assert 'id="time"' not in (cup / "report.html").read_text()


def test_progress_is_printed_as_lines(cup: Path, made: Stage) -> None:
    """The last of them says that all records are read; the object with what was written comes last."""
    *lines, last = run(cup, "--json", "--progress", "--replays", "none").stdout.splitlines()
    count = len(made.entries)
    assert json.loads(lines[-1]) == {"records_read": count, "records": count}
    assert json.loads(last)["tournament"] == "cup"


def contents(folder: Path) -> dict[str, Any]:
    """Return the content of a report's files; a database counts its changes, so its rows are compared."""
    told: dict[str, Any] = {name: (folder / name).read_bytes() for name in FILES if not name.endswith(".sqlite")}
    with closing(sqlite3.connect(folder / "tournament.sqlite")) as database:
        return told | {"rows": sorted(database.iterdump())}


def test_the_same_records_make_the_same_files(cup: Path) -> None:
    """The number of processes and earlier files make no difference."""
    run(cup)
    once = contents(cup)
    shutil.rmtree(cup / "replays")
    done = warm.run(["report", str(cup), "--jobs", "2"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("cup is over")
    assert once == contents(cup)


def test_json_and_places_of_ones_own(cup: Path, made: Stage, tmp_path: Path) -> None:
    """Each kind of file goes to its option's place; one object has the paths and the standings."""
    where = ("--html", tmp_path / "a.html", "--csv", tmp_path / "tables", "--pgn", tmp_path / "a.txt")
    found: Any = json.loads(run(cup, "--json", "--replays", "none", *where).stdout)
    assert found["written"] == {
        "html": str(tmp_path / "a.html"),
        "csv": [str(tmp_path / "tables" / f"{name}.csv") for name in ("standings", "crosstable", "matches", "fouls")],
        "json": str(cup / "tournament.json"),
        "pgn": str(tmp_path / "a.txt"),
        "games": str(cup / "matches.pgn"),
        "trf": str(cup / "tournament.trf"),
        "database": str(cup / "tournament.sqlite"),
        "replays": 0,
    }
    assert (found["played"], found["void"], found["unfinished"]) == (made.tournament.played, 1, 0)
    assert len(found["standings"]) == 7
    assert not (cup / "report.html").exists()
    assert (tmp_path / "tables" / "standings.csv").is_file()


def test_a_running_tournament(tmp_path: Path) -> None:
    """Matches that are running or have hardly begun are counted and left out; a torn last line is ignored."""
    stage = Stage(spec(6, "roundrobin"), tmp_path / "cup")
    first, second, third, *_ = stage.tournament.fixtures()
    stage.play_one(first)
    for fixture in (second, third):
        stage.take(e.MatchOpened(at=AT, fixture=fixture))
    (stage.folder / f"{second.match}.jsonl").write_bytes(b'{"n":0,')
    with (stage.folder / "cup.jsonl").open("ab") as file:
        file.write(b'{"n":')
    found = json.loads(run(stage.folder, "--json", "--replays", "none").stdout)
    assert (found["is_over"], found["unfinished"], found["played"]) == (False, 2, 1)
    (stage.folder / f"{second.match}.jsonl").unlink()


@pytest.mark.forges
def test_a_record_that_does_not_hold(cup: Path, made: Stage) -> None:
    """The status is 1, the record and its line are named, and no report is written."""
    path = cup / f"{made.entries[0].match}.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"at_ms":', b'"at_ms": ', 1))
    told = run(cup, status=1).stderr
    assert f"{path}, line 1: expected" in told
    assert f"referee audit {cup}" in told
    assert not (cup / "report.html").exists()


def test_a_record_that_is_missing(cup: Path, made: Stage) -> None:
    """The tournament's record has its result, and so has the report; an audit reports the missing file."""
    match = made.entries[2].match
    (cup / f"{match}.jsonl").unlink()
    run(cup)
    assert match in (cup / "matches.csv").read_text()


def test_a_folder_without_a_tournament(tmp_path: Path) -> None:
    """The status is 2, and a sentence says what the folder lacks."""
    (tmp_path / "notes.jsonl").write_text("{}\n")
    assert "holds no tournament: there is no record of one in it" in words(run(tmp_path, status=2).stderr)
    (tmp_path / "notes.jsonl").unlink()


@pytest.mark.forges
@pytest.mark.parametrize(
    ("more", "status", "complaint"),
    [
        ({"form": "chess"}, 2, "there is no pairing format 'chess'"),
        ({"tie_breaks": ("holz",)}, 2, "no tie-break 'holz'"),
        ({"format_options": {"laps": 3}}, 2, "it knows: rounds"),
    ],
)
def test_a_tournament_that_could_not_be_played_here(
    tmp_path: Path, more: dict[str, Any], status: int, complaint: str
) -> None:
    """A format or a tie-break that is not installed is named."""
    with closing(TournamentWriter(tmp_path / "cup.jsonl", SEALER)) as writer:
        writer.write_header(spec(4, **more), SALT, {}, referee="0.0", opened=AT)
        writer.seal()
    assert complaint in words(run(tmp_path, status=status).stderr)
