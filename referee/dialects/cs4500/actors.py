"""The course's players: a strategy, and what goes wrong with it, as the configuration of `xclients` says.

A player that raises leaves; one that loops never answers, and costs nothing.
"""

from collections import Counter
from typing import Any

from ...plugins import find_game, installed
from .cheats import CHEATS
from .configs import ActorSpec
from .forms import choice_of
from .player_end import Call, PlayerEnd

_NO_SEED = bytes(32)


class Actor:
    """One player, which plays as the house player of its strategy's name does.

    Args:
        spec: what it is.
    """

    def __init__(self, spec: ActorSpec) -> None:
        game = find_game("q")
        self.spec = spec
        self._choose = installed().player(spec.strategy).make(game, game.parse_options({}), _NO_SEED)
        self._calls = Counter[str]()

    def called(self, call: Call, end: PlayerEnd) -> None:
        """Answer a call, unless this is the one that goes wrong."""
        self._calls[call.method] += 1
        if call.method == self.spec.raises_in:
            end.leave(f"{self.spec.name} raises in {call.method}")
        elif (call.method, self._calls[call.method]) != (self.spec.loops_in, self.spec.count):
            end.reply(None if call.method != "take-turn" else self._turn(call.view))

    def _turn(self, view: Any) -> Any:
        cheat = None if self.spec.cheat is None else CHEATS[self.spec.cheat](view)
        return choice_of(self._choose(view) if cheat is None else cheat)

    def lost(self) -> None:
        """Do nothing: a player whose connection ended is asked no more."""
