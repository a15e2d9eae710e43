"""The persons at the table of one match: makes their seats, and opens their pages or terminals."""

# The modules that make pages are imported only if a page is opened. Importing Klein installs a reactor, and all these
# imports together make the start of `referee play` slower.

import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from protocol.address import parse_address

from ...errors import BadRequest
from ...games.base import Game
from ...net.matches.programs import InvitedPlayer, Occupant
from ...observers import MatchTransition, Observer
from ...programs.environment import Invitation
from ...programs.player_spec import Launch, PersonPlace
from .seat import PersonSeat
from .terminal import Show, TerminalSeat, read_lines

Open = Callable[[str], None]
"""Opens an address in a browser; returns at once."""


class UserInterface(Struct, frozen=True, kw_only=True):
    """The ways in which persons see a match."""

    show: Show
    say: Callable[[str], None]
    open: Open | None
    """Opens a browser; None: only the link is printed."""
    relays: Mapping[str, int] = MappingProxyType({})
    """Name of a person -> descriptor of the socket to the process with its page; empty: pages are in this process."""


class PersonTable(Observer):
    """The persons of one match.

    Args:
        game: rules of the game.
        launches: all players, by seat or in any order if seats are drawn by lot.
        interface: ways in which persons see the match.

    Raises:
        BadRequest: two persons share the terminal or a socket.
    """

    def __init__(self, game: Game[Any, Any, Any], launches: Sequence[Launch], interface: UserInterface) -> None:
        self._game = game
        self._launches = launches
        self._interface = interface
        self._reactor: Any = None
        self._seats: dict[str, PersonSeat] = {}
        if [launch.person for launch in launches].count(PersonPlace.TERMINAL) > 1:
            raise BadRequest("only one person can play in the terminal; give the others a page, with me:")
        persons = {launch.name for launch in launches if launch.person is not None}
        self.has_persons = bool(persons)
        if interface.relays and interface.relays.keys() != persons:
            raise BadRequest("the sockets do not match the persons; give exactly one for each person")

    @contextlib.asynccontextmanager
    async def opened(self, reactor: Any) -> AsyncIterator[list[Occupant]]:
        """Prepare the seats, and yield the occupants of the table.

        Raises:
            EndpointError: no port is free for the pages.
        """
        self._reactor = reactor
        persons = {launch.name: launch.person for launch in self._launches if launch.person}
        self._seats = {name: PersonSeat(self._game, name, reactor) for name in persons}
        async with contextlib.AsyncExitStack() as stack:
            if self._interface.relays:
                self._open_relays(stack)
            else:
                await self._open_here(persons, stack)
            yield [self._occupant(launch) for launch in self._launches]

    def _open_relays(self, stack: contextlib.AsyncExitStack) -> None:
        """Connect each person's seat to the page at the other end of the person's socket."""
        from .relay import SeatRelay, speak  # noqa: PLC0415  # modules that make pages take long to import

        for name, descriptor in self._interface.relays.items():
            relay = SeatRelay(self._seats[name], self._reactor)
            speak(relay, socket.socket(fileno=descriptor), self._reactor)
            stack.push_async_callback(relay.close)

    async def _open_here(self, persons: Mapping[str, PersonPlace], stack: contextlib.AsyncExitStack) -> None:
        """Open a terminal or a page for each person on this machine."""
        for name, where in persons.items():
            if where is PersonPlace.TERMINAL:
                terminal = TerminalSeat(self._seats[name], self._interface.show, self._reactor.stop)  # as Ctrl-C does
                read_lines(terminal.type, self._reactor)
        on_pages = {name: self._seats[name] for name, where in persons.items() if where is PersonPlace.PAGE}
        if on_pages:
            from .page import open_site  # noqa: PLC0415  # importing Klein installs a reactor, and one runs already here

            site = await open_site(on_pages, self._reactor)
            stack.push_async_callback(site.close, self._reactor)
            for name in on_pages:
                self._interface.say(f"{name} plays at {site.link(name)}")
                if self._interface.open is not None:
                    self._interface.open(site.link(name))

    def on_match_advanced(self, transition: MatchTransition) -> None:
        """Show every person a transition."""
        for seat in self._seats.values():
            seat.take_transition(transition)

    def _occupant(self, launch: Launch) -> Occupant:
        if launch.person is None:
            return launch
        return InvitedPlayer(name=launch.name, invite=partial(self._join, self._seats[launch.name]))

    def _join(self, seat: PersonSeat, invitation: Invitation) -> None:
        """Connect a seat to the referee. If this fails, the seat stays empty, and the referee notices that."""
        where = parse_address(invitation.address)
        from twisted.internet.endpoints import TCP4ClientEndpoint, connectProtocol  # noqa: PLC0415  # imports TLS as well

        connectProtocol(TCP4ClientEndpoint(self._reactor, where.host, where.port), seat.client(invitation)).addErrback(
            lambda _: None
        )
