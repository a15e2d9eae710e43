"""The public state of a contest: the first page, its events and the API are all made from these structs."""

# The templates, and the scripts that update open pages, make all texts of the public pages from these structs.
# `/api/contest` sends the same structs, so a program sees neither more nor less than a visitor.

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct


class SignUp(StrEnum):
    """Rule for visitors who want to become authors without an organiser's help."""

    OPEN = "open"
    INVITATION = "invitation"
    """A visitor with an invitation code may become an author."""
    CLOSED = "closed"


class OpenMatch(Struct, frozen=True, kw_only=True):
    """An open match."""

    match: str
    names: Sequence[str]
    """Names of the players, by seat."""
    addresses: Sequence[str | None]
    """Address of each player's page, by seat, from the site's first page; None: it has none yet."""
    round: int
    opened: str
    """Time at which the match was opened, ISO 8601 in UTC."""


class Leader(Struct, frozen=True, kw_only=True):
    """One of the first entrants of the standings."""

    place: int
    name: str
    address: str | None
    """Address of the entrant's page from the site's first page; None if there is none."""
    points: str
    rating: str | None = None
    """Rating, if it decides the place, as in a ladder; None in other formats."""


class LastResult(Struct, frozen=True, kw_only=True):
    """The result of a match that is over."""

    match: str
    result: str
    """Result in words, then the points: `ada beat bob; 28 : 4`."""
    address: str | None
    """Address of the replay from the site's first page; None if there is none."""


class ComingMatch(Struct, frozen=True, kw_only=True):
    """A waiting match."""

    round: int
    table: str
    """Name of the match in its format, such as `final`; usually empty."""
    names: Sequence[str]
    """Names of the players, by seat."""
    addresses: Sequence[str | None]
    """Address of each player's page, by seat, from the site's first page; None: it has none yet."""


class Coming(Struct, frozen=True, kw_only=True):
    """The next matches of a tournament."""

    matches: Sequence[ComingMatch]
    """First of the waiting matches."""
    left_out: int
    """Number of waiting matches that are not listed."""
    why: str
    """Sentence that says when they begin, or why none begins."""
    at: str | None
    """Time at which the tournament begins or continues, ISO 8601 in UTC; None if no time is set."""


class TournamentCard(Struct, frozen=True, kw_only=True):
    """A tournament in brief."""

    name: str
    """Name of the tournament; its addresses contain the name, too."""
    game: str
    format: str
    entrants: int
    state: str
    """State in words, such as `is played`."""
    start: str | None
    """Time of the start, ISO 8601 in UTC; None: at once."""
    played: int
    """Number of matches that are over."""
    open_matches: Sequence[OpenMatch]
    coming: Coming | None
    """Next matches; None if no more matches will come."""
    leaders: Sequence[Leader]
    """First entrants of the standings in the report; empty before the first match."""
    ranked: int
    """Number of entrants in the standings."""
    last: Sequence[LastResult]
    """Latest results, the latest first."""
    reported: int | None
    """Number of matches in the report; None if there is no report yet."""
    head: str | None
    """Hash of the last line (the seal does not count) of the tournament's record when the report was made."""
    verifier: str | None
    """Address of the page that verifies the record, relative to the site's first page; None during the tournament."""


class Announcement(Struct, frozen=True, kw_only=True):
    """A public sentence from an organiser."""

    at: str
    """Time of the announcement, ISO 8601 in UTC."""
    by: str
    """Name of the organiser."""
    text: str


class ContestCard(Struct, frozen=True, kw_only=True):
    """A contest in brief."""

    title: str
    sign_up: SignUp
    announcements: Sequence[Announcement]
    """Latest announcements of the organisers, the newest first."""
    tournaments: Sequence[TournamentCard]
