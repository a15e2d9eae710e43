"""Runs one match: events come in from links and clocks, and each goes through four stages.

An event is judged by the fold, then written, then what follows is put into messages, then they are sent. Record first:
nothing is sent before the line that says so is written, so a referee that dies has promised nothing that its record
does not show. The journal is the record while the match is played: it knows which of its lines are settled, so that
what follows from them may happen. The stages are those of the agenda: all matches that have an event go through them
together, which is faster than one match after the other. None of the stages raises anything: what goes wrong voids this
match alone.

The runner also knows which seat has lost its connection. A launched program that is gone may have crashed, and its exit
says so a moment later; another player may come back while its clock goes on.
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.defer import Deferred, succeed
from twisted.python.failure import Failure

from protocol import Code, ConnectionState, RemoteProtocolError
from protocol.connection import TRANSITIONS
from protocol.messages import Ack, Message, Move, Nonce, Paused, Ready

from ...clock import Clock
from ...errors import RefereeError
from ...match import commands as c
from ...match import events as e
from ...match.commands import Command, Result
from ...match.events import Event
from ...match.machine import Match, Phase
from ...match.timekeeper import Standstill
from ...observers import MatchStep
from ...programs.program import Program
from ...record.writer import NotWritten, RecordWriter
from ..event_loop import EventLoop
from ..group_commit import Durability, GroupCommit
from ..links.lobby import Absence, Patience, Wait
from ..links.player_protocol import Owner, PlayerLink, message_of
from ..links.reserved_seats import STRANGER
from ..links.tokens import index_of
from .program_pool import KeptProgram
from .programs import ending_of
from .stopwatch import Stopwatch


class Due(Struct, frozen=True):
    """A step that is on record and is to be carried out."""

    step: MatchStep
    links: tuple[PlayerLink | None, ...]
    """By seat, those who were meant: whoever is back on another connection meanwhile is told everything anew."""


class Journal:
    """The record of a running match.

    Args:
        writer: of the record, its header written.
        commits: syncs it together with others; None: it is synced on the spot, and the loop waits.
        durability: whether a line is settled once it is written, or once it is on the disk.
    """

    def __init__(
        self, writer: RecordWriter, commits: GroupCommit | None = None, durability: Durability = Durability.MATCH
    ) -> None:
        self.writer = writer
        self._settled_lines = writer.count
        self._due: deque[Due] = deque()
        self.on_settled: Callable[[], None] = lambda: None
        """Called when lines have been settled that were not when they were written."""
        self.on_refused: Callable[[Exception], None] = lambda error: None
        """Called when the disk has refused to settle some."""
        self._commits = commits
        self.waits_for_disk = durability is Durability.TURN
        """Whether what follows from a line waits until it is on the disk."""
        if commits is not None and self.waits_for_disk:
            commits.is_waited_for = True

    def write_step(
        self,
        event: Event,
        commands: tuple[Command, ...],
        standstills: Sequence[Standstill],
        match: Match,
        links: tuple[PlayerLink | None, ...],
    ) -> None:
        """Write a step that a match has just taken, and have it settled, now or later.

        Args:
            event: what happened.
            commands: what follows from it.
            standstills: of the referee, those that were not written yet.
            match: as it stands after that.
            links: by seat, who is meant.

        Raises:
            NotWritten: the disk refused.
        """
        self.writer.write_step(event, commands, standstills)
        count = self.writer.count
        self._due.append(Due(MatchStep.of(event, commands, match, (count - 1, self.writer.head)), links))
        if self.waits_for_disk:
            self.synced().addCallbacks(self._settle, self._refused, (count,))
        else:
            self._settled_lines = count

    @property
    def has_due(self) -> bool:
        """Whether there is a step that is settled and was not taken yet."""
        return bool(self._due) and self._due[0].step.line < self._settled_lines

    def next_due(self) -> Due | None:
        """Take the next step that is settled, in order; None if there is none."""
        return self._due.popleft() if self._due and self._due[0].step.line < self._settled_lines else None

    def write_result(self, result: Result, match: Match) -> "Deferred[None]":
        """Write a match's result and the seal.

        Returns:
            As synced does.

        Raises:
            NotWritten: the disk refused.
        """
        self.writer.write_result(result, seed=match.seed.hex(), nonces=match.nonces.opened)
        return self.synced()

    def synced(self) -> "Deferred[None]":
        """Have all that is written on the disk.

        Returns:
            Fires when it is; fails with NotWritten.

        Raises:
            NotWritten: the disk refused on the spot.
        """
        if self._commits is not None:
            return self._commits.sync(self.writer)
        self.writer.sync()
        return succeed(None)

    def settle_now(self) -> None:
        """Settle all that is written on the spot: nobody plays on.

        Raises:
            NotWritten: the disk refused.
        """
        if self._settled_lines < self.writer.count:
            self.writer.sync()
            self._settled_lines = self.writer.count

    def _settle(self, _synced: None, count: int) -> None:
        self._settled_lines = max(self._settled_lines, count)
        self.on_settled()

    def _refused(self, failure: Failure) -> None:
        assert isinstance(failure.value, Exception)
        self.on_refused(failure.value)


OnStep = Callable[[MatchStep], None]

EXIT_S = 0.5
"""How long after a launched program's connection broke its exit is awaited, to tell a crash from a disconnection."""
MAX_RETURNS = 20
"""How often a seat may come back: each time costs lines of the record, and nobody's cable is that bad."""


