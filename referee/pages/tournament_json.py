"""Describes a tournament as one object: `tournament.json`, which a contest's site sends at `/api/tournaments/NAME`.

These structs are the only description of the object. They write the file, read it back for the site, make the schema in
the site's OpenAPI, and make the table in docs/reference/tournament-json.md. Anybody may see the object during the
tournament. So it has no seed, no path of a program and no evidence of a foul, which could show a hand. The records have
them.
"""

# The file is an interface, so its structs are written out here, although many fields repeat those of other structs. A
# new field of `MatchEntry` must not reach every visitor of a site by accident: it could show a hand, or a path of the
# organiser's machine. If all fields of a struct are safe to publish, the struct here inherits from it
# (`ReportedStanding`, `ReportedRating`), so that the two can't differ.
#
# A contest's site is the only reader of the file, because other processes play its tournaments. A process that has the
# tournament itself uses `Summary`.

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import asdict

from protocol.messages import TimeControl

from ..record.timing import FairnessTotals
from ..text import placeless
from ..tournament.crosstable import HeadToHead
from ..tournament.history import PlayedVersion
from ..tournament.match_context import Fixture, MatchEntry
from ..tournament.points import Scoring
from ..tournament.ratings.elo import Rating
from ..tournament.spec import TournamentSpec
from ..tournament.standings import Standing
from .charts.brackets import Bracket, brackets
from .encounters import RatedAfter, superiority
from .match_summary import AWARD, SeatTime
from .summary import EntrantSchedule, HostLine, Summary
from .words import short_cause

Version = Literal[1]
VERSION: Version = get_args(Version)[0]


class ReportedEntrant(Struct, frozen=True, kw_only=True):
    """An entrant. Other objects refer to it by its index in the list."""

    name: str
    rating: float | None
    """Rating that was known before the tournament; null if none was known."""


class ReportedSpec(Struct, frozen=True, kw_only=True):
    """Settings of the tournament."""

    name: str
    game: str
    format: str
    seats: int
    """Number of seats of a match."""
    entrants: Sequence[ReportedEntrant]
    duplicate: bool
    """True if each pairing is played with the same deal once from every seat."""
    time: TimeControl
    scoring: Scoring
    tie_breaks: Sequence[str]


class ReportedStanding(Standing, frozen=True, kw_only=True):
    """One line of the standings."""

    name: str
    ladder_rating: float | None
    """Rating that decides the place in a ladder, on Elo's scale; null in other formats."""


class ReportedRating(Rating, frozen=True, kw_only=True):
    """An entrant's rating, computed from all results."""

    name: str


class ReportedPair(HeadToHead, frozen=True, kw_only=True):
    """Results of an entrant against one opponent."""

    entrant: int
    opponent: int
    los: float | None
    """Probability that the entrant is the stronger one, computed from wins and losses; null if neither has won."""


class ReportedBye(Struct, frozen=True, kw_only=True):
    """A bye."""

    entrant: int
    number: int
    """Number of the pairing."""
    round: int
    table: str
    """`walkover` if the opponent withdrew, `late` for a round before the entrant joined; otherwise the format's name
    for the bye, which is usually empty."""
    against: int | None
    """The entrant that withdrew, in formats that fix the opponents beforehand; else null."""
    worth: float
    """Points for the bye."""


class ReportedArrival(Struct, frozen=True, kw_only=True):
    """An entrant that joined late."""

    entrant: int
    at: str
    """Time at which the entrant joined, ISO 8601 in UTC."""


class ReportedTime(SeatTime, frozen=True, kw_only=True):
    """Time that an entrant took for its moves."""

    entrant: int


class ReportedRound(Struct, frozen=True, kw_only=True):
    """Points of a round."""

    round: int
    points: Mapping[int, float]
    """Entrant -> points in this round."""


class ReportedOut(Struct, frozen=True, kw_only=True):
    """An entrant that plays no more."""

    entrant: int
    state: str
    """`withdrawn`, `suspended` or `disqualified`."""
    why: str
    """The reason, shortened."""


class ReportedFoul(Struct, frozen=True, kw_only=True):
    """A foul that counts."""

    match: str
    entrant: int
    seat: int
    cause: str
    rule: str | None
    """Id of the broken rule of the game, or error code of the wire."""
    turn: int
    detail: str


class ReportedDue(Fixture, frozen=True, kw_only=True):
    """A match that is due but not open yet."""

    names: Sequence[str]
    """Names by seat."""
    since: str | None
    """Time at which the match became due; null if the record does not have it."""


