"""One game as a learning program plays it: observations, actions and rewards, step by step.

The environments of PettingZoo and Gymnasium differ in who calls whom; the course of a game is the same, and is here. A
move of several steps takes several actions of the same seat in a row. The position changes only when the move is
complete, as in a match.
"""

from typing import Any, Literal, get_args

from ..chance import Dealer
from ..errors import BadRequest
from ..games.arguments import describe, read_whole
from ..games.base import Outcome, Step
from .base import Encoding, Mask, Vector

RewardKind = Literal["outcome", "points"]
"""Kind of rewards: for the ranking at the end only, or for the points of every move."""
_POINTS = 100
"""Points for a reward of 1; observations are divided by the same number."""


class Episode:
    """One game from its deal to its end.

    Args:
        encoding: encoding of the game, its options and its number of seats.
        key: 32 bytes, which fix the deal.
        max_cycles: number of turns of a seat after which the game is truncated; None: it is played to its end.
        rewards: kind of rewards.
    """

    def __init__(self, encoding: Encoding, key: bytes, max_cycles: int | None, rewards: RewardKind) -> None:
        rules = encoding.rules
        self.encoding = encoding
        # The dealer is that of real matches, so deals have the same distribution here and there.
        self.state: Any = rules.new(encoding.options, encoding.seats, Dealer(key))
        self.seat = 0
        """The seat that is to act."""
        self.outcome: Outcome | None = None
        """Outcome of the game; None while it goes on."""
        self.is_truncated = False
        self.rewards: list[float] = [0.0] * encoding.seats
        """Rewards by seat of the last action or move."""
        self._chosen: tuple[Step, ...] = ()
        self._legal: dict[int, Step] = {}
        self._kind = rewards
        self._max_cycles = max_cycles
        self._turns = [0] * encoding.seats
        """Turns by seat that are over."""
        self._ask(())

    @property
    def is_over(self) -> bool:
        """Whether the game has ended or was truncated."""
        return self.outcome is not None or self.is_truncated

    def observe(self, seat: int) -> Vector:
        """Return what a seat observes."""
        return self.encoding.observation(self.state, seat, self._chosen if seat == self.seat else ())

    def mask(self, seat: int) -> Mask:
        """Return 1 for each legal action of a seat; 0 for all actions if it is not to act.

        If other seats saw the mask, it would show them the hand of the seat that is to act.
        """
        return self.encoding.mask(self._legal if seat == self.seat else ())

    def is_legal(self, action: int) -> bool:
        """Return whether the seat to act may choose an action."""
        return action in self._legal

    def act(self, action: int) -> None:
        """Choose a step for the seat to act; as soon as its move is complete, play it.

        Args:
            action: a legal action.
        """
        chosen = (*self._chosen, self._legal[action])
        move = self.encoding.rules.move_of(chosen)
        if move is None:
            self.rewards = [0.0] * self.encoding.seats
            self._ask(chosen)
        else:
            self.play(move)

    def play(self, move: Any) -> None:
        """Play a whole move of the seat to act.

        Raises:
            IllegalMove: the move breaks a rule; the game is as it was.
        """
        rules, before = self.encoding.rules, self.state
        self.state = rules.deliver(rules.play(before, move))
        self.outcome = rules.outcome(self.state)
        self.rewards = self._reward(before)
        if self.outcome is not None:
            self._chosen, self._legal = (), {}
            return
        self._turns[self.seat] += not rules.is_same_turn(self.state)
        self._ask(())
        self.is_truncated = self._turns[self.seat] == self._max_cycles

    def _ask(self, chosen: tuple[Step, ...]) -> None:
        """Set the seat that is to act, and its legal steps."""
        if not chosen:
            self.seat = self.encoding.rules.to_move(self.state)
        self._chosen, self._legal = chosen, self.encoding.legal(self.state, chosen)

    def _reward(self, before: Any) -> list[float]:
        """Return the rewards by seat for a move, from the state before it."""
        encoding = self.encoding
        if self._kind == "points":
            gains = [after - old for old, after in zip(before.scores, self.state.scores, strict=True)]
            return [_compare(gains, seat) / _POINTS for seat in range(encoding.seats)]
        if self.outcome is None:
            return [0.0] * encoding.seats
        return rank_rewards(self.outcome, encoding.rules.teams(encoding.options, encoding.seats))


def read_rewards(encoding: Encoding, kind: object) -> RewardKind:
    """Return a kind of rewards, after checking it.

    Raises:
        BadRequest: there is no such kind of reward, or the game has no points before its end.
    """
    if kind not in get_args(RewardKind):
        raise BadRequest(f"rewards is 'outcome' or 'points', not {describe(kind)}")
    state = encoding.rules.new(encoding.options, encoding.seats, Dealer(bytes(32)))
    if kind == "points" and not hasattr(state, "scores"):
        raise BadRequest(f"{encoding.rules.title} has no points before its end, so its rewards are 'outcome'")
    return kind  # type: ignore[return-value]  # one of them


def read_cycles(max_cycles: int | None) -> int | None:
    """Return the number of turns after which a game is truncated; None: never.

    Raises:
        BadRequest: it is not a whole number from 1 up.
    """
    return None if max_cycles is None else read_whole("max_cycles", max_cycles, 1)


def rank_rewards(outcome: Outcome, teams: tuple[tuple[int, ...], ...]) -> list[float]:
    """Return by seat the reward at the end: the share of opponents ranked behind it minus the share ranked before it.

    Args:
        outcome: outcome of a game in which no seat was dropped.
        teams: seats that win and lose together.

    >>> rank_rewards(Outcome(((2,), (0,), (1,)), (3, 1, 5), (0, 1, 2), "q.end.finished"), ())
    [0.0, -1.0, 1.0]
    """
    rank = {seat: number for number, group in enumerate(outcome.ranking) for seat in group}
    team = {seat: number for number, group in enumerate(teams) for seat in group}
    rewards = []
    for seat in sorted(rank):
        others = [rank[other] for other in rank if other != seat and team.get(other, other) != team.get(seat, seat)]
        ahead = sum(other > rank[seat] for other in others) - sum(other < rank[seat] for other in others)
        rewards.append(ahead / len(others) if others else 0.0)
    return rewards


def _compare(gains: list[int], seat: int) -> float:
    """Return the gain of a seat minus the average gain of the others."""
    return gains[seat] - (sum(gains) - gains[seat]) / (len(gains) - 1)
