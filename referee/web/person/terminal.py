"""A person's seat in the terminal: shows the board and numbered choices."""

# Lines may arrive before the referee requests a move, especially if the input comes from a file. They wait in a queue
# until the seat needs them. So no line is lost, and no line is used as an answer to an older question.

import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from rich.markup import escape

from .seat import Choosing, PersonSeat

Show = Callable[[str], None]
"""Shows lines, in the markup of rich."""
Hear = Callable[[str | None], None]
"""Receives a typed line; None at the end of the input."""
_READ_BYTES = 4096
_LINE_CHARS = 76
_HELP = (
    "a number   choose the option with this number",
    "u          take back the last choice",
    "Enter      make the move that you have chosen",
    "b          show the board again",
    "?          show this help",
    "Ctrl-C     stop; --resume continues the match later",
)


class TerminalSeat:
    """The dialogue of a person in the terminal.

    Args:
        seat: seat of the person.
        show: shows lines.
        leave: called if the input ends in the middle of the match.
    """

    def __init__(self, seat: PersonSeat, show: Show, leave: Callable[[], None]) -> None:
        self._seat = seat
        self._show = show
        self._leave = leave
        self._waiting: deque[str | None] = deque()
        """Lines that were typed before the referee requested a move."""
        self._asked: Choosing | None = None
        self._shown = 0
        """Number of events that the terminal has shown."""
        seat.changed = self._look
        show("You play in this terminal: every choice has a number; ? shows help.")

    def type(self, line: str | None) -> None:
        """Receive a typed line; None at the end of the input."""
        self._waiting.append(line)
        self._work()

    def _look(self) -> None:
        seat = self._seat
        for text in seat.said[self._shown :]:
            self._show(escape(text))
        self._shown = len(seat.said)
        if seat.choosing is not None and seat.choosing is not self._asked and seat.position is not None:
            self._asked = seat.choosing
            self._show_board()
            self._ask()
        if seat.over and self._asked is not None:
            self._asked = None
            self._show(escape(seat.over))
        self._work()

    def _work(self) -> None:
        while self._waiting and self._asked is not None and self._asked is self._seat.choosing:
            line = self._waiting.popleft()
            if line is None:
                self._leave()
                return
            self._obey(self._asked, line.strip())

    def _obey(self, choosing: Choosing, line: str) -> None:
        if line == "" and choosing.move is not None:
            self._seat.make_move()
            return
        if line == "u":
            choosing.undo()
        elif line == "b":
            self._show_board()
        elif line.isdecimal() and line.isascii() and 0 < int(line) <= len(choosing.options):
            choosing.touch(choosing.options[int(line) - 1])
        elif line == "?":
            for text in _HELP:
                self._show(escape(text))
        else:
            self._show(escape(f"{line!a} is not one of the choices"))
        self._ask()

    def _show_board(self) -> None:
        seat = self._seat
        self._show(f"\n{seat.game.draw_text(seat.position, (seat.seat,))}")

    def _ask(self) -> None:
        seat, choosing = self._seat, self._seat.choosing
        assert choosing is not None, "the referee has requested a move"
        chosen = f"chosen: {', '.join(choosing.touched)}" if choosing.touched else "your move"
        keys = [*(["Enter makes the move"] if choosing.move is not None else []), "u takes back", "? shows help"]
        self._show(escape(f"\nseat {seat.seat}, turn {seat.turn}, {seat.left_s:.0f} s left: {chosen}"))
        for line in in_columns([f"{number:>3} {option}" for number, option in enumerate(choosing.options, 1)]):
            self._show(escape(line))
        self._show(escape(f"({'; '.join(keys)})"))


def in_columns(texts: list[str]) -> list[str]:
    """Arrange texts in columns, as lines for a terminal."""
    width = max(map(len, texts), default=0) + 2
    rows = -(-len(texts) // max(_LINE_CHARS // width, 1))
    return ["".join(text.ljust(width) for text in texts[row::rows]).rstrip() for row in range(rows)]


def read_lines(hear: Hear, reactor: Any) -> None:
    """Read typed lines in a thread that ends with the process, and pass them on to the reactor's thread.

    Args:
        hear: receives each line.
        reactor: Twisted's reactor.
    """
    descriptor = sys.stdin.fileno()

    def _read() -> None:
        rest = b""
        while data := os.read(descriptor, _READ_BYTES):  # sys.stdin has a lock that would delay the end
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                reactor.callFromThread(hear, line.decode(errors="replace"))
        reactor.callFromThread(hear, None)

    threading.Thread(target=_read, daemon=True).start()
