"""A seat in this process: it asks a function for its moves, and says what became of that as a real seat would.

An answer is made bytes and read again, so that what the wire does not carry is the same foul here and there.
"""

import os
import traceback
from collections.abc import Callable
from typing import Any

import msgspec

from protocol.deal import nonce_commitment
from protocol.decoding import decode
from protocol.errors import RemoteProtocolError
from protocol.frames import encode_frame
from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES
from protocol.messages import FROM_PLAYER, Move, encode

from ..match import commands as c
from ..match import events as e
from ..programs.output import Tail
from .players import Choose


class FunctionSeat:
    """A player that is a function.

    Args:
        now: the match's clock: milliseconds since it was opened.
    """

    def __init__(self, match: str, choose: Choose, now: Callable[[], float]) -> None:
        self._match = match
        self._choose = choose
        self._now = now
        self._nonce = os.urandom(16).hex()
        self.traceback = ""
        """Of what the function raised, for its author; empty: it raised nothing."""

    def answer(self, command: c.Command) -> e.SeatEvent | None:
        """Answer a command; return None if it asks for nothing."""
        match command:
            case c.OfferMatch(seat=seat):
                commitment = nonce_commitment(self._match, seat, self._nonce)
                return e.ReadyReceived(seat=seat, commitment=commitment, **_instants(self._now()))
            case c.AskNonce(seat=seat):
                return e.NonceReceived(seat=seat, nonce=self._nonce, **_instants(self._now()))
            case c.AskMove():
                return self._move(command)
        return None

    def _move(self, command: c.AskMove) -> e.SeatEvent:
        """Ask the function; what it takes too long for has not come, and what it raises ends its part."""
        seat, sent_ms = command.seat, self._now()
        try:
            move = self._choose(msgspec.msgpack.decode(command.view))
            body = _encoded(Move(match=self._match, turn=command.turn, move=move))
        except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever it is, a program would have ended with it
            return self._ended(seat, error)
        at_ms = self._now()
        if at_ms - sent_ms > command.limit_ms:
            return e.DeadlinePassed(seat=seat, at_ms=at_ms, sent_ms=sent_ms, lag_ms=0.0, pending="")
        try:
            came = decode(body, FROM_PLAYER)
        except RemoteProtocolError as error:
            evidence = error.evidence.hex()
            return e.ProtocolBroken(seat=seat, at_ms=at_ms, code=error.code, detail=error.detail, evidence=evidence)
        assert isinstance(came, Move)
        return e.MoveReceived(seat=seat, turn=came.turn, move=came.move, frame=body.hex(), **_instants(sent_ms, at_ms))

    def _ended(self, seat: int, error: BaseException) -> e.ProgramExited:
        own = error.__traceback__.tb_next if error.__traceback__ else None  # this module's frame says nothing
        self.traceback = "".join(traceback.format_exception(type(error), error, own))
        printed = Tail()
        printed.add(self.traceback.encode(errors="replace"))
        return e.ProgramExited(seat=seat, at_ms=self._now(), status=f"exit status 1: {printed.last_words}")


def _instants(sent_ms: float, at_ms: float | None = None) -> dict[str, Any]:
    """Return the instants of an answer; of one that takes no thought, it comes when it is asked for."""
    came_ms = sent_ms if at_ms is None else at_ms
    return {"at_ms": came_ms, "sent_ms": sent_ms, "first_byte_ms": came_ms, "lag_ms": 0.0}


def _encoded(answer: Move) -> bytes:
    """Return an answer's bytes.

    Raises:
        TypeError: the move is no plain data.
        LocalProtocolError: it is too long to be sent.
    """
    try:
        body = encode(answer)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        kinds = "a move is plain data: dicts with strings as keys, lists, strings, numbers, booleans and None"
        raise TypeError(f"{kinds}; not {answer.move!r:.80} ({error})") from None
    encode_frame(body, MAX_FRAME_FROM_PLAYER_BYTES)
    return body
