"""One run of a tournament on a host: its tables, and the matches that it was given.

A match outlives the call that asked for it. If the connection to the scheduler is lost, the match goes on, and the next
call for it gets its result. So no match is played twice because a connection was lost.
"""

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
from ..net.jobs.job import JobSeat, KeylessSealer, MatchJob, decode_job
from ..net.jobs.tables import LocalTables
from ..net.jobs.worker import make_commits
from ..net.matches.runner import MatchPaused
from ..net.matches.settings import MatchServices
from ..observers import Observers
from ..programs.build import Builds
from ..programs.confining import Confinement, find_confinement
from ..programs.player_spec import Launch, PlayerError, house_launch, resolve_command
from ..record.folder import record_names
from ..record.reader import MAX_LINE_BYTES
from ..settings import SandboxMode
from ..tournament.hosts import Calibration
from .messages import BrokenOff, NotBegun, PlayedMatch, Returned, RunOffer, ShippedJob
from .programs import ProgramStore, take_output

CHUNK_BYTES = 1 << 20
"""Largest piece of a record that is sent, in bytes. A longer line is sent alone."""


class HostedMatch:
    """A match while it is played, and for a while afterwards.

    Args:
        path: path of its record.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.playing: Deferred[None] | None = None
        self.returned: Returned | None = None
        """The result of the match; None while it is being played."""
        self.is_fetched = False
        """True if the tournament has the result."""
        self._sent = 0
        """Number of bytes of the record that were sent."""
        self._waiting: list[Future[Returned | None]] = []

    def wait(self) -> "Future[Returned | None]":
        """Return a future of the result. It resolves to None if the connection is lost first."""
        waiting: Future[Returned | None] = Future()
        if self.returned is not None:
            self.is_fetched = True
            waiting.set_result(self.returned)
        else:
            self._waiting.append(waiting)
        return waiting

    def end(self, returned: Returned) -> None:
        """Set the result."""
        self.returned = returned
        self.is_fetched = bool(self._waiting)
        self._release(returned)

    def release(self) -> None:
        """Resolve all futures to None, while the match goes on."""
        self._release(None)

    def stop(self) -> None:
        """Stop the match in the middle."""
        if self.playing is not None:
            self.playing.cancel()

    def restart_lines(self) -> None:
        """Send the record from its first line again: there is a new listener."""
        self._sent = 0

    def read_new_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that were not sent yet, in pieces: offset in bytes, and whole lines."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._sent)
                # The writer may be in the middle of a line. Half a line must not be sent: the other side checks each
                # line's hash.
                while data := _whole_lines(file.read(CHUNK_BYTES)) or _whole_lines(file.readline(MAX_LINE_BYTES)):
                    yield self._sent, data
                    self._sent += len(data)
                    file.seek(self._sent)
        except FileNotFoundError:
            return

    def _release(self, returned: Returned | None) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            future.set_result(returned)


def _whole_lines(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1]


SEND_S = 0.5
"""Interval at which new lines of records are sent, in seconds."""
_KEPT_MATCHES = 256
"""Number of finished matches whose records are kept, in case the tournament asks for one again."""

SendLines = Callable[[str, str, int, bytes], None]
"""Sends lines of a record. The arguments are the run, the match, the offset of the lines in the record, and the lines.
"""


class HostSettings(Struct, frozen=True, kw_only=True):
    """Settings of all matches on a host."""

    folder: Path
    """Folder of programs, records and builds."""
    hidden: tuple[Path, ...]
    """Paths that no program may read."""
    sandbox: SandboxMode
    """The host's own sandbox mode. A tournament may demand a stricter one."""
    calibration: Calibration
    observers: Observers = field(default_factory=Observers)
    """Observers of all matches on this host."""


