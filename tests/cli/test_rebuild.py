"""`referee rebuild`: the ledger comes out of the record as the referee had kept it, or what does not hold is named."""

import gc
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from referee.app.tournaments.conducting import locked
from referee.cli.main import main
from referee.ledger.ledger import FILE, Ledger, url_of
from referee.record.seal import Sealer
from tests.ledger.ledgers import KEY, SPEC, course, rows, taken, write_record
from tests.ledger.postgresql import new_schema
from tests.tournament.courses import SALT

NAME = "cup"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a tournament that was played, and its ledger as the referee kept it."""
    folder = tmp_path / "logs"
    record = write_record(folder, SPEC, course())
    steps = [
        replace(step, hash=record.chain.lines[step.line].hash, event=line.event)
        for step, line in zip(course(), record.steps, strict=True)
    ]
    with closing(Ledger(url_of(folder / FILE))) as ledger, ledger.at_once():
        ledger.found(SPEC, SALT, KEY)
        taken(ledger, steps)
    return folder


def rebuilt(*arguments: Any, status: int = 0) -> str:
    """Run the command in this process, and return what it printed."""
    done = CliRunner().invoke(main, ["rebuild", *map(str, arguments)])
    gc.enable()  # the command has no use for it, the tests have
    assert status == done.exit_code, done.output
    return " ".join(done.output.replace("│", " ").split())


def dump(path: Path) -> list[Any]:
    """Return what a ledger says of the tournament."""
    with closing(Ledger(url_of(path))) as ledger:
        return list(ledger.rows(NAME))


def test_a_ledger_comes_out_as_it_was_kept(folder: Path) -> None:
    """Row for row, times of day included: all of it follows from the record."""
    before = dump(folder / FILE)
    (folder / FILE).unlink()
    told = json.loads(rebuilt(folder, "--json"))
    assert dump(folder / FILE) == before
    assert (told["events"], told["open"], told["is_over"]) == (len(course()), 0, True)
    with closing(Ledger(url_of(folder / FILE))) as ledger:
        assert told["matches"] == len(rows(ledger, "results")) - len(rows(ledger, "supersessions"))
    assert [line["name"] for line in told["standings"] if line["has_withdrawn"]] == ["e3"]
    assert [path.name for path in folder.glob(f"{FILE}*")] == [FILE]


def test_the_standings_are_printed(folder: Path) -> None:
    """For people, as the table that the report has, with where the ledger is."""
    told = rebuilt(folder)
    assert "# entrant points" in " ".join(told.replace("┃", " ").split())
    assert f"{FILE}: {len(course())} events" in told


def test_other_tournaments_of_the_ledger_are_kept(folder: Path) -> None:
    """The ledger that takes the place of the old one has them, too."""
    with closing(Ledger(url_of(folder / FILE))) as ledger, ledger.at_once():
        ledger.found(replace(SPEC, name="other"), SALT, KEY)
        taken(ledger, course("other"), "other")
        before = list(ledger.rows("other"))
    rebuilt(folder)
    with closing(Ledger(url_of(folder / FILE))) as ledger:
        assert list(ledger.rows("other")) == before


def _cut_off(folder: Path) -> int:
    """Let the referee have died in the middle of a line, while a match was played; return how many events are left."""
    path = folder / f"{NAME}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:5]) + lines[5][:20])
    return 4


def test_a_match_that_is_not_over_is_open(folder: Path) -> None:
    """A record may break off anywhere."""
    events = _cut_off(folder) - 1  # the third opens a match, the fourth closes it
    path = folder / f"{NAME}.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:4]))
    told = json.loads(rebuilt(folder, "--json"))
    assert (told["events"], told["matches"], told["open"], told["is_over"]) == (events, 0, 1, False)
    assert "3 events, 1 match not over" in rebuilt(folder)


def _changed(old: bytes, new: bytes) -> Callable[[Path], None]:
    def _change(folder: Path) -> None:
        path = folder / f"{NAME}.jsonl"
        content = path.read_bytes()
        assert old in content
        path.write_bytes(content.replace(old, new, 1))

    return _change


def _signed(first: int = 0, **changes: Any) -> Callable[[Path], None]:
    """Return what signs another record, with another spec or without the first steps."""

    def _sign(folder: Path) -> None:
        (folder / f"{NAME}.jsonl").unlink()
        write_record(folder, replace(SPEC, **changes), course()[first:])

    return _sign


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "changed": (_changed(b'"late"', b'"lata"'), "cup.jsonl, line"),
    "no record": (lambda folder: (folder / f"{NAME}.jsonl").unlink(), "holds no tournament"),
    "a match less": (_signed(first=3), "expected an event that can happen then"),
    "other commands": (_signed(tie_breaks=("wins",)), "expected commands"),
    "another format": (_signed(format="chess"), "there is no pairing format 'chess'"),
    "options that there are not": (_signed(format_options={"cycle": 3}), "cycle"),
    "a tie-break that there is not": (_signed(tie_breaks=("age",)), "no tie-break 'age'"),
}


@pytest.mark.forges
@pytest.mark.parametrize(("change", "complaint"), BROKEN.values(), ids=BROKEN.keys())
def test_what_does_not_hold_is_named(folder: Path, change: Callable[[Path], object], complaint: str) -> None:
    """The old ledger stays, and no half-made one is left."""
    before = dump(folder / FILE)
    change(folder)
    told = rebuilt(folder, status=2 if complaint.startswith("holds no") else 1)
    assert complaint in told
    assert "Traceback" not in told
    assert dump(folder / FILE) == before
    assert [path.name for path in folder.glob(f"{FILE}*")] == [FILE]


def test_only_a_record_of_the_demanded_key_is_taken(folder: Path) -> None:
    """Whoever forged the record could have signed it with a key of his own, or not at all."""
    rebuilt(folder, "--key", KEY)
    assert "expected key" in rebuilt(folder, "--key", Sealer.new().public, status=1)
    assert "neither a public key" in rebuilt(folder, "--key", "nonsense", status=2)
    _cut_off(folder)
    assert "expected a seal" in rebuilt(folder, "--key", KEY, status=1)
    rebuilt(folder)


def test_a_tournament_that_is_run_is_left_alone(folder: Path) -> None:
    """Its referee goes on writing to the ledger."""
    with locked(folder):
        assert "another referee" in rebuilt(folder, status=2)


def test_a_ledger_that_is_in_use_is_not_replaced(folder: Path) -> None:
    """Another process that has it open would go on writing to what nobody reads any more."""
    with closing(Ledger(url_of(folder / FILE))) as ledger, ledger._reading():
        assert "another process" in rebuilt(folder, status=1)


def test_a_damaged_ledger_is_put_aside_first(folder: Path) -> None:
    """It may have held other tournaments, so it is not thrown away."""
    (folder / FILE).write_text("nonsense " * 1000)
    assert "move it away" in rebuilt(folder, status=1)
    (folder / FILE).rename(folder / "damaged")
    rebuilt(folder)


def test_a_ledger_is_made_elsewhere(folder: Path, tmp_path: Path, postgresql: str) -> None:
    """In a file, or in a PostgreSQL that does not have the tournament yet."""
    rebuilt(folder, "--ledger", tmp_path / "elsewhere")
    assert dump(tmp_path / "elsewhere") == dump(folder / FILE)
    url = new_schema(postgresql)
    rebuilt(folder, "--ledger", url)
    with closing(Ledger(url)) as ledger:
        assert list(ledger.rows(NAME)) == dump(folder / FILE)
    assert "has the tournament 'cup' already" in rebuilt(folder, "--ledger", url, status=1)
