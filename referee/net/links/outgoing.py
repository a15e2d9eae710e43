"""Makes the messages that players are sent from the commands of a match."""

from collections.abc import Callable, Sequence
from typing import Any

from protocol.messages import End, Expelled, Message, Offer, Resumed, Start, Told, Turn

from ...match.commands import (
    AskMove,
    Command,
    EndSeat,
    ExpelSeat,
    OfferMatch,
    ResumeSeat,
    SeatCommand,
    StartSeat,
    TellSeat,
)
from ...match.machine import Match


def _terms(command: OfferMatch | ResumeSeat, match: Match, token: str) -> Message:
    setup = match.setup
    terms: Any = {
        "match": setup.match,
        "game": setup.game,
        "options": setup.options,
        "seat": command.seat,
        "names": list(setup.names),
        "time": setup.time,
        "teams": [list(team) for team in match.teams],
        "lot": setup.lot,
        "acknowledge": setup.acknowledge,
        "commitment": setup.commitment,
        "nonces": setup.nonces,
        "resume": token,
    }
    if isinstance(command, OfferMatch):
        return Offer(**terms)
    return Resumed(**terms, turn=command.turn, view=command.view)


def _start(command: StartSeat, match: Match, _head: str) -> Message:
    return Start(match=match.setup.match, view=command.view, ack=command.ack)


def _turn(command: AskMove, match: Match, head: str) -> Message:
    return Turn(
        match=match.setup.match,
        turn=command.turn,
        view=command.view,
        left_ms=command.limit_ms,
        bank_ms=command.bank_ms,
        head=head,
    )


def _told(command: TellSeat, match: Match, _head: str) -> Message:
    draws = None if command.draws is None else list(command.draws)
    return Told(match=match.setup.match, turn=command.turn, what=command.what, draws=draws, ack=command.ack)


def _expelled(command: ExpelSeat, match: Match, _head: str) -> Message:
    foul = command.foul
    return Expelled(
        match=match.setup.match,
        foul=str(foul.cause),
        rule=foul.rule,
        code=foul.code,
        detail=foul.detail,
        evidence=foul.evidence,
    )


def _end(command: EndSeat, match: Match, head: str) -> Message:
    return End(
        match=match.setup.match,
        winners=list(command.winners),
        ranking=[list(level) for level in command.ranking],
        scores=list(command.scores),
        void=command.void,
        seed=match.seed.hex(),
        nonces=list(match.nonces),
        ack=command.ack,
        head=head,
    )


_WORDING: dict[type[Command], Callable[[Any, Match, str], Message]] = {
    StartSeat: _start,
    AskMove: _turn,
    TellSeat: _told,
    ExpelSeat: _expelled,
    EndSeat: _end,
}


def message_of(command: SeatCommand, match: Match, tokens: Sequence[str], head: str) -> Message:
    """Return what a command says to its seat.

    Args:
        command: one that is sent to a seat.
        match: the match that gave it.
        tokens: by seat, what its player comes back with.
        head: hash of the last line of the match's record.
    """
    if isinstance(command, OfferMatch | ResumeSeat):
        return _terms(command, match, tokens[command.seat])
    return _WORDING[type(command)](command, match, head)
