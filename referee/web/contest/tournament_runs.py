"""Starts the tournaments of a contest at their times, each in a process of its own."""

# With separate processes, a crash of one tournament affects no other, and visitors of the site take no time from
# matches. The process prints events as lines of JSON; this module reads them in a thread and shows them on the site.
# Nothing has to be sent to the process. Whether a tournament is paused, over or played elsewhere can be read from its
# files, so a server that was killed can continue.

import contextlib
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
from msgspec.structs import asdict, replace
from twisted.internet.defer import Deferred

from ...app.tournament_file.plan import TournamentPlan
from ...app.tournament_file.sheet import BadTournamentFile
from ...app.tournaments.beginning import is_locked
from ...app.tournaments.from_file import read_plan
from ...app.tournaments.requests import frozen_path
from ...clock import Timer, wall_clock
from ...observers.live_file import WatchedFile
from ...observers.process_lines import SeenProcess
from ...observers.spectating import SeenTable
from ...programs.processes import OwnProcess
from ..contest_json import OpenMatch
from ..live import LiveTable, LiveTables
from ..published import find_entrants, heads_path
from .contest_file import ScheduledTournament

AGAIN_S = (5.0, 30.0, 120.0, 600.0)
"""Seconds between a failed run and the next run; the last value repeats."""
_OVER, _WRONG_FILE = 0, 2
"""Exit statuses of `referee tournament`."""
_LONGEST_S = 86_400.0
"""Longest timer in seconds. After that, the clock is read again, because somebody may have changed it."""


class RunState(StrEnum):
    """The state of a tournament, in words."""

    WAITING = "waits for its time"
    RUNNING = "is running"
    OVER = "is over"
    INTERRUPTED = "is started again soon"
    STOPPING = "is being stopped"
    PAUSED = "is paused by the organiser"
    ELSEWHERE = "is played by another referee"
    FAILED = "waits for the organiser"


