"""No file crashes a reader: a hundred or more changes of every kind of file, and each change that once did.

`python -m tests.benchmarks mutations` makes any number of changes.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ..record import tournament_forging
from ..record.records import SEALER
from . import records
from .kinds import KINDS
from .running import tried

pytestmark = pytest.mark.forges
COUNTS = {
    "record": 40,
    "redacted": 40,
    "tournament": 8,
    "certificate": 15,
    "challenge": 30,
    "host's record": 30,
}
"""Number of changes of slow kinds; other kinds have more."""


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Make an honest folder of each kind."""
    top = tmp_path_factory.mktemp("honest")
    for name, kind in KINDS.items():
        (top / name).mkdir()
        kind.make(top / name)
    return {name: top / name for name in KINDS}


def problems(name: str, folder: Path, only: str = "") -> Iterator[str]:
    """Yield the forbidden outcomes of the readers of a kind."""
    for reader, read in KINDS[name].readers.items():
        _, problem = tried(read, folder)
        if problem and reader.startswith(only):
            yield f"{reader}: {problem}"


@pytest.mark.parametrize("name", KINDS)
def test_an_honest_folder_is_read(tmp_path: Path, honest: dict[str, Path], name: str) -> None:
    """Readers accept unchanged files, and none of them fails. Otherwise, the other tests would try nothing."""
    folder = shutil.copytree(honest[name], tmp_path / "folder", symlinks=True)
    if (folder / records.RECORD).exists():
        data = records.whole("dealt") if name != "redacted" else records.redacted("dealt", 0)
        for file in (records.RECORD, records.HONEST):
            (folder / file).write_bytes(data)
        (folder / records.HOW).write_text(records.How.TEXT)
    found = [tried(read, folder) for read in KINDS[name].readers.values()]
    assert [problem for _, problem in found if problem] == []
    assert any(is_taken for is_taken, _ in found)


@pytest.mark.parametrize("name", KINDS)
def test_no_change_crashes_a_reader(tmp_path: Path, honest: dict[str, Path], name: str) -> None:
    """Whatever was changed, each reader accepts the file or reports that it is not valid."""
    folder = tmp_path / "folder"

    @settings(max_examples=COUNTS.get(name, 60))
    @given(st.integers(0, 2**32))
    def _try(number: int) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(honest[name], folder, symlinks=True)
        what = KINDS[name].change(folder, Random(number))
        assert (what, list(problems(name, folder))) == (what, [])

    _try()


# # --- files that once crashed a reader


def step_with(lines: list[Any], command: str) -> Any:
    """Return the line of the first command of a kind."""
    return next(line for line in lines if command in [found["command"] for found in line.get("commands", ())])


def command_of(lines: list[Any], command: str) -> Any:
    """Return the first command of a kind."""
    return next(found for found in step_with(lines, command)["commands"] if found["command"] == command)


def _large_in_view(lines: list[Any]) -> None:
    entries = [entry for line in lines for entry in line.get("open", {}).values() if len(entry) > 2]
    entries[0][2]["tiles_left"] = 2**64


def _nobody(lines: list[Any]) -> None:
    step = step_with(lines, "expel-seat")
    step["event"]["seat"] = command_of(lines, "ask-move")["seat"] = 7


CHANGES: dict[str, Callable[[list[Any]], object]] = {
    "a number in a view that has over 64 bits": _large_in_view,
    "a limit of nobody": lambda lines: command_of(lines, "ask-move").pop("seat"),
    "an expulsion of nobody": lambda lines: command_of(lines, "expel-seat").pop("seat"),
    "an expulsion of a thing": lambda lines: command_of(lines, "expel-seat").update(seat={}),
    "an expulsion for nothing": lambda lines: command_of(lines, "expel-seat").update(foul={}),
    "an expulsion for no cause": lambda lines: command_of(lines, "expel-seat")["foul"].pop("cause"),
    "a seat that there is not": _nobody,
    "a seat before the first": lambda lines: step_with(lines, "expel-seat")["event"].update(seat=-1),
}


def test_evidence_that_is_no_hex_is_shown_as_it_is(tmp_path: Path, honest: dict[str, Path]) -> None:
    """A record can be shown without an audit; the audit reports it."""
    folder = shutil.copytree(honest["record"], tmp_path / "folder")
    lines = records.lines_of(records.whole("late move"))
    for path, entry in (item for line in lines for item in line.get("open", {}).items()):
        if path.endswith(("frame", "evidence")) and entry[1]:
            entry[1] = f"x{entry[1]}"
    for file in (records.RECORD, records.HONEST):
        (folder / file).write_bytes(records.rewritten(lines))
    (folder / records.HOW).write_text(records.How.TEXT)
    assert list(problems("record", folder)) == []
    assert not tried(KINDS["record"].readers["audit"], folder)[0]


