"""Checks the times in a record: standstills, limits, banks, and who was late. It does not use the code of the match."""

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

# The fold judges lateness by the times in the events: when a request was sent, when the answer was complete, and how
# long the referee did not listen. This module checks whether these times are possible. A dishonest referee could spare
# a late player by an invented lag, or harm a player by hiding a real one. So a lag is not a free figure: the lines
# report the standstills of the referee's event loop as spans of time. Every lag must fit into these spans, and every
# reported standstill must be credited to the seats that it affects.
#
# The checks use bounds, not equations. The loop notices a standstill only when one of its beats comes late, so it can
# miss up to UNNOTICED_MS at each end; and instants are rounded. Each bound is generous to the referee, because an
# honest record must never be refused.

PROMPT_MS = 100.0
"""Longest time from the line with a request to the sending of the request.

In between, the referee handles and sends what came before, in at most nine turns of its loop. A turn that takes longer
than UNNOTICED_MS is reported as a standstill. The rest is a margin.
"""
LOOKING_MS = (MAX_LOOKS + 4) * UNNOTICED_MS
"""Longest time in which a referee may read from a socket after a deadline, without a standstill."""
ROUNDING_MS = 0.005
"""Tolerance for sums and differences of a few instants, each of which is rounded to a microsecond."""


class Presence(Struct, frozen=True):
    """A span of time in which one process ran one match, in instants of the match."""

    match: str
    process: str
    clock_ms: float
    """Reading of the process's clock at the match's instant 0."""
    begin_ms: float
    end_ms: float
    """Instant of the process's last line."""
    standstills: tuple[Standstill, ...]
    """All standstills in order. If several lines report parts of one standstill, it stands here once, as a whole."""
    starts: tuple[int, ...] = ()
    """Number of the program's start for each seat, if programs stay for several matches; empty otherwise."""
    heard: frozenset[int] = frozenset()
    """Seats that answered a request."""


class Excuses:
    """Computes how much time of a match the standstills of its referee can explain.

    Args:
        presences: all spans in which a process ran the match.
    """

    def __init__(self, presences: Iterable[Presence]) -> None:
        self._all = [standstill for presence in presences for standstill in presence.standstills]
        self._ends = [over_ms for _, over_ms in self._all]

    def all_ms(self, begin_ms: float, end_ms: float) -> float:
        """Return an upper bound of the time within a span in which the referee stood still, in milliseconds."""
        found_ms, reached_ms = ROUNDING_MS, begin_ms
        for begun_ms, over_ms in self._within(begin_ms, end_ms):
            until_ms = min(over_ms + UNNOTICED_MS, end_ms)
            found_ms += max(until_ms - max(begun_ms - UNNOTICED_MS, reached_ms), 0.0)
            reached_ms = max(reached_ms, until_ms)
        return found_ms

    def longest_ms(self, begin_ms: float, end_ms: float) -> float:
        """Return an upper bound of the longest standstill within a span, in milliseconds."""
        parts = (min(over, end_ms) - max(begun, begin_ms) for begun, over in self._within(begin_ms, end_ms))
        return max((*parts, 0.0)) + ROUNDING_MS

    def least_ms(self, begin_ms: float, end_ms: float) -> float:
        """Return a lower bound of the longest remembered standstill within a span, in milliseconds.

        A standstill that began just before the end of the span does not count, since the referee had not noticed it.
        """
        within = list(self._within(begin_ms, end_ms))[1 - KEPT_STANDSTILLS :]
        parts = (
            min(over, end_ms) - max(begun, begin_ms)
            for begun, over in within
            if over <= end_ms or end_ms - begun > UNNOTICED_MS + ROUNDING_MS
        )
        return max((*parts, 0.0)) - ROUNDING_MS

    def sent_by_ms(self, asked_ms: float, end_ms: float, disk_ms: float) -> float:
        """Return the latest instant at which a request can have been sent.

        Args:
            asked_ms: instant of the line with the request.
            end_ms: upper bound of the result.
            disk_ms: longest time in which the request could wait for the disk.
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
        if first == len(self._all):  # a shortcut that serves nearly every answer
            return ()
        return takewhile(lambda standstill: standstill[0] <= end_ms + UNNOTICED_MS, islice(self._all, first, None))


def presences(record: Record) -> list[Presence]:
    """List the spans in which a process ran a match, with the standstills that the record reports.

    Raises:
        RecordError: a standstill is in a wrong place. It must end between the previous line and its own, and begin
            after the start of the process and after the end of the previous standstill.
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
                begin = f"standstills that begin at {standstills.reached_ms} ms or later"
                what = f"{begin} and end from {last_ms} to {event.at_ms} ms"
                raise RecordError(record.path, number, what, f"one from {standstill[0]} to {standstill[1]} ms")
        last_ms = event.at_ms
    return [*ended, *_presence(record, began, last_ms, standstills)]


class _Told:
    """Collects the standstills of one presence, and the seats that answered in it.

    Args:
        begin_ms: begin of the presence.
    """

    def __init__(self, begin_ms: float) -> None:
        self.reached_ms = begin_ms
        self.all: list[Standstill] = []
        self.heard: set[int] = set()

    def takes(self, standstill: Standstill) -> bool:
        """Add a standstill, or extend the last one if it goes on; return False if it contradicts the last one."""
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
"""An answer that the referee finds in the socket after the deadline is charged at least its limit less this amount."""
_MOST_EXTENSIONS = 2
"""Maximum number of extensions of one request; see protocol/SPEC.md, "Time"."""


class _Asked(Struct):
    """An open request."""

    at_ms: float
    """Instant of the line with the request."""
    limit_ms: float
    is_move: bool
    extensions: int = 0


