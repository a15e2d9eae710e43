"""Keeps the reports of a contest's tournaments up to date: one at a time, each made by a process of its own."""

# A report is made only from records, so another process can make it during the tournament. That process runs
# `referee report`, a command that organisers also use. If a report fails, the error is logged, and the site keeps the
# earlier report.
#
# The first report of a tournament is made only from the tournament's own record, so that visitors have a page within
# seconds, however many matches there are. The next report reads the records of all matches, and also has times.
#
# The report of a long tournament takes seconds of a core that matches could use. So the pause after a report grows with
# the time that the report took. Only the last report of a tournament does not wait.

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
from msgspec import Struct

from ...app.tournaments.requests import frozen_path
from ...clock import Timer
from ...observers import Note
from ...pages.summary import page_names
from ...pages.tournament_json import ReportedMatch, ReportedStanding, TournamentReport
from ...pages.words import number
from ...plugins import installed
from ...programs.processes import ProcessCommand, if_alive, start
from ...tournament.rulings import STOP
from ..contest_json import Coming, LastResult, Leader, OpenMatch, TournamentCard
from ..published import Searched, has_replay
from .contest_file import ScheduledTournament

SHOWN = 3
"""Most leaders, and most of the latest results, to show on the first page."""
SITE = "../../"
"""Relative path from a report to the first page of the site. All pages of the report get the site's header."""
LOOK_S = 1.0
"""Seconds between two looks at the records."""
SHARE = 4
"""Shortest pause after a report, in multiples of the time that the report took, so that matches get the cores."""
_UNSEEN = -1
_PARTLY = -2
"""Value in place of the length of a tournament's record, if the records of the matches were not read."""


class _Progress(Struct):
    """A line that a report prints while it is made."""

    records_read: int
    records: int


class Published(Struct):
    """The latest report of a tournament."""

    folder: Path
    seen: int = _UNSEEN
    """Length in bytes of the record from which the report was made; negative before the first look."""
    due: float = 0.0
    """Earliest time for a new report, in seconds of the reactor."""
    report: TournamentReport | None = None
    """The latest report; None if there is none yet."""
    searched: Searched | None = None
    """Names in the report, for the search."""
    progress: str = ""
    """Progress of the report that is being made, in words; empty if none is being made, or it has just begun."""

    @property
    def is_over(self) -> bool:
        """True if the report says that the tournament is over, and the record has not grown since then."""
        is_last = self.seen in (_UNSEEN, _length(self.folder / f"{self.folder.name}.jsonl"))
        return is_last and self.report is not None and self.report.state == "over"

    @property
    def ended(self) -> str:
        """How the tournament ended, in words."""
        rulings = () if self.report is None else self.report.rulings
        return "was stopped for good" if any(ruling.kind == STOP for ruling in rulings) else "is over"

    @property
    def reported(self) -> int | None:
        """Number of matches in the report; None if there is no report yet."""
        return None if self.report is None else self.report.played

    def read(self) -> None:
        """Read the report from the disk, if there is one that can be read."""
        self.take(read_report(self.folder))

    def take(self, report: TournamentReport | None) -> None:
        """Publish a report; None: publish nothing."""
        self.report, self.searched = report, None
        if report is None:
            return
        names = [entrant.name for entrant in report.spec.entrants]
        self.searched = Searched(
            name=self.folder.name,
            folder=self.folder,
            head=report.head,
            is_over=report.state == "over",
            entrants=list(zip(names, page_names(names), strict=True)),
            matches=[(entry.fixture.match, entry.names) for entry in report.entries if entry.head],
        )

    def card(
        self,
        scheduled: ScheduledTournament,
        state: str,
        played: int,
        open_matches: Sequence[OpenMatch],
        coming: Coming | None,
        most_leaders: int = SHOWN,
    ) -> TournamentCard:
        """Return the tournament in brief.

        Args:
            scheduled: plan and start of the tournament.
            state: state of the tournament, in words.
            played: number of matches that are over.
            open_matches: the open matches.
            coming: next matches; None if no more matches will come.
            most_leaders: most lines of the standings to include.
        """
        spec, ranked = scheduled.plan.spec, self.report.standings if self.report and self.report.played else ()
        addresses = {} if self.searched is None else self.searched.addresses
        last = () if self.report is None else self.report.entries[: -SHOWN - 1 : -1]
        return TournamentCard(
            name=spec.name,
            game=installed().game(spec.game).title,
            format=installed().format(spec.format).title,
            entrants=len(spec.entrants),
            state=state,
            start=None if scheduled.start is None else scheduled.start.isoformat(),
            played=max(played, self.reported or 0),
            open_matches=open_matches,
            coming=coming,
            leaders=[_leader(line, addresses.get(line.name)) for line in ranked[:most_leaders]],
            ranked=len(ranked),
            last=[self._last(match) for match in last],
            reported=self.reported,
            head=None if self.report is None else self.report.head,
            verifier=None if self.searched is None else self.searched.verifier or None,
        )

    def _last(self, match: ReportedMatch) -> LastResult:
        name = match.fixture.match
        is_shown = match.head and has_replay(self.folder, name)
        address = f"tournaments/{self.folder.name}/replays/{name}.html" if is_shown else None
        why_not = self.report.disregarded.get(name) if self.report is not None and match.head else None
        result = match.result if why_not is None else f"does not count: {why_not}"
        return LastResult(match=name, result=result, address=address)


