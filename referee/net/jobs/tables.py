"""The tables of this process, where matches are played as their jobs say."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ...plugins import find_game
from ...programs.player_spec import Launch
from ...record.key import Sealer
from ...record.resume import Resumption
from ..event_loop import EventLoop
from ..group_commit import GroupCommit
from ..matches.program_pool import ProgramPool
from ..matches.programs import Occupant
from ..matches.session import LOCAL, MatchReport, MatchSession
from ..matches.settings import MatchServices
from .job import MatchJob


class LocalTables:
    """Plays matches in this process, with one event loop for all of them.

    Args:
        reactor: Twisted's reactor.
        now: returns monotonic seconds.
        folder: folder for the records.
        services: shared by all matches.
        process: name of this process in records; empty: a new one.
        commits: syncs the records together; None: a new one.
    """

    def __init__(
        self,
        reactor: Any,
        now: Callable[[], float],
        folder: Path,
        services: MatchServices,
        process: str,
        commits: GroupCommit | None = None,
    ) -> None:
        self._reactor = reactor
        self._now = now
        self._folder = folder
        self.loop = EventLoop(reactor, now, process)
        self.loop.lag.note = services.observers.note
        self.commits = commits or GroupCommit(reactor, services.terms.durability)
        self._pool = None
        if (keep_for := services.terms.keep_for) is not None:
            self._pool = ProgramPool(reactor, services.confinement, keep_for, services.observers)
        self.services = replace(services, loop=self.loop, commits=self.commits, pool=self._pool)

    async def play(
        self,
        job: MatchJob,
        occupants: Sequence[Occupant],
        resumed: Resumption | None = None,
        sealer: Sealer | None = None,
    ) -> MatchReport:
        """Play a match to its end.

        Args:
            job: the match.
            occupants: occupants by seat, as in the job; connected players are allowed, too.
            resumed: the match up to now; None if it is new.
            sealer: seals the record; None: the sealer of all matches.

        Raises:
            MatchPaused: the call was cancelled; the match can go on from its record.
            OSError: the record can't be written.
        """
        session = self._session(job, self.services if sealer is None else replace(self.services, sealer=sealer))
        if resumed is None:
            return await session.play(occupants, vacate_if_missing=True)
        return await session.resume(resumed, occupants, LOCAL, void_if_missing=True)

    async def play_when_opened(
        self, job: MatchJob, occupants: Sequence[Launch], opened: "Deferred[MatchJob]"
    ) -> MatchReport | None:
        """Start the programs of a match that is not opened yet, and play it once it is.

        Args:
            job: the match, as far as it is known.
            occupants: occupants by seat.
            opened: fires with the complete job.

        Returns:
            The match; None if some program was missing: then all were ended, and nothing was recorded.

        Raises:
            MatchPaused: as `play`.
            OSError: as `play`; or a folder can't be copied.
        """
        settings = opened.addCallback(lambda whole: whole.settings(self._folder))
        return await self._session(job, self.services).play_when_opened(occupants, settings)

    def _session(self, job: MatchJob, services: MatchServices) -> MatchSession:
        return MatchSession(self._reactor, self._now, find_game(job.terms.game), job.settings(self._folder), services)

    async def close(self) -> None:
        """End the programs that stay, and wait until nothing is left of them."""
        if self._pool is not None:
            await self._pool.close()
