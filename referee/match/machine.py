"""The fold: the only place where a match's state changes. `Match.handle(event)` returns the commands that follow.

It knows no clock, socket, file or log: time stands in the events, chance comes from the seed and the nonces. The same
fold runs a match, audits its record and resumes it. TABLE says which event may come in which phase.

A foul off its turn ends the seat's connection at once, but its pieces leave the game only when the open request is
answered: nobody's answer is judged on another state than the one it was asked on.
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
# Everything that has to be done about it is a *command* (commands.py): ask, send, expel, close. `Match.handle` maps one
# to the other, and nothing else changes a match's state. It never asks what time it is, draws no random number and does
# no input or output: an event carries its instants, and chance follows from the seed and the nonces.
#
# So the same events always give the same commands, and one piece of code serves four callers: the runner, which carries
# the commands out; the audit, which compares them with those in a record; `resume`, which folds what a crashed referee
# had written and plays on; and the tests, which need no socket. Had the rules of a match been spread over callbacks of
# timers and connections, an audit would have to imitate them, and the imitation would have errors of its own.
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
# In a tournament, the match also goes to OVER from the deal on once only one seat or team is left (outcome.py).
#
# A resumed referee goes back from REVEALING to OFFERING, since a program that was started again does not know the nonce
# that its predecessor had committed to. In all other phases it asks again what was open.
#
# Offers and nonces go to all seats at once: nobody learns anything from the others' answers, and a slow start costs the
# match only the slowest one. All else is asked of one seat at a time. That makes a record a single sequence, in which
# the answer to every question is known before the next is put.
#
# A foul ends the seat's part, never the match. When the seat was the one that everybody waited for, the match goes on
# at once. When it was not (a program crashes while another one thinks), the seat is expelled at once but its pieces
# stay until the open request is answered: the player at turn must be judged by the position that it was shown.
#
# An exception out of the rules of a game, or out of this file, is the referee's own fault. It ends the match as void,
# which blames nobody. The audit folds the same events, fails in the same way, and so confirms the record.


class Phase(StrEnum):
    """What the match is waiting for."""

    NEW = "new"
    OFFERING = "offering"
    """Every seat's `ready`."""
    REVEALING = "revealing"
    """The nonces of all who committed to one."""
    STARTING = "starting"
    """One seat's `ack` of its start."""
    PLAYING = "playing"
    """One seat's move."""
    TELLING = "telling"
    """The mover's `ack` of what it was handed."""
    ENDING = "ending"
    """One seat's `ack` of the end."""
    OVER = "over"

    __hash__ = str.__hash__
    """Faster than an enum's own, which is a Python function: every event looks into the table."""


class Match:
    """One match.

    Args:
        game: the rules.
        setup: what was settled beforehand.
        seed: 32 bytes; must fit the setup's commitment.
        start: a state of the game to begin with, in place of the setup's position; None: what the setup says.

    Raises:
        BadSetup: the options, the position or the number of seats are not the game's.
        UnfitSeed: the seed does not fit the commitment, or the seats are not those of the lot.
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
        """The game's; None before the deal."""
        self.turn = 0
        self.nonces = Nonces(setup.match, len(setup.names))
        self.fouls: list[Foul] = []
        self.result: c.Result | None = None
        self._outcome: Outcome | None = None
        self._out: set[int] = set()
        self._in = tuple(range(len(setup.names)))
        """The other seats, ascending."""
        self.time = Timekeeper(setup)
        """Time and open requests of all seats."""
        self._acks = 0
        self._now_ms = 0.0
        self.fault: Exception | None = None
        """The referee's own failure, for which the match is void; None while there is none."""
        self._restored = restore_position(game, self.options, setup) if start is None else start
        self._done: set[int] = set()
        self._to_drop: list[Foul] = []
        self._queue: list[int] = []
        self._last_ms = 0.0
        self._commands: list[c.Command] = []

    def handle(self, event: e.Event) -> tuple[c.Command, ...]:
        """Apply an event to the match.

        Args:
            event: an event that has happened after all those before it.

        Returns:
            The commands that follow from it, in order. A failure of the referee itself does not raise: it makes the
            match void, and the commands say so.

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
        """Refuse an event that contradicts itself or what came before it."""
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
        """Offer the match to all seats that are in it; earlier commitments do not count."""
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
        """Give the mover what it drew, now that it has been told, and ask for the next move."""
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
        """End the match if one seat or team is left, whatever is open; return whether it ended.

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
        """Book an answer's time, close its request, and judge lateness and number; return whether it is no foul.

        A foul expels the seat here. A late answer counts if the referee stood still so long that nobody knows whose
        delay it was.
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
        """Expel the seat; go on with the match if it was the one that everybody waited for."""
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
        """Go on after an answer or a foul of a seat that was waited for."""
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
        """Close the match, whatever is open.

        Seats that have confirmed the end are sent it again, now final, with a head that covers their answer.

        Args:
            void: the referee's own fault in words, if the match is void for it; None if the match counts.
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
        """Take every seat back, and ask again what was open, with the time that was left.

        Before the deal the match is offered again: a program that was started again knows no nonce to open.
        """
        if self.phase in _GATHERING:
            self._offer()
            return
        for seat in self._in:
            self.time.restart(seat, self._last_ms, event.at_ms)
            self._take_back(seat)

    def _take_return(self, event: e.SeatReturned) -> None:
        """Take a seat back whose connection was lost; its clock went on while it was away."""
        self.time.charge_absence(event)
        self._take_back(event.seat)

    def _take_back(self, seat: int) -> None:
        """Show a seat where the match stands, and ask again what it was asked."""
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
        """Open the request of an `ack`; return its number and its limit."""
        self._acks += 1
        request = self.time.ask(seat, e.AckReceived, self._acks, self.setup.time.per_move_ms, self._now_ms)
        return request.number, request.limit_ms

    def _start_seat(self, seat: int, ack: int | None, limit_ms: float | None) -> c.StartSeat:
        return c.StartSeat(seat=seat, view=self._view(seat), ack=ack, limit_ms=limit_ms)

    def _ask(self, seat: int, request: Request) -> c.Command:
        """Make the command of an open request, for the first time or once more."""
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
    """Return the command that sends a seat the result; with a number in `ack`, it is to confirm that."""
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
"""(phase, event) -> handler; an event without a row is impossible in that phase."""
