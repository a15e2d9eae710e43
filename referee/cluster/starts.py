"""Which programs run on which hosts: one that can't on a host, though it may on another, is not to blame.

What a program needs may be missing on one host; in a record that looks like a fault of its own: a build that fails, a
start that fails, a crash at what is loaded for the first answer. So where a program has never made a move, its end
before that is the host's fault if it has moved on another host, and is tried on another one if that is not known. A
program that has made a move has what it needs: what it does from then on is its own, and it can't have a match that it
is about to lose played again.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable

from ..match import events as e
from ..match.fouls import Cause, Foul

ENOUGH_HOSTS = 3
"""A program that runs on none of so many hosts is at fault itself."""
_CAUSES = (Cause.CRASHED, Cause.REFUSED_TO_START)
_ENDINGS = (None, e.Ending.ENDED, e.Ending.FAILED, e.Ending.SPEECHLESS, e.Ending.OUT_OF_MEMORY)
"""Of a program that may have lacked something."""


class Starts:
    """What is known of programs, by their digests, and of hosts, by their names."""

    def __init__(self) -> None:
        self._well: defaultdict[str, set[str]] = defaultdict(set)
        """Program -> hosts on which it has made a move."""
        self._failed: defaultdict[str, set[str]] = defaultdict(set)
        """Program -> hosts on which it did not come so far."""
        self._counted: defaultdict[str, list[str]] = defaultdict(list)
        """Program -> matches in which that counted."""

    def fit(self, programs: Iterable[str], hosts: Collection[str]) -> Collection[str]:
        """Return the hosts that a match can be given to; all of them, the very same, if there is no better one.

        Args:
            programs: of the match; one that has failed somewhere plays where it has made a move.
            hosts: that are there.
        """
        for program in programs:
            if failed := self._failed.get(program):
                well = self._well[program].intersection(hosts)
                hosts = well or set(hosts) - failed or hosts
        return hosts

    def is_excused(self, program: str, host: str, others: Collection[str]) -> bool:
        """Tell whether a program that did not come to a move is not to blame for that.

        Args:
            program: it.
            host: where it did not.
            others: hosts that are there besides.
        """
        well, failed = self._well[program], self._failed[program]
        if host in well:
            return False
        failed.add(host)
        return bool(well) or (len(failed) < ENOUGH_HOSTS and not failed.issuperset(others))

    def counted(self, program: str, match: str) -> None:
        """Take note that a match counts in which a program did not come to a move."""
        self._counted[program].append(match)

    def moved(self, program: str, host: str) -> list[str]:
        """Take note that a program has made a move on a host.

        Args:
            program: it.
            host: where.

        Returns:
            The matches that somebody has to look at: they count though it made no move in them, and it was not known
            yet that it can.
        """
        is_news = not self._well[program]
        self._well[program].add(host)
        self._failed[program].discard(host)
        return self._counted.pop(program, []) if is_news else []


def unstarted(fouls: Iterable[Foul], moved: Collection[int]) -> set[int]:
    """Return the seats whose programs may have lacked what they need.

    Args:
        fouls: of a match that is over.
        moved: the seats that made a move in it.
    """
    seats = {foul.seat for foul in fouls if foul.cause in _CAUSES and not foul.evidence and foul.ending in _ENDINGS}
    return seats.difference(moved)
