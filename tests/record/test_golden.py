"""Golden records, written by an earlier referee, still pass: the format has not changed."""

from pathlib import Path

import pytest

from referee.match.fouls import Cause
from referee.plugins import load
from referee.record.audit.match import audit, open_match, refold
from referee.record.reader import read_record

GOLDEN = Path(__file__).parents[1] / "golden"
RECORDS = sorted(GOLDEN.glob("*.jsonl"))
KEY = (GOLDEN / "referee.pub").read_text().strip()
FIND = load().game


def test_each_cause_of_a_foul_is_among_them() -> None:
    """A new cause needs a golden record."""
    results = [record.result for record in map(read_record, RECORDS)]
    assert {foul.cause for line in results if line for foul in line.result.fouls} == {*Cause}


@pytest.mark.parametrize("path", RECORDS, ids=[path.stem for path in RECORDS])
def test_a_golden_record_still_holds(path: Path) -> None:
    """It passes its audit, and folding it again gives the recorded result."""
    record = audit(path, FIND, keys=[KEY])
    match = open_match(record, FIND)
    assert match is not None
    assert len(list(refold(record, match))) == len(record.transitions)
    assert record.result is not None
    assert match.result == record.result.result
