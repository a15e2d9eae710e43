"""The output of a program: its end is stored, and a flood costs neither memory nor disk."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.programs import output
from referee.programs.output import (
    KEPT_BYTES,
    LAST_WORDS_CHARS,
    SAVE_S,
    Crash,
    OutputPipe,
    Tail,
    find_crash,
    shorten_crash,
)

from .loop import Loop


@pytest.mark.parametrize("size", [101, 1000, 65_536, 1_000_000])
def test_only_the_end_is_kept(size: int) -> None:
    """With pieces of any size, the end is stored, and the rest is counted."""
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
    """Lines are joined; colours and control sequences are removed."""
    assert last_words(printed) == expected


@given(printed=st.text(alphabet="\n\t\x1b[m :at(Error)^1\u202e\u00e4./", max_size=600))
def test_last_words_are_printable_and_bounded(printed: str) -> None:
    """Of any output, the quoted part is bounded and has no control characters."""
    assert last_words(printed).isprintable()
    assert len(last_words(printed)) <= LAST_WORDS_CHARS


def last_words(printed: str) -> str:
    """Return the last words of a program that has printed a text."""
    tail = Tail()
    tail.add(printed.encode())
    return tail.last_words


def test_the_file_is_written_now_and_then(tmp_path: Path) -> None:
    """The file has the output a moment later, and all of it at the end."""
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
    """Everything that came before belongs to the first file, even if it was not read yet."""
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
    """A pipe that another process still holds is closed all the same, with its content."""
    loop, path = Loop(), tmp_path / "output"
    pipe = OutputPipe(loop, path)
    os.write(pipe.write_fd, b"words")
    pipe.close()
    assert path.read_text() == "words"
    pipe.close_write_end()


def test_a_closed_pipe_is_read_no_more(tmp_path: Path) -> None:
    """When no process can print any more, the loop has nothing to read."""
    loop = Loop()
    pipe = OutputPipe(loop, tmp_path / "output")
    pipe.close_write_end()
    loop.look()
    assert loop.readers == []
    pipe.close()
    assert not (tmp_path / "output").exists()


HEAD = "Traceback (most recent call last):\n"
CLIENT = (
    '  File "/usr/lib/python3/site-packages/protocol/client.py", line 397, in _answer\n    move = f()\n           ^^^\n'
)
CHOOSE = '  File "/home/ada/player.py", line 29, in choose\n    view["tile_left"]\n    ~~~~^^^^^^^^^^^^^\n'
JSON = '  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode\n'


NODE = """/home/ada/player.js:25
  return view.tile_left.x;
                       ^

TypeError: Cannot read properties of undefined (reading 'x')
    at best (/home/ada/player.js:25:24)
    at Array.map (<anonymous>)
    at Socket.emit (node:events:524:28)

Node.js v20.20.2
"""
JAVA = """Exception in thread "main" java.lang.RuntimeException: the search failed
\tat Player.main(Player.java:66)
Caused by: java.lang.NullPointerException: no tile
\tat java.base/java.util.Objects.requireNonNull(Objects.java:233)
\tat Player.choose(Player.java:40)
\t... 1 more
"""
GO = """panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
runtime.panicIndex()
\t/usr/lib/go/src/runtime/panic.go:115 +0x1d
main.choose({0xc000012345, 0x1})
\t/home/ada/main.go:40 +0x1d
main.main()
\t/home/ada/main.go:12 +0x1d
exit status 2
"""


@pytest.mark.parametrize(
    ("printed", "summary"),
    [
        (NODE, "TypeError: Cannot read properties of undefined (reading 'x') (player.js:25, in best)"),
        (JAVA, "java.lang.NullPointerException: no tile (Player.java:40, in Player.choose)"),
        (GO, "panic: runtime error: index out of range [5] with length 3 (main.go:40, in main.choose)"),
    ],
)
def test_a_crash_in_another_language_is_one_line_too(printed: str, summary: str) -> None:
    """The place is the author's own; what was printed before is kept."""
    assert find_crash(f"thinking\n{printed}") == Crash(summary, "thinking")


