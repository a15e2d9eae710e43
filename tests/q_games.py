"""The game cases of the Q course on the match fold: actors answer commands directly, without network and clock.

It turns an actor's misbehaviour into an event.
"""

import re
from collections import deque
from typing import Any

import msgspec

from protocol.limits import NAME_PATTERN
from referee import chance
from referee.games.q.game import QGame
from referee.match import commands as c
from referee.match import events as e
from referee.match.commands import Result
from referee.match.machine import Match
from referee.match.setup import MatchSetup

from .peers.q_actors import Actor, Kind, Misbehaviour
from .time_controls import time_control

SEED = chance.seed_from_number(0)
MAX_SEATS = 4


class Silent(Actor):
    """A client that signs up and then never answers."""

    def __init__(self, name: str) -> None:
        super().__init__([name, "dag", "setup", 1])


def seated_actors(case: dict[str, Any]) -> list[Actor]:
    """Return the actors that get a seat: valid names, in order, four at most."""
    staff = case["harness"] == "remote"
    actors = [Actor(spec, staff=staff) for spec in case["actors"]]
    special = case.get("special")
    if special is not None and str(special).startswith("sendname"):
        actors.append(Silent(str(special)))
    return [actor for actor in actors if re.match(NAME_PATTERN, actor.name)][:MAX_SEATS]


def fewest_players(case: dict[str, Any]) -> int:
    """Return how many sign-ups a case's game needs: a server needs two, a referee that is called directly one."""
    return 2 if case["harness"] == "remote" else 1


def setup_of(names: list[str], position: Any, options: dict[str, Any], *, match: str, per_move_ms: float) -> MatchSetup:
    """Return the setup of a case's match."""
    return MatchSetup(
        match=match,
        game="q",
        options=options,
        names=tuple(names),
        time=time_control(per_move_ms=per_move_ms),
        acknowledge=True,
        nonces=False,
        commitment=chance.commitment(SEED),
        position=position,
    )


def as_reported(names: list[str], result: Result) -> list[list[str]]:
    """Return a result in the form of the course's programs: winners sorted, the misbehaved in order."""
    return [sorted(names[seat] for seat in result.winners), [names[foul.seat] for foul in result.fouls]]


def play_in_fold(case: dict[str, Any], position: Any, options: dict[str, Any]) -> list[list[str]]:
    """Play a game case without the network.

    Returns:
        `[winners, misbehaved]`; both empty if the players are too few or not as many as the state has.
    """
    actors = seated_actors(case)
    names = [actor.name for actor in actors]
    if len(actors) < fewest_players(case) or len(actors) != len(position["players"]):
        return [[], []]
    setup = setup_of(names, position, options, match="case", per_move_ms=6000.0)
    match = Match(QGame(), setup, SEED)
    events: deque[e.Event] = deque([e.MatchOpened(at_ms=0.0)])
    now_ms = 0.0
    while match.result is None:
        for command in match.handle(events.popleft()):
            now_ms += 1.0
            event = _react(actors, command, now_ms)
            if event is not None:
                now_ms = event.at_ms
                events.append(event)
    return as_reported(names, match.result)


def _react(actors: list[Actor], command: c.Command, now_ms: float) -> e.Event | None:
    """Let the addressed actor react to a command."""
    if not isinstance(command, c.SeatCommand):
        return None
    actor, seat = actors[command.seat], command.seat
    try:
        match command:
            case c.OfferMatch():
                return e.ReadyReceived(
                    seat=seat, at_ms=now_ms, sent_ms=now_ms, first_byte_ms=now_ms, lag_ms=0.0, commitment=""
                )
            case c.AskMove():
                move = actor.move(msgspec.msgpack.decode(command.view))
                return e.MoveReceived(
                    seat=seat,
                    at_ms=now_ms,
                    sent_ms=now_ms,
                    first_byte_ms=now_ms,
                    lag_ms=0.0,
                    turn=command.turn,
                    move=move,
                )
            case c.StartSeat():
                actor.call("setup")
            case c.TellSeat() if command.draws is not None:
                actor.call("new-tiles")
            case c.EndSeat():
                actor.call("win")
        return _acknowledged(command, now_ms)
    except Misbehaviour as misbehaviour:
        return _failed(misbehaviour, command, now_ms)


def _acknowledged(command: c.SeatCommand, now_ms: float) -> e.Event | None:
    ack = getattr(command, "ack", None)
    if ack is None:
        return None
    return e.AckReceived(seat=command.seat, at_ms=now_ms, sent_ms=now_ms, first_byte_ms=now_ms, lag_ms=0.0, ack=ack)


def _failed(misbehaviour: Misbehaviour, command: c.SeatCommand, now_ms: float) -> e.Event:
    if misbehaviour.kind is Kind.LOOPS:
        limit_ms = getattr(command, "limit_ms", None) or 0.0
        at_ms = now_ms + limit_ms + 1.0
        return e.DeadlinePassed(seat=command.seat, at_ms=at_ms, sent_ms=now_ms, lag_ms=0.0, pending="")
    if misbehaviour.kind is Kind.GARBLES:
        return e.ProtocolBroken(seat=command.seat, at_ms=now_ms, code="not-msgpack", detail="garbled", evidence="")
    return e.ConnectionLost(seat=command.seat, at_ms=now_ms, detail="the player raised")
