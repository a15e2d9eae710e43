"""`referee rebuild`: the ledger comes out of the record as the referee had kept it, or what does not hold is named."""

import gc
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from referee.cli.main import main
from referee.ledger.ledger import FILE, Ledger, url_of
from referee.record.seal import Sealer
from referee.record.tournament_record import TournamentStep, TournamentWriter, path_of, read_tournament
from referee.tournament import events as e
from referee.tournament.spec import Participant
from tests.ledger.postgresql import new_schema
from tests.record.records import SEALER
from tests.record.tournaments import Organiser, cup
from tests.tournament.courses import AT

NAME = "cup"
Plain = dict[str, Any]
Change = Callable[[Plain, list[Any]], object]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a Swiss in which much was decided, and its ledger as the referee kept it."""
    folder = tmp_path_factory.mktemp("played")
    with Organiser(folder, cup(5), Random(1), has_ledger=True) as organiser:
        organiser.play(2)
        organiser.rule("withdraw", entrant="e4")
        late = Participant(name="late", player="house:dag")
        organiser.recorder.take(e.EntrantJoined(at=AT, participant=late, digest=None))
        organiser.rule("replay", match=f"{NAME}-00001")
        organiser.finish()
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Iterator[Path]:
    """Return a copy of that folder; the records that a test leaves there are not audited once more."""
    copied = tmp_path / "logs"
    shutil.copytree(played, copied)
    yield copied
    shutil.rmtree(copied)


def rebuilt(*arguments: Any, status: int = 0) -> str:
    """Run the command in this process, and return what it printed."""
    done = CliRunner().invoke(main, ["rebuild", *map(str, arguments)])
    gc.enable()  # the command has no use for it, the tests have
    assert status == done.exit_code, done.output
    return " ".join(done.output.replace("│", " ").split())


def dump(path: Path | str, name: str = NAME) -> list[Any]:
    """Return what a ledger says of a tournament."""
    with closing(Ledger(url_of(path) if isinstance(path, Path) else path)) as ledger:
        return list(ledger.rows(name))


def record_of(folder: Path) -> Path:
    """Return the tournament's record."""
    return path_of(folder, NAME)


def test_a_ledger_comes_out_as_it_was_kept(folder: Path) -> None:
    """Results, rulings, who joined, what does not count: all of it follows from the record."""
    before = dump(folder / FILE)
    (folder / FILE).unlink()
    told = json.loads(rebuilt(folder, "--json"))
    assert dump(folder / FILE) == before
    assert {row[0] for row in before} >= {"suspensions", "supersessions", "rulings", "byes", "standings"}
    record = read_tournament(record_of(folder))
    closed = sum(isinstance(step.event, e.MatchClosed) for step in record.steps)
    assert (told["events"], told["matches"], told["open"], told["is_over"]) == (len(record.steps), closed - 1, 0, True)
    assert {line["name"] for line in told["standings"]} == {"e0", "e1", "e2", "e3", "e4", "late"}
    assert [line["name"] for line in told["standings"] if line["has_withdrawn"]] == ["e4"]
    assert [path.name for path in folder.glob(f"{FILE}*")] == [FILE]


def test_the_standings_are_printed(folder: Path) -> None:
    """For people, as the table that the report has, with where the ledger is."""
    told = rebuilt(folder)
    assert "# entrant points" in " ".join(told.replace("┃", " ").split())
    assert "late" in told
    assert f"{FILE}: {len(read_tournament(record_of(folder)).steps)} events" in told


def test_other_tournaments_of_the_ledger_are_kept(folder: Path) -> None:
    """The ledger that takes the place of the old one has them, too."""
    other = replace(cup(5), name="other")
    with closing(Ledger(url_of(folder / FILE))) as ledger:
        ledger.found(other, "0f" * 16, SEALER.public)
    before = dump(folder / FILE, "other")
    rebuilt(folder)
    assert dump(folder / FILE, "other") == before != []


def test_a_match_that_is_not_over_is_open(tmp_path: Path) -> None:
    """A tournament whose referee died is taken as far as its record goes, a torn last line left out."""
    organiser = Organiser(tmp_path, cup(4), Random(2))
    organiser.play(1, at_once=1)
    context = organiser.recorder.open(organiser.due()[0])
    organiser.record_match(context)
    organiser.writer.close()
    with record_of(tmp_path).open("ab") as file:
        file.write(b'{"n":9,"prev')
    told = json.loads(rebuilt(tmp_path, "--json"))
    assert (told["matches"], told["open"], told["is_over"]) == (1, 1, False)
    assert "1 match not over" in rebuilt(tmp_path)
    assert "expected a seal" in rebuilt(tmp_path, "--key", SEALER.public, status=1)


