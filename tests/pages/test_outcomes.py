"""The end of a match in one sentence: who beat whom and why, draws, orders, teams."""

from collections.abc import Mapping

import pytest

from referee.match.commands import Result
from referee.match.fouls import Cause, Foul
from referee.pages.words import outcome, outcome_of_result, ranking
from referee.tournament.points import Scoring

TEAMS = ((0, 2), (1, 3))


@pytest.mark.parametrize(
    ("order", "faults", "shown"),
    [
        ("a|b", {}, "a beat b; 0 : 1"),
        ("b|a", {0: "crashed"}, "b beat a (a crashed); 1 : 0"),
        ("ba", {}, "a - b: draw; 0 : 1"),
        ("b|a", {0: "timeout"}, "b beat a (a was too late); 1 : 0"),
        ("ab", {0: "illegal-move", 1: "crashed"}, "nobody won: a made an illegal move, b crashed; 0 : 1"),
        ("ab", {0: "crashed"}, "b beat a (a crashed); 1 : 0"),
        ("b|a", {0: "what is not known"}, "b beat a (a fouled: what is not known); 1 : 0"),
        ("a|bc|d", {3: "timeout"}, "a, then b and c, then d (too late); 0 : 1 : 2 : 3"),
        ("d|abc", {0: "crashed", 2: "timeout"}, "d, then b, then a (crashed) and c (too late); 3 : 1 : 0 : 2"),
        ("abc", {}, "a, b and c: draw; 0 : 1 : 2"),
        (
            "abc",
            dict.fromkeys(range(3), "timeout"),
            "nobody won: a was too late, b was too late, c was too late; 0 : 1 : 2",
        ),
        ("", {}, "a - b: void"),
    ],
)
def test_who_beat_whom(order: str, faults: Mapping[int, str], shown: str) -> None:
    """Places decide, not points. Fouls come after all places, and the points follow in the order of the names."""
    names = sorted(set(order) - {"|"}) or ["a", "b"]
    groups = [[names.index(name) for name in group] for group in order.split("|") if group]
    told = outcome(names, groups, faults, range(len(names)))
    assert told.with_points(range(len(names))) == shown


@pytest.mark.parametrize(
    ("groups", "faults", "shown"),
    [
        ([[1, 3], [0, 2]], {}, "b and d beat a and c"),
        ([[0, 1, 2, 3]], {}, "a and c - b and d: draw"),
        ([[0], [1, 3], [2]], {2: Cause.CRASHED}, "a and c beat b and d (c crashed)"),
        (
            [[1, 3], [0, 2]],
            dict.fromkeys((0, 2), Cause.TIMEOUT),
            "b and d beat a and c (a was too late, c was too late)",
        ),
    ],
)
def test_teams_win_and_lose_together(groups: list[list[int]], faults: Mapping[int, str], shown: str) -> None:
    """A team has the place of its better member."""
    assert outcome("abcd", groups, faults, Scoring(teams=TEAMS).sides(4)).sentence == shown


def result(groups: tuple[tuple[int, ...], ...], *, void: str | None = None) -> Result:
    """Return the result of a match of two without fouls."""
    return Result(
        winners=groups[0] if groups else (),
        ranking=groups,
        scores=(5, 5),
        fouls=(),
        reason="so",
        void=void,
        turns=1,
        used_ms=(0.0, 0.0),
    )


@pytest.mark.parametrize(
    ("ended", "shown", "notes"),
    [
        (result(((1,), (0,))), r"bob beat a\x1b[2J", ["winner", ""]),
        (result(((0, 1),)), r"a\x1b[2J - bob: draw", ["shares the first place"] * 2),
        (result((), void="the disk was full"), r"a\x1b[2J - bob: void", ["", ""]),
    ],
)
def test_a_draw_has_no_winner(ended: Result, shown: str, notes: list[str]) -> None:
    """No winner is named in the sentence or in the ranking; players' names are made printable."""
    names = ("a\x1b[2J", "bob")
    assert outcome_of_result(names, ended, ()).sentence == shown
    assert [row.note for row in ranking(names, ended, ())] == notes


def test_a_team_that_wins_alone_does_not_share_its_place() -> None:
    """Both partners are winners; each is one of a team."""
    ended = Result(
        winners=(0, 2),
        ranking=((0, 2), (1, 3)),
        scores=(1, 0, 1, 0),
        fouls=(Foul(seat=1, cause=Cause.CRASHED, at_ms=0.0, turn=1),),
        reason="so",
        void=None,
        turns=1,
        used_ms=(0.0,) * 4,
    )
    assert [row.note for row in ranking("abcd", ended, TEAMS)][:2] == ["winner", "winner"]
    assert outcome_of_result("abcd", ended, TEAMS).sentence == "a and c beat b and d (b crashed)"
