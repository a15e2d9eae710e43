"""`referee rebuild`: the ledger comes out of the records as the referee had kept it, or what does not hold is named."""

import gc
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from referee.cli.main import main
from referee.ledger.ledger import FILE, Ledger, url_of
from referee.ledger.observer import LedgerObserver
from referee.net.tournaments.recorder import Recorder
from referee.observers import Observers
from referee.record.manifest import NAME as MANIFEST
from referee.record.manifest import Manifest, write_manifest
from referee.record.reader import RecordError, read_record
from referee.record.seal import Sealer
from referee.record.writer import RecordWriter
from tests.ledger.ledgers import AT, SALT, SPEC, entry_of
from tests.ledger.postgresql import new_schema
from tests.pages.tournaments import SALT as STAGE_SALT
from tests.pages.tournaments import Cast, Stage, new, spec
from tests.record.records import SEALER

NAME = "cup"
RECORDS = 9
"""Of five entrants of whom one never starts, and is suspended after its second match; one match is void."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tournament that was played, and its ledger as the referee kept it."""
    folder = tmp_path_factory.mktemp("played")
    stage = Stage(spec(5, "roundrobin"), folder, Cast(dead=frozenset({4}), void=frozenset({1, 3}))).play()
    with closing(Ledger(url_of(folder / FILE))) as ledger:
        ledger.found(stage.spec, STAGE_SALT)
        keeper = LedgerObserver(ledger, at=lambda: AT)
        recorder = Recorder(new(stage.spec), Observers(keeper))
        for entry in stage.entries:
            keeper.record_opened(entry.match, entry.context)
            recorder.take(entry)
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
    done = CliRunner().invoke(main, ["rebuild", *map(str, arguments), "--jobs", "1"])
    gc.enable()  # the command has no use for it, the tests have
    assert status == done.exit_code, done.output
    return " ".join(done.output.replace("│", " ").split())


def dump(path: Path) -> list[Any]:
    """Return what a ledger says of the tournament."""
    with closing(Ledger(url_of(path))) as ledger:
        return ledger.dump(NAME)


@pytest.mark.parametrize("flag", ["--audit", "--no-audit"])
def test_a_ledger_comes_out_as_it_was_kept(folder: Path, flag: str) -> None:
    """Results, their order, suspensions and what does not count: all of it follows from the records."""
    before = dump(folder / FILE)
    (folder / FILE).unlink()
    told = json.loads(rebuilt(folder, flag, "--json"))
    assert dump(folder / FILE) == before
    assert {row[0] for row in before} >= {"suspensions", "supersessions", "fouls"}
    assert (told["results"], told["open"], told["is_over"]) == (RECORDS, 0, True)
    assert told["standings"][0]["name"] == "bot00"
    assert [line["name"] for line in told["standings"] if line["has_withdrawn"]] == ["bot04"]
    assert [path.name for path in folder.glob(f"{FILE}*")] == [FILE]


def test_the_standings_are_printed(folder: Path) -> None:
    """For people, as the table that the report has, with where the ledger is."""
    told = rebuilt(folder)
    assert "# entrant points" in " ".join(told.replace("┃", " ").split())
    assert "bot00" in told
    assert "4.5" not in told
    assert f"{FILE}: {RECORDS} results" in told


def test_other_tournaments_of_the_ledger_are_kept(folder: Path) -> None:
    """The ledger that takes the place of the old one has them, too."""
    other = replace(SPEC, name="other")
    entry = replace(entry_of(1), context=replace(entry_of(1).context, tournament="other"))
    with closing(Ledger(url_of(folder / FILE))) as ledger:
        ledger.found(other, SALT)
        ledger.take(entry, AT)
    rebuilt(folder)
    with closing(Ledger(url_of(folder / FILE))) as ledger:
        assert ledger.spec("other") == (other, SALT)
        assert list(ledger.entries("other")) == [entry]


def test_a_match_that_is_not_over_is_open(folder: Path) -> None:
    """A record that broke off has no result, and the last one may not even have its first line."""
    last = max(folder.glob("*.jsonl"), key=lambda path: read_record(path).header.context.opening)  # type: ignore[union-attr]  # each has one
    last.write_bytes(b"".join(last.read_bytes().splitlines(keepends=True)[:3]))
    (folder / f"{NAME}-00099.jsonl").write_bytes(b'{"n":0,"prev')
    told = json.loads(rebuilt(folder, "--json"))
    assert (told["results"], told["open"], told["is_over"]) == (RECORDS - 1, 1, False)


