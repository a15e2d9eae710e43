"""The turn that a player regrets most: which turns are looked at, and looked at again, what is shown of the worst."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import referee
from referee.app import regret
from referee.app.regret import FIRST_LOOK_S, WORST, JudgedTurn, Regret, greatest_regret
from referee.testing import plain
from sample_players.python.search import Budget, Judgement

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


class Judge:
    """A stand-in for search, which needs a second for a turn.

    Args:
        losses: that it finds in the first look, turn by turn.
        again: what it finds in the second one instead, by number of the first look.
    """

    def __init__(self, losses: Sequence[float], again: Mapping[int, float]) -> None:
        self._losses = losses
        self._again = again
        self.turns: list[JudgedTurn] = []
        """Of the first look."""
        self.budgets_s: list[float] = []
        """Of the second one."""
        self.now_s = 0.0

    def __call__(self, turn: JudgedTurn, budget_s: float) -> Judgement | None:
        """Judge a turn."""
        self.now_s += 1
        if budget_s == FIRST_LOOK_S:
            self.turns.append(turn)
            loss = self._losses[len(self.turns) - 1]
        else:
            self.budgets_s.append(budget_s)
            number = next(number for number, known in enumerate(self.turns) if known is turn)
            loss = self._again.get(number, self._losses[number])
        return Judgement(worth=50 - loss, better=({**BETTER, "domino": (0, 0)},), better_worth=50) if loss else None


def _judged(
    monkeypatch: pytest.MonkeyPatch, record: Path, name: str, losses: Sequence[float], **again: Mapping[int, float]
) -> tuple[Judge, Regret | None]:
    """Return what is regretted, with time to judge as many turns as losses are given."""
    judge = Judge(losses, again.get("again", {}))
    monkeypatch.setattr(regret, "by_search", judge)
    return judge, greatest_regret([record], name, 2 * len(losses), lambda: judge.now_s)


def test_the_worst_of_the_turns_is_shown(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the board as its seat saw it, its move, what was better, and where to see it."""
    judge, found = _judged(monkeypatch, record, "random", [10, 0, 30, 20])
    assert found is not None
    assert (found.seat, found.moves) == (1, judge.turns[2].moves)
    assert (found.worth, found.better, found.better_worth) == (20, (BETTER,), 50)
    assert (found.judged, found.mean_loss) == (4, 15)
    turns = {turn.number: turn for turn in _turns(record)}
    assert plain((turns[found.turn].move,)) == plain(judge.turns[2].moves)
    assert (found.record, found.before) == (str(record), found.turn - 1)
    assert found.position.count("?|?") == turns[found.turn].view["hand_sizes"][0]
    assert "to move" in found.position
    assert len({turn.state for turn in judge.turns}) == 4


def test_what_only_seemed_bad_is_found_out(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The few worst turns of the first look are looked at again, for longer, and that decides."""
    losses = [10, 9, 8, 20, 30]
    judge, found = _judged(monkeypatch, record, "random", losses, again={4: 0, 3: -5})
    assert found is not None
    assert (found.moves, found.worth, found.mean_loss) == (judge.turns[0].moves, 40, 15.4)
    assert judge.budgets_s == [pytest.approx(5 / 9)] * WORST
    assert _judged(monkeypatch, record, "random", losses, again={4: 0, 3: -5, 0: 4})[1] is None


def test_the_same_turns_are_drawn_again(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who checks a player twice reads of the same turns; no more are judged than there are."""
    judges = [_judged(monkeypatch, record, "random", [0, 4, 0])[0] for _ in range(2)]
    assert [turn.state for turn in judges[0].turns] == [turn.state for turn in judges[1].turns]
    every, found = _judged(monkeypatch, record, "greedy", [0] * 100)
    assert (len(every.turns), found) == (sum(turn.seat == 0 for turn in _turns(record)), None)


def test_turns_without_secrets_are_judged_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Quincala, all moves of a turn are judged together, and no two turns are taken for one."""
    record = referee.play("quincala", ["house:random", "house:greedy"], seed=3).save(tmp_path)
    judge, _ = _judged(monkeypatch, record, "random", [0] * 500)
    own = {turn.number for turn in _turns(record) if turn.seat == 0}
    judged = [range(turn.number, turn.number + len(turn.moves)) for turn in judge.turns]
    assert sorted(number for numbers in judged for number in numbers) == sorted(own)
    assert own.isdisjoint(numbers.stop for numbers in judged)
    assert max(map(len, judged)) > 2


def test_search_judges_the_q_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There, too, and in as many imagined deals each time, as many games are lost by the turn that is shown."""
    record = referee.play("q", ["house:random", "house:greedy"], seed=6).save(tmp_path)
    monkeypatch.setattr(regret, "Budget", lambda seconds: Budget(seconds=1e6 * seconds, iterations=16))
    found = greatest_regret([record], "random", 1.0, lambda: 0.0)
    assert found is not None
    own = {turn.number: turn for turn in _turns(record) if turn.seat == 0}
    assert plain((own[found.turn].move,)) == plain(found.moves)
    assert (found.judged, found.better[0]["action"]) == (len(own), "place")
    assert found.better_worth - found.worth >= found.mean_loss >= 50


def test_of_no_match_there_is_nothing_to_regret() -> None:
    """As when a comparison has left no records."""
    assert greatest_regret([], "ada", 1.0) is None
