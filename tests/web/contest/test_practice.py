"""Practice matches: when they are played, and their results; their processes are stand-ins."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from referee.web.contest import practice
from referee.web.contest.practice import AWAY_S, CALM_LOOKS, LIMIT_S, MAX_ATTEMPTS, PERSON_LIMIT_S, WAIT
from referee.web.contest.queue import waiting_practice
from referee.web.submissions.challenges import ChallengeRefused

from ..looking import Visitor
from .practice_scene import PracticeScene, StandInMatch


def test_a_match_is_played_by_the_rules_of_a_tournament(scene: PracticeScene) -> None:
    """It has the tournament's seats, time and limits, and is over when its record is."""
    scene.ask("league", opponent="1")
    match = scene.begun()
    players = [str(scene.store.player_folder("ada", number)) for number in (2, 1, 1)]
    assert match.command[:6] == ["referee", "play", "quadominos", *players]
    for part in ("--lot", "--key", "--logs"):
        assert part in match.command
    assert scene.practice.waiting() == [(scene.first(), "is played now")]
    (line,) = waiting_practice(scene.practice)
    assert line.until is not None
    assert datetime.fromisoformat(line.until) > datetime.now(UTC) + timedelta(seconds=LIMIT_S / 2)
    scene.keep()
    match.has_ended = True
    scene.look()
    assert (scene.first().ended is not None, scene.first().trouble, match.is_stopped) == (True, None, True)
    page = scene.practice.replay("ada", "1")
    assert page is not None
    assert "record holds" in page
    assert [scene.practice.replay(*asked) for asked in (("bob", "1"), ("ada", "2"), ("ada", "../1"))] == [None] * 3


def test_rated_matches_go_first(scene: PracticeScene) -> None:
    """No practice match begins while they take all cores, and one is stopped then; it continues from its record."""
    scene.ask()
    scene.rated = 2
    scene.look(2 * CALM_LOOKS)
    assert (scene.matches, "all 2" in scene.practice.waiting()[0][1]) == ([], True)
    (line,) = waiting_practice(scene.practice)
    assert (line.author, line.since) == ("ada", scene.first().asked)
    assert line.until == (datetime.fromisoformat(str(line.since)) + practice.WAIT).isoformat(timespec="seconds")
    scene.rated = 1
    match = scene.begun()
    scene.keep(is_over=False)
    scene.rated = 2
    scene.look()
    assert (match.is_stopped, scene.first().ended, scene.first().attempts) == (True, None, 0)
    scene.rated = 1
    record = str(scene.contest.folder / "logs/practice/ada/0001/q-1.jsonl")
    assert scene.begun().command[:4] == ["referee", "play", "--resume", record]


