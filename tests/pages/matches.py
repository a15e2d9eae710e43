"""Records to show: an ordinary match, a long one, and one of players that try to break every view.

They are played without a network; no record is written by hand: each follows from the events of the match.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from referee.games.base import Game
from referee.games.q.game import QGame
from referee.games.quincala.game import QuincalaGame
from referee.match import commands as c
from referee.match import events as e
from referee.match.machine import Match
from referee.testing import Choose, ScriptedSeat

from ..driving import drive, random_chooser
from ..match.folding import EXCHANGE, PASS, SEED, place, setup_of
from ..record.records import Story

Q = QGame()
NAMES = ("ada", "bob", "cleo", "dan")
SCRIPT = "</script><script>window.broken=1</script>"
IMAGE = "<img src=x onerror='window.broken=2'>"
QUOTES = """'"><svg onload="window.broken=3">{{data}}&lt;"""
ESCAPE = "\x1b[2J\x1b[31m[/red][bold]\x07\x7f\x85\x9b2J\u202e\u2066\u200f\u061c\u200b\u2028\ue000\u0378\0\t\r\n"
"""One character of each kind that a terminal obeys, hides or confuses, and markup."""
HOSTILE_NAMES = (SCRIPT, IMAGE, QUOTES, ESCAPE)
HOSTILE_MOVE = {"action": SCRIPT + ESCAPE, IMAGE: [QUOTES, None, 1.5, {"deep": [IMAGE]}]}

Deed = Callable[[c.AskMove, float], e.SeatEvent]
"""From a request and the instant at which it was sent, to the event that replaces a move."""


class Actor(ScriptedSeat):
    """A seat that thinks for different times, and does something else in one of its turns.

    Args:
        choose: from a plain view to a plain move.
        seat: its number.
        deed: what it does in its turn number `when`.
        when: counted from 1.
    """

    def __init__(self, choose: Choose, seat: int, deed: Deed | None = None, when: int = 1) -> None:
        super().__init__(choose, nonce=f"b{seat}" * 16)
        self._deed = deed
        self._when = when
        self._times = Random(seat)
        self._asked = 0

    def answer(self, command: c.SeatCommand, sent_ms: float) -> e.SeatEvent | None:
        """Answer after some time, or act."""
        self.takes_ms = round(10 ** self._times.uniform(-0.5, 2.5), 3)
        if isinstance(command, c.AskMove):
            self._asked += 1
            if self._deed is not None and self._asked == self._when:
                return self._deed(command, sent_ms)
        return super().answer(command, sent_ms)


def played(
    choose: Callable[[Match], Choose],
    names: Sequence[str] = NAMES,
    deeds: Sequence[Deed | None] = (),
    game: Game[Any, Any, Any] = Q,
    **fields: Any,
) -> Story:
    """Play a new deal.

    Args:
        choose: from the match to a player of it.
        names: by seat.
        deeds: by seat; what is missing stays honest.
        game: whose rules hold.
        fields: more of the setup.
    """
    settings = {"game": game.name, "names": tuple(names), "nonces": True, **fields}
    match = Match(game, setup_of(len(names), **settings), SEED)
    player = choose(match)
    given = [*deeds, *([None] * len(names))]
    seats = [Actor(player, seat, given[seat]) for seat in range(len(names))]
    return Story(match, tuple(drive(match, seats)), is_fixed=not match.setup.nonces)


def ordinary(turns: int = 10, **fields: Any) -> Story:
    """Place single tiles at random for some turns; then all pass."""
    return played(lambda match: _placing(match, turns), **fields)


def stepped() -> Story:
    """Play Quincala at random: its turns have several steps."""
    return played(
        lambda match: random_chooser(match.game, Random(1), match),
        NAMES[:2],
        game=QuincalaGame(),
        options={"sizes": 3, "max_turns": 20},
    )


def hostile() -> Story:
    """Let the first seats send a monstrous move, an illegal move and bytes that are no message; the last plays on."""
    deeds = (
        lambda command, sent: _moved(command, sent, HOSTILE_MOVE),
        lambda command, sent: _moved(command, sent, place((99, 99, "red-star"))),
        lambda command, sent: e.ProtocolBroken(
            seat=command.seat,
            at_ms=sent + 3.0,
            code="not-msgpack",
            detail=f"{SCRIPT}{IMAGE}{ESCAPE}",
            evidence="c1" * 200,
        ),
    )
    return played(lambda _: lambda view: EXCHANGE if len(view["map"]) < 9 else PASS, HOSTILE_NAMES, deeds)


def _placing(match: Match, turns: int) -> Choose:
    pick = random_chooser(match.game, Random(5), match)

    def _choose(view: Any) -> Any:
        for _ in range(40 if match.turn <= turns else 0):
            move = pick(view)
            if move["action"] == "place":
                return move
        return PASS if match.turn > turns else EXCHANGE

    return _choose


def _moved(command: c.AskMove, sent_ms: float, move: Any) -> e.MoveReceived:
    at_ms = sent_ms + 7.5
    return e.MoveReceived(
        seat=command.seat, at_ms=at_ms, sent_ms=sent_ms, first_byte_ms=at_ms, lag_ms=0.0, turn=command.turn, move=move
    )
