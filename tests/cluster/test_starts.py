"""Whose fault it is that a program does not start on a host."""

from types import SimpleNamespace
from typing import Any

import pytest

from referee.cluster.starts import Starts, unstarted
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
    """On hosts a and b; a program that has started where it plays, or starts nowhere, is."""
    starts, found = Starts(), []
    for how, host in map(tuple, course.split()):
        if how == "+":
            starts.started("p", host)
        else:
            found.append(starts.is_excused("p", host, {"a", "b"} - {host}))
    assert found == excused


def test_a_program_that_starts_nowhere_is_tried_on_a_few_hosts() -> None:
    """However many there are."""
    starts = Starts()
    assert [starts.is_excused("p", host, set(HOSTS) - {host}) for host in HOSTS] == [True, True, False, False]


def test_where_a_match_is_played() -> None:
    """Where its programs start; anywhere, if that is nowhere."""
    starts = Starts()
    assert set(starts.fit(("p",), HOSTS)) == set(HOSTS)
    starts.is_excused("p", "a", {"b"})
    assert set(starts.fit(("q", "p"), HOSTS)) == {"b", "c", "d"}
    assert set(starts.fit(("p",), ("a",))) == {"a"}
    starts.started("p", "c")
    assert (set(starts.fit(("p",), HOSTS)), set(starts.fit(("p",), ("a", "b")))) == ({"c"}, {"b"})


def test_matches_that_counted_too_early_are_told_once() -> None:
    """When the program has started for the first time."""
    starts = Starts()
    starts.is_excused("p", "a", ())
    starts.counted("p", "m1")
    assert [starts.started("p", host) for host in ("b", "c")] == [["m1"], []]


@pytest.mark.parametrize(
    ("foul", "is_ready", "is_unstarted"),
    [
        ({"cause": Cause.CRASHED, "ending": e.Ending.FAILED}, False, True),
        ({"cause": Cause.REFUSED_TO_START}, False, True),
        ({"cause": Cause.CRASHED, "ending": e.Ending.FAILED}, True, False),
        ({"cause": Cause.CRASHED, "ending": e.Ending.STRANGER}, False, False),
        ({"cause": Cause.REFUSED_TO_START, "ending": e.Ending.SILENT}, False, False),
        ({"cause": Cause.REFUSED_TO_START, "evidence": "00"}, False, False),
        ({"cause": Cause.MALFORMED_MESSAGE}, False, False),
    ],
    ids=["it failed", "it never came", "it had accepted", "another's token", "silent", "no hello", "nonsense"],
)
def test_what_is_no_start(foul: dict[str, Any], is_ready: bool, is_unstarted: bool) -> None:  # noqa: FBT001  # of a table
    """Whoever said anything has started."""
    ready = e.ReadyReceived(seat=1, at_ms=2.0, sent_ms=1.0, first_byte_ms=2.0, lag_ms=0.0, commitment="")
    fouls = (Foul(seat=1, at_ms=3.0, turn=0, **foul),)
    record: Any = SimpleNamespace(
        steps=[SimpleNamespace(event=ready)] * is_ready, result=SimpleNamespace(result=SimpleNamespace(fouls=fouls))
    )
    assert unstarted(record) == ({1} if is_unstarted else set())
