"""Everything that an organiser sees and does on the site. Each action is logged."""

# An organiser may use the command line or the site. Both call the same functions, so a ruling is checked in the same
# way and goes to the same record. Actions on the site are also logged, with the name of the organiser, because several
# organisers may run a contest together.

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
from ...files.reading import everything_below
from ...files.tree import MIB
from ...net.links.tokens import add_tokens, remove_token
from ...observers.process_lines import SeenProcess
from ...pages.tournament_json import TournamentReport
from ...plugins import installed
from ...text import printable
from ...tournament.rulings import STOP, TOURNAMENT_RULINGS, Kind
from .intake import Intake, LoggedAction, read_last_lines
from .notices import Notices
from .practice import Practice
from .queue import (
    NextMatch,
    QueueLine,
    list_next,
    waiting_checks,
    waiting_matches,
    waiting_practice,
    waiting_tournaments,
)
from .tournament_runs import TournamentRun

_SAID_LINES, _SAID_BYTES = 5, 4096
"""Most lines and bytes of a process's messages to show."""
_PART_BYTES = 262_144


class TournamentLine(Struct, frozen=True, kw_only=True):
    """A tournament in the organiser's view."""

    name: str
    game: str
    format: str
    state: str
    may_start: bool
    may_pause: bool
    may_stop: bool
    """True if an organiser may stop it for good now."""
    is_frozen: bool
    """True if its standings are frozen."""
    played: int
    open_matches: int
    entrants: Sequence[str]
    requests: int
    """Number of rulings that are not in its record yet."""
    said: Sequence[str]
    """Latest messages of its process."""


class ProcessLine(Struct, frozen=True, kw_only=True):
    """A process that plays matches of a tournament: its own, a worker, or a host of a cluster."""

    tournament: str
    name: str
    state: str
    """State in words, such as `plays`."""
    tables: int | None
    """Number of matches that it plays at a time; None: no fixed number."""
    matches: Sequence[str]
    """Matches that it has now; some of these may wait there."""
    lag_ms: float
    """Longest time for which it did not respond recently, in milliseconds."""
    heard: str
    """Time of its last message, ISO 8601 in UTC."""


class AuthorLine(Struct, frozen=True, kw_only=True):
    """An author in the organiser's view."""

    name: str
    versions: int
    last: str | None
    """State of the latest version; None if there is none."""
    plays: int | None
    """Version that plays; None if none has passed."""


class Machine(Struct, frozen=True, kw_only=True):
    """The load of the machine."""

    load: float
    """Average number of processes that wanted to run, over the last minute."""
    cores: int
    memory_free_mib: int | None
    """Free memory in MiB; None if the system does not report it."""
    disk_free_mib: int
    lag_ms: float
    """Longest lag of the site in the last minute, in milliseconds."""


