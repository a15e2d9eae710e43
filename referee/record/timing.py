"""Fairness of time, as records show it: the referee's own lag, close calls, expulsions for time, voided verdicts."""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil

from msgspec import Struct

from ..match import events as e
from ..match.fouls import Cause
from .reader import Record
from .schema import Transition

# No verdict follows from these figures. They help an organiser to decide whether the machine was good enough. If the
# referee's own lag is near the limits, or if answers were voided for standstills, then time decided games that moves
# should have decided.

CLOSE_SHARE = 0.9
"""Share of its limit from which on an answer is a close call."""
_LATE = (Cause.TIMEOUT, Cause.REFUSED_TO_START)
_DIGITS = 3
"""Microseconds, as instants have."""


class TimeSpread(Struct, frozen=True, kw_only=True):
    """Distribution of times in milliseconds; each figure is one of the times (nearest rank), or 0 without any."""

    median_ms: float
    p95_ms: float
    p99_ms: float
    most_ms: float


MAX_CASES = 100
"""Most late answers that a tournament's figures list one by one; `referee fairness` lists all."""


class Timing(Struct, frozen=True, kw_only=True):
    """One request that was answered, or whose limit passed."""

    match: str
    line: int
    """Number of the record's line, from 1."""
    seat: int
    name: str
    turn: int | None
    """Number of the turn for a move; None for anything else."""
    is_answer: bool
    """True if an answer came, in time or not."""
    used_ms: float
    """Time charged to the player, without the referee's lag."""
    limit_ms: float
    lag_ms: float
    stalled_ms: float
    """The longest standstill of the referee while the request was open."""
    cause: str | None
    """`timeout` or `refused-to-start` if its seat was expelled for time."""
    process: str
    """Process that played it, as the record calls it."""
    is_voided: bool
    """True if it was late but not judged, since the referee had stood still: the answer counted, or the limit began
    again."""

    @property
    def is_close(self) -> bool:
        """True if it was in time, and used nearly all of its limit."""
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
    """Largest lag of the referee there."""
    standstills: int
    """Number of requests during which the referee stood still there."""


class Fairness(Struct, frozen=True, kw_only=True):
    """The figures of one record, or of many together."""

    matches: int
    answers: int
    lag: TimeSpread
    """The referee's lag, over all answers."""
    standstills: int
    """Number of requests during which the referee stood still."""
    longest_standstill_ms: float
    close: int
    """Number of answers in time that used nearly all of their limit."""
    late: list[Timing]
    """Expulsions for time."""
    voided: list[Timing]
    """Late answers that were not judged, since the referee had stood still."""
    players: list[PlayerTime]
    """One entry for each, by name."""
    processes: list[ProcessTime]
    """One entry for each, by name."""


class ProcessTotal(Struct, frozen=True, kw_only=True):
    """One process in all matches of a tournament that it has played."""

    process: str
    """Name of the process in the records."""
    matches: int
    answers: int
    most_ms: float
    """Longest of its answers."""
    lag_ms: float
    """Largest lag of the referee there."""
    standstills: int
    """Number of requests during which the referee stood still there."""


class FairnessTotals(Struct, frozen=True, kw_only=True):
    """Fairness of time in all matches of a tournament."""

    lag_ms: float
    """Largest lag of the referee."""
    standstills: int
    """Number of requests during which the referee stood still."""
    standstill_ms: float
    """Longest standstill."""
    close: int
    """Number of answers in time that used nearly all of their limit."""
    late: int
    """Expulsions for time."""
    voided: int
    """Late answers that were not judged, since the referee had stood still."""
    cases: Sequence[Timing]
    """The first of the voided and of the late answers."""
    processes: Sequence[ProcessTotal]
    """Processes that have played matches: workers, and hosts of a cluster."""


def timings(record: Record) -> list[Timing]:
    """List every request of a record that was answered or ran out, in that order."""
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
    """Compute the figures of one record or of many.

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
    """Add up the figures of several records, at least one."""
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
    """Return the distribution of times in milliseconds."""
    ordered = sorted(times_ms) or [0.0]

    def _rank(share: float) -> float:
        return ordered[max(ceil(share * len(ordered)) - 1, 0)]

    return TimeSpread(median_ms=_rank(0.5), p95_ms=_rank(0.95), p99_ms=_rank(0.99), most_ms=ordered[-1])
