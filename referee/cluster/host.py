"""A host of the cluster: admits runs of tournaments, stores programs, plays matches.

Dask calls the public methods in its threads; the matches are played in Twisted's loop.

Two measurements protect the players. While the loop stands still too often (`Health`), the host takes no matches,
since the players' time could not be measured fairly. And before anything is played, `calibrate` measures how long a
fixed piece of work takes. All tables work at once: cores share caches and heat, and there may be fewer cores than
tables, so that one table alone would be too fast.
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
from . import messages as m
from .host_run import HostRun, HostSettings, choose_confinement
from .host_states import HostReport
from .programs import ProgramStore
from .security import dask_version

SLIP_S = DEFAULT_LAG_MARGIN_MS / 1000
"""Standstills longer than this count against the host. Shorter ones are subtracted from the players' time as lag."""
WINDOW_S = 10.0
"""Span of time over which standstills are added up."""
MAX_STALLED_S = 1.0
"""A host is unwell if its standstills in that span add up to more than this. It is well again after a span without
any."""


class Health:
    """Adds up how long a host's loop has stood still lately.

    Args:
        on_change: called when the host's state changes, with whether it is well.
    """

    def __init__(self, on_change: Callable[[bool], None]) -> None:
        self.is_well = True
        self._on_change = on_change
        self._slips: deque[tuple[float, float]] = deque()
        """Begin and end of each standstill, in monotonic seconds."""

    def listen(self, lag: Lag) -> None:
        """Record the standstills of a loop. A standstill that is reported twice counts once (see `note_stall`)."""
        lag.listeners.add(self.note_stall)

    def note_stall(self, begin: float, end: float) -> None:
        """Record a standstill.

        Args:
            begin: its begin, in monotonic seconds.
            end: its end, which is now, in monotonic seconds.
        """
        # Each run has a loop monitor of its own, and all of them see the same standstill. Only the part after the end
        # of the last known standstill counts.
        begin = max(begin, self._slips[-1][1]) if self._slips else begin
        if end - begin > SLIP_S:
            self._slips.append((begin, end))
            self.look(end)

    def look(self, now: float) -> None:
        """Compute whether the host is well. Call this again and again while it is unwell, so that it can be well again.

        Args:
            now: monotonic seconds.
        """
        while self._slips and self._slips[0][1] <= now - WINDOW_S:
            self._slips.popleft()
        stalled_s = sum(end - begin for begin, end in self._slips)
        # Hysteresis: without it, a host at the limit would take a match, slip again, and rest again every few seconds.
        is_well = stalled_s <= MAX_STALLED_S if self.is_well else not self._slips
        if is_well != self.is_well:
            self.is_well = is_well
            self._on_change(is_well)


WORK_S = 0.6
"""Time that each table works, in seconds: about a hundred pieces."""
_ROUNDS = 40_000
"""Number of loop turns in one piece, which takes a core a few milliseconds."""
_START_S = 60.0
_DIGITS = 3


def calibrate(tables: int, work_s: float = WORK_S) -> Calibration:
    """Measure how long a fixed piece of work takes here: the median of all pieces on all tables.

    Call it before this process has threads, since it forks.

    Args:
        tables: number of matches that are played at a time.
        work_s: seconds that each table works.

    Raises:
        RefereeError: the machine can't run that many processes.
    """
    # Forked, not spawned: a spawned interpreter imports for half a second, and the tables would not begin together.
    context = get_context("fork")
    gate = context.Barrier(tables)
    try:
        with ProcessPoolExecutor(tables, context, initializer=_wait, initargs=(gate,)) as pool:
            pieces = [piece for pieces in pool.map(work_pieces, [work_s] * tables) for piece in pieces]
    except (BrokenExecutor, OSError) as error:
        raise RefereeError(
            f"{tables} tables cannot work at once on this machine: {error}. Use fewer --tables"
        ) from None
    walls, processors = zip(*pieces, strict=True)
    return Calibration(
        tables=tables,
        wall_ms=round(1000 * median(walls), _DIGITS),
        processor_ms=round(1000 * median(processors), _DIGITS),
    )


def _wait(gate: Any) -> None:
    """Wait until all tables are ready, so that all begin at once."""
    gate.wait(_START_S)


def work_pieces(work_s: float) -> list[tuple[float, float]]:
    """Work for a while; return the wall time and the processor time of each piece, in seconds."""
    pieces: list[tuple[float, float]] = []
    until = time.perf_counter() + work_s
    while not pieces or time.perf_counter() < until:
        begun_s, spent_s = time.perf_counter(), time.process_time()
        _piece()
        pieces.append((time.perf_counter() - begun_s, time.process_time() - spent_s))
    return pieces


