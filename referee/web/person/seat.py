"""A person's seat: what is known of the match, what the person is asked, what it answers, and its end of the wire."""

import os
from collections.abc import Callable
from typing import Any

import msgspec
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure

from protocol.connection import Connection, Role
from protocol.errors import ProtocolError
from protocol.fairness import nonce_commitment
from protocol.limits import PROTOCOL_VERSION
from protocol.messages import (
    Ack,
    End,
    Expelled,
    Hello,
    Message,
    Move,
    Nonce,
    Offer,
    Paused,
    Ready,
    Refused,
    Reveal,
    Terms,
    Turn,
)

from ...chance import SEED_BYTES, Dealer
from ...clock import Clock
from ...games.base import Game
from ...match import commands as c
from ...match import events as e
from ...observers import MatchStep
from ...pages.outcomes import outcome
from ...pages.words import move_text, why
from ...programs.program import Invitation
from ...text import printable
from ...tournament.points import Scoring
from .choosing import Choosing


class PersonClient(Protocol):
    """One connection of a person's seat; called by Twisted.

    Args:
        name: the player's.
        invitation: where its seat is.
        hear: called with every message of the referee's.
        gone: called once the connection has ended.
    """

    transport: Any

    def __init__(
        self, name: str, invitation: Invitation, hear: Callable[[Message], None], gone: Callable[[], None]
    ) -> None:
        self._name = name
        self._invitation = invitation
        self._hear = hear
        self._gone = gone
        self._connection = Connection(Role.PLAYER)
        self._nonce = os.urandom(16).hex()

    def connectionMade(self) -> None:
        """Greet."""
        self.send(Hello(version=PROTOCOL_VERSION, name=self._name, token=self._invitation.token))

    def dataReceived(self, data: bytes) -> None:
        """Take what the referee says."""
        try:
            self._connection.receive_data(data)
            while isinstance(message := self._connection.next_event(), Message):
                self._answer(message)
                self._hear(message)
        except ProtocolError:
            self.transport.abortConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Tell that it is over."""
        self._gone()

    def move(self, match: str, turn: int, move: Any) -> None:
        """Answer a turn."""
        self.send(Move(match=match, turn=turn, move=move))

    def send(self, message: Message) -> None:
        """Send a message."""
        self.transport.write(self._connection.send(message))

    def _answer(self, message: Message) -> None:
        """Answer what needs nobody's thought."""
        if isinstance(message, Offer):
            commitment = nonce_commitment(message.match, message.seat, self._nonce)
            self.send(Ready(match=message.match, commitment=commitment))
        elif isinstance(message, Reveal):
            self.send(Nonce(match=message.match, nonce=self._nonce))
        ack = getattr(message, "ack", None)
        if ack is not None:
            self.send(Ack(match=getattr(message, "match", ""), ack=ack))


class PersonSeat:
    """The seat of one person.

    Args:
        game: that is played.
        name: the person's.
        clock: the reactor, or a test's clock.
    """

    def __init__(self, game: Game[Any, Any, Any], name: str, clock: Clock) -> None:
        self.game = game
        self.name = name
        self.names: tuple[str, ...] = ()
        """By seat; empty until the seat is taken."""
        self.seat = 0
        self.position: Any = None
        """The state of the game, of which a drawing for this seat shows what it may know; None before the deal."""
        self.choosing: Choosing | None = None
        """What the person is asked; None: nothing."""
        self.turn = 0
        """Number of the turn that it is or was asked for."""
        self.said: list[str] = []
        """What has happened, in words, the oldest first."""
        self.over = ""
        """Why nothing more is to be done, in words; empty: there is."""
        self.changed: Callable[[], None] = lambda: None
        """Called whenever there is something new to be seen."""
        self._clock = clock
        self._terms: Terms | None = None
        self._client: PersonClient | None = None
        self._until_s = 0.0
        self._faults: dict[int, str] = {}
        """Seat that was expelled -> cause."""

    def client(self, invitation: Invitation) -> PersonClient:
        """Return what speaks for this seat on the wire."""
        self._client = PersonClient(self.name, invitation, self._hear, self._gone)
        return self._client

    @property
    def waiting(self) -> str:
        """Whose move is waited for; empty: nobody's."""
        if self.position is None or self.game.outcome(self.position) is not None:
            return ""
        return self.names[self.game.to_move(self.position)] if self.names else ""

    @property
    def left_s(self) -> float:
        """The time that is left for the answer, in seconds."""
        return max(self._until_s - self._clock.seconds(), 0.0)

    def hand_in(self) -> None:
        """Make the move that is chosen; nothing if it is not whole, or not asked for any more."""
        if self.choosing is not None and self.choosing.move is not None:
            assert self._client is not None, "it was asked over a connection"
            assert self._terms is not None, "it was asked in a match"
            self._client.move(self._terms.match, self.turn, self.choosing.move)
            self.choosing = None
            self.changed()

    def stepped(self, step: MatchStep) -> None:
        """Take note of a step of the match."""
        self.position = step.position
        self.said += _said(step)
        expelled = (command.foul for command in step.commands if isinstance(command, c.ExpelSeat))
        self._faults.update((foul.seat, str(foul.cause)) for foul in expelled)
        self.changed()

    def _hear(self, message: Message) -> None:
        if isinstance(message, Terms):
            self._terms, self.seat, self.names = message, message.seat, tuple(map(printable, message.names))
        elif isinstance(message, Turn):
            self._ask(message)
        elif isinstance(message, End):
            self._end(self._ended(message))
        elif isinstance(message, Expelled):
            self._end(f"you were expelled: {printable(message.detail)}")
        elif isinstance(message, Paused | Refused):
            self._end(f"the match stopped: {printable(message.reason)}")
        self.changed()

    def _ended(self, end: End) -> str:
        """Return how the match ended, in words."""
        if end.void is not None:
            return f"the match is void: {printable(end.void)}"
        assert self._terms is not None, "the connection lets no end come before an offer"
        sides = Scoring(teams=tuple(map(tuple, self._terms.teams))).sides(len(self.names))
        return outcome(self.names, end.ranking, self._faults, sides).with_points(end.scores)

    def _ask(self, turn: Turn) -> None:
        assert self._terms is not None, "the connection lets no turn come before an offer"
        options = self.game.parse_options(self._terms.options)
        view = msgspec.convert(turn.view, self.game.view_type)
        state = self.game.imagine(options, view, Dealer(os.urandom(SEED_BYTES)))
        self.choosing, self.turn = Choosing(self.game, state), turn.turn
        self._until_s = self._clock.seconds() + turn.left_ms / 1000

    def _end(self, text: str) -> None:
        self.over, self.choosing = self.over or text, None

    def _gone(self) -> None:
        self._end("the connection to the referee has ended")
        self.changed()


def _said(step: MatchStep) -> list[str]:
    """Return what a step of the match means to those who look on, in words: a move or none, then who is expelled."""
    event, names = step.event, tuple(map(printable, step.setup.names))
    fouls = [command.foul for command in step.commands if isinstance(command, c.ExpelSeat)]
    expelled = [f"{names[foul.seat]} is expelled: {foul.cause}: {printable(why(foul))}" for foul in fouls]
    if isinstance(event, e.MoveReceived) and not fouls:
        return [f"{names[event.seat]}: {move_text(event.move)}"]
    return expelled