def read_report(folder: Path) -> TournamentReport | None:
    """Return the report of a tournament; None if it is missing or unreadable. A large report takes a second to read."""
    try:
        data = (folder / "tournament.json").read_bytes()
        return msgspec.json.decode(data, type=TournamentReport)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _leader(line: ReportedStanding, address: str | None) -> Leader:
    rating = None if line.ladder_rating is None else f"{line.ladder_rating:.1f}"
    return Leader(place=line.place, name=line.name, address=address, points=number(line.points), rating=rating)


class Publisher:
    """Makes reports, one at a time.

    Args:
        reactor: Twisted's reactor.
        referee: command line of this program.
        note: logs reports that could not be made.
        changed: called after each new report.
        is_over: name of a tournament -> whether it is over. Then its last report does not wait, because no match of it
            needs the cores.
    """

    def __init__(
        self,
        reactor: Any,
        referee: Sequence[str],
        note: Note,
        changed: Callable[[], None],
        is_over: Callable[[str], bool] = lambda _name: False,
    ) -> None:
        self.published: dict[str, Published] = {}
        """Name of a tournament -> its latest report."""
        self._reactor = reactor
        self._referee = referee
        self._note = note
        self._changed = changed
        self._is_over = is_over
        self._timer: Timer | None = None
        self._is_stopped = False

    def follow(self, name: str, folder: Path) -> None:
        """Keep the report of a tournament up to date from now on.

        Args:
            name: name of the tournament.
            folder: folder of its records.
        """
        self.published[name] = Published(folder)
        self.published[name].read()  # an earlier server may have made it

    def begin(self) -> None:
        """Look regularly whether a report is due."""
        self._timer = None
        if self._is_stopped:
            return
        now = self._reactor.seconds()
        for name, published in self.published.items():
            length = _length(published.folder / f"{name}.jsonl")
            if frozen_path(published.folder).exists():
                continue  # while the standings are frozen, keep the report from before the freeze
            if length not in (None, published.seen) and (now >= published.due or self._is_over(name)):
                self.make_report(name, length or 0, now)
                return
        self._timer = self._reactor.callLater(LOOK_S, self.begin)

    def stop(self) -> None:
        """Stop looking; a report that is being made is still finished."""
        self._is_stopped = True
        if self._timer is not None and self._timer.active():
            self._timer.cancel()

    def list_indexes(self) -> Iterator[Searched]:
        """Yield the names in each report, for the search; may be called in any thread."""
        return (each.searched for each in list(self.published.values()) if each.searched is not None)

    def make_report(self, name: str, length: int, begun: float) -> None:
        """Make the report of a tournament in another process.

        Args:
            name: name of the tournament.
            length: length of its record now, in bytes.
            begun: time at which this begins, in seconds.
        """
        published = self.published[name]
        folder, is_quick = published.folder, published.report is None and published.seen == _UNSEEN
        options = ["--replays", "on-request", "--home", SITE, "--public", "--json", "--progress"]
        arguments = [*self._referee, "report", str(folder), *options, *(["--quick"] if is_quick else [])]
        command = ProcessCommand(tuple(if_alive([*_nice(), *arguments])))

        errors = tempfile.TemporaryFile()  # noqa: SIM115  # the thread closes it
        process = start(command, cwd=None, env=os.environ, output=subprocess.PIPE, errors=errors)

        def _follow() -> None:
            assert process.stdout is not None
            with errors, process.stdout as lines:
                for line in lines:
                    self._reactor.callFromThread(self._take_progress, published, line)
                status = process.wait()
                errors.seek(0)
                words = errors.read().decode(errors="replace")
            report = (
                read_report(folder) if status == 0 else None
            )  # read it in this thread, because it would block the event loop
            made_from = _PARTLY if is_quick and status == 0 else length
            self._reactor.callFromThread(self._take_report, name, made_from, begun, status, words, report)

        Thread(target=_follow, name=f"report of {name}", daemon=True).start()

    def _take_progress(self, published: Published, line: bytes) -> None:
        with suppress(msgspec.MsgspecError):
            facts = msgspec.json.decode(line, type=_Progress)
            published.progress = f"{facts.records_read} of {facts.records} records read"
            self._changed()

    def _take_report(
        self, name: str, length: int, begun: float, status: int, words: str, report: TournamentReport | None
    ) -> None:
        published, now = self.published[name], self._reactor.seconds()
        published.seen, published.due = length, 0.0 if length == _PARTLY else now + SHARE * (now - begun)
        published.progress = ""
        if status == 0:
            published.take(report)
        else:
            self._note("report-failed", tournament=name, status=status, error=words.strip()[-1000:])
        self._changed()  # also after a failure, so that pages stop showing its progress
        self.begin()


def _nice() -> Sequence[str]:
    """Return the command that gives a report a lower priority than matches, if it is installed."""
    program = shutil.which("nice")
    return () if program is None else (program, "-n", "10")


def _length(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
