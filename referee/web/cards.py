"""What everybody may know of a contest's tournaments at the moment: what pages, events and the API are made of."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct


class SignUp(StrEnum):
    """Who may become an author without being let in by an organiser."""

    OPEN = "open"
    INVITATION = "invitation"
    """A visitor with an invitation code may become an author."""
    CLOSED = "closed"


class OpenMatch(Struct, frozen=True, kw_only=True):
    """A match that is played now."""

    match: str
    names: Sequence[str]
    """Names of the players, by seat."""
    round: int
    opened: str
    """Time of day, ISO 8601 in UTC."""


class Leader(Struct, frozen=True, kw_only=True):
    """An entrant among the first."""

    place: int
    name: str
    points: str
    rating: str | None = None
    """Rating that decides the place in a ladder; None in other formats."""


class LastResult(Struct, frozen=True, kw_only=True):
    """What came of a match that is over."""

    match: str
    result: str
    """Result in words, then the points: `ada beat bob; 28 : 4`."""
    address: str | None
    """Address of the replay from the site's first page; None if there is none."""


class ComingMatch(Struct, frozen=True, kw_only=True):
    """A match that may be played, and is not yet."""

    round: int
    table: str
    """Where in the format it belongs, if that is worth a word."""
    names: Sequence[str]
    """Names of the players, by seat."""


class Coming(Struct, frozen=True, kw_only=True):
    """What comes next in a tournament."""

    matches: Sequence[ComingMatch]
    """The first of them."""
    left_out: int
    why: str
    """When they begin, or why none does, in a sentence."""
    at: str | None
    """Time of day at which it begins, or goes on, ISO 8601 in UTC; None: it does not wait for one."""


class TournamentCard(Struct, frozen=True, kw_only=True):
    """A tournament in short."""

    name: str
    """Also its part of addresses."""
    game: str
    format: str
    entrants: int
    state: str
    """State in words, such as `is played`."""
    start: str | None
    """Time of day, ISO 8601 in UTC; None: at once."""
    played: int
    """Matches."""
    open_matches: Sequence[OpenMatch]
    coming: Coming | None
    """None: nothing more comes."""
    leaders: Sequence[Leader]
    """After the matches that the report has; nobody before the first of them."""
    last: Sequence[LastResult]
    """The latest first."""
    reported: int | None
    """Matches that its report has; None: there is none yet."""
    head: str | None
    """Hash of the last line but the seal of the tournament's record, from which the report was made."""
    verifier: str | None
    """Address of what verifies that record, seen from the first page; None: nothing does, as while it is played."""


class ContestCard(Struct, frozen=True, kw_only=True):
    """A contest in short."""

    title: str
    sign_up: SignUp
    tournaments: Sequence[TournamentCard]
