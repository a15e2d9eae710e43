"""Two authors at one table: when they play, what each has, and how it comes to nothing."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from referee.app.contest.practice import AWAY_S, CALM_LOOKS, PERSON_LIMIT_S, WAIT
from referee.app.contest.queues import waiting_practice
from referee.submissions.challenges import ChallengeRefused

from ...site.looking import Visitor
from .halls import Hall


def invited(hall: Hall, tournament: str = "league", *, accepts: bool = True) -> list[Any]:
    """Let ada ask bob to play with her, and look on; and bob, too, if he accepts."""
    hall.ask(tournament, None, "house:greedy", guest="bob")
    hall.look(CALM_LOOKS)
    visitors: list[Any] = [Visitor(), Visitor()]
    hall.seat().look_on(visitors[0])
    if accepts:
        hall.practice.accept("bob", "ada.1")
        hall.seat("bob", "ada.1").look_on(visitors[1])
    return visitors


def test_two_authors_play_at_one_table(hall: Hall) -> None:
    """Once the other has accepted and both are there; each has a seat of its own, and nobody else has any."""
    invited(hall, accepts=False)
    assert [each.number_for("bob") for each in hall.practice.invitations("bob")] == ["ada.1"]
    assert hall.practice.seat("bob", "ada.1") is None
    hall.look(2 * CALM_LOOKS)
    assert (hall.matches, hall.practice.waiting()) == ([], [(hall.first(), "waits for bob to accept")])
    hall.practice.accept("ada", "1")
    assert not hall.first().has_accepted, "nobody accepts for another one"
    hall.practice.accept("bob", "ada.1")
    hall.look(2 * CALM_LOOKS)
    assert (hall.matches, hall.practice.waiting()) == ([], [(hall.first(), "begins when bob takes the seat")])
    hall.told.clear()
    visitor: Any = Visitor()
    hall.seat("bob", "ada.1").look_on(visitor)
    hall.look()
    (match,) = hall.matches
    assert match.command[:6] == ["referee", "play", "quadominos", "me:ada", "me:bob", "house:greedy"]
    assert "--time=180.0" in match.command
    adas, bobs = match.descriptors
    assert (match.command[-2:], adas != bobs) == ([f"--relay=ada={adas}", f"--relay=bob={bobs}"], True)
    assert {*hall.told} == {"ada", "bob"}
    lines = {(line.author, line.what): line for line in waiting_practice(hall.practice)}
    assert {*lines} == {("ada", "practice match 1"), ("bob", "practice match ada.1")}
    hall.keep()
    match.has_ended = True
    hall.look()
    assert (hall.first().ended is not None, hall.first().trouble) == (True, None)
    assert all(b"the match is over" in hall.seat(*seat).snapshot() for seat in (("ada", "1"), ("bob", "ada.1")))
    assert hall.practice.replay("bob", "ada.1") is not None
    others = [("bob", "1"), ("ada", "ada.1"), ("cyd", "1"), ("cyd", "ada.1")]
    assert [hall.practice.seat(*other) or hall.practice.replay(*other) for other in others] == [None] * len(others)


def test_a_game_for_two_is_theirs(hall: Hall) -> None:
    """Nobody else has a seat in it; and who plays at another table is waited for."""
    hall.ask_in_person("bob")
    assert hall.begun().command[2:5] == ["quadominos", "me:bob", "house:greedy"]
    invited(hall, "cup")
    hall.look(CALM_LOOKS)
    assert hall.practice.waiting()[-1] == (hall.first(), "waits for the one that bob plays now")
    hall.practice.give_up("bob", "1")
    hall.look(2 * CALM_LOOKS)
    assert hall.matches[-1].command[2:6] == ["q", "me:ada", "me:bob", "--lot"]


def goes_away(hall: Hall, visitors: list[Any]) -> None:
    """Let bob leave his page, for too long."""
    visitors[1].abortConnection()
    hall.clock.advance(AWAY_S)


ENDS: dict[str, tuple[bool, Callable[[Hall, list[Any]], None], str]] = {
    "the other declines": (False, lambda hall, _: hall.practice.give_up("bob", "ada.1"), "bob has declined"),
    "who asked thinks better of it": (False, lambda hall, _: hall.practice.give_up("ada", "1"), "ada has left"),
    "nobody answers": (False, lambda hall, _: hall.clock.advance(AWAY_S), "a seat was not taken for 30 minutes"),
    "the other leaves again": (True, lambda hall, _: hall.practice.give_up("bob", "ada.1"), "bob has left the table"),
    "the other goes away": (True, goes_away, "a seat was not taken for 30 minutes"),
}


@pytest.mark.parametrize(("accepts", "happens", "told"), ENDS.values(), ids=ENDS)
def test_a_table_for_two_that_comes_to_nothing(
    hall: Hall, *, accepts: bool, happens: Callable[[Hall, list[Any]], None], told: str
) -> None:
    """Both are told why, and nothing more can be done with it."""
    happens(hall, invited(hall, accepts=accepts))
    hall.look(CALM_LOOKS)
    assert (told in (hall.first().trouble or ""), hall.matches) == (True, [])
    assert {"ada", "bob"} <= {*hall.told}
    for deed in (hall.practice.accept, hall.practice.give_up):
        with pytest.raises(ChallengeRefused, match="no such seat"):
            deed("bob", "ada.1")
    assert told.encode() in hall.seat().snapshot()


def test_a_table_for_two_in_the_middle(hall: Hall) -> None:
    """A host that ends, or who signs out, only interrupts it: it goes on once both are back; who leaves ends it."""
    invited(hall)
    hall.begun()
    hall.keep(is_over=False)
    hall.close()
    hall.open()
    assert hall.practice.waiting() == [(hall.first(), "begins when ada and bob take their seats")]
    visitors: list[Any] = [Visitor(), Visitor()]
    for (author, number), visitor in zip((("ada", "1"), ("bob", "ada.1")), visitors, strict=True):
        hall.seat(author, number).look_on(visitor)
    again = hall.begun()
    assert (again.command[2], [part[:12] for part in again.command[-2:]]) == (
        "--resume",
        ["--relay=ada=", "--relay=bob="],
    )
    hall.practice.leave("bob")
    assert [visitor.finished.called for visitor in visitors] == [False, True]
    hall.look()
    assert not again.is_stopped, "the clock of the move decides"
    hall.practice.give_up("bob", "ada.1")
    assert b"bob has left the table" in hall.seat().snapshot(), "at once"
    hall.look()
    assert (again.is_stopped, hall.first().trouble) == (True, "bob has left the table")


def test_deadlines_are_told(hall: Hall) -> None:
    """Of a seat that nobody takes, of a core that is not free, and of a match that is played."""

    def _left_s() -> float:
        return (hall.practice.until(hall.first()) - datetime.now(UTC)).total_seconds()

    invited(hall, accepts=False)
    hall.clock.advance(AWAY_S / 2)
    assert _left_s() == pytest.approx(AWAY_S / 2, abs=60)
    hall.practice.accept("bob", "ada.1")
    visitors: list[Any] = [Visitor(), Visitor()]
    hall.seat().look_on(visitors[0])
    hall.seat("bob", "ada.1").look_on(visitors[1])
    assert _left_s() == pytest.approx(WAIT.total_seconds(), abs=60)
    hall.begun()
    assert _left_s() == pytest.approx(PERSON_LIMIT_S, abs=60)
