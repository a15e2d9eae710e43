"""Takes players in: greets each connection, checks its hello, and seats it.

All lobbies greet in the same way. `MatchLobby` seats everybody, or every player with a token of the organiser's, within
waiting periods. `ReservedSeats`, with a token for every seat, and the `RemotePool` of a tournament are in
reserved_seats.py. A match can still take its own players back through a lobby that is closed.

A stall of the referee also prolongs the limits outside of a match: for a hello, a free seat, a return. The rule is that
of limits within a match (Stopwatch). After a stall longer than the margin nobody is late: the limit starts again, twice
at most. Before a limit counts as passed, the sockets are read once more.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any
from typing import Protocol as Interface

from msgspec import Meta, Struct
from twisted.internet.defer import Deferred

from protocol import RemoteProtocolError
from protocol.limits import PROTOCOL_VERSION
from protocol.messages import Hello, Message, Refused, Welcome

from ...clock import Clock, Timer
from ...match.events import Ending, Stage
from ...match.setup import DEFAULT_LAG_MARGIN_MS
from ...match.timekeeper import MAX_EXTENSIONS
from ..event_loop import EventLoop
from .player_protocol import Owner, PlayerLink
from .tokens import find_name

_LOOKS = 2
"""Turns of the loop that a limit still waits for before it counts as passed: the first one accepts a connection, the
second one reads its first bytes."""


class Wait:
    """One time limit that runs.

    Args:
        patience: rule for the limits of the lobby.
        limit_s: seconds from now.
        origin: origin of the awaited player.
        on_end: called when the limit has passed.
    """

    def __init__(self, patience: "Patience", limit_s: float, origin: str, on_end: Callable[[], Any]) -> None:
        self._patience = patience
        self._limit_s = limit_s
        self._origin = origin
        self._on_end = on_end
        self._extensions = 0
        self._looks = 0
        self._begin()

    def cancel(self) -> None:
        """Stop waiting, if the limit still runs."""
        if self._timer.active():
            self._timer.cancel()

    def _begin(self) -> None:
        self._begun = self._patience.loop.now()
        self._timer: Timer = self._patience.clock.callLater(self._limit_s, self._on_limit)

    def _on_limit(self) -> None:
        if self._extensions < MAX_EXTENSIONS and self._patience.has_stalled(self._begun, self._origin):
            self._extensions += 1
            self._begin()
        else:
            self._look()

    def _look(self) -> None:
        if self._looks == _LOOKS:
            self._on_end()
        else:
            self._looks += 1
            self._timer = self._patience.clock.callLater(0, self._look)


class Patience:
    """The rule for all limits of one lobby.

    Args:
        clock: the reactor, or a test's clock.
        loop: event loop whose stalls excuse a player.
        margin_ms: longest stall that excuses nobody, in milliseconds.
    """

    def __init__(self, clock: Clock, loop: EventLoop, margin_ms: float = DEFAULT_LAG_MARGIN_MS) -> None:
        self.clock = clock
        self.loop = loop
        self._margin_s = margin_ms / 1000

    def wait(self, limit_s: float, on_end: Callable[..., Any], *args: Any, origin: str = "") -> Wait:
        """Call a function after a limit, unless the wait is cancelled.

        Args:
            limit_s: seconds from now.
            on_end: the function.
            args: its arguments.
            origin: answers for the player who is awaited; no stall is an excuse while it storms the lobby.
        """
        return Wait(self, limit_s, origin, lambda: on_end(*args))

    def has_stalled(self, since: float, origin: str) -> bool:
        """Return whether the loop has stalled for longer than the margin.

        Args:
            since: monotonic seconds.
            origin: answers for the player who is awaited.
        """
        return self.loop.lag.longest_stall(since, self.loop.now(), origin) > self._margin_s


HELLO_S = 3.0
"""Seconds that a connection may take to say hello; CS4500's limit for a name."""
REPLACED = "replaced", "the same token came again on another connection"
"""Code and reason for closing a connection, perhaps a dead one, that a newer one replaces."""
_NOTED_BYTES = 60
"""Most bytes of a bad hello that a note quotes."""


