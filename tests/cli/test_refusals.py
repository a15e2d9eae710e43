"""Refusals of the machine: the record is blamed only for its own faults."""

import errno
import json
import os
from pathlib import Path

import pytest
import rich_click as click

from referee.cli.errors import word_errors
from referee.record.key import Sealer
from referee.record.writer import NotWritten, RecordWriter

from .calling import referee


@pytest.mark.forges
def test_a_record_that_can_not_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For a full disk, the error names the record and its state."""
    path = tmp_path / "m1.jsonl"
    writer = RecordWriter(path, Sealer.new())
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, writer.file.fileno())
    os.close(full)
    with pytest.raises(SystemExit) as raised, word_errors(as_json=False):
        writer.seal()
    writer.close()
    said = f"the record {path} can't be written: No space left on device; its match or tournament was not finished\n"
    assert (raised.value.code, capsys.readouterr().err) == (1, said)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(errno.EMFILE, "Too many open files"), SystemExit),
        (OSError(errno.ENOSPC, "No space left on device", "/player"), SystemExit),
        (PermissionError(errno.EACCES, "Permission denied", "/player"), click.UsageError),
    ],
    ids=["files", "disk", "path"],
)
def test_other_refusals_are_not_blamed_on_the_record(
    error: OSError, kind: type[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    """The error for a program, a port or a file names that; a path is one that the user gave."""
    assert not isinstance(error, NotWritten)
    with pytest.raises(kind) as raised, word_errors(as_json=False):
        raise error
    told = capsys.readouterr().err + getattr(raised.value, "message", "")
    assert str(error.strerror) in told
    assert "record" not in told


@pytest.mark.forges
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ("audit nosuch", 2, "there is no file or folder nosuch"),
        ("check", 2, "PLAYER is missing"),
        ("nosuch", 2, "there is no command 'nosuch'"),
        ("audit --nosuch .", 2, "No such option"),
        ("explain broken.jsonl", 1, "expected a line of a record"),
    ],
)
def test_json_has_an_object_for_an_error_too(tmp_path: Path, arguments: str, status: int, said: str) -> None:
    """A script reads stdout alone; people still read the error on stderr."""
    (tmp_path / "broken.jsonl").write_text("[]\n")
    done = referee(*arguments.split(), "--json", cwd=tmp_path, status=status, is_stopped_early=True)
    error = json.loads(done.stdout)
    assert (error["version"], error["exit_status"]) == (1, status)
    assert said in error["error"]
    assert done.stderr


@pytest.mark.parametrize(
    "arguments",
    ["key make --key k.pem", "list", "check --list", "token ada", "new python zed", "cluster-keys keys"],
)
def test_every_object_has_a_version_and_is_described(tmp_path: Path, arguments: str) -> None:
    """The keys of each object are on the manual's page about objects."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "json.md").read_text()
    done = referee(*arguments.split(), "--json", cwd=tmp_path, is_stopped_early=True)
    keys = json.loads(done.stdout)
    assert keys["version"] == 1
    assert [key for key in keys if f"`{key}`" not in page and f"`{key}[]`" not in page] == []
