"""The record of a match while it is played. The commands of a line are carried out only once the line is settled.

A line is settled once it is written; with Durability.TURN, once it is on the disk. Then another thread syncs lines, so
a match may have written several lines before the first one is settled. Their commands are carried out in order.
"""

from collections import deque
from collections.abc import Callable, Sequence

from msgspec import Struct
from twisted.internet.defer import Deferred, succeed
from twisted.python.failure import Failure

from ...match.commands import Command
from ...match.events import Event
from ...match.machine import Match
from ...match.timekeeper import Standstill
from ...observers import MatchTransition
from ...record.writer import RecordWriter
from ...settings import Durability
from ..group_commit import GroupCommit
from ..links.player_protocol import PlayerLink


class Due(Struct, frozen=True):
    """A transition that is on record and is to be carried out."""

    transition: MatchTransition
    links: tuple[PlayerLink | None, ...]
    """Addressees by seat. A player that has come back on another connection since then is sent everything again
    anyway."""


class Journal:
    """The record of a running match.

    Args:
        writer: writer of the record; the header is written.
        commits: syncs the record together with others; None: it is synced at once, and the loop waits.
        durability: whether a line is settled once it is written, or once it is on the disk.
    """

    def __init__(
        self, writer: RecordWriter, commits: GroupCommit | None = None, durability: Durability = Durability.MATCH
    ) -> None:
        self.writer = writer
        self._settled_lines = writer.count
        self._due: deque[Due] = deque()
        self.on_settled: Callable[[], None] = lambda: None
        """Called when the disk has settled lines."""
        self.on_refused: Callable[[Exception], None] = lambda error: None
        """Called when the disk has refused to settle lines."""
        self._commits = commits
        self.waits_for_disk = durability is Durability.TURN
        """True if the commands of a line wait until the disk has it."""
        if commits is not None and self.waits_for_disk:
            commits.is_waited_for = True

    def write_transition(
        self,
        event: Event,
        commands: tuple[Command, ...],
        standstills: Sequence[Standstill],
        match: Match,
        links: tuple[PlayerLink | None, ...],
    ) -> None:
        """Write a transition that a match has just taken, and have it settled, now or later.

        Args:
            event: event of the transition.
            commands: commands that follow from the event.
            standstills: standstills of the referee that are not written yet.
            match: the match after the transition.
            links: links of the addressees, by seat.

        Raises:
            NotWritten: the disk refused.
        """
        self.writer.write_transition(event, commands, standstills)
        count = self.writer.count
        self._due.append(Due(MatchTransition.of(event, commands, match, (count - 1, self.writer.head)), links))
        if self.waits_for_disk:
            self.sync().addCallbacks(self._settle, self._refuse, (count,))
        else:
            self._settled_lines = count

    @property
    def has_due(self) -> bool:
        """Whether a transition is settled and was not taken yet."""
        return bool(self._due) and self._due[0].transition.line < self._settled_lines

    def take_due(self) -> Due | None:
        """Take the next settled transition, in order; None if there is none."""
        return self._due.popleft() if self._due and self._due[0].transition.line < self._settled_lines else None

    def write_result(self, match: Match) -> "Deferred[None]":
        """Write a match's result and the seal.

        Returns:
            Fires when the disk has them; fails with NotWritten.

        Raises:
            NotWritten: the disk refused on the spot.
        """
        self.writer.end(match)
        return self.sync()

    def sync(self) -> "Deferred[None]":
        """Sync all that is written to the disk.

        Returns:
            Fires when the disk has it; fails with NotWritten.

        Raises:
            NotWritten: the disk refused on the spot.
        """
        if self._commits is not None:
            return self._commits.sync(self.writer)
        self.writer.sync()
        return succeed(None)

    def settle_now(self) -> None:
        """Settle all lines at once; only for a match that stops, since the loop waits and nobody's clock runs.

        Raises:
            NotWritten: the disk refused.
        """
        if self._settled_lines < self.writer.count:
            self.writer.sync()
            self._settled_lines = self.writer.count

    def _settle(self, _synced: None, count: int) -> None:
        self._settled_lines = max(self._settled_lines, count)
        self.on_settled()

    def _refuse(self, failure: Failure) -> None:
        assert isinstance(failure.value, Exception)
        self.on_refused(failure.value)
