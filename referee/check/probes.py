"""Looks at the program that several steps judge: its first words, its answer to an offer, its first turn.

What came, or did not, is handed to the steps as it is.
"""

from typing import Any

from msgspec import Struct

from protocol.limits import PREFIX_BYTES
from protocol.messages import Ready

from .context import CheckContext
from .findings import Failed
from .scripted_match import AnyGame, ScriptedMatch, ScriptedTerms
from .session import Session

QUIET_S = 0.15
"""How long a program is listened to that should say nothing."""


class FirstWords(Struct, frozen=True, kw_only=True):
    """What a program says before anybody has said anything to it."""

    connected_s: float
    frame: bytes
    """With its prefix; what came of it, if `silence` says so."""
    silence: Failed | None
    """Why no complete frame came."""
    chatter: Failed | None
    """What it said behind it."""
    token: str
    """What was in its environment."""

    @property
    def body(self) -> bytes:
        """What stands in the frame."""
        return self.frame[PREFIX_BYTES:]


class Offered(Struct, frozen=True, kw_only=True):
    """What a program says to an offer."""

    match: str
    asked: tuple[bytes, ...]
    frame: bytes


class FirstTurn(Struct, frozen=True, kw_only=True):
    """What a program says in its first turn."""

    game: AnyGame
    nonce: str
    chatter: Failed | None
    """What it said before it was asked."""
    silence: Failed | None
    """Why no complete answer came."""
    match: str
    turn: int
    state: Any
    asked: tuple[bytes, ...]
    frame: bytes
    behind: bytes
    """What it said after its answer, and nothing had asked for."""
    seconds: float
    """How long the answer took."""


def first_words(context: CheckContext) -> FirstWords:
    """Start the program and listen."""
    with context.session() as session:
        connected_s = session.accept(context.times.start_s)
        silence, frame = _frame(session, context.times.start_s, "a hello")
        chatter = None if silence else _chatter(session, "before it was welcomed")
        return FirstWords(
            connected_s=connected_s,
            frame=frame,
            silence=silence,
            chatter=chatter,
            token=session.token,
        )


def offered(context: CheckContext) -> Offered:
    """Welcome the program and offer it a match."""
    with context.session() as session:
        session.greet()
        match = ScriptedMatch(session, ScriptedTerms(game=context.game, nonces=True))
        match.open()
        frame = session.frame(context.times.start_s, "a ready")
        return Offered(match=match.name, asked=session.asked, frame=frame)


def first_turn(context: CheckContext) -> FirstTurn:
    """Play up to the program's first turn and wait for its answer."""
    game = context.game
    with context.session() as session:
        session.greet()
        match = ScriptedMatch(session, ScriptedTerms(game=game, nonces=True))
        match.open()
        ready = session.hear(context.times.start_s, "a ready")
        assert isinstance(ready, Ready), "the connection lets nothing else come"
        match.take(ready)
        session.flush(but_last=True)
        chatter = _chatter(session, "after `start`, before its turn")
        began_s = session.loop.seconds()
        silence, frame = _frame(session, context.times.move_s, "a move")
        seconds = session.loop.seconds() - began_s
        if not silence:
            session.loop.pause(QUIET_S)
        return FirstTurn(
            game=game,
            nonce=ready.nonce,
            chatter=chatter,
            silence=silence,
            match=match.name,
            turn=match.fold.turn,
            state=match.fold.state,
            asked=session.asked,
            frame=frame,
            behind=bytes(session.wire.received),
            seconds=seconds,
        )


def _frame(session: Session, limit_s: float, what: str) -> tuple[Failed | None, bytes]:
    """Return why no frame came, and the bytes that did."""
    try:
        return None, session.frame(limit_s, what)
    except Failed as failure:
        return _kept(session, failure), session.heard


def _chatter(session: Session, when: str) -> Failed | None:
    try:
        session.quiet(QUIET_S, when)
    except Failed as failure:
        return _kept(session, failure)
    return None


def _kept(session: Session, failure: Failed) -> Failed:
    """Return a failure with what the session knows of it: it is raised when that is gone."""
    failure.asked = session.asked
    failure.received = session.heard if failure.received is None else failure.received
    failure.printed = session.last_words
    return failure
