"""Which connection makes way if there are too many, and who storms: the policy alone, without connections."""

import resource

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.net.links.origin_limits import MOST_IN_ALL, STORM, STORM_A_S, OriginLimiter, Storms, most_open


def test_one_too_many_of_an_origin_pushes_out_its_oldest() -> None:
    """Other origins are not affected, and an identified connection no longer counts."""
    limiter = OriginLimiter[int](of_origin=2, in_all=100)
    assert [limiter.add(0, "b"), limiter.add(1, "a"), limiter.add(2, "a"), limiter.add(3, "a")] == [None, None, None, 1]
    limiter.discard(2)
    limiter.discard(2)
    assert [limiter.add(4, "a"), limiter.add(5, "a")] == [None, 3]


def test_one_too_many_in_all_pushes_out_the_oldest_of_the_origin_with_the_most() -> None:
    """Connections of other origins stay, however old they are."""
    limiter = OriginLimiter[int](of_origin=8, in_all=32)
    origins = "b" + "aaaaaaaa" + "cccccccc" + "dddddddd" + "eeeeeee"
    assert {limiter.add(number, origin) for number, origin in enumerate(origins)} == {None}
    assert limiter.add(100, "f") == 1


@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from("abc"), st.booleans())))
def test_there_are_never_more_than_may_be(deeds: list[tuple[int, str, bool]]) -> None:
    """The limits of one origin and of all hold at any time, and only counted connections make way."""
    limiter, there = OriginLimiter[int](of_origin=3, in_all=12), dict[int, str]()
    for member, origin, comes in deeds:
        if not comes:
            limiter.discard(member)
            there.pop(member, None)
        elif member not in there:
            there[member] = origin
            out = limiter.add(member, origin)
            if out is not None:
                assert there.pop(out) == origin
        assert all(list(there.values()).count(origin) <= 3 for origin in "abc")


@pytest.mark.parametrize(("limit", "most"), [(1 << 20, MOST_IN_ALL), (-1, MOST_IN_ALL), (1024, 512), (256, 128)])
def test_half_of_the_files_are_for_others(monkeypatch: pytest.MonkeyPatch, limit: int, most: int) -> None:
    """The limit follows from how many files the system lets a process open."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    assert most_open() == most


def test_a_storm_is_many_at_once_or_many_a_second() -> None:
    """A crowd that comes once is no storm. A loop that connects and closes is one, until it has stopped for a while."""
    time_s = 0.0
    storms = Storms(lambda: time_s)
    for _ in range(STORM):
        storms.count("course")
    assert storms.origins() == frozenset()
    for number in range(10_000):
        time_s = number / 5000
        storms.count("loop")
    assert storms.origins() == {"loop"}
    time_s += STORM / STORM_A_S
    assert storms.origins() == frozenset()


def test_what_is_remembered_is_bounded() -> None:
    storms = Storms(lambda: 0.0)
    for number in range(5000):
        storms.count(str(number))
    assert len(storms.levels) <= 1024
