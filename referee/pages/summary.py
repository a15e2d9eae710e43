"""Computes the numbers of a tournament that its report and its exports show.

A number that two pages or files show is computed only here, so that they can't disagree. Every number is computed when
it is first needed: a site may only need the names, and the history of ratings takes seconds in a long season.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, zip_longest

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from protocol.limits import NAME_PATTERN

from ..record.timing import FairnessTotals, fairness_totals
from ..tournament.crosstable import HeadToHead
from ..tournament.events import HostCame
from ..tournament.history import History, RuledLine, RuledLines
from ..tournament.hosts import Calibration, is_void_for
from ..tournament.machine import Tournament
from ..tournament.match_context import FoulEntry, MatchEntry
from ..tournament.pairing.base import Pairing
from ..tournament.points import match_points
from ..tournament.ratings.elo import Rating, elo_ratings, estimate_dispersion
from ..tournament.spec import TournamentSpec
from ..tournament.standings import Standing
from .encounters import RatedAfter, RatedEncounters, by_seat, total
from .match_summary import MatchSummary, SeatTime, match_places
from .words import OutcomeWords, outcome_of_entry


class HostLine(Struct, frozen=True, kw_only=True):
    """Matches and lags of a host of a cluster."""

    host: str
    calibration: Calibration
    """Speed of the host when it last joined."""
    matches: int = 0
    """Number of matches that it began."""
    void: int = 0
    """Number of its void matches, including matches that had not begun."""
    lag_ms: float = 0.0
    """The referee's longest lag for an answer on this host."""
    standstills: int = 0
    """Number of requests during which the referee stood still on this host."""


def host_lines(
    hosts: Iterable[HostCame], entries: Iterable[MatchEntry], match_summaries: Mapping[str, MatchSummary]
) -> list[HostLine]:
    """Return a line for each host, in the order in which the hosts first joined.

    Args:
        hosts: events of hosts, in their order.
        entries: results of all matches.
        match_summaries: match -> summary of its record.
    """
    processes, lines = {}, dict[str, HostLine]()
    for came in hosts:
        processes[came.process] = came.host
        lines[came.host] = HostLine(host=came.host, calibration=came.calibration)
    for entry in entries if lines else ():
        match = match_summaries.get(entry.match)
        times = {processes.get(time.process): time for time in match.fairness.processes} if match is not None else {}
        for host, time in times.items():
            if host is not None:
                line = lines[host]
                lines[host] = replace(
                    line,
                    matches=line.matches + 1,
                    lag_ms=max(line.lag_ms, time.lag_ms),
                    standstills=line.standstills + time.standstills,
                )
        for host in lines if entry.void is not None else ():
            if host in times or is_void_for(host, entry.void or ""):
                lines[host] = replace(lines[host], void=lines[host].void + 1)
    return list(lines.values())


def page_names(entrants: Sequence[str]) -> list[str]:
    """Return the names of the entrants' pages, without the ending.

    A record may be forged, so a name that is not valid must not become a path.
    """
    return [name if re.match(NAME_PATTERN, name) else f"entrant-{number}" for number, name in enumerate(entrants)]


class EntrantSchedule(Struct, frozen=True, kw_only=True):
    """The schedule of an entrant: waiting times, gaps between matches, opponents and seats."""

    matches: int
    mean_wait_s: float
    """Mean time that a match waited after it was due, until a table and all its players were free."""
    most_wait_s: float
    """Longest such time."""
    mean_gap_s: float
    """Mean time from the end of a match to the beginning of the next; 0 if both were played at once."""
    most_gap_s: float
    """Longest such time."""
    opponents: int
    """Number of different opponents."""
    seats: list[int]
    """Number of matches that count, by seat."""


