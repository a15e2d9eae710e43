"""A match on an interactive terminal: keys, pace, and a screen that fits. Refuses to know records: it is given frames.

`Playback` is what the keys do to a position and a pace; it knows no terminal and no clock. `screen` lays a frame out
within so many rows and columns. `watch_live` is the edge: the terminal's modes, its keys and its size.
"""

import contextlib
import os
import re
import select
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from rich.console import Console
from rich.text import Text

from ...match.machine import Match
from ...pages.frames import Frame, Kind, Watched
from ...pages.words import duration, gains, headline, move_text, ranking, reasons
from ...text import printable

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
FRAME_S = 1.5
"""Between two frames at speed 1: long enough to find the new tiles on the board."""
POLL_S = 0.2
"""How soon a terminal that was resized is drawn anew."""
MAX_TOLD_ROWS = 5
"""Of what happened, above the board: a move of Q has one or two, a foul with its rule three."""
KEYS_LINE = "space play  ←→ step  +- speed  ↑↓ scroll  home end  q quit"

_DRAW, _DRAWN = "\x1b[?2026h", "\x1b[?2026l"
"""Around a whole screen: terminals that know it show all at once, without flicker; others ignore it."""
_ENDING = (signal.SIGTERM, signal.SIGHUP)
_KEY = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Za-z]|[^\x1b]", re.DOTALL)
_PARTIAL = re.compile(r"\x1b(\[[0-9;]*|O)?$")
_KEYS_OF = {
    "right": ("\x1b[C", "\x1bOC", "n"),
    "left": ("\x1b[D", "\x1bOD", "p"),
    "home": ("\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~", "g"),
    "end": ("\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~", "G"),
    "up": ("\x1b[A", "\x1bOA", "k"),
    "down": ("\x1b[B", "\x1bOB", "j"),
    "pan left": ("h",),
    "pan right": ("l",),
    "faster": ("+", "="),
    "slower": ("-", "_"),
    "toggle": (" ",),
    "quit": ("q", "Q", "\x03", "\x04"),
}
_NAMED = {sent: key for key, all_sent in _KEYS_OF.items() for sent in all_sent}
"""What terminals send -> what it means. Letters repeat what less and vi use."""


def read_keys(data: str) -> tuple[list[str], str]:
    """Take the keys out of what a terminal sent.

    Returns:
        The meanings of the keys, unknown ones left out; and the beginning of a key whose rest has not arrived yet.
    """
    partial = _PARTIAL.search(data)
    complete, rest = (data[: partial.start()], partial[0]) if partial else (data, "")
    return [_NAMED[key] for key in _KEY.findall(complete) if key in _NAMED], rest


@dataclass
class Playback:
    """Where a watcher is in a match, and how fast it moves on.

    Args:
        count: how many frames there are, at least one.
    """

    count: int
    index: int = 0
    is_playing: bool = False
    speed: float = 1.0
    due_s: float = 0.0
    """When the next frame is due, while it plays."""
    down: int = 0
    """Rows scrolled away from where the board is shown by itself."""
    across: int = 0
    """Columns scrolled away to the left."""
    is_over: bool = False

    def press(self, key: str, now_s: float) -> None:
        """Do what a key means.

        Args:
            key: a meaning, as read_keys returns it.
            now_s: the clock.
        """
        match key:
            case "right" | "left" | "home" | "end":
                last = self.count - 1
                goal = {"right": self.index + 1, "left": self.index - 1, "home": 0, "end": last}[key]
                self.index = min(max(goal, 0), last)
                self.is_playing = False
                self.down = 0
            case "toggle":
                self._toggle(now_s)
            case "faster" | "slower":
                at = SPEEDS.index(self.speed) + (1 if key == "faster" else -1)
                self.speed = SPEEDS[min(max(at, 0), len(SPEEDS) - 1)]
                self.due_s = min(self.due_s, now_s + FRAME_S / self.speed)
            case "up" | "down":
                self.down += 1 if key == "down" else -1
            case "pan left" | "pan right":
                self.across = max(0, self.across + (3 if key == "pan right" else -3))
            case "quit":
                self.is_over = True

    def _toggle(self, now_s: float) -> None:
        self.is_playing = not self.is_playing
        if self.is_playing and self.index == self.count - 1:
            self.index = 0
        self.due_s = now_s + FRAME_S / self.speed

    def tick(self, now_s: float) -> None:
        """Go on to the next frame if it is due; stop at the last one."""
        if self.is_playing and now_s >= self.due_s:
            self.index = min(self.index + 1, self.count - 1)
            self.is_playing = self.index < self.count - 1
            self.due_s = now_s + FRAME_S / self.speed
            self.down = 0

    def wait_s(self, now_s: float) -> float:
        """Return how long nothing will happen by itself."""
        return min(max(self.due_s - now_s, 0.0), POLL_S) if self.is_playing else POLL_S


