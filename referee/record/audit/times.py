"""Checks the time in a record without the code that ran its match: standstills, limits, banks, who was late."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import Any

from msgspec import Struct

from ...match import events as e
from ...match.fouls import Cause
from ...match.timekeeper import DISK_MS, KEPT_STANDSTILLS, MAX_LOOKS, UNNOTICED_MS, Standstill
from ...text import show_json
from ..reader import Record, RecordError
from ..schema import CommandForm, Transition

# The fold judges lateness by what events say: when a request was sent, when the answer was complete, how long the
# referee did not listen. This file asks whether they can be true. A referee that wants to spare a late player would
# state a lag that never was; one that wants to get rid of a player would deny one that was. So lags are not free
# figures: a line reports the standstills of the referee's loop as spans of time, and every lag must fit into them, and
# every standstill that a record reports must be credited to whom it concerns.
#
# Bounds, not equations: the loop notices a standstill only when a beat comes late, so that up to UNNOTICED_MS at each
# end remain unseen; and instants are rounded. Each bound takes the reading that is best for the referee, since an
# honest record must never be refused.

PROMPT_MS = 100.0
"""Longest time from the line that asks to the sending of the request. In between, the referee judges, writes and sends
what came before, in at most nine turns of its loop; each is a standstill if it takes longer than UNNOTICED_MS. The rest
is room."""
LOOKING_MS = (MAX_LOOKS + 4) * UNNOTICED_MS
"""Longest time that a referee may look into a socket after a deadline, without a standstill."""
ROUNDING_MS = 0.005
"""Instants are rounded to a microsecond, and so is each of the few that a difference is made of."""


class Presence(Struct, frozen=True):
    """A time in which one process ran one match, in the instants of the match."""

    match: str
    process: str
    clock_ms: float
    """Reading of the process's clock at the match's instant 0."""
    begin_ms: float
    end_ms: float
    """Instant of its last line."""
    standstills: tuple[Standstill, ...]
    """All standstills in their order; one that two lines report, since it went on, is here once, as a whole."""
    starts: tuple[int, ...] = ()
    """Number of the program's start for each seat, where programs stay for several matches."""
    heard: frozenset[int] = frozenset()
    """The seats that answered something."""


class Excuses:
    """Time of a match that the standstills of its referee account for.

    Args:
        presences: times in which a process ran the match.
    """

    def __init__(self, presences: Iterable[Presence]) -> None:
        self._all = [standstill for presence in presences for standstill in presence.standstills]
        self._ends = [over_ms for _, over_ms in self._all]

    def all_ms(self, begin_ms: float, end_ms: float) -> float:
        """Return the most milliseconds of a span that can be the referee's own."""
        found_ms, reached_ms = ROUNDING_MS, begin_ms
        for begun_ms, over_ms in self._within(begin_ms, end_ms):
            until_ms = min(over_ms + UNNOTICED_MS, end_ms)
            found_ms += max(until_ms - max(begun_ms - UNNOTICED_MS, reached_ms), 0.0)
            reached_ms = max(reached_ms, until_ms)
        return found_ms

    def longest_ms(self, begin_ms: float, end_ms: float) -> float:
        """Return the most milliseconds that the longest standstill within a span can have lasted."""
        parts = (min(over, end_ms) - max(begun, begin_ms) for begun, over in self._within(begin_ms, end_ms))
        return max((*parts, 0.0)) + ROUNDING_MS

    def least_ms(self, begin_ms: float, end_ms: float) -> float:
        """Return the least milliseconds that the longest remembered standstill within a span lasted.

        One that had just begun at the end had not been noticed then.
        """
        within = list(self._within(begin_ms, end_ms))[1 - KEPT_STANDSTILLS :]
        parts = (
            min(over, end_ms) - max(begun, begin_ms)
            for begun, over in within
            if over <= end_ms or end_ms - begun > UNNOTICED_MS + ROUNDING_MS
        )
        return max((*parts, 0.0)) - ROUNDING_MS

    def sent_by_ms(self, asked_ms: float, end_ms: float, disk_ms: float) -> float:
        """Return the latest instant at which a request can have been sent, but not after the end of the span.

        Args:
            asked_ms: instant of the line that asked.
            end_ms: end of the span.
            disk_ms: longest wait for the disk.
        """
        by_ms, reached_ms = asked_ms + PROMPT_MS + disk_ms + ROUNDING_MS, asked_ms
        for begun_ms, over_ms in self._within(asked_ms, end_ms):
            since_ms, until_ms = max(begun_ms - UNNOTICED_MS, reached_ms), over_ms + UNNOTICED_MS
            if since_ms >= by_ms:
                break
            by_ms, reached_ms = by_ms + max(until_ms - since_ms, 0.0), max(reached_ms, until_ms)
        return min(by_ms, end_ms)

    def _within(self, begin_ms: float, end_ms: float) -> Iterable[Standstill]:
        first = bisect_left(self._ends, begin_ms - UNNOTICED_MS)
        if first == len(self._all):  # as for nearly every answer
            return ()
        return takewhile(lambda standstill: standstill[0] <= end_ms + UNNOTICED_MS, islice(self._all, first, None))