class Returns(Interface):
    """Takes back players whose connection was lost: a running match, or the lobby of a resumed one."""

    def find_seat(self, token: str | None, name: str | None) -> int | None:
        """Return the seat of a player that may come back; None if there is none.

        Args:
            token: the token of its hello: the resume token, unless `name` is given.
            name: its name, if its token is one of the organiser's: a program that was started again has no other token.
        """

    def take_back(self, seat: int, link: PlayerLink) -> None:
        """Go on with a player on a new connection."""


class SignUpPolicy(Struct, frozen=True, kw_only=True):
    """When sign-up ends.

    After a waiting period with at least min_players the match begins; with fewer, the next period begins and those who
    came stay. max_players end the wait at once. If a game can't be played by some number in between, so many players
    wait for more, as if they were too few. After the last period, the last to come are refused.
    """

    min_players: Annotated[int, Meta(ge=1, le=12)] = 2
    max_players: Annotated[int, Meta(ge=1, le=12)] = 4
    step: Annotated[int, Meta(ge=1, le=12)] = 1
    """Step from one number of players that the game allows to the next."""
    wait_s: Annotated[float, Meta(gt=0)] = 20.0
    """Length of one waiting period."""
    tries: Annotated[int, Meta(ge=1)] = 2
    """Number of waiting periods."""


class Absence(Struct, frozen=True, kw_only=True):
    """Reason why nobody sits on a seat."""

    detail: str
    code: str | None = None
    """Code of the protocol's rule that the player broke before it was seated."""
    stage: Stage | None = None
    """Stage that its player had reached."""
    evidence: str = ""
    """Bytes that came in place of a hello, in hex."""
    ending: Ending | None = None
    """Reason that its program's end or a refused hello gives."""


