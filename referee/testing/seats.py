"""Seats without a network, which answer a match's commands. Their instants are computed; no clock is read."""

from collections.abc import Callable
from typing import Any

import msgspec

from protocol.deal import nonce_commitment

from ..games.base import Game
from ..match import commands as c
from ..match import events as e

AnyGame = Game[Any, Any, Any]
Choose = Callable[[Any], Any]
"""Function from a view to a move, both as plain data, as messages hold them."""


# No clock is read, so a match of hours takes milliseconds, a deadline can be hit to the millisecond, and a failure can
# be repeated on every machine.


class ScriptedSeat:
    """A player without a network: says ready, opens its nonce, confirms, and answers every turn.

    Subclasses misbehave by returning another event from `answer`, or None to stay silent.

    Args:
        choose: function from a plain view to a plain move.
        takes_ms: time for each answer, in milliseconds.
        nonce: 16 bytes in hex.
        match: name of the match, on which the commitment to the nonce depends; it may be set later.
    """

    def __init__(self, choose: Choose, *, takes_ms: float = 1.0, nonce: str = "00" * 16, match: str = "") -> None:
        self.choose = choose
        self.takes_ms = takes_ms
        self.nonce = nonce
        self.match = match

    def answer(self, command: c.SeatCommand, sent_ms: float) -> e.SeatEvent | None:
        """Return the answer to a command; None if it asks for nothing.

        Args:
            command: the command for the seat.
            sent_ms: instant at which it is sent, in milliseconds.
        """
        at_ms = sent_ms + self.takes_ms
        seat = command.seat
        instants: Any = {"at_ms": at_ms, "sent_ms": sent_ms, "first_byte_ms": at_ms, "lag_ms": 0.0}
        match command:
            case c.OfferMatch():
                commitment = nonce_commitment(self.match, seat, self.nonce)
                return e.ReadyReceived(seat=seat, commitment=commitment, **instants)
            case c.AskNonce():
                return e.NonceReceived(seat=seat, nonce=self.nonce, **instants)
            case c.AskMove():
                move = self.choose(msgspec.msgpack.decode(command.view))
                return e.MoveReceived(seat=seat, turn=command.turn, move=move, **instants)
            case c.StartSeat(ack=int(ack)) | c.TellSeat(ack=int(ack)) | c.EndSeat(ack=int(ack)):
                return e.AckReceived(seat=seat, ack=ack, **instants)
            case _:
                return None


def plain(value: Any) -> Any:
    """Return a value in the form that it has in messages: dict, list, str, int, float, bool and None.

    >>> from referee.games.q.forms import Exchange
    >>> plain(Exchange())
    {'action': 'exchange'}
    """
    return msgspec.msgpack.decode(msgspec.msgpack.encode(value))