class Organising:
    """Carries out the organisers' actions, and reports the state of the contest.

    Args:
        folder: folder of the contest.
        runs: name of a tournament -> its runs.
        intake: people of the contest, and the versions that they hand in.
        practice: practice matches of all authors.
        lag_ms: returns the longest recent lag of the site, in milliseconds.
        report: name of a tournament -> its report; None if there is none yet.
        notices: announcements and appeals.
    """

    def __init__(
        self,
        folder: Path,
        runs: Mapping[str, TournamentRun],
        intake: Intake,
        practice: Practice,
        lag_ms: Callable[[], float],
        report: Callable[[str], TournamentReport | None],
        notices: Notices,
    ) -> None:
        self._folder = folder
        self._runs = runs
        self._intake = intake
        self._practice = practice
        self._lag_ms = lag_ms
        self._report = report
        self.notices = notices

    # --- state

    def tournaments(self) -> Sequence[TournamentLine]:
        """Return the state of all tournaments."""
        return [self._line(run) for run in self._runs.values()]

    def _line(self, run: TournamentRun) -> TournamentLine:
        spec, report = run.scheduled.plan.spec, self._report(run.scheduled.name)
        return TournamentLine(
            name=run.scheduled.name,
            game=installed().game(spec.game).title,
            format=installed().format(spec.format).title,
            state=run.state,
            may_start=run.may_start,
            may_pause=run.may_pause,
            may_stop=run.may_stop,
            is_frozen=run.is_frozen,
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
        """Return the load of the machine."""
        return Machine(
            load=os.getloadavg()[0],
            cores=os.cpu_count() or 1,
            memory_free_mib=_memory_free_mib(),
            disk_free_mib=shutil.disk_usage(self._folder).free // MIB,
            lag_ms=self._lag_ms(),
        )

    def processes(self) -> Sequence[ProcessLine]:
        """Return all processes that play matches now."""
        return [
            _process_line(name, process, run.heard)
            for name, run in self._runs.items()
            if run.heard is not None
            for process in run.processes
        ]

    def queue(self) -> Sequence[QueueLine]:
        """Return everything that is waiting: checks, practice matches, tournaments, and matches of tournaments."""
        checks, practice = waiting_checks(self._intake.checks), waiting_practice(self._practice)
        runs = self._runs.values()
        return [*checks, *practice, *waiting_tournaments(runs), *waiting_matches(runs, self._report)]

    def list_next(self, author: str) -> Sequence[NextMatch]:
        """Return the next match of an author's program in each of its tournaments."""
        return list_next(author, self._runs.values(), self._report)

    def actions(self) -> Sequence[LoggedAction]:
        """Return the actions of organisers, the latest first."""
        return self._intake.actions.newest()

    # --- actions

    def start(self, by: str, name: str) -> None:
        """Start a tournament, or resume a paused one.

        Raises:
            BadRequest: there is no such tournament, or it is running, stopping or over.
        """
        run = self._run(name)
        if not run.may_start:
            raise BadRequest(f"{name} {run.state}; there is nothing to start")
        run.start()
        self._intake.actions.add(by, "start", name)

    def pause(self, by: str, name: str) -> None:
        """Pause a tournament until it is started again.

        Raises:
            BadRequest: there is no such tournament, or nothing to pause.
        """
        run = self._run(name)
        if not run.may_pause:
            raise BadRequest(f"{name} {run.state}; there is nothing to pause")
        run.pause()
        self._intake.actions.add(by, "pause", name)

    def rule(self, by: str, name: str, kind: str, subject: str, to: str, reason: str) -> None:
        """Submit a ruling to a tournament; called in a thread.

        Args:
            by: name of the organiser.
            name: name of the tournament.
            kind: kind of the ruling.
            subject: entrant or match; empty: the whole tournament.
            to: entrant that a match is awarded to; empty: none.
            reason: reason, which everybody can read.

        Raises:
            BadRequest: there is no such tournament, or the ruling does not fit its state.
        """
        run = self._run(name)
        if kind not in get_args(Kind):
            raise BadRequest(f"there is no ruling {printable(kind)}; choose one of: {', '.join(get_args(Kind))}")
        is_stop = kind == STOP
        if is_stop and not run.may_stop:
            raise BadRequest(f"{name} {run.state}; only a tournament that has begun can be stopped for good")
        rule(run.folder, cast("Kind", kind), subject or None, to or None, reason, by)
        about = name if kind in TOURNAMENT_RULINGS else f"{subject} in {name}" + (f", to {to}" if to else "")
        self.notices.record(by, kind, about, reason)
        run.look_again(must_run=is_stop)

    def add_author(self, by: str, name: str, *, may_renew: bool) -> str:
        """Add an author, and return the author's token, which can't be shown again.

        Raises:
            BadRequest: the name is invalid, or an author of this name has a token already.
        """
        token = add_tokens(self._intake.authors_file, [name], may_renew=may_renew)[name]
        self._intake.actions.add(by, "renew the token of" if may_renew else "add", name)
        return token

    def shut_out(self, by: str, name: str) -> None:
        """Invalidate an author's token and end the author's sessions; the author's versions stay.

        Raises:
            BadRequest: there is no such author.
        """
        remove_token(self._intake.authors_file, name)
        self._intake.actions.add(by, "shut out", name)

    def archive(self, by: str) -> Iterator[bytes]:
        """Yield the contest as a tar archive, piece by piece. It can be shared: it has no tokens and no key."""
        self._intake.actions.add(by, "download", "the whole contest")
        return archive_folder(self._folder, self._intake.private)

    def _run(self, name: str) -> TournamentRun:
        if name not in self._runs:
            raise BadRequest("there is no such tournament")
        return self._runs[name]


def _process_line(tournament: str, process: SeenProcess, heard_at: datetime) -> ProcessLine:
    return ProcessLine(
        tournament=tournament,
        name=process.name,
        state=process.state,
        tables=process.tables,
        matches=process.matches,
        lag_ms=process.lag_ms,
        heard=(heard_at - timedelta(seconds=process.silent_s)).isoformat(timespec="seconds"),
    )


def _memory_free_mib() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    available_kib = [int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    return available_kib[0] // 1024 if available_kib else None


def archive_folder(folder: Path, left_out: Collection[Path] = ()) -> Iterator[bytes]:
    """Yield a tar archive of a folder, piece by piece.

    A file that grows while it is packed is cut at the size in its header. A file that shrinks is filled up with zeros,
    and a file that vanishes is left out.

    Args:
        folder: folder to pack, under its own name.
        left_out: files to leave out.
    """
    # `tarfile` can't be used: it writes to a file, and does not yield pieces.
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
        pass  # the file vanished before its header was sent