class Lobby(Owner):
    """Greets connections; a subclass decides which players to seat.

    Args:
        clock: the reactor, or a test's clock.
        hashes: name -> SHA-256 of the token, in hex, for the players that have a token of the organiser's.
        hello_s: seconds that a connection may take to say hello.
        patience: the rule for its limits; None: a rule with a loop of its own, which never stalls.
    """

    def __init__(
        self,
        clock: Clock,
        hashes: Mapping[str, str] = MappingProxyType({}),
        *,
        hello_s: float = HELLO_S,
        patience: Patience | None = None,
    ) -> None:
        self.clock = clock
        self.patience = patience or Patience(clock, EventLoop(clock, clock.seconds))
        self._hashes = hashes
        self._hello_s = hello_s
        self.greeting: dict[PlayerLink, Wait] = {}
        """Connections that have not said hello, each with the limit for that."""
        self._loop = self.patience.loop
        self.is_open = True
        self.returns: Returns | None = None
        """Match that takes its players back once the lobby is closed."""
        self.vacancies: dict[int, Absence] = {}
        """Seat -> why nobody sits there."""
        self.note: Callable[..., None] = lambda _event, **_facts: None
        """Takes what happens in the lobby, for the referee's diagnostics."""

    def on_open(self, link: PlayerLink) -> None:
        """Begin to wait for a connection's hello; make room if too many connections have not said it."""
        self.note("connection-opened", address=link.address)
        if link.has_socket:
            self._loop.sockets.watch(link)
        self._loop.lag.storms.count(link.origin)
        self.greeting[link] = self.patience.wait(self._hello_s, self._silent, link, origin=link.origin)
        self._make_room(link)

    def _make_room(self, link: PlayerLink) -> None:
        """Count a connection without a seat until it has one or ends; the oldest of too many has to go.

        That is fair: an honest player says hello at once, and is not counted any more.
        """
        link.on_end = self._loop.origins.discard
        oldest = self._loop.origins.add(link, link.origin)
        if oldest is not None:
            # # Two turns of the loop later its socket was read: a player that came in a crowd may have said hello by
            # then.
            self.clock.callLater(0, self.clock.callLater, 0, self._make_way, oldest)

    @staticmethod
    def _make_way(link: PlayerLink) -> None:
        """Cut off a connection, in any lobby, that has said nothing, or has not gone after a goodbye."""
        if link.owner is None:
            link.cut_off()
        elif isinstance(link.owner, Lobby):
            link.owner.push_out(link)

    def push_out(self, link: PlayerLink) -> None:
        """Cut off a connection that still has not said hello."""
        if link in self.greeting:
            self._stop_waiting(link)
            link.cut_off()
            self.note("connection-pushed-out", address=link.address)

    def on_message(self, link: PlayerLink, message: Message, first_byte: float, at: float) -> None:
        """Take a hello; after it nothing may come before the match."""
        self._stop_waiting(link)
        assert isinstance(message, Hello), "the connection lets nothing else come first"
        link.name, link.token = message.name, message.token
        if message.version != PROTOCOL_VERSION:
            detail = f"this referee speaks version {PROTOCOL_VERSION}, not {message.version}"
            self._refuse(link, "version", detail)
            return
        self.on_hello(link)

    def on_hello(self, link: PlayerLink) -> None:
        """Seat a player that has said hello, take it back into its match, or refuse it."""
        if not self.is_open:
            self._take_back(link)
            return
        refusal = self.find_refusal(link)
        if refusal is not None:
            self._refuse(link, *refusal)
            return
        self._welcome(link)
        self.seat(link)

    def _welcome(self, link: PlayerLink) -> None:
        self.note("connection-welcomed", address=link.address, name=link.name)
        self._loop.origins.discard(link)
        link.send(Welcome(version=PROTOCOL_VERSION, referee="referee"))

    def _take_back(self, link: PlayerLink) -> None:
        seat = None if self.returns is None else self._seat_returning(link, self.returns)
        if seat is None or self.returns is None:
            self._refuse(link, "closed", "sign-up is over")
            return
        self._welcome(link)
        self.returns.take_back(seat, link)

    def _seat_returning(self, link: PlayerLink, returns: Returns) -> int | None:
        return returns.find_seat(link.token, find_name(link.token, self._hashes))

    def on_breach(self, link: PlayerLink, error: RemoteProtocolError) -> None:
        """Close the connection: it is no player, or not any more."""
        self._stop_waiting(link)
        self.on_leave(link)
        self._refuse(link, str(error.code), error.detail, error.evidence)

    def on_loss(self, link: PlayerLink, detail: str) -> None:
        """Forget a connection that ended before the match."""
        self._stop_waiting(link)
        self.on_leave(link)

    def close(self) -> None:
        """Admit nobody any more, and refuse all connections that have not said hello."""
        self.is_open = False
        for link in list(self.greeting):
            self._stop_waiting(link)
            self._refuse(link, "closed", "sign-up is over")

    @abstractmethod
    def find_refusal(self, link: PlayerLink) -> tuple[str, str] | None:
        """Return code and reason if a player is refused, else None."""

    @abstractmethod
    def seat(self, link: PlayerLink) -> None:
        """Seat a player that was welcomed."""

    @abstractmethod
    def on_leave(self, link: PlayerLink) -> None:
        """Take the end of a connection before the match."""

    def _silent(self, link: PlayerLink) -> None:
        del self.greeting[link]
        self._refuse(link, "silent", f"no hello within {self._hello_s:g} s", link.connection.pending)

    def _refuse(self, link: PlayerLink, code: str, reason: str, sent: bytes = b"") -> None:
        sent_text = sent[:_NOTED_BYTES].decode(errors="backslashreplace")
        self.note("connection-refused", address=link.address, name=link.name, code=code, reason=reason, sent=sent_text)
        link.say_goodbye(Refused(code=code, reason=reason))
        if link.is_connected:
            self._make_room(link)  # the peer may never read the refusal, and stay

    def _stop_waiting(self, link: PlayerLink) -> None:
        waiting = self.greeting.pop(link, None)
        if waiting is not None:
            waiting.cancel()


