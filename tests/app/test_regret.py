"""The turn that a player regrets most: which turns are judged, what is shown of the worst. Search is a stand-in."""

from pathlib import Path

import pytest

import referee
from referee.app import regret
from referee.app.regret import JudgedTurn, greatest_regret
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


def _judging(monkeypatch: pytest.MonkeyPatch, losses: list[float]) -> list[JudgedTurn]:
    """Let search find so much to be lost, turn by turn; return which turns it is asked for."""
    asked: list[JudgedTurn] = []

    def _judge(turn: JudgedTurn) -> Judgement | None:
        asked.append(turn)
        loss = losses[len(asked) - 1]
        return Judgement(worth=50 - loss, better=({**BETTER, "domino": (0, 0)},), better_worth=50) if loss else None

    monkeypatch.setattr(regret, "by_search", _judge)
    return asked


def test_the_worst_of_the_turns_is_shown(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the board as its seat saw it, its move, and what was better."""
    asked = _judging(monkeypatch, [10, 0, 30, 20])
    found = greatest_regret([record], "random", 4)
    assert found is not None
    assert (found.seat, found.moves, found.measure) == (1, asked[2].moves, "wins")
    assert (found.worth, found.better, found.better_worth) == (20, (BETTER,), 50)
    assert (found.judged, found.mean_loss) == (4, 15)
    turns = {turn.number: turn for turn in _turns(record)}
    assert plain((turns[found.turn].move,)) == plain(asked[2].moves)
    assert found.position.count("?|?") == turns[found.turn].view["hand_sizes"][0]
    assert "to move" in found.position
    assert len({turn.state for turn in asked}) == 4


def test_the_same_turns_are_drawn_again(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who checks a player twice reads of the same turns; no more are judged than there are."""
    asked = []
    for _ in range(2):
        asked.append(_judging(monkeypatch, [0, 4, 0]))
        assert greatest_regret([record], "random", 3) is None
    assert [turn.state for turn in asked[0]] == [turn.state for turn in asked[1]]
    every = _judging(monkeypatch, [0] * 100)
    assert greatest_regret([record], "greedy", 100) is None
    assert len(every) == sum(turn.seat == 0 for turn in _turns(record))


def test_turns_without_secrets_are_judged_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Quincala, all moves of a turn are judged together, and no two turns are taken for one."""
    record = referee.play("quincala", ["house:random", "house:greedy"], seed=3).save(tmp_path)
    asked = _judging(monkeypatch, [0] * 500)
    assert greatest_regret([record], "random", 500) is None
    own = {turn.number for turn in _turns(record) if turn.seat == 0}
    judged = [range(turn.number, turn.number + len(turn.moves)) for turn in asked]
    assert sorted(number for numbers in judged for number in numbers) == sorted(own)
    assert own.isdisjoint(numbers.stop for numbers in judged)
    assert max(map(len, judged)) > 2


def test_the_q_game_is_judged_by_points(tmp_path: Path) -> None:
    """There the placement with the most points is what was missed, and what greedy plays leaves nothing to regret."""
    record = referee.play("q", ["house:random", "house:greedy"], seed=5).save(tmp_path)
    found = greatest_regret([record], "random")
    assert found is not None
    assert (found.measure, found.judged) == ("points", sum(turn.seat == 0 for turn in _turns(record)))
    (turn,) = (turn for turn in _turns(record) if turn.number == found.turn)
    for moves, points in ((found.moves, found.worth), (found.better, found.better_worth)):
        assert turn.before.play(moves[0]).scores[0] - turn.before.scores[0] == points
    assert found.better_worth - found.worth >= found.mean_loss >= 1
    assert greatest_regret([record], "greedy") is None


def test_of_no_match_there_is_nothing_to_regret() -> None:
    """As when a comparison has left no records."""
    assert greatest_regret([], "ada") is None
