"""How fair the time was, as records show it: the referee's lag, close calls, late answers, and excused late answers."""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil

from msgspec import Struct

from ..match import events as e
from ..match.fouls import Cause
from .reader import Record
from .schema import Transition

# No verdict depends on these figures. They help an organiser to decide whether the machine was fast enough. If the
# referee's own lag is close to the limits, or if late answers were excused by standstills, then time may have decided
# games that moves should have decided.

CLOSE_SHARE = 0.9
"""An answer in time is a close call if it used at least this share of its limit."""
_LATE = (Cause.TIMEOUT, Cause.REFUSED_TO_START)
_DIGITS = 3
"""Decimal digits of a time in milliseconds: it is rounded to microseconds, as instants are."""


class TimeSpread(Struct, frozen=True, kw_only=True):
    """Distribution of times in milliseconds. Each figure is one of the times (nearest rank); 0 if there are none."""

    median_ms: float
    p95_ms: float
    p99_ms: float
    most_ms: float


MAX_CASES = 100
"""Number of late answers that a tournament's figures list one by one; `referee fairness` lists all."""


class Timing(Struct, frozen=True, kw_only=True):
    """The time of one request that was answered, or whose limit passed."""

    match: str
    line: int
    """Number of the record's line, from 1."""
    seat: int
    name: str
    turn: int | None
    """Number of the turn if a move was requested; None for any other request."""
    is_answer: bool
    """True if an answer came, in time or not."""
    used_ms: float
    """Time charged to the player, without the referee's lag."""
    limit_ms: float
    lag_ms: float
    stalled_ms: float
    """The longest standstill of the referee while the request was open."""
    cause: str | None
    """`timeout` or `refused-to-start` if the seat was expelled because it was late; None otherwise."""
    process: str
    """Name of the process that played the match, as in the record."""
    is_voided: bool
    """True if the seat was late, but a standstill of the referee excused it.

    Then a late answer was accepted, or the seat got its limit again.
    """

    @property
    def is_close(self) -> bool:
        """True if the answer came in time, and used nearly all of its limit."""
        return self.is_answer and CLOSE_SHARE * self.limit_ms <= self.used_ms <= self.limit_ms


class PlayerTime(Struct, frozen=True, kw_only=True):
    """Times of one player's answers."""

    name: str
    answers: int
    median_ms: float
    most_ms: float


class ProcessTime(Struct, frozen=True, kw_only=True):
    """Times of the answers in the matches of one process: a worker, or a host of a cluster."""

    process: str
    """Name of the process in the records."""
    matches: int
    answers: int
    median_ms: float
    most_ms: float
    lag_ms: float
    """Largest lag of this process."""
    standstills: int
    """Number of requests during which this process stood still."""


class Fairness(Struct, frozen=True, kw_only=True):
    """The figures of one record, or of several records together."""

    matches: int
    answers: int
    lag: TimeSpread
    """Distribution of the referee's lag over all answers."""
    standstills: int
    """Number of requests during which the referee stood still."""
    longest_standstill_ms: float
    close: int
    """Number of answers in time that used nearly all of their limit."""
    late: list[Timing]
    """Requests for which the seat was expelled because it was late."""
    voided: list[Timing]
    """Requests whose late answer was excused by a standstill of the referee."""
    players: list[PlayerTime]
    """Times of each player, in the order of their names."""
    processes: list[ProcessTime]
    """Times of each process, in the order of their names."""


class ProcessTotal(Struct, frozen=True, kw_only=True):
    """Totals of one process over all matches of a tournament that it has played."""

    process: str
    """Name of the process in the records."""
    matches: int
    answers: int
    most_ms: float
    """Longest time of an answer, in milliseconds."""
    lag_ms: float
    """Largest lag of this process."""
    standstills: int
    """Number of requests during which this process stood still."""


class FairnessTotals(Struct, frozen=True, kw_only=True):
    """Totals over all matches of a tournament."""

    lag_ms: float
    """Largest lag of the referee."""
    standstills: int
    """Number of requests during which the referee stood still."""
    standstill_ms: float
    """Longest standstill."""
    close: int
    """Number of answers in time that used nearly all of their limit."""
    late: int
    """Number of expulsions because of a late answer."""
    voided: int
    """Number of late answers that were excused by a standstill of the referee."""
    cases: Sequence[Timing]
    """Excused answers, then expulsions; at most 100 together."""
    processes: Sequence[ProcessTotal]
    """Processes that have played matches: workers, and hosts of a cluster."""


def timings(record: Record) -> list[Timing]:
    """List all requests of a record that were answered or whose limit passed, in the order in which this happened."""
    limits: dict[int, float] = {}
    requests: list[Timing] = []
    process = ""
    for number, transition in enumerate(record.transitions, 1):
        event = transition.event
        if isinstance(event, e.Began):
            process = event.process
        elif isinstance(event, e.Answer | e.DeadlinePassed) and event.seat in limits:
            requests.append(_timing(record, number, transition, event, limits.pop(event.seat), process))
        for command in transition.commands:
            if command.get("limit_ms") is not None:
                limits[command["seat"]] = command["limit_ms"]
    return requests