class MatchPaused(RefereeError):
    """The referee was stopped in the middle of a match; the text names its record, from which it goes on."""


class _Departure(Struct):
    """A connection that ended, and what is waited for before that is a foul."""

    at_ms: float
    detail: str
    wait: Wait


class SeatedPlayers(Struct, frozen=True, kw_only=True):
    """Who plays a match, and how long it is waited for whom."""

    links: Sequence[PlayerLink | None]
    """By seat; None where nobody sits."""
    tokens: Sequence[str]
    """By seat, what its player comes back with."""
    vacancies: Mapping[int, Absence] = {}
    """Seat -> why nobody sits there."""
    programs: Mapping[int, Program] = {}
    """Seat -> the launched program that sits there."""
    come_back_s: float = 0.0
    """How long a player without a launched program may be away, its clock going on; 0: not at all."""
    starts: tuple[int, ...] = ()
    """By seat, the number of its program's start, where programs stay."""
    reused: Mapping[int, KeptProgram] = {}
    """Seat -> the program that sits there and has played before."""
    release: Callable[[PlayerLink], None] = PlayerLink.say_goodbye
    """Called with the link of every player that is still there when the match is over."""


class MatchRunner(Owner):
    """One match between links.

    Args:
        match: the fold, new.
        players: who sits where.
        journal: the match's record.
        clock: the reactor, or a test's clock.
        loop: in which it runs.
        last_ms: instant of the match's last event, if it is not new but resumed.
        on_step: called after every step; what it raises is a fault of the referee's own, and voids the match.
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
        on_step: OnStep = lambda step: None,
    ) -> None:
        self.match = match
        self.done: Deferred[c.Result] = Deferred()
        """Fires with the result; fails: NotWritten if the record can't be, MatchPaused if it was stopped."""
        self._links = list(players.links)
        self._tokens = players.tokens
        self._journal = journal
        journal.on_settled, journal.on_refused = self._go_on, self._give_up
        self._stopwatch = Stopwatch(
            clock, loop.lag, last_ms=last_ms, bytes_of=self._bytes_of, passed=self._deadline_passed
        )
        self._agenda = loop.agenda
        self._on_step = on_step
        self._events: deque[e.Event] = deque()
        self._stages = (self._judge, self._write, self._say, self._send)
        self._is_stepping = False
        self._judged: tuple[e.Event, tuple[c.Command, ...]] | None = None
        """What the match has taken and what followed, until it is written."""
        self._due: Due | None = None
        """What is being said, until it is sent."""
        self._asked: list[tuple[int, float, PlayerLink]] = []
        """Of it: seat, limit in milliseconds, and link of each request."""
        self._seats = {link: seat for seat, link in enumerate(self._links) if link is not None}
        self._players = players
        self._returns = Counter[int]()
        self._patience = Patience(clock, loop, match.setup.lag_margin_ms)
        self._programs = players.programs
        self._last_ms = last_ms
        self._departures: dict[int, _Departure] = {}
        """By seat: its program's exit is waited for, or its player's return."""

    def start(self, missing: str | None = None) -> "Deferred[c.Result]":
        """Open the match, or go on with it.

        Args:
            missing: why it can't be taken up again, in one sentence: then it is void.

        Returns:
            `done`.
        """
        for link in self._seats:
            link.owner = self
        if missing is not None:
            self._feed(e.RefereeFailed(at_ms=self._last_ms, detail=missing))
            return self.done
        for seat, program in self._programs.items():
            program.exited.addCallback(self._program_exited, seat)
        is_new = self.match.phase is Phase.NEW
        began = e.MatchOpened if is_new else e.MatchResumed
        self._feed(began(at_ms=self._last_ms, **self._stopwatch.beat, starts=self._players.starts))
        self.catch_up()
        for seat, taken in enumerate(self._links):
            if taken is None and not self.match.is_out(seat):
                why = self._players.vacancies.get(seat) or Absence(detail="nobody came")
                self._feed(absence(seat, self._stopwatch.at_ms(), why, self._programs.get(seat), is_new=is_new))
            elif taken is not None and not taken.is_connected:
                self.link_lost(taken, "the connection ended before the match began")
        return self.done

    def pause(self, reason: str) -> None:
        """Stop in the middle: what is recorded so far is what the match goes on from.

        Args:
            reason: told to the players, in one sentence.
        """
        writer = self._journal.writer
        self.catch_up()
        try:
            if not self.done.called:
                self._journal.settle_now()
        except NotWritten as error:
            self._give_up(error)
        self.catch_up()  # what the disk has now is said
        if self.match.result is not None:
            self._conclude(self.match.result)  # only its seal is being synced: a match that is over is not paused
        if self.done.called:
            return
        for seat, link in enumerate(self._links):
            if link is not None and self._is_in(seat):
                may_hear = (link.connection.state, "paused") in TRANSITIONS
                paused = Paused(match=self.match.setup.match, reason=reason, head=writer.head)
                link.say_goodbye(paused if may_hear else None)
        self._give_up(MatchPaused(str(writer.path)))

    async def closed(self) -> None:
        """Wait until all are gone that came by themselves and were told goodbye; programs are ended anyway."""
        for seat, link in enumerate(self._links):
            if link is not None and seat not in self._programs:
                await link.closed()

    # --- from the links

    def message_received(self, link: PlayerLink, message: Message, first_byte: float, at: float) -> None:
        """Turn a player's answer into an event with its instants."""
        seat = self._seats[link]
        instants = self._stopwatch.end(seat, first_byte, at)
        if instants is None:
            return  # that it is out, or that all is over, is still to be told
        frame = link.connection.last_body.hex()
        if isinstance(message, Move):
            self._feed(e.MoveReceived(seat=seat, turn=message.turn, move=message.move, frame=frame, **instants))
        elif isinstance(message, Ready):
            self._feed(e.ReadyReceived(seat=seat, commitment=message.commitment, frame=frame, **instants))
        elif isinstance(message, Nonce):
            self._feed(e.NonceReceived(seat=seat, nonce=message.nonce, frame=frame, **instants))
        elif isinstance(message, Ack):
            self._feed(e.AckReceived(seat=seat, ack=message.ack, frame=frame, **instants))

    def protocol_broken(self, link: PlayerLink, error: RemoteProtocolError) -> None:
        """Turn a breach of the protocol into an event."""
        seat = self._seats[link]
        if error.code is Code.TRUNCATED and (self._may_come_back(seat) or self._has_left_before(seat)):
            self.link_lost(link, error.detail)
            return
        at_ms, code, evidence = self._stopwatch.at_ms(), str(error.code), error.evidence.hex()
        self._feed(e.ProtocolBroken(seat=seat, at_ms=at_ms, code=code, detail=error.detail, evidence=evidence))

    def link_lost(self, link: PlayerLink, detail: str) -> None:
        """Turn a lost connection into an event; that of a launched program waits a moment for its exit."""
        seat = self._seats[link]
        program = self._programs.get(seat)
        if self._has_left_before(seat):
            self._players.reused[seat].has_left = True
            self._feed(left_before(self.match.setup.names[seat], self._stopwatch.at_ms()))
        elif program is not None and program.status is not None:
            self._feed(exited(seat, self._stopwatch.at_ms(), program))
        elif program is None and not self._may_come_back(seat):
            self._feed(e.ConnectionLost(seat=seat, at_ms=self._stopwatch.at_ms(), detail=detail))
        else:
            patience_s = self._players.come_back_s if program is None else EXIT_S
            wait = self._patience.wait(patience_s, self._left, seat, detail, origin=link.origin)
            self._departures[seat] = _Departure(self._stopwatch.at_ms(), detail, wait)

    def _has_left_before(self, seat: int) -> bool:
        """Tell whether a program that has played before has said nothing in this match: it may end between two."""
        request = self.match.open_requests.get(seat)
        return seat in self._players.reused and request is not None and request.answer is e.ReadyReceived

    def _may_come_back(self, seat: int) -> bool:
        return self._players.come_back_s > 0 and seat not in self._programs

    def seat_of(self, token: str | None, name: str | None) -> int | None:
        """Return the seat of a player that may come back, by its name if that is certain; None if there is none."""
        names = self.match.setup.names
        seat = index_of(token, self._tokens) if name is None else names.index(name) if name in names else None
        if seat is None or not self._may_come_back(seat) or self._returns[seat] >= MAX_RETURNS:
            return None
        self.catch_up()
        return seat if self._is_in(seat) else None

    def take_back(self, seat: int, link: PlayerLink) -> None:
        """Go on with a player on a new connection; the old one may be dead and not know it."""
        self.catch_up()
        old = self._links[seat]
        at_ms = self._stopwatch.at_ms()
        departure = self._awaited_no_more(seat)
        gone_ms = 0.0 if departure is None else round(at_ms - departure.at_ms, 3)
        if old is not None:
            del self._seats[old]
            old.cut_off()
        link.owner, self._links[seat], self._seats[link] = self, link, seat
        self._returns[seat] += 1
        request = self.match.open_requests.get(seat)
        waited_since_ms = request.asked_ms if request is not None and self._journal.waits_for_disk else None
        lags = self._stopwatch.lags(seat, at_ms, waited_since_ms)
        self._stopwatch.forget(seat)  # it is asked again
        self._feed(e.SeatReturned(seat=seat, at_ms=at_ms, gone_ms=gone_ms, **lags))

    def _left(self, seat: int, detail: str) -> None:
        self._departures.pop(seat, None)
        if self._is_in(seat):
            self._feed(e.ConnectionLost(seat=seat, at_ms=self._stopwatch.at_ms(), detail=detail))

    def _awaited_no_more(self, seat: int) -> _Departure | None:
        """Stop to wait for a program's exit or a player's return; return what was waited for, if anything."""
        departure = self._departures.pop(seat, None)
        if departure is not None:
            departure.wait.cancel()
        return departure

    def _program_exited(self, status: str, seat: int) -> str:
        """Take note of a program's end once its connection has ended too: what it said before still counts."""
        if self._awaited_no_more(seat) is not None and self._is_in(seat):
            self._feed(exited(seat, self._stopwatch.at_ms(), self._programs[seat]))
        return status

    def _deadline_passed(self, seat: int, instants: Mapping[str, Any]) -> None:
        departure = self._awaited_no_more(seat) if seat in self._programs else None
        if departure is not None:  # it left in time; that its program's exit is awaited is not its fault
            self._left(seat, departure.detail)
            return
        link = self._links[seat]
        pending = link.connection.pending.hex() if link is not None else ""
        self._feed(e.DeadlinePassed(seat=seat, pending=pending, **instants))

    def _bytes_of(self, seat: int) -> int:
        link = self._links[seat]
        return link.bytes_received if link is not None else 0

    # --- events wait, and are taken in stages

    def _feed(self, event: e.Event) -> None:
        """Have the match take an event, after those that wait."""
        self._events.append(event)
        self._go_on()

    def _go_on(self) -> None:
        """Have the match take what waits, if anything does: now, or after the step that it is taking."""
        if not self._is_stepping:
            self._agenda.add(self, self._stages)

    def catch_up(self) -> None:
        """Take at once what waits, for how the match stands now is to be seen."""
        while not self._is_stepping and self._has_more:
            for stage in self._stages:
                stage()

    @property
    def _has_more(self) -> bool:
        """Whether there is a step to take, or one to carry out."""
        if self._events or self._journal.has_due:
            return not self.done.called and (self._journal.has_due or self.match.phase is not Phase.OVER)
        return False

    # --- the stages; none of them raises anything

    def _judge(self) -> None:
        """Let the match take the next event."""
        self._is_stepping = True
        event = self._next_event()
        if event is None:
            return
        fouls = len(self.match.fouls)
        try:
            commands = self.match.handle(event)
        except Exception as error:  # noqa: BLE001  # whoever waits for the match is told
            self._fail(error, event)
            return
        if isinstance(event, e.Answer) and len(self.match.fouls) == fouls:
            event = replace(event, frame="")  # no evidence of anything, and no news: the answer says it all
        self._judged = event, commands

    def _next_event(self) -> e.Event | None:
        """Return the next event that is still of any interest."""
        while self._events and self.match.phase is not Phase.OVER and not self.done.called:
            event = self._events.popleft()
            if not isinstance(event, e.SeatEvent) or self._is_in(event.seat):
                return event
        return None

    def _write(self) -> None:
        """Write what was judged."""
        if self._judged is None:
            return
        (event, commands), self._judged = self._judged, None
        try:
            stalled = self._stopwatch.standstills(event.at_ms)
            self._journal.write_step(event, commands, stalled, self.match, tuple(self._links))
            if isinstance(event, e.DeadlinePassed):
                self._extend(commands)
        except Exception as error:  # noqa: BLE001  # as above
            self._fail(error, event)

    def _extend(self, commands: Sequence[c.Command]) -> None:
        """Give a seat its limit once more, at once: nothing is said, and its answer may be here."""
        for command in commands:
            if isinstance(command, c.ExtendLimit) and (link := self._links[command.seat]) is not None:
                self._stopwatch.begin(command.seat, command.limit_ms, link.origin)

    def _say(self) -> None:
        """Put what follows from the next settled step into messages."""
        due = None if self.done.called else self._journal.next_due()
        if due is None:
            return
        try:
            for command in due.step.commands:
                if isinstance(command, c.CloseMatch):
                    self._finish(command.result)
                elif isinstance(command, c.SeatCommand) and not isinstance(command, c.ExtendLimit):
                    link = self._links[command.seat]
                    if link is None or link is not due.links[command.seat]:
                        continue
                    message = message_of(command, self.match, self._tokens, due.step.hash)
                    if isinstance(command, c.ExpelSeat):
                        self._forget(command.seat)
                        link.expel(message)
                    elif link.connection.state is not ConnectionState.CLOSED:  # else it has broken the protocol since
                        link.hold(message)
                        if (limit_ms := getattr(command, "limit_ms", None)) is not None:
                            self._asked.append((command.seat, limit_ms, link))
            self._due = due
        except Exception as error:  # noqa: BLE001  # as above
            self._fail(error, due.step.event)

    def _send(self) -> None:
        """Send what was said, from when on whoever was asked has its time."""
        due, self._due = self._due, None
        asked, self._asked = self._asked, []
        try:
            if due is not None:
                for seat, limit_ms, link in asked:
                    link.flush()
                    self._stopwatch.begin(seat, limit_ms, link.origin)
                for told in self._links:
                    if told is not None and told.held:
                        told.flush()
                for command in due.step.commands:
                    if isinstance(command, c.ExpelSeat) and command.seat in self._programs:
                        self._programs[command.seat].end()  # it could only disturb the others from now on
                self._on_step(due.step)
        except Exception as error:  # noqa: BLE001  # as above
            assert due is not None
            self._fail(error, due.step.event)
        self._is_stepping = False
        if self._has_more:
            self._go_on()

    def _fail(self, error: Exception, event: e.Event) -> None:
        """Void the match for a fault of the referee's own; what the disk refuses ends it without a result."""
        if isinstance(error, NotWritten) or self.match.phase is Phase.OVER:
            self._give_up(error)
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
        self._awaited_no_more(seat)

    def _finish(self, result: c.Result) -> None:
        """Seal the record; the match is over once the disk has it."""
        sealed = self._journal.write_result(result, self.match)
        sealed.addCallbacks(lambda _: self._conclude(result), lambda failure: self._give_up(failure.value))

    def _conclude(self, result: c.Result) -> None:
        if not self.done.called:
            self._journal.writer.close()
            self._release(self._players.release)
            self.done.callback(result)

    def _give_up(self, error: Exception) -> None:
        """End everything without a result: the record can't be kept, so nothing more may happen."""
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
                link.say_goodbye()  # of who was expelled, a connection may be open still


