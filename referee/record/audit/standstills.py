"""Checks what a record tells of the referee's own standstills, and compares the records of one process.

A referee that takes time off what a player used says so once for all seats: in a standstill, which every match of its
process had at the same instants.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile

from msgspec import Struct

from ...match import events as e
from ...match.standstills import KEPT_STANDSTILLS, MAX_LOOKS, UNNOTICED_MS, Standstill
from ..reader import Record, RecordError

PROMPT_MS = 100.0
"""So long after the line that asks a request may be sent. In between, the referee judges, writes and sends what came
before, in at most nine turns of its loop, of which each is a standstill if it takes longer than UNNOTICED_MS. The rest
is room."""
LOOKING_MS = (MAX_LOOKS + 4) * UNNOTICED_MS
"""So long a referee may look into a socket after a deadline, without a standstill."""
ROUNDING_MS = 0.005
"""Instants are rounded to a microsecond, and so is each of the few that a difference is made of."""


class Presence(Struct, frozen=True):
    """A time in which one process ran one match, in the instants of the match."""

    match: str
    process: str
    clock_ms: float
    """What the process's clock showed at the match's instant 0."""
    begin_ms: float
    end_ms: float
    """Instant of its last line."""
    standstills: tuple[Standstill, ...]
    """In their order; of one that is told of twice, for it went on, the whole."""
    starts: tuple[int, ...] = ()
    """By seat, which start of a program played, where programs stay."""
    heard: frozenset[int] = frozenset()
    """The seats that answered something."""


class Contradiction(Struct, frozen=True, kw_only=True):
    """A standstill that one match of a process had, and another one at the same time had not."""

    match: str
    """That did not have it."""
    witness: str
    """That had it."""
    at_ms: float
    """When it was over, in the time of the match that did not have it."""


class Excuses:
    """What of a match's time its referee's standstills account for.

    Args:
        found: when which process ran the match.
    """

    def __init__(self, found: Iterable[Presence]) -> None:
        self._all = [standstill for presence in found for standstill in presence.standstills]
        self._ends = [over_ms for _, over_ms in self._all]

    def all_ms(self, begin_ms: float, end_ms: float) -> float:
        """Return how much of a time may be said to have been the referee's own."""
        found_ms, reached_ms = ROUNDING_MS, begin_ms
        for begun_ms, over_ms in self._within(begin_ms, end_ms):
            until_ms = min(over_ms + UNNOTICED_MS, end_ms)
            found_ms += max(until_ms - max(begun_ms - UNNOTICED_MS, reached_ms), 0.0)
            reached_ms = max(reached_ms, until_ms)
        return found_ms

    def longest_ms(self, begin_ms: float, end_ms: float) -> float:
        """Return how long the longest standstill within a time may be said to have been."""
        parts = (min(over, end_ms) - max(begun, begin_ms) for begun, over in self._within(begin_ms, end_ms))
        return max((*parts, 0.0)) + ROUNDING_MS

    def least_ms(self, begin_ms: float, end_ms: float) -> float:
        """Return how long the longest standstill within a time was at least, of those that the referee remembers.

        One that had just begun at the end had not been noticed then.
        """
        within = list(self._within(begin_ms, end_ms))[1 - KEPT_STANDSTILLS :]
        parts = (
            min(over, end_ms) - max(begun, begin_ms)
            for begun, over in within
            if over <= end_ms or end_ms - begun > UNNOTICED_MS + ROUNDING_MS
        )
        return max((*parts, 0.0)) - ROUNDING_MS

    def sent_by_ms(self, asked_ms: float, end_ms: float, disk_ms: float) -> float:
        """Return by when what was asked was sent at the latest, as far as that was before an end.

        Args:
            asked_ms: when it was asked.
            end_ms: of the time that is looked at.
            disk_ms: so long it may have waited for the disk.
        """
        by_ms, reached_ms = asked_ms + PROMPT_MS + disk_ms + ROUNDING_MS, asked_ms
        for begun_ms, over_ms in self._within(asked_ms, end_ms):
            since_ms, until_ms = max(begun_ms - UNNOTICED_MS, reached_ms), over_ms + UNNOTICED_MS
            if since_ms >= by_ms:
                break
            by_ms, reached_ms = by_ms + max(until_ms - since_ms, 0.0), max(reached_ms, until_ms)
        return min(by_ms, end_ms)

    def _within(self, begin_ms: float, end_ms: float) -> Iterable[Standstill]:
        first = bisect_left(self._ends, begin_ms - UNNOTICED_MS)
        if first == len(self._all):  # as for nearly every answer
            return ()
        return takewhile(lambda standstill: standstill[0] <= end_ms + UNNOTICED_MS, islice(self._all, first, None))