def _without(folder: Path) -> None:
    (folder / "cup-00002.jsonl").unlink()


def _tampered(folder: Path) -> None:
    path = folder / "cup-00002.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"names":["bot', b'"names":["BOT', 1))


def _renamed(folder: Path) -> None:
    (folder / "cup-00002.jsonl").rename(folder / "cup-00077.jsonl")


def _spec(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def _rewrite(folder: Path) -> None:
        path = folder / "spec.json"
        founding = json.loads(path.read_text())
        change(founding)
        path.write_text(json.dumps(founding))

    return _rewrite


def _rewritten(**changes: Any) -> Callable[[Path], None]:
    """Return what signs another record in the place of one, in which something else was settled."""

    def _rewrite(folder: Path) -> None:
        path = folder / "cup-00002.jsonl"
        record = read_record(path)
        setup = {name: value for name, value in changes.items() if name != "context"}
        context = replace(record.header.context, **changes.get("context", {}))  # type: ignore[type-var]  # it has one
        path.unlink()
        writer = RecordWriter(path, SEALER)
        assert record.seed is not None
        writer.write_header(
            replace(record.header.setup, **setup),
            record.seed,
            is_fixed=False,
            referee="0.0",
            opened="",
            context=context,
        )
        for step in record.steps:
            writer._write("step", event=msgspec.to_builtins(step.event), commands=step.commands)
        assert record.result is not None
        writer.write_result(record.result.result, seed=record.result.seed, nonces=record.result.nonces)

    return _rewrite


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "a record is missing": (_without, "1 missing: records of what was opened"),
    "a record was changed": (_tampered, "cup-00002.jsonl, line 2: expected prev"),
    "a record was renamed": (_renamed, "cup-00077.jsonl, line 1: expected the match cup-00077"),
    "no spec": (lambda folder: (folder / "spec.json").unlink(), "holds no tournament"),
    "a spec that is none": (_spec(lambda founding: founding.pop("salt")), "spec.json: Object missing"),
    "a salt that is none": (_spec(lambda founding: founding.update(salt="no hex")), "spec.json: "),
    "another limit": (
        _spec(lambda founding: founding["spec"]["time"].update(per_move_ms=2.0)),
        "expected time TimeControl(per_move_ms=2.0, ",
    ),
    "another game": (
        _spec(lambda founding: founding["spec"].update(game="quincy")),
        "expected game 'quincy', as the spec has it; found 'q'",
    ),
    "a game that there is not": (
        _spec(lambda founding: founding["spec"].update(game="chess")),
        "there is no game 'chess'",
    ),
    "other options": (
        _spec(lambda founding: founding["spec"].update(options={"q_bonus": 3})),
        "expected options",
    ),
    "options that there are not": (
        _spec(lambda founding: founding["spec"].update(options={"bonus": 3})),
        "a game with its options",
    ),
    "other lots": (
        _spec(lambda founding: founding.update(salt="00" * 32)),
        "a match that was to be played then",
    ),
    "another format": (
        _spec(lambda founding: founding["spec"].update(format="chess")),
        "there is no pairing format 'chess'",
    ),
    "fewer entrants": (
        _spec(lambda founding: founding["spec"]["entrants"].pop()),
        "entrants from 0 to 3",
    ),
    "a tie-break that there is not": (
        _spec(lambda founding: founding["spec"].update(tie_breaks=["age"])),
        "no tie-break 'age'",
    ),
    "other players": (_rewritten(names=("bot00", "nobody")), "expected names"),
    "another round": (_rewritten(context={"round": 7}), "was opened for something else"),
}


@pytest.mark.parametrize(("change", "complaint"), BROKEN.values(), ids=BROKEN.keys())
def test_what_does_not_hold_is_named(folder: Path, change: Callable[[Path], object], complaint: str) -> None:
    """The old ledger stays, and no half-made one is left."""
    change(folder)
    before = dump(folder / FILE)
    told = rebuilt(folder, "--no-audit", status=2 if complaint.startswith("holds no") else 1)
    assert complaint in told
    assert "Traceback" not in told
    assert dump(folder / FILE) == before
    assert [path.name for path in folder.glob(f"{FILE}*")] == [FILE]


def called(*arguments: Any, status: int = 0) -> str:
    """Run another command about the folder, and return what it printed."""
    done = CliRunner().invoke(main, [*map(str, arguments)])
    gc.enable()
    assert status == done.exit_code, done.output
    return " ".join(done.output.split())


def test_an_audit_names_the_records_that_others_tell_of(folder: Path) -> None:
    """By the headers' openings and by the results taken; of what was opened last none tells."""
    told = json.loads(called("audit", folder, "--jobs", "1", "--json"))
    assert told["tournaments"] == [{"spec": str(folder / "spec.json"), "holds": True, "matches": RECORDS}]
    assert told["unlisted"] == [{"folder": str(folder), "records": RECORDS}]
    assert f"{RECORDS} matches opened, no record missing between them" in called("audit", folder, "--jobs", "1")
    _without(folder)
    text = called("audit", folder, "--jobs", "1", status=1)
    assert f"{RECORDS - 1} records, 0 broken" in text
    assert "the record of cup-00002 is missing: " in text
    assert "1 missing: records of what was opened" in text
    told = json.loads(called("audit", folder, "--jobs", "1", "--json", status=1))
    assert (told["broken"], told["holds"], told["tournaments"][0]["holds"]) == (0, False, False)


def test_records_with_a_gap_are_not_signed(folder: Path) -> None:
    """A list of what is left would hide what is not: the missing record is named, and the manifest stays as it was."""
    manifest = write_manifest(folder, SEALER)
    _without(folder)
    with pytest.raises(RecordError, match="the record of cup-00002 is missing"):
        write_manifest(folder, SEALER)
    assert msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest) == manifest


