"""The player of a record: keys and pace by tables, screens of any size, and a process at a terminal of its own."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import pytest

from referee.cli.views.playback import FRAME_S, POLL_S, SPEEDS, Playback, read_keys, screen
from referee.pages.frames import watch
from referee.plugins import load
from referee.record.reader import read_record

from ..pages.matches import hostile, ordinary

DEADLINE_S = 60.0


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Give the record of a match of four players."""
    return ordinary(6).write(tmp_path / "match.jsonl")


# --- keys and pace, without a terminal

KEYS = [
    ("\x1b[C", ["right"]),
    ("\x1bOD", ["left"]),
    ("n p", ["right", "toggle", "left"]),
    ("\x1b[H\x1b[F\x1b[1~\x1b[4~", ["home", "end", "home", "end"]),
    ("+=-_", ["faster", "faster", "slower", "slower"]),
    ("\x1b[A\x1b[Bhl", ["up", "down", "pan left", "pan right"]),
    ("x\x1b[3~é\x00", []),
    ("\x1bq", ["quit"]),
    ("\x03", ["quit"]),
]


@pytest.mark.parametrize(("sent", "keys"), KEYS)
def test_keys_are_read_however_they_arrive(sent: str, keys: list[str]) -> None:
    """Whole and sign by sign, the same bytes mean the same keys; unknown ones mean nothing."""
    assert read_keys(sent) == (keys, "")
    found: list[str] = []
    rest = ""
    for sign in sent:
        new, rest = read_keys(rest + sign)
        found += new
    assert (found, rest) == (keys, "")


@pytest.mark.parametrize(
    ("keys", "index"),
    [
        (["right"], 1),
        (["left"], 0),
        (["end"], 4),
        (["end", "right"], 4),
        (["end", "left"], 3),
        (["right", "right", "home"], 0),
        (["end", "toggle"], 0),
        (["up", "down", "pan left", "faster"], 0),
    ],
)
def test_keys_move_within_the_match(keys: list[str], index: int) -> None:
    """Steps end at the first and the last frame; playing from the last begins anew."""
    playback = Playback(5)
    for key in keys:
        playback.press(key, 0.0)
    assert playback.index == index


def test_it_plays_at_its_pace() -> None:
    """A frame is due after its time and not before; speed divides it; at the last frame it stops; a step pauses."""
    playback = Playback(3)
    playback.tick(100.0)
    assert (playback.index, playback.wait_s(100.0)) == (0, POLL_S)
    playback.press("toggle", 100.0)
    playback.tick(100.0 + FRAME_S - 0.01)
    assert playback.index == 0
    playback.tick(100.0 + FRAME_S)
    assert (playback.index, playback.is_playing) == (1, True)
    playback.press("faster", 102.0)
    assert playback.due_s <= 102.0 + FRAME_S / 2
    playback.tick(102.0 + FRAME_S / 2)
    assert (playback.index, playback.is_playing) == (2, False)
    playback.press("toggle", 200.0)
    playback.press("right", 200.0)
    assert (playback.index, playback.is_playing) == (1, False)
    for _ in range(20):
        playback.press("faster", 0.0)
    assert playback.speed == SPEEDS[-1]
    for _ in range(20):
        playback.press("slower", 0.0)
    assert playback.speed == SPEEDS[0]


@pytest.mark.parametrize("size", [(80, 24), (200, 60), (40, 12), (20, 6), (5, 2), (1, 1)])
@pytest.mark.parametrize("told", ["long", "hostile"])
def test_a_screen_is_never_exceeded(tmp_path: Path, told: str, size: tuple[int, int]) -> None:
    """Whatever happens in a match and however small a terminal is, as many rows as it has, none too wide."""
    story = ordinary(40) if told == "long" else hostile()
    watched = watch(read_record(story.write(tmp_path / "match.jsonl")), load().game)
    playback = Playback(len(watched.frames))
    for key in ["right"] * 6 + ["end", "left"] + ["down", "pan right"] * 8 + ["up", "up", "pan left"] * 8:
        playback.press(key, 0.0)
        rows = [line.plain for line in screen(watched, playback, *size)]
        assert len(rows) == size[1]
        assert max(map(len, rows)) <= size[0]
        assert all(row.isprintable() for row in rows)


