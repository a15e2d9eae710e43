"""The fold: the only code that changes a match's state. `Match.handle(event)` returns the commands that follow.

The fold uses no clock, socket, file or log: the events carry the time, and chance comes from the seed and the nonces.
The same code runs a match, audits its record and resumes it. TABLE lists which events may come in which phase.

A foul ends the seat's connection at once. If another seat is to move, the pieces of the expelled seat stay in the game
until that seat has answered: every answer is judged by the state that its player was shown.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Raw

from .. import chance
from ..games.base import Game, IllegalMove, MalformedMove, Outcome
from . import commands as c
from . import events as e
from .coordinates import add_hint
from .events import ImpossibleEvent
from .fouls import MAX_DETAIL, SHOWN_HEX, Cause, Fault, Foul, describe_processor_time, identify_foul
from .outcome import default_outcome, describe_fault, make_result, make_void_result, winners_first
from .setup import MatchSetup, Nonces, check_seed, restore_position
from .timekeeper import Lateness, Request, Timekeeper

_encode = msgspec.msgpack.Encoder().encode

# Why a fold
# ----------
# Everything that happens to a match is an *event* (events.py): a seat answered, a deadline passed, a program crashed.
# Every action that follows is a *command* (commands.py): ask, send, expel, close. `Match.handle` maps events to
# commands, and nothing else changes a match's state. It reads no clock, draws no random number and does no input or
# output: an event carries its instants, and chance follows from the seed and the nonces.
#
# So the same events always give the same commands, and one piece of code serves four callers: the runner, which carries
# the commands out; the audit, which compares them with those in a record; `resume`, which folds what a crashed referee
# had written and plays on; and the tests, which need no socket. If callbacks of timers and connections held the rules
# of a match, an audit would need a second implementation of the rules, with errors of its own.
#
# The phases, and what leads from one to the next (`void` leads from every phase to OVER):
#
#     NEW ---- MatchOpened ----> OFFERING                every seat is asked for `ready` at once
#                                   |  all have answered or fouled
#                                   v
#                                REVEALING               every seat is asked for its nonce at once
#                                   |  all have answered or fouled; the cards are dealt
#                                   v
#                                STARTING --.            with `acknowledge`: one seat after the other confirms
#                                   |  ^----'
#                                   v
#              .--- a move ----> PLAYING <------.        one seat is asked for a move
#              |                    |           |
#              |                    |        its `ack`
#              |                    v           |
#              |     a move that draws ----> TELLING     with `acknowledge`: the mover confirms what it drew
#              |
#              '-- the game is over ---> ENDING --.      with `acknowledge`: one seat after the other confirms
#                                          |  ^---'
#                                          v
#                                         OVER           CloseMatch was the last command
#
# A match of a tournament also goes to OVER as soon as only one seat or team is left after the deal (outcome.py).
#
# A resumed referee goes back from REVEALING to OFFERING, because a program that was started again does not know the
# nonce that the crashed one had committed to. In all other phases the referee repeats the requests that were open.
#
# The referee asks all seats for `ready` at once, and later for their nonces: the answers reveal nothing to the other
# seats, and the match waits only for the slowest start. Every other request goes to one seat at a time. So a record is
# a single sequence, in which each request is answered before the next one is sent.
#
# A foul ends the match for one seat, never for all. If the match was waiting for this seat, the match goes on at once.
# If not (a program crashes while another one thinks), the seat is expelled at once, but its pieces stay until the open
# request is answered: the player to move must be judged by the position that it was shown.
#
# An exception from the rules of a game, or from this file, is the referee's own fault. It ends the match as void, which
# blames nobody. The audit handles the same events, fails in the same way, and so confirms the record.


class Phase(StrEnum):
    """What the match is waiting for; the diagram above shows the order."""

    NEW = "new"
    OFFERING = "offering"
    """The match waits for every seat's `ready`."""
    REVEALING = "revealing"
    """The match waits for the nonces of all seats that committed to one."""
    STARTING = "starting"
    """The match waits for one seat's `ack` of the start."""
    PLAYING = "playing"
    """The match waits for one seat's move."""
    TELLING = "telling"
    """The match waits for the mover's `ack` of what it drew."""
    ENDING = "ending"
    """The match waits for one seat's `ack` of the end."""
    OVER = "over"

    __hash__ = str.__hash__
    """Hash of a string: each event is looked up in TABLE, and an enum's own hash is slow, being written in Python."""


