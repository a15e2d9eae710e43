"""Lobbies whose players all have a token: that of one match with a token a seat, and that of a tournament's entrants.

`ReservedSeats` takes in launched programs, and players that come back into a match. Remote entrants come with their
tokens into `RemotePool`, where they stay from match to match.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from protocol import ConnectionState, RemoteProtocolError

from ...clock import Clock
from ...match.events import Ending, Stage
from ...match.fouls import describe_processor_time
from ...text import counted
from .lobby import REPLACED, Absence, Lobby, Patience, Returns
from .player_protocol import PlayerLink
from .tokens import find_index, find_name

STRANGER = "the token is not one of this match"
"""Reason for the refusal of a hello without the token of a seat."""


class ReservedSeats(Lobby):
    """The lobby with a token for every seat.

    Args:
        clock: the reactor, or a test's clock.
        tokens: tokens by seat.
        start_s: seconds until a seat that nobody took stays vacant.
        names: names of the players by seat, if a tournament sends them here.
        may_return: whether a seat waits for its player if the connection ended, and a newer connection replaces an
            older one.
        patience: rule for its limits; see Lobby.
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
        """Fires with the links by seat; None for a vacant one."""
        self.origins: Mapping[str, int] = {}
        """Private socket -> the seat whose program alone can reach it."""
        self.find_processor_use: Callable[[int], dict[str, Any]] = lambda seat: {}
        """Returns what the program of a seat is doing, for describe_processor_time; empty if that is not known."""
        self._strangers: set[int | None] = set()
        """Seats whose program said hello with a wrong token; None stands for an unknown seat."""
        self._limit = self.patience.wait(start_s, self._end_wait, start_s)

    def find_refusal(self, link: PlayerLink) -> tuple[str, str] | None:
        """Refuse a player without the token of a free seat."""
        seat = find_index(link.token, self._tokens)
        if seat is None:
            self._strangers.add(self.origins.get(link.origin))
            return "token", STRANGER
        older = self._links[seat]
        if seat in self.vacancies or (older is not None and not self._may_return):
            return "seat-taken", "the seat of this token is taken or given up"
        if older is not None:
            self._links[seat] = None
            self._refuse(older, *REPLACED)
        return None

    def seat(self, link: PlayerLink) -> None:
        """Seat the player where its token belongs."""
        seat = find_index(link.token, self._tokens)
        assert seat is not None
        self._links[seat] = link
        self._check_full()

    def find_seat(self, token: str | None, name: str | None) -> int | None:
        """Return the free seat of a player, by its name if that is proven, else by its token; None if there is none."""
        if name is None:
            return self._free(find_index(token, self._tokens))
        return self._free(self._names.index(name)) if name in self._names else None

    def _free(self, seat: int | None) -> int | None:
        is_free = seat is not None and self.is_open and self._links[seat] is None and seat not in self.vacancies
        return seat if is_free else None

    def take_back(self, seat: int, link: PlayerLink) -> None:
        """Seat a player that another lobby has greeted."""
        link.owner, link.token = self, self._tokens[seat]
        if self.is_open:
            self.seat(link)

    def on_leave(self, link: PlayerLink) -> None:
        """Give up the seat of a player that left before the match."""
        seat = find_index(link.token, self._tokens)
        if seat is not None and self._links[seat] is link:
            self._links[seat] = None
            if not self._may_return:
                self.give_up(seat, "its connection ended before the match began")

    def give_up(self, seat: int, why: str, ending: Ending | None = None) -> None:
        """Stop waiting for a seat's player.

        Args:
            seat: seat of the player.
            why: the reason, in one sentence.
            ending: ending of the player's program, if it ended.
        """
        if self.is_open and self._links[seat] is None:
            ending = Ending.STRANGER if seat in self._strangers else ending
            self.vacancies.setdefault(seat, Absence(detail=why, ending=ending))
            self._check_full()

    def on_breach(self, link: PlayerLink, error: RemoteProtocolError) -> None:
        """Give up the seat of a program that broke the protocol here, if it is known whose program it is."""
        is_greeted = bool(link.token)
        seat = find_index(link.token, self._tokens) if is_greeted else self._seat_behind(link, error.evidence)
        if seat is not None and not self._may_return and self.is_open and self._links[seat] in (None, link):
            stage, where = (Stage.GREETED, "after") if is_greeted else (Stage.NEW, "in place of")
            detail, evidence = f"{where} its hello: {error.detail}", error.evidence.hex()
            absence = Absence(detail=detail, code=str(error.code), stage=stage, evidence=evidence)
            self.vacancies.setdefault(seat, absence)
        super().on_breach(link, error)
        self._check_full()

    def close(self) -> None:
        """Stop waiting for players, too."""
        self._limit.cancel()
        super().close()

    def _seat_behind(self, link: PlayerLink, data: bytes) -> int | None:
        """Return the free seat of a program without a hello, by its private socket or by a token among its bytes."""
        sent = (seat for seat, token in enumerate(self._tokens) if token.encode() in data)
        return self._free(self.origins.get(link.origin, next(sent, None)))

    def _end_wait(self, start_s: float) -> None:
        silent = {self._seat_behind(link, _received_bytes(link)): link for link in self.greeting}
        for seat, link in enumerate(self._links):
            if link is None:
                absence = _describe_silence(silent.get(seat), start_s, is_sure=None not in silent)
                # # Look before the lobby closes its connections: then a program that waited for a message begins to
                # compute.
                use = self.find_processor_use(seat)
                doing = describe_processor_time(**use)
                absence = replace(absence, detail=f"{absence.detail}{doing}", ending=use.get("ending"))
                if seat not in silent and self._strangers & {seat, None}:
                    whose = "its" if seat in self._strangers else "a"
                    detail = f"{whose} hello was refused: {STRANGER}; no other came within {start_s:g} s"
                    absence = Absence(detail=detail, ending=Ending.STRANGER)
                self.vacancies.setdefault(seat, absence)
        self._check_full()

    def _check_full(self) -> None:
        if self.is_open and all(link is not None or seat in self.vacancies for seat, link in enumerate(self._links)):
            self.close()
            self.done.callback(list(self._links))


