"""The door with a token for every seat: of launched programs, and of players that come back into a match.

Knows tokens and seats. Refuses to know who starts the programs.
"""

import hmac
from collections.abc import Sequence

from twisted.internet.defer import Deferred

from .clock import Clock
from .lobby import Door
from .patience import Patience
from .player_protocol import PlayerLink


class ReservedSeats(Door):
    """The door with a token for every seat.

    Args:
        clock: the reactor, or a test's clock.
        tokens: by seat.
        start_s: how long until a seat nobody took stays vacant.
        names: of the players by seat, if a host sends them here.
        may_return: whether a player whose connection ended is waited for, and a new one takes the place of the old.
        patience: as for every door.
    """

    def __init__(
        self,
        clock: Clock,
        tokens: Sequence[str],
        start_s: float,
        *,
        names: Sequence[str] = (),
        may_return: bool = False,
        patience: Patience | None = None,
    ) -> None:
        super().__init__(clock, hello_s=start_s, patience=patience)
        self._names = names
        self._may_return = may_return
        self._tokens = list(tokens)
        self._links: list[PlayerLink | None] = [None] * len(tokens)
        self.done: Deferred[list[PlayerLink | None]] = Deferred()
        """Fires with the links by seat, None for a vacant one."""
        self._limit = self.patience.wait(start_s, self._too_late, start_s)

    def refusal(self, link: PlayerLink) -> tuple[str, str] | None:
        """Refuse who has no token of a free seat."""
        seat = self._seat_of(link)
        if seat is None:
            return "token", "the token is not one of this match"
        older = self._links[seat]
        if seat in self.vacancies or (older is not None and not self._may_return):
            return "seat-taken", "the seat of this token is taken or given up"
        if older is not None:
            self._links[seat] = None
            self._refuse(older, "replaced", "the same token came again on another connection")
        return None

    def seated(self, link: PlayerLink) -> None:
        """Seat the player where its token says."""
        seat = self._seat_of(link)
        assert seat is not None
        self._links[seat] = link
        self._check_full()

    def seat_of(self, token: str) -> int | None:
        """Return the free seat that a token is for; None if there is none."""
        matches = [hmac.compare_digest(token.encode(), known.encode()) for known in self._tokens]
        return self._free(matches.index(True)) if True in matches else None

    def seat_named(self, name: str) -> int | None:
        """Return the free seat of a player; None if there is none."""
        return self._free(self._names.index(name)) if name in self._names else None

    def _free(self, seat: int) -> int | None:
        is_free = self.is_open and self._links[seat] is None and seat not in self.vacancies
        return seat if is_free else None

    def take_back(self, seat: int, link: PlayerLink) -> None:
        """Seat a player that was greeted elsewhere."""
        link.owner, link.token = self, self._tokens[seat]
        if self.is_open:
            self.seated(link)

    def left(self, link: PlayerLink) -> None:
        """Give up the seat of a player that left before the match."""
        seat = self._seat_of(link)
        if seat is not None and self._links[seat] is link:
            self._links[seat] = None
            if not self._may_return:
                self.give_up(seat, "its connection ended before the match began")

    def give_up(self, seat: int, why: str) -> None:
        """Expect nobody on a seat any more."""
        if self.is_open and self._links[seat] is None:
            self.vacancies.setdefault(seat, why)
            self._check_full()

    def close(self) -> None:
        """Wait for nobody any more, either."""
        self._limit.cancel()
        super().close()

    def _seat_of(self, link: PlayerLink) -> int | None:
        given = (link.token or "").encode()
        matches = [hmac.compare_digest(given, token.encode()) for token in self._tokens]
        return matches.index(True) if True in matches else None

    def _too_late(self, start_s: float) -> None:
        for seat, link in enumerate(self._links):
            if link is None:
                self.vacancies.setdefault(seat, f"not connected within {start_s:g} s")
        self._check_full()

    def _check_full(self) -> None:
        if self.is_open and all(link is not None or seat in self.vacancies for seat, link in enumerate(self._links)):
            self.close()
            self.done.callback(list(self._links))
