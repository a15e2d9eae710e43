"""Two authors at one table: when they play, what each has, and how it comes to nothing."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from referee.web.contest.practice import AWAY_S, CALM_LOOKS, PERSON_LIMIT_S, WAIT
from referee.web.contest.queues import waiting_practice
from referee.web.submissions.challenges import ChallengeRefused

from ..looking import Visitor
from .practice_scene import PracticeScene


def invited(scene: PracticeScene, tournament: str = "league", *, accepts: bool = True) -> list[Any]:
    """Let ada ask bob to play with her, and look on; and bob, too, if he accepts."""
    scene.ask(tournament, None, "house:greedy", guest="bob")
    scene.look(CALM_LOOKS)
    visitors: list[Any] = [Visitor(), Visitor()]
    scene.seat().look_on(visitors[0])
    if accepts:
        scene.practice.accept("bob", "ada.1")
        scene.seat("bob", "ada.1").look_on(visitors[1])
    return visitors


def test_two_authors_play_at_one_table(scene: PracticeScene) -> None:
    """Once the other has accepted and both are there; each has a seat of its own, and nobody else has any."""
    invited(scene, accepts=False)
    assert [each.number_for("bob") for each in scene.practice.invitations("bob")] == ["ada.1"]
    assert scene.practice.seat("bob", "ada.1") is None
    scene.look(2 * CALM_LOOKS)
    assert (scene.matches, scene.practice.waiting()) == ([], [(scene.first(), "waits for bob to accept")])
    scene.practice.accept("ada", "1")
    assert not scene.first().has_accepted, "nobody accepts for another one"
    scene.practice.accept("bob", "ada.1")
    scene.look(2 * CALM_LOOKS)
    assert (scene.matches, scene.practice.waiting()) == ([], [(scene.first(), "begins when bob takes the seat")])
    scene.told.clear()
    visitor: Any = Visitor()
    scene.seat("bob", "ada.1").look_on(visitor)
    scene.look()
    (match,) = scene.matches
    assert match.command[:6] == ["referee", "play", "quadominos", "me:ada", "me:bob", "house:greedy"]
    assert "--time=180.0" in match.command
    adas, bobs = match.descriptors
    assert (match.command[-2:], adas != bobs) == ([f"--relay=ada={adas}", f"--relay=bob={bobs}"], True)
    assert {*scene.told} == {"ada", "bob"}
    lines = {(line.author, line.what): line for line in waiting_practice(scene.practice)}
    assert {*lines} == {("ada", "practice match 1"), ("bob", "practice match ada.1")}
    scene.keep()
    match.has_ended = True
    scene.look()
    assert (scene.first().ended is not None, scene.first().trouble) == (True, None)
    assert all(b"the match is over" in scene.seat(*seat).snapshot() for seat in (("ada", "1"), ("bob", "ada.1")))
    assert scene.practice.replay("bob", "ada.1") is not None
    others = [("bob", "1"), ("ada", "ada.1"), ("cyd", "1"), ("cyd", "ada.1")]
    assert [scene.practice.seat(*other) or scene.practice.replay(*other) for other in others] == [None] * len(others)


def test_a_game_for_two_is_theirs(scene: PracticeScene) -> None:
    """Nobody else has a seat in it; and who plays at another table is waited for."""
    scene.ask_in_person("bob")
    assert scene.begun().command[2:5] == ["quadominos", "me:bob", "house:greedy"]
    invited(scene, "cup")
    scene.look(CALM_LOOKS)
    assert scene.practice.waiting()[-1] == (scene.first(), "waits for the one that bob plays now")
    scene.practice.give_up("bob", "1")
    scene.look(2 * CALM_LOOKS)
    assert scene.matches[-1].command[2:6] == ["q", "me:ada", "me:bob", "--lot"]


def goes_away(scene: PracticeScene, visitors: list[Any]) -> None:
    """Let bob leave his page, for too long."""
    visitors[1].abortConnection()
    scene.clock.advance(AWAY_S)


ENDS: dict[str, tuple[bool, Callable[[PracticeScene, list[Any]], None], str]] = {
    "the other declines": (False, lambda scene, _: scene.practice.give_up("bob", "ada.1"), "bob has declined"),
    "who asked thinks better of it": (False, lambda scene, _: scene.practice.give_up("ada", "1"), "ada has left"),
    "nobody answers": (False, lambda scene, _: scene.clock.advance(AWAY_S), "a seat was not taken for 30 minutes"),
    "the other leaves again": (True, lambda scene, _: scene.practice.give_up("bob", "ada.1"), "bob has left the table"),
    "the other goes away": (True, goes_away, "a seat was not taken for 30 minutes"),
}


@pytest.mark.parametrize(("accepts", "happens", "told"), ENDS.values(), ids=ENDS)
def test_a_table_for_two_that_comes_to_nothing(
    scene: PracticeScene, *, accepts: bool, happens: Callable[[PracticeScene, list[Any]], None], told: str
) -> None:
    """Both are told why, and nothing more can be done with it."""
    happens(scene, invited(scene, accepts=accepts))
    scene.look(CALM_LOOKS)
    assert (told in (scene.first().trouble or ""), scene.matches) == (True, [])
    assert {"ada", "bob"} <= {*scene.told}
    for action in (scene.practice.accept, scene.practice.give_up):
        with pytest.raises(ChallengeRefused, match="no such seat"):
            action("bob", "ada.1")
    assert told.encode() in scene.seat().snapshot()


def test_a_table_for_two_in_the_middle(scene: PracticeScene) -> None:
    """A host that ends, or who signs out, only interrupts it: it goes on once both are back; who leaves ends it."""
    invited(scene)
    scene.begun()
    scene.keep(is_over=False)
    scene.close()
    scene.open()
    assert scene.practice.waiting() == [(scene.first(), "begins when ada and bob take their seats")]
    visitors: list[Any] = [Visitor(), Visitor()]
    for (author, number), visitor in zip((("ada", "1"), ("bob", "ada.1")), visitors, strict=True):
        scene.seat(author, number).look_on(visitor)
    again = scene.begun()
    assert (again.command[2], [part[:12] for part in again.command[-2:]]) == (
        "--resume",
        ["--relay=ada=", "--relay=bob="],
    )
    scene.practice.leave("bob")
    assert [visitor.finished.called for visitor in visitors] == [False, True]
    scene.look()
    assert not again.is_stopped, "the clock of the move decides"
    scene.practice.give_up("bob", "ada.1")
    assert b"bob has left the table" in scene.seat().snapshot(), "at once"
    scene.look()
    assert (again.is_stopped, scene.first().trouble) == (True, "bob has left the table")


def test_deadlines_are_told(scene: PracticeScene) -> None:
    """Of a seat that nobody takes, of a core that is not free, and of a match that is played."""

    def _left_s() -> float:
        return (scene.practice.until(scene.first()) - datetime.now(UTC)).total_seconds()

    invited(scene, accepts=False)
    scene.clock.advance(AWAY_S / 2)
    assert _left_s() == pytest.approx(AWAY_S / 2, abs=60)
    scene.practice.accept("bob", "ada.1")
    visitors: list[Any] = [Visitor(), Visitor()]
    scene.seat().look_on(visitors[0])
    scene.seat("bob", "ada.1").look_on(visitors[1])
    assert _left_s() == pytest.approx(WAIT.total_seconds(), abs=60)
    scene.begun()
    assert _left_s() == pytest.approx(PERSON_LIMIT_S, abs=60)
