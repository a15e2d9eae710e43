"""Explains a match to the author of one of its players, from nothing that this seat may not know."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct

from ...errors import BadRequest, RefereeError
from ...match.commands import Result
from ...plugins import find_game, installed
from ...record.explain import Explanation, Heard, Said, explain
from ...record.folder import last_printed, record_files
from ...record.reader import IsRedacted, read_header, read_record
from ...record.redacted_record import check_redacted, redacted_lines
from ...record.schema import read_line
from ...text import counted

_SEAT_DIGITS = 2
_LISTED = 5
"""Of the records of a folder, so many are named."""


class BadExplanation(BadRequest):
    """There is no such record, seat or turn to be explained; the text says what there is."""


class RecordView(Struct, frozen=True, kw_only=True):
    """A record as one seat may see it."""

    path: Path
    seat: int
    lines: Sequence[bytes]
    """Redacted, without line feeds."""
    is_whole: bool
    """Whether the file has more than the seat may see."""

    def explained(self) -> Explanation:
        """Explain it, with what the seat's program printed if that is there.

        Raises:
            PluginError: its game is not installed.
        """
        lines = [read_line(line) for line in self.lines]
        setup = lines[0].fields["setup"]
        printed = last_printed(self.path, self.seat, setup["names"][self.seat])
        return explain(lines, self.seat, find_game(setup["game"]).rules, printed)

    def write(self, target: Path) -> None:
        """Write it to a new file, which can be handed out.

        Raises:
            RefereeError: there is such a file, or it can't be written.
        """
        try:
            with target.open("xb") as file:
                file.writelines(line + b"\n" for line in self.lines)
        except OSError as error:
            raise RefereeError(f"can't write {target}: {error.strerror}") from None


def view_of(record: Path, seat: str | None) -> RecordView:
    """Return a record as one seat may see it.

    Args:
        record: the file; it may be redacted for this seat already.
        seat: number or name; None: the one that was expelled.

    Raises:
        BadExplanation: there is no such seat, it is not clear which one is meant, or the record is a folder.
        RecordError: there is no such record, or it does not hold.
        PluginError: its game is not installed.
    """
    check_is_record(record, "explain")
    try:
        whole = read_record(record)
    except IsRedacted:
        return _redacted_view(record, seat)
    result = None if whole.result is None else whole.result.result
    number = _expelled(whole.header.setup.names, result) if seat is None else find_seat(whole.header.setup.names, seat)
    return view_of_seat(record, number)


def view_of_seat(record: Path, seat: int) -> RecordView:
    """Return a whole record as one seat may see it.

    Raises:
        RecordError: it does not hold.
        PluginError: its game is not installed.
    """
    return RecordView(
        path=record, seat=seat, lines=redacted_lines(record, find_game, seat, find_wire=installed().wire), is_whole=True
    )


def _redacted_view(record: Path, seat: str | None) -> RecordView:
    """Return the view of a record that was redacted before."""
    shown = check_redacted(record, find_game, find_wire=installed().wire).seat
    if seat is not None and (number := find_seat(read_header(record).setup.names, seat)) != shown:
        raise BadExplanation(f"{record} is redacted for another seat than {number}: for {shown}")
    return RecordView(path=record, seat=shown, lines=record.read_bytes().splitlines(), is_whole=False)


def find_seat(names: Sequence[str], seat: str) -> int:
    """Return the number of a seat.

    Args:
        names: of the players, by seat.
        seat: number or name.

    Raises:
        BadExplanation: there is no such seat; the text lists those that there are.
    """
    if seat in names:
        return names.index(seat)
    if seat.isdecimal() and len(seat) <= _SEAT_DIGITS and int(seat) < len(names):
        return int(seat)
    near = "".join(f"; did you mean {name}?" for name in get_close_matches(seat, names, n=1))
    raise BadExplanation(f"there is no seat {seat!r}, only {_seats(names)}{near}")


def turn_of(found: Explanation, turn: int) -> list[Said | Heard]:
    """Return all that was said in a turn, from its request to the next one.

    Raises:
        BadExplanation: the match has no such turn.
    """
    turns = found.result.turns
    if turn > turns:
        raise BadExplanation(f"the match has {counted(turns, 'turn')}, there is no turn {turn}")
    return [part for part in found.conversation if _number_of_turn(part) == turn]


def _number_of_turn(part: Said | Heard) -> object:
    is_expulsion = isinstance(part, Said) and "foul" in part.content
    return part.content["foul"]["turn"] if is_expulsion else part.content.get("turn")


def _expelled(names: Sequence[str], result: Result | None) -> int:
    """Return the only seat that was expelled.

    Raises:
        BadExplanation: none was, or more than one.
    """
    fouls = () if result is None else result.fouls
    if len(fouls) != 1:
        raise BadExplanation(f"say which seat: {_seats(names)}")
    return fouls[0].seat


def _seats(names: Sequence[str]) -> str:
    return ", ".join(f"{number} {name}" for number, name in enumerate(names))


def check_is_record(path: Path, command: str) -> None:
    """Check that a path is not a whole folder.

    Args:
        path: of a record.
        command: takes one record alone.

    Raises:
        BadExplanation: it is a folder; the text names records in it.
    """
    if not path.is_dir():
        return
    files = record_files(path)
    if not files:
        raise BadExplanation(f"{command} takes one record; in the folder {path} there is none (*.jsonl)")
    listed = ", ".join(map(str, files[:_LISTED]))
    rest = f" and {len(files) - _LISTED} more" if len(files) > _LISTED else ""
    raise BadExplanation(f"{command} takes one record; in this folder are {listed}{rest}")
