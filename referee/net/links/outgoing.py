"""Makes the messages that players are sent from the commands of a match."""

from collections.abc import Sequence
from typing import Any

from protocol.messages import End, Expelled, Message, Offer, Resumed, Reveal, Start, Told, Turn

from ...match.commands import (
    AskMove,
    AskNonce,
    EndSeat,
    ExpelSeat,
    OfferMatch,
    ResumeSeat,
    SeatCommand,
    StartSeat,
    TellSeat,
)
from ...match.machine import Match


def message_of(command: SeatCommand, match: Match, tokens: Sequence[str], head: str) -> Message:
    """Return what a command says to its seat.

    Args:
        command: one that is sent to a seat.
        match: the match that gave it.
        tokens: by seat, what its player comes back with.
        head: hash of the last line of the match's record, the one that has the command.
    """
    name = match.setup.match
    message: Message
    match command:
        case AskMove(turn=turn, view=view, limit_ms=left_ms, bank_ms=bank_ms):
            message = Turn(match=name, turn=turn, view=view, left_ms=left_ms, bank_ms=bank_ms, head=head)
        case TellSeat(turn=turn, what=what, ack=ack):
            draws = None if command.draws is None else list(command.draws)
            message = Told(match=name, turn=turn, what=what, draws=draws, ack=ack)
        case OfferMatch():
            message = Offer(**_terms(command, match, tokens))
        case ResumeSeat():
            message = Resumed(**_terms(command, match, tokens), turn=command.turn, view=command.view)
        case AskNonce():
            message = Reveal(match=name, commitments=list(match.nonces.commitments))
        case StartSeat():
            message = Start(match=name, view=command.view, ack=command.ack)
        case ExpelSeat(foul=foul):
            message = Expelled(
                match=name,
                foul=str(foul.cause),
                rule=foul.rule,
                code=foul.code,
                detail=foul.detail,
                evidence=foul.evidence,
                head=head,
            )
        case EndSeat():
            message = _end(command, match, head)
        case _:
            raise AssertionError(f"{command} says nothing to a seat")
    return message


def _end(command: EndSeat, match: Match, head: str) -> End:
    return End(
        match=match.setup.match,
        winners=list(command.winners),
        ranking=[list(level) for level in command.ranking],
        scores=list(command.scores),
        void=command.void,
        seed=_revealed_seed(match, command),
        nonces=list(match.nonces.opened),
        ack=command.ack,
        head=head,
    )


def _revealed_seed(match: Match, end: EndSeat) -> str | None:
    """Return the seed, unless another match with its deal is to be played: a void one is played again."""
    opens = match.setup.seed_opens
    is_kept = opens == "after-last-leg" or (opens == "at-end-unless-void" and end.void is not None)
    return None if is_kept else match.seed.hex()


def _terms(command: OfferMatch | ResumeSeat, match: Match, tokens: Sequence[str]) -> dict[str, Any]:
    setup = match.setup
    return {
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
        "resume": tokens[command.seat],
    }
