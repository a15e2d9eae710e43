"""The move that a player regrets most: which turns are judged, what is shown of the worst. Search is a stand-in."""

from pathlib import Path
from typing import Any

import pytest

import referee
from referee.app import regret
from referee.app.regret import greatest_regret
from referee.testing import plain
from sample_players.python.search import Judgement

BETTER = {"action": "discard", "domino": [0, 0]}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the record of a match of Quincy."""
    match = referee.play("quincy", ["house:greedy", "house:random"], seed=7)
    assert isinstance(match, referee.Match)
    return match.save(tmp_path_factory.mktemp("regret"))


def _turns(record: Path) -> tuple[referee.Turn, ...]:
    match = referee.load(record)
    assert isinstance(match, referee.Match)
    return match.turns


def _judging(monkeypatch: pytest.MonkeyPatch, losses: list[float]) -> list[tuple[Any, Any]]:
    """Let search find so much to be lost, turn by turn; return what it is asked for: views and moves."""
    asked: list[tuple[Any, Any]] = []

    def _judge(_match: Any, view: Any, move: Any) -> Judgement | None:
        asked.append((view, move))
        loss = losses[len(asked) - 1]
        return Judgement(wins=0.5 - loss, better=BETTER, better_wins=0.5) if loss else None

    monkeypatch.setattr(regret, "judge", _judge)
    return asked


def test_the_worst_of_the_turns_is_shown(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the board as its seat saw it, its move, and what was better."""
    asked = _judging(monkeypatch, [0.1, 0.0, 0.3, 0.2])
    found = greatest_regret([record], "random", turns=4)
    assert found is not None
    assert (found.seat, found.move, found.wins, found.better, found.better_wins) == (1, asked[2][1], 20, BETTER, 50)
    turns = {turn.number: turn for turn in _turns(record)}
    assert plain((turns[found.turn].view, turns[found.turn].move)) == plain(asked[2])
    assert found.position.count("?|?") == turns[found.turn].view["hand_sizes"][0]
    assert "to move" in found.position
    assert len({str(view) for view, _ in asked}) == 4


def test_the_same_turns_are_drawn_again(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who checks a player twice reads of the same turns; no more are judged than there are."""
    asked = []
    for _ in range(2):
        asked.append(_judging(monkeypatch, [0.0, 0.04, 0.0]))
        assert greatest_regret([record], "random", turns=3) is None
    assert asked[0] == asked[1]
    every = _judging(monkeypatch, [0.0] * 100)
    assert greatest_regret([record], "greedy", turns=100) is None
    assert len(every) == sum(turn.seat == 0 for turn in _turns(record))


def test_of_no_match_there_is_nothing_to_regret() -> None:
    """As when a comparison has left no records."""
    assert greatest_regret([], "ada") is None
