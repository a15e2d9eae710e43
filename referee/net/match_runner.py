"""Runs one match: events in from links and clocks, each recorded with its commands, the commands carried out.

Knows instants, timers and who sits where. Refuses to judge: a verdict is the fold's alone. Record first: nothing is
sent before the line that says so is written.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.defer import Deferred

from protocol import RemoteProtocolError
from protocol.limits import MAX_EVIDENCE_BYTES
from protocol.messages import Ack, Message, Move, Ready

from ..match import commands as c
from ..match import events as e
from ..match.machine import Match, Phase
from ..record.writer import RecordWriter
from .clock import Clock, Timer
from .lag import LoopLag
from .launch import Program
from .player_protocol import PlayerLink
from .wording import message_of

EXIT_S = 0.5
"""How long after a launched program's connection broke its exit is awaited, to tell a crash from a disconnection."""
_MAX_DRAINS = 64
"""Reads of a socket after its deadline: more than the largest frame needs."""
_MARGIN_MS = 0.002
"""Covers the rounding of instants where the referee grants a player its whole limit."""

OnStep = Callable[[e.Event, tuple[c.Command, ...], Match], None]


class _Open(Struct):
    """A request that a seat has not answered."""

    sent: float
    limit_ms: float
    bytes_seen: int = 0
    drains: int = 0