GAME = f'  File "{Path(output.__file__).parents[1]}/games/quincy/game.py", line 210, in legal_moves\n'
DURING = "During handling of the above exception, another exception occurred:\n\n"


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (HEAD + CLIENT + CHOOSE + "KeyError: 'tile_left'\n", "KeyError: 'tile_left' (player.py:29, in choose)"),
        (HEAD + CHOOSE + JSON + "ValueError: no JSON\n", "ValueError: no JSON (player.py:29, in choose)"),
        (HEAD + CHOOSE + GAME + "AttributeError: stones\n", "AttributeError: stones (player.py:29, in choose)"),
        (HEAD + JSON + "ValueError: no JSON\n", "ValueError: no JSON (decoder.py:355, in raw_decode)"),
        (
            HEAD + CHOOSE + "KeyError: 'best'\n\n" + DURING + HEAD + CLIENT + CHOOSE + "E: y\n",
            "E: y (player.py:29, in choose), after KeyError: 'best' (player.py:29, in choose)",
        ),
        (
            "  File \"me.py\", line 3\n    f(\n     ^\nSyntaxError: '(' was never closed\n",
            "SyntaxError: '(' was never closed (me.py:3)",
        ),
        (HEAD + '  File "me.py", line 3, in <module>\nE: a\nb\n', "E: a (me.py:3)"),
    ],
)
def test_a_crash_is_told_in_one_line(printed: str, expected: str) -> None:
    """The exception comes first, then the place in the author's own code, without lines of carets."""
    assert last_words(f"thinking\n{printed}") == expected
    crash = find_crash(f"thinking\n{printed}")
    assert crash is not None
    assert crash.before == "thinking"


MATCH_LINE = f"match q-1: no end came; the seed was not revealed; last head {'0' * 64}\n"


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (MATCH_LINE, ""),
        (f"no model\n{MATCH_LINE}", "no model"),
        (MATCH_LINE + HEAD + CHOOSE + "E: y\n", "E: y (player.py:29, in choose)"),
        ("match q-1: no end came; THE REFEREE BROKE ITS COMMITMENT: x", None),
    ],
)
def test_the_clients_line_about_a_broken_match_is_not_the_programs(printed: str, expected: str | None) -> None:
    """The line would hide the program's own last words; but a breach of the referee's promise is always shown."""
    assert last_words(printed) == (printed if expected is None else expected)
    assert shorten_crash(printed, "").strip() == last_words(printed)


@pytest.mark.parametrize(
    "printed",
    [
        "    main()\n" + CHOOSE + "KeyError: 'tile_left'\n",
        "    main()\nKeyError: 'best'\n\n" + DURING + HEAD + CHOOSE + "KeyError: 'tile_left'\n",
    ],
)
def test_a_traceback_without_its_beginning_is_left_out_whole(printed: str) -> None:
    """The rest of a traceback is not the program's own words."""
    crash = find_crash(printed)
    assert crash is not None
    assert crash == Crash("KeyError: 'tile_left' (player.py:29, in choose)", "")


@pytest.mark.parametrize("printed", ["    at f (me.js:1:2)\n", "Error: x\n    at <anonymous>\n", "panic: \n"])
def test_a_trace_without_an_exception_or_a_place_is_no_crash(printed: str) -> None:
    """Text that can't be summed up is shown as it is."""
    assert find_crash(printed) is None


@pytest.mark.parametrize("after", ["a\nb\nc\nd\n", ""])
def test_a_traceback_that_ended_nothing_is_no_crash(after: str) -> None:
    """A program may print a traceback and go on, and a traceback may be cut off."""
    printed = HEAD + CHOOSE + ("KeyError: 1\n" + after if after else "")
    assert find_crash(printed) is None
    assert last_words(printed).startswith("Traceback")


def test_a_long_exception_leaves_room_for_its_place() -> None:
    """A long message of the author can't push out the place."""
    summary = last_words(HEAD + '  File "me.py", line 3, in f\n' + f"E: {'x' * 1000}\n")
    assert summary.endswith("x (me.py:3, in f)")
    assert len(summary) <= LAST_WORDS_CHARS
