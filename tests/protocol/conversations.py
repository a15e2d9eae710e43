"""Whole conversations of two seats, valid to their end or up to the line that breaks the protocol.

They are lists of messages in order, independent of encoding and reader.
"""

from typing import NamedTuple

from protocol import Code, Role

from .tables import (
    COMMITMENTS,
    END,
    EXPELLED,
    LAST_HEAD,
    MATCH,
    NONCE,
    OFFER,
    PAUSED,
    PLAYED,
    READY,
    RESUMED,
    REVEAL,
    START,
    TOLD,
    TURN,
    Plain,
)

Line = tuple[Role, Plain]

_OTHER_MATCH = "q-2"


class Conversation(NamedTuple):
    """The messages between a referee and one player."""

    name: str
    lines: tuple[Line, ...]
    code: Code | None = None
    """Code with which the receiver refuses the last line; None: it is valid."""


def _player(kind: str, **keys: object) -> Line:
    return Role.PLAYER, {"type": kind, **keys}


def _referee(message: Plain, **changes: object) -> Line:
    return Role.REFEREE, {**message, **changes}


def _ack(number: int) -> Line:
    return _player("ack", match=MATCH, ack=number)


_HELLO = _player("hello", version=1, name="ada", token=None)
_GREETED = (_HELLO, _referee({"type": "welcome", "version": 1, "referee": "referee"}))
_READY = (Role.PLAYER, READY)
_OPENED = (_referee(REVEAL), (Role.PLAYER, NONCE))
_OFFERED = (*_GREETED, _referee(OFFER))
_SEATED = (*_OFFERED, _READY, *_OPENED, _referee(START))
_MOVE = _player("move", match=MATCH, turn=1, move={"action": "exchange"})
_EXCHANGED = {"kind": "played", "action": "exchange", "count": 6, "seat": 0, "score": 0}
_DRAWN = ["red-star", "red-star", "blue-clover", "green-8star", "orange-circle", "yellow-square"]
_OTHER_PLAYED = {**PLAYED, "seat": 1}
_MOVED = (*_SEATED, _referee(TURN), _MOVE, _referee(TOLD, what=_EXCHANGED, draws=_DRAWN))

CONVERSATIONS = (
    Conversation("a match of two turns", (*_MOVED, _referee(TOLD, turn=2, what=_OTHER_PLAYED), _referee(END))),
    Conversation(
        "a match in which everything is confirmed",
        (
            *_GREETED,
            _referee(OFFER, acknowledge=True),
            _READY,
            *_OPENED,
            _referee(START, ack=1),
            _ack(1),
            _referee(TURN),
            _MOVE,
            _referee(TOLD, what=_EXCHANGED, draws=_DRAWN, ack=3),
            _ack(3),
            _referee(TOLD, turn=2, what=_OTHER_PLAYED),
            _referee(END, ack=4),
            _ack(4),
            _referee(END, head=LAST_HEAD),
        ),
    ),
    Conversation(
        "another player is expelled while this one thinks",
        (
            *_SEATED,
            _referee(TURN),
            _referee(TOLD, what={"kind": "expelled", "seat": 1, "cause": "disconnected"}),
            _MOVE,
            _referee(END),
        ),
    ),
    Conversation("the player is expelled", (*_SEATED, _referee(TURN), _MOVE, _referee(EXPELLED))),
    Conversation("the player is refused", (_HELLO, _referee({"type": "refused", "code": "closed", "reason": "late"}))),
    Conversation(
        "a void match, its end right behind the start, and another match",
        (
            *_SEATED,
            _referee(END, winners=[], ranking=[], scores=[0, 0], void="the referee failed"),
            _referee(OFFER, match=_OTHER_MATCH),
            _player("ready", match=_OTHER_MATCH, commitment=COMMITMENTS[1]),
            _referee(START, match=_OTHER_MATCH),
            _referee(TURN, match=_OTHER_MATCH),
            _player("move", match=_OTHER_MATCH, turn=1, move={"action": "pass"}),
        ),
    ),
    Conversation(
        "the referee pauses",
        (*_SEATED, _referee(TURN), _referee(PAUSED, reason="for tonight")),
    ),
    Conversation("the player is taken back in its turn", (*_GREETED, _referee(RESUMED), _referee(TURN), _MOVE)),
    Conversation(
        "the player is taken back before the deal",
        (*_GREETED, _referee(RESUMED, turn=0, view=None), _referee(START), _referee(TURN), _MOVE),
    ),
    Conversation(
        "a fixed deal: no nonce is opened",
        (*_GREETED, _referee(OFFER, nonces=False), _READY, _referee(START), _referee(TURN), _MOVE),
    ),
    Conversation(
        "a match that is void before a nonce is opened",
        (*_OFFERED, _READY, _referee(REVEAL), _referee(END, void="the referee failed", nonces=[None, None])),
    ),
    Conversation("a nonce before it is asked for", (*_OFFERED, _READY, (Role.PLAYER, NONCE)), Code.OUT_OF_TURN),
    Conversation("two nonces", (*_SEATED, (Role.PLAYER, NONCE)), Code.OUT_OF_TURN),
    Conversation("a start before the nonce", (*_OFFERED, _READY, _referee(REVEAL), _referee(START)), Code.OUT_OF_TURN),
    Conversation("a move before a turn", (*_SEATED, _MOVE), Code.OUT_OF_TURN),
    Conversation("two moves for a turn", (*_SEATED, _referee(TURN), _MOVE, _MOVE), Code.OUT_OF_TURN),
    Conversation("an ack that nobody asked for", (*_SEATED, _ack(1)), Code.OUT_OF_TURN),
    Conversation("two hellos", (_HELLO, _HELLO), Code.OUT_OF_TURN),
    Conversation(
        "a ready for another match",
        (*_OFFERED, _player("ready", match=_OTHER_MATCH, commitment=COMMITMENTS[0])),
        Code.WRONG_MATCH,
    ),
    Conversation("a turn before the ready", (*_OFFERED, _referee(TURN)), Code.OUT_OF_TURN),
    Conversation("a second turn before the move", (*_SEATED, _referee(TURN), _referee(TURN)), Code.OUT_OF_TURN),
    Conversation("a turn of another match", (*_SEATED, _referee(TURN, match=_OTHER_MATCH)), Code.WRONG_MATCH),
)
"""As vectors.json has them."""