class SeatFoul(Struct, frozen=True, kw_only=True):
    """A foul in a match. The evidence is in the match's record."""

    seat: int
    cause: str
    turn: int
    rule: str | None
    """Id of the broken rule of the game; null if the foul broke another rule."""


class ReportedMatch(Struct, frozen=True, kw_only=True):
    """The result of a match."""

    fixture: Fixture
    """Round and pairing that the match belongs to, and its entrants."""
    names: Sequence[str]
    """Names by seat."""
    void: str | None
    """The referee's fault that made the match void; null if it is not void."""
    ranking: Sequence[Sequence[int]]
    """Groups of seats from best to worst."""
    scores: Sequence[int]
    fouls: Sequence[SeatFoul]
    reason: str
    """Id of the rule that ended the game; `award` if a ruling made the result."""
    turns: int
    used_ms: Sequence[float]
    """Time that each seat used, in milliseconds."""
    head: str
    """Hash of the record's result line; empty if a ruling made the result, because then there is no record."""
    result: str
    """Result in words, then the points in the order of its names: `gus beat typo (typo crashed); 3 : 5`."""
    counts: bool
    """True if the standings include the match."""


class ReportedSchedule(EntrantSchedule, frozen=True, kw_only=True):
    """How the matches of an entrant were spread in time."""

    entrant: int


class ReportedRuling(Struct, frozen=True, kw_only=True):
    """A ruling of the organiser."""

    at: str
    kind: str
    entrant: str | None
    """Name of the entrant that the ruling is about; null if it is about none."""
    match: str | None
    """Name of the match that the ruling is about; null if it is about none."""
    reason: str
    by: str


class TournamentReport(Struct, frozen=True, kw_only=True):
    """A tournament. Entrants are numbers, counted from 0 in the order of the spec."""

    version: Version
    """Version of this object's form."""
    spec: ReportedSpec
    """Settings that were fixed before the tournament, and all entrants, including those that joined late."""
    head: str
    """Hash of the last line of the tournament's record when this object was made; the seal does not count."""
    state: str
    """`over` or `running`."""
    begun_at: Sequence[str]
    """Times at which a referee began or resumed the tournament, ISO 8601 in UTC."""
    left_at: Sequence[str]
    """Times at which a referee stopped or finished the tournament. A referee that was killed left no time."""
    played: int
    """Number of matches that count."""
    void: int
    """Number of void matches."""
    order: str
    """Sentence that explains the order of the standings."""
    standings: Sequence[ReportedStanding]
    """An object for each entrant, from first to last."""
    ratings: Sequence[ReportedRating]
    """An object for each entrant."""
    crosstable: Sequence[ReportedPair]
    """An object for each pair that met, from both sides."""
    seats: Sequence[Sequence[HeadToHead]]
    """Entrant -> seat -> wins, draws and losses in this seat."""
    byes: Sequence[ReportedBye]
    """An object for each bye."""
    joined: Sequence[ReportedArrival]
    """The entrants that joined late."""
    out: Sequence[ReportedOut]
    """The entrants that play no more."""
    disqualified: Sequence[int]
    """The entrants in `out` that were disqualified."""
    versions: Sequence[PlayedVersion]
    """The programs of each entrant."""
    times: Sequence[ReportedTime]
    """Time that each entrant took for its moves."""
    brackets: Sequence[Bracket]
    """Brackets of an elimination; empty in other formats."""
    progress: Sequence[ReportedRound]
    """An object for each round."""
    history: Sequence[Sequence[RatedAfter]]
    """Entrant -> ratings with half the width of their intervals, after none, some and all of its encounters."""
    fairness: FairnessTotals | None
    """Measurements of the time in all matches; null without records."""
    schedules: Sequence[ReportedSchedule]
    """Waiting times, gaps, number of opponents and seats of each entrant."""
    fouls: Sequence[ReportedFoul]
    """The fouls that count, without fouls in a deal that is still to be played from other seats."""
    disregarded: Mapping[str, str]
    """Match that was played to its end but does not count -> reason."""
    hosts: Sequence[HostLine]
    """The hosts of a cluster."""
    rulings: Sequence[ReportedRuling]
    """Rulings of the organiser."""
    due: Sequence[ReportedDue]
    """The matches that are due but not open yet, in the order in which they will begin."""
    entries: Sequence[ReportedMatch]
    """Every result, in the order of the record. A match that an award replaced is also in the list, but does not
    count."""


