"""What an organiser sees of a contest, and does with it: each action by the application's own ways, and in the log."""

import os
import shutil
import stat
import tarfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast, get_args

from msgspec import Struct

from ...app.tournaments.requests import pending, rule
from ...errors import BadRequest
from ...files.below import everything_below
from ...files.tree import MIB
from ...net.links.tokens import add_tokens, remove_token
from ...observers.process_lines import SeenProcess
from ...pages.tournament_json import TournamentReport
from ...plugins import installed
from ...text import printable
from ...tournament.rulings import OF_ALL, Kind
from .intake import Intake, LoggedAction, read_last_lines
from .practice import Practice
from .queue import QueueLine, waiting_checks, waiting_matches, waiting_practice, waiting_tournaments
from .tournament_runs import TournamentRun

_SAID_LINES, _SAID_BYTES = 5, 4096
"""Most lines and bytes that are shown of the messages of a process."""
_PART_BYTES = 262_144


class TournamentLine(Struct, frozen=True, kw_only=True):
    """A tournament as its organiser sees it."""

    name: str
    game: str
    format: str
    state: str
    may_start: bool
    may_pause: bool
    may_stop: bool
    """For good."""
    played: int
    open_matches: int
    entrants: Sequence[str]
    requests: int
    """Rulings that its record does not have yet."""
    said: Sequence[str]


class ProcessLine(Struct, frozen=True, kw_only=True):
    """What plays matches of a tournament: its own process, a worker, or a host of a cluster."""

    tournament: str
    name: str
    state: str
    """State in words, such as `plays`."""
    tables: int | None
    """Number of matches that it plays at a time; None: as many as it is given."""
    matches: Sequence[str]
    """Matches that it has now; some of them may wait there."""
    lag_ms: float
    """The longest time lately that it was not listening."""
    heard: str
    """When something was heard of it last, ISO 8601 in UTC."""


class AuthorLine(Struct, frozen=True, kw_only=True):
    """An author as the organiser sees it."""

    name: str
    versions: int
    last: str | None
    """State of the last one; None: there is none."""
    plays: int | None
    """Which version; None: none has passed."""


class Machine(Struct, frozen=True, kw_only=True):
    """How the machine is."""

    load: float
    """Processes that want to run, over the last minute."""
    cores: int
    memory_free_mib: int | None
    """None: the system does not tell."""
    disk_free_mib: int
    lag_ms: float
    """Longest that the site stood still within the last minute."""