# --- the screen


def told(watched: Watched, index: int) -> list[Text]:
    """Return what happened in a frame, line by line; in the last one, also how the match ended.

    Args:
        watched: the match.
        index: number of the frame.
    """
    frame, match = watched.frames[index], watched.match
    names = match.setup.names
    first = Text(f"turn {frame.turn}", style="bold")
    first.append(f"  {headline(frame, names)}", style="red" if frame.foul or frame.fault else "green")
    if frame.seat is not None and frame.kind is not Kind.VOID:
        first.append(f" (seat {frame.seat})", style="not bold")
    if gain := gains(watched.frames, index):
        first.append(f"  {gain:+}")
    if frame.took_ms is not None:
        first.append(f"  after {duration(frame.took_ms)}", style="not bold dim")
    lines = [first]
    if frame.took_ms is not None:
        lines.append(Text(move_text(frame.move)))
    lines += (Text.assemble((f"{label}: ", "dim"), reason) for label, reason in reasons(frame, match.game.rules))
    if index == len(watched.frames) - 1 and match.result is not None and match.result.void is None:
        places = ", ".join(f"{row.place}. {row.name} {row.points}" for row in ranking(names, match.result))
        lines.append(Text.assemble(("ranking: ", "dim"), places))
    return lines


def board_of(frame: Frame, match: Match) -> list[Text]:
    """Return the board of a frame, line by line."""
    if frame.state is None:
        return [Text("nothing was dealt yet", style="dim")]
    return list(Text.from_markup(match.game.draw_text(frame.state)).split("\n", allow_blank=True))


