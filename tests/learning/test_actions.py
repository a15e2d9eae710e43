"""Actions from programs: a number of any kind is an action, and for everything else there is an error in words."""

from typing import Any

import numpy as np
import pytest

import referee.learning.pettingzoo
from referee.errors import RefereeError

MAKERS = pytest.mark.parametrize("make", [referee.learning.pettingzoo.env, referee.learning.pettingzoo.raw_env])


def begun(make: Any) -> tuple[Any, int]:
    """Return an environment in its first turn, and a legal action."""
    made = make("quincy")
    made.reset(seed=1)
    return made, int(np.flatnonzero(made.observe(made.agent_selection)["action_mask"])[0])


@MAKERS
@pytest.mark.parametrize("kind", [int, np.int64, np.array, lambda action: np.array([action])])
def test_a_number_of_any_kind_is_an_action(make: Any, kind: Any) -> None:
    """NumPy's numbers are actions, and so are arrays with one number, as `argmax` returns them with an axis."""
    made, action = begun(make)
    made.step(kind(action))
    assert not any(made.terminations.values())


@MAKERS
@pytest.mark.parametrize("action", [None, "x", 1.5, np.array(1.5), np.array([1, 2]), -1, 10**6, [3]], ids=repr)
def test_what_is_no_action_gets_a_sentence(make: Any, action: Any) -> None:
    """The error lists the possible actions, and the game does not end."""
    made, legal = begun(make)
    with pytest.raises(RefereeError, match="an action of player_0 is a number from 0 to 603, not "):
        made.step(action)
    made.step(legal)


@MAKERS
def test_an_agent_that_is_out_has_none(make: Any) -> None:
    """PettingZoo asks each such agent once more, with None."""
    made, _ = begun(make)
    while not any(made.terminations.values()):
        made.step(np.flatnonzero(made.observe(made.agent_selection)["action_mask"])[0])
    with pytest.raises(RefereeError, match=r"the game is over for player_.: its only action is None, not 3"):
        made.step(3)
    made.step(None)
    made.step(None)
    assert made.agents == []


def test_before_a_reset_there_is_none() -> None:
    """There is no observation then, and an unknown agent never has one."""
    made = referee.learning.pettingzoo.raw_env("quincy")
    for ask in (lambda: made.step(1), lambda: made.observe("player_0")):
        with pytest.raises(RefereeError, match=r"no game is played now: call reset\(\) first"):
            ask()
    made.reset()
    with pytest.raises(RefereeError, match="there is no agent 'player_9'; there are player_0, player_1"):
        made.observe("player_9")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((["q"],), r"the game \['q'\] has no encoding"),
        (("quincy", "2"), "seats is a whole number, not '2'"),
        (("quincy", 2.0), r"seats is a whole number, not 2\.0"),
        (("quincy", 2, 3), "options is a dict, .*, not 3"),
    ],
)
def test_wrong_arguments_get_a_sentence(arguments: tuple[Any, ...], error: str) -> None:
    """The arguments are those that make an environment."""
    with pytest.raises(RefereeError, match=error):
        referee.learning.pettingzoo.env(*arguments)
    with pytest.raises(RefereeError, match="max_cycles is a whole number, not '3'"):
        referee.learning.pettingzoo.raw_env("quincy", max_cycles="3")  # type: ignore[arg-type]  # a program need not look at types
    with pytest.raises(RefereeError, match="seed is at least 0, not -1"):
        referee.learning.pettingzoo.raw_env("quincy").reset(seed=-1)
