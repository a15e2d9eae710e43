"""Judges what players were expelled for once more, from the bytes that the record keeps, without the fold."""

from collections.abc import Callable
from typing import Protocol as Interface

import msgspec

from protocol import Code, RemoteProtocolError
from protocol.deal import nonce_commitment
from protocol.decoding import decode
from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES, MAX_UNASKED_BYTES, PREFIX_BYTES
from protocol.messages import FROM_PLAYER, Ack, Message, Move, Nonce, Ready, type_of

from ...match import events as e
from ...match.setup import MatchSetup
from ...text import show_json
from ...tournament.spec import REMOTE
from ..reader import Record, RecordError
from ..schema import CommandForm, Transition

# A foul of the wire is the one kind of expulsion that an outsider can judge without any rule of a game: the bytes are
# in the record, all of them. So they are decoded once more, and must be the breach that was stated; and for an answer
# that was late or illegal, they must be that answer. Bytes of a deadline must be the beginning of a message: had they
# been a whole one, the seat had answered.
#
# Some fouls leave no bytes: a connection that broke, a program that ended, a player that nobody saw. For these the word
# of the referee is all there is.


class Wire(Interface):
    """Reads bytes as the wire of a match's players has them."""

    codes: frozenset[str]
    """Codes of all breaches of this wire."""
    game: str | None
    """The only game that is played on it; None: any game."""
    nonce: str | None
    """Nonce that the referee commits to and opens for players who know neither offers nor tokens; None if they do."""

    def breach(self, code: str, data: bytes, asked: str | None, match: str) -> str:
        """Judge the bytes of a breach again.

        Args:
            code: code of the breach, one of `codes`; it decides whether the bytes begin with a frame's prefix.
            data: bytes that the player sent.
            asked: message that was due: `hello`, `ready`, `nonce`, `move` or `ack`; None: nothing.
            match: the match's name.

        Returns:
            The same code if the bytes deserve it, else the code that they deserve, or a description of them.
        """

    def is_answer(self, data: bytes, event: e.Answer, match: str) -> bool:
        """Return whether bytes are the answer of an event, and nothing else."""

    def is_unfinished(self, data: bytes) -> bool:
        """Return whether bytes may be the beginning of a message; no bytes at all may be one, too."""


def same(one: object, other: object) -> bool:
    """Return whether two plain values are written alike in a record: for Python, true equals 1, and 1.0 equals 1."""
    return msgspec.json.encode(one) == msgspec.json.encode(other)


class OwnWire:
    """The wire of protocol/SPEC.md."""

    codes = frozenset(map(str, Code))
    game: str | None = None
    nonce: str | None = None

    def breach(self, code: str, data: bytes, asked: str | None, match: str) -> str:
        """Judge the bytes of a breach again; see Wire.breach."""
        if code == Code.NOT_READING:
            return f"{len(data)} bytes that were sent" if data else code
        if code == Code.TRUNCATED:
            return code if data and self.is_unfinished(data) else "no unfinished frame"
        if code in (Code.OVERSIZE, Code.EMPTY, Code.FLOOD):
            return _judge_prefix(data, is_asked=asked is not None)
        return _judge_body(data, asked, match)

    def is_answer(self, data: bytes, event: e.Answer, match: str) -> bool:
        """Return whether bytes are an answer, as Wire has it."""
        try:
            message = decode(data, FROM_PLAYER)
        except RemoteProtocolError:
            return False
        return len(data) <= MAX_FRAME_FROM_PLAYER_BYTES and same(
            msgspec.to_builtins(message), msgspec.to_builtins(_make_message(event, match))
        )

    def is_unfinished(self, data: bytes) -> bool:
        """Return whether bytes begin a frame, as Wire has it."""
        length = int.from_bytes(data[:PREFIX_BYTES])
        is_allowed = len(data) < PREFIX_BYTES or 0 < length <= MAX_FRAME_FROM_PLAYER_BYTES
        return is_allowed and len(data) < PREFIX_BYTES + max(length, 1)


def _judge_body(data: bytes, asked: str | None, match: str) -> str:
    """Return which breach the body of a frame is, or which answer."""
    if not 0 < len(data) <= MAX_FRAME_FROM_PLAYER_BYTES:
        return f"{len(data)} bytes"
    try:
        message = decode(data, FROM_PLAYER)
    except RemoteProtocolError as error:
        return str(error.code)
    if type_of(message) != asked:
        return str(Code.OUT_OF_TURN)
    if getattr(message, "match", match) != match:
        return str(Code.WRONG_MATCH)
    return f"a {asked} that was asked for"


def _judge_prefix(data: bytes, *, is_asked: bool) -> str:
    """Return which breach the prefix of a frame is."""
    if len(data) < PREFIX_BYTES:
        return "no whole prefix"
    length = int.from_bytes(data[:PREFIX_BYTES])
    if length > MAX_FRAME_FROM_PLAYER_BYTES:
        return str(Code.OVERSIZE)
    if length == 0:
        return str(Code.EMPTY)
    is_flood = length > MAX_UNASKED_BYTES and not is_asked
    return str(Code.FLOOD) if is_flood else f"a frame of {length} bytes"


def _make_message(event: e.Answer, match: str) -> Message:
    match event:
        case e.MoveReceived():
            return Move(match=match, turn=event.turn, move=event.move)
        case e.ReadyReceived():
            return Ready(match=match, commitment=event.commitment)
        case e.NonceReceived():
            return Nonce(match=match, nonce=event.nonce)
        case e.AckReceived():
            return Ack(match=match, ack=event.ack)
    raise AssertionError(f"{event} is no answer")


OWN_WIRE = OwnWire()


_SELF_ANSWERED = ("offer-match", "ask-nonce")
"""Requests that the referee answers itself, at once, for players that know no offers and nonces."""


