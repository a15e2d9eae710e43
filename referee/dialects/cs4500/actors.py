"""The course's players: each has a strategy, and may misbehave as the configuration of `xclients` says.

A player that raises an error leaves; a player that loops never answers.
"""

from collections import Counter
from typing import Any

from ...plugins import find_game, installed
from .cheats import CHEATS
from .configs import ActorSpec
from .forms import make_choice
from .player_end import Call, PlayerEnd

_NO_SEED = bytes(32)


class Actor:
    """One player; its moves are those of the house player that has the name of its strategy.

    Args:
        spec: its strategy and its misbehaviour.
    """

    def __init__(self, spec: ActorSpec) -> None:
        game = find_game("q")
        self.spec = spec
        self._choose = installed().player(spec.strategy).make(game, game.parse_options({}), _NO_SEED)
        self._calls = Counter[str]()

    def handle_call(self, call: Call, end: PlayerEnd) -> None:
        """Answer a call, unless the player misbehaves at this call."""
        self._calls[call.method] += 1
        if call.method == self.spec.raises_in:
            end.leave(f"{self.spec.name} raises in {call.method}")
        # A player that loops just never answers. To the referee that looks the same, and it uses no processor time.
        elif (call.method, self._calls[call.method]) != (self.spec.loops_in, self.spec.count):
            end.reply(None if call.method != "take-turn" else self.choose(call.view))

    def choose(self, view: Any) -> Any:
        """Choose a JChoice for a view: the cheat's if there is one and it is possible, otherwise the strategy's."""
        cheat = None if self.spec.cheat is None else CHEATS[self.spec.cheat](view)
        return make_choice(self._choose(view) if cheat is None else cheat)

    def handle_disconnect(self) -> None:
        """Do nothing: a player without a connection is not called any more."""
