"""Seats without a network, and what drives a match between them.

Instants are counted up, no clock is read.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ..games.base import Game
from ..match import commands as c
from ..match import events as e
from ..match.machine import Match

if TYPE_CHECKING:
    from random import Random

AnyGame = Game[Any, Any, Any]
Choose = Callable[[Any], Any]
"""From a view to a move, both plain, as they stand on the wire."""


class ScriptedSeat:
    """A player without a network: says ready, confirms, and answers every turn.

    Subclasses misbehave by returning another event from `answer`, or None to stay silent.

    Args:
        choose: from a plain view to a plain move.
        takes_ms: how long each answer takes.
        nonce: 16 bytes in hex.
    """

    def __init__(self, choose: Choose, *, takes_ms: float = 1.0, nonce: str = "00" * 16) -> None:
        self.choose = choose
        self.takes_ms = takes_ms
        self.nonce = nonce

    def answer(self, command: c.SeatCommand, sent_ms: float) -> e.SeatEvent | None:
        """Answer a command.

        Args:
            command: what is sent to this seat.
            sent_ms: instant at which it is.

        Returns:
            What follows from it; None if it asks for nothing.
        """
        at_ms = sent_ms + self.takes_ms
        seat = command.seat
        instants: Any = {"at_ms": at_ms, "sent_ms": sent_ms, "first_byte_ms": at_ms, "lag_ms": 0.0}
        match command:
            case c.OfferMatch():
                return e.ReadyReceived(seat=seat, nonce=self.nonce, **instants)
            case c.AskMove():
                move = self.choose(msgspec.msgpack.decode(command.view))
                return e.MoveReceived(seat=seat, turn=command.turn, move=move, **instants)
            case c.StartSeat(ack=int(ack)) | c.TellSeat(ack=int(ack)) | c.EndSeat(ack=int(ack)):
                return e.AckReceived(seat=seat, ack=ack, **instants)
            case _:
                return None


def drive(match: Match, seats: Sequence[ScriptedSeat]) -> Iterator[tuple[e.Event, tuple[c.Command, ...]]]:
    """Drive a new match to its end; every request is sent at the instant of the event that caused it.

    Args:
        match: a match that was not opened yet.
        seats: by seat.

    Yields:
        Each event with the commands that it gave, in the order of their instants. What an expelled seat still says is
        left out, as the network's edge does.

    Raises:
        RuntimeError: the match waits for a seat that says nothing.
    """
    coming: list[tuple[float, int, e.Event]] = [(0.0, 0, e.MatchOpened(at_ms=0.0))]
    count = 0
    while match.result is None:
        if not coming:
            raise RuntimeError(f"nobody says anything, the match waits for {sorted(match.open_requests)}")
        event = heapq.heappop(coming)[2]
        if isinstance(event, e.SeatEvent) and any(foul.seat == event.seat for foul in match.fouls):
            continue
        commands = match.handle(event)
        for command in commands:
            said = seats[command.seat].answer(command, event.at_ms) if isinstance(command, c.SeatCommand) else None
            if said is not None:
                count += 1
                heapq.heappush(coming, (said.at_ms, count, said))
        yield event, commands


def random_chooser(game: AnyGame, source: "Random", match: Match) -> Choose:
    """Return a player of any game that picks one of the legal moves.

    It looks into the match, for a view need not tell all legal moves: a tool of tests, no honest player.
    """
    return lambda _view: plain(source.choice(game.legal_moves(match.state)))


def plain(value: Any) -> Any:
    """Return a value as it is once it went over the wire: dict, list, str, int, float, bool and None."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(value))