class MatchRunner:
    """One match between links.

    Args:
        match: the fold, new.
        links: by seat; None where nobody sits.
        writer: the match's record, its header written.
        clock: the reactor, or a test's clock.
        now: monotonic seconds.
        lag: the loop's beat.
        vacancies: seat -> why nobody sits there.
        programs: seat -> the launched program that sits there.
        last_ms: instant of the match's last event, if it is not new but resumed.
        on_step: called after every step, for those who watch.
    """

    def __init__(
        self,
        match: Match,
        links: Sequence[PlayerLink | None],
        writer: RecordWriter,
        clock: Clock,
        now: Callable[[], float],
        lag: LoopLag,
        *,
        vacancies: Mapping[int, str] | None = None,
        programs: Mapping[int, Program] | None = None,
        last_ms: float = 0.0,
        on_step: OnStep = lambda event, commands, match: None,
    ) -> None:
        self.match = match
        self.done: Deferred[c.Result] = Deferred()
        """Fires with the result; fails, with OSError if the record can't be written."""
        self._links = list(links)
        self._seats = {link: seat for seat, link in enumerate(self._links) if link is not None}
        self._writer = writer
        self._clock = clock
        self._now = now
        self._lag = lag
        self._vacancies = dict(vacancies or {})
        self._programs = dict(programs or {})
        self._on_step = on_step
        self._opened = now() - last_ms / 1000
        self._last_ms = last_ms
        self._open: dict[int, _Open] = {}
        self._timers: dict[int, Timer] = {}
        self._events: deque[e.Event] = deque()
        self._is_busy = False
        self._leaving: dict[int, tuple[Timer, str]] = {}
        """Seat -> what waits for its program's exit, and how its connection ended."""

    def start(self) -> "Deferred[c.Result]":
        """Open the match, or go on with it.

        Returns:
            `done`.
        """
        for link in self._seats:
            link.owner = self
        for seat, program in self._programs.items():
            program.exited.addCallback(self._program_exited, seat)
        is_new = self.match.phase is Phase.NEW
        self._feed(e.MatchOpened(at_ms=0.0) if is_new else e.MatchResumed(at_ms=self._last_ms))
        for seat, taken in enumerate(self._links):
            if taken is None and not self.match.is_out(seat):
                why = self._vacancies.get(seat, "nobody came")
                absent = e.SeatVacant if is_new else e.ConnectionLost
                self._feed(absent(seat=seat, at_ms=self._at_ms(), detail=why))
            elif taken is not None and not taken.is_connected:
                self.link_lost(taken, "the connection ended before the match began")
        return self.done

    def abort(self, detail: str) -> None:
        """Void the match for a fault of the referee's own.

        Args:
            detail: the fault, in one sentence.
        """
        self._feed(e.RefereeFailed(at_ms=self._at_ms(), detail=detail))

    # --- from the links

    def message_received(self, link: PlayerLink, message: Message, first_byte: float, at: float) -> None:
        """Turn a player's answer into an event with its instants."""
        seat = self._seats[link]
        request = self._open.pop(seat)
        sent_ms, at_ms = self._ms(request.sent), self._ms(at)
        instants: Any = {
            "seat": seat,
            "at_ms": at_ms,
            "sent_ms": sent_ms,
            "first_byte_ms": max(self._ms(first_byte), sent_ms),
            "lag_ms": self._granted_ms(request, sent_ms, at, at_ms),
            **self._standstill(request, at),
        }
        if isinstance(message, Move):
            frame = link.connection.last_body[:MAX_EVIDENCE_BYTES].hex()
            self._feed(e.MoveReceived(turn=message.turn, move=message.move, frame=frame, **instants))
        elif isinstance(message, Ready):
            self._feed(e.ReadyReceived(nonce=message.nonce, **instants))
        elif isinstance(message, Ack):
            self._feed(e.AckReceived(ack=message.ack, **instants))

    def protocol_broken(self, link: PlayerLink, error: RemoteProtocolError) -> None:
        """Turn a breach of the protocol into an event."""
        evidence = error.evidence[:MAX_EVIDENCE_BYTES].hex()
        self._feed(
            e.ProtocolBroken(
                seat=self._seats[link],
                at_ms=self._at_ms(),
                code=str(error.code),
                detail=error.detail,
                evidence=evidence,
            )
        )

    def link_lost(self, link: PlayerLink, detail: str) -> None:
        """Turn a lost connection into an event; that of a launched program waits a moment for its exit."""
        seat = self._seats[link]
        program = self._programs.get(seat)
        if program is None:
            self._feed(e.ConnectionLost(seat=seat, at_ms=self._at_ms(), detail=detail))
        elif program.status is not None:
            self._feed(e.ProgramExited(seat=seat, at_ms=self._at_ms(), status=program.status))
        else:
            self._leaving[seat] = (self._clock.callLater(EXIT_S, self._left, seat, detail), detail)

    def _left(self, seat: int, detail: str) -> None:
        self._leaving.pop(seat, None)
        if self._is_in(seat):
            self._feed(e.ConnectionLost(seat=seat, at_ms=self._at_ms(), detail=detail))

    def _awaited_no_more(self, seat: int) -> str | None:
        """Stop to wait for a program's exit; return how its connection ended, or None if nothing was waited for."""
        timer, detail = self._leaving.pop(seat, (None, None))
        if timer is not None and timer.active():
            timer.cancel()
        return detail

    def _program_exited(self, status: str, seat: int) -> str:
        """Take note of a program's end once its connection has ended too: what it said before still counts."""
        if self._awaited_no_more(seat) is not None and self._is_in(seat):
            self._feed(e.ProgramExited(seat=seat, at_ms=self._at_ms(), status=status))
        return status

    # --- instants

    def _ms(self, instant: float) -> float:
        return round((instant - self._opened) * 1000, 3)

    def _at_ms(self) -> float:
        return self._ms(self._now())

    def _granted_ms(self, request: _Open, sent_ms: float, at: float, at_ms: float) -> float:
        """Return the part of an answer's time that is not the player's.

        What was read on the first look after the deadline was there in time, as far as the referee can tell.
        """
        lag_ms = (self._lag.of_sending(request.sent) + self._lag.of_reading(request.sent, at)) * 1000
        if request.drains:
            lag_ms = max(lag_ms, at_ms - sent_ms - request.limit_ms + _MARGIN_MS)
        return round(max(min(lag_ms, at_ms - sent_ms), 0.0), 3)

    def _standstill(self, request: _Open, at: float) -> dict[str, Any]:
        """Return `stalled_ms`, if there is anything to say of it."""
        stalled_ms = round(self._lag.longest(request.sent, at) * 1000, 3)
        return {"stalled_ms": stalled_ms} if stalled_ms else {}

    # --- deadlines

    def _arm(self, seat: int, delay_s: float) -> None:
        """See to it that the seat's limit is looked at in time.

        A timer that goes off too early only arms itself again: most turns are answered long before, and to leave the
        last turn's timer running costs less than to cancel it and start another.
        """
        timer = self._timers.get(seat)
        if timer is None or not timer.active():
            self._timers[seat] = self._clock.callLater(delay_s, self._limit_reached, seat)
        elif timer.getTime() > self._clock.seconds() + delay_s:
            timer.reset(delay_s)

    def _limit_reached(self, seat: int) -> None:
        """Look into the socket once more before anything is held against the player."""
        request = self._open.get(seat)
        if request is None:
            return
        detail = self._awaited_no_more(seat)
        if detail is not None:  # it left in time; that its program's exit is awaited is not its fault
            self._left(seat, detail)
            return
        left_ms = request.limit_ms + self._lag.of_sending(request.sent) * 1000 - self._used_ms(request)
        if left_ms >= 0:
            self._arm(seat, (left_ms + _MARGIN_MS) / 1000)
            return
        request.drains = 1
        request.bytes_seen = self._bytes_of(seat)
        self._clock.callLater(0, self._drained, seat, request)

    def _drained(self, seat: int, request: _Open) -> None:
        if self._open.get(seat) is not request:
            return
        received = self._bytes_of(seat)
        sent_ms, at_ms = self._ms(request.sent), self._at_ms()
        lag_ms = round(min(self._lag.of_sending(request.sent) * 1000, at_ms - sent_ms), 3)
        is_reading = received != request.bytes_seen and request.drains < _MAX_DRAINS
        if is_reading or at_ms - sent_ms - lag_ms <= request.limit_ms:
            request.bytes_seen = received
            request.drains += 1
            self._clock.callLater(0 if is_reading else _MARGIN_MS / 1000, self._drained, seat, request)
            return
        del self._open[seat]
        link = self._links[seat]
        pending = link.connection.pending.hex() if link is not None else ""
        instants: Any = {"at_ms": at_ms, "sent_ms": sent_ms, "lag_ms": lag_ms, **self._standstill(request, self._now())}
        self._feed(e.DeadlinePassed(seat=seat, pending=pending, **instants))

    def _used_ms(self, request: _Open) -> float:
        return self._at_ms() - self._ms(request.sent)

    def _bytes_of(self, seat: int) -> int:
        link = self._links[seat]
        return link.bytes_received if link is not None else 0

    # --- the fold

    def _feed(self, event: e.Event) -> None:
        """Take an event; one that carrying out a command brings about waits for its turn."""
        self._events.append(event)
        if self._is_busy:
            return
        self._is_busy = True
        try:
            while self._events and self.match.phase is not Phase.OVER:
                self._step_or_void(self._events.popleft())
        except Exception as error:  # noqa: BLE001  # whoever waits for the match is told
            self._give_up(error)
        finally:
            self._is_busy = False

    def _step_or_void(self, event: e.Event) -> None:
        """Take one step; a fault of this program's own voids the match, one of the disk's ends it."""
        try:
            self._step(event)
        except OSError:
            raise
        except Exception as error:
            if self.match.phase is Phase.OVER:
                raise
            detail = f"{type(error).__name__}: {error}"[:400]
            self._step(e.RefereeFailed(at_ms=max(self._at_ms(), event.at_ms), detail=detail))

    def _step(self, event: e.Event) -> None:
        if isinstance(event, e.SeatEvent) and not self._is_in(event.seat):
            return
        commands = self.match.handle(event)
        if isinstance(event, e.MoveReceived) and not any(isinstance(command, c.ExpelSeat) for command in commands):
            event = replace(event, frame="")  # no evidence of anything, and no news: the move says it all
        self._writer.write_step(event, commands)
        for command in commands:
            self._carry_out(command)
        self._on_step(event, commands, self.match)

    def _carry_out(self, command: c.Command) -> None:
        if isinstance(command, c.CloseMatch):
            self._finish(command.result)
            return
        assert isinstance(command, c.SeatCommand)
        link = self._links[command.seat]
        if link is None:
            return
        if isinstance(command, c.ExtendLimit):
            self._await(command.seat, command.limit_ms)
            return
        message = message_of(command, self.match, self._writer.head)
        if isinstance(command, c.ExpelSeat):
            self._forget(command.seat)
            link.say_goodbye(message)
            return
        link.send(message)
        limit_ms = getattr(command, "limit_ms", None)
        if limit_ms is not None:
            self._await(command.seat, limit_ms)

    def _await(self, seat: int, limit_ms: float) -> None:
        """Expect an answer from now on."""
        self._open[seat] = _Open(self._now(), limit_ms)
        self._arm(seat, (limit_ms + _MARGIN_MS) / 1000)

    def _is_in(self, seat: int) -> bool:
        link = self._links[seat]
        return self.match.phase is not Phase.OVER and (link is None or link.owner is self)

    def _forget(self, seat: int) -> None:
        self._open.pop(seat, None)
        timer = self._timers.pop(seat, None)
        if timer is not None and timer.active():
            timer.cancel()
        self._awaited_no_more(seat)

    def _finish(self, result: c.Result) -> None:
        self._writer.write_result(result, seed=self.match.seed.hex(), nonces=self.match.nonces)
        self._release()
        self.done.callback(result)

    def _give_up(self, error: Exception) -> None:
        """End everything without a result: the record can't be kept, so nothing more may happen."""
        self._writer.close()
        self._release()
        if not self.done.called:
            self.done.errback(error)

    def _release(self) -> None:
        for seat, link in enumerate(self._links):
            self._forget(seat)
            if link is not None and link.owner is self:
                link.say_goodbye()
