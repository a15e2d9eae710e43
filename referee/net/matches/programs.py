"""The programs of one match: starts them with the address and the token of their seat, and ends them."""

import contextlib
import re
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.threads import deferToThreadPool

from ... import chance
from ...files.scratch import scratch
from ...launch import Confinement, FileAccess, Invitation, Launch, PlayerError, Program, is_copied, own_copy
from ...match.events import Ending
from ...match.machine import Match
from ...record.printed import output_path
from ..links.player_protocol import PlayerLink
from ..links.reserved_seats import ReservedSeats
from .services import MatchServices

_MEMORY = re.compile(
    r"out of memory|OutOfMemory|MemoryError|bad_alloc|memory allocation of \d+ bytes failed", re.IGNORECASE
)
"""What programs print last when they have none left, in one language or another."""


class Vacancy(Struct, frozen=True, kw_only=True):
    """A player that can't come."""

    name: str
    why: str


Occupant = Launch | PlayerLink | Vacancy | None
"""Who is to sit on a seat: a program to start, a player that is connected, nobody, or (None) who comes by itself."""


class MatchPrograms:
    """The programs of one match.

    Args:
        match: theirs.
        occupants: by seat.
        tokens: by seat.
        records: folder of the records: no program may read it, and what they print is kept there.
        reactor: Twisted's.
        services: what they are held to, and who takes note of what starts and ends.
    """

    def __init__(
        self,
        match: Match,
        occupants: Sequence[Occupant],
        tokens: Sequence[str],
        records: Path,
        reactor: Any,
        services: MatchServices,
    ) -> None:
        self.programs: dict[int, Program] = {}
        """By seat."""
        self._copies: dict[int, Path | PlayerError | None] = {}
        """By seat: what a program is shown in the place of its folder, or why there is none."""
        self._match = match
        self._launches = {seat: occupant for seat, occupant in enumerate(occupants) if isinstance(occupant, Launch)}
        self._tokens = tokens
        self._records = records
        self._reactor = reactor
        self._confinement = services.confinement
        self._note = services.observers.note

    @property
    def seats(self) -> Collection[int]:
        """The seats that programs are started for."""
        return self._launches.keys()

    @contextlib.asynccontextmanager
    async def own_folders(self) -> AsyncIterator[None]:
        """Keep a copy of each program's folder for this match alone.

        Copies are made and removed in a thread: they may be large, and other matches go on meanwhile.

        Raises:
            OSError: the disk can't take one.
        """
        pool, held = self._reactor.getThreadPool, contextlib.ExitStack()
        try:
            for seat, launch in self._launches.items():
                if is_copied(launch, self._confinement) and not self._match.is_out(seat):
                    copying = own_copy(launch, self._confinement, self._access())
                    try:
                        self._copies[seat] = await deferToThreadPool(self._reactor, pool(), held.enter_context, copying)
                    except PlayerError as error:
                        self._copies[seat] = error
            yield
        finally:
            if self._copies:
                await deferToThreadPool(self._reactor, pool(), held.close)

    def start(self, door: ReservedSeats, address: str, sockets: Mapping[int, Path], *, is_patient: bool) -> None:
        """Start every program whose seat is still in the match.

        Args:
            door: where they are to take their seats; those that can't are given up there.
            address: the referee's, as a player writes it.
            sockets: the private ones, by seat.
            is_patient: whether a program that can't be started leaves its seat vacant.

        Raises:
            PlayerError: a program can't be started, and that is not put up with.
        """
        for seat in self._launches:
            if self._match.is_out(seat):
                continue
            try:
                program = self._start_one(seat, address, sockets.get(seat))
            except PlayerError as error:
                if not is_patient:
                    raise
                door.give_up(seat, str(error))
                continue
            self.programs[seat] = program
            program.exited.addCallback(self._vacate, door, seat, program)

    def _start_one(self, seat: int, address: str, socket: Path | None) -> Program:
        launch, match = self._launches[seat], self._match.setup.match
        seed = chance.player_seed(self._match.seed, seat).hex()
        invitation = Invitation(address=address, token=self._tokens[seat], seed=seed)
        access = self._access(seat, socket)
        self._records.mkdir(parents=True, exist_ok=True)
        output = output_path(self._records, match, seat, launch.name)
        self._note("program-started", match=match, seat=seat, name=launch.name)
        return Program(launch, invitation, output, self._reactor, self._confinement, access)

    def _access(self, seat: int | None = None, socket: Path | None = None) -> FileAccess:
        copy = None if seat is None else self._copies.get(seat)
        if isinstance(copy, PlayerError):
            raise copy
        return FileAccess(
            hidden=(self._records,) if socket is None else (self._records, socket.parent),
            others=tuple(other.where for other in self._launches.values() if other.folder is not None),
            socket=socket,
            own_copy=copy,
        )

    def _vacate(self, status: str, door: ReservedSeats, seat: int, program: Program) -> str:
        """Give up a seat whose program has ended."""
        self._note("program-ended", match=self._match.setup.match, seat=seat, status=status)
        printed = program.output_path
        words = f"; its last words are in {printed.name}, beside the record" if printed.exists() else ""
        door.give_up(seat, f"its program ended before it took its seat: {status}{words}", ending_of(program))
        return status

    async def dismiss(self) -> None:
        """End every program, and wait until nothing is left of them."""
        for program in self.programs.values():
            program.end()
        for program in self.programs.values():
            await gone(program)


@contextlib.contextmanager
def private_sockets(confinement: Confinement, seats: Collection[int]) -> Iterator[Mapping[int, Path]]:
    """Make a folder for sockets, by seat: a program in a sandbox is shown its own, and nobody else can reach it.

    So it is known which program a connection is from, before it says anything.

    Args:
        confinement: without a sandbox there are no sockets.
        seats: those of programs that are started.
    """
    if confinement.sandbox is None or not seats:
        yield {}
        return
    with scratch("socket") as folder:
        yield {seat: folder / str(seat) for seat in seats}


async def gone(program: Program) -> None:
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
        await gone(program)


def ending_of(program: Program) -> Ending:
    """Return why a program that has ended could not play."""
    how, *said = program.end_parts
    if any(_MEMORY.search(words) for words in said):
        return Ending.OUT_OF_MEMORY
    if how == "exit status 0":
        return Ending.ENDED
    return Ending.FAILED if said else Ending.SPEECHLESS