def screen(watched: Watched, playback: Playback, columns: int, rows: int) -> list[Text]:
    """Lay out a frame: what happened, the board as far as there is room, what stands below it, the status line.

    The board is shown around what has changed in it, and scrolled from there. What follows its last empty line (hands,
    scores) stays in sight, if it is short.

    Args:
        watched: the match.
        playback: the position in it. What it is scrolled by is put back within bounds.
        columns: width of the screen.
        rows: height of the screen.

    Returns:
        Exactly so many rows, none of them longer than the screen is wide.
    """
    frame, match = watched.frames[playback.index], watched.match
    top = _wrapped(told(watched, playback.index), columns)
    board, below = _split(board_of(frame, match), rows // 3)
    before = board_of(watched.frames[max(playback.index - 1, 0)], match)
    room = max(rows - len(top) - len(below) - 2, 1)
    start = _start(board, before, room, playback)
    playback.across = max(0, min(playback.across, max((len(line) for line in board), default=0) - columns))
    seats = "  ".join(f"{seat} {printable(name)}" for seat, name in enumerate(match.setup.names))
    hidden = f"  rows {start + 1}-{start + room} of {len(board)}" if len(board) > room else ""
    shown = [
        *top,
        Text.assemble((seats, "dim"), (hidden, "yellow")),
        *(line[playback.across :] for line in board[start : start + room]),
        *(Text() for _ in range(room - len(board))),
        *below,
    ]
    lines = [*shown[: rows - 1], *(Text() for _ in range(rows - 1 - len(shown))), _status(playback)]
    for line in lines:
        line.truncate(columns, overflow="crop", pad=False)
    return lines


def _wrapped(lines: list[Text], columns: int) -> list[Text]:
    """Wrap what happened; the first lines of what is too long."""
    console = Console(width=columns)
    wrapped = [part for line in lines for part in line.wrap(console, columns)]
    if len(wrapped) > MAX_TOLD_ROWS:
        return [*wrapped[: MAX_TOLD_ROWS - 1], Text("…", style="dim")]
    return wrapped


def _split(board: list[Text], most: int) -> tuple[list[Text], list[Text]]:
    """Part a board from what stands below its last empty line, if that has at most so many lines."""
    empty = [number for number, line in enumerate(board) if not line.plain.strip()]
    if not empty or len(board) - empty[-1] > most:
        return board, []
    return board[: empty[-1]], board[empty[-1] :]


def _start(board: list[Text], before: list[Text], room: int, playback: Playback) -> int:
    """Return the first row of the board to show, and bound how far the watcher has scrolled."""
    last = max(len(board) - room, 0)
    seen = {_gist(line) for line in before}
    # Row 0 numbers the columns in most games: it changes whenever the board grows, wherever that is.
    changed = [number for number, line in enumerate(board) if number and _gist(line) not in seen]
    middle = (changed[0] + changed[-1]) // 2 if changed else 0
    start = min(max(middle - room // 2, 0), last)
    playback.down = min(max(playback.down, -start), last - start)
    return start + playback.down


def _gist(line: Text) -> str:
    """Return a row without its empty squares: it is the same row when the board has grown sideways."""
    return re.sub(r"[\s·]+", " ", line.plain).strip()


def _status(playback: Playback) -> Text:
    state = "playing" if playback.is_playing else "paused"
    return Text(f" {state} {playback.speed:g}x {playback.index + 1}/{playback.count}  {KEYS_LINE} ", style="reverse")


# --- the terminal


class Terminal:
    """The terminal, without echo and with a screen of its own while it is entered.

    Args:
        console: what draws on it.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._fd = sys.stdin.fileno()
        self._saved = termios.tcgetattr(self._fd)
        self._unread = ""
        self.is_stale = True
        """Whether somebody else may have drawn on it."""

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Take the terminal over, and give it back as it was, whatever happens."""
        kept = {number: signal.getsignal(number) for number in (*_ENDING, signal.SIGTSTP, signal.SIGINT)}
        try:
            for number in (*_ENDING, signal.SIGTSTP):
                signal.signal(number, self._on_signal)
            self._enter()
            yield
        finally:
            for number in kept:
                signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not stop the first one's tidying
            self._leave()
            for number, handler in kept.items():
                signal.signal(number, handler)

    def _enter(self) -> None:
        tty.setcbreak(self._fd)
        self._write("\x1b[?1049h\x1b[?25l")
        self.is_stale = True

    def _leave(self) -> None:
        with contextlib.suppress(OSError, termios.error):  # the terminal itself may be gone
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._saved)
            self._write("\x1b[?25h\x1b[?1049l")

    def _on_signal(self, number: int, _where: FrameType | None) -> None:
        if number != signal.SIGTSTP:
            raise SystemExit(128 + number)
        self._leave()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._enter()

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    @property
    def size(self) -> os.terminal_size:
        """How many columns and rows it has now."""
        return os.get_terminal_size(sys.stdout.fileno())

    def keys(self, wait_s: float) -> list[str]:
        """Wait for keys, and return what they mean; `quit` if the terminal is gone."""
        if not select.select([self._fd], [], [], wait_s)[0]:
            return []
        try:
            data = os.read(self._fd, 1024)
        except OSError:
            data = b""
        if not data:
            return ["quit"]
        keys, self._unread = read_keys(self._unread + data.decode("latin-1"))
        return keys

    def draw(self, lines: Sequence[Text]) -> None:
        """Show lines from the top, one a row."""
        self.is_stale = False  # first: a Ctrl-Z while it is drawn makes it stale again
        with self._console.capture() as drawn:
            self._console.print(Text("\n").join(lines), end="", soft_wrap=True, highlight=False)
        # A row is erased before it is written: after its last column, an erasure would take that column with it.
        rows = enumerate(drawn.get().split("\n"), 1)
        self._write(_DRAW + "".join(f"\x1b[{number}H\x1b[2K{row}" for number, row in rows) + _DRAWN)


def watch_live(watched: Watched, console: Console, clock: Callable[[], float]) -> None:
    """Let a person watch a match on the terminal that stdin and stdout are, until they quit.

    Args:
        watched: the match, of at least one frame.
        console: what draws on stdout.
        clock: monotonic seconds.
    """
    terminal = Terminal(console)
    playback = Playback(len(watched.frames))
    drawn: Any = None
    with contextlib.suppress(KeyboardInterrupt), terminal.entered():
        while not playback.is_over:
            size = terminal.size
            if (size, replace(playback, due_s=0.0)) != drawn or terminal.is_stale:
                terminal.draw(screen(watched, playback, *size))
                drawn = (size, replace(playback, due_s=0.0))
            for key in terminal.keys(playback.wait_s(clock())):
                playback.press(key, clock())
            playback.tick(clock())