def _piece() -> bytes:
    """Do what player programs do: count, look up, sort, and format text, in half a MiB of memory."""
    table: dict[int, int] = {}
    for number in range(_ROUNDS):
        table[number * 7919 % 10_007] = table.get(number % 10_007, 0) + number
    return hashlib.sha256(repr(sorted(table.values())).encode()).digest()


T = TypeVar("T")
CALL_S = 15.0
"""Time that the loop may take to answer a call, in seconds. The dispatcher waits longer than this."""
LOOK_S = 1.0
"""Interval at which an unwell host checks whether it is well again, in seconds."""


def new_name() -> str:
    """Return a unique name for this host: the machine's name and a random suffix."""
    return f"{socket.gethostname()}-{secrets.token_hex(3)}"


def versions(game: str) -> m.CommonVersions:
    """Return the versions that must be the same on all machines that play this game.

    Raises:
        RefereeError: the game is not installed here.
    """
    return m.CommonVersions(
        referee=__version__,
        python=f"{sys.version_info.major}.{sys.version_info.minor}",
        distributed=dask_version(),
        rules=rules_digest(game),
    )


class Host:
    """This process as a host. Call the public methods in any thread but the loop's.

    Args:
        reactor: Twisted's reactor, in whose loop the matches are played.
        name: name of this process among the hosts.
        settings: settings of all matches on this host.
        publish: publishes an event under a topic; called in the loop.
        say: prints a line for the organiser of the host; called in any thread.
        rest: called with True to take no matches for a while, with False to take them again.
    """

    def __init__(
        self,
        reactor: Any,
        name: str,
        settings: HostSettings,
        publish: Callable[[str, dict[str, Any]], None],
        say: Callable[[str], None],
        rest: Callable[[bool], None],
    ) -> None:
        self._reactor = reactor
        self._name = name
        self._settings = settings
        self._publish = publish
        self._say = say
        self._programs = ProgramStore(settings.folder / "programs")
        self._runs: dict[str, HostRun] = {}
        self._rest = rest
        self.health = Health(self._on_change)
        self._looking: Any = LoopingCall(lambda: self.health.look(time.monotonic()))
        self._looking.clock = reactor

    # --- called by Dask

    def enter(self, data: bytes) -> bytes:
        """Admit a run of a tournament, or answer why not."""
        try:
            refused = self._admit(m.decode_message(data, m.RunOffer))
        except Exception as error:  # noqa: BLE001  # the tournament is sent the error
            refused = _words(error)
        if refused is not None:
            self._say(printable(f"refused to play for a tournament: {refused}"))
        return m.encode_message(m.RunAnswer(refused=refused, calibration=self._settings.calibration))

    def _admit(self, offer: m.RunOffer) -> str | None:
        """Admit a run of a tournament; return the reason if this host refuses."""
        ours = versions(offer.game)
        if ours != offer.versions:
            return _describe_difference(offer.versions, ours)
        self._call_in_loop(self._enter, offer, choose_confinement(offer, self._settings, self._say))
        return None

    def store(self, data: bytes) -> bytes:
        """Store a program's folder."""
        try:
            program = m.decode_message(data, m.StoredFolder)
            self._programs.store(program.digest, program.folder)
        except Exception as error:  # noqa: BLE001  # the tournament is sent the error
            return m.encode_message(m.RunAnswer(refused=_words(error)))
        return m.encode_message(m.RunAnswer())

    def stop(self, data: bytes) -> bytes:
        """Stop a match, or all matches of a run."""
        try:
            self._call_in_loop(self._stop, m.decode_message(data, m.StopMatch))
        except Exception as error:  # noqa: BLE001  # the tournament is sent the error
            return m.encode_message(m.RunAnswer(refused=_words(error)))
        return m.encode_message(m.RunAnswer())

    def describe(self, _data: bytes) -> bytes:
        """Report this host's state."""
        begun = time.monotonic()
        playing = self._call_in_loop(lambda: sum(run.playing for run in self._runs.values()))
        lag_s = time.monotonic() - begun
        folder = self._settings.folder
        report = HostReport(
            playing=playing,
            referee=__version__,
            python=sys.version.split()[0],
            distributed=dask_version(),
            cores=len(os.sched_getaffinity(0)),
            missing=tuple(capability.name for capability in examine(folder) if not capability.is_fine),
            lag_ms=round(1000 * lag_s, 3),
            free_mib=round(shutil.disk_usage(folder).free / MIB, 1),
            calibration=self._settings.calibration,
        )
        return m.encode_message(report)

    def play(self, data: bytes) -> bytes:
        """Play a match to its end. If the match is being played or was played here already, return that result."""
        returned: m.Returned | None
        try:
            returned = self._play(m.decode_message(data, m.ShippedJob))
        except Exception as error:  # noqa: BLE001  # the tournament is sent the error
            returned = m.NotBegun(why=_words(error))
        return m.encode_message(returned or m.BrokenOff(why="the connection to the scheduler was lost"))

    def _play(self, shipped: m.ShippedJob) -> m.Returned | None:
        run = self._runs.get(shipped.run)
        if run is None:
            return m.NotBegun(why="it has not been asked to play for this tournament")
        if missing := sorted({digest for digest in shipped.programs if digest and not self._programs.has(digest)}):
            return m.Needs(digests=tuple(missing))
        job = run.prepare_job(shipped, self._programs)
        return self._call_in_loop(run.begin, job).result()

    def _call_in_loop(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function in the loop, and wait for its result."""
        # Twisted's own blockingCallFromThread has no time limit. If the loop hangs, Dask's threads must not hang with
        # it, or the host could not even say that it is in trouble.
        outcome: Future[T] = Future()

        def _call() -> None:
            try:
                outcome.set_result(function(*args))
            except Exception as error:  # noqa: BLE001  # raised again in the thread that waits
                outcome.set_exception(error)

        self._reactor.callFromThread(_call)
        return outcome.result(CALL_S)

    # --- in the loop

    def _enter(self, offer: m.RunOffer, confinement: Confinement) -> None:
        # A tournament that was stopped and started again is a new run, and the matches of its old run would only occupy
        # tables. Idle runs of other tournaments end here, too: nothing tells a host that a tournament was killed.
        for name, run in list(self._runs.items()):
            if name != offer.run and (run.tournament == offer.tournament or run.is_idle):
                self._leave(name)
        entered = self._runs.get(offer.run)
        if entered is None:
            entered = HostRun(self._reactor, offer, self._settings, confinement, self._publish_lines)
            self.health.listen(entered.lag)
            self._runs[offer.run] = entered
            self._say(printable(f"plays for {offer.tournament.rpartition(' ')[0]}"))
        entered.resume(offer.wanted)

    def _on_change(self, is_well: bool) -> None:  # noqa: FBT001  # what Health calls
        """Take no matches while the loop stands still too often."""
        self._rest(not is_well)
        if is_well:
            self._looking.stop()
            self._say("its clock is reliable again: it takes matches")
        else:
            self._looking.start(LOOK_S, now=False)
            self._say(
                "takes no matches for now: this machine is overloaded or stood still, so time cannot be measured fairly"
            )

    def _stop(self, stop: m.StopMatch) -> None:
        run = self._runs.get(stop.run)
        if run is not None and stop.match is not None:
            run.stop(stop.match)
        elif run is not None:
            self._leave(stop.run)

    def _leave(self, name: str) -> None:
        Deferred.fromCoroutine(self._runs.pop(name).close())

    def _publish_lines(self, run: str, match: str, offset: int, lines: bytes) -> None:
        message = m.HostLines(host=self._name, match=match, offset=offset, lines=lines)
        self._publish(run, msgspec.to_builtins(message, builtin_types=(bytes,)))

    @property
    def is_idle(self) -> bool:
        """True if no match is played here."""
        return all(run.is_idle for run in self._runs.values())

    @property
    def is_fetched(self) -> bool:
        """True if no match is played here, and the tournament has fetched all results."""
        return self.is_idle and all(run.is_fetched for run in self._runs.values())

    def release(self) -> None:
        """Answer None to all calls that wait for a match: their connection is lost. The matches go on."""
        for run in self._runs.values():
            run.release()

    async def close(self) -> None:
        """Stop all matches, and wait until their programs have exited."""
        if self._looking.running:
            self._looking.stop()
        runs = [self._runs.pop(name) for name in list(self._runs)]
        for run in runs:
            await run.close()


def _describe_difference(theirs: m.CommonVersions, ours: m.CommonVersions) -> str:
    """Describe the versions that differ between this host and the tournament."""
    names = [field for field in ours.__struct_fields__ if getattr(ours, field) != getattr(theirs, field)]
    parts = [f"{name} is {getattr(ours, name):.20} here and {getattr(theirs, name):.20} there" for name in names]
    return f"{'; '.join(parts)}: install the same version on all hosts"


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, RefereeError) else f"{type(error).__name__}: {error}"
