"""What the machine refuses, and how it is told: nothing is blamed on the record that is not its own."""

import errno
import os
from pathlib import Path

import pytest
import rich_click as click

from referee.cli.errors import worded
from referee.record.seal import Sealer
from referee.record.writer import NotWritten, RecordWriter


@pytest.mark.forges
def test_a_record_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    """A full disk is told with the record's path and what became of the match."""
    path = tmp_path / "m1.jsonl"
    writer = RecordWriter(path, Sealer.new())
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, writer._file.fileno())
    os.close(full)
    with pytest.raises(click.ClickException) as raised, worded():
        writer.write_seal()
    writer.close()
    said = f"the record {path} can't be written: No space left on device; the match was not finished"
    assert raised.value.message == said


@pytest.mark.parametrize(
    "error",
    [OSError(errno.EMFILE, "Too many open files"), PermissionError(errno.EACCES, "Permission denied", "/player")],
    ids=lambda error: type(error).__name__,
)
def test_other_refusals_are_not_blamed_on_the_record(error: OSError) -> None:
    """A program, a port or a file that the machine refuses is told as what it is."""
    assert not isinstance(error, NotWritten)
    with pytest.raises(click.ClickException, match=error.strerror) as raised, worded():
        raise error
    assert "record" not in raised.value.message