def check_dialect(record: Record, wire: Wire) -> None:
    """Check what a dialect settles: the game, confirmations, nonces, and that nobody is waited for or comes back.

    Args:
        record: record whose header names the dialect.
        wire: wire of the dialect.

    Raises:
        RecordError: the first line that this dialect can't produce.
    """
    setup, dialect = record.header.setup, record.header.dialect
    is_fit = wire.game in (None, setup.game) and setup.acknowledge and record.header.context is None
    if not is_fit:
        description = f"{setup.game}, {'with' if setup.acknowledge else 'without'} confirmations"
        description += "" if record.header.context is None else ", in a tournament"
        raise RecordError(record.path, 0, f"a match that {dialect} can be spoken in", description)
    if wire.nonce is None:
        return
    open_requests = dict[int, str]()
    for number, transition in enumerate(record.transitions, 1):
        if not _can_happen(transition, transition.forms, open_requests, setup, wire.nonce):
            description = f"{type(transition.event).__name__} at {transition.event.at_ms} ms"
            raise RecordError(record.path, number, f"what can happen where {dialect} is spoken", description)


def _can_happen(
    transition: Transition, commands: list[CommandForm], asked: dict[int, str], setup: MatchSetup, nonce: str
) -> bool:
    """Judge one line, and note what each seat is asked in it."""
    event, before = transition.event, dict(asked)
    asked.update(
        {command.seat: command.command for command in commands if command.seat is not None and command.limit_ms}
    )
    fouls = [command.foul or {} for command in commands if command.command == "expel-seat"]
    match event:
        case e.ReadyReceived():
            return not fouls and event.commitment == nonce_commitment(setup.match, event.seat, nonce)
        case e.NonceReceived():
            return not fouls and event.nonce == nonce
        case e.Answer():
            return all(foul.get("code") != "out-of-turn" for foul in fouls)
        case e.DeadlinePassed():
            return before.get(event.seat) not in _SELF_ANSWERED
        case e.MatchResumed() | e.SeatReturned():
            return False
    return True


FindWire = Callable[[str], Wire]
"""A dialect's name -> what reads the bytes of its players."""

_ASKS = {"offer-match": "ready", "ask-nonce": "nonce", "ask-move": "move"}
"""Command -> what it asks for; every other one that sets a limit asks for an ack."""
_BEGINNINGS = (e.MatchOpened, e.MatchResumed)
_PROGRAM_EVENTS = (e.ProgramExited, e.SeatReturned)
_SHOWN_CHARS = 80


class _Evidence:
    """Requests of each seat, as the lines show them, and the evidence held against it."""

    def __init__(self, record: Record, wire: Wire, shown: int | None) -> None:
        self._path = record.path
        self._match = record.header.setup.match
        self._wire = wire
        self._shown = shown
        self._programs = dict(enumerate(record.header.programs or ()))
        self._asked: dict[int, str] = {}
        self._unseated: set[int] = set()
        """Seats that have sent nothing since the referee was started."""
        self._seats = range(len(record.header.setup.names))

    def take(self, number: int, event: e.Event, commands: list[CommandForm]) -> None:
        """Judge one line.

        Raises:
            RecordError: the evidence does not show what was judged.
        """
        if isinstance(event, _BEGINNINGS):
            self._unseated = {*self._seats}
        elif isinstance(event, _PROGRAM_EVENTS) and not self._is_fit(event):
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
            due_message = self._asked.get(event.seat)
        elif event.seat in self._unseated:
            due_message = "hello" if event.stage is e.Stage.NEW else None
        else:
            raise self._error(number, "a player that was seated", f"one that is {event.stage}")
        if self._is_hidden(event):
            return
        breach = self._wire.breach(event.code, self._bytes(number, event.evidence), due_message, self._match)
        if breach != event.code:
            raise self._error(number, f"bytes that are {event.code}", f"{breach}: {event.evidence}")

    def _is_fit(self, event: e.ProgramExited | e.SeatReturned) -> bool:
        """Return whether the seat has a program that the referee started, as what ended, and not what came back."""
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


_OF_A_LIMIT = (e.Ending.SILENT, e.Ending.COMPUTING, e.Ending.WAITING)
"""Endings of a seat whose program had not ended when its limit passed."""


def _find_misfit(event: e.ProgramExited) -> str:
    """Return what the ending of a program should be by its status; empty: the two agree."""
    how, _, words = event.status.partition(": ")
    is_refused = "its hello had been refused" in event.status
    if (event.ending is e.Ending.ENDED) > (how == "exit status 0"):
        return "ending ended only with exit status 0"
    if how == "exit status 0" and event.ending in (e.Ending.FAILED, e.Ending.SPEECHLESS):
        return "ending ended, for the exit status is 0"
    if event.ending in _OF_A_LIMIT or (event.ending is e.Ending.STRANGER and not is_refused):
        return "an ending that its status tells of"
    if event.ending is e.Ending.OUT_OF_MEMORY and not words:
        return "words about memory, for the program ended for want of it"
    if event.ending is e.Ending.SPEECHLESS and words:
        return "no words of a program that had printed nothing"
    return ""


def no_dialects(name: str) -> Wire:
    """Refuse every dialect; for matches whose players speak the referee's own wire.

    Raises:
        LookupError: always.
    """
    raise LookupError(f"the dialect {name} is not known here")


def check_evidence(record: Record, find_wire: FindWire, shown: int | None = None) -> None:
    """Check the bytes of every answer and breach that led to an expulsion, and what came before each deadline.

    Args:
        record: record whose commands were verified by the fold.
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
    for number, transition in enumerate(record.transitions, 1):
        evidence.take(number, transition.event, transition.forms)
