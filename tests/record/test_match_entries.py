"""The result of a match, read from its record."""

import dataclasses
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from referee.record.reader import RecordError, read_entry, read_record

from .records import record_of
from .tournaments import Organiser, cup


def test_the_record_says_what_the_referee_noted(tmp_path: Path) -> None:
    """The entry's head is that of the result line, over which the record is sealed."""
    with Organiser(tmp_path, cup(), Random(1)) as organiser:
        context = organiser.recorder.open(organiser.due()[0])
        noted = organiser.record_match(context)
    record = read_record(tmp_path / f"{noted.match}.jsonl")
    assert read_entry(record) == noted
    assert record.seal is not None
    assert noted.head == record.seal.prev


def test_a_match_of_no_tournament_has_no_entry(tmp_path: Path) -> None:
    """Its record names no tournament."""
    path = tmp_path / "m.jsonl"
    path.write_bytes(record_of("clean"))
    with pytest.raises(RecordError, match="a match of a tournament; found none"):
        read_entry(read_record(path))


def test_a_match_that_is_not_over_has_no_entry(tmp_path: Path) -> None:
    """Its record has no seal."""
    with Organiser(tmp_path, cup(), Random(1)) as organiser:
        context = organiser.recorder.open(organiser.due()[0])
        organiser.begin_match(context)[1].close()
    with pytest.raises(RecordError, match="a result and its seal; found a record that is unfinished"):
        read_entry(read_record(tmp_path / f"{context.fixture.match}.jsonl"))


def test_a_match_of_others_than_its_entrants_has_no_entry(tmp_path: Path) -> None:
    """Otherwise a report would show entrants that do not exist."""
    with Organiser(tmp_path, cup(), Random(1)) as organiser:
        context = organiser.recorder.open(organiser.due()[0])
        noted = organiser.record_match(context)
    record = read_record(tmp_path / f"{noted.match}.jsonl")
    more = replace(context, fixture=replace(context.fixture, entrants=(0, 1, 2)))
    with pytest.raises(RecordError, match="line 0: expected the names of 3 entrants; found 2 names"):
        read_entry(dataclasses.replace(record, header=replace(record.header, context=more)))
