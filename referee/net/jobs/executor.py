"""What plays matches in other processes than the tournament's own: its workers, or the hosts of a cluster."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from ...match.commands import Result
from ...observers import PlayingProcess
from ..matches.services import MatchServices
from .job import MatchJob
from .messages import SharedSettings


class SealedMatch(Struct, frozen=True, kw_only=True):
    """A match that an executor has played, sealed here."""

    result: Result
    record: Path
    head: str
    """Hash of the record's result line, over which it is sealed."""


class Executor(Protocol):
    """Plays matches in other processes, each as its job says."""

    @property
    def room(self) -> int | None:
        """How many matches may be open at a time now; None: as many as the tournament has tables."""

    def takes(self, job: MatchJob) -> bool:
        """Tell whether a match can be played there at all."""

    async def play(self, job: MatchJob) -> SealedMatch:
        """Have a match played to its end, and seal its record.

        Raises:
            MatchPaused: it was cancelled; its record is what it goes on from.
            RefereeError: it can't be played there.
            OSError: the record can't be written.
        """

    def processes(self) -> Sequence[PlayingProcess]:
        """Return what plays there, and how it is."""

    async def close(self) -> None:
        """Play no more, and wait until nothing is left of what plays."""


OpenExecutor = Callable[[Any, SharedSettings, MatchServices, Callable[[], None]], Executor]
"""Takes Twisted's reactor, what all matches share, the tournament's services (with `commits`), and what is to be called
when there is more room."""
