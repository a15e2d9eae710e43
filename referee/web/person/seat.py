"""A person's seat: the choice of a move, the connection to the referee, and the state for a page or terminal."""

# A person's seat connects to the referee like any other player, so the referee needs no rule for persons. A person
# chooses a move place by place. The game lists its legal steps, and for each step the places to touch
# (Game.places_of). So nobody can choose an illegal move, and no page has to know the rules.

import os
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure

from protocol import messages as m
from protocol.connection import Connection, Role
from protocol.deal import nonce_commitment
from protocol.errors import ProtocolError
from protocol.limits import PROTOCOL_VERSION

from ...chance import SEED_BYTES, Dealer
from ...clock import Clock
from ...games.base import Game, Step
from ...match import commands as c
from ...match import events as e
from ...observers import MatchTransition
from ...pages.words import move_words, outcome, why, with_names
from ...programs.environment import Invitation
from ...text import printable
from ...tournament.points import Scoring

SAID = 60
"""Most events that a page shows."""


class Choosing:
    """The choice of one move.

    Args:
        game: rules of the game.
        state: state of the game as the seat to move knows it.
    """

    def __init__(self, game: Game[Any, Any, Any], state: Any) -> None:
        self._game = game
        self._state = state
        self.touched: tuple[str, ...] = ()
        """Choices that the person has made so far, in order."""
        self.steps: tuple[Step, ...] = ()
        """Complete steps of the move so far."""
        self.pending: tuple[str, ...] = ()
        """Choices that belong to an incomplete step."""
        self.options: tuple[str, ...] = ()
        self.move: Any = None
        """Move that can be made now, as plain data; None while the choice is incomplete."""
        self._look()

    def touch(self, option: str) -> None:
        """Choose one of the options.

        Raises:
            KeyError: the choice is not one of the options.
        """
        if option not in self.options:
            raise KeyError(option)
        self.touched = (*self.touched, option)
        candidates = self._candidates((*self.pending, option))
        start = _common_start(list(candidates))
        step = candidates.get(start)
        if step is None:
            self.pending = start
        else:
            self.steps, self.pending = (*self.steps, step), ()
        self._look()

    def switch(self, option: str) -> None:
        """Choose an option, or replace the last choice with an alternative of it; ignore anything else."""
        before = self.touched
        if option not in self.options:
            self.undo()
        for choice in (option,) if option in self.options else before[len(self.touched) :]:
            self.touch(choice)

    def undo(self) -> None:
        """Take back the last choice, if there is one."""
        again, self.touched, self.steps, self.pending = self.touched[:-1], (), (), ()
        self._look()
        for option in again:
            self.touch(option)

    def _look(self) -> None:
        move = self._game.move_of(self.steps)
        if move is not None:
            self.options, self.move = (), msgspec.to_builtins(move)
            return
        candidates = self._candidates(self.pending)
        closing = self._closing(candidates)
        self.move = None if closing is None else msgspec.to_builtins(self._game.move_of((*self.steps, closing)))
        at = len(self.pending)
        self.options = tuple(dict.fromkeys(places[at] for places, step in candidates.items() if step != closing))

    def _candidates(self, begun: tuple[str, ...]) -> dict[tuple[str, ...], Step]:
        """Return the places of each legal step -> the step, for steps that begin with given places."""
        legal = {self._game.places_of(step): step for step in self._game.legal_steps(self._state, self.steps)}
        return {places: step for places, step in legal.items() if places[: len(begun)] == begun}

    def _closing(self, candidates: dict[tuple[str, ...], Step]) -> Step | None:
        """Return the word that ends the present move, and that making the move adds; None if there is no such word."""
        if not self.steps or self.pending:
            return None
        words = (step for step in candidates.values() if isinstance(step, str))
        return next((word for word in words if self._game.move_of((*self.steps, word)) is not None), None)