def report_tournament(summary: Summary) -> TournamentReport:
    """Return the object that `tournament.json` holds."""
    tournament, history, names = summary.tournament, summary.history, summary.names
    ladder = summary.placing_ratings or (None,) * len(names)
    return TournamentReport(
        version=VERSION,
        spec=_spec(summary.spec),
        head=history.head,
        state="over" if tournament.is_over else "running",
        begun_at=history.begun_at,
        left_at=history.left_at,
        played=tournament.played,
        void=tournament.voided,
        order=tournament.explain_order(),
        standings=[
            ReportedStanding(**asdict(line), name=names[line.entrant], ladder_rating=ladder[line.entrant])
            for line in summary.standings
        ],
        ratings=[ReportedRating(**asdict(rating), name=names[rating.entrant]) for rating in summary.ratings],
        crosstable=list(_pairs(summary)),
        seats=summary.by_seat,
        byes=list(_byes(summary)),
        joined=[ReportedArrival(entrant=entrant, at=at) for entrant, at in history.joined],
        out=[
            ReportedOut(entrant=entrant, state=summary.entrant_state(entrant), why=short_cause(why))
            for entrant, why in summary.suspended.items()
        ],
        disqualified=sorted(tournament.disqualified),
        versions=[version for versions in history.versions.values() for version in versions],
        times=[ReportedTime(**asdict(time), entrant=entrant) for entrant, time in enumerate(summary.times)],
        brackets=brackets(summary),
        progress=[
            ReportedRound(round=round_, points={entrant: float(points) for entrant, points in won.items()})
            for round_, won in summary.points_by_round.items()
        ],
        history=summary.rating_history,
        fairness=summary.fairness,
        schedules=[
            ReportedSchedule(**asdict(schedule), entrant=entrant) for entrant, schedule in enumerate(summary.schedules)
        ],
        fouls=list(_fouls(summary)),
        disregarded=history.disregarded,
        hosts=summary.hosts,
        rulings=[
            ReportedRuling(
                at=line.at,
                kind=line.ruling.kind,
                entrant=line.ruling.entrant,
                match=line.ruling.match,
                reason=line.ruling.reason,
                by=line.ruling.by,
            )
            for line in summary.rulings.all
        ],
        due=list(_due(summary)),
        entries=[_entry(summary, entry) for entry in summary.results],
    )


def _spec(spec: TournamentSpec) -> ReportedSpec:
    return ReportedSpec(
        name=spec.name,
        game=spec.game,
        format=spec.format,
        seats=spec.seats,
        entrants=[ReportedEntrant(name=entrant.name, rating=entrant.rating) for entrant in spec.entrants],
        duplicate=spec.duplicate,
        time=spec.time,
        scoring=spec.scoring,
        tie_breaks=spec.tie_breaks,
    )


def _pairs(summary: Summary) -> Iterator[ReportedPair]:
    for entrant in range(len(summary.names)):
        for opponent, met in sorted(summary.tournament.table.opponents(entrant).items()):
            yield ReportedPair(**asdict(met), entrant=entrant, opponent=opponent, los=superiority(met))


def _byes(summary: Summary) -> Iterator[ReportedBye]:
    for pairing, worth in summary.byes:
        (entrant,) = pairing.seats
        yield ReportedBye(
            entrant=entrant,
            number=pairing.number,
            round=pairing.round,
            table=pairing.table,
            against=pairing.against,
            worth=float(worth),
        )


def _fouls(summary: Summary) -> Iterator[ReportedFoul]:
    """Yield the fouls that count. A foul in a deal that is still to be played from other seats could show a hand."""
    for entry, foul in summary.fouls():
        if entry.match not in summary.withheld:
            yield ReportedFoul(
                match=entry.match,
                entrant=entry.fixture.entrants[foul.seat],
                seat=foul.seat,
                cause=foul.cause,
                rule=foul.rule or foul.code,
                turn=foul.turn,
                detail=placeless(foul.detail),
            )


def _due(summary: Summary) -> Iterator[ReportedDue]:
    for fixture in summary.tournament.fixtures():
        if fixture.match not in summary.tournament.playing:
            names = [summary.names[entrant] for entrant in fixture.entrants]
            yield ReportedDue(**asdict(fixture), names=names, since=summary.history.due_at.get(fixture.match))


def _entry(summary: Summary, entry: MatchEntry) -> ReportedMatch:
    return ReportedMatch(
        fixture=entry.fixture,
        names=entry.names,
        void=entry.void,
        ranking=entry.ranking,
        scores=entry.scores,
        fouls=[SeatFoul(seat=foul.seat, cause=foul.cause, turn=foul.turn, rule=foul.rule) for foul in entry.fouls],
        reason=AWARD if entry.is_ruled else entry.reason,
        turns=entry.turns,
        used_ms=entry.used_ms,
        head=entry.head,
        result=summary.outcome(entry).with_points(entry.scores),
        counts=summary.history.counts(entry),
    )
