"""What a tournament's report tells everybody: of `tournament.json`, what its pages show, while it is played, too.

What that file has besides, such as a seed that the organiser chose, or what a foul's evidence shows of a hand, is not
read, so that it can't get out.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct


class ReportedEntrant(Struct, frozen=True, kw_only=True):
    """An entrant; others name it by its place in the list."""

    name: str


class ReportedSpec(Struct, frozen=True, kw_only=True):
    """What is played."""

    name: str
    game: str
    format: str
    seats: int
    entrants: Sequence[ReportedEntrant]


class ReportedStanding(Struct, frozen=True, kw_only=True):
    """One line of the standings."""

    place: int
    entrant: int
    name: str
    points: float
    tie_breaks: dict[str, float]
    played: int
    byes: int
    has_withdrawn: bool


class ReportedRating(Struct, frozen=True, kw_only=True):
    """How strong an entrant is, as far as the results tell."""

    entrant: int
    rating: float
    error: float
    """Half the width of the 95 % interval."""
    played: int
    group: int
    """Ratings of different groups can't be compared."""


class ReportedPair(Struct, frozen=True, kw_only=True):
    """What an entrant did against another."""

    entrant: int
    opponent: int
    wins: int
    draws: int
    losses: int


class ReportedFixture(Struct, frozen=True, kw_only=True):
    """What a match was opened for."""

    match: str
    round: int
    table: str
    entrants: Sequence[int]
    """By seat."""


class ReportedFoul(Struct, frozen=True, kw_only=True):
    """A foul; its evidence is in the match's record."""

    seat: int
    cause: str
    turn: int
    rule: str | None
    """Id of the rule of the game that was broken, if it was one."""


class ReportedMatch(Struct, frozen=True, kw_only=True):
    """What came of a match."""

    fixture: ReportedFixture
    names: Sequence[str]
    """By seat."""
    void: str | None
    """The referee's fault for which it does not count."""
    ranking: Sequence[Sequence[int]]
    """Groups of seats from best to worst."""
    scores: Sequence[int]
    fouls: Sequence[ReportedFoul]
    reason: str
    """Id of the rule that ended the game."""
    turns: int
    used_ms: Sequence[float]
    """By seat."""
    head: str
    """Of its record."""


class ReportedVersion(Struct, frozen=True, kw_only=True):
    """A program with which an entrant played."""

    entrant: int
    number: int
    """From 1, of all of this entrant's."""
    at: str
    """Time of day from which on it was the entrant's."""
    digest: str | None
    """SHA-256 of its folder; None: it has none that the referee can read."""
    matches: Sequence[str]
    """Those that were opened with it."""


class ReportedRuling(Struct, frozen=True, kw_only=True):
    """What an organiser decided."""

    at: str
    kind: str
    entrant: str | None
    match: str | None
    reason: str
    by: str


class TournamentReport(Struct, frozen=True, kw_only=True):
    """A tournament as its report tells it."""

    spec: ReportedSpec
    head: str
    """Of the tournament's record that this was made from."""
    state: str
    """`over` or `running`."""
    begun_at: Sequence[str]
    """When a referee began with it, or went on; ISO 8601 in UTC."""
    played: int
    void: int
    standings: Sequence[ReportedStanding]
    ratings: Sequence[ReportedRating]
    crosstable: Sequence[ReportedPair]
    disqualified: Sequence[int]
    rulings: Sequence[ReportedRuling]
    versions: Sequence[ReportedVersion]
    disregarded: Mapping[str, str]
    """Match that was played to its end and does not count -> why not."""
    entries: Sequence[ReportedMatch]
    """Matches that have ended, in that order."""
