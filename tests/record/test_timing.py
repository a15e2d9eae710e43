"""The fairness of time in records: lag, close calls, expulsions for time, and voided verdicts."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.match.events import SeatVacant
from referee.match.fouls import Cause
from referee.record.reader import read_record
from referee.record.timing import Fairness, ProcessTime, TimeSpread, Timing, fairness, fairness_totals, spread, timings

from .test_golden import GOLDEN, RECORDS

LATE = (str(Cause.TIMEOUT), str(Cause.REFUSED_TO_START))


def of(name: str) -> Fairness:
    """Return the figures of a golden record."""
    return fairness(timings(read_record(GOLDEN / f"{name}.jsonl")))


def timing(
    used_ms: float, limit_ms: float = 1000.0, *, is_answer: bool = True, lag_ms: float = 0.0, process: str = ""
) -> Timing:
    """Return a timing of seat 0."""
    return Timing(
        match="m",
        line=2,
        seat=0,
        name="a",
        turn=1,
        is_answer=is_answer,
        used_ms=used_ms,
        limit_ms=limit_ms,
        lag_ms=lag_ms,
        stalled_ms=0.0,
        cause=None,
        process=process,
        is_voided=False,
    )


@pytest.mark.parametrize(
    ("times_ms", "median_ms", "p95_ms", "p99_ms", "most_ms"),
    [
        ([], 0.0, 0.0, 0.0, 0.0),
        ([7.0], 7.0, 7.0, 7.0, 7.0),
        ([2.0, 1.0], 1.0, 2.0, 2.0, 2.0),
        ([float(number) for number in range(100, 0, -1)], 50.0, 95.0, 99.0, 100.0),
    ],
)
def test_a_spread_is_of_times_that_there_were(
    times_ms: list[float], median_ms: float, p95_ms: float, p99_ms: float, most_ms: float
) -> None:
    """Each figure is one of the times, by nearest rank, and zero if there are none."""
    assert TimeSpread(median_ms=median_ms, p95_ms=p95_ms, p99_ms=p99_ms, most_ms=most_ms) == spread(times_ms)


@pytest.mark.parametrize(("used_ms", "is_close"), [(899.9, False), (900.0, True), (1000.0, True), (1000.1, False)])
def test_a_close_call_is_in_time(used_ms: float, is_close: bool) -> None:  # noqa: FBT001  # a column of the table
    """The last tenth of the limit is close; more than the limit is late; a limit that passed is no answer."""
    assert is_close == timing(used_ms).is_close
    assert not timing(used_ms, is_answer=False).is_close


@pytest.mark.parametrize("path", RECORDS, ids=[path.stem for path in RECORDS])
def test_every_expulsion_for_time_is_told(path: Path) -> None:
    """In every golden record, exactly the fouls for time that belong to a request are listed."""
    record = read_record(path)
    found = fairness(timings(record))
    assert record.result is not None
    fouls = [(foul.seat, str(foul.cause)) for foul in record.result.result.fouls if foul.cause in LATE]
    vacant = [(step.event.seat, LATE[1]) for step in record.transitions if isinstance(step.event, SeatVacant)]
    assert [foul for foul in fouls if foul not in vacant] == [(item.seat, item.cause) for item in found.late]
    assert all(item.used_ms > item.limit_ms for item in [*found.late, *found.voided])


def test_what_an_answer_used_is_its_players_alone() -> None:
    """The referee's lag is separate from the charged time and from the limit."""
    (late,) = of("deadline").late
    assert (late.cause, late.name, late.is_answer, late.limit_ms) == ("timeout", "b", False, 1000.0)
    assert (late.used_ms, late.lag_ms) == (1001.25, 0.25)


def test_a_verdict_that_was_not_given_is_told() -> None:
    """A limit that began again and a late answer that counted are no expulsions."""
    found = of("late-for-a-stall")
    assert found.late == []
    assert [(item.is_answer, item.stalled_ms) for item in found.voided] == [(False, 300.0), (True, 300.0)]
    assert (found.standstills, found.longest_standstill_ms) == (2, 300.0)


def test_after_two_standstills_the_third_verdict_counts() -> None:
    """A limit begins again at most twice."""
    found = of("too-late-after-stalls")
    assert (len(found.late), len(found.voided)) == (1, 2)


def test_records_are_taken_together() -> None:
    """A name is one player over all matches, and a silent match has no figures."""
    both = [item for name in ("clean", "seats-by-lot") for item in timings(read_record(GOLDEN / f"{name}.jsonl"))]
    found = fairness(both, 2)
    assert found.matches == 2
    assert (
        of("clean").answers + of("seats-by-lot").answers
        == found.answers
        == sum(player.answers for player in found.players)
    )
    silent = of("never-opened")
    assert (silent.answers, silent.players, silent.lag.most_ms) == (0, [], 0.0)


def test_a_slow_host_is_seen() -> None:
    """Each process has the times of the matches that it played; a limit that passed is no answer."""
    slow = [timing(used_ms, process="b", lag_ms=used_ms / 10) for used_ms in (40.0, 60.0, 80.0)]
    quick = [timing(10.0, process="a"), timing(2000.0, process="a", is_answer=False)]
    found = fairness([*slow, *quick]).processes
    times = [(each.process, each.matches, each.answers, each.median_ms, each.most_ms, each.lag_ms) for each in found]
    assert times == [("a", 1, 1, 10.0, 10.0, 0.0), ("b", 1, 3, 60.0, 80.0, 8.0)]
    (process,) = of("deadline").processes
    assert (process.process, process.matches) != ("", 0)


def test_processes_are_told_by_themselves() -> None:
    """Each process has its matches of all records."""
    time = ProcessTime(process="b", matches=1, answers=2, median_ms=1.0, most_ms=3.0, lag_ms=0.5, standstills=1)
    records = [
        replace(fairness([]), processes=[time]),
        replace(fairness([]), processes=[replace(time, process="a"), replace(time, most_ms=2.0, lag_ms=0.7)]),
    ]
    told = [
        (each.process, each.matches, each.answers, each.most_ms, each.lag_ms, each.standstills)
        for each in fairness_totals(records).processes
    ]
    assert told == [("a", 1, 2, 3.0, 0.5, 1), ("b", 2, 4, 3.0, 0.7, 2)]
