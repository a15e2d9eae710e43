"""The lobby of a tournament: remote entrants come with their tokens and stay, from match to match."""

from collections.abc import Callable, Mapping

from protocol import ConnectionState

from ...clock import Clock
from .lobby import REPLACED, Lobby, Returns
from .patience import Patience
from .player_protocol import PlayerLink
from .tokens import name_of


class RemotePool(Lobby):
    """Waiting room and reception of remote entrants.

    Whoever comes again with its token takes the place of its older connection, or comes back into its running match.

    Args:
        clock: the reactor, or a test's clock.
        hashes: entrant -> SHA-256 of its token, in hex.
        on_change: called whenever somebody came or left.
        patience: as for every lobby.
    """

    def __init__(
        self,
        clock: Clock,
        hashes: Mapping[str, str],
        on_change: Callable[[], None],
        *,
        patience: Patience | None = None,
    ) -> None:
        super().__init__(clock, hashes, patience=patience)
        self.playing: dict[str, Returns] = {}
        """Match -> who takes its players back."""
        self._on_change = on_change
        self._waiting: dict[str, PlayerLink] = {}

    def is_here(self, name: str) -> bool:
        """Tell whether an entrant waits for a match."""
        return name in self._waiting

    def lend(self, name: str) -> PlayerLink:
        """Hand out an entrant that waits, for one match."""
        return self._waiting.pop(name)

    def take_again(self, link: PlayerLink) -> None:
        """Let a remote player wait for its next match; one whose conversation can't go on has to connect again.

        A launched program is let go: it plays one match.
        """
        name, may_stay = link.name, self.is_open and link.name in self._hashes
        if not may_stay or not link.is_connected or link.connection.state is not ConnectionState.IDLE:
            link.say_goodbye()
            return
        link.owner = self
        older = self._waiting.get(name)
        if older is not None:
            link.say_goodbye()  # it came again meanwhile
            return
        self._waiting[name] = link
        self._on_change()

    def arrived(self, link: PlayerLink) -> None:
        """Take a player back into the match that misses it, or let it wait."""
        for returns in self.playing.values():
            seat = self._seat_returning(link, returns)
            if seat is not None:
                name = name_of(link.token, self._hashes)
                link.name = link.name if name is None else name
                self._welcome(link)
                returns.take_back(seat, link)
                return
        super().arrived(link)

    def refusal(self, link: PlayerLink) -> tuple[str, str] | None:
        """Refuse who has none of the tokens; name who has one."""
        name = name_of(link.token, self._hashes)
        if name is None:
            return "token", "the token is none of this tournament's entrants"
        link.name = name
        older = self._waiting.pop(name, None)
        if older is not None:
            self._refuse(older, *REPLACED)
        return None

    def seated(self, link: PlayerLink) -> None:
        """Let the player wait."""
        self._waiting[link.name] = link
        self._on_change()

    def left(self, link: PlayerLink) -> None:
        """Forget a player that left between two matches."""
        if self._waiting.get(link.name) is link:
            del self._waiting[link.name]
            self._on_change()

    def close(self) -> None:
        """Send everybody home."""
        super().close()
        for link in self._waiting.values():
            link.say_goodbye()
        self._waiting.clear()
