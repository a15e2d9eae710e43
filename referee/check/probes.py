"""Looks at the program that several steps judge: its first words, its ready, its nonce, its first turn.

What came, or did not, is handed to the steps as it is.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from msgspec import Struct

from protocol import RemoteProtocolError
from protocol.decoding import unpack
from protocol.limits import PREFIX_BYTES
from protocol.messages import Nonce, Ready

from ..testing.seats import AnyGame
from .context import CheckContext
from .findings import Failed
from .remedies import OF_CODE
from .scripted_match import ScriptedMatch
from .session import Session

QUIET_S = 0.15
"""How long a program is listened to that should say nothing."""


class Seen(Struct, frozen=True, kw_only=True):
    """What a program says where one message is due."""

    frame: bytes
    """With its prefix; what came of it, if `silence` says so."""
    asked: tuple[bytes, ...]
    """The frames that it answers."""
    silence: Failed | None = None
    """Why no complete frame came."""
    chatter: Failed | None = None
    seconds: float = 0.0
    """How long it took to connect, or to answer."""
    match: str = ""

    @property
    def body(self) -> bytes:
        """What stands in the frame."""
        return self.frame[PREFIX_BYTES:]

    @property
    def value(self) -> Any:
        """The body, decoded.

        Raises:
            RemoteProtocolError: it can't be.
        """
        return unpack(self.body)


class FirstWords(Seen, frozen=True, kw_only=True):
    """What a program says before anybody has said anything to it; the chatter is what it says behind that."""

    token: str
    """What was in its environment."""


class Opening(Seen, frozen=True, kw_only=True):
    """What a program says when it is asked to open its commitment."""

    seat: int
    commitment: str
    """What its `ready` had."""


class FirstTurn(Seen, frozen=True, kw_only=True):
    """What a program says in its first turn; the chatter is what it said before that."""

    game: AnyGame
    nonce: str
    turn: int
    state: Any
    behind: bytes
    """What it said after its answer, and nothing had asked for."""


S = TypeVar("S", bound=Seen)
M = TypeVar("M", Ready, Nonce)


def judged(look: Callable[[CheckContext], S], judge: Callable[[S], str | None], context: CheckContext) -> str | None:
    """Judge what a look shows: a failure is about the frame that was seen, unless it names other bytes.

    Raises:
        Failed: what was seen is wrong, or no message at all.
    """
    seen = context.seen(look)
    try:
        return judge(seen)
    except RemoteProtocolError as error:
        happened, remedy = f"{error.code}: {error.detail}", OF_CODE[error.code]
        failure = Failed(happened, "one msgpack map, a message of the player", remedy)
    except Failed as found:
        failure = found
    failure.asked = failure.asked or seen.asked
    failure.received = seen.frame if failure.received is None else failure.received
    raise failure


def first_words(context: CheckContext) -> FirstWords:
    """Start the program and listen."""
    with context.session() as session:
        connected_s = session.accept(context.times.start_s)
        silence, frame = _frame(session, context.times.start_s, "a hello")
        chatter = None if silence else _chatter(session, "before it was welcomed")
        said: Any = {"frame": frame, "silence": silence, "chatter": chatter}
        return FirstWords(**said, asked=(), seconds=connected_s, token=session.token)


@contextmanager
def _in_a_match(context: CheckContext) -> Iterator[tuple[Session, ScriptedMatch]]:
    """Welcome the program and offer it a match."""
    with context.session() as session:
        session.greet()
        match = ScriptedMatch(session, context.terms(nonces=True))
        match.open()
        yield session, match


def _taken(session: Session, match: ScriptedMatch, kind: type[M], limit_s: float, what: str) -> M:
    """Return the program's next message, which goes into the match."""
    message = session.hear(limit_s, what)
    assert isinstance(message, kind), "the connection lets nothing else come"
    match.take(message)
    return message


def offered(context: CheckContext) -> Seen:
    """Welcome the program and offer it a match."""
    with _in_a_match(context) as (session, match):
        frame = session.frame(context.times.start_s, "a ready")
        return Seen(match=match.name, asked=session.asked, frame=frame)


def revealed(context: CheckContext) -> Opening:
    """Have the program commit to a nonce, and ask it to open that."""
    with _in_a_match(context) as (session, match):
        ready = _taken(session, match, Ready, context.times.start_s, "a ready")
        frame = session.frame(context.times.move_s, "the nonce")
        return Opening(match=match.name, asked=session.asked, frame=frame, seat=match.seat, commitment=ready.commitment)


def first_turn(context: CheckContext) -> FirstTurn:
    """Play up to the program's first turn and wait for its answer."""
    with _in_a_match(context) as (session, match):
        _taken(session, match, Ready, context.times.start_s, "a ready")
        nonce = _taken(session, match, Nonce, context.times.move_s, "the nonce")
        session.flush(but_last=True)
        chatter = _chatter(session, "after `start`, before its turn")
        began_s = session.loop.seconds()
        silence, frame = _frame(session, context.times.move_s, "a move")
        seconds = session.loop.seconds() - began_s
        if not silence:
            session.loop.pause(QUIET_S)
        return FirstTurn(
            frame=frame,
            asked=session.asked,
            silence=silence,
            chatter=chatter,
            seconds=seconds,
            match=match.name,
            game=context.game,
            nonce=nonce.nonce,
            turn=match.fold.turn,
            state=match.fold.state,
            behind=bytes(session.wire.received),
        )


def _frame(session: Session, limit_s: float, what: str) -> tuple[Failed | None, bytes]:
    """Return why no frame came, and the bytes that did."""
    try:
        return None, session.frame(limit_s, what)
    except Failed as failure:
        session.explain(failure)
        return failure, session.heard


def _chatter(session: Session, when: str) -> Failed | None:
    try:
        session.quiet(QUIET_S, when)
    except Failed as failure:
        session.explain(failure)
        return failure
    return None