class TimeBook:
    """Checks the lines of a record one after the other: the open requests, and the time that each seat has used."""

    def __init__(self, record: Record) -> None:
        self._path = record.path
        self._excuses = Excuses(presences(record))
        self._disk_ms = 0.0 if record.header.durability is None else DISK_MS
        """Longest time in which a request may wait until its line is on the disk."""
        self._setup = setup = record.header.setup
        self._bank_ms = [setup.time.bank_ms] * len(setup.names)
        self._asked: dict[int, _Asked] = {}
        self._mover: int | None = None
        self._turn_ms = 0.0
        """Time used in the present turn, in milliseconds."""
        self.used_ms = [0.0] * len(setup.names)
        self.fouls: list[Any] = []

    def take(self, number: int, transition: Transition) -> None:
        """Check one line, and add the time that its event took.

        Raises:
            RecordError: the times, limits and verdict of the line contradict each other or earlier lines.
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
                what = f"a limit of {left_ms} ms, the time that was left"
                raise RecordError(self._path, number, what, f"{limit_ms} ms")
        else:
            again = old if isinstance(event, e.MatchResumed) and command.command != "offer-match" else None
            extensions = 0 if again is None else again.extensions
            if is_move:
                self._check_move(number, command, seat, limit_ms, again)
        self._asked[seat] = _Asked(event.at_ms, limit_ms, is_move, extensions)

    def _check_move(self, number: int, command: CommandForm, seat: int, limit_ms: float, old: _Asked | None) -> None:
        """Check the limit of a move against the time that the seat has left.

        If the referee crashed, the record does not show how much of the old limit had passed. So only an upper bound is
        checked.
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
        """Check the delays that the referee states against the standstills that it reports.

        Args:
            number: number of the line.
            event: an answer, a passed deadline or a return.
            since_ms: instant at which the request was sent.
            granted_ms: further lag that needs no standstill.
        """
        if event.lag_ms == event.stalled_ms == 0:  # a shortcut that serves nearly every answer
            return
        lag_ms = self._excuses.all_ms(since_ms, event.at_ms) + granted_ms
        stalled_ms = self._excuses.longest_ms(since_ms, event.at_ms)
        if event.lag_ms > lag_ms or event.stalled_ms > stalled_ms:
            what = f"standstills of {event.lag_ms} ms, the longest of {event.stalled_ms} ms"
            raise RecordError(self._path, number, what, f"{lag_ms:.3f} ms, {stalled_ms:.3f} ms")

    def _charge_absence(self, number: int, event: e.SeatReturned, standstills: Sequence[Standstill]) -> None:
        """Check a seat's return, and charge the time that passed while it was away."""
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
        """Check that a returning seat is credited with every standstill that certainly came after its request."""
        sent_ms = self._excuses.sent_by_ms(asked.at_ms, event.at_ms, self._disk_ms)
        least_ms = self._excuses.least_ms(sent_ms, event.at_ms)
        if least_ms > max(event.stalled_ms, event.stormed_ms):
            what = f"a standstill of {least_ms:.3f} ms while the request was open"
            raise RecordError(self._path, number, what, f"{max(event.stalled_ms, event.stormed_ms)} ms")
        present = standstills[-1] if standstills and standstills[-1][1] == event.at_ms else (event.at_ms, event.at_ms)
        lag_ms = event.at_ms - max(present[0], sent_ms) - ROUNDING_MS
        if (
            not event.stormed_ms and lag_ms >= least_ms and lag_ms > event.lag_ms
        ):  # if the seat's address flooded the lobby, the lag may be missing rightly
            raise RecordError(self._path, number, f"a lag of {lag_ms:.3f} ms", f"{event.lag_ms} ms")

    def _is_unsure(self, stalled_ms: float, asked: _Asked) -> bool:
        return stalled_ms > self._setup.lag_margin_ms and asked.extensions < _MOST_EXTENSIONS

    @staticmethod
    def _left_ms(event: e.SeatReturned, asked: _Asked) -> float:
        """Return the time that is left of a limit when the seat comes back, in milliseconds."""
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
        is_found_late = isinstance(event, e.Answer) and used_ms >= request.limit_ms - _WHOLE_MS
        self._check_lags(number, event, event.sent_ms, LOOKING_MS if is_found_late else 0.0)
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
            what = "a new limit only if the referee stood still too long to judge" if is_extended else "a new limit"
            raise RecordError(self._path, number, what, "one" if is_extended else "none")

    def _check_late(self, number: int, event: e.Answer | e.DeadlinePassed, asked: _Asked) -> None:
        """Check that a late seat was judged at once, and that a reported long standstill excuses it."""
        passed_ms = self._excuses.all_ms(event.sent_ms, event.at_ms)
        latest_ms = event.sent_ms + asked.limit_ms + LOOKING_MS + PROMPT_MS + passed_ms
        if event.at_ms > latest_ms:
            raise RecordError(self._path, number, f"a verdict at {latest_ms:.3f} ms at the latest", f"{event.at_ms} ms")
        told_ms = max(event.stalled_ms, event.stormed_ms if isinstance(event, e.DeadlinePassed) else 0.0)
        least_ms = self._excuses.least_ms(event.sent_ms, event.at_ms)
        if least_ms > self._setup.lag_margin_ms >= told_ms and asked.extensions < _MOST_EXTENSIONS:
            raise RecordError(self._path, number, f"the excuse of a standstill of {least_ms:.3f} ms", f"{told_ms} ms")


def check_book(record: Record) -> None:
    """Check all limits and verdicts on time, and the used times and the fouls of the result.

    Raises:
        RecordError: the times, limits and verdict of a line contradict each other, or the result has other sums or
            fouls. The error names the first such line.
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
