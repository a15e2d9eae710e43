"""A match of Q that needs no thought: one seat, equal tiles, one tile a turn up a staircase.

Every turn is legal and touches runs of two, as in a real game. So a benchmark measures the referee, not a player.
"""

from typing import Any

from protocol.frames import encode_frame
from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES, MAX_FRAME_FROM_REFEREE_BYTES
from protocol.messages import Message, Move, encode
from referee import chance
from referee.games.q.game import QGame
from referee.match import commands as c
from referee.match import events as e
from referee.match.machine import Match
from referee.match.setup import MatchSetup
from referee.net.links.player_protocol import make_message
from referee.record.schema import FIRST_PREV

TURNS = 100
"""Turns of one match: the map then has 101 tiles, a long game of Q."""
NAME = "bench"
SEED = chance.seed_from_number(0)
_TILE = "red-star"


def setup(match: str) -> MatchSetup:
    """Return the setup of one such match."""
    pile = [_TILE] * (TURNS - 6)
    position: Any = {"map": [[0, 0, _TILE]], "pile": pile, "players": [{"score": 0, "hand": [_TILE] * 6}]}
    return MatchSetup(
        match=match, game="q", names=(NAME,), nonces=False, commitment=chance.commitment(SEED), position=position
    )


def move(turn: int) -> Any:
    """Return the plain move of a turn, from 1."""
    return {"action": "place", "tiles": [[turn // 2, (turn + 1) // 2, _TILE]]}


def frame(message: Message) -> bytes:
    """Return a message as a frame, as its sender would encode it."""
    limit = MAX_FRAME_FROM_PLAYER_BYTES if isinstance(message, Move) else MAX_FRAME_FROM_REFEREE_BYTES
    return encode_frame(encode(message), limit)


def move_frames(match: str) -> list[bytes]:
    """Return the frames of all moves of a match; index 0 is turn 1."""
    return [frame(Move(match=match, turn=turn, move=move(turn))) for turn in range(1, TURNS + 1)]


def referee_frames(match: str) -> list[bytes]:
    """Return the referee's messages for each turn of a match: the news of the last one, and the turn itself."""
    sent: list[bytes] = []
    fold = Match(QGame(), setup(match), SEED)
    for event in events():
        said = [
            frame(make_message(command, fold, (), FIRST_PREV))
            for command in fold.handle(event)
            if isinstance(command, c.AskMove | c.TellSeat)
        ]
        if said:
            sent.append(b"".join(said))
    return sent[:TURNS]


def events() -> list[e.Event]:
    """Return the events of a whole match."""
    instants: Any = {"sent_ms": 0.0, "first_byte_ms": 0.0, "lag_ms": 0.0, "at_ms": 0.0}
    happened: list[e.Event] = [e.MatchOpened(at_ms=0.0), e.ReadyReceived(seat=0, commitment="", **instants)]
    happened += [e.MoveReceived(seat=0, turn=turn, move=move(turn), **instants) for turn in range(1, TURNS + 1)]
    return happened
