"""Brings a match about: opens a door, starts the programs, seats who comes, runs the match, and clears the table.

Knows the order of these steps. Refuses to know the command line: what to play and where to write it is handed in.
"""

import contextlib
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct
from twisted.internet.defer import CancelledError, Deferred

from .. import __version__, chance
from ..games.base import Game
from ..match.commands import Command, ExpelSeat, Result
from ..match.events import Event
from ..match.machine import Match
from ..match.setup import MatchSetup
from ..record.resume import Resumption
from ..record.seal import Sealer
from ..record.writer import RecordWriter
from .addresses import address_of, endpoint_of, listen, stopped
from .clock import Port
from .lag import LoopLag
from .launch import SOCKET, Confinement, Launch, PlayerError, Program
from .lobby import Door, KnownPlayers, ReservedSeats, SignUp, SignUpPolicy
from .match_runner import MatchPaused, MatchRunner, OnStep
from .player_protocol import LinkFactory, PlayerLink
from .table_settings import TableSettings
from .telemetry import Silence, Telemetry


class _Named(Protocol):
    """A launch or a link."""

    @property
    def name(self) -> str:
        """The player's name."""


class Played(Struct, frozen=True, kw_only=True):
    """A match that was played."""

    names: tuple[str, ...]
    result: Result
    record: Path
    match: Match


def _quiet(_text: str) -> None:
    """Report nothing."""