class HostRun:
    """A run of a tournament.

    Args:
        reactor: Twisted's reactor.
        offer: the tournament's request.
        settings: the host's settings.
        confinement: limits of the programs.
        send: sends lines of records.
    """

    def __init__(
        self, reactor: Any, offer: RunOffer, settings: HostSettings, confinement: Confinement, send: SendLines
    ) -> None:
        self.tournament = offer.tournament
        self._run = offer.run
        self._folder = settings.folder / "records" / offer.run
        self._folder.mkdir(parents=True, exist_ok=True)
        self._confinement = confinement
        self._builds = Builds(settings.folder / "builds", confinement)
        self._send = send
        self._matches: dict[str, HostedMatch] = {}
        """Name -> match that is being played or is over."""
        self._over: deque[str] = deque()
        commits = make_commits(reactor, offer.terms)
        services = MatchServices(confinement=confinement, terms=offer.terms, observers=settings.observers)
        self._tables = LocalTables(reactor, time.monotonic, self._folder, services, offer.process, commits)
        self.lag = self._tables.loop.lag
        self.lag.start()
        self._sending = LoopingCall(self._send_all_lines)
        self._sending.clock = reactor
        self._sending.start(SEND_S, now=False)

    def prepare_job(self, shipped: ShippedJob, programs: ProgramStore) -> MatchJob:
        """Build the programs of a match, and return the job with their places on this host. Call it in any thread.

        Raises:
            RefereeError: the match cannot be played here.
        """
        job = decode_job(shipped.job)
        seats = zip(job.seats, shipped.programs, strict=True)
        return replace(job, seats=tuple(self._prepare_seat(seat, digest, programs) for seat, digest in seats))

    def _prepare_seat(self, seat: JobSeat, digest: str, programs: ProgramStore) -> JobSeat:
        """Build a seat's program. If that fails the seat stays vacant, and is judged like a failed start."""
        if seat.launch is None:
            return seat
        launch = _localise(seat.launch, digest, programs)
        try:
            self._builds.build(launch)
            resolve_command(launch)
        except PlayerError as error:
            return replace(seat, launch=None, why_not=str(error))
        return replace(seat, launch=launch)

    def begin(self, job: MatchJob) -> "Future[Returned | None]":
        """Play a match, unless it is being played or was played; return a future of its result."""
        hosted = self._matches.get(job.match)
        if hosted is None:
            hosted = self._matches[job.match] = HostedMatch(self._folder / f"{job.match}.jsonl")
            # A match that was broken off may have left a record. A writer never continues such a file, so it is deleted
            # first.
            hosted.path.unlink(missing_ok=True)
            hosted.playing = Deferred.fromCoroutine(self._play(job, hosted))
        return hosted.wait()

    async def _play(self, job: MatchJob, hosted: HostedMatch) -> None:
        returned: Returned
        try:
            await self._tables.play(job, job.occupants, sealer=KeylessSealer(job))
            returned = PlayedMatch(record=hosted.path.read_bytes(), printed=take_output(self._folder, job))
        except (MatchPaused, CancelledError):
            returned = BrokenOff(why="it was stopped")
        except Exception as error:  # noqa: BLE001  # the tournament is sent the error
            why = f"{type(error).__name__}: {error}"
            is_begun = hosted.path.exists()
            returned = BrokenOff(why=why, printed=take_output(self._folder, job)) if is_begun else NotBegun(why=why)
        # The last lines are sent before the result, so that people who watch see the end of the match, and not only the
        # standings.
        self._send_lines(job.match, hosted)
        hosted.end(returned)
        self._forget(job.match, hosted)

    def _forget(self, match: str, hosted: HostedMatch) -> None:
        """Forget a match that may be played again, and the oldest ones that are over."""
        hosted.playing = None
        # A match that did not reach its end may be played here again. A finished match is kept: the answer can be lost
        # on its way, and the tournament asks for it again when it has reconnected.
        if not isinstance(hosted.returned, PlayedMatch):
            del self._matches[match]
            return
        self._over.append(match)
        while len(self._over) > _KEPT_MATCHES:
            self._matches.pop(self._over.popleft()).path.unlink(missing_ok=True)

    def resume(self, wanted: tuple[str, ...]) -> None:
        """Continue the matches that the tournament waits for, and send their records again from the first line.

        Args:
            wanted: names of these matches. All others are stopped.
        """
        for match, hosted in list(self._matches.items()):
            hosted.restart_lines()
            if match not in wanted:
                hosted.stop()

    def stop(self, match: str) -> None:
        """Stop a match in the middle, if it is played here."""
        if match in self._matches:
            self._matches[match].stop()

    def release(self) -> None:
        """Answer None to all calls that wait for a match. The matches go on."""
        for hosted in self._matches.values():
            hosted.release()

    @property
    def playing(self) -> int:
        """Number of matches that are being played."""
        return sum(hosted.playing is not None for hosted in self._matches.values())

    @property
    def is_idle(self) -> bool:
        """True if no match is being played."""
        return not self.playing

    @property
    def is_fetched(self) -> bool:
        """True if the tournament has the results of all matches."""
        return all(hosted.is_fetched for hosted in self._matches.values())

    async def close(self) -> None:
        """Stop all matches, and wait until their programs have exited."""
        for hosted in list(self._matches.values()):
            playing = hosted.playing
            if playing is not None:
                playing.cancel()
                await playing
        self._sending.stop()
        self.lag.stop()
        await self._tables.close()
        self._confinement.close()

    def _send_all_lines(self) -> None:
        for match, hosted in self._matches.items():
            if hosted.playing is not None:
                self._send_lines(match, hosted)

    def _send_lines(self, match: str, hosted: HostedMatch) -> None:
        for offset, lines in hosted.read_new_lines():
            self._send(self._run, match, offset, lines)


def choose_confinement(offer: RunOffer, settings: HostSettings, warn: Callable[[str], None]) -> Confinement:
    """Choose the limits of a tournament's programs on this host. Call it in any thread.

    Of the host's sandbox mode and the tournament's, the stricter one holds, but "off" wins over "auto".

    Raises:
        NoSandboxError: the host or the tournament demands a sandbox, and this machine has none.
    """
    modes = (settings.sandbox, offer.terms.sandbox)
    # "off" wins over "auto" because somebody has written it down, while "auto" is only the default.
    mode = next(mode for mode in (SandboxMode.REQUIRED, SandboxMode.OFF, SandboxMode.AUTO) if mode in modes)
    terms = replace(offer.terms, sandbox=mode)
    return find_confinement(terms, hidden=settings.hidden, private_names=record_names, warn=warn)


def _localise(launch: Launch, digest: str, programs: ProgramStore) -> Launch:
    """Return a launch with the program's place on this host.

    Raises:
        RefereeError: the program is a command, which names a file on the tournament's machine.
    """
    if launch.is_house:
        return replace(house_launch(launch.argv[-1]), name=launch.name, matches=launch.matches)
    if not digest:
        raise RefereeError(f"{launch.name} is a command of the machine that runs the tournament")
    return replace(launch, folder=programs.path(digest))