def test_the_change_is_in_sight(tmp_path: Path) -> None:
    """On a screen that can't hold the board, the row of the tile just placed is shown, and the hands below it."""
    watched = watch(read_record(ordinary(40).write(tmp_path / "match.jsonl")), load().game)
    for index, frame in enumerate(watched.frames):
        rows = [line.plain for line in screen(watched, Playback(len(watched.frames), index), 80, 16)]
        if frame.took_ms is not None and frame.move["action"] == "place":
            row = frame.move["tiles"][0][0]
            assert [line for line in rows if re.match(rf" *{row} ", line)]
        assert [line for line in rows if line.startswith("seat 3")]


# --- at a terminal

_SEIZE = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, sys.argv[1:])"
"""Makes the pty the controlling terminal, so that its Ctrl-C and Ctrl-Z are signals."""
_DRAW, _DRAWN = "\x1b[?2026h\x1b[1H\x1b[2K", "\x1b[?2026l"
_ROW = re.compile(r"\x1b\[\d+H\x1b\[2K")
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_OWN, _BACK = "\x1b[?1049h", "\x1b[?25h\x1b[?1049l"
_CRASH = """
import sys
from pathlib import Path
from referee.cli.common import out
from referee.cli.views.playback import watch_live
from referee.plugins import load
from referee.record.reader import read_record
from referee.pages.frames import watch
def clock():
    raise RuntimeError("no time")
watch_live(watch(read_record(Path(sys.argv[1])), load().game), out, clock)
"""


class AtTerminal:
    """A Python program with a terminal of its own, 80 columns by 24 rows.

    Args:
        arguments: of Python.
    """

    def __init__(self, *arguments: str | Path, term: str = "xterm-256color") -> None:
        self._master, self._slave = pty.openpty()
        self.resize(80, 24)
        self._modes = termios.tcgetattr(self._slave)
        self.sent = ""
        self.process = subprocess.Popen(
            [sys.executable, "-c", _SEIZE, sys.executable, *map(str, arguments)],
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            start_new_session=True,
            env={**os.environ, "TERM": term},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)
        os.close(self._slave)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    @property
    def rows(self) -> list[str]:
        """What was last drawn as a whole, row by row."""
        whole = self.sent.rpartition(_DRAWN)[0].rpartition(_DRAW)[2]
        return [_STYLE.sub("", row) for row in _ROW.split(whole)]

    def wait_for(self, text: str) -> list[str]:
        """Read until the screen shows a text; return its rows."""
        self.read_until(lambda: text in "\n".join(self.rows))
        return self.rows

    def wait_for_end(self) -> int:
        """Read until the program has ended; return its status."""
        self.read_until(lambda: self.process.poll() is not None)
        while self._read(0):
            pass
        return self.process.returncode

    def read_until(self, is_there: Callable[[], bool]) -> None:
        """Read until something holds."""
        give_up = time.monotonic() + DEADLINE_S
        while not is_there():
            assert time.monotonic() < give_up, self.sent[-3000:]
            self._read(0.05)

    def _read(self, wait_s: float) -> bool:
        if not select.select([self._master], [], [], wait_s)[0]:
            return False
        self.sent += os.read(self._master, 1 << 16).decode()
        return True

    def is_restored(self) -> bool:
        """Tell whether the terminal is as it was before: modes, cursor, and the screen of before."""
        is_back = self.sent.rfind(_BACK) > self.sent.rfind(_OWN)
        return is_back and self._modes == termios.tcgetattr(self._slave)


def at_terminal(record: Path) -> AtTerminal:
    """Start the player of a record."""
    return AtTerminal("-m", "referee", "replay", record)