class MatchLobby(Lobby):
    """The lobby of one match: seats in order of arrival, names unique.

    If the organiser has given out tokens, name and seat follow from the token, not from the hello. A second connection
    with the same token replaces the first one, which may be dead.

    Args:
        clock: the reactor, or a test's clock.
        policy: rule for the end of sign-up.
        hashes: name -> SHA-256 of its token, in the order of the seats; None: everybody is seated.
        on_change: called with the names seated so far whenever they change.
        hello_s: seconds that a connection may take to say hello.
        patience: rule for its limits; see Lobby.
    """

    def __init__(
        self,
        clock: Clock,
        policy: SignUpPolicy,
        hashes: Mapping[str, str] | None = None,
        *,
        on_change: Callable[[list[str]], None] = lambda names: None,
        hello_s: float = HELLO_S,
        patience: Patience | None = None,
    ) -> None:
        super().__init__(clock, hashes or {}, hello_s=hello_s, patience=patience)
        self._is_open_to_all = hashes is None
        self._policy = policy
        self._on_change = on_change
        self._links: list[PlayerLink] = []
        self._tries_left = policy.tries
        self.done: Deferred[list[PlayerLink]] = Deferred()
        """Fires with the links by seat; they are fewer than min_players if too few came."""
        self._period = self.patience.wait(policy.wait_s, self._end_period)

    def find_refusal(self, link: PlayerLink) -> tuple[str, str] | None:
        """Refuse a name that is taken, or a wrong token; a right token decides the player's name."""
        if self._is_open_to_all:
            is_taken = any(link.name == other.name for other in self._links)
            return ("name-taken", f"there is a player named {link.name} already") if is_taken else None
        name = find_name(link.token, self._hashes)
        if name is None:
            return "token", "the token is not one of the organiser's"
        link.name = name
        for other in [other for other in self._links if other.name == name]:
            self._links.remove(other)
            self._refuse(other, *REPLACED)
        return None

    def seat(self, link: PlayerLink) -> None:
        """Seat the player; the last seat ends sign-up."""
        self._links.append(link)
        self._on_change([other.name for other in self._links])
        if len(self._links) == self._policy.max_players:
            self._finish()

    def on_leave(self, link: PlayerLink) -> None:
        """Free the seat of a player that left during sign-up."""
        if link in self._links and self.is_open:
            self._links.remove(link)
            self._on_change([other.name for other in self._links])

    def close(self) -> None:
        """Stop waiting for players, too."""
        self._period.cancel()
        super().close()

    def _end_period(self) -> None:
        self._tries_left -= 1
        surplus = self._count_surplus()
        if surplus == 0 or not self._tries_left:
            self._refuse_last(max(surplus, 0))
            self._finish()
        else:
            self._period = self.patience.wait(self._policy.wait_s, self._end_period)

    def _count_surplus(self) -> int:
        """Return how many seated players have to go before the others can play; negative if too few are seated."""
        beyond = len(self._links) - self._policy.min_players
        return beyond % self._policy.step if beyond >= 0 else beyond

    def _refuse_last(self, count: int) -> None:
        """Refuse the players that came last."""
        seats = len(self._links) - count
        for link in self._links[seats:]:
            self._links.remove(link)
            self._refuse(link, "closed", f"sign-up is over, and the match is played by {seats} players")

    def _finish(self) -> None:
        if not self._is_open_to_all:
            self._links.sort(key=lambda link: list(self._hashes).index(link.name))
        self.close()
        self.done.callback(list(self._links))
