"""The programs of one match: starts them with the address and the token of their seat, and ends them.

If programs are kept between matches, one that waits plays instead of a newly started one, and then waits again.
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
"""Last words of programs without memory, in various languages."""


class Vacancy(Struct, frozen=True, kw_only=True):
    """A player that can't come."""

    name: str
    why: str


class InvitedPlayer(Struct, frozen=True, kw_only=True):
    """A player without a program, which connects once it has the address."""

    name: str
    invite: Callable[[Invitation], None]
    """Function that is called when the referee listens; returns at once."""


Occupant = Launch | PlayerLink | Vacancy | InvitedPlayer | None
"""Occupant of a seat: a program to start, a connected player, a vacancy, an invited player, or None for a player that
comes back by itself."""


class MatchPrograms:
    """The programs of one match.

    Args:
        match: the match, new or resumed.
        occupants: occupants by seat.
        tokens: tokens by seat.
        records: folder of the records, which no program may read; the output of programs is kept there.
        reactor: Twisted's reactor.
        services: sandbox, pool and observers.
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
        """Seat -> its program."""
        self.staying: dict[int, KeptProgram] = {}
        """Seat -> its program, if that stays."""
        self.reused: dict[int, KeptProgram] = {}
        """Seat -> its program, if that has played before."""
        self._copies: dict[int, Path | PlayerError | None] = {}
        """Seat -> copy that its program is shown in place of its folder, or the error of copying."""
        self._removers: dict[int, contextlib.ExitStack] = {}
        """Seat -> removes that copy."""
        self._quick = contextlib.ExitStack()
        """Removes the copies that are small enough to be removed without a thread."""
        self._stamps: dict[int, int] = {}
        """Seat -> stamp of its program's folder, if programs stay."""
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
        """By seat, the start number of its program, unique in this referee's process; 0 for a seat without a program.

        Empty unless programs stay.
        """
        if not self.staying:
            return ()
        seats = range(len(self._match.setup.names))
        return tuple(self.staying[seat].number if seat in self.staying else 0 for seat in seats)

    @contextlib.asynccontextmanager
    async def own_folders(self) -> AsyncIterator[None]:
        """For the duration of the block, give each program to be started in a sandbox its own copy of its folder.

        Copies are made and removed in a thread, unless they are known to be small, since other matches go on.

        Raises:
            OSError: a copy can't be written.
        """
        try:
            for seat, launch in self._launches.items():
                if not self._match.is_out(seat) and not await self._take_staying(seat, launch):
                    await self._copy(seat, launch)
            yield
        finally:
            await self.dismiss()
            self._quick.close()
            for remover in self._removers.values():
                await outlast(deferToThreadPool(self._reactor, self._reactor.getThreadPool(), remover.close))

    async def _take_staying(self, seat: int, launch: Launch) -> bool:
        """Take a program that has played before, if one waits; return whether one did.

        A resumed match starts new programs: those that wait know nothing of it.
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
        enter = self._removers.setdefault(seat, contextlib.ExitStack()).enter_context
        try:
            self._copies[seat] = await let_finish(deferToThreadPool(self._reactor, pool, enter, copying))
        except PlayerError as error:
            self._copies[seat] = error

    def start(
        self, lobby: ReservedSeats, address: str, sockets: Mapping[int, Path], *, vacate_if_missing: bool
    ) -> None:
        """Start every program whose seat is still in the match, and seat those that have played before.

        Args:
            lobby: where programs take their seats; the seats of those that can't start are given up.
            address: address of the referee, as a player writes it.
            sockets: private sockets by seat.
            vacate_if_missing: whether a program that can't be started leaves its seat vacant.

        Raises:
            PlayerError: a program can't be started, and `vacate_if_missing` is false.
        """
        lobby.find_processor_use = lambda seat: find_processor_use(self.programs.get(seat))
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
                folders, deal = self._removers.pop(seat, contextlib.ExitStack()), self._match.setup.commitment
                self.staying[seat] = self._pool.register(launch, program, folders, self._stamps[seat], deal)
            program.exited.addCallback(self._vacate, lobby, seat, program)

    def _seat(self, seat: int, lobby: ReservedSeats) -> None:
        """Seat a connected program; its output belongs to this match from now on."""
        kept = self.reused[seat]
        assert kept.link is not None, "it has played before"
        kept.program.begin_match(self._output(seat))
        self._note("program-kept", match=self._match.setup.match, seat=seat, name=kept.launch.name, start=kept.number)
        lobby.take_back(seat, kept.link)
        kept.link.owner = kept  # until the runner takes over; it checks whether the link is still connected

    def stop(self) -> None:
        """Pause all programs."""
        for program in self.programs.values():
            program.stop()

    def resume(self) -> None:
        """Let all paused programs go on."""
        for program in self.programs.values():
            program.resume()

    def note_links(self, links: Sequence[PlayerLink | None]) -> None:
        """Note the connections of programs that stay.

        Args:
            links: links by seat.
        """
        for seat, kept in self.staying.items():
            kept.link = links[seat]

    def release(self, link: PlayerLink) -> bool:
        """Give a link back to its program after the match, if the program stays; return whether it does."""
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
        words = f"; its last words are in {printed.name}, next to the record" if printed.exists() else ""
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
    """Make a folder with a socket for each seat, which the sandbox shows to that seat's program only.

    So the referee knows which program opened a connection before any byte comes.

    Args:
        confinement: without a sandbox there are no sockets.
        seats: seats whose programs are started.
    """
    if confinement.sandbox is None or not seats:
        yield {}
        return
    with scratch("socket", find_memory(0)) as folder:
        yield {seat: folder / str(seat) for seat in seats}


def find_ending(program: Program) -> Ending:
    """Return the reason why a program that has ended could not play."""
    how, *printed = program.end_parts
    if any(_MEMORY.search(words) for words in printed):
        return Ending.OUT_OF_MEMORY
    if how == "exit status 0":
        return Ending.ENDED
    return Ending.FAILED if printed else Ending.SPEECHLESS


def find_processor_use(program: Program | None) -> dict[str, Any]:
    """Return what a program that is late was doing, for an event; empty if that is not known."""
    use = None if program is None else program.measure_processor_use()
    if use is None:
        return {}
    return {"processor_ms": use.used_ms, "ending": Ending.COMPUTING if use.is_computing else Ending.WAITING}