def _common_start(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the longest common start of paths; the person does not have to choose these places."""
    shortest = min(paths, key=len)
    for at, place in enumerate(shortest):
        if any(path[at] != place for path in paths):
            return shortest[:at]
    return shortest


class PersonClient(Protocol):
    """One connection of a person's seat; called by Twisted.

    Args:
        name: name of the player.
        invitation: address and token of the seat.
        hear: called with each message of the referee.
        gone: called after the end of the connection.
    """

    transport: Any

    def __init__(
        self, name: str, invitation: Invitation, hear: Callable[[m.Message], None], gone: Callable[[], None]
    ) -> None:
        self._name = name
        self._invitation = invitation
        self._hear = hear
        self._gone = gone
        self._connection = Connection(Role.PLAYER)
        self._nonce = os.urandom(16).hex()

    def connectionMade(self) -> None:
        """Send the greeting."""
        self.send(m.Hello(version=PROTOCOL_VERSION, name=self._name, token=self._invitation.token))

    def dataReceived(self, data: bytes) -> None:
        """Receive bytes of the referee."""
        try:
            self._connection.receive_data(data)
            while isinstance(message := self._connection.next_event(), m.Message):
                self._answer(message)
                self._hear(message)
        except ProtocolError:
            self.transport.abortConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Report the end of the connection."""
        self._gone()

    def move(self, match: str, turn: int, move: Any) -> None:
        """Send the move of a turn."""
        self.send(m.Move(match=match, turn=turn, move=move))

    def send(self, message: m.Message) -> None:
        """Send a message."""
        self.transport.write(self._connection.send(message))

    def _answer(self, message: m.Message) -> None:
        """Answer the messages that need no decision of the person."""
        if isinstance(message, m.Offer):
            commitment = nonce_commitment(message.match, message.seat, self._nonce)
            self.send(m.Ready(match=message.match, commitment=commitment))
        elif isinstance(message, m.Reveal):
            self.send(m.Nonce(match=message.match, nonce=self._nonce))
        ack = getattr(message, "ack", None)
        if ack is not None:
            self.send(m.Ack(match=getattr(message, "match", ""), ack=ack))


class Act(Struct, frozen=True, kw_only=True):
    """An action on the page of a seat."""

    what: str
    """`touch`, `undo` or `hand-in`."""
    turn: int
    """Number of the turn that the page showed: an action for an older turn is ignored."""
    at: int
    """Number of choices that the page showed."""
    option: str
    """Option that the person touched; empty for other actions."""


class PageState(Struct, frozen=True, kw_only=True):
    """Everything that the page of a seat shows at one moment."""

    version: int = 0
    """Number of the state: the newer of two states has the higher number."""
    names: tuple[str, ...] = ()
    svg: str = ""
    """Drawing of the board as the seat may see it; empty before the deal."""
    turn: int = 0
    asked: bool = False
    """True while the referee is waiting for this person's move."""
    touched: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    ready: bool = False
    left_ms: float = 0.0
    waiting: str = ""
    """Name of the player to move."""
    still: str = ""
    """Reason why the match is interrupted; empty while it is being played."""
    said: list[str] = []
    over: str = ""
    """Reason why this person has nothing more to do; empty before that."""
    closed: bool = False
    """True once nothing will change any more."""


class PersonSeat:
    """The seat of one person.

    Args:
        game: rules of the game.
        name: name of the person.
        clock: the reactor, or a test's clock.
    """

    def __init__(self, game: Game[Any, Any, Any], name: str, clock: Clock) -> None:
        self.game = game
        self.name = name
        self.names: tuple[str, ...] = ()
        """Names of the players by seat; empty before the match begins."""
        self.seat = 0
        self.position: Any = None
        """Full state of the game; drawings show only the part that this seat may see. None before the deal."""
        self.choosing: Choosing | None = None
        """Choice of the requested move; None if no move is requested."""
        self.turn = 0
        """Number of the last turn in which the referee requested a move."""
        self.said: list[str] = []
        """Events of the match in words, the oldest first."""
        self.over = ""
        """Reason why the person has nothing more to do, in words; empty before that."""
        self.changed: Callable[[], None] = lambda: None
        """Called whenever the state has changed."""
        self._clock = clock
        self._terms: m.Terms | None = None
        self._client: PersonClient | None = None
        self._until_s = 0.0
        self._faults: dict[int, str] = {}
        """Seat that was expelled -> cause."""
        self._is_closed = False
        self._version = 1

    def client(self, invitation: Invitation) -> PersonClient:
        """Return a new connection of this seat to the referee."""
        self._client = PersonClient(self.name, invitation, self._hear, self._lose_connection)
        return self._client

    @property
    def waiting(self) -> str:
        """Name of the player to move; empty if the match has not begun or is over."""
        if self.position is None or self.game.outcome(self.position) is not None:
            return ""
        return self.names[self.game.to_move(self.position)] if self.names else ""

    @property
    def left_s(self) -> float:
        """Remaining seconds for the move."""
        return max(self._until_s - self._clock.seconds(), 0.0)

    def make_move(self) -> None:
        """Make the chosen move; do nothing if it is incomplete or no longer requested."""
        if self.choosing is not None and self.choosing.move is not None:
            assert self._client is not None, "the move was requested on a connection"
            assert self._terms is not None, "the move was requested in a match"
            self._client.move(self._terms.match, self.turn, self.choosing.move)
            self.choosing = None
            self._change()

    # --- the page

    def state(self) -> PageState:
        """Return everything that the page shows."""
        choosing = self.choosing
        return PageState(
            version=self._version,
            names=self.names,
            svg=self._draw(),
            turn=self.turn,
            asked=choosing is not None,
            touched=choosing.touched if choosing else (),
            options=choosing.options if choosing else (),
            ready=choosing is not None and choosing.move is not None,
            left_ms=self.left_s * 1000,
            waiting=self.waiting,
            said=self.said[-SAID:],
            over=self.over,
            closed=self._is_closed,
        )

    def do(self, act: Act) -> None:
        """Carry out an action of the person; ignore an action that is stale or makes no sense."""
        choosing = self.choosing
        if choosing is None or (act.turn, act.at) != (self.turn, len(choosing.touched)):
            return
        if act.what == "touch":
            choosing.switch(act.option)
        elif act.what == "undo":
            choosing.undo()
        elif act.what == "hand-in":
            self.make_move()
        self._change()

    def close(self) -> None:
        """Mark the state as final."""
        self._is_closed = True
        self._change()

    def _draw(self) -> str:
        if self.position is None:
            return ""
        chosen = self.choosing.steps if self.choosing else ()
        return with_names(self.game.draw_svg(self.position, (self.seat,), chosen), self.names)

    def _change(self) -> None:
        self._version += 1
        self.changed()

    # --- the match

    def take_transition(self, transition: MatchTransition) -> None:
        """Show a transition of the match."""
        self.position = transition.position
        self.said += _said(self.game, transition)
        expelled = (command.foul for command in transition.commands if isinstance(command, c.ExpelSeat))
        self._faults.update((foul.seat, str(foul.cause)) for foul in expelled)
        self._change()

    def _hear(self, message: m.Message) -> None:
        if isinstance(message, m.Terms):
            self._terms, self.seat, self.names = message, message.seat, tuple(map(printable, message.names))
        elif isinstance(message, m.Turn):
            self._ask(message)
        elif isinstance(message, m.End):
            self._end(self._describe_end(message))
        elif isinstance(message, m.Expelled):
            self._end(f"you were expelled: {printable(message.detail)}")
        elif isinstance(message, m.Paused | m.Refused):
            self._end(f"the match stopped: {printable(message.reason)}")
        self._change()

    def _describe_end(self, end: m.End) -> str:
        """Return the result of the match in words."""
        if end.void is not None:
            return f"the match is void: {printable(end.void)}"
        assert self._terms is not None, "an end before an offer is refused by the connection"
        sides = Scoring(teams=tuple(map(tuple, self._terms.teams))).sides(len(self.names))
        return outcome(self.names, end.ranking, self._faults, sides).with_points(end.scores)

    def _ask(self, turn: m.Turn) -> None:
        assert self._terms is not None, "a turn before an offer is refused by the connection"
        options = self.game.parse_options(self._terms.options)
        view = msgspec.convert(turn.view, self.game.view_type)
        state = self.game.imagine(options, view, Dealer(os.urandom(SEED_BYTES)))
        self.choosing, self.turn = Choosing(self.game, state), turn.turn
        self._until_s = self._clock.seconds() + turn.left_ms / 1000

    def _end(self, text: str) -> None:
        self.over, self.choosing = self.over or text, None

    def _lose_connection(self) -> None:
        self._end("the connection to the referee has ended")
        self._change()


def _said(game: Game[Any, Any, Any], transition: MatchTransition) -> list[str]:
    """Return the events of a transition in words: the move, or the expelled player and the reason."""
    event, names = transition.event, tuple(map(printable, transition.setup.names))
    fouls = [command.foul for command in transition.commands if isinstance(command, c.ExpelSeat)]
    expelled = [f"{names[foul.seat]} is expelled: {foul.cause}: {printable(why(foul))}" for foul in fouls]
    if isinstance(event, e.MoveReceived) and not fouls:
        return [f"{names[event.seat]}: {move_words(game, event.move)}"]
    return expelled
