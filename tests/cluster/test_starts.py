"""Whose fault it is that a program can't play on a host."""

from typing import Any

import pytest

from referee.cluster.cluster_host import Starts, find_unstarted_seats
from referee.match import events as e
from referee.match.fouls import Cause, Foul

HOSTS = ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("course", "excused"),
    [
        ("-a -b", [True, False]),
        ("+b -a", [True]),
        ("+a -a", [False]),
        ("+b -a -a", [True, True]),
        ("-a +b -a -b", [True, True, False]),
        ("-a +a -a", [True, False]),
    ],
    ids=["nowhere", "elsewhere", "here", "elsewhere, again", "later elsewhere", "later here"],
)
def test_who_is_to_blame(course: str, excused: list[bool]) -> None:
    """There are hosts a and b. A program is to blame if it has moved on the same host before, or moves on no host."""
    starts, found = Starts(), []
    for how, host in map(tuple, course.split()):
        if how == "+":
            starts.record_move("p", host)
        else:
            found.append(starts.excuse("p", host, {"a", "b"} - {host}))
    assert found == excused


def test_a_program_that_runs_nowhere_is_tried_on_a_few_hosts() -> None:
    """It is tried only on a few hosts, even if there are many."""
    starts = Starts()
    assert [starts.excuse("p", host, set(HOSTS) - {host}) for host in HOSTS] == [True, True, False, False]


def test_where_a_match_is_played() -> None:
    """It is played where its programs run; if they run nowhere, it is played anywhere."""
    starts = Starts()
    assert set(starts.choose_hosts(("p",), HOSTS)) == set(HOSTS)
    starts.excuse("p", "a", {"b"})
    assert set(starts.choose_hosts(("q", "p"), HOSTS)) == {"b", "c", "d"}
    assert set(starts.choose_hosts(("p",), ("a",))) == {"a"}
    starts.record_move("p", "c")
    assert (set(starts.choose_hosts(("p",), HOSTS)), set(starts.choose_hosts(("p",), ("a", "b")))) == ({"c"}, {"b"})


def test_matches_that_counted_too_early_are_told_once() -> None:
    """The message comes when the program has moved for the first time."""
    starts = Starts()
    starts.excuse("p", "a", ())
    starts.record_failure("p", "m1")
    assert [starts.record_move("p", host) for host in ("b", "c")] == [["m1"], []]


@pytest.mark.parametrize(
    ("foul", "moved", "is_unstarted"),
    [
        ({"cause": Cause.CRASHED, "ending": e.Ending.FAILED}, set(), True),
        ({"cause": Cause.REFUSED_TO_START}, set(), True),
        ({"cause": Cause.CRASHED, "ending": e.Ending.FAILED, "turn": 3}, {0}, True),
        ({"cause": Cause.CRASHED, "ending": e.Ending.FAILED, "turn": 3}, {0, 1}, False),
        ({"cause": Cause.CRASHED, "ending": e.Ending.STRANGER}, set(), False),
        ({"cause": Cause.REFUSED_TO_START, "ending": e.Ending.SILENT}, set(), False),
        ({"cause": Cause.REFUSED_TO_START, "evidence": "00"}, set(), False),
        ({"cause": Cause.TIMEOUT, "turn": 1}, set(), False),
    ],
    ids=["failed", "never came", "at its first turn", "later", "another's token", "silent", "no hello", "slow"],
)
def test_what_may_lack_something(foul: dict[str, Any], moved: set[int], is_unstarted: bool) -> None:  # noqa: FBT001  # of a table
    """A program that has moved lacks nothing."""
    fouls = (Foul(**{"seat": 1, "at_ms": 3.0, "turn": 0} | foul),)
    assert find_unstarted_seats(fouls, moved) == ({1} if is_unstarted else set())
