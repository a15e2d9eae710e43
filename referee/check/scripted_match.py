"""One match in which the program plays one seat; this module plays the other seats, with random legal moves."""

# The state machine of a real match judges the moves, so the rules of a tournament hold. If a tournament would expel the
# program, this module raises Failed. A step decides how far to play, what to send, and when to break off the match.

import hashlib
from typing import Any

from msgspec import Struct

from protocol.messages import Ack, Message, Move, Nonce, Paused, Ready, TimeControl, type_of

from .. import chance
from ..match import commands as c
from ..match import events as e
from ..match.fouls import Cause, Foul
from ..match.machine import Match, Phase
from ..match.setup import MatchSetup
from ..net.links.player_protocol import make_message
from ..testing.seats import AnyGame, Choose, ScriptedSeat, plain
from .findings import Failed, name_late
from .remedies import foul_remedy
from .session import Session

_OTHERS = ("ada", "bob", "cyd", "dan", "eve", "fay", "gus", "hal", "ida", "jon", "kim", "lea")
_SEED = chance.seed_from_number(1)
"""Seed of all deals: always the same, so that a failed step can be repeated."""
END_OF_CHECK = "the check of the player ends here"
_HEAD = hashlib.sha256(b"there is no record").hexdigest()


class ScriptedTerms(Struct, frozen=True, kw_only=True):
    """Terms of one match."""

    game: AnyGame
    seats: int = 0
    """Number of seats; 0: the smallest number that the game allows."""
    seat: int = 0
    """The program's seat."""
    options: dict[str, Any] = {}
    state: Any = None
    """State with which the match begins; None: a new deal."""
    per_move_s: float | None = None
    """Limit of a move in seconds; None: the session's limit."""
    bank_s: float | None = None
    increment_s: float = 0.0
    acknowledge: bool = False
    nonces: bool = False
    leaver: int | None = None
    """The seat that loses its connection when it is first asked for a move."""


class _StoppingSeat(ScriptedSeat):
    """A seat that makes a number of moves, and then stays silent or leaves."""

    def __init__(self, choose: Choose, moves: int, *, leaves: bool, match: str) -> None:
        super().__init__(choose, takes_ms=0.0, match=match)
        self._moves = moves
        self._leaves = leaves

    def answer(self, command: c.SeatCommand, sent_ms: float) -> e.SeatEvent | None:
        """Answer a command, unless no move is left."""
        if isinstance(command, c.AskMove):
            self._moves -= 1
            if self._moves < 0:
                lost = e.ConnectionLost(seat=command.seat, at_ms=sent_ms, detail="its connection ended")
                return lost if self._leaves else None
        return super().answer(command, sent_ms)


def _setup(match: str, session: Session, terms: ScriptedTerms, seats: int) -> MatchSetup:
    names = [name for name in _OTHERS if name != session.name][: seats - 1]
    # The program plays under its own name, so no other seat may have that name.
    names.insert(terms.seat, session.name)
    per_move_s = session.times.move_s if terms.per_move_s is None else terms.per_move_s
    return MatchSetup(
        match=match,
        game=terms.game.name,
        options=terms.options,
        names=tuple(names),
        time=TimeControl(
            per_move_ms=per_move_s * 1000.0,
            start_ms=session.times.start_s * 1000.0,
            bank_ms=None if terms.bank_s is None else terms.bank_s * 1000.0,
            increment_ms=terms.increment_s * 1000.0,
        ),
        acknowledge=terms.acknowledge,
        nonces=terms.nonces,
        commitment=chance.commitment(_SEED),
    )