def presences(record: Record) -> list[Presence]:
    """Return when which process ran a match, and what it tells of its standstills.

    Raises:
        RecordError: one is told of that is over before the line before it or after its own, begins before the last one
            was over, or before the referee did.
    """
    found: list[Presence] = []
    last_ms, told = 0.0, _Told(0.0)
    began: e.Began | None = None
    for number, step in enumerate(record.steps, 1):
        event = step.event
        if isinstance(event, e.Answer):
            told.heard.add(event.seat)
        elif isinstance(event, e.Began):
            found += _presence(record, began, last_ms, told)
            began, told = event, _Told(event.at_ms)
        for standstill in step.standstills:
            if not (told.takes(standstill) and last_ms <= standstill[1] <= event.at_ms):
                what = f"standstills from {told.reached_ms} ms on that are over from {last_ms} to {event.at_ms} ms"
                raise RecordError(record.path, number, what, f"one from {standstill[0]} to {standstill[1]} ms")
        last_ms = event.at_ms
    return [*found, *_presence(record, began, last_ms, told)]


class _Told:
    """The standstills of one presence, and who was heard in it.

    Args:
        begin_ms: when it began.
    """

    def __init__(self, begin_ms: float) -> None:
        self.reached_ms = begin_ms
        self.all: list[Standstill] = []
        self.heard: set[int] = set()

    def takes(self, standstill: Standstill) -> bool:
        """Add one, unless it contradicts the last one; that may go on."""
        begin_ms, end_ms = standstill
        if self.all and begin_ms == self.all[-1][0] and end_ms >= self.reached_ms:
            self.all.pop()
        elif not self.reached_ms <= begin_ms <= end_ms:
            return False
        self.all.append(standstill)
        self.reached_ms = end_ms
        return True


def _presence(record: Record, began: e.Began | None, end_ms: float, told: _Told) -> Iterator[Presence]:
    if began is not None:
        match = record.header.setup.match
        standstills, heard = tuple(told.all), frozenset(told.heard)
        yield Presence(match, began.process, began.clock_ms, began.at_ms, end_ms, standstills, began.starts, heard)


def contradictions(found: Iterable[Presence]) -> Iterator[Contradiction]:
    """Yield, for each match, the first standstill that another one of its process had at the time, and it had not.

    One that was not over at the last line of either is not compared: there, its end is not known.
    """
    processes = defaultdict[str, list[Presence]](list)
    for presence in found:
        if presence.process:
            processes[presence.process].append(presence)
    for ran in processes.values():
        told = [_OnClock(presence) for presence in ran]
        everything = sorted((over_ms, begin_ms, match) for match in told for begin_ms, over_ms in match.standstills)
        for match in told:
            yield from match.lacking(everything)


class _OnClock:
    """A presence in the time of its process; the standstills that were over at its end."""

    def __init__(self, presence: Presence) -> None:
        shift = self._shift = presence.clock_ms
        self.match = presence.match
        self.begin_ms, self._end_ms = presence.begin_ms + shift, presence.end_ms + shift - 2 * ROUNDING_MS
        moved = [(begin_ms + shift, over_ms + shift) for begin_ms, over_ms in presence.standstills]
        self.standstills = [standstill for standstill in moved if standstill[1] < self._end_ms]
        self._ends = [over_ms for _, over_ms in self.standstills]

    def __lt__(self, other: "_OnClock") -> bool:
        return self.begin_ms < other.begin_ms

    def lacking(self, everything: Sequence[tuple[float, float, "_OnClock"]]) -> Iterator[Contradiction]:
        """Yield the first standstill, of all that its process had, that this match lacks."""
        first = bisect_left(everything, (self.begin_ms + 2 * ROUNDING_MS,))
        last = bisect_left(everything, (self._end_ms,))
        for over_ms, begin_ms, witness in everything[first:last]:
            if not self._has(max(begin_ms, self.begin_ms), over_ms, witness.begin_ms):
                at_ms = round(over_ms - self._shift, 3)
                yield Contradiction(match=self.match, witness=witness.match, at_ms=at_ms)
                return

    def _has(self, begin_ms: float, over_ms: float, known_ms: float) -> bool:
        """Tell whether it has a standstill, of whose begin nothing before an instant is known."""
        index = bisect_left(self._ends, over_ms - ROUNDING_MS)
        if index == len(self._ends) or self._ends[index] > over_ms + ROUNDING_MS:
            return False
        return abs(max(self.standstills[index][0], known_ms) - begin_ms) <= ROUNDING_MS
