"""What a tournament's report tells everybody: of `tournament.json`, what its pages show, while it is played, too.

What that file has besides, such as a seed that the organiser chose, or what a foul's evidence shows of a hand, is not
read, so that it can't get out.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from ..pages.charts.brackets import Bracket
from ..pages.match_summary import SeatTime
from ..pages.rating_history import RatedAfter
from ..pages.summary import EntrantSchedule, HostLine
from ..record.fairness import FairnessTotals
from ..tournament.crosstable import HeadToHead
from ..tournament.history import PlayedVersion
from ..tournament.ratings.elo import Rating
from ..tournament.standings import Standing


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


class ReportedStanding(Standing, frozen=True, kw_only=True):
    """One line of the standings."""

    name: str
    ladder_rating: float | None = None
    """Rating that decides its place, on Elo's scale; None: no rating does."""


class ReportedPair(HeadToHead, frozen=True, kw_only=True):
    """What an entrant did against another."""

    entrant: int
    opponent: int
    los: float | None
    """How likely it is, by wins and losses alone, that the entrant is the stronger; None: nobody has won."""


class ReportedBye(Struct, frozen=True, kw_only=True):
    """A bye."""

    entrant: int
    round: int
    table: str
    """`walkover` if the opponent withdrew, `late` for a round before the entrant joined."""
    worth: float
    """In points."""


class ReportedArrival(Struct, frozen=True, kw_only=True):
    """An entrant that joined late."""

    entrant: int
    at: str
    """Time of day, ISO 8601 in UTC."""


class ReportedTime(SeatTime, frozen=True, kw_only=True):
    """How long an entrant took for its moves."""

    entrant: int


class ReportedRound(Struct, frozen=True, kw_only=True):
    """What a round brought."""

    round: int
    points: Mapping[int, float]
    """By entrant."""


class ReportedOut(Struct, frozen=True, kw_only=True):
    """An entrant that plays no more."""

    entrant: int
    state: str
    """`withdrawn`, `suspended` or `disqualified`."""
    why: str
    """In short."""


class ToldFoul(Struct, frozen=True, kw_only=True):
    """A foul that counts; of a deal that is still to be played from other seats, none is told."""

    match: str
    entrant: int
    seat: int
    cause: str
    rule: str | None
    """Id of the broken rule, or code of the broken protocol."""
    turn: int
    detail: str


class ReportedFixture(Struct, frozen=True, kw_only=True):
    """What a match was opened for."""

    match: str
    round: int
    table: str
    entrants: Sequence[int]
    """By seat."""


class ReportedDue(ReportedFixture, frozen=True, kw_only=True):
    """What a match is to be opened for."""

    names: Sequence[str]
    """By seat."""
    since: str | None
    """When it came to be so; None: the record does not tell."""


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
    """Of its record; empty: a ruling has made this result, and there is none."""
    result: str
    """How it ended, in words, then the points: `gus beat typo (typo crashed); 3 : 5`."""
    counts: bool
    """Whether the standings have it."""


class ReportedSchedule(EntrantSchedule, frozen=True, kw_only=True):
    """What came to an entrant."""

    entrant: int


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
    left_at: Sequence[str]
    """When it stopped, or was through."""
    played: int
    void: int
    order: str = ""
    """What decides the places of the standings, in a sentence."""
    standings: Sequence[ReportedStanding]
    ratings: Sequence[Rating]
    crosstable: Sequence[ReportedPair]
    courses: Sequence[Sequence[RatedAfter]]
    """By entrant: its rating after some of its results, with its interval."""
    progress: Sequence[ReportedRound]
    brackets: Sequence[Bracket]
    """Of an elimination."""
    seats: Sequence[Sequence[HeadToHead]]
    """Entrant -> seat -> what it did there."""
    times: Sequence[ReportedTime]
    fairness: FairnessTotals | None
    """None: there are no records."""
    schedules: Sequence[ReportedSchedule]
    hosts: Sequence[HostLine]
    byes: Sequence[ReportedBye]
    joined: Sequence[ReportedArrival]
    out: Sequence[ReportedOut]
    fouls: Sequence[ToldFoul]
    disqualified: Sequence[int]
    rulings: Sequence[ReportedRuling]
    versions: Sequence[PlayedVersion]
    disregarded: Mapping[str, str]
    """Match that was played to its end and does not count -> why not."""
    due: Sequence[ReportedDue]
    """Matches that may be played and are not, in the order in which they begin."""
    entries: Sequence[ReportedMatch]
