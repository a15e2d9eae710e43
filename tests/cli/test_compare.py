"""`referee compare` with programs that change: no verdict is reused for another program."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from referee.app.tournaments.beginning import hash_programs
from referee.cli.commands.compare import find_place
from referee.record.reader import RecordError
from referee.record.tournament_record import TournamentWriter, read_start, read_tournament, record_path
from referee.tournament.spec import Participant, TournamentSpec

from ..record.records import SEALER
from ..time_controls import time_control
from ..tournament.playing import AT, SALT
from .calling import referee

TOML = 'name = "ada"\nrun = "./ada"\n'
OPTIONS = ("--game", "quincy", "--sandbox", "off", "--tables", "2")
TIME = time_control(per_move_ms=1.0, start_ms=1.0)
BASE = "compare-q-random-ada"


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    """Return the folder of a program that never starts, so matches are short."""
    folder = tmp_path / "ada"
    folder.mkdir()
    (folder / "player.toml").write_text(TOML)
    return folder


def spec(ada: Path, **options: Any) -> TournamentSpec:
    """Return the spec of a comparison of `random` with `ada`, perhaps with other hypotheses."""
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
    """Compare until one does not start, and return the output in one line."""
    done = referee("compare", "house:random", "ada", *OPTIONS, *options, cwd=folder, status=1)
    return " ".join((done.stdout + done.stderr).split())


def founded(folder: Path) -> TournamentSpec:
    """Return the spec of the comparison that was begun in a folder."""
    begun = read_start(folder)
    assert begun is not None
    return begun.spec


def test_the_options_of_the_run_hold_for_each_match(ada: Path) -> None:
    """The comparison and the records of its matches have the memory limit and the durability that were asked for."""
    compare(ada.parent, "--memory", "300", "--durability", "turn")
    folder = ada.parent / "logs" / "compare-quincy-random-ada"
    assert (founded(folder).memory_mib, founded(folder).durability) == (300, "turn")
    headers = [path.read_text().partition("\n")[0] for path in folder.glob("compare-*-0*.jsonl")]
    assert headers
    assert all('"durability":"turn"' in header for header in headers)


def test_a_changed_program_is_compared_anew(ada: Path) -> None:
    """Unchanged programs are not played again, and their verdict is printed. A changed one gets a new folder."""
    folder = ada.parent
    first = folder / "logs" / "compare-quincy-random-ada"
    assert "not decided: ada does not start: failed to start in 3 matches: ada: can't start ./ada" in compare(folder)
    referee("audit", str(first))
    over_at = read_tournament(record_path(first, first.name)).transitions[-1].event.at
    said = compare(folder)
    assert (
        f"ended on {over_at[:10]} with the same programs; nothing was played. To play it again, remove {first}" in said
    )
    (ada / "notes").write_text("better")
    said = compare(folder, "--json")
    assert f"ada has changed since the last comparison (see {first}); a new comparison begins in {first}-2" in said
    assert json.loads(said[said.rindex('{"version"') :])["records"] == f"{first}-2"
    (ada / "notes").unlink()
    assert find_place(founded(first), folder / "logs").folder == first


def test_one_pair_of_a_program_that_never_starts(ada: Path) -> None:
    """Even if it failed too seldom to be suspended, the output says that it does not start."""
    assert "not decided: ada does not start: failed to start in 2 matches" in compare(ada.parent, "--pairs", "1")


def found(logs: Path, of: TournamentSpec) -> None:
    """Write the files of a comparison that has begun."""
    with closing(TournamentWriter(record_path(logs / of.name, of.name), SEALER)) as writer:
        writer.write_header(of, SALT, hash_programs(of.entrants), referee="0.0", opened=AT)


def test_only_the_option_that_differs_is_named(ada: Path, tmp_path: Path) -> None:
    """Other hypotheses are another comparison; an earlier one with them is continued."""
    logs = tmp_path / "logs"
    found(logs, spec(ada))
    place = find_place(spec(ada, elo1=100.0), logs)
    why = "the last comparison of the two had other options: elo1 was 20, now it is 100"
    assert place.notice == f"{why} (see {logs / BASE}); a new comparison begins in {logs / BASE}-2"
    found(logs, place.spec)
    assert find_place(spec(ada, elo1=100.0), logs).notice == ""
    assert find_place(spec(ada), logs).folder == logs / BASE


def test_how_many_tables_there_are_is_no_matter(ada: Path, tmp_path: Path) -> None:
    """A comparison that was begun can be continued with more tables."""
    logs = tmp_path / "logs"
    found(logs, spec(ada))
    wide = spec(ada)
    wide.format_options["window"] = 8
    place = find_place(wide, logs)
    assert (place.folder, place.spec) == (logs / BASE, spec(ada))


def test_a_name_that_is_as_long_as_may_be_gets_its_number(ada: Path, tmp_path: Path) -> None:
    """The number replaces the last characters."""
    logs = tmp_path / "logs"
    long = replace(spec(ada), name="x" * 40)
    found(logs, long)
    assert find_place(replace(long, seed=1), logs).spec.name == "x" * 38 + "-2"


def test_a_damaged_record_is_told(ada: Path, tmp_path: Path) -> None:
    """No comparison is begun next to one with an unreadable record."""
    logs = tmp_path / "logs"
    found(logs, spec(ada))
    path = record_path(logs / BASE, BASE)
    path.write_bytes(path.read_bytes().replace(b'"salt"', b'"SALT"'))
    with pytest.raises(RecordError, match=f"{BASE}.jsonl: expected the record of a tournament"):
        find_place(spec(ada), logs)
    path.unlink()
