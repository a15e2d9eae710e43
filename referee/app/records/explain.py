"""Explains a match to the author of one of its players, and shows nothing that this player may not know.

An explanation is made from the redacted lines of the record, even if the whole record is at hand. So it can't show more
than the redacted file, which may be handed out.
"""

import json
import shlex
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from msgspec import Struct

from ...check.remedies import foul_remedy
from ...errors import BadRequest, RefereeError
from ...match.commands import Result, find_rank
from ...match.events import Ending
from ...match.fouls import Cause, Foul
from ...pages.words import describe_detail
from ...plugins import find_game, installed
from ...record.explain import ExplainedFoul, Explanation, Heard, Said, explain
from ...record.folder import read_last_output, record_files
from ...record.reader import IsRedacted, read_header, read_record
from ...record.redacted_record import check_redacted_record, redact
from ...record.schema import read_line
from ...text import counted, printable, printable_json

_SEAT_DIGITS = 2
_LISTED = 5
"""Most records of a folder that an error names."""


class RecordView(Struct, frozen=True, kw_only=True):
    """A record as one seat may see it."""

    path: Path
    seat: int
    lines: Sequence[bytes]
    """Redacted lines, without line feeds."""
    is_whole: bool
    """True if the file has more than the seat may see."""

    def explain_seat(self) -> Explanation:
        """Return the explanation, with the last output of the seat's program if there is any.

        Raises:
            PluginError: the game is not installed.
        """
        lines = [read_line(line) for line in self.lines]
        setup = lines[0].fields["setup"]
        printed = read_last_output(self.path, self.seat, setup["names"][self.seat])
        return explain(lines, self.seat, find_game(setup["game"]).rules, printed)

    def write(self, target: Path) -> None:
        """Write the view to a new file, which can be handed out.

        Raises:
            RefereeError: the file exists, or can't be written.
        """
        try:
            with target.open("xb") as file:
                file.writelines(line + b"\n" for line in self.lines)
        except OSError as error:
            raise RefereeError(f"can't write {target}: {error.strerror}") from None


def find_view(record: Path, seat: str | None) -> RecordView:
    """Return a record as one seat may see it.

    Args:
        record: path of the record, which may be redacted for this seat.
        seat: number or name; None: the seat that was expelled.

    Raises:
        BadRequest: there is no such seat, it is not clear which seat is meant, or the path is a folder.
        RecordError: there is no such record, or it does not hold.
        PluginError: its game is not installed.
    """
    check_is_record(record, "explain")
    try:
        whole = read_record(record)
    except IsRedacted:
        return _redacted_view(record, seat)
    names = whole.header.setup.names
    result = None if whole.result is None else whole.result.result
    number = _find_expelled(names, result) if seat is None else find_seat(names, seat)
    return view_as_seat(record, number)


def view_as_seat(record: Path, seat: int) -> RecordView:
    """Return a whole record as one seat may see it.

    Raises:
        RecordError: it does not hold.
        PluginError: its game is not installed.
    """
    return RecordView(
        path=record, seat=seat, lines=redact(record, find_game, seat, find_wire=installed().wire), is_whole=True
    )


def _redacted_view(record: Path, seat: str | None) -> RecordView:
    """Return the view of a record that was redacted before."""
    shown = check_redacted_record(record, find_game, find_wire=installed().wire).seat
    if seat is not None and (number := find_seat(read_header(record).setup.names, seat)) != shown:
        raise BadRequest(f"{record} is redacted for another seat than {number}: for {shown}")
    return RecordView(path=record, seat=shown, lines=record.read_bytes().splitlines(), is_whole=False)


def find_seat(names: Sequence[str], seat: str) -> int:
    """Return the number of a seat.

    Args:
        names: names of the players, by seat.
        seat: number or name.

    Raises:
        BadRequest: there is no such seat; the text lists all seats.
    """
    # Names come before numbers, because a player may be called `1`.
    if seat in names:
        return names.index(seat)
    if seat.isdecimal() and len(seat) <= _SEAT_DIGITS and int(seat) < len(names):
        return int(seat)
    near = "".join(f"; did you mean {name}?" for name in get_close_matches(seat, names, n=1))
    raise BadRequest(f"there is no seat {seat!r}, only {_seats(names)}{near}")


def select_turn(explanation: Explanation, turn: int) -> list[Said | Heard]:
    """Return all messages of a turn, from its request to the next one.

    Raises:
        BadRequest: the match has no such turn.
    """
    turns = explanation.result.turns
    if turn > turns:
        raise BadRequest(f"the match has {counted(turns, 'turn')}, there is no turn {turn}")
    return [part for part in explanation.conversation if _number_of_turn(part) == turn]


def _number_of_turn(part: Said | Heard) -> object:
    is_expulsion = isinstance(part, Said) and "foul" in part.content
    return part.content["foul"]["turn"] if is_expulsion else part.content.get("turn")


