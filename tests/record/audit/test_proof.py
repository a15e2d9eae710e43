"""A record is proven by writing it again: this holds for every valid record, and for nothing else."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from referee.match.machine import Match
from referee.record.audit.match import open_match, prove
from referee.record.reader import Record, RecordError, read_record

from ...match.folding import PASS, SEED, moved, opened, ready, setup_of
from ..forging import REGISTRY
from ..records import STORIES, Story, record_of, tell

GOLDEN = sorted((Path(__file__).parents[2] / "golden").glob("*.jsonl"))
OPEN_MATCH = partial(open_match, find_game=REGISTRY.game)


def proven(path: Path, data: bytes) -> Record | None:
    """Prove a file of these bytes."""
    path.write_bytes(data)
    found = prove(path, OPEN_MATCH)
    return found and found[0]


def test_what_is_finished_and_holds_is_proven(tmp_path: Path) -> None:
    """Fouls of every cause, in every phase: the proven record is the same that the careful reader reads."""
    for name in STORIES:
        found = proven(tmp_path / "m", record_of(name))
        assert (found is not None) == (tell(name).match.result is not None), name
        if found is not None:
            assert found == (read := read_record(tmp_path / "m")), name
            assert found.chain.lines == read.chain.lines, name

    for path in GOLDEN:
        assert prove(path, OPEN_MATCH) is not None, path.stem


def written_with(path: Path, move: Any) -> bytes:
    """Return the record of a match in which nobody moves as the rules say."""
    match = Match(REGISTRY.game("q"), setup_of(2), SEED)
    events = (opened(), ready(0), ready(1), moved(0, 1, move, 3.0), moved(1, 2, PASS | {"x": 1}, 4.0))
    return Story(match, tuple((event, match.handle(event)) for event in events)).write(path).read_bytes()


@pytest.mark.forges
def test_what_gives_the_same_bytes_and_is_no_record(tmp_path: Path) -> None:
    """Salts of another length and integers that no message can hold are refused, as by the careful reader."""
    path = tmp_path / "m.jsonl"
    whole = written_with(tmp_path / "a", 12)
    salt = json.loads(whole.splitlines()[4])["open"]["event.move"][0].encode()
    longer = whole.replace(b'"%s",12]' % salt, b'"%s1",2]' % salt)
    assert longer != whole
    assert proven(path, whole) is not None
    assert proven(path, whole[:-1]) is proven(path, whole[:-1] + b"x") is None
    for data in (longer, written_with(tmp_path / "b", 2**64), whole + b"\n"):
        assert proven(path, data) is None
        with pytest.raises(RecordError):
            read_record(path)