def _received_bytes(link: PlayerLink) -> bytes:
    """Return the bytes of a connection's incomplete or bad message."""
    return link.connection.pending or link.connection.last_body


def _describe_silence(link: PlayerLink | None, start_s: float, *, is_sure: bool) -> Absence:
    """Return why the seat of a program that did not say hello in time stays vacant.

    Args:
        link: its connection; None if none is known to be its own.
        start_s: length of the wait, in seconds.
        is_sure: whether it is known to which program each connection belongs.
    """
    if link is None and is_sure:
        return Absence(detail=f"not connected within {start_s:g} s")
    if link is None:
        return Absence(detail=f"no hello within {start_s:g} s; there were connections that sent none")
    count = link.bytes_received
    sent = f"{counted(count, 'byte')} came, and no complete message" if count else "nothing came"
    return Absence(detail=f"connected, but no hello within {start_s:g} s: {sent}", evidence=_received_bytes(link).hex())


class RemotePool(Lobby):
    """Waiting room and reception of remote entrants.

    A second connection with the same token replaces the first one, or takes the player back into its running match.

    Args:
        clock: the reactor, or a test's clock.
        hashes: entrant -> SHA-256 of its token, in hex.
        on_change: called whenever an entrant came or left.
        patience: rule for its limits; see Lobby.
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
        """Match -> its runner or lobby, which takes its players back."""
        self._on_change = on_change
        self._waiting: dict[str, PlayerLink] = {}

    def is_here(self, name: str) -> bool:
        """Return whether an entrant waits for a match."""
        return name in self._waiting

    def acquire(self, name: str) -> PlayerLink:
        """Take the link of an entrant that waits, for one match."""
        return self._waiting.pop(name)

    def release(self, link: PlayerLink) -> None:
        """Let a remote player wait for its next match; if its conversation can't go on, it has to connect again.

        A launched program gets a goodbye: it plays one match.
        """
        name, may_stay = link.name, self.is_open and link.name in self._hashes
        if not may_stay or not link.is_connected or link.connection.state is not ConnectionState.IDLE:
            link.say_goodbye()
            return
        link.owner = self
        older = self._waiting.get(name)
        if older is not None:
            link.say_goodbye()  # it has a newer connection, which waits already
            return
        self._waiting[name] = link
        self._on_change()

    def on_hello(self, link: PlayerLink) -> None:
        """Take a player back into the match that misses it, or let it wait."""
        for returns in self.playing.values():
            seat = self._seat_returning(link, returns)
            if seat is not None:
                name = find_name(link.token, self._hashes)
                link.name = link.name if name is None else name
                self._welcome(link)
                returns.take_back(seat, link)
                return
        super().on_hello(link)

    def find_refusal(self, link: PlayerLink) -> tuple[str, str] | None:
        """Refuse a wrong token; a right one decides the player's name."""
        name = find_name(link.token, self._hashes)
        if name is None:
            return "token", "the token belongs to no entrant of this tournament"
        link.name = name
        older = self._waiting.pop(name, None)
        if older is not None:
            self._refuse(older, *REPLACED)
        return None

    def seat(self, link: PlayerLink) -> None:
        """Let the player wait."""
        self._waiting[link.name] = link
        self._on_change()

    def on_leave(self, link: PlayerLink) -> None:
        """Forget a player that left between two matches."""
        if self._waiting.get(link.name) is link:
            del self._waiting[link.name]
            self._on_change()

    def close(self) -> None:
        """Say goodbye to everybody."""
        super().close()
        for link in self._waiting.values():
            link.say_goodbye()
        self._waiting.clear()
