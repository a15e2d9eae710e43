"""The session of one match: listens, starts the programs, seats the players, runs the match, and cleans up after it."""

import contextlib
import re
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from twisted.internet.defer import Deferred

from protocol import ConnectionState

from ... import __version__
from ...games.base import Game
from ...match.commands import Result
from ...match.machine import Match
from ...programs.environment import Invitation
from ...programs.player_spec import Launch, PlayerError
from ...record.resume import Resumption
from ...record.writer import RecordWriter
from ...settings import Durability
from ...text import counted
from ..event_loop import EventLoop
from ..group_commit import GroupCommit
from ..links.addresses import Ports
from ..links.lobby import Lobby, MatchLobby, Patience, SignUpPolicy
from ..links.player_protocol import LinkFactory, PlayerLink
from ..links.reserved_seats import ReservedSeats
from .journal import Journal
from .programs import InvitedPlayer, MatchPrograms, Occupant, Vacancy, private_sockets
from .runner import MatchPaused, MatchRunner, SeatedPlayers
from .settings import MatchServices, MatchSettings, make_seed, make_setup

LOCAL = "tcp:0:interface=127.0.0.1"
"""Any free port, which only programs on this machine can reach."""


class MatchReport(Struct, frozen=True, kw_only=True):
    """A match that was played."""

    names: tuple[str, ...]
    result: Result
    record: Path
    match: Match
    head: str
    """Hash of the record's result line, over which it is sealed."""


class Gathering(Struct, frozen=True):
    """The players who came to a match, with their lobby, programs and ports."""

    links: Sequence[PlayerLink | None]
    """Links by seat; None where nobody has come."""
    lobby: ReservedSeats
    programs: MatchPrograms
    ports: Ports

    @property
    def is_whole(self) -> bool:
        """Whether all players are there, and have sent nothing but hello."""
        return all(
            link is not None and link.is_connected and link.connection.state is ConnectionState.IDLE
            for link in self.links
        )

    def find_missing(self, match: Match, occupants: Sequence[Occupant]) -> str | None:
        """Return which program did not come back into a resumed match, and why; None if all are there."""
        seats = [seat for seat in sorted(self.lobby.vacancies) if occupants and not match.is_out(seat)]
        return f"{match.setup.names[seats[0]]}: {self.lobby.vacancies[seats[0]].detail}" if seats else None

    async def wait_until(self, opened: "Deferred[MatchSettings]") -> MatchSettings:
        """Wait until the match is opened; return its settings. Until then the programs are stopped.

        A program that ran could think ahead, and would take processor time from the matches that are played.
        """
        self.programs.stop()
        try:
            return await opened
        except BaseException:
            self.dismiss()
            raise
        finally:
            self.programs.resume()

    def dismiss(self) -> None:
        """Say goodbye to all players."""
        for link in self.links:
            if link is not None:
                link.say_goodbye()