def test_a_person_steps_through_a_match(record: Path) -> None:
    """Keys lead through the turns; each screen says what happened; q gives the terminal back, with status 0."""
    last = len(watch(read_record(record), load().game).frames)
    with at_terminal(record) as terminal:
        rows = terminal.wait_for(f" paused 1x 1/{last}")
        assert rows[0] == "turn 0  the deal"
        assert len(rows) == 24
        for keys, index, says in (
            ("\x1b[C", 2, "turn 1  ada (seat 0)"),
            ("n", 3, "turn 2  bob (seat 1)"),
            ("p", 2, "turn 1  ada (seat 0)"),
            ("\x1b[D", 1, "turn 0  the deal"),
            ("\x1b[F", last, "ranking: 1. "),
            ("\x1b[H", 1, "turn 0  the deal"),
        ):
            terminal.type(keys)
            rows = terminal.wait_for(f" paused 1x {index}/{last}")
            assert says in "\n".join(rows)
            assert "q quit" in rows[-1]
        terminal.type("q")
        assert terminal.wait_for_end() == 0
        assert terminal.is_restored()


def test_a_match_plays_by_itself(record: Path) -> None:
    """Space starts it, it ends at the last frame, and the speed is what plus and minus made it."""
    last = len(watch(read_record(record), load().game).frames)
    with at_terminal(record) as terminal:
        terminal.wait_for(" paused 1x")
        terminal.type("-")
        terminal.wait_for(" paused 0.5x")
        terminal.type("+++++ ")
        terminal.wait_for(" playing 16x")
        terminal.wait_for(f" paused 16x {last}/{last}")
        terminal.type(" ")
        terminal.wait_for(" playing 16x 2/")
        terminal.type(" q")
        assert terminal.wait_for_end() == 0
        assert terminal.is_restored()


def test_another_size(record: Path) -> None:
    """A terminal that is resized is drawn anew."""
    with at_terminal(record) as terminal:
        terminal.wait_for(" paused 1x 1/")
        terminal.resize(40, 10)
        terminal.read_until(lambda: len(terminal.rows) == 10)
        assert max(map(len, terminal.rows)) <= 40
        terminal.type("q")
        assert terminal.wait_for_end() == 0


@pytest.mark.parametrize(
    ("number", "status"), [(None, 0), (signal.SIGINT, 0), (signal.SIGTERM, 128 + 15), (signal.SIGHUP, 128 + 1)]
)
def test_an_end_from_outside_restores_the_terminal(record: Path, number: signal.Signals | None, status: int) -> None:
    """Ctrl-C ends it quietly, and so does any signal that asks it to end."""
    with at_terminal(record) as terminal:
        terminal.wait_for(" paused 1x 1/")
        if number is None:
            terminal.type("\x03")
        else:
            terminal.process.send_signal(number)
        assert terminal.wait_for_end() == status
        assert terminal.is_restored()
        assert "Traceback" not in terminal.sent


def test_a_crash_restores_the_terminal(record: Path) -> None:
    """Even a fault of the player's own leaves a terminal that can be used, with the traceback on it."""
    with AtTerminal("-c", _CRASH, record) as terminal:
        assert terminal.wait_for_end() == 1
        assert terminal.is_restored()
        assert terminal.sent.rpartition(_BACK)[2].rstrip().endswith("RuntimeError: no time")


def test_ctrl_z_gives_the_terminal_back_for_a_while(record: Path) -> None:
    """A stopped player leaves the shell a clean terminal, and takes it again when it goes on."""
    with at_terminal(record) as terminal:
        terminal.wait_for(" paused 1x 1/")
        terminal.type("n")
        terminal.wait_for(" paused 1x 2/")
        terminal.type("\x1a")
        terminal.read_until(terminal.is_restored)
        os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED)
        drawn = len(terminal.sent)
        terminal.process.send_signal(signal.SIGCONT)
        terminal.read_until(lambda: " paused 1x 2/" in terminal.sent[drawn:])
        terminal.type("q")
        assert terminal.wait_for_end() == 0
        assert terminal.is_restored()


@pytest.mark.parametrize(("options", "term"), [(("--turn", "1"), "xterm"), ((), "dumb")])
def test_a_terminal_can_just_be_printed_on(record: Path, options: tuple[str, ...], term: str) -> None:
    """One turn, or a terminal that can't be drawn on, is printed and left."""
    with AtTerminal("-m", "referee", "replay", record, *options, term=term) as terminal:
        assert terminal.wait_for_end() == 0
        assert _OWN not in terminal.sent
        assert "turn 1: seat 0, ada" in _STYLE.sub("", terminal.sent)