def _find_expelled(names: Sequence[str], result: Result | None) -> int:
    """Return the only seat that was expelled.

    Raises:
        BadRequest: no seat was expelled, or more than one.
    """
    fouls = () if result is None else result.fouls
    if len(fouls) != 1:
        raise BadRequest(f"say which seat: {_seats(names)}")
    return fouls[0].seat


def _seats(names: Sequence[str]) -> str:
    return ", ".join(f"{number} {name}" for number, name in enumerate(names))


def check_is_record(path: Path, command: str) -> None:
    """Check that a path is not a folder.

    Args:
        path: path of a record.
        command: command that takes one record.

    Raises:
        BadRequest: it is a folder; the text names records in it.
    """
    if not path.is_dir():
        return
    files = record_files(path)
    if not files:
        raise BadRequest(f"{command} takes one record; in the folder {path} there is none (*.jsonl)")
    listed = ", ".join(map(str, files[:_LISTED]))
    rest = f" and {len(files) - _LISTED} more" if len(files) > _LISTED else ""
    raise BadRequest(f"{command} takes one record; in this folder are {listed}{rest}")


MOVE_CODE = "move"
"""Code of the foul that an answer does not have the form of a move."""
_SILENCE_EVENTS = ("deadline-passed", "seat-vacant")
"""Events of a seat that sent nothing, or no complete message."""


def word_explain_command(record: Path, explanation: Explanation, turn: int | None = None) -> str:
    """Return the shell command that explains a match, or one turn of it, to a seat."""
    words = ("referee", "explain", str(record), explanation.names[explanation.seat])
    return shlex.join(words if turn is None else (*words, "--turn", str(turn)))


def word_standing(explanation: Explanation) -> str:
    """Return how the match ended for the seat."""
    result = explanation.result
    if result.void:
        return f"void, a fault of the referee: {result.void}"
    rank = find_rank(result.ranking, explanation.seat)
    others = [explanation.names[seat] for seat in result.winners if seat != explanation.seat]
    won = (
        ""
        if explanation.seat not in result.winners
        else f", together with {' and '.join(others)}"
        if others
        else ", the winner"
    )
    points = result.scores[explanation.seat]
    return f"rank {rank} of {len(explanation.names)}{won}, {counted(points, 'point')}, ended by {result.reason}"


def foul_lines(explanation: Explanation, verdict: ExplainedFoul) -> Iterator[tuple[str, str]]:
    """Yield label and text of each fact about the seat's foul."""
    foul = verdict.foul
    if verdict.rule is not None:
        yield "rule", f"{verdict.rule.id}: {verdict.rule.text}"
        yield "source", verdict.rule.source
    elif foul.code:
        where = f"`referee list {explanation.game} --schema`" if foul.code == MOVE_CODE else "protocol/SPEC.md, Fouls"
        yield "code", f"{printable(foul.code)} ({where})"
    yield "because", printable(describe_detail(foul))
    answers = [
        part.content["move"] for part in explanation.conversation if isinstance(part, Heard) and "move" in part.content
    ]
    if answers and (foul.rule or foul.code == MOVE_CODE):
        yield "answer", compact_json(answers[-1])
    for label, text in expected_and_come(verdict, explanation.conversation):
        yield label, printable(text)
    if verdict.evidence is not None:
        yield "bytes", verdict.evidence.hex
    yield "fix", printable(foul_remedy(foul, explanation.game, has_moved=has_moved(explanation, verdict)))


def has_moved(explanation: Explanation, verdict: ExplainedFoul) -> bool:
    """Return whether a move was due when the seat fouled, and the seat had moved before."""
    moves = (part for part in explanation.conversation if isinstance(part, Heard) and part.event == "move-received")
    return (verdict.expected or "").startswith("a move ") and any(part.line < verdict.line for part in moves)


def expected_and_come(verdict: ExplainedFoul, conversation: Sequence[Said | Heard]) -> Iterator[tuple[str, str]]:
    """Yield label and text of what was expected of the seat, and what came instead."""
    evidence = verdict.evidence
    if verdict.expected is not None:
        yield "expected", verdict.expected
    if evidence is not None:
        read = "" if evidence.decoded is None else f": {compact_json(evidence.decoded)}"
        problem = f", {evidence.problem}" if evidence.problem else ""
        yield "came", f"{counted(len(evidence.hex) // 2, 'byte')}{problem}{read}"
        return
    heard = [part for part in conversation if isinstance(part, Heard) and part.line == verdict.line]
    if any(part.event in _SILENCE_EVENTS for part in heard):
        yield "came", _silence(verdict.foul)


def _silence(foul: Foul) -> str:
    """Return what a seat had sent before it fell silent."""
    if foul.ending is Ending.STRANGER:
        return "a hello whose `token` is not the content of REFEREE_TOKEN"
    if foul.ending is Ending.SILENT:
        return "its hello, which was read; only `ready`, the answer to `offer`, did not come"
    return "nothing in this time" if foul.cause == Cause.TIMEOUT else "nothing"


def compact_json(value: Any) -> str:
    """Return a value as JSON on one line, with unprintable characters escaped."""
    return printable_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
