"""The records of a tournament tell of each other: one that is not there leaves a gap, and is named."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.record.audit.completeness import check_course
from referee.record.reader import RecordError
from referee.record.spec_file import FILE, SpecFile, write_spec_file
from referee.record.writer import RecordWriter
from referee.tournament.match_context import MatchContext

from ...ledger.ledgers import SALT, SPEC
from ..records import SEALER, tell

SETUP = tell("clean").match.setup
SEED = tell("clean").match.seed
A, B, C, D = (f"{SPEC.name}-{number:05}" for number in range(1, 5))


def begin(folder: Path, match: str, opening: int, *taken: str, tournament: str = SPEC.name, file: str = "") -> None:
    """Write the first line of a record."""
    context = MatchContext(
        tournament=tournament,
        opening=opening,
        number=opening + 1,
        round=1,
        table="",
        leg=0,
        attempt=0,
        entrants=(0, 1),
        taken=taken,
    )
    writer = RecordWriter(folder / f"{file or match}.jsonl", SEALER)
    setup = replace(SETUP, match=match)
    writer.write_header(setup, SEED, is_fixed=True, referee="0.0", opened="", context=context)
    writer.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a tournament whose third match was opened when two were over."""
    write_spec_file(tmp_path, SpecFile(spec=SPEC, salt=SALT))
    begin(tmp_path, A, 0)
    begin(tmp_path, B, 1)
    begin(tmp_path, C, 2, B, A)
    begin(tmp_path, D, 3)
    return tmp_path


@pytest.mark.forges
def test_nothing_is_missing(folder: Path) -> None:
    """Records of other tournaments, and what has no first line yet, count for nothing."""
    begin(folder, "other", 7, tournament="other")
    (folder / "torn.jsonl").write_bytes(b'{"n":0')
    assert list(check_course(folder)) == [A, B, C, D]


@pytest.mark.parametrize(
    ("gone", "complaints"),
    [
        ((A,), (f"the record of {A} is missing: {C} was opened after", f"1 missing: .* before {B}")),
        ((A, B), (f"record of {A} is missing", f"record of {B} is missing", f"2 missing: .* opened before {C}")),
        ((C,), (f"^.*found 1 missing: records of what was opened after {B} and before {D}$",)),
    ],
)
def test_what_is_missing_is_named(folder: Path, gone: tuple[str, ...], complaints: tuple[str, ...]) -> None:
    """By its name where a result was taken, else by what was opened before and after it."""
    for match in gone:
        (folder / f"{match}.jsonl").unlink()
    for complaint in complaints:
        with pytest.raises(RecordError, match=complaint) as caught:
            check_course(folder)
        assert (caught.value.path, caught.value.line) == (folder / FILE, 0)


def test_of_the_last_opening_no_record_tells(folder: Path) -> None:
    """That is what the manifest is for."""
    (folder / f"{D}.jsonl").unlink()
    assert len(check_course(folder)) == 3


def _twice(folder: Path) -> None:
    begin(folder, B, 1, file="copy")


def _no_header(folder: Path) -> None:
    (folder / f"{B}.jsonl").write_bytes(b"[]\n")


def _no_spec(folder: Path) -> None:
    (folder / FILE).unlink()


def _nonsense(folder: Path) -> None:
    (folder / FILE).write_text("{}")


def _no_file(folder: Path) -> None:
    (folder / f"{B}.jsonl").unlink()
    (folder / f"{B}.jsonl").mkdir()


@pytest.mark.forges
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (_twice, f"line 1: expected one record of each match; found another one of {B}"),
        (_no_header, "line 1: expected a header; found no JSON object"),
        (_no_spec, "expected the spec of a tournament; found none"),
        (_nonsense, "expected the spec of a tournament; found .* missing"),
        (_no_file, "expected a readable folder; found Is a directory"),
    ],
)
def test_what_can_not_be_counted_is_told(folder: Path, change: Callable[[Path], None], complaint: str) -> None:
    """A record that is there twice, or no record, or no tournament."""
    change(folder)
    with pytest.raises(RecordError, match=complaint):
        check_course(folder)
