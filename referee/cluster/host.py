"""A host of the cluster as Dask's threads call it: lets runs of tournaments in, keeps programs, plays matches.

While its timers slip, it takes no matches: all of them are measured in time. What a fixed piece of work takes here is
measured under full load: on all tables at once, before anything is played. Idle neighbours would flatter it: cores
share caches and heat, and there may be fewer of them than tables.
"""

import hashlib
import os
import secrets
import shutil
import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from statistics import median
from typing import Any, TypeVar

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.task import LoopingCall

from .. import __version__
from ..errors import RefereeError
from ..files.tree import MIB
from ..match.setup import DEFAULT_LAG_MARGIN_MS
from ..net.event_loop import Lag
from ..net.jobs.job import rules_digest
from ..programs.capabilities import examine
from ..programs.confining import Confinement
from ..text import printable
from ..tournament.hosts import Calibration
from .examination import HostReport
from .host_run import HostRun, HostSettings, confinement_of
from .messages import (
    BrokenOff,
    CommonVersions,
    KeptFolder,
    Needs,
    NotBegun,
    Returned,
    RunAnswer,
    RunOffer,
    ShippedJob,
    StopMatch,
    ToldByHost,
    packed,
    unpacked,
)
from .programs import ProgramStore
from .security import dask_version

SLIP_S = DEFAULT_LAG_MARGIN_MS / 1000
"""A standstill of more than this usually leaves it open who was late; shorter ones are taken off as lag."""
LOOK_BACK_S = 10.0
SICK_S = 1.0
"""So long in all of that, and the host is not well until there is none of it."""


class Health:
    """How long the loop of a host stood still lately.

    Args:
        changed: called with whether it is well, when that changes.
    """

    def __init__(self, changed: Callable[[bool], None]) -> None:
        self.is_well = True
        self._changed = changed
        self._slips: deque[tuple[float, float]] = deque()
        """Begin and end, in monotonic seconds."""

    def listen(self, lag: Lag) -> None:
        """Hear of the standstills of a loop: of one that several beats tell of, once."""
        lag.listeners.add(self.stalled)

    def stalled(self, begin: float, end: float) -> None:
        """Take note of a standstill.

        Args:
            begin: monotonic seconds.
            end: monotonic seconds: now.
        """
        begin = max(begin, self._slips[-1][1]) if self._slips else begin
        if end - begin > SLIP_S:
            self._slips.append((begin, end))
            self.look(end)

    def look(self, now: float) -> None:
        """Look whether it is well, and tell if that has changed; a sick one has to be looked at again.

        Args:
            now: monotonic seconds.
        """
        while self._slips and self._slips[0][1] <= now - LOOK_BACK_S:
            self._slips.popleft()
        still_s = sum(end - begin for begin, end in self._slips)
        is_well = still_s <= SICK_S if self.is_well else not self._slips
        if is_well != self.is_well:
            self.is_well = is_well
            self._changed(is_well)


WORK_S = 0.6
"""How long each table works: about a hundred pieces."""
_ROUNDS = 40_000
"""Of one piece: some milliseconds of a core."""
_START_S = 60.0
_DIGITS = 3


class NotCalibrated(RefereeError):
    """A machine on which not all tables can work at once; the text says what to do."""


def calibrate(tables: int, work_s: float = WORK_S) -> Calibration:
    """Return what a piece of work takes here; of all pieces on all tables, the median.

    It is to be called before this process has threads: it forks.

    Args:
        tables: how many matches are played at a time.
        work_s: how long each table works.

    Raises:
        NotCalibrated: the machine can't have so many processes.
    """
    context = get_context("fork")
    gate = context.Barrier(tables)
    try:
        with ProcessPoolExecutor(tables, context, initializer=_wait, initargs=(gate,)) as pool:
            pieces = [piece for found in pool.map(_work, [work_s] * tables) for piece in found]
    except (BrokenExecutor, OSError) as error:
        raise NotCalibrated(f"{tables} tables can't work here at once: {error}; give it fewer --tables") from None
    walls, processors = zip(*pieces, strict=True)
    return Calibration(
        tables=tables,
        wall_ms=round(1000 * median(walls), _DIGITS),
        processor_ms=round(1000 * median(processors), _DIGITS),
    )


def _wait(gate: Any) -> None:
    """Let all tables begin at once."""
    gate.wait(_START_S)


