"""Starts the programs of the matches that come next, while all tables are taken: starting takes longer than playing.

They take up a core that the tables leave, are stopped as soon as they have said hello, and are judged for nothing:
whatever is wrong with them then, they are ended without a word, and started again when their match is opened.
"""

import os
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ...programs.player_spec import Launch
from ...record.printed import output_path
from ...tournament.match_context import Fixture, MatchContext
from ..jobs.job import MatchJob
from ..jobs.tables import LocalTables
from ..matches.program_pool import FolderStamps, is_memory_short
from ..matches.programs import Occupant
from ..matches.session import MatchReport
from ..waiting import outlasting
from .course import TournamentCourse
from .run_settings import RunSettings


def most_early(tables: int) -> int:
    """Return of how many matches the programs may be started early: of one for each core that the tables leave."""
    return max(min(tables, len(os.sched_getaffinity(0)) - tables), 0)


class _EarlyStart(Struct, kw_only=True, eq=False):
    """The programs of a match that is not opened yet."""

    job: MatchJob
    """But for what is known only once the match is opened."""
    launches: Sequence[Launch]
    opened: "Deferred[MatchJob]"
    stamps: Sequence[int] = ()
    """Of their folders, when they were started."""
    is_opened: bool = False
    played: "Deferred[MatchReport | None]"


class EarlyStarts:
    """The programs of a tournament that are started early.

    Args:
        reactor: Twisted's.
        tables: where their matches are played.
        course: the tournament's.
        run_settings: how it is run.
        most: of how many matches.
    """

    def __init__(
        self, reactor: Any, tables: LocalTables, course: TournamentCourse, run_settings: RunSettings, most: int
    ) -> None:
        self._tables = tables
        self._course = course
        self._run_settings = run_settings
        self._most = most
        self._stamps = FolderStamps(reactor)
        self._early: dict[str, _EarlyStart] = {}
        """By match."""
        self._unfit: set[str] = set()
        """Players whose programs were not there when their match came: they are not started early again."""
        self._ending: set[Deferred[None]] = set()

    def look_ahead(self, coming: Iterable[Fixture], playing: Collection[str]) -> None:
        """Start what comes next, and end what does not come any more.

        Args:
            coming: what can be opened next; the first is, if nothing else can by then.
            playing: the matches that are open.
        """
        due = {fixture.match: fixture for fixture in coming} if self._most else {}
        for match in self._early.keys() - due.keys() - set(playing):
            self._ending.add(Deferred.fromCoroutine(self._end(self._early.pop(match))))
        self._ending = {ending for ending in self._ending if not ending.called}
        waiting = self._early.keys() - set(playing)
        free = max(self._most - len(waiting), 0)
        new = [fixture for match, fixture in due.items() if match not in waiting][:free]
        if new and not is_memory_short():
            for fixture in new:
                self._start(fixture)

    def _start(self, fixture: Fixture) -> None:
        found = [self._course.launches[entrant] for entrant in fixture.entrants]
        launches = [launch for launch in found if isinstance(launch, Launch) and launch.name not in self._unfit]
        if len(launches) < len(found):
            return
        context = MatchContext(tournament=self._course.recorder.tournament.spec.name, fixture=fixture, head="")
        job = self._course.job(context, launches, self._tables.services.sealer, self._run_settings)
        early = _EarlyStart(job=job, launches=launches, opened=Deferred(), played=Deferred())
        self._early[fixture.match] = early
        early.played = Deferred.fromCoroutine(self._play(early))

    async def _play(self, early: _EarlyStart) -> MatchReport | None:
        try:
            early.stamps = await self._stamped(early.launches)
            return await self._tables.play_once_opened(early.job, early.launches, early.opened)
        except Exception:
            if early.is_opened:
                raise
            return None  # whatever it was: it comes up again when the match is opened, or nobody needs to know

    async def play(self, job: MatchJob, occupants: Sequence[Occupant]) -> MatchReport | None:
        """Play a match that is open now, if its programs were started early.

        Args:
            job: the match.
            occupants: by seat.

        Returns:
            What came of it; None: nothing was begun.

        Raises:
            MatchPaused: as LocalTables.play.
            OSError: as LocalTables.play.
        """
        early = self._early.get(job.match)
        if early is None:
            return None
        is_same = await self._stamped(early.launches) == early.stamps and _is_same(job, early.job)
        del self._early[job.match]
        if not is_same or early.launches != occupants:
            await self._end(early)
            return None
        early.is_opened = True
        early.opened.callback(job)
        report = await early.played
        if report is None:
            self._unfit |= {launch.name for launch in early.launches}
            self._forget(early)
        return report

    async def _stamped(self, launches: Sequence[Launch]) -> list[int]:
        return [await self._stamps.of(launch) for launch in launches]

    async def _end(self, early: _EarlyStart) -> None:
        """End programs whose match does not come, and wait until nothing is left of them."""
        early.played.cancel()
        await outlasting(early.played)
        self._forget(early)

    def _forget(self, early: _EarlyStart) -> None:
        """Remove what programs have printed that have not played."""
        for seat, launch in enumerate(early.launches):
            output_path(self._run_settings.folder, early.job.match, seat, launch.name).unlink(missing_ok=True)

    async def close(self) -> None:
        """End all that have not come to play, and wait until nothing is left of them."""
        self.look_ahead((), ())
        for ending in list(self._ending):
            await outlasting(ending)


def _is_same(job: MatchJob, early: MatchJob) -> bool:
    """Tell whether programs that were started for a job can play another: nothing that they know is different."""
    return early == replace(
        job, context=early.context, is_last_of_deal=early.is_last_of_deal, locked_seed=early.locked_seed
    )
