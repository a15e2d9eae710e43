"""Commands whose output nobody reads to its end: `referee play ... | head -1` still plays its match."""

import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from .. import warm
from .calling import referee
from .test_tournament import SMALL

PLAY = ("play", "quincy", "house:random", "house:random", "--seed", "7", "--sandbox", "off")


def unread(*command: str, cwd: Path, lines: int, is_all: bool = False) -> tuple[int, str]:
    """Run a command whose reader goes away.

    Args:
        command: of the referee.
        cwd: the folder that it is run in.
        lines: number of lines that are read before; 0: there is no reader from the start.
        is_all: whether stderr goes to the same reader.

    Returns:
        Exit status and stderr.
    """
    whole = [warm.program(), *command]
    stderr = subprocess.STDOUT if is_all else subprocess.PIPE
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as reader:
        if not lines:
            reader.close()
        with subprocess.Popen(whole, cwd=cwd, stdout=writing, stderr=stderr, text=True) as running:
            os.close(writing)
            for _ in range(lines):
                reader.readline()
            reader.close()
            said = running.communicate()[1]
    return running.returncode, said or ""


def sealed(folder: Path) -> int:
    """Return the number of records, after checking that all hold and have a result."""
    found = json.loads(referee("audit", "logs", "--json", cwd=folder).stdout)["records"]
    assert all(item["holds"] and item["state"] == "sealed" for item in found)
    return len(found)


@pytest.mark.parametrize("how", [("--json",), ()], ids=["json", "words"])
@pytest.mark.parametrize("is_all", [False, True], ids=["stdout", "both"])
def test_a_match_that_nobody_reads_is_played(tmp_path: Path, *, how: tuple[str, ...], is_all: bool) -> None:
    """Its record has its result, and the exit status is that of a played match."""
    status, said = unread(*PLAY, *how, cwd=tmp_path, lines=0, is_all=is_all)
    assert status == 0, said
    assert "Traceback" not in said
    assert "Error" not in said
    assert sealed(tmp_path) == 1


@pytest.mark.parametrize(("how", "is_all"), [(("--json",), False), ((), True)], ids=["json", "words"])
def test_a_tournament_that_nobody_reads_on_is_played(tmp_path: Path, *, how: tuple[str, ...], is_all: bool) -> None:
    """All its records have their results, and one message says that the output ends."""
    (tmp_path / "small.toml").write_text(SMALL)
    status, said = unread("tournament", "small.toml", *how, cwd=tmp_path, lines=1, is_all=is_all)
    assert status == 0, said
    assert "Traceback" not in said
    assert said.count("JsonLines failed, and shows nothing more") == (0 if is_all else 1)
    assert sealed(tmp_path) == 3


@pytest.mark.parametrize("how", [("--json",), ()], ids=["json", "words"])
def test_a_reader_that_reads_nothing_holds_no_tournament_up(tmp_path: Path, how: tuple[str, ...]) -> None:
    """Its pipe is full from the start. All matches are played and signed, and the command ends."""
    (tmp_path / "small.toml").write_text(SMALL)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with suppress(BlockingIOError):
        while os.write(writing, bytes(4096)):
            pass
    os.set_blocking(writing, True)
    command = [warm.program(), "tournament", "small.toml", *how]
    stdout = writing if how else subprocess.DEVNULL  # the last output waits for its reader
    with subprocess.Popen(command, cwd=tmp_path, stdout=stdout, stderr=writing) as running:
        assert running.wait(120) == 0
    os.close(writing)
    os.close(reading)
    assert sealed(tmp_path) == 3


@pytest.mark.parametrize("command", [("audit", "logs"), ("audit", "logs", "--json"), ("replay", "logs/{record}")])
def test_a_reader_that_leaves_is_told_nothing_of_what_was_checked(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Exit status 1 would mean that a record does not hold; 141 is the status of a program whose reader left."""
    assert unread("play", "q", "house:dag", "house:dag", cwd=tmp_path, lines=0, is_all=True)[0] == 0
    (record,) = (path.name for path in (tmp_path / "logs").glob("*.jsonl"))
    words = [word.format(record=record) for word in command]
    status, said = unread(*words, cwd=tmp_path, lines=0)
    assert (status, said) == (128 + 13, "")


def test_a_full_disk_accuses_no_record(tmp_path: Path) -> None:
    """That is a fault of the machine: exit status 3, with the reason on stderr."""
    assert unread("play", "q", "house:dag", "house:dag", cwd=tmp_path, lines=0, is_all=True)[0] == 0
    with Path("/dev/full").open("w") as full:
        command = [warm.program(), "audit", "logs"]
        done = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert "No space left on device" in done.stderr
    assert "says nothing against a record" in " ".join(done.stderr.split())