def resigned(change: Change, sealer: Sealer = SEALER) -> Callable[[Path], None]:
    """Return what puts another record in the place of one, signed by the same key, and with a chain that holds."""

    def _rewrite(folder: Path) -> None:
        record = read_tournament(record_of(folder))
        header, steps = msgspec.to_builtins(record.header), [_plain(step) for step in record.steps]
        change(header, steps)
        record_of(folder).unlink()
        with closing(TournamentWriter(record_of(folder), sealer)) as writer:
            writer.write("tournament", **_body(header))
            for step in steps:
                writer.write("tournament-step", **step)
            writer.write_seal()

    return _rewrite


def _plain(step: TournamentStep) -> Plain:
    return _body(msgspec.to_builtins(step))


def _body(line: Plain) -> Plain:
    """Return a line without what makes it a link of a chain."""
    return {name: value for name, value in line.items() if name not in ("n", "prev", "kind")}


def _spec(**changes: Any) -> Callable[[Path], None]:
    return resigned(lambda header, _: header["spec"].update(changes))


def _tampered(folder: Path) -> None:
    path = record_of(folder)
    path.write_bytes(path.read_bytes().replace(b'"reason":"so decided"', b'"reason":"so divided"', 1))


def _result(header: Plain, steps: list[Any]) -> None:
    """Let another one win the last match, and leave what followed as it was."""
    closing = [step["event"]["entry"] for step in steps if step["event"]["event"] == "match-closed"][-1]
    closing["ranking"] = [[1], [0]] if closing["ranking"] != [[1], [0]] else [[0], [1]]


def _left_out(header: Plain, steps: list[Any]) -> None:
    """Take the first opening out."""
    del steps[next(index for index, step in enumerate(steps) if step["event"]["event"] == "match-opened")]


def _rematched(header: Plain, steps: list[Any]) -> None:
    """Let those meet in the second round who met in the first."""
    first, second, *_ = [step["event"] for step in steps if step["event"]["event"] == "round-paired"]
    second["tables"] = first["tables"]


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "no record": (lambda folder: record_of(folder).unlink(), "holds no tournament"),
    "a changed line": (_tampered, "expected prev"),
    "an opening that is left out": (resigned(_left_out), "expected an event that can happen then"),
    "another result": (resigned(_result), "expected commands"),
    "a rematch": (resigned(_rematched), "expected an event that can happen then"),
    "a salt that is none": (resigned(lambda header, _: header.update(salt="no hex")), "cup.jsonl, line 1: "),
    "another format": (_spec(format="chess"), "there is no pairing format 'chess'"),
    "options that the format does not have": (_spec(format_options={"laps": 3}), "options of swiss"),
    "fewer entrants": (
        resigned(lambda header, _: header["spec"].update(entrants=header["spec"]["entrants"][:3])),
        "cup.jsonl, line ",
    ),
    "a tie-break that there is not": (_spec(tie_breaks=["age"]), "no tie-break 'age'"),
    "a spec that is none": (_spec(seats=99), "cup.jsonl, line 1: "),
}


@pytest.mark.parametrize(("change", "complaint"), BROKEN.values(), ids=BROKEN.keys())
def test_what_does_not_hold_is_named(folder: Path, change: Callable[[Path], object], complaint: str) -> None:
    """The old ledger stays, and no half-made one is left."""
    change(folder)
    before = dump(folder / FILE)
    told = rebuilt(folder, status=2 if complaint.startswith("holds no") else 1)
    assert complaint in told
    assert "Traceback" not in told
    assert dump(folder / FILE) == before
    assert [path.name for path in folder.glob(f"{FILE}*")] == [FILE]


def test_only_records_of_the_demanded_key_are_taken(folder: Path) -> None:
    """Whoever forged all records could have signed them with a key of his own."""
    rebuilt(folder, "--key", SEALER.public)
    assert "expected key" in rebuilt(folder, "--key", Sealer.new().public, status=1)
    assert "neither a public key" in rebuilt(folder, "--key", "nonsense", status=2)


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
    assert dump(url) == dump(folder / FILE)
    assert "has the tournament 'cup' already" in rebuilt(folder, "--ledger", url, status=1)
