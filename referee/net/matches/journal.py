"""A match's record while it is played: which of its lines are settled, so that what follows from them may happen."""

from collections import deque
from collections.abc import Callable, Sequence

from msgspec import Struct
from twisted.internet.defer import Deferred, succeed
from twisted.python.failure import Failure

from ...match.commands import Command, Result
from ...match.events import Event
from ...match.machine import Match
from ...match.standstills import Standstill
from ...observers import MatchStep
from ...record.writer import RecordWriter
from ..group_commit import Durability, GroupCommit
from ..links.player_protocol import PlayerLink


class Due(Struct, frozen=True):
    """A step that is on record and is to be carried out."""

    step: MatchStep
    links: tuple[PlayerLink | None, ...]
    """By seat, those who were meant: whoever is back on another connection meanwhile is told everything anew."""


class Journal:
    """The record of a running match.

    Args:
        writer: of the record, its header written.
        commits: syncs it together with others; None: it is synced on the spot, and the loop waits.
        durability: whether a line is settled once it is written, or once it is on the disk.
    """

    def __init__(
        self, writer: RecordWriter, commits: GroupCommit | None = None, durability: Durability = Durability.MATCH
    ) -> None:
        self.writer = writer
        self._settled_lines = writer.count
        self._due: deque[Due] = deque()
        self.on_settled: Callable[[], None] = lambda: None
        """Called when lines have been settled that were not when they were written."""
        self.on_refused: Callable[[Exception], None] = lambda error: None
        """Called when the disk has refused to settle some."""
        self._commits = commits
        self.waits_for_disk = durability is Durability.TURN
        """Whether what follows from a line waits until it is on the disk."""
        if commits is not None and self.waits_for_disk:
            commits.is_waited_for = True

    def write_step(
        self,
        event: Event,
        commands: tuple[Command, ...],
        standstills: Sequence[Standstill],
        match: Match,
        links: tuple[PlayerLink | None, ...],
    ) -> None:
        """Write a step that a match has just taken, and have it settled, now or later.

        Args:
            event: what happened.
            commands: what follows from it.
            standstills: of the referee, those that were not written yet.
            match: as it stands after that.
            links: by seat, who is meant.

        Raises:
            NotWritten: the disk refused.
        """
        self.writer.write_step(event, commands, standstills)
        count = self.writer.count
        self._due.append(Due(MatchStep.of(event, commands, match, (count - 1, self.writer.head)), links))
        if self.waits_for_disk:
            self.synced().addCallbacks(self._settle, self._refused, (count,))
        else:
            self._settled_lines = count

    @property
    def has_due(self) -> bool:
        """Whether there is a step that is settled and was not taken yet."""
        return bool(self._due) and self._due[0].step.line < self._settled_lines

    def next_due(self) -> Due | None:
        """Take the next step that is settled, in order; None if there is none."""
        return self._due.popleft() if self.has_due else None

    def write_result(self, result: Result, match: Match) -> "Deferred[None]":
        """Write a match's result and the seal.

        Returns:
            As synced does.

        Raises:
            NotWritten: the disk refused.
        """
        self.writer.write_result(result, seed=match.seed.hex(), nonces=match.nonces.opened)
        return self.synced()

    def synced(self) -> "Deferred[None]":
        """Have all that is written on the disk.

        Returns:
            Fires when it is; fails with NotWritten.

        Raises:
            NotWritten: the disk refused on the spot.
        """
        if self._commits is not None:
            return self._commits.sync(self.writer)
        self.writer.sync()
        return succeed(None)

    def settle_now(self) -> None:
        """Settle all that is written on the spot: nobody plays on.

        Raises:
            NotWritten: the disk refused.
        """
        if self._settled_lines < self.writer.count:
            self.writer.sync()
            self._settled_lines = self.writer.count

    def _settle(self, _synced: None, count: int) -> None:
        self._settled_lines = max(self._settled_lines, count)
        self.on_settled()

    def _refused(self, failure: Failure) -> None:
        assert isinstance(failure.value, Exception)
        self.on_refused(failure.value)
