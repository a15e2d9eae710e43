"""Judges expulsions again from the bytes that the record keeps, without the code that ran the match."""

from collections.abc import Callable, Mapping
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

# An outsider can judge a breach of the protocol without the rules of any game, because the record holds all bytes of
# it. So the bytes are decoded again here, and must show the stated breach. If an answer was late or illegal, its bytes
# must decode to this answer. Bytes that had arrived at a deadline must be an incomplete message: a whole one would have
# been an answer.
#
# Some fouls leave no bytes: a connection that broke, a program that ended, a player that never came. For these there is
# only the word of the referee.


class Wire(Interface):
    """Decodes bytes in the wire protocol of a match's players."""

    codes: frozenset[str]
    """Error codes of all breaches of this protocol."""
    game: str | None
    """The only game that can be played with this protocol; None if any game can."""
    nonce: str | None
    """Nonce that the referee uses for players whose protocol has no offers, nonces and tokens; None if it has them."""

    def breach(self, code: str, data: bytes, asked: str | None, match: str) -> str:
        """Judge the bytes of a breach again.

        Args:
            code: stated code of the breach, one of `codes`. It decides whether the bytes begin with a frame's prefix.
            data: bytes that the player sent.
            asked: message that was due: `hello`, `ready`, `nonce`, `move` or `ack`; None if no message was due.
            match: the match's name.

        Returns:
            The right code for these bytes; a description of the bytes if they are no breach.
        """

    def is_answer(self, data: bytes, event: e.Answer, match: str) -> bool:
        """Return whether bytes are exactly the answer that an event reports."""

    def is_unfinished(self, data: bytes) -> bool:
        """Return whether bytes can be an incomplete message. No bytes at all count as one, too."""


def same(one: object, other: object) -> bool:
    """Return whether two plain values look the same in a record.

    `==` would not do: in Python, True equals 1, and 1.0 equals 1.
    """
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
        """Return whether bytes are an answer; see Wire.is_answer."""
        try:
            message = decode(data, FROM_PLAYER)
        except RemoteProtocolError:
            return False
        return len(data) <= MAX_FRAME_FROM_PLAYER_BYTES and same(
            msgspec.to_builtins(message), msgspec.to_builtins(_make_message(event, match))
        )

    def is_unfinished(self, data: bytes) -> bool:
        """Return whether bytes are an incomplete frame; see Wire.is_unfinished."""
        length = int.from_bytes(data[:PREFIX_BYTES])
        is_allowed = len(data) < PREFIX_BYTES or 0 < length <= MAX_FRAME_FROM_PLAYER_BYTES
        return is_allowed and len(data) < PREFIX_BYTES + max(length, 1)


def _judge_body(data: bytes, asked: str | None, match: str) -> str:
    """Return the code of the breach that the body of a frame is, or a description if it is none."""
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
    return f"a valid {asked}, which was asked for"


def _judge_prefix(data: bytes, *, is_asked: bool) -> str:
    """Return the code of the breach that the prefix of a frame is, or a description if it is none."""
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
"""Requests that the referee answers itself, at once, for players whose protocol has no offers and nonces."""


def check_dialect(record: Record, wire: Wire) -> None:
    """Check that a match fits its dialect: the game, the confirmations, the nonces, and the events that can happen.

    Args:
        record: record whose header names the dialect.
        wire: wire of the dialect.

    Raises:
        RecordError: a line is impossible with this dialect. The error names the first such line.
    """
    setup, dialect = record.header.setup, record.header.dialect
    is_fit = wire.game in (None, setup.game) and setup.acknowledge and record.header.context is None
    if not is_fit:
        description = f"{setup.game}, {'with' if setup.acknowledge else 'without'} confirmations"
        description += "" if record.header.context is None else ", in a tournament"
        raise RecordError(record.path, 0, f"a match that is possible with players of {dialect}", description)
    if wire.nonce is None:
        return
    open_requests = dict[int, str]()
    for number, transition in enumerate(record.transitions, 1):
        if not _can_happen(transition, open_requests, setup, wire.nonce):
            description = f"{type(transition.event).__name__} at {transition.event.at_ms} ms"
            raise RecordError(record.path, number, f"an event that is possible with players of {dialect}", description)
        for command in transition.forms:
            if command.seat is not None and command.limit_ms:
                open_requests[command.seat] = command.command


def _can_happen(transition: Transition, asked: Mapping[int, str], setup: MatchSetup, nonce: str) -> bool:
    """Return whether a line is possible, given the requests of the lines before it, by seat."""
    event = transition.event
    fouls = [command.foul or {} for command in transition.forms if command.command == "expel-seat"]
    match event:
        case e.ReadyReceived():
            return not fouls and event.commitment == nonce_commitment(setup.match, event.seat, nonce)
        case e.NonceReceived():
            return not fouls and event.nonce == nonce
        case e.Answer():
            return all(foul.get("code") != "out-of-turn" for foul in fouls)
        case e.DeadlinePassed():
            return asked.get(event.seat) not in _SELF_ANSWERED
        case e.MatchResumed() | e.SeatReturned():
            return False
    return True