def absence(seat: int, at_ms: float, why: Absence, program: Program | None, *, is_new: bool) -> e.Event:
    """Return the event of a seat that nobody took.

    Args:
        seat: which one.
        at_ms: now, in the match's instants.
        why: nobody sits there.
        program: that was launched for it; None: none was.
        is_new: whether the match begins; else it is gone on with.
    """
    if why.code is not None:
        return e.ProtocolBroken(
            seat=seat, at_ms=at_ms, code=why.code, detail=why.detail, evidence=why.evidence, stage=why.stage
        )
    if program is not None and program.status is not None:
        is_stranger = why.ending is e.Ending.STRANGER
        status = f"{program.status}; its hello had been refused: {STRANGER}" if is_stranger else program.status
        ending = e.Ending.STRANGER if is_stranger else ending_of(program)
        return e.ProgramExited(seat=seat, at_ms=at_ms, status=status, ending=ending)
    if is_new:
        return e.SeatVacant(seat=seat, at_ms=at_ms, detail=why.detail, evidence=why.evidence, ending=why.ending)
    return e.ConnectionLost(seat=seat, at_ms=at_ms, detail=why.detail)


def left_before(name: str, at_ms: float) -> e.RefereeFailed:
    """Return the event of a program that was offered a match and had ended after the one before: nobody's foul.

    Args:
        name: the player's.
        at_ms: now, in the match's instants.
    """
    return e.RefereeFailed(at_ms=at_ms, detail=f"the program of {name} had ended between its match before and this one")


def exited(seat: int, at_ms: float, program: Program) -> e.ProgramExited:
    """Return the event of a program that has ended.

    Args:
        seat: its own.
        at_ms: now, in the match's instants.
        program: the program.
    """
    return e.ProgramExited(seat=seat, at_ms=at_ms, status=str(program.status), ending=ending_of(program))
