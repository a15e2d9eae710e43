"""Lets a player program of this project play with a course's referee, and translates between their protocols.

To the program this is an ordinary match that shows only its own seat. But nothing proves that the shuffle is fair,
because the course's referee does not commit to it. A program that breaks a rule leaves the game.
"""

import hashlib
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.defer import Deferred, TimeoutError  # noqa: A004  # Twisted's own name for it

from protocol import RemoteProtocolError
from protocol.messages import Ack, End, Message, Move, Offer, Ready, Start, TimeControl, Told, Turn

from ...games.base import Game, MalformedMove
from ...hookspecs import Joined
from ...net.event_loop import EventLoop
from ...net.links.addresses import Ports
from ...net.links.lobby import Patience
from ...net.links.player_protocol import LinkFactory, Owner, PlayerLink
from ...net.links.reserved_seats import ReservedSeats
from ...net.matches.programs import private_sockets
from ...net.matches.session import LOCAL
from ...programs.confining import Confinement
from ...programs.environment import Invitation
from ...programs.file_view import FileAccess
from ...programs.player_spec import Launch, PlayerError
from ...programs.program import Program
from .forms import make_choice
from .player_end import Call, PlayerEnd, connect

MATCH = "cs4500"
"""Name of the match for the program: the course's referee does not name its matches."""
NO_HEAD = "0" * 64
"""Stands for the hash of a record's line: the course's referee keeps no record."""


class CourseTerms(Struct, frozen=True, kw_only=True):
    """Terms that the course's referee does not send, but its organiser knows."""

    name: str
    """Name with which the player signs up."""
    options: dict[str, Any]
    """Options of the game."""
    per_call_ms: float
    """The referee's limit for a call, in milliseconds."""
    start_s: float
    """Time that the program may take to be ready, in seconds."""


class Adapter(Owner):
    """Answers a course referee's calls with the answers of a player program.

    Args:
        game: the rules, which know the form of a move.
        terms: terms of the match, for the program.
        link: connection of the program, after its greeting.
    """

    def __init__(self, game: Game[Any, Any, Any], terms: CourseTerms, link: PlayerLink) -> None:
        self.end = PlayerEnd(terms.name, self)
        self.won: bool | None = None
        """Whether the referee said that the player has won; None: the game did not end."""
        self.ready: Deferred[None] = Deferred()
        """Fires when the program has accepted the match; fails with PlayerError."""
        self._game = game
        self._terms = terms
        self._link = link
        # A program of this project may check the seed against the commitment. The deal does not follow from this seed,
        # since the course's referee deals, but the check must succeed.
        self._seed = secrets.token_bytes(32)
        self._turn = 0
        self._acks = 0
        link.owner = self
        self._offer()

    def _offer(self) -> None:
        """Offer the match to the program. The number of players is not known yet."""
        terms = self._terms
        limits = {"per_move_ms": terms.per_call_ms, "start_ms": terms.start_s * 1000}
        offer = Offer(
            match=MATCH,
            game=self._game.name,
            options=terms.options,
            seat=0,
            names=[terms.name],
            time=TimeControl(**limits, bank_ms=None, increment_ms=0.0),
            teams=[],
            lot=False,
            acknowledge=True,
            commitment=hashlib.sha256(self._seed).hexdigest(),
            nonces=False,
            resume="",
        )
        self._link.send(offer)

    # --- from the course's referee

    def handle_call(self, call: Call, end: PlayerEnd) -> None:
        """Pass a call on to the program."""
        self._acks += 1
        self._link.send(self._message(call, self._acks))

    def _message(self, call: Call, ack: int) -> Message:
        if call.method == "setup":
            return Start(match=MATCH, view=call.view, ack=ack)
        if call.method == "take-turn":
            self._turn += 1
            left_ms = self._terms.per_call_ms
            return Turn(match=MATCH, turn=self._turn, view=call.view, left_ms=left_ms, bank_ms=None, head=NO_HEAD)
        if call.method == "new-tiles":
            return Told(match=MATCH, turn=self._turn, what={}, draws=list(call.tiles), ack=ack)
        self.won = call.has_won
        winners, seed = [0] if call.has_won else [], self._seed.hex()
        empty: Any = {"ranking": [], "scores": [], "void": None, "nonces": [None]}
        return End(match=MATCH, winners=winners, seed=seed, head=NO_HEAD, ack=ack, **empty)

    def handle_disconnect(self) -> None:
        """End the program's conversation: the referee has closed the connection."""
        self._link.say_goodbye()

    # --- from the program

    def on_message(self, link: PlayerLink, message: Message, first_byte: float, at: float) -> None:
        """Pass an answer on to the course's referee."""
        if isinstance(message, Ready):
            self.ready.callback(None)
        elif isinstance(message, Move):
            self._answer_turn(message.move)
        elif isinstance(message, Ack):
            self.end.reply(None)

    def _answer_turn(self, move: Any) -> None:
        # Only the form is checked. The course's referee decides whether the move is legal.
        try:
            self._game.parse_move(move)
        except MalformedMove as error:
            self._fail(f"the program sent a malformed move: {error}")
            return
        self.end.reply(make_choice(move))

    def on_breach(self, link: PlayerLink, error: RemoteProtocolError) -> None:
        """End the game: the program broke its protocol."""
        self._fail(f"the program broke its protocol: {error}")

    def on_loss(self, link: PlayerLink, detail: str) -> None:
        """End the game: the program has left."""
        self._fail("the program ended its connection")

    def _fail(self, why: str) -> None:
        self._link.say_goodbye()
        self.end.leave(why)
        if not self.ready.called:
            self.ready.errback(PlayerError(why))