class Organising:
    """Does what organisers ask, and tells how things stand.

    Args:
        folder: of the contest.
        runs: of its tournaments, by name.
        intake: what is taken in from authors.
        practice: their practice matches.
        lag_ms: returns the longest that the site stood still lately.
        report: returns a tournament's report, by its name; None: there is none yet.
    """

    def __init__(
        self,
        folder: Path,
        runs: Mapping[str, TournamentRun],
        intake: Intake,
        practice: Practice,
        lag_ms: Callable[[], float],
        report: Callable[[str], TournamentReport | None],
    ) -> None:
        self._folder = folder
        self._runs = runs
        self._intake = intake
        self._practice = practice
        self._lag_ms = lag_ms
        self._report = report

    # --- what there is to see

    def tournaments(self) -> Sequence[TournamentLine]:
        """Return the tournaments."""
        return [self._line(run) for run in self._runs.values()]

    def _line(self, run: TournamentRun) -> TournamentLine:
        spec, report = run.scheduled.plan.spec, self._report(run.scheduled.name)
        return TournamentLine(
            name=run.scheduled.name,
            game=installed().game(spec.game).title,
            format=spec.format,
            state=run.state,
            may_start=run.may_start,
            may_pause=run.may_pause,
            may_stop=run.may_stop,
            played=max(run.played, 0 if report is None else report.played),
            open_matches=len(run.open_matches),
            entrants=[entrant.name for entrant in spec.entrants],
            requests=len(pending(run.folder)),
            said=[line.decode(errors="replace") for line in read_last_lines(run.log, _SAID_BYTES)[-_SAID_LINES:]],
        )

    def authors(self) -> Sequence[AuthorLine]:
        """Return the authors."""
        return [self._author(name) for name in self._intake.authors.names()]

    def _author(self, name: str) -> AuthorLine:
        versions = self._intake.store.versions(name)
        last = versions[-1].state if versions else None
        return AuthorLine(name=name, versions=len(versions), last=last, plays=self._intake.store.present(name))

    def machine(self) -> Machine:
        """Return how the machine is."""
        return Machine(
            load=os.getloadavg()[0],
            cores=os.cpu_count() or 1,
            memory_free_mib=_memory_free_mib(),
            disk_free_mib=shutil.disk_usage(self._folder).free // MIB,
            lag_ms=self._lag_ms(),
        )

    def processes(self) -> Sequence[ProcessLine]:
        """Return what plays the matches of all tournaments that are played now."""
        return [
            _process_line(name, process, run.heard)
            for name, run in self._runs.items()
            if run.heard is not None
            for process in run.processes
        ]

    def queue(self) -> Sequence[QueueLine]:
        """Return all that waits: checks and practice matches in their order, then tournaments, then their matches."""
        checks, practice = waiting_checks(self._intake.checks), waiting_practice(self._practice)
        runs = self._runs.values()
        return [*checks, *practice, *waiting_tournaments(runs), *waiting_matches(runs, self._report)]

    def actions(self) -> Sequence[LoggedAction]:
        """Return what organisers did, the last first."""
        return self._intake.actions.newest()

    # --- what there is to do

    def start(self, by: str, name: str) -> None:
        """Start a tournament, or let one go on that is paused.

        Raises:
            BadRequest: there is none, or it is played, stopping or over.
        """
        run = self._run(name)
        if not run.may_start:
            raise BadRequest(f"{name} {run.state}; there is nothing to start")
        run.start()
        self._intake.actions.add(by, "start", name)

    def pause(self, by: str, name: str) -> None:
        """Stop a tournament until it is started again.

        Raises:
            BadRequest: there is none, or it is not to be played now.
        """
        run = self._run(name)
        if not run.may_pause:
            raise BadRequest(f"{name} {run.state}; there is nothing to pause")
        run.pause()
        self._intake.actions.add(by, "pause", name)

    def rule(self, by: str, name: str, kind: str, subject: str, to: str, reason: str) -> None:
        """Hand in a ruling; called in a thread.

        Args:
            by: who decides.
            name: of the tournament.
            kind: what is decided.
            subject: entrant or match; empty: it is about the whole tournament.
            to: who a match is awarded to; empty: nobody.
            reason: for everybody to read.

        Raises:
            BadRequest: there is no such tournament, or the ruling makes no sense as it stands.
        """
        run = self._run(name)
        if kind not in get_args(Kind):
            raise BadRequest(f"there is no ruling {printable(kind)!r}, only {', '.join(get_args(Kind))}")
        is_stop = kind == OF_ALL
        if is_stop and not run.may_stop:
            raise BadRequest(f"{name} {run.state}: one that is played, or paused, can be stopped for good")
        rule(run.folder, cast("Kind", kind), subject or None, to or None, reason, by)
        about = name if is_stop else f"{subject} in {name}" + (f", to {to}" if to else "")
        self._intake.actions.add(by, kind, about, reason)
        run.look_again(must_run=is_stop)

    def add_author(self, by: str, name: str, *, may_renew: bool) -> str:
        """Let an author in, and return its token: the only time that it is to be seen.

        Raises:
            BadRequest: it is no name, or has a token already.
        """
        token = add_tokens(self._intake.authors_file, [name], may_renew=may_renew)[name]
        self._intake.actions.add(by, "renew the token of" if may_renew else "add", name)
        return token

    def shut_out(self, by: str, name: str) -> None:
        """Make an author's token worth nothing; its sessions end, and what it has handed in stays.

        Raises:
            BadRequest: there is no such author.
        """
        remove_token(self._intake.authors_file, name)
        self._intake.actions.add(by, "shut out", name)

    def archive(self, by: str) -> Iterator[bytes]:
        """Return the whole contest as a tar archive, part by part; without tokens and the key, as it is handed on."""
        self._intake.actions.add(by, "download", "the whole contest")
        return archive_folder(self._folder, self._intake.private)

    def _run(self, name: str) -> TournamentRun:
        if name not in self._runs:
            raise BadRequest("there is no such tournament")
        return self._runs[name]


def _process_line(tournament: str, process: SeenProcess, told: datetime) -> ProcessLine:
    return ProcessLine(
        tournament=tournament,
        name=process.name,
        state=process.state,
        tables=process.tables,
        matches=process.matches,
        lag_ms=process.lag_ms,
        heard=(told - timedelta(seconds=process.silent_s)).isoformat(timespec="seconds"),
    )


def _memory_free_mib() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    return found[0] // 1024 if found else None


def archive_folder(folder: Path, left_out: Collection[Path] = ()) -> Iterator[bytes]:
    """Yield a tar archive of a folder, as it is found; what goes away meanwhile is left out.

    Args:
        folder: whose files and links are packed, under its own name.
        left_out: files that are not.
    """
    for path in everything_below(folder):
        if path not in left_out:
            yield from _pack_path(path, Path(folder.name, path.relative_to(folder)))
    yield bytes(2 * tarfile.BLOCKSIZE)


def _pack_path(path: Path, shown: Path) -> Iterator[bytes]:
    try:
        status = path.lstat()
        info = tarfile.TarInfo(shown.as_posix())
        info.mode, info.mtime = stat.S_IMODE(status.st_mode), int(status.st_mtime)
        if stat.S_ISLNK(status.st_mode):
            info.type, info.linkname = tarfile.SYMTYPE, str(path.readlink())
            yield info.tobuf(tarfile.PAX_FORMAT)
        elif stat.S_ISREG(status.st_mode):
            with path.open("rb") as file:
                info.size = os.fstat(file.fileno()).st_size
                yield info.tobuf(tarfile.PAX_FORMAT)
                left = info.size
                while left and (part := file.read(min(left, _PART_BYTES))):
                    left -= len(part)
                    yield part
                yield bytes(left + -info.size % tarfile.BLOCKSIZE)
    except FileNotFoundError:
        pass  # it went away before its head was sent