class Table:
    """One table: at most one match at a time.

    Args:
        reactor: Twisted's reactor.
        now: monotonic seconds.
        game: what is played.
        settings: how.
        sealer: the key that seals the record; None: one of this table's own, forgotten afterwards.
        report: called with one sentence whenever something happens before the match.
        on_step: called after every step of the match.
        telemetry: where diagnostics and numbers go.
        confinement: what launched programs are held to.
    """

    def __init__(
        self,
        reactor: Any,
        now: Callable[[], float],
        game: Game[Any, Any, Any],
        settings: TableSettings,
        *,
        sealer: Sealer | None = None,
        report: Callable[[str], None] = _quiet,
        on_step: OnStep = lambda event, commands, match: None,
        telemetry: Telemetry = Silence(),  # noqa: B008  # it has no state
        confinement: Confinement = Confinement(),  # noqa: B008  # frozen
    ) -> None:
        self._telemetry = telemetry
        self._confinement = confinement
        self._reactor = reactor
        self._now = now
        self._game = game
        self._settings = settings
        self._sealer = sealer or Sealer.new()
        self._report = report
        self._on_step = on_step
        self._lag = LoopLag(reactor, now)
        self._lag.note = telemetry.note
        self._programs: tuple[str, ...] = ()
        """How the players' programs were given, by seat."""
        fixed = settings.seed
        self.match_name = settings.match or _match_name(game.name)
        secret = os.urandom(chance.SEED_BYTES) if settings.secret is None else settings.secret
        self._seed = chance.match_seed(secret, self.match_name) if fixed is None else chance.seed_from_number(fixed)
        self._address = ""
        """What a player writes to connect, once the table listens."""
        self.listening: Deferred[str] = Deferred()
        """Fires with the address to connect to, as a player writes it."""

    async def play_programs(self, launches: Sequence[Launch], address: str = "tcp:0:interface=127.0.0.1") -> Played:
        """Start a program for every seat and play.

        Args:
            launches: by seat.
            address: Twisted endpoint string to listen on; not used where a sandbox has a socket of its own.

        Raises:
            BadSetup: options or position are not the game's.
            PlayerError: a program can't be started.
            AddressError: the address can't be listened on.
            OSError: the record can't be written.
        """
        match = self._new_match([launch.name for launch in launches])
        places = _places(launches, match.setup.names)
        self._programs = tuple(self._settings.programs[place] for place in places if self._settings.programs)
        return await self._play_seated(match, [launches[place] for place in places], address, None)

    async def play_on(self, resumed: Resumption, launches: Sequence[Launch], address: str) -> Played:
        """Go on with a match whose referee died.

        Args:
            resumed: the match.
            launches: by seat; empty: the players come back by themselves, each with its resume token.
            address: Twisted endpoint string to listen on.

        Raises:
            PlayerError: a program can't be started.
            AddressError: the address can't be listened on.
            OSError: the record can't be written.
        """
        if resumed.match.result is not None:
            names = resumed.match.setup.names
            return Played(names=names, result=resumed.match.result, record=resumed.writer.path, match=resumed.match)
        self._seed = resumed.match.seed
        return await self._play_seated(resumed.match, launches, address, resumed)

    async def _play_seated(
        self, match: Match, launches: Sequence[Launch], address: str, resumed: Resumption | None
    ) -> Played:
        """Play between programs that have a token for their seat."""
        seats = range(len(match.setup.names))
        door = ReservedSeats(self._reactor, self._tokens(match), match.setup.start_ms / 1000, may_return=not launches)
        programs: dict[int, Program] = {}
        with self._private_socket(is_wanted=bool(launches)) as socket:
            port = await self._listen(address if socket is None else endpoint_of(socket), door)
            reached = self._address if socket is None else f"unix:{SOCKET}"
            try:
                for seat in seats:
                    if match.is_out(seat):
                        door.give_up(seat, "expelled before")
                    elif launches:
                        programs[seat] = self._start_program(launches, seat, match, reached, socket)
                        programs[seat].exited.addCallback(self._vacate, door, seat, programs[seat])
                self._report(f"{len(programs)} programs started; the referee listens on {self._address}")
                links = await door.done
                if resumed is not None and (gone := sorted(programs.keys() & door.vacancies.keys())):
                    why = f"{match.setup.names[gone[0]]}: {door.vacancies[gone[0]]}"
                    raise PlayerError(f"{why}; nothing was played, mend it and resume again")
                return await self._run(match, links, door, programs, resumed)
            finally:
                door.close()
                for program in programs.values():
                    program.end()
                for program in programs.values():
                    await _gone(program)
                await stopped(port)

    @contextlib.contextmanager
    def _private_socket(self, *, is_wanted: bool) -> Iterator[Path | None]:
        """Make a folder for a socket that programs in a sandbox are shown, and nobody else can reach."""
        if self._confinement.sandbox is None or not is_wanted:
            yield None
            return
        with tempfile.TemporaryDirectory(prefix="referee-") as folder:  # its mode is 0700
            yield Path(folder, "socket")

    async def play_signed_up(self, address: str, policy: SignUpPolicy) -> Played | None:
        """Take sign-ups, then play.

        Args:
            address: Twisted endpoint string to listen on.
            policy: when sign-up ends.

        Returns:
            The match, or None if too few signed up.

        Raises:
            BadSetup: options or position are not the game's.
            AddressError: the address can't be listened on.
            OSError: the record can't be written.
        """
        door = self._sign_up(policy)
        port = await self._listen(address, door)
        try:
            self._report(f"the referee listens on {self._address}")
            links = await door.done
            if len(links) < policy.min_players:
                for link in links:
                    link.say_goodbye()
                return None
            match = self._new_match([link.name for link in links])
            seated = [links[place] for place in _places(links, match.setup.names)]
            return await self._run(match, seated, door, {}, None)
        finally:
            door.close()
            await stopped(port)

    def _sign_up(self, policy: SignUpPolicy) -> SignUp:
        def _changed(names: list[str]) -> None:
            self._report(f"signed up: {', '.join(names)}")

        players, hello_s = self._settings.players, self._settings.hello_s
        if players is None:
            return SignUp(self._reactor, policy, on_change=_changed, hello_s=hello_s)
        return KnownPlayers(self._reactor, policy, players, on_change=_changed, hello_s=hello_s)

    def _new_match(self, names: Sequence[str]) -> Match:
        settings = self._settings
        names = chance.seated(self._seed, names) if settings.lot else tuple(names)
        setup = MatchSetup(
            match=self.match_name,
            game=self._game.name,
            options=settings.options,
            names=names,
            lot=settings.lot,
            lag_margin_ms=float(settings.lag_margin_ms),
            per_move_ms=float(settings.per_move_ms),
            bank_ms=None if settings.bank_ms is None else float(settings.bank_ms),
            increment_ms=float(settings.increment_ms),
            start_ms=float(settings.start_ms),
            acknowledge=settings.acknowledge,
            nonces=settings.seed is None,
            commitment=chance.commitment(self._seed),
            position=settings.position,
        )
        return Match(self._game, setup, self._seed)

    def _tokens(self, match: Match) -> list[str]:
        """Return by seat what its player comes back with."""
        setup = match.setup
        return [self._sealer.token(setup.match, setup.commitment, seat) for seat in range(len(setup.names))]

    async def _listen(self, address: str, door: Door) -> Port:
        door.note = self._telemetry.note
        port = await listen(self._reactor, address, LinkFactory(door, self._reactor, self._now, self._settings.kind))
        self._address = address_of(port, address)
        self._telemetry.note("listening", address=self._address)
        self.listening.callback(self._address)
        return port

    def _start_program(
        self,
        launches: Sequence[Launch],
        seat: int,
        match: Match,
        address: str,
        socket: Path | None,
    ) -> Program:
        launch = launches[seat]
        environment = {
            "REFEREE_ADDRESS": address,
            "REFEREE_TOKEN": self._tokens(match)[seat],
            "REFEREE_NAME": launch.name,
            "REFEREE_PLAYER_SEED": chance.player_seed(match.seed, seat).hex(),
        }
        records = self._settings.folder
        records.mkdir(parents=True, exist_ok=True)
        output = records / f"{self.match_name}.seat{seat}.{launch.name}.stderr"
        self._telemetry.note("program-started", match=self.match_name, seat=seat, name=launch.name)
        return Program(
            launch,
            environment,
            output,
            self._reactor,
            self._confinement,
            hidden=[records] if socket is None else [records, socket.parent],
            others=[other.where for other in launches if other.folder is not None],
            socket=socket,
        )

    def _vacate(self, status: str, door: ReservedSeats, seat: int, program: Program) -> str:
        """Give up a seat whose program has ended."""
        self._telemetry.note("program-ended", match=self.match_name, seat=seat, status=status)
        words = f"; its last words are in {program.output_path}" if program.output_path.exists() else ""
        door.give_up(seat, f"its program ended before it took its seat: {status}{words}")
        return status

    async def _run(
        self,
        match: Match,
        links: Sequence[PlayerLink | None],
        door: Door,
        programs: dict[int, Program],
        resumed: Resumption | None,
    ) -> Played:
        writer = self._new_record(match) if resumed is None else resumed.writer

        def _step(event: Event, commands: tuple[Command, ...], match: Match) -> None:
            for command in commands:
                if isinstance(command, ExpelSeat) and command.seat in programs:
                    programs[command.seat].end()  # what it still does would only be in the others' way
            self._telemetry.step(event, commands, match)
            self._on_step(event, commands, match)

        self._lag.start()
        runner = MatchRunner(
            match,
            links,
            writer,
            self._reactor,
            self._now,
            self._lag,
            tokens=self._tokens(match),
            vacancies=door.vacancies,
            programs=programs,
            last_ms=0.0 if resumed is None else resumed.last_ms,
            come_back_s=self._settings.come_back_s,
            on_step=_step,
        )
        door.returns = runner
        try:
            result = await _uncancelled(runner)
        except MatchPaused:
            self._telemetry.note("match-paused", match=match.setup.match)
            raise
        finally:
            self._lag.stop()
        return Played(names=match.setup.names, result=result, record=writer.path, match=match)

    def _new_record(self, match: Match) -> RecordWriter:
        writer = RecordWriter(self._settings.folder / f"{self.match_name}.jsonl", self._sealer)
        try:
            self._write_header(writer, match)
        except OSError:
            writer.path.unlink()  # an empty file is no record
            raise
        return writer

    def _write_header(self, writer: RecordWriter, match: Match) -> None:
        writer.write_header(
            match.setup,
            match.seed,
            is_fixed=self._settings.seed is not None,
            referee=__version__,
            opened=datetime.now(UTC).isoformat(timespec="seconds"),
            programs=list(self._programs) or None,
            folder=str(Path.cwd()) if self._programs else None,
        )


async def _gone(program: Program) -> None:
    """Wait until nothing is left of a program, however impatient the organiser is."""
    waiting: Deferred[None] = Deferred()

    def _told(value: Any) -> Any:
        if not waiting.called:
            waiting.callback(None)
        return value

    program.gone.addCallback(_told)
    try:
        await waiting
    except CancelledError:
        await _gone(program)


async def _uncancelled(runner: MatchRunner) -> Result:
    """Run a match to its end; to cancel it is to stop in the middle: its record is what it goes on from."""
    outer: Deferred[Result] = Deferred(lambda _: runner.pause("the organiser stopped the referee"))
    runner.start().addCallbacks(outer.callback, outer.errback)
    return await outer


def _places(given: Sequence[_Named], names: Sequence[str]) -> list[int]:
    """Return by seat which of the given launches or links sits there; those of equal names in the order given."""
    rest = list(range(len(given)))
    return [rest.pop(next(index for index, place in enumerate(rest) if given[place].name == name)) for name in names]


def _match_name(game: str) -> str:
    return f"{game}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
