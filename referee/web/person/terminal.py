"""A person's seat in the terminal: the board, and the choices by number."""

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
"""Takes a line of what is typed; None: nothing more will be."""
_READ_BYTES = 4096
_LINE_CHARS = 76
_HELP = (
    "a number   choose that",
    "u          take back what you chose last",
    "Enter      hand in the move that you have chosen",
    "b          show the board again",
    "?          show this",
    "Ctrl-C     stop; the match goes on later with --resume",
)


class TerminalSeat:
    """What a person sees and types.

    Args:
        seat: the person's.
        show: shows lines.
        leave: called when the person has gone, in the middle of the match.
    """

    def __init__(self, seat: PersonSeat, show: Show, leave: Callable[[], None]) -> None:
        self._seat = seat
        self._show = show
        self._leave = leave
        self._waiting: deque[str | None] = deque()
        """Lines that were typed before anything was asked."""
        self._asked: Choosing | None = None
        self._told = 0
        """Number of events that were shown."""
        seat.changed = self._look
        show("You play in this terminal: every choice has a number, and ? helps.")

    def type(self, line: str | None) -> None:
        """Take a line; None: there are no more."""
        self._waiting.append(line)
        self._work()

    def _look(self) -> None:
        seat = self._seat
        for text in seat.said[self._told :]:
            self._show(escape(text))
        self._told = len(seat.said)
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

    def _obey(self, asked: Choosing, line: str) -> None:
        if line == "" and asked.move is not None:
            self._seat.hand_in()
            return
        if line == "u":
            asked.undo()
        elif line == "b":
            self._show_board()
        elif line.isdecimal() and line.isascii() and 0 < int(line) <= len(asked.options):
            asked.touch(asked.options[int(line) - 1])
        elif line == "?":
            for text in _HELP:
                self._show(escape(text))
        else:
            self._show(escape(f"{line!a} is none of the choices"))
        self._ask()

    def _show_board(self) -> None:
        seat = self._seat
        self._show(f"\n{seat.game.draw_text(seat.position, (seat.seat,))}")

    def _ask(self) -> None:
        seat, asked = self._seat, self._seat.choosing
        assert asked is not None, "something is asked"
        chosen = f"chosen: {', '.join(asked.touched)}" if asked.touched else "your move"
        keys = [*(["Enter hands it in"] if asked.move is not None else []), "u takes back", "? helps"]
        self._show(escape(f"\nseat {seat.seat}, turn {seat.turn}, {seat.left_s:.0f} s left: {chosen}"))
        for line in in_columns([f"{number:>3} {option}" for number, option in enumerate(asked.options, 1)]):
            self._show(escape(line))
        self._show(escape(f"({'; '.join(keys)})"))


def in_columns(texts: list[str]) -> list[str]:
    """Return texts as lines of a terminal, one below the other in columns."""
    width = max(map(len, texts), default=0) + 2
    rows = -(-len(texts) // max(_LINE_CHARS // width, 1))
    return ["".join(text.ljust(width) for text in texts[row::rows]).rstrip() for row in range(rows)]


def read_lines(hear: Hear, reactor: Any) -> None:
    """Read what is typed, in a thread that ends with the process, and have it heard in the reactor's.

    Args:
        hear: takes each line.
        reactor: Twisted's.
    """
    descriptor = sys.stdin.fileno()

    def _read() -> None:
        rest = b""
        while data := os.read(descriptor, _READ_BYTES):  # sys.stdin's own lock would not let the process end
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                reactor.callFromThread(hear, line.decode(errors="replace"))
        reactor.callFromThread(hear, None)

    threading.Thread(target=_read, daemon=True).start()
