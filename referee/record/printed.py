"""What a launched program printed: where it is kept beside the record of its match, and what its author reads of it.

Whoever asks for a seat's lines has to be entitled to them.
"""

from pathlib import Path

from msgspec import Struct

from ..text import printable_lines, visible

LAST_LINES = 20
"""Of the output, for the author: any reason of a crash, with the frames that lead to it."""
LINE_CHARS = 200
"""Of each of these lines."""
_READ_BYTES = 65_536


class Printed(Struct, frozen=True, kw_only=True):
    """The end of what a program printed."""

    path: str
    """Of the file that has all that is kept; empty: it is no business of the reader's."""
    lines: tuple[str, ...]
    """The last ones, what is not printable in them as visible escapes."""


def output_path(folder: Path, match: str, seat: int, name: str) -> Path:
    """Return the file that takes what the program on a seat prints.

    Args:
        folder: of the record.
        match: the record's name without its ending.
        seat: the program's.
        name: the player's.
    """
    return folder / f"{match}.seat{seat}.{name}.stderr"


def last_printed(record: Path, seat: int, name: str) -> Printed | None:
    """Return the end of what a program printed; None if nothing is kept beside the record.

    Args:
        record: the file of the match.
        seat: the program's.
        name: the player's, as the record has it: one that leads to another folder has printed nothing.
    """
    kept = _kept(record, seat, name)
    if kept is None:
        return None
    path, text = kept
    return Printed(path=str(path), lines=tuple(map(_shown, text.rstrip().split("\n")[-LAST_LINES:])))


def all_printed(record: Path, seat: int, name: str) -> str | None:
    """Return all that is kept of what a program printed, what is not printable as visible escapes; None if nothing is.

    Args:
        record: the file of the match.
        seat: the program's.
        name: the player's, as in `last_printed`.
    """
    kept = _kept(record, seat, name)
    return None if kept is None else printable_lines(kept[1].replace("\r\n", "\n").expandtabs(4))


def _kept(record: Path, seat: int, name: str) -> tuple[Path, str] | None:
    """Return the file with what a program printed, and its text; None if there is none beside the record."""
    path = output_path(record.parent, record.name.removesuffix(".jsonl"), seat, name)
    if path.parent != record.parent or "\0" in name:
        return None
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - _READ_BYTES, 0))
            return path, file.read(_READ_BYTES).decode(errors="backslashreplace")
    except OSError:
        return None  # not for the reader's eyes, or moved away meanwhile


def _shown(line: str) -> str:
    shown = visible(line.rstrip("\r").expandtabs(4))
    return shown if len(shown) <= LINE_CHARS else f"{shown[: LINE_CHARS - 3]}..."
