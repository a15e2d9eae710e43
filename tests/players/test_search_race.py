"""The race of plans: which plans meet which worlds, when they drop out, which wins. The game is to name a number."""

from random import Random
from typing import Any

import pytest

from referee.games.base import Outcome
from sample_players.python.search_knowledge import Knowledge, Plan, Values
from sample_players.python.search_tree import Race


class Naming:
    """A stand-in for a game of two: the state is (world, named number or None), and naming ends nothing."""

    def to_move(self, state: tuple[int, int | None]) -> int:
        """Return seat 1, so that seats can't be confused."""
        return 1

    def play(self, state: tuple[int, int | None], move: int) -> tuple[int, int | None]:
        """Return the state with a named number."""
        return state[0], move

    def deliver(self, state: tuple[int, int | None]) -> tuple[int, int | None]:
        """Return the state: nothing is drawn."""
        return state

    def outcome(self, state: tuple[int, int | None]) -> Outcome | None:
        """Return a win if 99 was named, else None."""
        return Outcome(((1,), (0,)), (0, 1), (0, 1), "naming.won") if state[1] == 99 else None


class Noted(Knowledge[Any, int]):
    """Knowledge with numbers as plans and values from a table; it notes which plan met which world."""

    is_race = True

    def __init__(self, worth: dict[int, float], weights: dict[int, float] | None = None) -> None:
        naming: Any = Naming()
        super().__init__(naming, None, (), Random(0))
        self._worth = worth
        self._weights = weights or {}
        self.met: dict[int, list[int]] = {number: [] for number in worth}

    def plans(self, state: Any) -> list[Plan[int]]:
        """Return a plan for each number."""
        return [Plan((number,), self._weights.get(number, 1.0)) for number in self._worth]

    def values(self, state: Any) -> Values:
        """Return the table's value, for seat 1."""
        world, number = state
        self.met[number].append(world)
        return [1 - self._worth[number], self._worth[number]]


def race(knowledge: Noted) -> Race:
    """Return a race through worlds 0, 1, 2..."""
    worlds = iter(range(10_000))
    return Race(knowledge, lambda: (next(worlds), None))


def run(one: Race, iterations: int) -> None:
    """Spend the whole budget on a race."""
    for done in range(iterations):
        one.iterate(done / iterations)


def test_all_meet_the_same_worlds_and_the_worse_half_drops_out() -> None:
    """Eight, four and two plans each get a third of the time; the last plan has met every world."""
    knowledge = Noted({number: number / 10 for number in range(1, 9)})
    one = race(knowledge)
    run(one, 240)
    met = knowledge.met
    assert one.best() == (8,)
    assert met[8] == list(range(len(met[8])))
    assert all(found == met[8][: len(found)] for found in met.values())
    assert [len(met[number]) for number in range(1, 5)] == [11] * 4
    assert [len(met[number]) for number in range(5, 9)] == [30, 30, 68, 68]


@pytest.mark.parametrize(("count", "best"), [(2, 2), (3, 3), (5, 5), (7, 7)])
def test_any_number_of_plans_can_race(count: int, best: int) -> None:
    """Odd numbers can, too."""
    one = race(Noted({number: number / 10 for number in range(1, count + 1)}))
    run(one, 100)
    assert one.best() == (best,)


def test_one_plan_is_decided_at_once() -> None:
    one = race(Noted({5: 0.1}))
    assert one.is_decided
    assert one.best() == (5,)


def test_without_time_the_most_promising_one_is_best() -> None:
    """Before any plan has met a world, only their weights differ."""
    knowledge = Noted({1: 0.9, 2: 0.1}, {1: 0.5, 2: 1.0})
    knowledge.trusting = 0.1  # type: ignore[misc]  # of this one alone
    assert race(knowledge).best() == (2,)


def test_what_wins_at_once_counts_as_won() -> None:
    """Its value is the outcome's, not the judgement's."""
    knowledge = Noted({7: 0.9, 99: 0.0})
    one = race(knowledge)
    run(one, 20)
    assert one.best() == (99,)
    assert not knowledge.met[99]
