"""The steps of one match: an event is judged, then written, then what follows is said, then sent.

A verdict is the fold's alone. Record first: nothing is sent before the line that says so is written. The stages are
those of the agenda: all matches that have something to take go through them together.
"""

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Sequence

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from protocol import ConnectionState

from ...match import commands as c
from ...match import events as e
from ...match.machine import Match, Phase
from ...observers import MatchStep
from ...record.writer import NotWritten
from ..agenda import Agenda
from ..links.outgoing import message_of
from ..links.player_protocol import Owner, PlayerLink
from .journal import Due, Journal
from .stopwatch import Stopwatch

OnStep = Callable[[MatchStep], None]


class MatchSteps(Owner):
    """Takes the events of one match, and carries out what follows; a subclass knows where they come from.

    Args:
        match: the fold.
        links: by seat; None where nobody sits.
        tokens: by seat, what its player comes back with.
        journal: the match's record.
        stopwatch: its instants and deadlines.
        agenda: of the loop.
        on_step: called after every step; what it raises is a fault of the referee's own, and voids the match.
    """

    def __init__(
        self,
        match: Match,
        links: Sequence[PlayerLink | None],
        tokens: Sequence[str],
        journal: Journal,
        stopwatch: Stopwatch,
        agenda: Agenda,
        on_step: OnStep,
    ) -> None:
        self.match = match
        self.done: Deferred[c.Result] = Deferred()
        """Fires with the result; fails: NotWritten if the record can't be, MatchPaused if it was stopped."""
        self._links = list(links)
        self._tokens = tokens
        self._journal = journal
        journal.on_settled, journal.on_refused = self._go_on, self._give_up
        self._stopwatch = stopwatch
        self._agenda = agenda
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
                    if link is not None and link is due.links[command.seat]:
                        self._tell(command, link, due.step.hash)
            self._due = due
        except Exception as error:  # noqa: BLE001  # as above
            self._fail(error, due.step.event)

    def _tell(self, command: c.SeatCommand, link: PlayerLink, head: str) -> None:
        message = message_of(command, self.match, self._tokens, head)
        if isinstance(command, c.ExpelSeat):
            self._forget(command.seat)
            link.expel(message)
            return
        if link.connection.state is ConnectionState.CLOSED:
            return  # it has broken the protocol since: for that it is expelled, or all is over
        link.hold(message)
        if (limit_ms := getattr(command, "limit_ms", None)) is not None:
            self._asked.append((command.seat, limit_ms, link))

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

    # --- of the subclass

    @abstractmethod
    def _is_in(self, seat: int) -> bool:
        """Tell whether a seat still plays."""

    @abstractmethod
    def _forget(self, seat: int) -> None:
        """Expect nothing of a seat any more."""

    @abstractmethod
    def _finish(self, result: c.Result) -> None:
        """Seal the record; the match is over once the disk has it."""

    @abstractmethod
    def _give_up(self, error: Exception) -> None:
        """End everything without a result: the record can't be kept, so nothing more may happen."""