def presences(record: Record) -> list[Presence]:
    """List the times in which a process ran a match, with the standstills that the record reports.

    Raises:
        RecordError: one is told of that is over before the line before it or after its own, begins before the last one
            was over, or before the referee did.
    """
    ended: list[Presence] = []
    last_ms, standstills = 0.0, _Told(0.0)
    began: e.Began | None = None
    for number, transition in enumerate(record.transitions, 1):
        event = transition.event
        if isinstance(event, e.Answer):
            standstills.heard.add(event.seat)
        elif isinstance(event, e.Began):
            ended += _presence(record, began, last_ms, standstills)
            began, standstills = event, _Told(event.at_ms)
        for standstill in transition.standstills:
            if not (standstills.takes(standstill) and last_ms <= standstill[1] <= event.at_ms):
                what = (
                    f"standstills from {standstills.reached_ms} ms on that are over from {last_ms} to {event.at_ms} ms"
                )
                raise RecordError(record.path, number, what, f"one from {standstill[0]} to {standstill[1]} ms")
        last_ms = event.at_ms
    return [*ended, *_presence(record, began, last_ms, standstills)]


class _Told:
    """The standstills of one presence, and the seats that answered in it.

    Args:
        begin_ms: when it began.
    """

    def __init__(self, begin_ms: float) -> None:
        self.reached_ms = begin_ms
        self.all: list[Standstill] = []
        self.heard: set[int] = set()

    def takes(self, standstill: Standstill) -> bool:
        """Add a standstill, or extend the last one that goes on; return False if it contradicts the last one."""
        begin_ms, end_ms = standstill
        if self.all and begin_ms == self.all[-1][0] and end_ms >= self.reached_ms:
            self.all.pop()
        elif not self.reached_ms <= begin_ms <= end_ms:
            return False
        self.all.append(standstill)
        self.reached_ms = end_ms
        return True


def _presence(record: Record, began: e.Began | None, end_ms: float, told: _Told) -> Iterator[Presence]:
    if began is not None:
        match = record.header.setup.match
        standstills, heard = tuple(told.all), frozenset(told.heard)
        yield Presence(match, began.process, began.clock_ms, began.at_ms, end_ms, standstills, began.starts, heard)


_LATE = (Cause.TIMEOUT, Cause.REFUSED_TO_START)
_TIMED = (e.Answer, e.DeadlinePassed)
_WHOLE_MS = 0.01
"""An answer that is found in the socket after its deadline is charged its whole limit, but for less than this."""
_MOST_EXTENSIONS = 2
"""Most extensions of one request; protocol/SPEC.md, "Time"."""


class _Asked(Struct):
    """An open request."""

    at_ms: float
    """Instant of the line that asked."""
    limit_ms: float
    is_move: bool
    extensions: int = 0


