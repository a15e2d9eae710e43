"""How a match stands, and what its seats are asked because of that."""

from typing import Any

import msgspec
from msgspec import Raw

from ..games.base import Game, Outcome
from . import commands as c
from . import events as e
from .fouls import Foul
from .nonces import Nonces
from .phases import Phase, Request
from .setup import MatchSetup
from .telling import result_of, told_of_end, told_of_play
from .timekeeper import Timekeeper

_encode = msgspec.msgpack.Encoder().encode


class MatchState:
    """The state of a match, which the fold alone changes.

    Args:
        game: the rules.
        setup: what was settled beforehand.

    Raises:
        BadSetup: the options are not the game's.
    """

    def __init__(self, game: Game[Any, Any, Any], setup: MatchSetup) -> None:
        self.game = game
        self.setup = setup
        self.options = game.parse_options(setup.options)
        self.teams = game.teams(self.options, len(setup.names))
        self.phase = Phase.NEW
        self.state: Any = None
        """The game's; None before the deal."""
        self.turn = 0
        self.nonces = Nonces(setup.match, len(setup.names))
        self.fouls: list[Foul] = []
        self.result: c.Result | None = None
        self._outcome: Outcome | None = None
        self._out: set[int] = set()
        self._in = tuple(range(len(setup.names)))
        """The other seats, ascending."""
        self._time = Timekeeper(setup)
        self._acks = 0
        self._now_ms = 0.0

    def is_out(self, seat: int) -> bool:
        """Tell whether a seat has fouled."""
        return seat in self._out

    @property
    def open_requests(self) -> dict[int, Request]:
        """The open requests by seat."""
        return dict(self._time.requests)

    def _expel(self, seat: int) -> None:
        self._out.add(seat)
        self._in = tuple(seat for seat in self._in if seat not in self._out)

    def _final(self, void: str | None) -> c.Result:
        return result_of(self._outcome, self.fouls, self._time.used_ms, out=self._out, turns=self.turn, void=void)

    def _view(self, seat: int) -> Raw:
        return Raw(_encode(self.game.view(self.state, seat)))

    def _demand_ack(self, seat: int) -> tuple[int, float]:
        """Open the request of an `ack`; return its number and its limit."""
        self._acks += 1
        request = self._time.ask(seat, e.AckReceived, self._acks, self.setup.time.per_move_ms, self._now_ms)
        return request.number, request.limit_ms

    def _started(self, seat: int, ack: int | None, limit_ms: float | None) -> c.StartSeat:
        return c.StartSeat(seat=seat, view=self._view(seat), ack=ack, limit_ms=limit_ms)

    def _asked(self, seat: int, request: Request) -> c.Command:
        """Return the command of an open request, the first time and whenever it is made again."""
        number, limit_ms = request.number, request.limit_ms
        if self.phase is Phase.OFFERING:
            return c.OfferMatch(seat=seat, limit_ms=limit_ms, teams=self.teams)
        if self.phase is Phase.REVEALING:
            return c.AskNonce(seat=seat, limit_ms=limit_ms)
        if self.phase is Phase.PLAYING:
            return self._asked_move(seat, limit_ms, goes_on=self.game.is_same_turn(self.state))
        if self.phase is Phase.STARTING:
            return self._started(seat, number, limit_ms)
        if self.phase is Phase.TELLING:
            return told_of_play(self.game.news(self.state), [seat], self.turn, seat, (number, limit_ms))[0]
        return told_of_end(self._final(None), seat, number, limit_ms)

    def _asked_move(self, seat: int, limit_ms: float, *, goes_on: bool) -> c.AskMove:
        return c.AskMove(
            seat=seat,
            turn=self.turn,
            view=self._view(seat),
            limit_ms=limit_ms,
            bank_ms=self._time.bank_ms(seat),
            goes_on=goes_on,
        )
