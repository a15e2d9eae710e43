"""Which programs start on which hosts: one that can't on a host, though it can on another, is not to blame.

What a program needs may be missing on one host; in a record that looks like a crash of its own. So where a program has
never started, a start that fails is the host's fault if it has started on another host, and is tried on another one if
that is not known. What it does once it has accepted a match is its own.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable

from ..match import events as e
from ..match.fouls import Cause
from ..record.reader import Record

ENOUGH_HOSTS = 3
"""A program that starts on none of so many hosts is at fault itself."""
_CAUSES = (Cause.CRASHED, Cause.REFUSED_TO_START)
_ENDINGS = (None, e.Ending.ENDED, e.Ending.FAILED, e.Ending.SPEECHLESS, e.Ending.OUT_OF_MEMORY)
"""Of a program that may never have come so far as to say anything."""


class Starts:
    """What is known of programs, by their digests, and of hosts, by their names."""

    def __init__(self) -> None:
        self._well: defaultdict[str, set[str]] = defaultdict(set)
        """Program -> hosts on which it has started."""
        self._failed: defaultdict[str, set[str]] = defaultdict(set)
        """Program -> hosts on which it could not."""
        self._counted: defaultdict[str, list[str]] = defaultdict(list)
        """Program -> matches in which it counted that it could not."""

    def fit(self, programs: Iterable[str], hosts: Collection[str]) -> Collection[str]:
        """Return the hosts that a match can be given to; all of them if there is no better one.

        Args:
            programs: of the match; one that has failed to start somewhere plays where it has started.
            hosts: that are there.
        """
        for program in programs:
            if failed := self._failed.get(program):
                well = self._well[program].intersection(hosts)
                hosts = well or set(hosts) - failed or hosts
        return hosts

    def is_excused(self, program: str, host: str, others: Collection[str]) -> bool:
        """Tell whether a program that could not start is not to blame for that.

        Args:
            program: it.
            host: where it could not.
            others: hosts that are there besides.
        """
        well, failed = self._well[program], self._failed[program]
        if host in well:
            return False
        failed.add(host)
        return bool(well) or (len(failed) < ENOUGH_HOSTS and not failed.issuperset(others))

    def counted(self, program: str, match: str) -> None:
        """Take note that a match counts in which a program could not start."""
        self._counted[program].append(match)

    def started(self, program: str, host: str) -> list[str]:
        """Take note that a program has started on a host.

        Args:
            program: it.
            host: where.

        Returns:
            The matches that somebody has to look at: they count though it could not start, and it was not known yet
            that it can.
        """
        is_news = not self._well[program]
        self._well[program].add(host)
        self._failed[program].discard(host)
        return self._counted.pop(program, []) if is_news else []


def unstarted(record: Record) -> set[int]:
    """Return the seats whose programs could not start, as far as a record tells: they never accepted the match.

    Args:
        record: of a match that is over.
    """
    assert record.result is not None, "it is over"
    ready = {step.event.seat for step in record.steps if isinstance(step.event, e.ReadyReceived)}
    fouls = (foul for foul in record.result.result.fouls if foul.cause in _CAUSES and not foul.evidence)
    return {foul.seat for foul in fouls if foul.ending in _ENDINGS} - ready
