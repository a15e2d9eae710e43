"""Runs one match: events come in from links and clocks, and each goes through four stages."""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.defer import Deferred

from protocol import Code, ConnectionState, RemoteProtocolError
from protocol.connection import TRANSITIONS
from protocol.messages import Ack, Message, Move, Nonce, Paused, Ready

from ...clock import Clock
from ...errors import RefereeError
from ...match import commands as c
from ...match import events as e
from ...match.machine import Match, Phase
from ...observers import MatchTransition
from ...programs.program import Program
from ...record.writer import NotWritten
from ..event_loop import EventLoop
from ..links.lobby import Absence, Patience, Wait
from ..links.player_protocol import Owner, PlayerLink, make_message
from ..links.reserved_seats import STRANGER
from ..links.tokens import find_index
from .journal import Due, Journal
from .program_pool import KeptProgram
from .programs import find_ending, find_processor_use
from .stopwatch import Stopwatch

# THEORY
#
# Everything that happens to a match becomes an event: an answer, a deadline, a lost connection. Events wait in one
# queue and are taken one at a time, each in four stages:
#
#     judge    The fold (Match.handle) takes the event and returns commands. Nothing has happened outside yet.
#     write    Event and commands become one line of the record.
#     say      Commands become messages, which the links hold back.
#     send     The links write to their sockets, and the clocks of the players who were asked begin.
#
# Why write first? The record is the only thing that survives a crash of the referee. If a player were sent a turn that
# is on no line, and the referee crashed, the resumed match could ask something else. So a line is flushed before any of
# its commands is carried out: what a player knows is on record. With Durability.TURN, "flushed" means that the disk has
# it, and a match goes on with other events while it waits; the journal keeps what is still to be carried out. The fold
# may then be ahead of what the players were sent, never behind.
#
# Why stages? With 200 matches in one process, hundreds of answers may lie in the sockets at the same time. The agenda
# of the loop takes 32 matches together: all are judged, then all lines are written, then all messages made, then all
# sent. The processor's caches then hold the code of one stage at a time: a turn costs 89 microseconds, where one match
# after the other costs 145 (docs/develop/what-a-turn-costs.md). Larger batches save nothing more, and would keep the
# loop from its sockets for too long. A match takes its own stages in the same order as if it were alone, and its next
# event only after the last of them.
#
# No stage raises. A fault of the referee itself becomes an event, RefereeFailed, which voids this match alone. Only a
# disk that refuses a line ends a match without an event, since no line could report it.
#
# A lost connection is not an event at once. A launched program that is gone may have crashed, and its exit status says
# so a moment later (EXIT_S). A player from elsewhere may come back (come_back_s), while its clock goes on.

OnTransition = Callable[[MatchTransition], None]

EXIT_S = 0.5
"""Seconds that a program's exit is awaited after its connection broke, to tell a crash from a disconnection."""
MAX_RETURNS = 20
"""Number of times that a player may come back: each costs lines of the record, and no honest network is that bad."""


class MatchPaused(RefereeError):
    """The referee was stopped in the middle of a match; the text names its record, from which it can go on."""


class _Departure(Struct):
    """A connection that ended, before it is known whether that is a foul."""

    at_ms: float
    detail: str
    wait: Wait


class SeatedPlayers(Struct, frozen=True, kw_only=True):
    """The players of a match, and how long the match waits for them."""

    links: Sequence[PlayerLink | None]
    """Links by seat; None where nobody sits."""
    tokens: Sequence[str]
    """Resume tokens by seat."""
    vacancies: Mapping[int, Absence] = {}
    """Seat -> why nobody sits there."""
    programs: Mapping[int, Program] = {}
    """Seat -> the launched program that sits there."""
    come_back_s: float = 0.0
    """Seconds that a player without a launched program may be away while its clock runs; 0: it may not come back."""
    starts: tuple[int, ...] = ()
    """By seat, the start number of its program; empty unless programs stay for several matches."""
    reused: Mapping[int, KeptProgram] = {}
    """Seat -> the program that sits there and has played before."""
    release: Callable[[PlayerLink], None] = PlayerLink.say_goodbye
    """Called with the link of every player that is still there when the match is over."""


