"""Which host is given the next match: the one with least to do, in a time that does not grow with their number."""

from collections.abc import Collection, Iterable
from heapq import heapify, heappush, heapreplace

from .cluster_host import ClusterHost, machine_of
from .starts import Starts


class HostChoice:
    """The hosts that can be given matches.

    Whatever changes what hosts can take is to be followed by `look`, which goes through all of them; a host that has
    more to do than it had is found out when it is its turn.
    """

    def __init__(self) -> None:
        self.starts = Starts()
        self.room = 0
        """How many matches all of them are given at a time."""
        self._able: dict[str, ClusterHost] = {}
        self._queue: list[tuple[float, str]] = []
        """Load and name: a heap in which each host stands at least once, with no more than its load."""

    def look(self, hosts: Iterable[ClusterHost]) -> None:
        """Take note of what hosts can take now.

        Args:
            hosts: all that there are.
        """
        self._able = {host.name: host for host in hosts if host.capacity}
        self.room = sum(host.capacity for host in self._able.values())
        self._queue = [(host.load, host.name) for host in self._able.values()]
        heapify(self._queue)

    def eased(self, host: ClusterHost) -> None:
        """Take note that a host has a match less."""
        if host.name in self._able:
            heappush(self._queue, (host.load, host.name))

    def pick(self, preferred: str | None, programs: Iterable[str]) -> ClusterHost | None:
        """Return the host that a match is given to; None: there is none.

        Args:
            preferred: name of the one that is to have it if it is there, and its programs run there; else another one
                of its machine is.
            programs: of the match.
        """
        fit = self.starts.fit(programs, self._able)
        if preferred is not None:
            same_machine = [name for name in fit if machine_of(name) == machine_of(preferred)]
            if same_machine:
                return self._able[preferred] if preferred in fit else self._least_busy(same_machine)
        return self._first() if fit is self._able else self._least_busy(fit)

    def others(self, than: ClusterHost) -> Collection[str]:
        """Return the names of all other hosts that can be given matches."""
        return self._able.keys() - {than.name}

    def _least_busy(self, names: Iterable[str]) -> ClusterHost | None:
        hosts = (self._able[name] for name in names)
        return min(hosts, key=lambda host: (host.load, host.name), default=None)

    def _first(self) -> ClusterHost | None:
        while self._queue:
            load, name = self._queue[0]
            host = self._able[name]
            if host.load == load:
                return host
            heapreplace(self._queue, (host.load, name))
        return None