class MatchSession:
    """Plays one match.

    Args:
        reactor: Twisted's reactor.
        now: returns monotonic seconds.
        game: the rules.
        settings: settings of the match.
        services: services that it shares with other matches.
    """

    def __init__(
        self,
        reactor: Any,
        now: Callable[[], float],
        game: Game[Any, Any, Any],
        settings: MatchSettings,
        services: MatchServices,
    ) -> None:
        self.reactor = reactor
        self._now = now
        self._game = game
        self._settings = settings
        self._services = services
        self._note = services.observers.note
        self._loop = services.loop or EventLoop(reactor, now)
        if services.loop is None:
            self._loop.lag.note = self._note
        self._commits = services.commits or GroupCommit(reactor, services.terms.durability)
        self._patience = Patience(reactor, self._loop, settings.lag_margin_ms)
        self._programs: tuple[str, ...] = ()
        """The players' programs by seat, as the organiser wrote them, for the record."""
        self.match_name = settings.match or name_match(game.name)
        self._seed = make_seed(settings)
        self._address = ""
        """The referee's address as a player writes it, once the session listens."""

    async def play(
        self, occupants: Sequence[Occupant], address: str = LOCAL, *, vacate_if_missing: bool = False
    ) -> MatchReport:
        """Play between programs to start, players that are connected, and seats that stay vacant.

        Args:
            occupants: occupants in seat order, or in any order if seats are drawn by lot; none is None.
            address: Twisted endpoint string to listen on; not used by programs in a sandbox with a private socket.
            vacate_if_missing: whether a program that can't be started leaves its seat vacant, which is a foul.

        Raises:
            BadSetup: the options or the position do not fit the game.
            PlayerError: a program can't be started, and `vacate_if_missing` is false.
            EndpointError: the address can't be listened on.
            OSError: the record can't be written.
        """
        players = [occupant for occupant in occupants if occupant is not None]
        names = [player.name for player in players]
        match = self._new_match(names)
        seats = find_seats(names, match.setup.names)
        self._programs = tuple(self._settings.programs[place] for place in seats if self._settings.programs)
        seated = [players[place] for place in seats]
        return await self._gather_and_play(match, seated, address, None, vacate_if_missing=vacate_if_missing)

    async def resume(
        self, resumed: Resumption, occupants: Sequence[Occupant], address: str, *, void_if_missing: bool = False
    ) -> MatchReport:
        """Go on with a match whose referee crashed or was stopped.

        Args:
            resumed: the match.
            occupants: occupants by seat; empty: the players reconnect by themselves, each with its resume token.
            address: Twisted endpoint string to listen on.
            void_if_missing: whether the match is void if a program does not come back, which is no foul.

        Raises:
            PlayerError: a program can't be started, and `void_if_missing` is false.
            EndpointError: the address can't be listened on.
            OSError: the record can't be written.
        """
        try:
            if resumed.match.result is not None:
                return self._report(resumed.match, resumed.match.result, resumed.writer)
            self._seed = resumed.match.seed
            return await self._gather_and_play(
                resumed.match, occupants, address, resumed, vacate_if_missing=void_if_missing
            )
        finally:
            resumed.writer.close()  # the next attempt must not find the record locked

    async def _gather_and_play(
        self,
        match: Match,
        occupants: Sequence[Occupant],
        address: str,
        resumed: Resumption | None,
        *,
        vacate_if_missing: bool,
    ) -> MatchReport:
        """Play between players that have a token for their seat.

        A vacant seat is a foul in a new match, and voids a resumed match.
        """
        async with self._gather(match, occupants, address, vacate_if_missing=vacate_if_missing) as gathering:
            missing = None if resumed is None else gathering.find_missing(match, occupants)
            if missing is not None and not vacate_if_missing:
                raise PlayerError(f"{missing}; nothing was played; fix it and resume again")
            if occupants or not self._settings.come_back_s:
                gathering.ports.stop()
            return await self._run(match, gathering.links, gathering.lobby, gathering.programs, resumed, missing)

    async def play_when_opened(
        self, occupants: Sequence[Launch], opened: "Deferred[MatchSettings]"
    ) -> MatchReport | None:
        """Start the programs of a match that is not opened yet, and play it once it is.

        Until then the programs are stopped, and nothing that they do is a foul.

        Args:
            occupants: occupants by seat.
            opened: fires with the match's settings. They may differ from those of this session only in what the
                programs have not been sent yet.

        Returns:
            The match; None if some program was missing: then all were ended, and nothing was recorded.

        Raises:
            OSError: the disk can't take a copy of a folder, or the record can't be written.
        """
        match = self._new_match([launch.name for launch in occupants])
        async with self._gather(match, occupants, LOCAL, vacate_if_missing=True) as gathering:
            gathering.ports.stop()
            settings = await gathering.wait_until(opened) if gathering.is_whole else None
            if settings is None or not gathering.is_whole:
                gathering.dismiss()
                return None
            self._settings, self._programs = settings, settings.programs
            match = self._new_match(match.setup.names)
            return await self._run(match, gathering.links, gathering.lobby, gathering.programs, None)

    @contextlib.asynccontextmanager
    async def _gather(
        self, match: Match, occupants: Sequence[Occupant], address: str, *, vacate_if_missing: bool
    ) -> AsyncIterator[Gathering]:
        """Wait until every player has taken its seat or can't come; clean up after them at the end of the block."""
        tokens = self._tokens(match)
        names, start_s = match.setup.names, match.setup.time.start_ms / 1000
        may_return, patience = not occupants, self._patience
        match_programs = MatchPrograms(match, occupants, tokens, self._settings.folder, self.reactor, self._services)
        async with match_programs.own_folders():
            lobby = ReservedSeats(self.reactor, tokens, start_s, names=names, may_return=may_return, patience=patience)
            remote_pool = self._services.remote_pool
            if remote_pool is not None:
                remote_pool.playing[self.match_name] = lobby
            with private_sockets(self._services.confinement, match_programs.seats) as sockets, self._loop.lag.beating():
                ports = Ports()
                lobby.origins = {str(socket): seat for seat, socket in sockets.items()}
                try:
                    if match_programs.seats or not match_programs.reused:  # else nobody has to connect
                        has_invited = any(isinstance(occupant, InvitedPlayer) for occupant in occupants)
                        public = [address] if has_invited or not sockets else []
                        await self._listen(ports, [*public, *sockets.values()], lobby)
                    match_programs.start(lobby, self._address, sockets, vacate_if_missing=vacate_if_missing)
                    self._seat(lobby, match, occupants, tokens)
                    if self._address:
                        started = counted(len(match_programs.programs.keys() - match_programs.reused.keys()), "program")
                        self._note("reported", text=f"{started} started; the referee listens on {self._address}")
                    links = await lobby.done
                    match_programs.note_links(links)
                    yield Gathering(links, lobby, match_programs, ports)
                finally:
                    lobby.close()
                    if remote_pool is not None:
                        remote_pool.playing.pop(self.match_name, None)
                    await match_programs.dismiss()
                    await ports.close()

    def _seat(self, lobby: ReservedSeats, match: Match, occupants: Sequence[Occupant], tokens: Sequence[str]) -> None:
        """Seat the players that are here already, and give up the seats of those that are out or can't come."""
        for seat in range(len(match.setup.names)):
            occupant = occupants[seat] if occupants else None
            if match.is_out(seat):
                lobby.give_up(seat, "expelled before")
            elif isinstance(occupant, Vacancy):
                lobby.give_up(seat, occupant.why)
            elif isinstance(occupant, PlayerLink):
                lobby.take_back(seat, occupant)
            elif isinstance(occupant, InvitedPlayer):
                occupant.invite(Invitation(address=self._address, token=tokens[seat]))

    async def play_after_sign_up(self, address: str, policy: SignUpPolicy) -> MatchReport | None:
        """Take sign-ups, then play.

        Args:
            address: Twisted endpoint string to listen on.
            policy: rule for the end of sign-up.

        Returns:
            The match; None if too few players signed up.

        Raises:
            BadSetup: the options or the position do not fit the game.
            EndpointError: the address can't be listened on.
            OSError: the record can't be written.
        """
        lobby = MatchLobby(
            self.reactor,
            policy,
            self._settings.players,
            on_change=lambda names: self._note("reported", text=f"signed up: {', '.join(names)}"),
            hello_s=self._settings.hello_s,
            patience=self._patience,
        )
        ports = Ports()
        with self._loop.lag.beating():
            try:
                await self._listen(ports, [address], lobby)
                self._note("reported", text=f"the referee listens on {self._address}")
                links = await lobby.done
                if len(links) < policy.min_players:
                    for link in links:
                        link.say_goodbye()
                    for link in links:
                        await link.wait_closed()
                    return None
                names = [link.name for link in links]
                match = self._new_match(names)
                seated = [links[place] for place in find_seats(names, match.setup.names)]
                if not self._settings.come_back_s:
                    ports.stop()
                return await self._run(match, seated, lobby, None, None)
            finally:
                lobby.close()
                await ports.close()

    def _new_match(self, names: Sequence[str]) -> Match:
        setup = make_setup(self._settings, self._game.name, self.match_name, names, self._seed)
        return Match(self._game, setup, self._seed)

    def _tokens(self, match: Match) -> list[str]:
        """Return the resume tokens by seat."""
        setup = match.setup
        return [self._services.sealer.token(setup.match, setup.commitment, seat) for seat in range(len(setup.names))]

    async def _listen(self, ports: Ports, endpoints: Sequence[str | Path], lobby: Lobby) -> None:
        lobby.note = self._note
        factory = LinkFactory(lobby, self.reactor, self._now, self._settings.kind)
        self._address = await ports.open(self.reactor, endpoints, factory)
        self._note("listening", address=self._address)

    async def _run(
        self,
        match: Match,
        links: Sequence[PlayerLink | None],
        lobby: Lobby,
        match_programs: MatchPrograms | None,
        resumed: Resumption | None,
        missing: str | None = None,
    ) -> MatchReport:
        writer = self._new_record(match) if resumed is None else resumed.writer
        observers, remote_pool = self._services.observers, self._services.remote_pool
        players = SeatedPlayers(
            links=links,
            tokens=self._tokens(match),
            vacancies=lobby.vacancies,
            programs={} if match_programs is None else match_programs.programs,
            come_back_s=self._settings.come_back_s,
            starts=() if match_programs is None else match_programs.starts,
            reused={} if match_programs is None else match_programs.reused,
            release=partial(self._release, match_programs),
        )
        last_ms = 0.0 if resumed is None else resumed.last_ms
        durability = (
            self._services.terms.durability if resumed is None else Durability(resumed.durability or Durability.MATCH)
        )
        journal = Journal(writer, self._commits, durability)
        notify = observers.notify_transition
        runner = MatchRunner(match, players, journal, self.reactor, self._loop, last_ms=last_ms, on_transition=notify)
        lobby.returns = runner
        if remote_pool is not None:
            remote_pool.playing[self.match_name] = runner
        try:
            result = await _run_or_pause(runner, missing)
        except MatchPaused:
            self._note("match-paused", match=match.setup.match)
            raise
        finally:
            await runner.wait_closed()
        return self._report(match, result, writer)

    def _release(self, match_programs: MatchPrograms | None, link: PlayerLink) -> None:
        """Release a player that is still there after the match."""
        if match_programs is not None and match_programs.release(link):
            return
        if self._services.remote_pool is None:
            link.say_goodbye()
        else:
            self._services.remote_pool.release(link)

    @staticmethod
    def _report(match: Match, result: Result, writer: RecordWriter) -> MatchReport:
        return MatchReport(
            names=match.setup.names, result=result, record=writer.path, match=match, head=writer.sealed_head
        )

    def _new_record(self, match: Match) -> RecordWriter:
        writer = RecordWriter(self._settings.folder / f"{self.match_name}.jsonl", self._services.sealer)
        try:
            writer.write_header(
                match.setup,
                match.seed,
                is_fixed=self._settings.seed is not None,
                referee=__version__,
                opened=datetime.now(UTC).isoformat(timespec="seconds"),
                programs=list(self._programs) or None,
                folder=str(Path.cwd()) if self._programs else None,
                context=self._settings.context,
                dialect=self._settings.dialect,
                durability=self._services.terms.durability.on_record,
                rules_version=match.game.rules_version,
            )
        except OSError:
            writer.path.unlink()  # an empty file is no record, and would block the name
            raise
        return writer


async def _run_or_pause(runner: MatchRunner, missing: str | None) -> Result:
    """Run a match to its end, or pause it if this call is cancelled: the match can go on from its record later.

    Args:
        runner: runner of the match.
        missing: reason why the match can't be resumed and is void; None if it can.
    """
    outer: Deferred[Result] = Deferred(lambda _: runner.pause("the organiser stopped the referee"))
    runner.start(missing).addCallbacks(outer.callback, outer.errback)
    return await outer


def name_match(game: str) -> str:
    """Make a name for a match that has none: the game, the time of day, and a random suffix.

    Args:
        game: the game's name. Characters that are not allowed in the name of a file become hyphens.
    """
    safe = re.sub(r"[^A-Za-z0-9._-]", "-", game)
    return f"{safe}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def find_seats(players: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return for each seat the index of the player that sits there; players of equal names keep their order.

    Args:
        players: names of the players.
        names: names by seat.
    """
    rest = list(range(len(players)))
    return [rest.pop(next(at for at, place in enumerate(rest) if players[place] == name)) for name in names]
