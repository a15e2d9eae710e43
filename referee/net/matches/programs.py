"""The programs of one match: starts them with the address and the token of their seat, and ends them.

Where programs stay, one that waits is taken in place of a new one, and goes back to wait for its next match.
"""

import contextlib
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from twisted.internet.threads import deferToThreadPool

from ... import chance
from ...files.scratch import find_memory, scratch
from ...match.events import Ending
from ...match.machine import Match, Phase
from ...programs.confining import Confinement
from ...programs.environment import Invitation
from ...programs.file_view import FileAccess
from ...programs.player_spec import Launch, PlayerError
from ...programs.program import Program
from ...record.folder import output_path
from ..links.player_protocol import PlayerLink
from ..links.reserved_seats import ReservedSeats
from ..waiting import let_finish, outlast
from .program_pool import KeptProgram
from .settings import MatchServices

_MEMORY = re.compile(
    r"out of memory|OutOfMemory|MemoryError|bad_alloc|memory allocation of \d+ bytes failed", re.IGNORECASE
)
"""What programs print last when they have none left, in one language or another."""


class Vacancy(Struct, frozen=True, kw_only=True):
    """A player that can't come."""

    name: str
    why: str


class InvitedPlayer(Struct, frozen=True, kw_only=True):
    """A player without a program, who connects once it is told where."""

    name: str
    invite: Callable[[Invitation], None]
    """Called when the referee listens; returns at once."""


