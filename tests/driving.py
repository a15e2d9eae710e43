"""Drives a match between seats without a network, at instants that are counted up."""

import heapq
from collections.abc import Iterator, Sequence
from random import Random

import msgspec
from msgspec.structs import replace

from referee.match import commands as c
from referee.match import events as e
from referee.match.machine import Match
from referee.testing.seats import AnyGame, Choose, ScriptedSeat, plain


def drive(match: Match, seats: Sequence[ScriptedSeat]) -> Iterator[tuple[e.Event, tuple[c.Command, ...]]]:
    """Drive a new match to its end; every request is sent at the instant of the event that caused it.

    Args:
        match: a match that was not opened yet.
        seats: by seat.

    Yields:
        Each event with the commands that it gave, in the order of their instants. Later answers of an expelled seat are
        left out, as in a match with sockets.

    Raises:
        RuntimeError: the match waits for a seat that says nothing.
    """
    coming: list[tuple[float, int, e.Event]] = [(0.0, 0, e.MatchOpened(at_ms=0.0))]
    count = 0
    for seat in seats:
        seat.match = match.setup.match
    while match.result is None:
        if not coming:
            raise RuntimeError(f"nobody says anything, the match waits for {sorted(match.open_requests)}")
        event = heapq.heappop(coming)[2]
        if isinstance(event, e.SeatEvent) and any(foul.seat == event.seat for foul in match.fouls):
            continue
        event = with_frame(event, match.setup.match)
        commands = match.handle(event)
        if isinstance(event, e.Answer) and not any(isinstance(command, c.ExpelSeat) for command in commands):
            event = replace(event, frame="")
        for command in commands:
            said = seats[command.seat].answer(command, event.at_ms) if isinstance(command, c.SeatCommand) else None
            if said is not None:
                count += 1
                heapq.heappush(coming, (said.at_ms, count, said))
        yield event, commands


def with_frame(event: e.Event, match: str) -> e.Event:
    """Return an event with the bytes of the answer that it is, as a match with sockets has it."""
    if not isinstance(event, e.Answer) or event.frame:
        return event
    said = {key: getattr(event, key) for key in ("commitment", "nonce", "turn", "move", "ack") if hasattr(event, key)}
    name = str(event.__struct_config__.tag).removesuffix("-received")
    return replace(event, frame=msgspec.msgpack.encode({"type": name, "match": match, **said}).hex())


def random_chooser(game: AnyGame, source: Random, match: Match) -> Choose:
    """Return a player of any game that picks one of the legal moves.

    It looks into the match, because a view need not show all legal moves; an honest player could not do that.
    """
    return lambda _view: plain(source.choice(game.legal_moves(match.state)))