def _timing(
    record: Record, line: int, transition: Transition, event: e.Answer | e.DeadlinePassed, limit_ms: float, process: str
) -> Timing:
    expelled = [
        command
        for command in transition.commands
        if command["command"] == "expel-seat" and command["seat"] == event.seat
    ]
    cause = next((command["foul"]["cause"] for command in expelled if command["foul"]["cause"] in _LATE), None)
    used_ms = round(e.used_ms(event), _DIGITS)
    setup = record.header.setup
    return Timing(
        match=setup.match,
        line=line,
        seat=event.seat,
        name=setup.names[event.seat],
        turn=event.turn if isinstance(event, e.MoveReceived) else None,
        is_answer=isinstance(event, e.Answer),
        used_ms=used_ms,
        limit_ms=limit_ms,
        lag_ms=event.lag_ms,
        stalled_ms=event.stalled_ms,
        cause=cause,
        process=process,
        is_voided=cause is None and used_ms > limit_ms,
    )


def fairness(requests: Sequence[Timing], matches: int = 1) -> Fairness:
    """Compute the figures of one or more records.

    Args:
        requests: requests of all records together.
        matches: number of records.
    """
    answers = [timing for timing in requests if timing.is_answer]
    return Fairness(
        matches=matches,
        answers=len(answers),
        lag=spread([timing.lag_ms for timing in answers]),
        standstills=sum(timing.stalled_ms > 0 for timing in requests),
        longest_standstill_ms=max((timing.stalled_ms for timing in requests), default=0.0),
        close=sum(timing.is_close for timing in requests),
        late=[timing for timing in requests if timing.cause is not None],
        voided=[timing for timing in requests if timing.is_voided],
        players=list(_players(answers)),
        processes=list(_processes(requests)),
    )


def fairness_totals(figures: Sequence[Fairness]) -> FairnessTotals:
    """Compute the totals of several records. At least one is needed."""
    voided = [timing for match in figures for timing in match.voided]
    late = [timing for match in figures for timing in match.late]
    return FairnessTotals(
        lag_ms=max(match.lag.most_ms for match in figures),
        standstills=sum(match.standstills for match in figures),
        standstill_ms=max(match.longest_standstill_ms for match in figures),
        close=sum(match.close for match in figures),
        late=len(late),
        voided=len(voided),
        cases=[*voided, *late][:MAX_CASES],
        processes=list(_process_totals(time for match in figures for time in match.processes)),
    )


def _process_totals(times: Iterable[ProcessTime]) -> Iterator[ProcessTotal]:
    played: dict[str, list[ProcessTime]] = {}
    for time in times:
        played.setdefault(time.process, []).append(time)
    for process, times_there in sorted(played.items()):
        yield ProcessTotal(
            process=process,
            matches=sum(time.matches for time in times_there),
            answers=sum(time.answers for time in times_there),
            most_ms=max(time.most_ms for time in times_there),
            lag_ms=max(time.lag_ms for time in times_there),
            standstills=sum(time.standstills for time in times_there),
        )


def _players(answers: Iterable[Timing]) -> Iterator[PlayerTime]:
    used: dict[str, list[float]] = {}
    for timing in answers:
        used.setdefault(timing.name, []).append(timing.used_ms)
    for name, times in sorted(used.items()):
        distribution = spread(times)
        yield PlayerTime(name=name, answers=len(times), median_ms=distribution.median_ms, most_ms=distribution.most_ms)


def _processes(requests: Iterable[Timing]) -> Iterator[ProcessTime]:
    played: dict[str, list[Timing]] = {}
    for timing in requests:
        played.setdefault(timing.process, []).append(timing)
    for process, timings in sorted(played.items()):
        answers = [timing for timing in timings if timing.is_answer]
        used = spread(timing.used_ms for timing in answers)
        yield ProcessTime(
            process=process,
            matches=len({timing.match for timing in timings}),
            answers=len(answers),
            median_ms=used.median_ms,
            most_ms=used.most_ms,
            lag_ms=max((timing.lag_ms for timing in answers), default=0.0),
            standstills=sum(timing.stalled_ms > 0 for timing in timings),
        )


def spread(times_ms: Iterable[float]) -> TimeSpread:
    """Return the distribution of some times in milliseconds."""
    ordered = sorted(times_ms) or [0.0]

    def _rank(share: float) -> float:
        return ordered[max(ceil(share * len(ordered)) - 1, 0)]

    return TimeSpread(median_ms=_rank(0.5), p95_ms=_rank(0.95), p99_ms=_rank(0.99), most_ms=ordered[-1])
