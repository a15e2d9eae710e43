"""Starts the programs of the matches that come next while all tables are taken: starting takes longer than playing.

They use a core that the tables leave free, and are stopped as soon as they have said hello. Nothing that they do until
then is a foul: if something is wrong with a program, all programs of its match are ended without a report, and started
again when the match is opened.
"""

import os
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ...programs.player_spec import Launch
from ...record.folder import output_path
from ...tournament.match_context import Fixture, MatchContext
from ..jobs.job import MatchJob
from ..jobs.tables import LocalTables
from ..matches.program_pool import FolderStamps, is_memory_short
from ..matches.programs import Occupant
from ..matches.session import MatchReport
from ..waiting import outlast
from .play import RunSettings, TournamentPlay


def count_early(tables: int) -> int:
    """Return the number of matches whose programs may be started early: one for each core that the tables leave."""
    return max(min(tables, len(os.sched_getaffinity(0)) - tables), 0)


class _EarlyStart(Struct, kw_only=True, eq=False):
    """The programs of a match that is not opened yet."""

    job: MatchJob
    """The job, without what is known only once the match is opened."""
    launches: Sequence[Launch]
    opened: "Deferred[MatchJob]"
    stamps: Sequence[int] = ()
    """Stamps of the programs' folders when they were started."""
    is_opened: bool = False
    played: "Deferred[MatchReport | None]"


class EarlyStarts:
    """The programs of a tournament that are started early.

    Args:
        reactor: Twisted's reactor.
        tables: play their matches.
        play: the tournament.
        run_settings: settings of this run.
        most: number of matches whose programs may wait.
    """

    def __init__(
        self, reactor: Any, tables: LocalTables, play: TournamentPlay, run_settings: RunSettings, most: int
    ) -> None:
        self._tables = tables
        self._tournament_play = play
        self._run_settings = run_settings
        self._most = most
        self._stamps = FolderStamps(reactor)
        self._early: dict[str, _EarlyStart] = {}
        """Match -> its programs."""
        self._unfit: set[str] = set()
        """Players whose programs were missing when their match was opened; they are not started early again."""
        self._ending: set[Deferred[None]] = set()

    def look_ahead(self, coming: Iterable[Fixture], playing: Collection[str]) -> None:
        """Start the programs of the next matches, and end those whose match is not due any more.

        Args:
            coming: the matches that can be opened next, the first one first.
            playing: names of the matches that are open.
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
        players = [self._tournament_play.launches[entrant] for entrant in fixture.entrants]
        launches = [launch for launch in players if isinstance(launch, Launch) and launch.name not in self._unfit]
        if len(launches) < len(players):
            return
        context = MatchContext(tournament=self._tournament_play.recorder.tournament.spec.name, fixture=fixture, head="")
        job = self._tournament_play.make_job(context, launches, self._tables.services.sealer, self._run_settings)
        early = _EarlyStart(job=job, launches=launches, opened=Deferred(), played=Deferred())
        self._early[fixture.match] = early
        early.played = Deferred.fromCoroutine(self._play(early))

    async def _play(self, early: _EarlyStart) -> MatchReport | None:
        try:
            early.stamps = await self._stamp(early.launches)
            return await self._tables.play_when_opened(early.job, early.launches, early.opened)
        except Exception:
            if early.is_opened:
                raise
            return None  # the same error comes up again when the match is opened, or does not matter any more

    async def play(self, job: MatchJob, occupants: Sequence[Occupant]) -> MatchReport | None:
        """Play a match that is open now, if its programs were started early.

        Args:
            job: the match.
            occupants: occupants by seat.

        Returns:
            The match; None if it was not begun.

        Raises:
            MatchPaused: as LocalTables.play.
            OSError: as LocalTables.play.
        """
        early = self._early.get(job.match)
        if early is None:
            return None
        is_same = await self._stamp(early.launches) == early.stamps and _is_same(job, early.job)
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

    async def _stamp(self, launches: Sequence[Launch]) -> list[int]:
        return [await self._stamps.get(launch) for launch in launches]

    async def _end(self, early: _EarlyStart) -> None:
        """End programs that do not play their match, and wait until nothing is left of them."""
        early.played.cancel()
        await outlast(early.played)
        self._forget(early)

    def _forget(self, early: _EarlyStart) -> None:
        """Remove the output of programs that did not play."""
        for seat, launch in enumerate(early.launches):
            output_path(self._run_settings.folder, early.job.match, seat, launch.name).unlink(missing_ok=True)

    async def close(self) -> None:
        """End all programs that wait, and wait until nothing is left of them."""
        self.look_ahead((), ())
        for ending in list(self._ending):
            await outlast(ending)


def _is_same(job: MatchJob, early: MatchJob) -> bool:
    """Return whether programs that were started for one job can play another: their programs are sent the same."""
    return early == replace(
        job, context=early.context, is_last_of_deal=early.is_last_of_deal, locked_seed=early.locked_seed
    )
