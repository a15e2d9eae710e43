"""What a program prints: the end of it is kept, and a flood costs neither memory nor disk."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.programs.output import KEPT_BYTES, LAST_WORDS_CHARS, SAVE_S, OutputPipe, Tail

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


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("", ""),
        ("one\n\ntwo\t3\r\n", "one two 3"),
        ("\x1b[31mError: \x1b[1mno tile\x1b[0m\n", "Error: no tile"),
        ("a\u2028b\u202ec\x00", "a b c"),
        ("x" * LAST_WORDS_CHARS, "x" * LAST_WORDS_CHARS),
        ("x" * 1000 + "end", "..." + "x" * (LAST_WORDS_CHARS - 6) + "end"),
    ],
)
def test_last_words_are_the_end_in_one_line(printed: str, expected: str) -> None:
    """Lines are joined; colours and whatever a terminal obeys are gone."""
    assert last_words(printed) == expected


@given(printed=st.text(alphabet="\n\t\x1b[m :at(Error)^1\u202e\u00e4./", max_size=600))
def test_last_words_are_printable_and_bounded(printed: str) -> None:
    """Whatever was printed, the part of it that is told moves no cursor and is bounded."""
    assert last_words(printed).isprintable()
    assert len(last_words(printed)) <= LAST_WORDS_CHARS


def last_words(printed: str) -> str:
    """Return what is told of a program that has printed a text."""
    tail = Tail()
    tail.add(printed.encode())
    return tail.last_words


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


def test_the_next_match_has_a_file_of_its_own(tmp_path: Path) -> None:
    """What had come by then stands in the one before, though nobody had read it yet; the end is the new one's."""
    loop, one, two = Loop(), tmp_path / "one", tmp_path / "two"
    pipe = OutputPipe(loop, one)
    os.write(pipe.write_fd, b"of the first")
    loop.look()
    os.write(pipe.write_fd, b" match")
    pipe.switch_file(two)
    assert (one.read_text(), two.exists(), pipe.tail.last_words) == ("of the first match", False, "")
    os.write(pipe.write_fd, b"of the second")
    pipe.close_write_end()
    pipe.close()
    assert (one.read_text(), two.read_text()) == ("of the first match", "of the second")
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
