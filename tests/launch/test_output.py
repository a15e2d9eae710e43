"""What a program prints: the end of it is kept, and a flood costs neither memory nor disk."""

import os
from pathlib import Path

import pytest

from referee.launch.output import KEPT_BYTES, SAVE_S, OutputPipe, Tail

from .loop import Loop


@pytest.mark.parametrize("size", [101, 1000, 65_536, 1_000_000])
def test_only_the_end_is_kept(size: int) -> None:
    """In pieces of any size, what is kept is the end, and what is not is counted."""
    whole = bytes(range(256)) * 4096
    tail = Tail()
    for start in range(0, len(whole), size):
        tail.add(whole[start : start + size])
    note = f"[{len(whole) - KEPT_BYTES} bytes before this are left out]\n".encode()
    assert note + whole[-KEPT_BYTES:] == tail.content


def test_the_file_is_written_now_and_then(tmp_path: Path) -> None:
    """What was printed stands in the file a moment later, and at the end all of it."""
    loop, path = Loop(), tmp_path / "output"
    pipe = OutputPipe(loop, path)
    os.write(pipe.write_fd, b"one ")
    loop.look()
    assert not path.exists()
    loop.advance(SAVE_S)
    assert path.read_text() == "one "
    os.write(pipe.write_fd, b"two")
    pipe.close_write_end()
    pipe.close()
    assert path.read_text() == "one two"
    assert loop.getDelayedCalls() == []


def test_the_end_is_not_waited_for(tmp_path: Path) -> None:
    """A pipe that somebody else still holds is closed all the same, with what was in it."""
    loop, path = Loop(), tmp_path / "output"
    pipe = OutputPipe(loop, path)
    os.write(pipe.write_fd, b"words")
    pipe.close()
    assert path.read_text() == "words"
    pipe.close_write_end()


def test_a_closed_pipe_is_read_no_more(tmp_path: Path) -> None:
    """Once nobody can print any more, the loop has nothing to look at."""
    loop = Loop()
    pipe = OutputPipe(loop, tmp_path / "output")
    pipe.close_write_end()
    loop.look()
    assert loop._readers == []
    pipe.close()
    assert not (tmp_path / "output").exists()