class ScriptedMatch:
    """One match.

    Args:
        session: the program; its hello has been answered.
        terms: terms of the match.
    """

    def __init__(self, session: Session, terms: ScriptedTerms) -> None:
        session.matches += 1
        self.name = f"check-{session.matches}"
        self.moves = 0
        self.acks: list[str] = []
        """Types of the messages that the program has acknowledged: `start`, `told`, `end`."""
        self.slowest_s = 0.0
        self.session = session
        self._terms = terms
        self.seat = terms.seat
        """The program's seat."""
        seats = terms.seats or terms.game.seats[0]
        self.fold = Match(terms.game, _setup(self.name, session, terms, seats), _SEED, start=terms.state)
        self._tokens = [session.resume] * seats
        self._chance = chance.Stream(_SEED)
        self._began_s = session.loop.seconds()
        self._sent_ms = self._last_ms = 0.0
        self._events: list[e.Event] = []
        self._demanded = ""
        self._others: dict[int, ScriptedSeat] = {
            seat: ScriptedSeat(self._choose, takes_ms=0.0, match=self.name)
            for seat in range(seats)
            if seat != terms.seat
        }
        if terms.leaver is not None:
            self._others[terms.leaver] = _StoppingSeat(self._choose, 0, leaves=True, match=self.name)
        self._scripted = self._others
        """Seats that this module plays. In `play_unseen` it also plays the program's seat, until `take_back`."""

    # --- for steps

    def open(self) -> None:
        """Offer the match."""
        self._feed(e.MatchOpened(at_ms=0.0))
        self._sent_ms = self._now_ms()

    def take(self, message: Message) -> None:
        """Handle an answer that a step has read itself.

        Raises:
            Failed: the program is expelled for the answer.
        """
        self._feed(self._make_event(message))
        self._sent_ms = self._now_ms()

    def play(self, moves: int | None = None) -> None:
        """Play until the program has made a number of moves, or to the end of the game.

        Raises:
            Failed: the program is expelled.
        """
        if self.fold.phase is Phase.NEW:
            self.open()
        while self.fold.result is None and (moves is None or self.moves < moves):
            self._wait_for_answer()

    def finish(self, moves: int | None = None) -> None:
        """Play as `play` does, then end the match.

        Raises:
            Failed: the program is expelled.
        """
        self.play(moves)
        self.void()

    def deal(self) -> None:
        """Play until the program is asked for a move, and leave that request open."""
        if self.fold.phase is Phase.NEW:
            self.open()
        while self._awaited is not e.MoveReceived and self.fold.result is None:
            self._wait_for_answer()
        self.session.flush()

    def start(self) -> None:
        """Play up to `start`, and ask for no move."""
        self.open()
        self._wait_for_answer()
        self.session.unsay(1)
        self.session.flush()

    def play_unseen(self, moves: int | None) -> None:
        """Play in place of the program, as if an earlier start of it had played.

        Args:
            moves: number of the program's moves to play; its next move stays open. None: the program is ready, and
                the other seats are not ready yet.
        """
        stopping = _StoppingSeat(self._choose, moves or 0, leaves=False, match=self.name)
        seat: dict[int, ScriptedSeat] = {self.seat: stopping}
        self._scripted = seat if moves is None else self._others | seat
        self.open()

    def void(self) -> None:
        """End the match at any point; if the game is not over, drop the queued messages."""
        if self.fold.result is None:
            self.session.unsay()
            self._feed(e.RefereeFailed(at_ms=self._now_ms(), detail=END_OF_CHECK))
        self.session.flush()

    def expel(self) -> None:
        """Expel the program, although it did nothing wrong."""
        detail = "the check of the player wants to see what it does when it is expelled"
        foul = Foul(seat=self.seat, cause=Cause.TIMEOUT, at_ms=0.0, turn=self.fold.turn, detail=detail)
        self._say(c.ExpelSeat(seat=self.seat, foul=foul))
        self.session.flush()

    def pause(self) -> None:
        """Pause the match, as a referee does when it is stopped."""
        self.session.say(Paused(match=self.name, reason=END_OF_CHECK, head=_HEAD))
        self.session.flush()

    def take_back(self) -> None:
        """Resume the match with the program on a new connection, and repeat the open requests."""
        self._scripted = self._others
        self._feed(e.MatchResumed(at_ms=self._last_ms))

    def take_seat_back(self) -> None:
        """Seat the program again after its connection broke, and repeat its open request."""
        at_ms = max(self._now_ms(), self._last_ms)
        self._feed(e.SeatReturned(seat=self.seat, at_ms=at_ms, gone_ms=0.0))
        self._sent_ms = at_ms

    # --- the fold

    @property
    def _awaited(self) -> type[e.Answer] | None:
        request = self.fold.open_requests.get(self.seat)
        return None if request is None else request.answer

    def _now_ms(self) -> float:
        return round((self.session.loop.seconds() - self._began_s) * 1000, 3)

    def _feed(self, event: e.Event) -> None:
        """Handle an event, and all answers of the other seats that follow from it."""
        # A queue, not recursion: the other seats may answer one another for a whole game.
        self._events.append(event)
        while self._events:
            first = self._events.pop(0)
            self._last_ms = first.at_ms
            for command in self.fold.handle(first):
                self._execute(command)

    def _execute(self, command: c.Command) -> None:
        if not isinstance(command, c.SeatCommand):
            return
        if (other := self._scripted.get(command.seat)) is not None:
            answer = other.answer(command, max(self._now_ms(), self._last_ms))
            self._events += [answer] if answer is not None else []
        elif command.seat != self.seat:
            return
        elif isinstance(command, c.ExpelSeat):
            self.session.flush()
            raise explain_foul(command.foul, self._terms.game, self.session.heard)
        else:
            self._say(command)

    def _say(self, command: c.SeatCommand) -> None:
        message = make_message(command, self.fold, self._tokens, _HEAD)
        if getattr(message, "ack", None) is not None:
            self._demanded = type_of(message)
        self.session.say(message)

    # --- the program

    def _wait_for_answer(self) -> None:
        request = self.fold.open_requests.get(self.seat)
        assert request is not None, "the other seats answer at once"
        session = self.session
        session.flush()
        self._sent_ms = self._now_ms()
        self._feed(self._make_event(session.hear(request.limit_ms / 1000, _NAMES[request.answer])))

    def _make_event(self, message: Message) -> e.Event:
        at_ms = self._now_ms()
        sent_ms = self._sent_ms
        instants: Any = {"seat": self.seat, "at_ms": at_ms, "sent_ms": sent_ms, "first_byte_ms": at_ms, "lag_ms": 0.0}
        if isinstance(message, Move):
            self.moves += 1
            self.slowest_s = max(self.slowest_s, (at_ms - sent_ms) / 1000)
            return e.MoveReceived(turn=message.turn, move=message.move, **instants)
        if isinstance(message, Ack):
            self.acks.append(self._demanded)
            return e.AckReceived(ack=message.ack, **instants)
        if isinstance(message, Nonce):
            return e.NonceReceived(nonce=message.nonce, **instants)
        assert isinstance(message, Ready), "the connection accepts no other message"
        return e.ReadyReceived(commitment=message.commitment, **instants)

    def _choose(self, _view: Any) -> Any:
        """Choose a random legal move for a seat that this module plays."""
        legal = self.fold.game.legal_moves(self.fold.state)
        return plain(legal[self._chance.below(len(legal))])


def explain_foul(foul: Foul, game: AnyGame, received: bytes | None = None, where: str = "") -> Failed:
    """Return the failure of a program that is expelled.

    Args:
        foul: the program's foul.
        game: the game.
        received: the bytes that the foul is about; None: the bytes that the program sent last.
        where: beginning of the sentence about what happened, such as "in turn 3: ".
    """
    name = foul.rule or foul.code
    broken = f"{foul.cause} ({name})" if name and name != foul.cause else str(foul.cause)
    expected = "an answer to the last request in time, as SPEC.md describes it"
    if (rule := game.rules.get(foul.rule or "")) is not None:
        expected = rule.text
    elif foul.code == "move":
        expected = f"a move in the form that `referee list {game.name} --schema` prints"
    late = name_late("a move", foul.ending) if foul.cause is Cause.TIMEOUT else None
    return Failed(
        f"{where}{broken}: {foul.detail}",
        expected,
        foul_remedy(foul, game.name),
        received=received,
        cause=name or late or f"{broken}: {foul.detail}",
    )


_NAMES: dict[type[e.Answer], str] = {
    e.ReadyReceived: "a ready",
    e.NonceReceived: "the nonce",
    e.MoveReceived: "a move",
    e.AckReceived: "an ack",
}
