"""One run of a tournament on a host: its tables, and the matches that were handed out to them."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import LoopingCall

from ..errors import RefereeError
from ..net.jobs.job import JobSeat, KeylessSealer, MatchJob, decoded
from ..net.jobs.tables import LocalTables
from ..net.jobs.worker import commits_of
from ..net.matches.runner import MatchPaused
from ..net.matches.settings import MatchServices
from ..observers import Observers
from ..programs.build import Builds
from ..programs.confining import Confinement, find_confinement
from ..programs.limits import ProgramLimits
from ..programs.player_spec import Launch, PlayerError, house_launch, resolved
from ..record.folder import record_names
from ..record.reader import MAX_LINE_BYTES
from ..tournament.hosts import Calibration
from .messages import BrokenOff, NotBegun, PlayedMatch, Returned, RunOffer, ShippedJob
from .programs import ProgramStore, taken

LINES_BYTES = 1 << 20
"""Told at once; a longer line is told alone."""


class HostedMatch:
    """A match while it is played, and for a while afterwards.

    Args:
        path: of its record.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.playing: Deferred[None] | None = None
        self.returned: Returned | None = None
        """What came of it."""
        self.is_fetched = False
        """Whether somebody was given that."""
        self._told = 0
        """Bytes of the record."""
        self._waiting: list[Future[Returned | None]] = []

    def wait(self) -> "Future[Returned | None]":
        """Return what holds what comes of it; None: whoever waits has lost the connection meanwhile."""
        waiting: Future[Returned | None] = Future()
        if self.returned is not None:
            self.is_fetched = True
            waiting.set_result(self.returned)
        else:
            self._waiting.append(waiting)
        return waiting

    def end(self, returned: Returned) -> None:
        """Say what came of it."""
        self.returned = returned
        self.is_fetched = bool(self._waiting)
        self._release(returned)

    def release(self) -> None:
        """Let nobody wait any more; the match goes on."""
        self._release(None)

    def stop(self) -> None:
        """Stop it in the middle."""
        if self.playing is not None:
            self.playing.cancel()

    def tell_again(self) -> None:
        """Begin to tell of it from its first line: somebody new listens."""
        self._told = 0

    def untold(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are on record and were not told, each time with where they begin."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._told)
                while data := _whole_lines(file.read(LINES_BYTES)) or _whole_lines(file.readline(MAX_LINE_BYTES)):
                    yield self._told, data
                    self._told += len(data)
                    file.seek(self._told)
        except FileNotFoundError:
            return

    def _release(self, returned: Returned | None) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            future.set_result(returned)


def _whole_lines(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1]


TELL_S = 0.5
"""How often lines of records are told."""
_KEPT_MATCHES = 256
"""Matches that are over, and whose records are kept: whoever asks again is not to wait for another match."""

TellLines = Callable[[str, str, int, bytes], None]
"""Takes run, match, where in the record the lines begin, and the lines."""


class HostSettings(Struct, frozen=True, kw_only=True):
    """What all matches are held to on a host."""

    folder: Path
    """Of programs, records and builds."""
    hidden: tuple[Path, ...]
    """What no program may read."""
    sandbox: str
    """What the host demands, as SandboxMode has it; a tournament may demand more."""
    calibration: Calibration
    observers: Observers = field(default_factory=Observers)
    """Are told of all matches here."""


class NotHere(RefereeError):
    """A match can't be played on this host; that is no program's fault."""


class HostRun:
    """A run of a tournament.

    Args:
        reactor: Twisted's.
        hello: what the tournament said.
        settings: of the host.
        confinement: what its programs are held to.
        tell: takes the lines of records.
    """

    def __init__(
        self, reactor: Any, hello: RunOffer, settings: HostSettings, confinement: Confinement, tell: TellLines
    ) -> None:
        self.tournament = hello.tournament
        self._run = hello.run
        self._folder = settings.folder / "records" / hello.run
        self._folder.mkdir(parents=True, exist_ok=True)
        self._confinement = confinement
        self._builds = Builds(settings.folder / "builds", confinement)
        self._tell = tell
        self._matches: dict[str, HostedMatch] = {}
        """Match -> the match as it is played here; some that are over, too."""
        self._over: deque[str] = deque()
        commits = commits_of(reactor, hello.terms)
        services = MatchServices(confinement=confinement, terms=hello.terms, observers=settings.observers)
        self._tables = LocalTables(reactor, time.monotonic, self._folder, services, hello.process, commits)
        self.lag = self._tables.loop.lag
        self.lag.start()
        self._telling = LoopingCall(self._tell_lines)
        self._telling.clock = reactor
        self._telling.start(TELL_S, now=False)

    def prepared(self, shipped: ShippedJob, programs: ProgramStore) -> MatchJob:
        """Return a match as it is played here, with its programs built; in any thread.

        Raises:
            RefereeError: it can't be played here.
        """
        job = decoded(shipped.job)
        seats = zip(job.seats, shipped.programs, strict=True)
        return replace(job, seats=tuple(self._seated(seat, digest, programs) for seat, digest in seats))

    def _seated(self, seat: JobSeat, digest: str, programs: ProgramStore) -> JobSeat:
        """Return a seat with its program built, or vacant if that fails: whose fault it is, is judged as of a start."""
        if seat.launch is None:
            return seat
        launch = _here(seat.launch, digest, programs)
        try:
            self._builds.build(launch)
            resolved(launch)
        except PlayerError as error:
            return replace(seat, launch=None, why_not=str(error))
        return replace(seat, launch=launch)

    def begin(self, job: MatchJob) -> "Future[Returned | None]":
        """Play a match, unless it is being played or was; return what holds what comes of it."""
        hosted = self._matches.get(job.match)
        if hosted is None:
            hosted = self._matches[job.match] = HostedMatch(self._folder / f"{job.match}.jsonl")
            hosted.path.unlink(missing_ok=True)
            hosted.playing = Deferred.fromCoroutine(self._played(job, hosted))
        return hosted.wait()

    async def _played(self, job: MatchJob, hosted: HostedMatch) -> None:
        returned: Returned
        try:
            await self._tables.play(job, job.occupants, sealer=KeylessSealer(job))
            returned = PlayedMatch(record=hosted.path.read_bytes(), printed=taken(self._folder, job))
        except (MatchPaused, CancelledError):
            returned = BrokenOff(why="it was stopped")
        except Exception as error:  # noqa: BLE001  # whoever handed it out is told
            why = f"{type(error).__name__}: {error}"
            is_begun = hosted.path.exists()
            returned = BrokenOff(why=why, printed=taken(self._folder, job)) if is_begun else NotBegun(why=why)
        self._tell_of(job.match, hosted)
        hosted.end(returned)
        self._forget(job.match, hosted)

    def _forget(self, match: str, hosted: HostedMatch) -> None:
        """Forget a match that could be played again, and those that have been over for long."""
        hosted.playing = None
        if not isinstance(hosted.returned, PlayedMatch):
            del self._matches[match]
            return
        self._over.append(match)
        while len(self._over) > _KEPT_MATCHES:
            self._matches.pop(self._over.popleft()).path.unlink(missing_ok=True)

    def listen(self, wanted: tuple[str, ...]) -> None:
        """Go on with those matches that somebody waits for, and tell of them from their first lines."""
        for match, hosted in list(self._matches.items()):
            hosted.tell_again()
            if match not in wanted:
                hosted.stop()

    def stop(self, match: str) -> None:
        """Stop a match in the middle, if it is played here."""
        if match in self._matches:
            self._matches[match].stop()

    def release(self) -> None:
        """Let nobody wait any more."""
        for hosted in self._matches.values():
            hosted.release()

    @property
    def playing(self) -> int:
        """How many matches are played."""
        return sum(hosted.playing is not None for hosted in self._matches.values())

    @property
    def is_idle(self) -> bool:
        """Whether no match is played."""
        return not self.playing

    @property
    def is_fetched(self) -> bool:
        """Whether somebody was given what came of each match."""
        return all(hosted.is_fetched for hosted in self._matches.values())

    async def close(self) -> None:
        """Stop all, and wait until nothing is left of it."""
        for hosted in list(self._matches.values()):
            playing = hosted.playing
            if playing is not None:
                playing.cancel()
                await playing
        self._telling.stop()
        self.lag.stop()
        await self._tables.close()
        self._confinement.close()

    def _tell_lines(self) -> None:
        for match, hosted in self._matches.items():
            if hosted.playing is not None:
                self._tell_of(match, hosted)

    def _tell_of(self, match: str, hosted: HostedMatch) -> None:
        for offset, lines in hosted.untold():
            self._tell(self._run, match, offset, lines)


def confinement_of(hello: RunOffer, settings: HostSettings, warn: Callable[[str], None]) -> Confinement:
    """Return what the programs of a tournament are held to here; in any thread.

    Raises:
        NoSandboxError: the tournament or the host demands a sandbox that this machine has not.
    """
    modes = (settings.sandbox, hello.terms.sandbox)
    mode = "required" if "required" in modes else "off" if "off" in modes else "auto"
    limits = ProgramLimits(memory_mib=hello.terms.memory_mib)
    return find_confinement(mode, limits, hidden=settings.hidden, private_names=record_names, warn=warn)


def _here(launch: Launch, digest: str, programs: ProgramStore) -> Launch:
    """Return how a program is started on this host.

    Raises:
        NotHere: it is a command, which no other machine can be asked to run.
    """
    if launch.is_house:
        return replace(house_launch(launch.argv[-1]), name=launch.name, matches=launch.matches)
    if not digest:
        raise NotHere(f"{launch.name} is a command of another machine")
    return replace(launch, folder=programs.path(digest))
