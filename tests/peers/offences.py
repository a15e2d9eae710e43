"""Offences of rogues in a match, as a table: name, place in the match, the deed in a few lines, the right verdict.

The offences are silence, slow bytes, floods, answers out of turn and broken connections. Offences that are only bytes
or moves are in offences_made.py.
"""

import select
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from protocol import Code
from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES, PROTOCOL_VERSION
from protocol.messages import Ack, Hello, Move, Nonce, Offer, Ready
from referee.match.fouls import BY_CODE, Cause

from .rogues import NONCE, Rogue, frame, ready

LIMIT_MS = 1000.0
"""Limit of an answer, where the offence is lateness."""
PASS = {"action": "pass"}
OTHER = "another-match"


class Stage(StrEnum):
    """Place in a match of the rogue's offence."""

    OFFERED = "offered"
    """Instead of its ready."""
    TO_REVEAL = "to reveal"
    """Instead of its nonce."""
    ASKED = "asked"
    """Instead of its move."""
    WAITING = "waiting"
    """While another player is asked."""
    TO_CONFIRM = "to confirm"
    """Instead of an ack."""


@dataclass(frozen=True)
class Offence:
    """One row of the table."""

    name: str
    stage: Stage
    do: Callable[[Rogue], None]
    cause: Cause
    code: str | None = None
    """Code of the protocol or rule of the game that it breaks."""
    is_late: bool = False
    """Whether the offence is a limit that passes."""
    settings: dict[str, Any] = field(default_factory=dict)


# --- deeds


def say_nothing(_rogue: Rogue) -> None:
    """Wait to be expelled."""


def drip(data: bytes, gap_s: float) -> Callable[[Rogue], None]:
    """Return the deed of sending bytes one by one, until the referee sends something."""

    def _do(rogue: Rogue) -> None:
        for byte in data:
            if select.select([rogue.sock], [], [], gap_s)[0]:
                return
            rogue.send(bytes([byte]))

    return _do


def pour(data: bytes, times: int) -> Callable[[Rogue], None]:
    """Return the deed of sending the same again and again, as fast as the socket takes it."""

    def _do(rogue: Rogue) -> None:
        for _ in range(times):
            rogue.send(data)

    return _do


def bytes_of(make: Callable[[Rogue], bytes]) -> Callable[[Rogue], None]:
    """Return the deed of sending bytes that depend on the match."""
    return lambda rogue: rogue.send(make(rogue))


def too_late(rogue: Rogue) -> None:
    """Answer correctly, but after the limit."""
    select.select([rogue.sock], [], [], LIMIT_MS / 1000 * 1.02)
    rogue.send(rogue.move(PASS))


def half_closed(rogue: Rogue) -> None:
    """Close the sending direction, and go on reading."""
    rogue.sock.shutdown(socket.SHUT_WR)


def after(first: Callable[[Rogue], bytes], then: Callable[[Rogue], None]) -> Callable[[Rogue], None]:
    """Return the deed of sending something and then doing something else."""

    def _do(rogue: Rogue) -> None:
        rogue.send(first(rogue))
        then(rogue)

    return _do


def go_on(rogue: Rogue) -> None:
    """Offend, and answer after the expulsion as if nothing had happened."""
    rogue.send(b"\0\0\0\x01\xc1")
    for turn in range(1, 50):
        rogue.send(rogue.move(PASS, turn))


# --- the table

_BEGUN = MAX_FRAME_FROM_PLAYER_BYTES.to_bytes(4, "big")
_PART = _BEGUN + b"x"
_TOO_LONG = (MAX_FRAME_FROM_PLAYER_BYTES + 1).to_bytes(4, "big")
_ELSEWHERE = frame(Move(match=OTHER, turn=1, move=PASS))
_HELLO = frame(Hello(version=PROTOCOL_VERSION, name="rogue"))
_MALFORMED = Cause.MALFORMED_MESSAGE


def _ready(rogue: Rogue) -> bytes:
    return frame(ready(rogue.last(Offer)))


def _nonce(rogue: Rogue) -> bytes:
    return frame(Nonce(match=rogue.match, nonce=NONCE))


def _ack(number: int) -> Callable[[Rogue], bytes]:
    return lambda rogue: frame(Ack(match=rogue.match, ack=number))


def _move(turn: int) -> Callable[[Rogue], bytes]:
    return lambda rogue: rogue.move(PASS, turn)


def _late(name: str, stage: Stage, do: Callable[[Rogue], None], cause: Cause = Cause.TIMEOUT) -> Offence:
    limit = "start_ms" if stage is Stage.OFFERED else "per_move_ms"
    return Offence(name, stage, do, cause, is_late=True, settings={limit: LIMIT_MS})


def _unasked(name: str, stage: Stage, make: Callable[[Rogue], bytes]) -> Offence:
    return Offence(name, stage, bytes_of(make), Cause.OUT_OF_TURN, str(Cause.OUT_OF_TURN))


def _gone(name: str, stage: Stage, do: Callable[[Rogue], None]) -> Offence:
    return Offence(name, stage, do, Cause.DISCONNECTED)


def _broken(name: str, stage: Stage, do: Callable[[Rogue], None], code: Code) -> Offence:
    return Offence(name, stage, do, BY_CODE.get(code, _MALFORMED), str(code))