async def join(
    reactor: Any,
    now: Callable[[], float],
    game: Game[Any, Any, Any],
    launch: Launch,
    where: tuple[str, int],
    *,
    confinement: Confinement,
    output: Path,
    **terms: Any,
) -> Joined:
    """Start a program, and let it play one game with a course's referee.

    Args:
        reactor: Twisted's reactor.
        now: returns monotonic seconds.
        game: the Q game.
        launch: the program to start.
        where: host and port of the referee.
        confinement: the program's limits.
        output: file for the end of the program's output.
        terms: the fields of CourseTerms.

    Raises:
        PlayerError: the program cannot be started, or is not ready in time.
        RefereeError: no referee listens there.
    """
    course_terms, token, loop, ports = CourseTerms(**terms), secrets.token_hex(32), EventLoop(reactor, now), Ports()
    lobby = ReservedSeats(reactor, [token], course_terms.start_s, patience=Patience(reactor, loop))
    with (
        private_sockets(confinement, [0]) as sockets,
        confinement.copy_folder(launch, FileAccess()) as copy,
        loop.lag.beating(),
    ):
        socket = sockets.get(0)
        access = FileAccess(socket=socket, own_copy=copy)
        try:
            address = await ports.open(reactor, [socket or LOCAL], LinkFactory(lobby, reactor, now))
            invitation = Invitation(address=address, token=token, seed=secrets.token_hex(32))
            program = Program(replace(launch, name=course_terms.name), invitation, output, reactor, confinement, access)
            return await _play(reactor, game, course_terms, lobby, where, program)
        finally:
            lobby.close()
            await ports.close()


async def _play(
    reactor: Any,
    game: Game[Any, Any, Any],
    terms: CourseTerms,
    lobby: ReservedSeats,
    where: tuple[str, int],
    program: Program,
) -> Joined:
    """Play when the program has connected; end it afterwards."""
    program.exited.addCallback(lambda status: lobby.give_up(0, f"its program ended: {status}"))
    try:
        (link,) = await lobby.done
        if link is None:
            raise PlayerError(f"{terms.name}: {lobby.vacancies[0].detail}")
        adapter = Adapter(game, terms, link)
        try:
            await adapter.ready.addTimeout(terms.start_s, reactor)
        except TimeoutError:
            why = f"the program did not accept the match within {terms.start_s:g} s"
            raise PlayerError(f"{terms.name}: {why}") from None
        await connect(reactor, *where, adapter.end)
        why = await adapter.end.done
        return Joined(won=adapter.won, why=why)
    finally:
        program.end()
        await program.gone
