"""A stand-in for the organiser's desk: everything that it tells is hostile, and it keeps what it is asked to do."""

from collections.abc import Iterator, Sequence

from referee.errors import BadRequest
from referee.site.organiser_desk import AuthorLine, Deed, Machine, TournamentLine


class StandInDesk:
    """Tells of one tournament, called cup.

    Args:
        payload: stands in each text.
    """

    def __init__(self, payload: str) -> None:
        self._payload = payload
        self.asked = list[tuple[str, ...]]()

    def tournaments(self) -> Sequence[TournamentLine]:
        """Return the one."""
        line = TournamentLine(
            name="cup",
            game=self._payload,
            format=self._payload,
            state=self._payload,
            may_start=True,
            may_pause=True,
            played=1,
            open_matches=1,
            entrants=[self._payload],
            requests=1,
            said=[self._payload],
        )
        return [line]

    def authors(self) -> Sequence[AuthorLine]:
        """Return one."""
        return [AuthorLine(name=self._payload, versions=1, last="passed", plays=1)]

    def machine(self) -> Machine:
        """Return one."""
        return Machine(load=0.5, cores=2, memory_free_mib=None, disk_free_mib=7, lag_ms=0.1)

    def queue(self) -> Sequence[tuple[str, int]]:
        """Return a version that is checked, and one that waits."""
        return [(self._payload, 1), ("bob", 2)]

    def deeds(self) -> Sequence[Deed]:
        """Return one."""
        payload = self._payload
        return [Deed(at="2026-11-01T10:00:00Z", by=payload, what=payload, about=payload, reason=payload)]

    def start(self, by: str, name: str) -> None:
        """Keep it."""
        self.asked.append((by, "start", name))

    def pause(self, by: str, name: str) -> None:
        """Refuse it."""
        raise BadRequest(self._payload)

    def rule(self, by: str, name: str, kind: str, subject: str, to: str, reason: str) -> None:
        """Keep it."""
        self.asked.append((by, name, kind, subject, to, reason))

    def add_author(self, by: str, name: str, *, may_renew: bool) -> str:
        """Keep it."""
        self.asked.append((by, "renew" if may_renew else "add", name))
        return "token" * 9

    def archive(self, by: str) -> Iterator[bytes]:
        """Return three parts, one of which is empty."""
        self.asked.append((by, "archive"))
        return iter([b"a", b"", b"b"])
