"""Records of every format there has been still audit: those of format 1 as they were written then."""

from pathlib import Path

import pytest

from referee.plugins import load
from referee.record.audit import audit, open_match, refold
from referee.record.reader import RecordError
from referee.record.schema import FORMAT, UNSEALED_FORMAT

GOLDEN = Path(__file__).parents[1] / "golden"
RECORDS = sorted(GOLDEN.rglob("*.jsonl"))
KEYS = {path.parent.name: path.read_text().strip() for path in GOLDEN.rglob("referee.pub")}
CAUSES = {"format1": 9, "format2": 9, "format3": 10}
"""How many causes of fouls there were; a later one has no records of an older format."""
FIND = load().game


def test_there_are_records_of_every_format() -> None:
    """A new format comes with records of its own, and each kind of foul is among those of each format."""
    formats = {path.parent.name for path in RECORDS}
    assert formats == {f"format{number}" for number in range(UNSEALED_FORMAT, FORMAT + 1)}
    for name in formats:
        records = [audit(path, FIND, is_strict=False) for path in RECORDS if path.parent.name == name]
        causes = {str(foul.cause) for one in records if one.result for foul in one.result.result.fouls}
        assert len(causes) == CAUSES[name]


@pytest.mark.parametrize("path", RECORDS, ids=[f"{path.parent.name}-{path.stem}" for path in RECORDS])
def test_a_golden_record_still_holds(path: Path) -> None:
    """It audits, and folded again it gives the result that it tells."""
    form = int(path.parent.name.removeprefix("format"))
    keys = [KEYS[path.parent.name]] if form != UNSEALED_FORMAT else []
    record = audit(path, FIND, keys=keys, is_strict=form != UNSEALED_FORMAT)
    assert record.header.format == form
    match = open_match(record, FIND)
    assert match is not None
    assert len(list(refold(record, match))) == len(record.steps)
    assert record.result is not None
    assert match.result == record.result.result


def test_an_old_record_is_not_taken_for_a_sealed_one() -> None:
    """Without being told so, an auditor refuses a record of format 1: anyone could have written it."""
    path = next(path for path in RECORDS if path.parent.name == f"format{UNSEALED_FORMAT}")
    with pytest.raises(RecordError, match="a record that is unsealed"):
        audit(path, FIND)