def _work(work_s: float) -> list[tuple[float, float]]:
    """Do pieces of work for a while; return the seconds that each took, by the clock and of the core."""
    found: list[tuple[float, float]] = []
    until = time.perf_counter() + work_s
    while not found or time.perf_counter() < until:
        begun_s, spent_s = time.perf_counter(), time.process_time()
        _piece()
        found.append((time.perf_counter() - begun_s, time.process_time() - spent_s))
    return found


def _piece() -> bytes:
    """Do what programs do: count, look up, sort, and make text of it; half a MiB of memory is gone over."""
    table: dict[int, int] = {}
    for number in range(_ROUNDS):
        table[number * 7919 % 10_007] = table.get(number % 10_007, 0) + number
    return hashlib.sha256(repr(sorted(table.values())).encode()).digest()


T = TypeVar("T")
CALL_S = 15.0
"""How long the loop may take to answer a call; the dispatcher waits longer."""


LOOK_S = 1.0
"""How often it is looked whether a host is well again."""


def new_name() -> str:
    """Return a name for this process among the hosts, which no other one has."""
    return f"{socket.gethostname()}-{secrets.token_hex(3)}"


def versions(game: str) -> CommonVersions:
    """Return what has to be the same wherever matches of a game are played.

    Raises:
        RefereeError: the game is not known here.
    """
    return CommonVersions(
        referee=__version__,
        python=f"{sys.version_info.major}.{sys.version_info.minor}",
        distributed=dask_version(),
        rules=rules_digest(game),
    )