Occupant = Launch | PlayerLink | Vacancy | InvitedPlayer | None
"""Who is to sit on a seat: a program to start, a player that is connected or to be told to connect, nobody, or (None)
who comes by itself."""


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
        self.staying: dict[int, KeptProgram] = {}
        """Those of them that stay, by seat."""
        self.reused: dict[int, KeptProgram] = {}
        """Those of them that have played before, by seat."""
        self._copies: dict[int, Path | PlayerError | None] = {}
        """By seat: what a program is shown in the place of its folder, or why there is none."""
        self._folders: dict[int, contextlib.ExitStack] = {}
        """By seat: removes that copy."""
        self._quick = contextlib.ExitStack()
        """Removes those that take so little time that no thread has to."""
        self._stamps: dict[int, int] = {}
        """By seat, of a program's folder, where programs stay."""
        self._match = match
        self._launches = {seat: occupant for seat, occupant in enumerate(occupants) if isinstance(occupant, Launch)}
        self._tokens = tokens
        self._records = records
        self._reactor = reactor
        self._pool = services.pool
        self._confinement = services.confinement if self._pool is None else self._pool.confinement
        self._note = services.observers.note

    @property
    def seats(self) -> Collection[int]:
        """The seats that programs are started for."""
        return self._launches.keys() - self.reused.keys()

    @property
    def starts(self) -> tuple[int, ...]:
        """By seat, the number of the start of its program, 0 where there is none; empty unless programs stay."""
        if not self.staying:
            return ()
        seats = range(len(self._match.setup.names))
        return tuple(self.staying[seat].number if seat in self.staying else 0 for seat in seats)

    @contextlib.asynccontextmanager
    async def own_folders(self) -> AsyncIterator[None]:
        """Keep a copy of the folder of each program that is to be started: for its own life alone.

        Copies are made and removed in a thread, unless they are known to be small: they may be large, and other matches
        go on meanwhile.

        Raises:
            OSError: the disk can't take one.
        """
        try:
            for seat, launch in self._launches.items():
                if not self._match.is_out(seat) and not await self._take_kept(seat, launch):
                    await self._copy(seat, launch)
            yield
        finally:
            await self.dismiss()
            self._quick.close()
            for folders in self._folders.values():
                await outlast(deferToThreadPool(self._reactor, self._reactor.getThreadPool(), folders.close))

    async def _take_kept(self, seat: int, launch: Launch) -> bool:
        """Take a program that has played before, if one waits; return whether one did.

        A match that is resumed starts new programs: one that has played before knows nothing of it.
        """
        if self._pool is None:
            return False
        self._stamps[seat] = await self._pool.stamp(launch)
        if self._match.phase is not Phase.NEW:
            return False
        kept = await self._pool.acquire(launch, self._match.setup.commitment)
        if kept is not None:
            self.staying[seat] = self.reused[seat] = kept
            self.programs[seat] = kept.program
        return kept is not None

    async def _copy(self, seat: int, launch: Launch) -> None:
        access, pool = self._access(), self._reactor.getThreadPool()
        quick = self._confinement.copy_from_memory(launch, access) if self._pool is None else None
        if quick is not None:
            self._copies[seat] = self._quick.enter_context(quick)
            return
        if not self._confinement.copies(launch):
            return
        copying = self._confinement.copy_folder(launch, access)
        enter = self._folders.setdefault(seat, contextlib.ExitStack()).enter_context
        try:
            self._copies[seat] = await let_finish(deferToThreadPool(self._reactor, pool, enter, copying))
        except PlayerError as error:
            self._copies[seat] = error

    def start(
        self, lobby: ReservedSeats, address: str, sockets: Mapping[int, Path], *, vacate_if_missing: bool
    ) -> None:
        """Start every program whose seat is still in the match; those that stay take their seats.

        Args:
            lobby: where they are to take their seats; those that can't are given up there.
            address: the referee's, as a player writes it.
            sockets: the private ones, by seat.
            vacate_if_missing: whether a program that can't be started leaves its seat vacant.

        Raises:
            PlayerError: a program can't be started, and `vacate_if_missing` is false.
        """
        for seat, launch in self._launches.items():
            if self._match.is_out(seat):
                continue
            if seat in self.reused:
                self._seat(seat, lobby)
                continue
            try:
                program = self._start_one(seat, address, sockets.get(seat))
            except PlayerError as error:
                if not vacate_if_missing:
                    raise
                lobby.give_up(seat, str(error))
                continue
            self.programs[seat] = program
            if self._pool is not None:
                folders, deal = self._folders.pop(seat, contextlib.ExitStack()), self._match.setup.commitment
                self.staying[seat] = self._pool.started(launch, program, folders, self._stamps[seat], deal)
            program.exited.addCallback(self._vacate, lobby, seat, program)

    def _seat(self, seat: int, lobby: ReservedSeats) -> None:
        """Seat a program that is connected; what it prints from now on belongs to this match."""
        kept = self.reused[seat]
        assert kept.link is not None, "it has played before"
        self._records.mkdir(parents=True, exist_ok=True)
        kept.program.begin_match(self._output(seat))
        self._note("program-kept", match=self._match.setup.match, seat=seat, name=kept.launch.name, start=kept.number)
        lobby.take_back(seat, kept.link)
        kept.link.owner = kept  # until the match begins: whether it is still there then, is for the runner to see

    def stop(self) -> None:
        """Let no program do anything until it may go on."""
        for program in self.programs.values():
            program.stop()

    def resume(self) -> None:
        """Let all programs go on."""
        for program in self.programs.values():
            program.resume()

    def note_links(self, links: Sequence[PlayerLink | None]) -> None:
        """Take note which connection is whose.

        Args:
            links: by seat.
        """
        for seat, kept in self.staying.items():
            kept.link = links[seat]

    def release(self, link: PlayerLink) -> bool:
        """Let a program that stays have its connection back after the match; tell whether it is one's."""
        owner = next((kept for kept in self.staying.values() if kept.link is link), None)
        if owner is not None:
            link.owner = owner
        return owner is not None

    def _output(self, seat: int) -> Path:
        return output_path(self._records, self._match.setup.match, seat, self._launches[seat].name)

    def _start_one(self, seat: int, address: str, socket: Path | None) -> Program:
        launch, match = self._launches[seat], self._match.setup.match
        seed = chance.player_seed(self._match.seed, seat).hex()
        invitation = Invitation(address=address, token=self._tokens[seat], seed=seed)
        access = self._access(seat, socket)
        self._records.mkdir(parents=True, exist_ok=True)
        self._note("program-started", match=match, seat=seat, name=launch.name)
        return Program(launch, invitation, self._output(seat), self._reactor, self._confinement, access)

    def _access(self, seat: int | None = None, socket: Path | None = None) -> FileAccess:
        copy = None if seat is None else self._copies.get(seat)
        if isinstance(copy, PlayerError):
            raise copy
        return FileAccess(
            hidden=(self._records,),
            others=tuple(other.where for other in self._launches.values() if other.folder is not None),
            socket=socket,
            own_copy=copy,
        )

    def _vacate(self, status: str, lobby: ReservedSeats, seat: int, program: Program) -> str:
        """Give up a seat whose program has ended."""
        self._note("program-ended", match=self._match.setup.match, seat=seat, status=status)
        printed = program.output_path
        words = f"; its last words are in {printed.name}, beside the record" if printed.exists() else ""
        lobby.give_up(seat, f"its program ended before it took its seat: {status}{words}", find_ending(program))
        return status

    async def dismiss(self) -> None:
        """End every program that does not stay, and wait until nothing is left of them."""
        ending = []
        while self.programs:
            seat, program = self.programs.popitem()
            kept = self.staying.pop(seat, None)
            if kept is None or self._pool is None:
                program.end()
            elif self._pool.release(kept):
                continue
            ending.append(program)
        for program in ending:
            await outlast(program.gone)


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
    with scratch("socket", find_memory(0)) as folder:
        yield {seat: folder / str(seat) for seat in seats}


def find_ending(program: Program) -> Ending:
    """Return why a program that has ended could not play."""
    how, *said = program.end_parts
    if any(_MEMORY.search(words) for words in said):
        return Ending.OUT_OF_MEMORY
    if how == "exit status 0":
        return Ending.ENDED
    return Ending.FAILED if said else Ending.SPEECHLESS