def test_an_audit_finds_what_was_signed_and_is_not_true(folder: Path) -> None:
    """A record whose chain and seal hold may still say what did not follow; without the audit, it would be taken."""
    path = folder / "cup-00002.jsonl"
    record = read_record(path)
    assert record.result is not None
    result = record.result.result
    path.unlink()
    writer = RecordWriter(path, SEALER)
    assert record.seed is not None
    header = record.header
    writer.write_header(header.setup, record.seed, is_fixed=False, referee="0.0", opened="", context=header.context)
    for step in record.steps:
        writer._write("step", event=msgspec.to_builtins(step.event), commands=step.commands)
    scores = tuple(score + 1 for score in result.scores)
    writer.write_result(replace(result, scores=scores), seed=record.result.seed, nonces=record.result.nonces)
    assert "cup-00002.jsonl, line" in rebuilt(folder, status=1)
    rebuilt(folder, "--no-audit")


def test_only_records_of_the_demanded_key_are_taken(folder: Path) -> None:
    """Whoever forged all records could have signed them with a key of his own."""
    rebuilt(folder, "--key", SEALER.public)
    assert "expected key" in rebuilt(folder, "--key", Sealer.new().public, status=1)
    assert "neither a public key" in rebuilt(folder, "--key", "nonsense", status=2)


def test_a_ledger_that_is_in_use_is_not_replaced(folder: Path) -> None:
    """Another process that has it open would go on writing to what nobody reads any more."""
    with closing(Ledger(url_of(folder / FILE))) as ledger, ledger._reading():
        assert "another process" in rebuilt(folder, "--no-audit", status=1)


def test_a_damaged_ledger_is_put_aside_first(folder: Path) -> None:
    """It may have held other tournaments, so it is not thrown away."""
    (folder / FILE).write_text("nonsense " * 1000)
    assert "move it away" in rebuilt(folder, "--no-audit", status=1)
    (folder / FILE).rename(folder / "damaged")
    rebuilt(folder, "--no-audit")


def test_a_ledger_is_made_elsewhere(folder: Path, tmp_path: Path, postgresql: str) -> None:
    """In a file, or in a PostgreSQL that does not have the tournament yet."""
    rebuilt(folder, "--no-audit", "--ledger", tmp_path / "elsewhere")
    assert dump(tmp_path / "elsewhere") == dump(folder / FILE)
    url = new_schema(postgresql)
    rebuilt(folder, "--no-audit", "--ledger", url)
    with closing(Ledger(url)) as ledger:
        assert ledger.dump(NAME) == dump(folder / FILE)
    assert "has the tournament 'cup' already" in rebuilt(folder, "--no-audit", "--ledger", url, status=1)