class MatchRunner(Owner):
    """One match between links.

    Args:
        match: the fold, new or resumed.
        players: the players who sit at the match.
        journal: the match's record.
        clock: the reactor, or a test's clock.
        loop: runs the match.
        last_ms: instant of the match's last event; not 0 if the match is resumed.
        on_transition: called after every transition; an exception voids the match.
    """

    def __init__(
        self,
        match: Match,
        players: SeatedPlayers,
        journal: Journal,
        clock: Clock,
        loop: EventLoop,
        *,
        last_ms: float = 0.0,
        on_transition: OnTransition = lambda transition: None,
    ) -> None:
        self.match = match
        self.done: Deferred[c.Result] = Deferred()
        """Fires with the result; fails with NotWritten if the disk refuses the record, and with MatchPaused after
        `pause`."""
        self._links = list(players.links)
        self._tokens = players.tokens
        self._journal = journal
        journal.on_settled, journal.on_refused = self._schedule, self._abort
        self._stopwatch = Stopwatch(
            clock, loop.lag, last_ms=last_ms, count_bytes=self._count_bytes, on_deadline=self._on_deadline
        )
        self._agenda = loop.agenda
        self.on_transition = on_transition
        self._events: deque[e.Event] = deque()
        self._stages = (self._judge, self._write, self._say, self._send)
        self._is_advancing = False
        """True while an event is between the first stage and the last."""
        self._judged: tuple[e.Event, tuple[c.Command, ...]] | None = None
        """The event that was judged and what follows from it, until it is written."""
        self._due: Due | None = None
        """The transition whose messages are held, until they are sent."""
        self._requests: list[tuple[int, float, PlayerLink]] = []
        """Seat, limit in milliseconds, and link of each request of that transition."""
        self._seats = {link: seat for seat, link in enumerate(self._links) if link is not None}
        self._players = players
        self._returns = Counter[int]()
        self._patience = Patience(clock, loop, match.setup.lag_margin_ms)
        self._programs = players.programs
        self._last_ms = last_ms
        self._departures: dict[int, _Departure] = {}
        """Seat -> its lost connection, while its program's exit or its player's return is awaited."""

    def start(self, missing: str | None = None) -> "Deferred[c.Result]":
        """Open the match, or resume it.

        Args:
            missing: why the match can't be resumed, in one sentence; then it is void. None: it begins or goes on.

        Returns:
            `done`.
        """
        for link in self._seats:
            link.owner = self
        if missing is not None:
            self.feed(e.RefereeFailed(at_ms=self._last_ms, detail=missing))
            return self.done
        for seat, program in self._programs.items():
            program.exited.addCallback(self._on_exit, seat)
        is_new = self.match.phase is Phase.NEW
        kind = e.MatchOpened if is_new else e.MatchResumed
        self.feed(kind(at_ms=self._last_ms, **self._stopwatch.clock_facts, starts=self._players.starts))
        self.catch_up()
        for seat, taken in enumerate(self._links):
            if taken is None and not self.match.is_out(seat):
                why = self._players.vacancies.get(seat) or Absence(detail="nobody came")
                at_ms = self._stopwatch.at_ms()
                self.feed(make_absence_event(seat, at_ms, why, self._programs.get(seat), is_new=is_new))
            elif taken is not None and not taken.is_connected:
                self.on_loss(taken, "the connection ended before the match began")
        return self.done

    def pause(self, reason: str) -> None:
        """Stop in the middle, so that the match can go on from its record later.

        Args:
            reason: sent to the players, in one sentence.
        """
        writer = self._journal.writer
        self.catch_up()
        try:
            if not self.done.called:
                self._journal.settle_now()
        except NotWritten as error:
            self._abort(error)
        self.catch_up()  # carries out what has just been settled
        if self.match.result is not None:
            self._conclude(self.match.result)  # only its seal is being synced: a match that is over is not paused
        if self.done.called:
            return
        for seat, link in enumerate(self._links):
            if link is not None and self._is_in(seat):
                may_send = (link.connection.state, "paused") in TRANSITIONS
                paused = Paused(match=self.match.setup.match, reason=reason, head=writer.head)
                link.say_goodbye(paused if may_send else None)
        self._abort(MatchPaused(str(writer.path)))

    async def wait_closed(self) -> None:
        """Wait until the connections of all players that were not launched here have ended."""
        for seat, link in enumerate(self._links):
            if link is not None and seat not in self._programs:
                await link.wait_closed()

    # --- from the links

    def on_message(self, link: PlayerLink, message: Message, first_byte: float, at: float) -> None:
        """Turn a player's answer into an event with its instants."""
        seat = self._seats[link]
        instants = self._stopwatch.end(seat, first_byte, at)
        if instants is None:
            return  # no answer is expected any more; a message that the player has not read yet says why
        frame = link.connection.last_body.hex()
        if isinstance(message, Move):
            self.feed(e.MoveReceived(seat=seat, turn=message.turn, move=message.move, frame=frame, **instants))
        elif isinstance(message, Ready):
            self.feed(e.ReadyReceived(seat=seat, commitment=message.commitment, frame=frame, **instants))
        elif isinstance(message, Nonce):
            self.feed(e.NonceReceived(seat=seat, nonce=message.nonce, frame=frame, **instants))
        elif isinstance(message, Ack):
            self.feed(e.AckReceived(seat=seat, ack=message.ack, frame=frame, **instants))

    def on_breach(self, link: PlayerLink, error: RemoteProtocolError) -> None:
        """Turn a breach of the protocol into an event."""
        seat = self._seats[link]
        if error.code is Code.TRUNCATED and (self._may_come_back(seat) or self._has_left_before(seat)):
            self.on_loss(link, error.detail)
            return
        at_ms, code, evidence = self._stopwatch.at_ms(), str(error.code), error.evidence.hex()
        self.feed(e.ProtocolBroken(seat=seat, at_ms=at_ms, code=code, detail=error.detail, evidence=evidence))

    def on_loss(self, link: PlayerLink, detail: str) -> None:
        """Turn a lost connection into an event, unless an exit or a return is awaited first."""
        seat = self._seats[link]
        program = self._programs.get(seat)
        at_ms = self._stopwatch.at_ms()
        if self._has_left_before(seat):
            self._players.reused[seat].has_left = True
            name = self.match.setup.names[seat]
            why = f"the program of {name} had ended between its previous match and this one"  # nobody's foul
            self.feed(e.RefereeFailed(at_ms=at_ms, detail=why))
        elif program is not None and program.status is not None:
            self.feed(make_exit_event(seat, at_ms, program))
        elif program is None and not self._may_come_back(seat):
            self.feed(e.ConnectionLost(seat=seat, at_ms=at_ms, detail=detail))
        else:
            patience_s = self._players.come_back_s if program is None else EXIT_S
            wait = self._patience.wait(patience_s, self._report_loss, seat, detail, origin=link.origin)
            self._departures[seat] = _Departure(at_ms, detail, wait)

    def _has_left_before(self, seat: int) -> bool:
        """Return whether a kept program has not answered in this match yet: to end between two matches is no foul."""
        request = self.match.open_requests.get(seat)
        return seat in self._players.reused and request is not None and request.answer is e.ReadyReceived

    def _may_come_back(self, seat: int) -> bool:
        return self._players.come_back_s > 0 and seat not in self._programs

    def find_seat(self, token: str | None, name: str | None) -> int | None:
        """Return the seat of a player that may come back; None if there is none.

        Args:
            token: its resume token.
            name: its name, if a token of the organiser proves it; then `token` is not looked at.
        """
        names = self.match.setup.names
        seat = find_index(token, self._tokens) if name is None else names.index(name) if name in names else None
        if seat is None or not self._may_come_back(seat) or self._returns[seat] >= MAX_RETURNS:
            return None
        self.catch_up()
        return seat if self._is_in(seat) else None

    def take_back(self, seat: int, link: PlayerLink) -> None:
        """Go on with a player on a new connection; the old connection may be dead, and not have ended yet."""
        self.catch_up()
        old = self._links[seat]
        at_ms = self._stopwatch.at_ms()
        departure = self._stop_waiting(seat)
        gone_ms = 0.0 if departure is None else round(at_ms - departure.at_ms, 3)
        if old is not None:
            del self._seats[old]
            old.cut_off()
        link.owner, self._links[seat], self._seats[link] = self, link, seat
        self._returns[seat] += 1
        request = self.match.open_requests.get(seat)
        waited_since_ms = request.asked_ms if request is not None and self._journal.waits_for_disk else None
        delays = self._stopwatch.measure_delays(seat, at_ms, waited_since_ms)
        self._stopwatch.forget(seat)  # the request is sent again
        self.feed(e.SeatReturned(seat=seat, at_ms=at_ms, gone_ms=gone_ms, **delays))

    def _report_loss(self, seat: int, detail: str) -> None:
        self._departures.pop(seat, None)
        if self._is_in(seat):
            self.feed(e.ConnectionLost(seat=seat, at_ms=self._stopwatch.at_ms(), detail=detail))

    def _stop_waiting(self, seat: int) -> _Departure | None:
        """Stop awaiting a program's exit or a player's return; return the departure, if there was one."""
        departure = self._departures.pop(seat, None)
        if departure is not None:
            departure.wait.cancel()
        return departure

    def _on_exit(self, status: str, seat: int) -> str:
        """Take a program's exit, if its connection has ended before; everything that it had sent still counts."""
        if self._stop_waiting(seat) is not None and self._is_in(seat):
            self.feed(make_exit_event(seat, self._stopwatch.at_ms(), self._programs[seat]))
        return status

    def _on_deadline(self, seat: int, instants: Mapping[str, Any]) -> None:
        departure = self._stop_waiting(seat) if seat in self._programs else None
        if departure is not None:  # it left before the deadline, and only its exit is still awaited
            self._report_loss(seat, departure.detail)
            return
        link = self._links[seat]
        pending = link.connection.pending.hex() if link is not None else ""
        use = find_processor_use(self._programs.get(seat))
        self.feed(e.DeadlinePassed(seat=seat, pending=pending, **instants, **use))

    def _count_bytes(self, seat: int) -> int:
        link = self._links[seat]
        return link.bytes_received if link is not None else 0

    # --- the queue of events

    def feed(self, event: e.Event) -> None:
        """Have the match take an event, after those that wait."""
        self._events.append(event)
        self._schedule()

    def _schedule(self) -> None:
        """Put the match on the agenda, unless it is in the middle of an event."""
        if not self._is_advancing:
            self._agenda.add(self, self._stages)

    def catch_up(self) -> None:
        """Take all events that wait, at once: the caller has to know how the match stands now."""
        while not self._is_advancing and self._has_more:
            for stage in self._stages:
                stage()

    @property
    def _has_more(self) -> bool:
        """Whether there is an event to judge, or a transition to carry out."""
        if self._events or self._journal.has_due:
            return not self.done.called and (self._journal.has_due or self.match.phase is not Phase.OVER)
        return False

    # --- the stages; none of them raises

    def _judge(self) -> None:
        """Stage 1: let the match take the next event that still matters."""
        self._is_advancing = True
        while self._events and self.match.phase is not Phase.OVER and not self.done.called:
            event = self._events.popleft()
            if not isinstance(event, e.SeatEvent) or self._is_in(event.seat):
                break
        else:
            return
        fouls = len(self.match.fouls)
        try:
            commands = self.match.handle(event)
        except Exception as error:  # noqa: BLE001  # it voids the match
            self._fail(error, event)
            return
        if isinstance(event, e.Answer) and len(self.match.fouls) == fouls:
            event = replace(event, frame="")  # the bytes are only needed as evidence of a foul
        self._judged = event, commands

    def _write(self) -> None:
        """Stage 2: write what was judged."""
        if self._judged is None:
            return
        (event, commands), self._judged = self._judged, None
        try:
            standstills = self._stopwatch.take_standstills(event.at_ms)
            self._journal.write_transition(event, commands, standstills, self.match, tuple(self._links))
            if isinstance(event, e.DeadlinePassed):
                self._extend(commands)
        except Exception as error:  # noqa: BLE001  # it voids the match
            self._fail(error, event)

    def _extend(self, commands: Sequence[c.Command]) -> None:
        """Start a seat's limit again, at once: nothing is sent for that, and the answer may be here already."""
        for command in commands:
            if isinstance(command, c.ExtendLimit) and (link := self._links[command.seat]) is not None:
                self._stopwatch.begin(command.seat, command.limit_ms, link.origin)

    def _say(self) -> None:
        """Stage 3: put what follows from the next settled transition into messages, which the links hold."""
        due = None if self.done.called else self._journal.take_due()
        if due is None:
            return
        try:
            for command in due.transition.commands:
                if isinstance(command, c.CloseMatch):
                    self._finish(command.result)
                elif isinstance(command, c.SeatCommand) and not isinstance(command, c.ExtendLimit):
                    link = self._links[command.seat]
                    if link is None or link is not due.links[command.seat]:
                        continue
                    message = make_message(command, self.match, self._tokens, due.transition.hash)
                    if isinstance(command, c.ExpelSeat):
                        self._forget(command.seat)
                        link.expel(message)
                    elif (
                        link.connection.state is not ConnectionState.CLOSED
                    ):  # else it has broken the protocol since then
                        link.hold(message)
                        if (limit_ms := getattr(command, "limit_ms", None)) is not None:
                            self._requests.append((command.seat, limit_ms, link))
            self._due = due
        except Exception as error:  # noqa: BLE001  # it voids the match
            self._fail(error, due.transition.event)

    def _send(self) -> None:
        """Stage 4: send the messages; the clock of a seat that is asked begins now."""
        due, self._due = self._due, None
        requests, self._requests = self._requests, []
        try:
            if due is not None:
                for seat, limit_ms, link in requests:
                    link.flush()
                    self._stopwatch.begin(seat, limit_ms, link.origin)
                for other in self._links:
                    if other is not None and other.held:
                        other.flush()
                for command in due.transition.commands:
                    if isinstance(command, c.ExpelSeat) and command.seat in self._programs:
                        self._programs[command.seat].end()  # it could only disturb the others from now on
                self.on_transition(due.transition)
        except Exception as error:  # noqa: BLE001  # it voids the match
            assert due is not None
            self._fail(error, due.transition.event)
        self._is_advancing = False
        if self._has_more:
            self._schedule()

    def _fail(self, error: Exception, event: e.Event) -> None:
        """Void the match for a fault of the referee itself; end it without a result if the record can't be written."""
        if isinstance(error, NotWritten) or self.match.phase is Phase.OVER:
            self._abort(error)
            return
        detail = f"{type(error).__name__}: {error}"[:400]
        at_ms = max(self._stopwatch.at_ms(), event.at_ms)
        self._events.appendleft(e.RefereeFailed(at_ms=at_ms, detail=detail))

    # --- the end

    def _is_in(self, seat: int) -> bool:
        link = self._links[seat]
        is_gone = self.match.phase is Phase.OVER or self.match.is_out(seat)
        return not is_gone and (link is None or link.owner is self)

    def _forget(self, seat: int) -> None:
        self._stopwatch.forget(seat)
        self._stop_waiting(seat)

    def _finish(self, result: c.Result) -> None:
        """Seal the record; the match is over once the disk has the seal."""
        sealed = self._journal.write_result(self.match)
        sealed.addCallbacks(lambda _: self._conclude(result), lambda failure: self._abort(failure.value))

    def _conclude(self, result: c.Result) -> None:
        if not self.done.called:
            self._journal.writer.close()
            self._release(self._players.release)
            self.done.callback(result)

    def _abort(self, error: Exception) -> None:
        """End everything without a result: without a record, nothing more may happen."""
        self._journal.writer.close()
        if not self.done.called:
            self._release()
            self.done.errback(error)

    def _release(self, release: Callable[[PlayerLink], None] = PlayerLink.say_goodbye) -> None:
        self._stopwatch.close()
        for seat, link in enumerate(self._links):
            self._forget(seat)
            if link is None:
                continue
            if link.owner is self:
                release(link)
            elif link.owner is None:
                link.say_goodbye()  # it was expelled, but its connection may still be open