class Host:
    """This process as a host; its public methods are called in any thread but the loop's.

    Args:
        reactor: Twisted's, whose loop plays.
        name: of this process among the hosts.
        settings: what all matches are held to here.
        tell: sends an event to whoever listens to a topic; called in the loop.
        say: tells the organiser of the host something; called in any thread.
        rest: lets it take no matches for a while, or take them again.
    """

    def __init__(
        self,
        reactor: Any,
        name: str,
        settings: HostSettings,
        tell: Callable[[str, dict[str, Any]], None],
        say: Callable[[str], None],
        rest: Callable[[bool], None],
    ) -> None:
        self._reactor = reactor
        self._name = name
        self._settings = settings
        self._tell = tell
        self._say = say
        self._programs = ProgramStore(settings.folder / "programs")
        self._runs: dict[str, HostRun] = {}
        self._rest = rest
        self._health = Health(self._changed)
        self._looking: Any = LoopingCall(lambda: self._health.look(time.monotonic()))
        self._looking.clock = reactor

    # --- called by Dask

    def enter(self, data: bytes) -> bytes:
        """Let a run of a tournament in, or say why not."""
        try:
            hello = unpacked(data, RunOffer)
            refused = self._let_in(hello)
        except Exception as error:  # noqa: BLE001  # whoever asked is told
            refused = _words(error)
        if refused is not None:
            self._say(printable(f"does not play for a tournament that has asked for it: {refused}"))
        return packed(RunAnswer(refused=refused, calibration=self._settings.calibration))

    def _let_in(self, hello: RunOffer) -> str | None:
        """Let a run of a tournament in; return why not, if so."""
        ours = versions(hello.game)
        if ours != hello.versions:
            return _difference(hello.versions, ours)
        self._in_loop(self._enter, hello, confinement_of(hello, self._settings, self._say))
        return None

    def keep(self, data: bytes) -> bytes:
        """Keep a program's folder."""
        try:
            kept = unpacked(data, KeptFolder)
            self._programs.keep(kept.digest, kept.folder)
        except Exception as error:  # noqa: BLE001  # whoever asked is told
            return packed(RunAnswer(refused=_words(error)))
        return packed(RunAnswer())

    def stop(self, data: bytes) -> bytes:
        """Stop a match, or all of a run."""
        try:
            self._in_loop(self._stop, unpacked(data, StopMatch))
        except Exception as error:  # noqa: BLE001  # whoever asked is told
            return packed(RunAnswer(refused=_words(error)))
        return packed(RunAnswer())

    def describe(self, _data: bytes) -> bytes:
        """Say how this host is."""
        begun = time.monotonic()
        playing = self._in_loop(lambda: sum(run.playing for run in self._runs.values()))
        lag_s = time.monotonic() - begun
        folder = self._settings.folder
        report = HostReport(
            playing=playing,
            referee=__version__,
            python=sys.version.split()[0],
            distributed=dask_version(),
            cores=len(os.sched_getaffinity(0)),
            missing=tuple(found.name for found in examine(folder) if not found.is_fine),
            lag_ms=round(1000 * lag_s, 3),
            free_mib=round(shutil.disk_usage(folder).free / MIB, 1),
            calibration=self._settings.calibration,
        )
        return packed(report)

    def play(self, data: bytes) -> bytes:
        """Play a match to its end; one that is being played, or was, is not played again."""
        returned: Returned | None
        try:
            returned = self._played(unpacked(data, ShippedJob))
        except Exception as error:  # noqa: BLE001  # whoever asked is told
            returned = NotBegun(why=_words(error))
        return packed(returned or BrokenOff(why="the connection to the scheduler was lost"))

    def _played(self, shipped: ShippedJob) -> Returned | None:
        run = self._runs.get(shipped.run)
        if run is None:
            return NotBegun(why="this host does not know the tournament")
        if missing := sorted({digest for digest in shipped.programs if digest and not self._programs.has(digest)}):
            return Needs(digests=tuple(missing))
        job = run.prepared(shipped, self._programs)
        return self._in_loop(run.begin, job).result()

    def _in_loop(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function in the loop, and wait for what it returns."""
        outcome: Future[T] = Future()

        def _call() -> None:
            try:
                outcome.set_result(function(*args))
            except Exception as error:  # noqa: BLE001  # raised where it is waited for
                outcome.set_exception(error)

        self._reactor.callFromThread(_call)
        return outcome.result(CALL_S)

    # --- in the loop

    def _enter(self, hello: RunOffer, confinement: Confinement) -> None:
        for name, run in list(self._runs.items()):
            if name != hello.run and (run.tournament == hello.tournament or run.is_idle):
                self._leave(name)
        known = self._runs.get(hello.run)
        if known is None:
            known = HostRun(self._reactor, hello, self._settings, confinement, self._told)
            self._health.listen(known.lag)
            self._runs[hello.run] = known
            self._say(printable(f"plays for {hello.tournament.rpartition(' ')[0]}"))
        known.listen(hello.wanted)

    def _changed(self, is_well: bool) -> None:  # noqa: FBT001  # of the health
        """Take no matches while the timers here slip: all of them are measured in time."""
        self._rest(not is_well)
        if is_well:
            self._looking.stop()
            self._say("its timers keep time again: it takes matches")
        else:
            self._looking.start(LOOK_S, now=False)
            self._say(
                "takes no matches until its timers keep time again: this machine has too much to do, or stood still"
            )

    def _stop(self, stop: StopMatch) -> None:
        run = self._runs.get(stop.run)
        if run is not None and stop.match is not None:
            run.stop(stop.match)
        elif run is not None:
            self._leave(stop.run)

    def _leave(self, name: str) -> None:
        Deferred.fromCoroutine(self._runs.pop(name).close())

    def _told(self, run: str, match: str, offset: int, lines: bytes) -> None:
        told = ToldByHost(host=self._name, match=match, offset=offset, lines=lines)
        self._tell(run, msgspec.to_builtins(told, builtin_types=(bytes,)))

    @property
    def is_idle(self) -> bool:
        """Whether nothing is played here."""
        return all(run.is_idle for run in self._runs.values())

    @property
    def is_fetched(self) -> bool:
        """Whether nothing is played here, and somebody was given what came of each match."""
        return self.is_idle and all(run.is_fetched for run in self._runs.values())

    def release(self) -> None:
        """Let nobody wait for a match any more: the connection is lost, and will be another one."""
        for run in self._runs.values():
            run.release()

    async def close(self) -> None:
        """Stop all, and wait until nothing is left of it."""
        if self._looking.running:
            self._looking.stop()
        runs = [self._runs.pop(name) for name in list(self._runs)]
        for run in runs:
            await run.close()


def _difference(theirs: CommonVersions, ours: CommonVersions) -> str:
    """Return what is not the same here."""
    names = [field for field in ours.__struct_fields__ if getattr(ours, field) != getattr(theirs, field)]
    parts = [f"{name} is {getattr(ours, name):.20} here and {getattr(theirs, name):.20} there" for name in names]
    return f"{'; '.join(parts)}: install the same on all hosts"


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, RefereeError) else f"{type(error).__name__}: {error}"
