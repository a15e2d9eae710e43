"""A small neural network that chooses among legal actions, and learns from the results of games."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
HIDDEN = 64
"""Number of hidden units between observation and actions."""
_RATE, _DECAY, _DECAY_OF_SQUARES = 0.002, 0.9, 0.999
"""Parameters of Adam (D. Kingma and J. Ba)."""


class Choice(NamedTuple):
    """One choice, and its result."""

    observation: Floats
    mask: NDArray[np.int8]
    action: int
    worth: float
    """Result of the game for its player, 1 for a win and -1 for a loss; it counts less for earlier choices."""


class Network:
    """A network with one hidden layer.

    Args:
        weights: weights by name, as `fresh` makes them.
    """

    def __init__(self, weights: dict[str, Floats]) -> None:
        self.weights = weights
        self._mean = {name: np.zeros_like(weight) for name, weight in weights.items()}
        self._square = {name: np.zeros_like(weight) for name, weight in weights.items()}
        self._lessons = 0

    @classmethod
    def fresh(cls, length: int, actions: int, source: np.random.Generator) -> "Network":
        """Return an untrained network, which chooses nearly at random.

        Args:
            length: length of an observation.
            actions: number of actions.
            source: random numbers for the first weights.
        """
        first = source.normal(0, 0.1, (length, HIDDEN)).astype(np.float32)
        last = np.zeros((HIDDEN, actions), np.float32)
        bias, last_bias = np.zeros(HIDDEN, np.float32), np.zeros(actions, np.float32)
        return cls({"first": first, "bias": bias, "last": last, "last_bias": last_bias})

    @classmethod
    def load(cls, path: Path) -> "Network":
        """Load a network from a file."""
        with np.load(path) as saved:
            return cls({name: saved[name] for name in saved.files})

    def save(self, path: Path) -> None:
        """Save the network to a file."""
        np.savez_compressed(path, **self.weights)  # type: ignore[arg-type]  # numpy's annotation expects options here

    def chances(self, observation: Floats, mask: NDArray[np.int8]) -> Floats:
        """Return the probability of each action, 0 if it is not legal; works for many observations at once, too."""
        weights = self.weights
        hidden = np.tanh(observation @ weights["first"] + weights["bias"])
        return self._shares(hidden, mask)

    def learn(self, choices: Sequence[Choice]) -> None:
        """Make choices with good results more likely, and the others less likely (R. Williams's REINFORCE)."""
        observed = np.stack([choice.observation for choice in choices])
        mask = np.stack([choice.mask for choice in choices])
        worth = np.array([choice.worth for choice in choices], np.float32)
        hidden = np.tanh(observed @ self.weights["first"] + self.weights["bias"])
        slope = self._shares(hidden, mask)
        slope[np.arange(len(choices)), [choice.action for choice in choices]] -= 1
        slope *= worth[:, None] / len(choices)
        inner = slope @ self.weights["last"].T * (1 - hidden**2)
        self._step(
            {"first": observed.T @ inner, "bias": inner.sum(0), "last": hidden.T @ slope, "last_bias": slope.sum(0)}
        )

    def _shares(self, hidden: Floats, mask: NDArray[np.int8]) -> Floats:
        rated = np.where(mask, hidden @ self.weights["last"] + self.weights["last_bias"], -np.inf)
        raised = np.exp(rated - rated.max(-1, keepdims=True))
        shares: Floats = raised / raised.sum(-1, keepdims=True)
        return shares

    def _step(self, slopes: dict[str, Any]) -> None:
        """Move the weights down the slopes."""
        self._lessons += 1
        for name, slope in slopes.items():
            mean, square = self._mean[name], self._square[name]
            mean += (1 - _DECAY) * (slope - mean)
            square += (1 - _DECAY_OF_SQUARES) * (slope * slope - square)
            ahead = mean / (1 - _DECAY**self._lessons)
            self.weights[name] -= _RATE * ahead / (np.sqrt(square / (1 - _DECAY_OF_SQUARES**self._lessons)) + 1e-8)