def test_a_record_whose_last_line_is_torn_is_shown(tmp_path: Path, honest: dict[str, Path]) -> None:
    """The line may even end inside a character."""
    folder = shutil.copytree(honest["record"], tmp_path / "folder")
    for file in (records.RECORD, records.HONEST):
        (folder / file).write_bytes(records.whole("clean").rpartition(b'{"n":')[0] + b'{"n":"\xc3')
    (folder / records.HOW).write_text(records.How.TEXT)
    assert list(problems("record", folder)) == []


@pytest.mark.parametrize("kind", ["record", "redacted"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_crashed_a_reader_of_records(
    tmp_path: Path, honest: dict[str, Path], kind: str, change: Callable[[list[Any]], object]
) -> None:
    """Chained and sealed with the key, each of them is found, and the valid record next to it is read."""
    folder = shutil.copytree(honest[kind], tmp_path / "folder")
    lines = records.lines_of(records.redacted("late move", 0))
    if kind == "record" and change is not _large_in_view:
        lines = records.lines_of(records.whole("late move"))
    change(lines)
    for file in (records.RECORD, records.HONEST):
        (folder / file).write_bytes(records.rewritten(lines))
    (folder / records.HOW).write_text(records.How.TEXT)
    assert list(problems(kind, folder)) == []
    assert not tried(KINDS[kind].readers["audit"], folder)[0]


def test_a_tournament_that_only_has_its_first_line_is_read(tmp_path: Path, honest: dict[str, Path]) -> None:
    """Its referee crashed before its first event; it is still reported and resumed."""
    folder = shutil.copytree(honest["tournament"], tmp_path / "folder")
    for path in folder.glob("cup*"):
        path.unlink()
    (folder / "cup.jsonl").write_bytes((honest["tournament"] / "cup.jsonl").read_bytes().splitlines(keepends=True)[0])
    assert list(problems("tournament", folder)) == []


COURSES: dict[str, Callable[[Any], object]] = {
    "teams without all seats": lambda header: header["spec"]["scoring"].update(teams=[[0]]),
    "a seat in two teams": lambda header: header["spec"]["scoring"].update(teams=[[0, 1], [0]]),
    "empty teams": lambda header: header["spec"]["scoring"].update(teams=[[], []]),
}


@pytest.mark.parametrize("change", COURSES.values(), ids=COURSES)
def test_what_crashed_a_reader_of_tournaments(
    tmp_path: Path, honest: dict[str, Path], change: Callable[[Any], object]
) -> None:
    """Chained and sealed with the key, each of them is found."""
    folder = shutil.copytree(honest["tournament"], tmp_path / "folder")
    lines = tournament_forging.course_of(folder / "cup.jsonl")
    change(lines[0])
    (folder / "cup.jsonl").write_bytes(tournament_forging.chain(lines, SEALER))
    (folder / records.HOW).write_text(records.How.WRITTEN)
    assert list(problems("tournament", folder)) == []
    assert not tried(KINDS["tournament"].readers["audit"], folder)[0]


def test_a_match_of_more_than_its_entrants_is_told(tmp_path: Path, honest: dict[str, Path]) -> None:
    """The match's record is valid by itself, but the tournament has not opened it."""
    folder = shutil.copytree(honest["tournament"], tmp_path / "folder")
    path = folder / "cup-00001.jsonl"
    lines = records.lines_of(path.read_bytes())
    lines[0]["setup"]["names"] = ["e0", "e1", "e2"]
    path.write_bytes(records.rewritten(lines))
    (folder / records.HOW).write_text(records.How.WRITTEN)
    assert list(problems("tournament", folder)) == []


TEXTS = (
    ("store", "store/.versions/ann/0001/report.json", b'"\xff"'),
    ("store", "store/.versions/ann/0001/report.json", b"[" * 5000),
    ("store", "store/.versions/ann/0001/version.json", b'{"number":' + b"[" * 5000),
    ("check", "out", b'{"\xed\xa0\x80": 1}\n'),
    ("layout", "board.toml", b"a = " + b"[" * 5000),
    ("earlier audit", "since.json", b'{"auditor":"\xff"}'),
    ("challenge", "logs/practice/ann/0001/challenge.json", b'{"author":"\xff"}'),
    ("host's answer", "answer", b"\x81\xa3why\xa1\xff"),
    ("host's answer", "answer", b"\x81\xa1a" + b"\x91" * 5000),
    ("host's record", "returned.jsonl", b""),
    ("program", "program", b"\x91\x91\xa1\xff"),
    ("program", "program", b"\x91\x93\xa1a\xc0\xa1\x00"),
)


@pytest.mark.parametrize(("kind", "name", "data"), TEXTS)
def test_what_crashed_a_reader_of_texts(
    tmp_path: Path, honest: dict[str, Path], kind: str, name: str, data: bytes
) -> None:
    """Each gets its own error."""
    folder = shutil.copytree(honest[kind], tmp_path / "folder", symlinks=True)
    (folder / name).write_bytes(data)
    assert list(problems(kind, folder)) == []