def make_absence_event(seat: int, at_ms: float, why: Absence, program: Program | None, *, is_new: bool) -> e.Event:
    """Return the event of a seat that nobody took.

    Args:
        seat: the vacant seat.
        at_ms: the present instant of the match.
        why: why nobody sits there.
        program: program that was launched for the seat; None if there is none.
        is_new: whether the match begins; else it is resumed.
    """
    if why.code is not None:
        return e.ProtocolBroken(
            seat=seat, at_ms=at_ms, code=why.code, detail=why.detail, evidence=why.evidence, stage=why.stage
        )
    if program is not None and program.status is not None:
        if why.ending is not e.Ending.STRANGER:
            return make_exit_event(seat, at_ms, program)
        status = f"{program.status}; its hello had been refused: {STRANGER}"
        return e.ProgramExited(seat=seat, at_ms=at_ms, status=status, ending=e.Ending.STRANGER)
    if is_new:
        return e.SeatVacant(seat=seat, at_ms=at_ms, detail=why.detail, evidence=why.evidence, ending=why.ending)
    return e.ConnectionLost(seat=seat, at_ms=at_ms, detail=why.detail)


def make_exit_event(seat: int, at_ms: float, program: Program) -> e.ProgramExited:
    """Return the event of a program that has ended.

    Args:
        seat: seat of the program.
        at_ms: the present instant of the match.
        program: ended program.
    """
    return e.ProgramExited(seat=seat, at_ms=at_ms, status=str(program.status), ending=find_ending(program))