def test_what_waits_too_long_is_given_up(scene: PracticeScene, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds even if rated matches take all cores. For a person, it waits as long as nobody is at the seat."""
    scene.rated = 2
    scene.ask("league", None, "house:greedy")
    scene.look()
    scene.clock.advance(AWAY_S - 60)
    (line,) = waiting_practice(scene.practice)
    assert datetime.fromisoformat(line.until or "") < datetime.now(UTC) + timedelta(seconds=61)
    scene.ask()
    monkeypatch.setattr(practice, "WAIT", timedelta(0))
    scene.look()
    second, first = scene.practice.challenges("ada")
    assert ("no core was free" in (second.trouble or ""), first.trouble) == (True, None)
    scene.clock.advance(60)
    assert "the seat was not taken for 30 minutes" in (scene.first().trouble or "")
    assert (scene.matches, scene.practice.waiting()) == ([], [])


TROUBLES: dict[str, tuple[Callable[[PracticeScene, StandInMatch], None], str]] = {
    "it ends without a record": (lambda _hall, match: setattr(match, "has_ended", True), "could not play it"),
    "it takes too long": (lambda scene, _match: scene.clock.advance(LIMIT_S), "not over after 30 minutes"),
}


def test_no_tournament_is_waited_for_that_is_not_played(scene: PracticeScene) -> None:
    """Without a tournament, a match begins at the next look, and so does the next one.

    With one, after some quiet time.
    """
    scene.rated = None
    scene.ask()
    scene.ask()
    for number in (1, 2):
        scene.look()
        assert len(scene.matches) == number
        scene.matches[-1].has_ended = True
        scene.look()
    scene.rated = 0
    scene.ask()
    scene.look(CALM_LOOKS - 1)
    assert len(scene.matches) == 2
    scene.look()
    assert len(scene.matches) == 3


@pytest.mark.parametrize(("happens", "told"), TROUBLES.values(), ids=TROUBLES)
def test_what_was_not_played_is_told(
    scene: PracticeScene, happens: Callable[[PracticeScene, StandInMatch], None], told: str
) -> None:
    """The author is told why, and the next match has its turn."""
    scene.ask()
    scene.ask()
    happens(scene, scene.begun())
    scene.look()
    assert told in (scene.first().trouble or "")
    assert scene.noted == ["practice-over"]
    assert len(scene.practice.challenges("ada")) == 2
    scene.look(CALM_LOOKS)
    assert len(scene.matches) == 2


def test_a_host_goes_on_with_what_another_left(scene: PracticeScene) -> None:
    """Stopped or killed: finished matches are not played again, and a match that crashes hosts is given up."""
    scene.ask()
    scene.begun()
    scene.close()
    assert [match.is_stopped for match in scene.matches] == [True], "nothing outlives a host"
    scene.open()
    assert scene.first().attempts == 0
    scene.begun()
    folder = scene.contest.folder / "logs/practice/ada/0001"
    killed = (folder / "challenge.json").read_bytes()
    scene.keep()
    scene.close()
    (folder / "challenge.json").write_bytes(killed)
    scene.open()
    assert scene.first().attempts == 1
    scene.look(CALM_LOOKS)
    assert (scene.first().ended is not None, scene.first().trouble, len(scene.matches)) == (True, None, 2)
    scene.ask()
    second = replace(scene.practice.challenges("ada")[0], attempts=MAX_ATTEMPTS)
    scene.practice.taken_challenges.save(second)
    scene.look(CALM_LOOKS)
    assert "crashed 3 times" in (scene.practice.challenges("ada")[0].trouble or "")


def test_an_author_plays_in_person(scene: PracticeScene) -> None:
    """The match begins when the author is there, with time to think. Its process gets the seat's socket."""
    scene.ask("league", None, "house:greedy")
    scene.look(2 * CALM_LOOKS)
    assert scene.practice.waiting() == [(scene.first(), "begins when ada takes the seat")]
    visitor: Any = Visitor()
    scene.seat().watch(visitor)
    scene.look()
    (match,) = scene.matches
    assert match.command[:6] == ["referee", "play", "quadominos", "me:ada", "house:greedy", "house:greedy"]
    assert {"--time=180.0", "--lot"} <= {*match.command}
    assert not any(part.startswith(("--bank", "--increment")) for part in match.command)
    assert [f"--relay=ada={descriptor}" for descriptor in match.descriptors] == match.command[-1:]
    scene.keep(is_over=False)
    scene.rated = 2
    scene.look()
    assert (match.is_stopped, b"waits until a core is free" in scene.seat().snapshot()) == (True, True)
    scene.rated = 0
    again = scene.begun()
    assert (again.command[2], again.command[-1][:12]) == ("--resume", "--relay=ada=")
    scene.keep()
    again.has_ended = True
    scene.look()
    assert (scene.first().ended is not None, scene.first().trouble) == (True, None)
    assert b"the match is over" in scene.seat().snapshot()
    assert scene.practice.seat("ada", "2") is scene.practice.seat("bob", "1") is None


def test_persons_play_beside_programs_and_each_other(scene: PracticeScene) -> None:
    """As many as cores are free, each at one table; rated matches take one core at a time away."""
    for author, number in (("ada", "1"), ("ada", "2"), ("bob", "1"), ("cyd", "1")):
        scene.ask_in_person(author, number)
    scene.ask()
    scene.look(CALM_LOOKS)
    assert sorted(match.command[3] for match in scene.matches[1:]) == ["me:ada", "me:bob"]
    told = {challenge.place: why for challenge, why in scene.practice.waiting()}
    assert told.pop("ada/0002") == "waits for the match that ada plays now"
    assert told.pop("cyd/0001") == "waits until a core is free: other matches take all 2"
    assert set(told.values()) == {"is played now"}
    scene.rated = 1
    scene.look()
    assert [match.is_stopped for match in scene.matches] == [False, False, True]


def test_who_does_not_come_is_not_waited_for(scene: PracticeScene) -> None:
    """Nobody waits for an absent person, before the match or during it: then the match ends for good."""
    visitor = scene.ask_in_person()
    visitor.abortConnection()
    scene.clock.advance(AWAY_S)
    scene.look(CALM_LOOKS)
    assert "the seat was not taken for 30 minutes" in (scene.first().trouble or "")
    scene.ask_in_person(number="2")
    match = scene.begun()
    scene.clock.advance(PERSON_LIMIT_S)
    scene.look()
    assert (match.is_stopped, "60 minutes" in (scene.practice.challenges("ada")[0].trouble or "")) == (True, True)
    scene.ask_in_person(number="3")
    scene.practice.leave("ada")
    scene.look(2 * CALM_LOOKS)
    assert len(scene.matches) == 1


def test_a_seat_is_where_a_person_plays(scene: PracticeScene) -> None:
    """A program's seat has none."""
    scene.ask()
    assert [scene.practice.seat("ada", number) for number in ("1", "2", "x")] == [None] * 3


def test_a_disk_that_fails_stops_nothing(scene: PracticeScene) -> None:
    scene.ask()
    shutil.rmtree(scene.contest.folder / "logs/practice/ada")
    scene.look(CALM_LOOKS)
    assert scene.noted == ["practice-failed"]


REFUSED = {
    "another tournament": ({"tournament": "none"}, "no such tournament"),
    "a house player of another game": ({"opponent": "house:nobody"}, "does not play q"),
    "a version that failed": ({"version": "3"}, "has passed its check"),
    "no version": ({"version": "9"}, "has passed its check"),
    "a version of no number": ({"opponent": "../bob/1"}, "has passed its check"),
    "nothing": ({"opponent": ""}, "has passed its check"),
    "in person, with nobody": ({"tournament": "league", "version": None, "opponent": ""}, "passed"),
}


@pytest.mark.parametrize(("asked", "told"), REFUSED.values(), ids=REFUSED)
def test_what_can_not_be_played_is_refused(scene: PracticeScene, asked: dict[str, Any], told: str) -> None:
    """Nothing is stored."""
    with pytest.raises(ChallengeRefused, match=told):
        scene.ask(**asked)
    assert scene.practice.challenges("ada") == []


def test_only_where_the_organiser_allows_it(scene: PracticeScene) -> None:
    """Earlier requests are reported as not played."""
    scene.ask()
    scene.close()
    scene.contest = replace(scene.contest, practice=False)
    scene.open()
    assert scene.practice.rules() == []
    scene.look(CALM_LOOKS)
    assert "not allowed" in (scene.first().trouble or "")


def test_who_leaves_the_table_ends_the_match(scene: PracticeScene) -> None:
    """This holds before it begins and during it. Signing out only leaves the seat, and nothing ends twice."""
    first: Any = scene.ask_in_person()
    scene.practice.give_up("ada", "1")
    assert b"ada has left the table" in scene.seat().snapshot(), "at once"
    assert (scene.first().trouble, scene.matches, first.events() != []) == ("ada has left the table", [], True)
    second: Any = scene.ask_in_person(number="2")
    match = scene.begun()
    scene.practice.leave("bob")
    assert not second.finished.called
    scene.practice.leave("ada")
    scene.look()
    assert (second.finished.called, match.is_stopped) == (True, False), "the clock of the move decides"
    scene.practice.give_up("ada", "2")
    assert b"ada has left the table" in scene.seat(number="2").snapshot()
    scene.look()
    assert (match.is_stopped, scene.practice.challenges("ada")[0].trouble) == (True, "ada has left the table")
    scene.ask()
    for author, number in (("ada", "1"), ("ada", "2"), ("ada", "3"), ("ada", "x"), ("bob", "1")):
        with pytest.raises(ChallengeRefused, match="no such seat"):
            scene.practice.give_up(author, number)


def test_deadlines_are_told(scene: PracticeScene) -> None:
    """There are deadlines for a seat that nobody takes, a core that is not free, and a running match."""

    def _left_s() -> float:
        return (scene.practice.until(scene.first()) - datetime.now(UTC)).total_seconds()

    scene.ask("league", None, "house:greedy")
    scene.look()
    scene.clock.advance(AWAY_S / 2)
    assert _left_s() == pytest.approx(AWAY_S / 2, abs=60)
    visitor: Any = Visitor()
    scene.seat().watch(visitor)
    assert _left_s() == pytest.approx(WAIT.total_seconds(), abs=60)
    scene.begun()
    assert _left_s() == pytest.approx(PERSON_LIMIT_S, abs=60)