@dataclass(frozen=True)
class Summary:
    """Everything that pages and exports show of a tournament.

    Args:
        history: the tournament and its past.
        match_summaries: match -> summary of its record. A match without a summary is shown without times and moves.
    """

    history: History
    match_summaries: Mapping[str, MatchSummary]

    @property
    def tournament(self) -> Tournament:
        """The state of the tournament."""
        return self.history.tournament

    @property
    def spec(self) -> TournamentSpec:
        """The settings of the tournament."""
        return self.tournament.spec

    @cached_property
    def names(self) -> list[str]:
        """Names of the entrants."""
        return [entrant.name for entrant in self.spec.entrants]

    @cached_property
    def suspended(self) -> Mapping[int, str]:
        """Entrant that plays no more -> reason."""
        return {suspension.entrant: suspension.why for suspension in self.tournament.suspended.values()}

    def entrant_state(self, entrant: int) -> str:
        """Return in one word why an entrant plays no more; empty if it still plays."""
        if entrant in self.tournament.disqualified:
            return "disqualified"
        if entrant in self.suspended:
            name, rulings = self.names[entrant], self.tournament.rulings
            kinds = [ruling.kind for ruling in rulings if ruling.entrant == name and ruling.match is None]
            return "withdrawn" if kinds and kinds[-1] == "withdraw" else "suspended"
        return "withdrawn" if self.tournament.table.sums(entrant).has_withdrawn else ""

    @cached_property
    def joined(self) -> Mapping[int, str]:
        """Entrant that joined late -> time of day."""
        return dict(self.history.joined)

    @cached_property
    def version_numbers(self) -> Mapping[tuple[int, str], int]:
        """Entrant and match -> number of the program that played; empty if nobody has changed a program."""
        numbers = {
            (version.entrant, match): version.number
            for versions in self.history.versions.values()
            for version in versions
            for match in version.matches
        }
        return numbers if max(numbers.values(), default=1) > 1 else {}

    @cached_property
    def runs(self) -> list[tuple[str, str | None]]:
        """Times at which a referee started or resumed, each with the time at which it stopped.

        The second time is None if the referee still runs, or crashed.
        """
        begun = self.history.begun_at
        return [
            (
                start,
                next((left for left in self.history.left_at if start <= left and (end is None or left <= end)), None),
            )
            for start, end in zip_longest(begun, begun[1:])
        ]

    @cached_property
    def rulings(self) -> RuledLines:
        """The rulings and their effects."""
        return RuledLines(self.history)

    @cached_property
    def stopped(self) -> str:
        """Sentence that says how the tournament was stopped for good; empty if it was not."""
        ruling = self.tournament.stopped
        if ruling is None:
            return ""
        last = max((entry.fixture.round for entry in self.counted), default=0)
        return f"Stopped for good after round {last}, by {ruling.by}: {ruling.reason}"

    @cached_property
    def byes(self) -> list[tuple[Pairing, Fraction]]:
        """All byes with their points."""
        spec = self.spec
        byes = (played for played in self.history.played if played.pairing.is_bye)
        return [(played.pairing, match_points(played, spec.scoring, spec.seats)[0]) for played in byes]

    @cached_property
    def hosts(self) -> list[HostLine]:
        """Lines of the hosts of a cluster; empty without a cluster."""
        return host_lines(self.history.hosts, self.history.entries, self.match_summaries)

    @cached_property
    def fairness(self) -> FairnessTotals | None:
        """Measurements of the time in all matches with records, including void matches; None without records."""
        measured = [match.fairness for match in self.match_summaries.values()]
        return fairness_totals(measured) if measured else None

    @cached_property
    def pages(self) -> list[str]:
        """The names of the entrants' pages."""
        return page_names(self.names)

    @cached_property
    def changed(self) -> Mapping[str, str]:
        """Name of an entrant that changed its program -> time of day of the last change."""
        return {self.names[entrant]: at for entrant, at in self.history.changes}

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """The standings, from first to last."""
        return self.tournament.standings()

    @cached_property
    def placing_ratings(self) -> tuple[float, ...] | None:
        """Rating of each entrant, if ratings decide the places; else None."""
        return self.tournament.placing_ratings()

    @cached_property
    def order(self) -> list[int]:
        """The entrants, from first to last."""
        return [line.entrant for line in self.standings]

    @cached_property
    def ratings(self) -> tuple[Rating, ...]:
        """Rating of each entrant: Elo for matches of two, the Plackett-Luce model for larger matches."""
        skills = self.tournament.skills
        return elo_ratings(self.tournament.table) if skills is None else skills.ratings()

    @cached_property
    def points_by_round(self) -> Mapping[int, Mapping[int, Fraction]]:
        """Round -> entrant -> points in this round; the rounds are in order."""
        return self.history.points_by_round()

    @cached_property
    def results(self) -> list[MatchEntry]:
        """All results in the order of the record, including awards and results that do not count."""
        return self.history.results

    @cached_property
    def awarded(self) -> list[MatchEntry]:
        """The results that rulings made."""
        return [entry for entry in self.results if entry.is_ruled]

    @cached_property
    def counted(self) -> list[MatchEntry]:
        """The matches that were played and count."""
        return [entry for entry in self.history.entries if not self.history.uncounted_reason(entry)]

    @cached_property
    def uncounted(self) -> Mapping[str, str]:
        """Match that does not count -> reason."""
        reasons = {entry.match: self.history.uncounted_reason(entry) for entry in self.history.entries}
        return {match: reason for match, reason in reasons.items() if reason}

    def places(self, entry: MatchEntry) -> list[int]:
        """Return the place of each seat of a match, from 1; zeros if the match does not count."""
        return [0] * len(entry.names) if self.history.uncounted_reason(entry) else match_places(entry)

    def outcome(self, entry: MatchEntry, names: Sequence[str] | None = None) -> OutcomeWords:
        """Return in words how a match ended.

        Args:
            entry: result of the match.
            names: other names for the players, by seat; None: their own.
        """
        return outcome_of_entry(entry, self.spec.scoring, names)

    def fouls(self) -> Iterator[tuple[MatchEntry, FoulEntry]]:
        """Yield every foul that counts, in the order of the record."""
        for entry in self.counted:
            for foul in entry.fouls:
                yield entry, foul

    @cached_property
    def withheld(self) -> frozenset[str]:
        """The matches whose deal is still to be played from other seats: pages must not show their hands."""
        # A pairing of a duplicate tournament is decided when its last leg is over. Until then the same deal is still to
        # be played from other seats. A replay shows every hand, so an entrant that reads it would know all cards.
        if not self.spec.duplicate or self.tournament.is_over:
            return frozenset()
        concluded = {played.pairing.number for played in self.history.played}
        return frozenset(entry.match for entry in self.history.entries if entry.fixture.number not in concluded)

    @cached_property
    def fouls_by_cause(self) -> Mapping[int, Counter[str]]:
        """Entrant that fouled -> cause -> number of fouls."""
        by_entrant: dict[int, Counter[str]] = {}
        for entry, foul in self.fouls():
            by_entrant.setdefault(entry.fixture.entrants[foul.seat], Counter())[foul.cause] += 1
        return by_entrant

    def count_fouls(self, entrant: int) -> int:
        """Return the number of fouls of an entrant."""
        return self.fouls_by_cause.get(entrant, Counter()).total()

    def count_wins(self, entrant: int) -> int:
        """Return the number of matches that an entrant won without sharing the first place."""
        return self.tournament.table.sums(entrant).wins

    @cached_property
    def records(self) -> list[HeadToHead]:
        """Wins, draws and losses of each entrant against all its opponents."""
        return [total(self.tournament.table.opponents(entrant).values()) for entrant in range(len(self.names))]

    @cached_property
    def by_seat(self) -> list[list[HeadToHead]]:
        """Entrant -> seat -> wins, draws and losses in this seat; each match of a duplicate deal counts by itself."""
        return by_seat(self.counted, self.spec.scoring, len(self.names), self.spec.seats)

    @property
    def seat_totals(self) -> list[HeadToHead]:
        """Wins, draws and losses in each seat, for all entrants together."""
        return [total(every[seat] for every in self.by_seat) for seat in range(self.spec.seats)]

    @cached_property
    def rating_history(self) -> list[list[RatedAfter]]:
        """For each entrant, its ratings after none, some and all of its results."""
        dispersion = estimate_dispersion(self.tournament.table, self.ratings)
        encounters = RatedEncounters(list(self.history.played), self.spec.scoring, dispersion)
        return [encounters.history(entrant, self.ratings) for entrant in range(len(self.names))]

    @cached_property
    def entries_by_entrant(self) -> Mapping[int, Sequence[MatchEntry]]:
        """Entrant -> its results, including awards and results that do not count."""
        by_entrant: dict[int, list[MatchEntry]] = {entrant: [] for entrant in range(len(self.names))}
        for entry in self.results:
            for entrant in entry.fixture.entrants:
                by_entrant[entrant].append(entry)
        return by_entrant

    @cached_property
    def schedules(self) -> Sequence[EntrantSchedule]:
        """Schedule of each entrant, computed from all its matches that were opened and closed."""
        counted = {entry.match for entry in self.counted}
        return [self._schedule(entrant, counted) for entrant in range(len(self.names))]

    def _schedule(self, entrant: int, counted: Container[str]) -> EntrantSchedule:
        history = self.history
        played = [entry.match for entry in self.entries_by_entrant[entrant] if not entry.is_ruled]
        matches = sorted(played, key=lambda match: history.waited[match][1])
        waits = [_seconds(*history.waited[match]) for match in matches]
        gaps = [
            _seconds(history.closed_at[match], history.waited[following][1]) for match, following in pairwise(matches)
        ]
        seat_counts = Counter(
            entry.fixture.entrants.index(entrant)
            for entry in self.entries_by_entrant[entrant]
            if entry.match in counted and not entry.is_ruled
        )
        return EntrantSchedule(
            matches=len(matches),
            mean_wait_s=_mean(waits),
            most_wait_s=max(waits, default=0.0),
            mean_gap_s=_mean(gaps),
            most_gap_s=max(gaps, default=0.0),
            opponents=len(self.tournament.table.opponents(entrant)),
            seats=[seat_counts[seat] for seat in range(self.spec.seats)],
        )

    @cached_property
    def hosts_by_process(self) -> Mapping[str, str]:
        """Process that played matches -> host of the cluster."""
        return {came.process: came.host for came in self.history.hosts}

    @cached_property
    def times(self) -> Sequence[SeatTime]:
        """Times of each entrant in the matches that count and have records."""
        times = [SeatTime() for _ in self.names]
        for entry in self.counted:
            if entry.match in self.match_summaries:
                for entrant, time in zip(entry.fixture.entrants, self.match_summaries[entry.match].times, strict=True):
                    times[entrant] = times[entrant].plus(time)
        return times


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _seconds(since: str, until: str) -> float:
    """Return the seconds between two times; 0 if one is not a valid time, or the clock was set back."""
    try:
        return max((datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds(), 0.0)
    except (ValueError, TypeError):  # the audit does not check times of day, because no result depends on them
        return 0.0


class MatchNotes(Struct, frozen=True, kw_only=True):
    """Notes of the tournament on the page of a match."""

    rulings: Sequence[RuledLine] = ()
    """Rulings on the match, or on a match that was played in its place."""
    uncounted: str = ""
    """Reason why the match does not count; empty if it counts."""
    others: Mapping[str, bool] = {}
    """Other match of the same leg -> whether it has a page."""
    begun_at: Sequence[str] = ()
    """Times of day at which the referee began or resumed the match."""
    sights: Sequence[str] = ()
    """Descriptions of what spectators saw during the match, in the order of time."""

    @property
    def is_ruled(self) -> bool:
        """True if the notes can change after the match, so that its page must be made again."""
        return bool(self.rulings or self.uncounted or self.others)

    @property
    def mark(self) -> str:
        """Hash in the match's page, by which `report` recognises a page that was made before a ruling."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


def match_notes(summary: Summary, shown: Collection[str]) -> Mapping[str, MatchNotes]:
    """Return the notes of each match that has a page.

    Args:
        summary: summary of the tournament.
        shown: the matches that have a page, or will soon have one.
    """
    legs: dict[tuple[int, int], list[str]] = {}
    for entry in summary.history.entries:
        legs.setdefault((entry.fixture.number, entry.fixture.leg), []).append(entry.match)
    return {
        entry.match: _make_notes(summary, entry, legs[entry.fixture.number, entry.fixture.leg], shown)
        for entry in summary.history.entries
        if entry.match in shown
    }


def _make_notes(summary: Summary, entry: MatchEntry, leg: Sequence[str], shown: Collection[str]) -> MatchNotes:
    runs = summary.history.runs[entry.match]
    return MatchNotes(
        rulings=summary.rulings.of_match(entry.fixture),
        uncounted=summary.uncounted.get(entry.match, ""),
        others={match: match in shown for match in leg if match != entry.match},
        begun_at=[run.at for run in runs],
        sights=list(dict.fromkeys(describe_sight(run.spectators, is_duplicate=summary.spec.duplicate) for run in runs)),
    )


def describe_sight(spectators: str | None, *, is_duplicate: bool) -> str:
    """Return in words what spectators see of a match while it is played.

    Args:
        spectators: policy of the contest (see events.SpectatorSight); None: no contest shows the match.
        is_duplicate: whether the same deal is also played from other seats.
    """
    if spectators is None:
        return "nothing, because no site showed the match"
    if spectators == "after" or is_duplicate:
        return "only who played"
    later = f", {spectators.removeprefix('delay ')} s later" if spectators.startswith("delay") else ""
    return f"what all seats were allowed to know{later}"