class TournamentRun:
    """The runs of one tournament: the first run, and further runs after a pause or a fault.

    Args:
        reactor: Twisted's reactor.
        scheduled: plan and start of the tournament.
        referee: command line of this program.
        options: options for the tournament's process.
        live: live view of the tables.
        changed: called when the public state has changed.
        match_over: called with this object and the event of the process when a match is over.
    """

    def __init__(
        self,
        reactor: Any,
        scheduled: ScheduledTournament,
        referee: Sequence[str],
        options: Sequence[str],
        live: LiveTables,
        changed: Callable[[], None],
        match_over: Callable[["TournamentRun", Mapping[str, Any]], None] = lambda _run, _facts: None,
    ) -> None:
        self.scheduled = scheduled
        self.state = RunState.WAITING
        self.since = datetime.now(UTC)
        self.open_matches: dict[str, OpenMatch] = {}
        """Name of an open match -> the match."""
        self.played = 0
        self.processes: Sequence[SeenProcess] = ()
        """Processes that play its matches, from the last report."""
        self.heard: datetime | None = None
        """Time of that report, in UTC."""
        self._reactor = reactor
        self._referee = referee
        self._options = options
        self._live = live
        self._changed = changed
        self._match_over = match_over
        self._faults = 0
        self._timer: Timer | None = None
        self._watched: WatchedFile | None = None
        """File to which a referee at a terminal writes; None while no such referee plays the tournament."""
        self._process: OwnProcess | None = None
        self._ended: Deferred[None] | None = None
        self._read_at = _read_times(scheduled.plan)

    @property
    def folder(self) -> Path:
        """Folder of the records."""
        return self.scheduled.plan.run_settings.folder

    @property
    def log(self) -> Path:
        """File with the messages of its processes to the organiser."""
        return self.folder.with_name(f"{self.folder.name}.log")

    @property
    def may_start(self) -> bool:
        """True if an organiser may start it now."""
        return self._process is None and self.state not in (RunState.OVER, RunState.ELSEWHERE)

    @property
    def may_pause(self) -> bool:
        """True if an organiser may pause it now."""
        return self.state in (RunState.WAITING, RunState.RUNNING, RunState.INTERRUPTED)

    @property
    def may_stop(self) -> bool:
        """True if an organiser may stop it for good now."""
        return self.folder.exists() and self.state not in (RunState.OVER, RunState.STOPPING)

    @property
    def is_frozen(self) -> bool:
        """True if its standings are frozen: then the site shows no later result and no open match."""
        return frozen_path(self.folder).exists()

    @property
    def is_played(self) -> bool:
        """True if it is being played, or may begin at any moment."""
        return self._process is not None or self.state in (RunState.INTERRUPTED, RunState.ELSEWHERE)

    @property
    def due(self) -> datetime | None:
        """Time of the next run in UTC; None if no run begins by itself."""
        if self._timer is None or not self._timer.active():
            return None
        left_s = self._timer.getTime() - self._reactor.seconds()
        return self.scheduled.start if self.state is RunState.WAITING else datetime.now(UTC) + timedelta(seconds=left_s)

    def find_addresses(self, names: Iterable[str]) -> list[str | None]:
        """Return the address of each entrant's page, relative to the site's first page; None if it has no page yet."""
        spec = self.scheduled.plan.spec
        return find_entrants(self.folder, [entrant.name for entrant in spec.entrants], names)

    def begin(self) -> None:
        """Start the tournament now or at its time, unless it is paused or played elsewhere."""
        if is_locked(self.folder):
            self._set(RunState.ELSEWHERE)
            return
        if self._pause.exists():
            self._set(RunState.PAUSED)
            self.since = datetime.fromtimestamp(self._pause.stat().st_mtime, UTC)
            return
        start_at = None if self.folder.exists() else self.scheduled.start
        left_s = 0.0 if start_at is None else (start_at - datetime.now(UTC)).total_seconds()
        if left_s <= 0:
            self._start()
        else:
            if self.state is not RunState.WAITING:
                self._set(RunState.WAITING)
            self._timer = self._reactor.callLater(min(left_s, _LONGEST_S), self.begin)

    def look_around(self) -> None:
        """Look whether another referee has begun or stopped playing it, and whether its file has changed.

        Somebody may play a tournament from a terminal while this server does not play it.
        """
        if self._process is not None:
            return
        is_elsewhere = is_locked(self.folder)
        if is_elsewhere != (self.state is RunState.ELSEWHERE):
            self._cancel()
            self._stop_watching()
            self.begin()
        elif is_elsewhere:
            self._watch()
        elif not is_elsewhere and not self.folder.exists():
            self._read_again()

    def _watch(self) -> None:
        """Handle the lines that a referee at a terminal has written about the tournament."""
        if self._watched is None:
            self._watched = WatchedFile(self.folder)
        for line in self._watched.read_lines():
            self.take(line)

    def _stop_watching(self) -> None:
        if self._watched is not None:
            self._watch()  # the last results
            self._watched.remove()
            self._watched = None
            self._forget_matches()

    def _forget_matches(self) -> None:
        self.open_matches.clear()
        self.processes, self.heard = (), None
        self._live.clear_tournament(self.scheduled.name)

    def _read_again(self) -> None:
        """Read its file again, if the file or the folder of its entrants has changed."""
        times = _read_times(self.scheduled.plan)
        if times == self._read_at:
            return
        self._read_at = times
        self._read_plan()
        self._changed()

    def _read_plan(self) -> None:
        """Read its file. A file with mistakes changes nothing here; the tournament's process reports the mistakes."""
        with contextlib.suppress(BadTournamentFile, OSError):
            plan = read_plan(self.scheduled.plan.path, name=self.scheduled.name)
            self.scheduled = replace(self.scheduled, plan=plan)

    def stop(self) -> "Deferred[None]":
        """Ask its process to end; in the next run, its matches continue from their records.

        Returns:
            Deferred that fires when the process has ended.
        """
        self._cancel()
        self._stop_watching()
        ended, self._ended = Deferred[None](), None
        if self._process is None:
            ended.callback(None)
        else:
            self._ended = ended
            self._process.ask_to_end()
        return ended

    def start(self) -> None:
        """Start it at once, whatever its start time; `may_start` must be true."""
        self._pause.unlink(missing_ok=True)
        self._cancel()
        self._start()

    def pause(self) -> None:
        """Interrupt it until an organiser starts it again; `may_pause` must be true."""
        self._pause.parent.mkdir(parents=True, exist_ok=True)
        self._pause.touch()
        self._set(RunState.STOPPING)
        self.stop().addCallback(self._finish_pause)

    def _finish_pause(self, _: None) -> None:
        if self.state is RunState.OVER:  # it has just ended by itself
            self._pause.unlink(missing_ok=True)
        else:
            self._set(RunState.PAUSED)

    def look_again(self, *, must_run: bool = False) -> None:
        """Carry out a new ruling; called in any thread.

        Args:
            must_run: true to start a paused tournament, so that the ruling does not have to wait.
        """
        self._reactor.callFromThread(self._look, must_run)

    def _look(self, must_run: bool) -> None:  # noqa: FBT001  # callFromThread passes no names
        if self._process is None and (must_run or self.state is RunState.OVER):
            self.start()

    @property
    def _pause(self) -> Path:
        """File that exists while the tournament is paused."""
        return self.folder.with_name(f"{self.folder.name}.paused")

    def _cancel(self) -> None:
        if self._timer is not None and self._timer.active():
            self._timer.cancel()
        self._timer = None

    def _start(self) -> None:
        if is_locked(self.folder):
            self._set(RunState.ELSEWHERE)
            return
        path = str(self.scheduled.plan.path)
        self._read_plan()
        output = ("--json", "--no-report", "--heads", str(heads_path(self.folder)))
        argv = [*self._referee, "tournament", path, *output, *self._options, *self.scheduled.options]
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = OwnProcess(argv, output=subprocess.PIPE, errors=log)
        self._set(RunState.RUNNING)
        Thread(target=self._follow, args=(self._process,), name=f"lines of {path}", daemon=True).start()

    def _follow(self, process: OwnProcess) -> None:
        """Pass the lines of a process and its exit status to the reactor; runs in a thread of its own."""
        assert process.output is not None
        with process.output as lines:
            for line in lines:
                self._reactor.callFromThread(self.take, line)
        self._reactor.callFromThread(self._end, process.wait())

    def take(self, line: bytes) -> None:
        """Handle a line that the process of the tournament printed."""
        facts = msgspec.json.decode(line)
        match facts["event"]:
            case "tournament-begun" | "tournament-over" | "entrant-suspended":  # a suspension may disregard matches
                self.played = facts["played"]
            case "match-opened":
                match = OpenMatch(
                    match=facts["match"],
                    names=facts["names"],
                    addresses=self.find_addresses(facts["names"]),
                    round=facts["round"],
                    opened=wall_clock(),
                )
                self.open_matches[match.match] = match
                table = LiveTable(tournament=self.scheduled.name, table=facts["table"], **asdict(match))
                if not self.is_frozen:
                    self._live.open_match(table)
            case "processes-seen":
                self.processes, self.heard = msgspec.convert(facts["processes"], list[SeenProcess]), datetime.now(UTC)
                return
            case "table-changed":
                if self.is_frozen:
                    self._live.clear_tournament(self.scheduled.name)
                else:
                    self._live.show_match(self.scheduled.name, msgspec.convert(facts["table"], SeenTable))
                return
            case "match-closed" | "match-voided":
                self.open_matches.pop(facts["match"], None)
                if not self.is_frozen:
                    self._live.close_match(self.scheduled.name, facts["match"], facts["result"])
                self.played = facts.get("played", self.played)
                if facts["event"] == "match-closed":
                    self._match_over(self, facts)
            case _:
                return
        self._changed()

    def _end(self, status: int) -> None:
        self._process = None
        self._forget_matches()
        if self._ended is not None:
            self._set(RunState.OVER if status == _OVER else RunState.INTERRUPTED)
            self._ended.callback(None)
            self._ended = None
        elif status == _OVER:
            self._set(RunState.OVER)
        elif status == _WRONG_FILE:
            self._set(RunState.FAILED)
        else:
            self._timer = self._reactor.callLater(AGAIN_S[min(self._faults, len(AGAIN_S) - 1)], self._start)
            self._faults += 1
            self._set(RunState.INTERRUPTED)

    def _set(self, state: RunState) -> None:
        self.state, self.since = state, datetime.now(UTC)
        self._changed()


def _read_times(plan: TournamentPlan) -> tuple[int, ...]:
    """Return the times of the last change of a tournament's file and of its entrants' folder; 0 for a missing path."""

    def _look(path: Path) -> int:
        try:
            return path.stat().st_mtime_ns
        except OSError:
            return 0

    return tuple(_look(path) for path in plan.read_from)


def count_open(runs: Iterable[TournamentRun]) -> int | None:
    """Return the number of open matches; None if no tournament could begin a match now."""
    played = [len(run.open_matches) for run in runs if run.is_played]
    return sum(played) if played else None