class Match:
    """One match.

    Args:
        game: the rules.
        setup: the settings that were fixed beforehand.
        seed: 32 bytes that fit the setup's commitment.
        start: a state of the game to begin with; None to begin with the setup's position or a new deal.

    Raises:
        BadSetup: the game does not accept the options, the position or the number of seats.
        UnfitSeed: the seed does not fit the commitment, or the seats are not in the order that the lot gives.
    """

    def __init__(self, game: Game[Any, Any, Any], setup: MatchSetup, seed: bytes, *, start: Any = None) -> None:
        check_seed(setup, seed)
        self.game = game
        self.setup = setup
        self.seed = seed
        self.options = game.parse_options(setup.options)
        self.teams = game.teams(self.options, len(setup.names))
        self.phase = Phase.NEW
        self.state: Any = None
        """State of the game; None before the deal."""
        self.turn = 0
        self.nonces = Nonces(setup.match, len(setup.names))
        self.fouls: list[Foul] = []
        self.result: c.Result | None = None
        self._outcome: Outcome | None = None
        self._out: set[int] = set()
        """Expelled seats."""
        self._in = tuple(range(len(setup.names)))
        """Seats that are not expelled, ascending."""
        self.time = Timekeeper(setup)
        """Time and open requests of all seats."""
        self._acks = 0
        self._now_ms = 0.0
        self.fault: Exception | None = None
        """The referee's own failure that made the match void; None if there is none."""
        self._restored = restore_position(game, self.options, setup) if start is None else start
        self._done: set[int] = set()
        """Seats that have confirmed the end, and can't foul any more."""
        self._to_drop: list[Foul] = []
        """Fouls of expelled seats whose pieces are still in the game."""
        self._queue: list[int] = []
        """Seats that are still to be sent their `start` or `end`, one after the other."""
        self._last_ms = 0.0
        self._commands: list[c.Command] = []

    def handle(self, event: e.Event) -> tuple[c.Command, ...]:
        """Apply an event to the match.

        Args:
            event: the next event, in the order in which the events happened.

        Returns:
            The commands that follow from it, in order. A failure of the referee itself does not raise an exception:
            the commands then end the match as void.

        Raises:
            ImpossibleEvent: the event cannot happen in this phase; the match is unchanged.
        """
        handler = TABLE.get((self.phase, type(event)))
        if handler is None:
            raise ImpossibleEvent(f"{type(event).__name__} in phase {self.phase}")
        self._check(event)
        self._commands, self._now_ms = [], event.at_ms
        try:
            handler(self, event)
        except Exception as error:  # noqa: BLE001  # the referee's own fault; an audit replays it
            self.fault = error
            self._conclude(describe_fault(error))
        self._last_ms = event.at_ms
        return tuple(self._commands)

    def _check(self, event: e.Event) -> None:
        """Raise ImpossibleEvent if the event contradicts itself or the events before it."""
        name = type(event).__name__
        if event.at_ms < self._last_ms:
            raise ImpossibleEvent(f"{name} at {event.at_ms} ms, after an event at {self._last_ms} ms")
        if isinstance(event, e.SeatEvent):
            if not 0 <= event.seat < len(self.setup.names) or event.seat in self._out:
                raise ImpossibleEvent(f"{name} of seat {event.seat}, which is not in the match")
            self.time.check(event)
        elif isinstance(event, e.MatchResumed) and event.at_ms != self._last_ms:
            raise ImpossibleEvent(f"{name} at {event.at_ms} ms, not at {self._last_ms} ms, as the event before it")

    def is_out(self, seat: int) -> bool:
        """Return whether a seat has fouled."""
        return seat in self._out

    @property
    def open_requests(self) -> dict[int, Request]:
        """The open requests by seat."""
        return dict(self.time.requests)

    # --- offers

    def _open(self, _event: e.MatchOpened) -> None:
        self._offer()

    def _offer(self) -> None:
        """Offer the match to all seats that are not expelled; earlier commitments no longer count."""
        self.phase = Phase.OFFERING
        self.nonces.forget()
        for seat in self._in:
            request = self.time.ask(seat, e.ReadyReceived, 0, self.setup.time.start_ms, self._now_ms)
            self._commands.append(self._ask(seat, request))

    def _ready(self, event: e.ReadyReceived) -> None:
        if self._accept(event):
            self.nonces.commitments[event.seat] = event.commitment
            self._advance()

    # --- nonces

    def _reveal(self) -> None:
        """Ask every seat to reveal its nonce, now that no commitment can be added; a fixed deal uses no nonces."""
        self.phase = Phase.REVEALING
        self.nonces.close(self._in)
        for seat in self._in if self.setup.nonces else ():
            request = self.time.ask(seat, e.NonceReceived, 0, self.setup.time.per_move_ms, self._now_ms)
            self._commands.append(self._ask(seat, request))
        self._advance()

    def _nonce(self, event: e.NonceReceived) -> None:
        if not self._accept(event):
            return
        if self.nonces.open(event.seat, event.nonce):
            self._advance()
        else:
            detail = "the nonce is not the one that the seat committed to"
            self._foul(event, Cause.MALFORMED_MESSAGE, code="nonce", detail=detail, evidence=event.frame)

    # --- the start

    def _deal(self) -> None:
        seats = len(self.setup.names)
        self.state = self._restored
        if self.state is None:
            key = chance.shuffle_key(self.seed, self.nonces.opened)
            self.state = self.game.new(self.options, seats, chance.Dealer(key))
        self.phase = Phase.STARTING
        self._queue = list(range(seats))
        if self._end_if_default():
            return
        if self.setup.acknowledge:
            self._start_next()
            return
        self._drop_expelled()
        self._commands += (self._start_seat(seat, None, None) for seat in self._in)
        self._next_turn()

    def _start_next(self) -> None:
        self._drop_expelled()
        seat = self._next_in_queue()
        if seat is None:
            self._next_turn()
            return
        self._commands.append(self._start_seat(seat, *self._demand_ack(seat)))

    # --- turns

    def _next_turn(self) -> None:
        if self._to_drop:
            self._drop_expelled()
        outcome = self.game.outcome(self.state)
        if outcome is not None:
            self._end(outcome)
            return
        self.phase = Phase.PLAYING
        self.turn += 1
        seat = self.game.to_move(self.state)
        goes_on = self.game.is_same_turn(self.state)
        request = self.time.ask_move(seat, self.turn, self._now_ms, goes_on=goes_on)
        self._commands.append(self._ask_move(seat, request.limit_ms, goes_on=goes_on))

    def _move(self, event: e.MoveReceived) -> None:
        limit_ms = self.time.requests[event.seat].limit_ms
        if not self._accept(event):
            return
        self.time.charge(event.seat, min(e.used_ms(event), limit_ms))
        try:
            move = self.game.parse_move(event.move)
            self.state = self.game.play(self.state, move)
        except MalformedMove as error:
            detail = add_hint(str(error), self.game, self.state, event.move)
            self._foul(event, Cause.MALFORMED_MESSAGE, code="move", detail=detail, evidence=event.frame)
            return
        except IllegalMove as error:
            detail = add_hint(error.detail, self.game, self.state, event.move)
            self._foul(event, Cause.ILLEGAL_MOVE, rule=error.rule_id, detail=detail, evidence=event.frame)
            return
        news = self.game.news(self.state)
        demand = self._demand_ack(event.seat) if self.setup.acknowledge and news.draws is not None else (None, None)
        what = {"kind": "played", **news.public}
        for seat in self._in:
            draws, ack, limit_ms = (news.draws, *demand) if seat == event.seat else (None, None, None)
            self._commands.append(
                c.TellSeat(seat=seat, turn=self.turn, what=what, draws=draws, ack=ack, limit_ms=limit_ms)
            )
        if demand[0] is not None:
            self.phase = Phase.TELLING
        else:
            self._deliver()

    def _deliver(self) -> None:
        """Put what the mover drew into its hand, now that it has been sent it, and ask for the next move."""
        self.state = self.game.deliver(self.state)
        self._next_turn()

    # --- confirmations

    def _ack(self, event: e.AckReceived) -> None:
        if not self._accept(event):
            return
        if self.phase is Phase.TELLING:
            self._deliver()
            return
        if self.phase is Phase.ENDING:
            self._done.add(event.seat)
        self._advance()

    def _next_in_queue(self) -> int | None:
        self._queue = [seat for seat in self._queue if seat not in self._out]
        return self._queue.pop(0) if self._queue else None

    # --- the end

    def _end(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self.phase = Phase.ENDING
        self._queue = winners_first(outcome, self._in)
        self._end_next()

    def _end_next(self) -> None:
        seat = self._next_in_queue() if self.setup.acknowledge else None
        if seat is not None:
            self._commands.append(_announce_end(self._final(None), seat, *self._demand_ack(seat)))
        else:
            self._conclude()

    def _end_if_default(self) -> bool:
        """End the match if only one seat or team is left, even if requests are open; return whether it ended.

        The seats that are left have won, and can't foul any more.
        """
        self._outcome = default_outcome(self.setup, self.teams, self._in)
        if self._outcome is None:
            return False
        self._tell_of_fouls()
        self._conclude()
        return True

    # --- fouls

    def _accept(self, event: e.Answer) -> bool:
        """Judge an answer's time and number; return True and close the request if the answer is no foul.

        If the answer is a foul, the seat is expelled here. A late answer is accepted if the referee stood still for so
        long that nobody can know who caused the delay.
        """
        request = self.time.requests[event.seat]
        if self.time.book(event) is Lateness.LATE:
            detail = f"{e.used_ms(event) / 1000:.7g} s used of {request.limit_ms / 1000:g} s"
            self._foul(event, self._lateness(), detail=detail, evidence=event.frame)
            return False
        number = event.turn if isinstance(event, e.MoveReceived) else getattr(event, "ack", 0)
        if number != request.number:
            detail = f"answers number {number}, number {request.number} was asked"
            self._foul(event, Cause.OUT_OF_TURN, code="out-of-turn", detail=detail, evidence=event.frame)
            return False
        del self.time.requests[event.seat]
        return True

    def _deadline(self, event: e.DeadlinePassed) -> None:
        request = self.time.requests[event.seat]
        if self.time.book(event) is Lateness.UNSURE:
            self.time.extend(event.seat, event.at_ms)
            self._commands.append(c.ExtendLimit(seat=event.seat, limit_ms=request.limit_ms))
            return
        doing = describe_processor_time(event.processor_ms, event.ending)
        detail = f"no complete answer within {request.limit_ms / 1000:g} s{doing}"
        ending = e.Ending.SILENT if self.phase is Phase.OFFERING else event.ending
        self._foul(event, self._lateness(), detail=detail, evidence=event.pending, ending=ending)

    def _lateness(self) -> Cause:
        return Cause.REFUSED_TO_START if self.phase is Phase.OFFERING else Cause.TIMEOUT

    def _fault(self, event: Fault) -> None:
        cause, facts = identify_foul(event)
        self._foul(event, cause, **facts)

    def _foul(self, event: e.SeatEvent, cause: Cause, *, detail: str, evidence: str = "", **facts: Any) -> None:
        """Expel the seat, and go on with the match if it was waiting for this seat."""
        seat = event.seat
        if seat in self._done:
            return
        shown = {"detail": detail[:MAX_DETAIL], "evidence": evidence[:SHOWN_HEX], **facts}
        foul = Foul(seat=seat, cause=cause, at_ms=event.at_ms, turn=self.turn, **shown)
        self.fouls.append(foul)
        self._expel(seat)
        self._to_drop.append(foul)
        self._commands.append(c.ExpelSeat(seat=seat, foul=foul))
        was_waited_for = self.time.forget(seat) or isinstance(event, e.Answer)
        is_ended = self.phase in _IN_PLAY and self._end_if_default()
        if was_waited_for and not is_ended:
            self._advance()

    def _advance(self) -> None:
        """Go on with the match after an answer or a foul of a seat that it was waiting for."""
        if self.phase in _GATHERING:
            if not self.time.requests:
                self._reveal() if self.phase is Phase.OFFERING else self._deal()
        elif self.phase is Phase.STARTING:
            self._start_next()
        elif self.phase is Phase.ENDING:
            self._end_next()
        else:
            self._next_turn()

    def _drop_expelled(self) -> None:
        """Take the pieces of expelled seats out of the game, and report the fouls to the others."""
        for foul in self._to_drop:
            self.state = self.game.drop(self.state, foul.seat)
        self._tell_of_fouls()

    def _tell_of_fouls(self) -> None:
        for foul in self._to_drop:
            what = {"kind": "expelled", "seat": foul.seat, "cause": str(foul.cause)}
            for seat in self._in:
                self._commands.append(
                    c.TellSeat(seat=seat, turn=self.turn, what=what, draws=None, ack=None, limit_ms=None)
                )
        self._to_drop.clear()

    def _conclude(self, void: str | None = None) -> None:
        """Close the match, even if requests are open.

        Every seat is sent the final `end`, also the seats that have confirmed an earlier one. The head of the record
        in this message covers their confirmations.

        Args:
            void: description of the referee's failure that makes the match void; None if the match counts.
        """
        result = self._final(void)
        order = winners_first(self._outcome if void is None else None, self._in)
        self._commands += (_announce_end(result, seat) for seat in order)
        self.phase = Phase.OVER
        self.result = result
        self.time.requests.clear()
        self._commands.append(c.CloseMatch(result=result))

    # --- a referee or a player that is back

    def _resume(self, event: e.MatchResumed) -> None:
        """Take every seat back, and repeat the open requests with the time that was left.

        Before the deal the match is offered again: a program that was started again does not know its earlier nonce.
        """
        if self.phase in _GATHERING:
            self._offer()
            return
        for seat in self._in:
            self.time.restart(seat, self._last_ms, event.at_ms)
            self._take_back(seat)

    def _take_return(self, event: e.SeatReturned) -> None:
        """Take back a seat whose connection was lost, and charge the absence to its clock."""
        self.time.charge_absence(event)
        self._take_back(event.seat)

    def _take_back(self, seat: int) -> None:
        """Send a seat the present state of the match, and repeat the seat's open request."""
        request = self.time.requests.get(seat)
        if request is None or request.answer is not e.ReadyReceived:
            view = None if self.state is None else self._view(seat)
            self._commands.append(c.ResumeSeat(seat=seat, turn=self.turn, view=view))
        if request is not None:
            self._commands.append(self._ask(seat, request))

    # --- what seats are asked and shown

    def _expel(self, seat: int) -> None:
        self._out.add(seat)
        self._in = tuple(seat for seat in self._in if seat not in self._out)

    def _final(self, void: str | None) -> c.Result:
        if void is not None:
            return make_void_result(self.fouls, self.time.used_ms, turns=self.turn, reason=void)
        return make_result(self._outcome, self.fouls, self.time.used_ms, out=self._out, turns=self.turn)

    def _view(self, seat: int) -> Raw:
        return Raw(_encode(self.game.view(self.state, seat)))

    def _demand_ack(self, seat: int) -> tuple[int, float]:
        """Open a request for an `ack`; return its number and its limit in milliseconds."""
        self._acks += 1
        request = self.time.ask(seat, e.AckReceived, self._acks, self.setup.time.per_move_ms, self._now_ms)
        return request.number, request.limit_ms

    def _start_seat(self, seat: int, ack: int | None, limit_ms: float | None) -> c.StartSeat:
        return c.StartSeat(seat=seat, view=self._view(seat), ack=ack, limit_ms=limit_ms)

    def _ask(self, seat: int, request: Request) -> c.Command:
        """Make the command that sends an open request, for the first time or again."""
        number, limit_ms = request.number, request.limit_ms
        if self.phase is Phase.OFFERING:
            return c.OfferMatch(seat=seat, limit_ms=limit_ms, teams=self.teams)
        if self.phase is Phase.REVEALING:
            return c.AskNonce(seat=seat, limit_ms=limit_ms)
        if self.phase is Phase.PLAYING:
            return self._ask_move(seat, limit_ms, goes_on=self.game.is_same_turn(self.state))
        if self.phase is Phase.STARTING:
            return self._start_seat(seat, number, limit_ms)
        if self.phase is Phase.TELLING:
            news = self.game.news(self.state)
            what = {"kind": "played", **news.public}
            return c.TellSeat(seat=seat, turn=self.turn, what=what, draws=news.draws, ack=number, limit_ms=limit_ms)
        return _announce_end(self._final(None), seat, number, limit_ms)

    def _ask_move(self, seat: int, limit_ms: float, *, goes_on: bool) -> c.AskMove:
        return c.AskMove(
            seat=seat,
            turn=self.turn,
            view=self._view(seat),
            limit_ms=limit_ms,
            bank_ms=self.time.bank_ms(seat),
            goes_on=goes_on,
        )


def _announce_end(result: c.Result, seat: int, ack: int | None = None, limit_ms: float | None = None) -> c.EndSeat:
    """Return the command that sends a seat the result. If `ack` is a number, the seat must confirm it."""
    return c.EndSeat(
        seat=seat,
        winners=result.winners,
        ranking=result.ranking,
        scores=result.scores,
        void=result.void,
        ack=ack,
        limit_ms=limit_ms,
    )


_GATHERING = (Phase.OFFERING, Phase.REVEALING)
_IN_PLAY = (Phase.STARTING, Phase.PLAYING, Phase.TELLING)
_RUNNING = (*_GATHERING, *_IN_PLAY, Phase.ENDING)
_ROWS: tuple[tuple[tuple[Phase, ...], type[e.Event], Callable[[Match, Any], None]], ...] = (
    ((Phase.NEW,), e.MatchOpened, Match._open),
    ((Phase.OFFERING,), e.ReadyReceived, Match._ready),
    ((Phase.REVEALING,), e.NonceReceived, Match._nonce),
    ((Phase.PLAYING,), e.MoveReceived, Match._move),
    ((Phase.STARTING, Phase.TELLING, Phase.ENDING), e.AckReceived, Match._ack),
    (_RUNNING, e.DeadlinePassed, Match._deadline),
    (_RUNNING, e.ProtocolBroken, Match._fault),
    (_RUNNING, e.ConnectionLost, Match._fault),
    (_RUNNING, e.ProgramExited, Match._fault),
    ((Phase.OFFERING,), e.SeatVacant, Match._fault),
    (_RUNNING, e.SeatReturned, Match._take_return),
    (_RUNNING, e.MatchResumed, Match._resume),
    ((Phase.NEW, *_RUNNING), e.RefereeFailed, lambda match, event: match._conclude(event.detail)),
)
TABLE = {(phase, kind): handler for phases, kind, handler in _ROWS for phase in phases}
"""(phase, type of event) -> handler. An event that has no row for a phase is impossible in it."""
