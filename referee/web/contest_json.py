"""The public state of a contest: the first page, its events and the API are all made from these structs."""

# All texts of the public pages are made from these structs in the templates and, for changes, in the pages' scripts.
# The structs are also what `/api/contest` answers, so a program sees neither more nor less than a visitor.

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct


class SignUp(StrEnum):
    """Rule by which visitors become authors without an organiser's help."""

    OPEN = "open"
    INVITATION = "invitation"
    """A visitor with an invitation code may become an author."""
    CLOSED = "closed"


class OpenMatch(Struct, frozen=True, kw_only=True):
    """A match that is played at the moment."""

    match: str
    names: Sequence[str]
    """Names of the players, by seat."""
    addresses: Sequence[str | None]
    """Address of each player's page, by seat, from the site's first page; None: it has none yet."""
    round: int
    opened: str
    """Time of its beginning, ISO 8601 in UTC."""


class Leader(Struct, frozen=True, kw_only=True):
    """One of the first entrants of the standings."""

    place: int
    name: str
    address: str | None
    """Address of the entrant's page from the site's first page; None if there is none."""
    points: str
    rating: str | None = None
    """Rating that decides the place in a ladder; None in other formats."""


class LastResult(Struct, frozen=True, kw_only=True):
    """The result of a match that is over."""

    match: str
    result: str
    """Result in words, then the points: `ada beat bob; 28 : 4`."""
    address: str | None
    """Address of the replay from the site's first page; None if there is none."""


class ComingMatch(Struct, frozen=True, kw_only=True):
    """A match that waits to be played."""

    round: int
    table: str
    """Place in the format, such as a bracket's final; empty where there is nothing to say."""
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
    """Sentence that says when they begin, or why none does."""
    at: str | None
    """Time at which it begins or goes on, ISO 8601 in UTC; None if it waits for no time."""


class TournamentCard(Struct, frozen=True, kw_only=True):
    """A tournament in brief."""

    name: str
    """Name, which is also its part of addresses."""
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
    """Next matches; None if no more will come."""
    leaders: Sequence[Leader]
    """First entrants after the matches in the report; empty before the first match."""
    ranked: int
    """Number of entrants that the standings have."""
    last: Sequence[LastResult]
    """Latest results, the latest first."""
    reported: int | None
    """Number of matches in the report; None if there is no report yet."""
    head: str | None
    """Hash of the last line but the seal of the tournament's record, from which the report was made."""
    verifier: str | None
    """Address, from the site's first page, of the page that verifies that record; None while it is played."""


class Announcement(Struct, frozen=True, kw_only=True):
    """A sentence of an organiser for everybody."""

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
