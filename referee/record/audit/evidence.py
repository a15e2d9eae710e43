"""Judges what players were expelled for once more, from the bytes that the record keeps, without the fold.

What no bytes can show is not judged here: that a connection or a program ended, that nobody came, that a player reads
nothing.
"""

from collections.abc import Callable

from ...match import events as e
from ...text import show_json
from ...tournament.spec import REMOTE
from ..reader import Record, RecordError
from ..schema import CommandForm
from .dialects import check_dialect
from .wires import OWN_WIRE, Wire

FindWire = Callable[[str], Wire]
"""A dialect's name -> what reads the bytes of its players."""

_ASKS = {"offer-match": "ready", "ask-nonce": "nonce", "ask-move": "move"}
"""Command -> what it asks for; every other one that sets a limit asks for an ack."""
_BEGINNINGS = (e.MatchOpened, e.MatchResumed)
_OF_PROGRAMS = (e.ProgramExited, e.SeatReturned)
_SHOWN_CHARS = 80


class _Evidence:
    """What each seat was asked, as the lines tell it, and the evidence that is held against it."""

    def __init__(self, record: Record, wire: Wire, shown: int | None) -> None:
        self._path = record.path
        self._match = record.header.setup.match
        self._wire = wire
        self._shown = shown
        self._programs = dict(enumerate(record.header.programs or ()))
        self._asked: dict[int, str] = {}
        self._unseated: set[int] = set()
        """Of whom nothing was heard since the referee was started."""
        self._seats = range(len(record.header.setup.names))

    def take(self, number: int, event: e.Event, commands: list[CommandForm]) -> None:
        """Judge one line.

        Raises:
            RecordError: the evidence does not show what was judged.
        """
        if isinstance(event, _BEGINNINGS):
            self._unseated = {*self._seats}
        elif isinstance(event, _OF_PROGRAMS) and not self._is_fit(event):
            raise self._error(
                number, "what the header's programs allow", f"{type(event).__name__} of seat {event.seat}"
            )
        elif isinstance(event, e.ProgramExited) and not self._is_hidden(event) and (wrong := _find_misfit(event)):
            raise self._error(number, wrong, f"ending {event.ending}, status {show_json(event.status)}")
        elif isinstance(event, e.SeatEvent):
            is_expelled = ("expel-seat", event.seat) in [(command.command, command.seat) for command in commands]
            self._judge(number, event, is_expelled=is_expelled)
            self._unseated.discard(event.seat)
            if is_expelled or isinstance(event, e.Answer):
                self._asked.pop(event.seat, None)
        for command in commands:
            if command.seat is not None and command.limit_ms is not None and command.command != "extend-limit":
                self._asked[command.seat] = _ASKS.get(command.command, "ack")

    def _judge(self, number: int, event: e.SeatEvent, *, is_expelled: bool) -> None:
        match event:
            case e.Answer():
                self._judge_answer(number, event, is_expelled=is_expelled)
            case e.DeadlinePassed() if not self._is_hidden(event):
                self._judge_rest(number, event.pending)
            case e.SeatVacant() if not self._is_hidden(event):
                self._judge_rest(number, event.evidence)
            case e.ProtocolBroken() if is_expelled:
                self._judge_breach(number, event)

    def _judge_answer(self, number: int, event: e.Answer, *, is_expelled: bool) -> None:
        """Check that an answer's bytes are kept where it led to an expulsion, and only there, and say what it says."""
        if not is_expelled:
            if event.frame:
                raise self._error(number, "no bytes of an answer that was taken", event.frame)
        elif not event.frame or not (
            self._is_hidden(event) or self._wire.is_answer(self._bytes(number, event.frame), event, self._match)
        ):
            raise self._error(number, "the answer in its bytes, all of them", event.frame or "none")

    def _judge_rest(self, number: int, rest: str) -> None:
        if not self._wire.is_unfinished(self._bytes(number, rest)):
            raise self._error(number, "bytes of a message that is not complete, or none", rest)

    def _judge_breach(self, number: int, event: e.ProtocolBroken) -> None:
        if event.code not in self._wire.codes:
            raise self._error(number, "a code of the wire", show_json(event.code))
        if event.stage is None:
            asked = self._asked.get(event.seat)
        elif event.seat in self._unseated:
            asked = "hello" if event.stage is e.Stage.NEW else None
        else:
            raise self._error(number, "a player that was seated", f"one that is {event.stage}")
        if self._is_hidden(event):
            return
        found = self._wire.breach(event.code, self._bytes(number, event.evidence), asked, self._match)
        if found != event.code:
            raise self._error(number, f"bytes that are {event.code}", f"{found}: {event.evidence}")

    def _is_fit(self, event: e.ProgramExited | e.SeatReturned) -> bool:
        """Tell whether the seat has a program that the referee started, as what ended, and not what came back."""
        if self._shown is not None:
            return True
        is_started = self._programs.get(event.seat, REMOTE) != REMOTE
        return is_started == isinstance(event, e.ProgramExited)

    def _is_hidden(self, event: e.SeatEvent) -> bool:
        return self._shown not in (None, event.seat)

    def _bytes(self, number: int, text: str) -> bytes:
        try:
            data = bytes.fromhex(text)
        except ValueError:
            data = b""
        if data.hex() != text:
            raise self._error(number, "bytes in hex", text)
        return data

    def _error(self, number: int, expected: str, found: str) -> RecordError:
        return RecordError(self._path, number, expected, found[:_SHOWN_CHARS])


def _find_misfit(event: e.ProgramExited) -> str:
    """Return what the ending of a program should be by its status; empty: the two agree."""
    how, _, words = event.status.partition(": ")
    is_refused = "its hello had been refused" in event.status
    if (event.ending is e.Ending.ENDED) > (how == "exit status 0"):
        return "ending ended only with exit status 0"
    if how == "exit status 0" and event.ending in (e.Ending.FAILED, e.Ending.SPEECHLESS):
        return "ending ended, for the exit status is 0"
    if event.ending is e.Ending.SILENT or (event.ending is e.Ending.STRANGER and not is_refused):
        return "an ending that its status tells of"
    if event.ending is e.Ending.OUT_OF_MEMORY and not words:
        return "words about memory, for the program ended for want of it"
    if event.ending is e.Ending.SPEECHLESS and words:
        return "no words of a program that had printed nothing"
    return ""


def no_dialects(name: str) -> Wire:
    """Refuse a dialect: for matches whose players speak the referee's own wire.

    Raises:
        LookupError: always.
    """
    raise LookupError(f"the dialect {name} is not known here")


def check_evidence(record: Record, find_wire: FindWire, shown: int | None = None) -> None:
    """Check the bytes of every answer and breach that led to an expulsion, and what came before each deadline.

    Args:
        record: one whose commands are known to be the fold's.
        find_wire: reads the bytes of players that speak a dialect.
        shown: the only seat whose bytes stand in it, if it is a redacted one; None: all.

    Raises:
        RecordError: the first line whose bytes do not show what was judged.
        Exception: what find_wire raises for a dialect that it does not know.
    """
    dialect = record.header.dialect
    wire = OWN_WIRE if dialect is None else find_wire(dialect)
    evidence = _Evidence(record, wire, shown)
    if dialect is not None:
        check_dialect(record, wire)
    for number, step in enumerate(record.steps, 1):
        evidence.take(number, step.event, step.forms)