class TimeBook:
    """The open requests and the time used, as the lines tell them."""

    def __init__(self, record: Record) -> None:
        self._path = record.path
        self._excuses = Excuses(presences(record))
        self._disk_ms = 0.0 if record.header.durability is None else DISK_MS
        """So long a request may wait for the disk to have its line."""
        self._setup = setup = record.header.setup
        self._bank_ms = [setup.time.bank_ms] * len(setup.names)
        self._asked: dict[int, _Asked] = {}
        self._mover: int | None = None
        self._turn_ms = 0.0
        """Used in the turn that goes on."""
        self.used_ms = [0.0] * len(setup.names)
        self.fouls: list[Any] = []

    def take(self, number: int, transition: Transition) -> None:
        """Check one line and add its time.

        Raises:
            RecordError: the time used and the verdict contradict each other, or an answer came before its request.
        """
        event = transition.event
        commands = transition.forms
        expelled: dict[int, Any] = {
            command.seat: command.foul
            for command in commands
            if command.seat is not None and command.command == "expel-seat"
        }
        before = dict(self._asked)
        if isinstance(event, _TIMED):
            extended = {command.seat for command in commands if command.command == "extend-limit"}
            self._book_time(number, event, expelled, is_extended=event.seat in extended)
        elif isinstance(event, e.SeatReturned):
            self._charge_absence(number, event, transition.standstills)
        elif isinstance(event, e.SeatEvent):
            self._asked.pop(event.seat, None)
        self.fouls += expelled.values()
        for command in commands:
            if command.seat is not None and command.limit_ms is not None:
                self._ask(number, command, event, command.seat, command.limit_ms, before.get(command.seat))

    def _ask(
        self, number: int, command: CommandForm, event: Any, seat: int, limit_ms: float, old: _Asked | None
    ) -> None:
        """Open a request, or give it a new limit."""
        is_move, extensions = command.command == "ask-move", 0
        if command.command == "extend-limit" and old is not None:
            is_move, extensions = old.is_move, old.extensions + 1
            if limit_ms != old.limit_ms:
                raise RecordError(self._path, number, f"a limit of {old.limit_ms} ms again", f"{limit_ms} ms")
        elif isinstance(event, e.SeatReturned) and old is not None:
            is_unsure = self._is_unsure(event.stalled_ms, old)
            extensions = old.extensions + is_unsure
            left_ms = old.limit_ms if is_unsure else self._left_ms(event, old)
            if limit_ms != left_ms:
                raise RecordError(self._path, number, f"a limit of {left_ms} ms, which was left", f"{limit_ms} ms")
        else:
            again = old if isinstance(event, e.MatchResumed) and command.command != "offer-match" else None
            extensions = 0 if again is None else again.extensions
            if is_move:
                self._check_move(number, command, seat, limit_ms, again)
        self._asked[seat] = _Asked(event.at_ms, limit_ms, is_move, extensions)

    def _check_move(self, number: int, command: CommandForm, seat: int, limit_ms: float, old: _Asked | None) -> None:
        """Check the limit of a move against the time that its seat has left.

        The lines do not say how much of an old request had passed when the referee crashed.
        """
        told_ms = command.bank_ms
        if old is not None:
            self._turn_ms += old.limit_ms - limit_ms
            self._bank_ms[seat] = None if self._bank_ms[seat] is None else told_ms
            if limit_ms > old.limit_ms or (told_ms is not None) != (self._setup.time.bank_ms is not None):
                raise RecordError(self._path, number, f"a limit of {old.limit_ms} ms at most", f"{limit_ms} ms")
            return
        if not command.goes_on:
            self._end_turn()
        self._mover = seat
        left_ms = self._bank_ms[seat]
        limits_ms = [round(max(self._setup.time.per_move_ms - self._turn_ms, 0.0), 3)]
        limits_ms += [] if left_ms is None else [left_ms]
        if told_ms != left_ms or limit_ms != min(limits_ms):
            what = f"a limit of {min(limits_ms)} ms, {left_ms} ms in the bank"
            raise RecordError(self._path, number, what, f"{limit_ms} ms, {told_ms} ms in the bank")

    def _end_turn(self) -> None:
        self._turn_ms = 0.0
        left_ms = None if self._mover is None else self._bank_ms[self._mover]
        if self._mover is not None and left_ms is not None:
            self._bank_ms[self._mover] = round(left_ms + self._setup.time.increment_ms, 3)

    def _check_lags(self, number: int, event: Any, since_ms: float, granted_ms: float = 0.0) -> None:
        """Check the referee's stated delays against the standstills that it reports.

        Args:
            number: number of the line.
            event: an answer, a passed deadline or a return.
            since_ms: when the request was sent.
            granted_ms: further time that may have been taken off.
        """
        if event.lag_ms == event.stalled_ms == 0:  # true of nearly every answer
            return
        lag_ms = self._excuses.all_ms(since_ms, event.at_ms) + granted_ms
        stalled_ms = self._excuses.longest_ms(since_ms, event.at_ms)
        if event.lag_ms > lag_ms or event.stalled_ms > stalled_ms:
            what = f"standstills of {event.lag_ms} ms, the longest of {event.stalled_ms} ms"
            raise RecordError(self._path, number, what, f"{lag_ms:.3f} ms, {stalled_ms:.3f} ms")

    def _charge_absence(self, number: int, event: e.SeatReturned, standstills: Sequence[Standstill]) -> None:
        """Charge the time that passed while a seat was away."""
        request = self._asked.get(event.seat)
        since_ms = event.at_ms if request is None else request.at_ms
        self._check_lags(number, event, since_ms, self._disk_ms and self._disk_ms + PROMPT_MS)
        if request is not None:
            self._check_completeness(number, event, request, standstills)
        if request is not None and not self._is_unsure(event.stalled_ms, request):
            passed_ms = request.limit_ms - self._left_ms(event, request)
            self.used_ms[event.seat] += passed_ms
            if request.is_move:
                self.charge(event.seat, passed_ms)

    def _check_completeness(
        self, number: int, event: e.SeatReturned, asked: _Asked, standstills: Sequence[Standstill]
    ) -> None:
        """Check that a returning seat is credited with every standstill since its request was surely sent."""
        sent_ms = self._excuses.sent_by_ms(asked.at_ms, event.at_ms, self._disk_ms)
        least_ms = self._excuses.least_ms(sent_ms, event.at_ms)
        if least_ms > max(event.stalled_ms, event.stormed_ms):
            what = f"a standstill of {least_ms:.3f} ms in the time that its seat was asked"
            raise RecordError(self._path, number, what, f"{max(event.stalled_ms, event.stormed_ms)} ms")
        present = standstills[-1] if standstills and standstills[-1][1] == event.at_ms else (event.at_ms, event.at_ms)
        lag_ms = event.at_ms - max(present[0], sent_ms) - ROUNDING_MS
        if (
            not event.stormed_ms and lag_ms >= least_ms and lag_ms > event.lag_ms
        ):  # a longer one may have been a storm's
            raise RecordError(self._path, number, f"a lag of {lag_ms:.3f} ms", f"{event.lag_ms} ms")

    def _is_unsure(self, stalled_ms: float, asked: _Asked) -> bool:
        return stalled_ms > self._setup.lag_margin_ms and asked.extensions < _MOST_EXTENSIONS

    @staticmethod
    def _left_ms(event: e.SeatReturned, asked: _Asked) -> float:
        """Return the milliseconds left of a limit when its seat comes back."""
        left_ms = asked.limit_ms - (event.at_ms - asked.at_ms - event.lag_ms)
        return round(min(max(left_ms, 0.0), asked.limit_ms), 3)

    def charge(self, seat: int, used_ms: float) -> None:
        """Charge a seat for the time of an answer."""
        left_ms = self._bank_ms[seat]
        self._turn_ms += used_ms
        if left_ms is not None:
            self._bank_ms[seat] = round(max(left_ms - used_ms, 0.0), 3)

    def _book_time(self, number: int, event: Any, expelled: dict[int, Any], *, is_extended: bool) -> None:
        request = self._asked.pop(event.seat, None)
        if request is None:
            raise RecordError(self._path, number, "an answer to a request", f"seat {event.seat} was not asked")
        latest_ms = request.at_ms + PROMPT_MS + self._disk_ms + self._excuses.all_ms(request.at_ms, event.sent_ms)
        if not request.at_ms <= event.sent_ms <= latest_ms:
            what = f"a request sent from {request.at_ms} ms, when it was made, to {latest_ms:.3f} ms"
            raise RecordError(self._path, number, what, f"sent at {event.sent_ms} ms")
        used_ms = event.at_ms - event.sent_ms - event.lag_ms
        is_looked_for = isinstance(event, e.Answer) and used_ms >= request.limit_ms - _WHOLE_MS
        self._check_lags(number, event, event.sent_ms, LOOKING_MS if is_looked_for else 0.0)
        self.used_ms[event.seat] += max(used_ms, 0.0)
        if isinstance(event, e.MoveReceived):
            self.charge(event.seat, min(max(used_ms, 0.0), request.limit_ms))
        is_late = used_ms > request.limit_ms
        is_unsure = self._is_unsure(event.stalled_ms, request)
        is_judged = expelled.get(event.seat, {}).get("cause") in _LATE
        if (is_late and not is_unsure) != is_judged:
            verdict = "no expulsion for time" if is_judged else "an expulsion for time"
            what = f"{verdict}: {used_ms:.3f} ms of {request.limit_ms:.3f} ms used"
            raise RecordError(self._path, number, what, expelled.get(event.seat, {}).get("cause") or "no foul")
        if is_late:
            self._check_late(number, event, request)
        if is_extended != (isinstance(event, e.DeadlinePassed) and is_late and is_unsure):
            what = "a new limit if, and only if, the referee stood still too long to judge"
            raise RecordError(self._path, number, what, "one" if is_extended else "none")

    def _check_late(self, number: int, event: e.Answer | e.DeadlinePassed, asked: _Asked) -> None:
        """Check that a late seat was judged at once, and is excused if the record reports a long enough standstill."""
        passed_ms = self._excuses.all_ms(event.sent_ms, event.at_ms)
        latest_ms = event.sent_ms + asked.limit_ms + LOOKING_MS + PROMPT_MS + passed_ms
        if event.at_ms > latest_ms:
            raise RecordError(self._path, number, f"a verdict at {latest_ms:.3f} ms at the latest", f"{event.at_ms} ms")
        told_ms = max(event.stalled_ms, event.stormed_ms if isinstance(event, e.DeadlinePassed) else 0.0)
        least_ms = self._excuses.least_ms(event.sent_ms, event.at_ms)
        if least_ms > self._setup.lag_margin_ms >= told_ms and asked.extensions < _MOST_EXTENSIONS:
            raise RecordError(self._path, number, f"the excuse of a standstill of {least_ms:.3f} ms", f"{told_ms} ms")


def check_book(record: Record) -> None:
    """Check every deadline, the time used and the list of fouls.

    Raises:
        RecordError: the first line whose instants, limits and verdict do not fit, or the result's if its sums do not.
    """
    book = TimeBook(record)
    for number, transition in enumerate(record.transitions, 1):
        book.take(number, transition)
    if record.result is None:
        return
    number, result = len(record.transitions) + 1, record.result.result
    used_ms = tuple(round(used, 3) for used in book.used_ms)
    if used_ms != result.used_ms:
        raise RecordError(record.path, number, f"used_ms {show_json(used_ms)}", show_json(result.used_ms))
    booked_fouls = [(foul["seat"], foul["cause"]) for foul in book.fouls]
    told_fouls = [(foul.seat, str(foul.cause)) for foul in result.fouls]
    if booked_fouls != told_fouls:
        raise RecordError(record.path, number, f"fouls {show_json(booked_fouls)}", show_json(told_fouls))
