"""The output of programs on a host comes into the folder of the record, and nothing else does."""

from pathlib import Path

import pytest

from referee.cluster.programs import MAX_OUTPUT_BYTES, store_output, take_output
from referee.programs.player_spec import house_launch

from ..net.jobs.making import LAUNCH, job_of

JOB = job_of(LAUNCH, "is not started", house_launch("dag"), None)
FILES = {0: "cup-00001.seat0.e0.stderr", 2: "cup-00001.seat2.dag.stderr"}


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({}, {}),
        ({0: b""}, {}),
        ({0: b"one", 2: b"\x1b[2J\0"}, {0: b"one", 2: b"\x1b[2J\0"}),
        ({1: b"nobody", 3: b"who connects", 4: b"no seat", -1: b"none"}, {}),
        ({0: b"x" * MAX_OUTPUT_BYTES + b"end"}, {0: b"x" * (MAX_OUTPUT_BYTES - 3) + b"end"}),
    ],
    ids=["nothing", "empty", "bytes as they are", "no program's", "too much"],
)
def test_what_a_host_says_was_printed(tmp_path: Path, said: dict[int, bytes], kept: dict[int, bytes]) -> None:
    """This side names the files, only for programs of the match; they are no longer than those of a match here."""
    store_output(tmp_path, JOB, said)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {FILES[n]: kept[n] for n in kept}


def test_a_host_keeps_nothing_of_it(tmp_path: Path) -> None:
    """A later attempt has only its own output."""
    store_output(tmp_path, JOB, {0: b"one"})
    assert [take_output(tmp_path, JOB) for _ in range(2)] == [{0: b"one"}, {}]
