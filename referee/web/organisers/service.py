"""What an organiser sees of a contest and does with it, as the site knows it."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from ..sessions import Person, SiteRole


class TournamentLine(Struct, frozen=True, kw_only=True):
    """A tournament as its organiser sees it."""

    name: str
    game: str
    format: str
    state: str
    may_start: bool
    may_pause: bool
    may_stop: bool
    """For good."""
    played: int
    open_matches: int
    entrants: Sequence[str]
    requests: int
    """Rulings that its record does not have yet."""
    said: Sequence[str]


class ProcessLine(Struct, frozen=True, kw_only=True):
    """What plays matches of a tournament: its own process, a worker, or a host of a cluster."""

    tournament: str
    name: str
    state: str
    """In words: `plays`."""
    tables: int | None
    """How many matches it plays at a time; None: as many as it is given."""
    matches: Sequence[str]
    """That it has now; some may wait there."""
    lag_ms: float
    """The longest time lately that it was not listening."""
    heard: str
    """When something was heard of it last, ISO 8601 in UTC."""


class AuthorLine(Struct, frozen=True, kw_only=True):
    """An author as the organiser sees it."""

    name: str
    versions: int
    last: str | None
    """State of the last one; None: there is none."""
    plays: int | None
    """Which version; None: none has passed."""


class Machine(Struct, frozen=True, kw_only=True):
    """How the machine is."""

    load: float
    """Processes that want to run, over the last minute."""
    cores: int
    memory_free_mib: int | None
    """None: the system does not tell."""
    disk_free_mib: int
    lag_ms: float
    """Longest that the site stood still within the last minute."""


class LoggedAction(Struct, frozen=True, kw_only=True):
    """Something that an organiser did."""

    at: str
    """ISO 8601 in UTC."""
    by: str
    what: str
    about: str
    reason: str = ""


MOST_LINES = 500
"""Of the queue, that an organiser is shown."""


class QueueLine(Struct, frozen=True, kw_only=True):
    """Something that waits, or is done now as its turn came: a check, a match, a tournament."""

    what: str
    author: str | None
    """Whose; None: it is everybody's."""
    why: str
    """It waits."""
    since: str | None
    """When it began to, ISO 8601 in UTC; None: that is not known."""
    until: str | None
    """When that ends at the latest, as above; None: when somebody does something, within a minute, or nobody knows."""
    waits_for_organiser: bool
    """Whether it waits until the organiser does something; all else happens by itself."""
    has_no_limit: bool = False
    """Whether nobody can say until when it waits."""


def seen_by(person: Person, lines: Sequence[QueueLine]) -> list[QueueLine]:
    """Return what somebody is shown of all that waits: authors all their own, then what is everybody's.

    Of others' an author learns no more than how many are before its own. Organisers are shown the first MOST_LINES.
    """
    if person.role is SiteRole.ORGANISER:
        return list(lines[:MOST_LINES])
    own = [line for line in lines if line.author == person.name]
    return [*own, *(line for line in lines if line.author is None)]


class OrganiserService(Protocol):
    """Does what an organiser asks, and tells how things stand; whatever is refused is a RefereeError."""

    def tournaments(self) -> Sequence[TournamentLine]:
        """Return the tournaments."""

    def authors(self) -> Sequence[AuthorLine]:
        """Return the authors."""

    def machine(self) -> Machine:
        """Return how the machine is."""

    def processes(self) -> Sequence[ProcessLine]:
        """Return what plays the matches of all tournaments that are played now."""

    def queue(self) -> Sequence[QueueLine]:
        """Return all that waits: checks and practice matches in their order, then tournaments, then their matches."""

    def actions(self) -> Sequence[LoggedAction]:
        """Return what organisers did, the last first."""

    def start(self, by: str, name: str) -> None:
        """Start a tournament, or let one go on that is paused."""

    def pause(self, by: str, name: str) -> None:
        """Stop a tournament until it is started again."""

    def rule(self, by: str, name: str, kind: str, subject: str, to: str, reason: str) -> None:
        """Hand in a ruling.

        Args:
            by: the organiser.
            name: of the tournament.
            kind: of ruling.
            subject: entrant or match; empty: it is about the whole tournament.
            to: who a match is awarded to; empty: nobody.
            reason: for everybody to read.
        """

    def add_author(self, by: str, name: str, *, may_renew: bool) -> str:
        """Let an author in, and return its token: the only time that it is to be seen."""

    def shut_out(self, by: str, name: str) -> None:
        """Make an author's token worth nothing."""

    def archive(self, by: str) -> Iterator[bytes]:
        """Return the whole contest as a tar archive, part by part."""