FindWire = Callable[[str], Wire]
"""Function that returns the wire protocol of a dialect, given its name."""

_ASKS = {"offer-match": "ready", "ask-nonce": "nonce", "ask-move": "move"}
"""Command -> the answer that it asks for. All other commands with a limit ask for an ack."""
_BEGINNINGS = (e.MatchOpened, e.MatchResumed)
_PROGRAM_EVENTS = (e.ProgramExited, e.SeatReturned)
_SHOWN_CHARS = 80


class _Evidence:
    """Checks the lines of a record one after the other: the evidence in each, and what the seat was asked then."""

    def __init__(self, record: Record, wire: Wire, shown: int | None) -> None:
        self._path = record.path
        self._match = record.header.setup.match
        self._wire = wire
        self._shown = shown
        """The only seat whose bytes are visible in a redacted record; None for a whole record."""
        self._programs = dict(enumerate(record.header.programs or ()))
        self._asked: dict[int, str] = {}
        self._unseated: set[int] = set()
        """Seats without any event since the referee was started."""
        self._seats = range(len(record.header.setup.names))

    def take(self, number: int, event: e.Event, commands: list[CommandForm]) -> None:
        """Judge one line.

        Raises:
            RecordError: the evidence does not support the verdict.
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
        """Check that the bytes of an answer are kept only if it led to an expulsion, and that they decode to it."""
        if not is_expelled:
            if event.frame:
                raise self._error(number, "no bytes of an answer that was accepted", event.frame)
        elif not event.frame or not (
            self._is_hidden(event) or self._wire.is_answer(self._bytes(number, event.frame), event, self._match)
        ):
            raise self._error(number, "all bytes of the answer", event.frame or "none")

    def _judge_rest(self, number: int, rest: str) -> None:
        if not self._wire.is_unfinished(self._bytes(number, rest)):
            raise self._error(number, "bytes of an incomplete message, or none", rest)

    def _judge_breach(self, number: int, event: e.ProtocolBroken) -> None:
        if event.code not in self._wire.codes:
            raise self._error(number, "a code of the wire", show_json(event.code))
        if event.stage is None:
            due_message = self._asked.get(event.seat)
        elif event.seat in self._unseated:
            due_message = "hello" if event.stage is e.Stage.NEW else None
        else:
            raise self._error(number, "a player with a seat", f"one without a seat, at stage {event.stage}")
        if self._is_hidden(event):
            return
        breach = self._wire.breach(event.code, self._bytes(number, event.evidence), due_message, self._match)
        if breach != event.code:
            raise self._error(number, f"bytes that are {event.code}", f"{breach}: {event.evidence}")

    def _is_fit(self, event: e.ProgramExited | e.SeatReturned) -> bool:
        """Return whether an event fits the seat's player: only a program that the referee started can exit.

        Only any other player can return after it lost its connection.
        """
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
"""Endings that are possible only if the seat's limit passed while its program was running."""


def _find_misfit(event: e.ProgramExited) -> str:
    """Describe what is expected in place of an ending that contradicts the status; return "" if the two agree."""
    how, _, words = event.status.partition(": ")
    is_refused = "its hello had been refused" in event.status
    if (event.ending is e.Ending.ENDED) > (how == "exit status 0"):
        return "ending ended only with exit status 0"
    if how == "exit status 0" and event.ending in (e.Ending.FAILED, e.Ending.SPEECHLESS):
        return "ending ended, because the exit status is 0"
    if event.ending in _OF_A_LIMIT or (event.ending is e.Ending.STRANGER and not is_refused):
        return "an ending that fits its status"
    if event.ending is e.Ending.OUT_OF_MEMORY and not words:
        return "words about memory, because the program ran out of it"
    if event.ending is e.Ending.SPEECHLESS and words:
        return "no words, because the program had printed nothing"
    return ""


def no_dialects(name: str) -> Wire:
    """Refuse every dialect, because only matches in the referee's own protocol are expected.

    Raises:
        LookupError: always.
    """
    raise LookupError(f"the dialect {name} is not known here")


def check_evidence(record: Record, find_wire: FindWire, shown: int | None = None) -> None:
    """Check the bytes of all answers and breaches that led to an expulsion, and the bytes that came before deadlines.

    Args:
        record: record whose commands the fold has verified.
        find_wire: function that returns the wire protocol of a dialect.
        shown: the only seat whose bytes are visible in a redacted record; None for a whole record.

    Raises:
        RecordError: the bytes in a line do not support the verdict. The error names the first such line.
        Exception: find_wire does not know the dialect.
    """
    dialect = record.header.dialect
    wire = OWN_WIRE if dialect is None else find_wire(dialect)
    evidence = _Evidence(record, wire, shown)
    if dialect is not None:
        check_dialect(record, wire)
    for number, transition in enumerate(record.transitions, 1):
        evidence.take(number, transition.event, transition.forms)