LATE = (
    _late("says nothing to an offer", Stage.OFFERED, say_nothing, Cause.REFUSED_TO_START),
    _late("drips its ready", Stage.OFFERED, drip(_BEGUN + b"x" * 999, 0.01), Cause.REFUSED_TO_START),
    _late("opens nothing", Stage.TO_REVEAL, say_nothing),
    _late("drips its nonce", Stage.TO_REVEAL, drip(_BEGUN + b"x" * 999, 0.01)),
    _late("says nothing", Stage.ASKED, say_nothing),
    _late("confirms nothing", Stage.TO_CONFIRM, say_nothing),
    _late("drips a byte a second", Stage.ASKED, drip(_BEGUN + b"x" * 99, 1.0)),
    _late("drips a byte every 10 ms", Stage.ASKED, drip(_BEGUN + b"x" * 9999, 0.01)),
    _late("drips a prefix", Stage.ASKED, drip(_BEGUN, 0.2)),
    _late("begins a frame and ends it never", Stage.ASKED, pour(_BEGUN + b"x" * 9999, 1)),
    _late("answers when the limit is over", Stage.ASKED, too_late),
)
UNASKED = (
    _unasked("answers an offer twice", Stage.OFFERED, lambda rogue: _ready(rogue) * 2),
    _unasked("says hello to an offer", Stage.OFFERED, lambda _: _HELLO),
    _unasked("moves before the start", Stage.OFFERED, _move(1)),
    _unasked("confirms an offer", Stage.OFFERED, _ack(1)),
    _unasked("opens its nonce at once", Stage.OFFERED, lambda rogue: _ready(rogue) + _nonce(rogue) * 2),
    _unasked("opens its nonce twice", Stage.TO_REVEAL, lambda rogue: _nonce(rogue) * 2),
    _unasked("says ready to a reveal", Stage.TO_REVEAL, _ready),
    _unasked("opens its nonce again", Stage.ASKED, _nonce),
    _unasked("says hello again", Stage.ASKED, lambda _: _HELLO),
    _unasked("says ready again", Stage.ASKED, _ready),
    _unasked("confirms a turn", Stage.ASKED, _ack(1)),
    _unasked("answers turn 0", Stage.ASKED, _move(0)),
    _unasked("answers the next turn", Stage.ASKED, _move(2)),
    _unasked("answers a turn of the far future", Stage.ASKED, _move(2**53)),
    _unasked("answers twice", Stage.ASKED, lambda rogue: rogue.move(PASS) * 2),
    _unasked(
        "answers all turns to come at once", Stage.ASKED, lambda r: b"".join(r.move(PASS, n) for n in range(1, 99))
    ),
    _unasked("answers the turn of another player", Stage.WAITING, _move(1)),
    _unasked("answers a turn before it is asked", Stage.WAITING, _move(2)),
    _unasked("says ready in a match", Stage.WAITING, _ready),
    _unasked("confirms what needs none", Stage.WAITING, _ack(1)),
    _unasked("confirms number 0", Stage.TO_CONFIRM, _ack(0)),
    _unasked("confirms the next number", Stage.TO_CONFIRM, _ack(2)),
    _unasked("confirms twice", Stage.TO_CONFIRM, lambda rogue: _ack(1)(rogue) * 2),
    _unasked("moves in place of an ack", Stage.TO_CONFIRM, _move(1)),
)
GONE = (
    _gone("leaves an offer", Stage.OFFERED, lambda rogue: rogue.sock.close()),
    _gone("leaves rather than open its nonce", Stage.TO_REVEAL, half_closed),
    _gone("leaves when it is asked", Stage.ASKED, half_closed),
    _gone("leaves while another one thinks", Stage.WAITING, half_closed),
    _gone("answers and leaves", Stage.ASKED, after(lambda rogue: rogue.move(PASS), half_closed)),
    _gone("resets the connection", Stage.ASKED, Rogue.reset),
    _gone("resets the connection while another one thinks", Stage.WAITING, Rogue.reset),
)
BROKEN = (
    _broken(
        "leaves in the middle of a frame", Stage.ASKED, after(lambda _: _BEGUN + b"x", half_closed), Code.TRUNCATED
    ),
    _broken(
        "resets in the middle of a frame", Stage.ASKED, after(lambda _: _BEGUN + b"x", Rogue.reset), Code.TRUNCATED
    ),
    _broken("leaves in the middle of a prefix", Stage.WAITING, after(lambda _: b"\0\0", half_closed), Code.TRUNCATED),
    _broken("pours out a frame without an end", Stage.ASKED, pour(_BEGUN + bytes(999_999), 9), Code.NOT_MSGPACK),
    _broken("pours out a frame that nothing asked for", Stage.WAITING, pour(_BEGUN + bytes(9999), 9), Code.FLOOD),
    _broken("announces a long frame while another one thinks", Stage.WAITING, pour(_BEGUN, 1), Code.FLOOD),
    _broken("announces too much while another one thinks", Stage.WAITING, pour(_TOO_LONG, 1), Code.OVERSIZE),
    _broken("pours out prefixes", Stage.ASKED, pour(b"\xff" * 65_536, 99), Code.OVERSIZE),
    _broken(
        "accepts another match",
        Stage.OFFERED,
        pour(frame(Ready(match=OTHER, commitment="0" * 64)), 1),
        Code.WRONG_MATCH,
    ),
    _broken(
        "moves in another match", Stage.ASKED, pour(frame(Move(match=OTHER, turn=1, move=PASS)), 1), Code.WRONG_MATCH
    ),
    _broken("confirms another match", Stage.TO_CONFIRM, pour(frame(Ack(match=OTHER, ack=1)), 1), Code.WRONG_MATCH),
    _broken("goes on after its expulsion", Stage.ASKED, go_on, Code.NOT_MSGPACK),
)
OTHER_NONCE = Offence(
    "opens another nonce",
    Stage.TO_REVEAL,
    bytes_of(lambda rogue: frame(Nonce(match=rogue.match, nonce="f" * 32))),
    _MALFORMED,
    "nonce",
)
OFFENCES = (*LATE, *UNASKED, *GONE, *BROKEN, OTHER_NONCE)
