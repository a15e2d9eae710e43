"""The report of a tournament as one page that needs only a browser: standings, crosstable, ratings, fouls, matches.

The sections are in templates/report_sections.html. Names, details and reasons of players get there as text that the
template escapes, or as JSON that the script writes with `textContent`.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from markupsafe import Markup
from msgspec import Struct

from ..games.base import Rule
from ..text import printable
from ..tournament.match_context import FoulEntry, MatchEntry
from ..tournament.ratings.elo import MEAN, Rating
from .charts.brackets import brackets
from .charts.curves import MAX_CURVES, Drawing, points_drawings, ratings_drawings
from .columns import MEANINGS, Column, standings_columns
from .encounters import rated_superiority
from .outcomes import OutcomeWords
from .rendering import page, time_of_day
from .summary import Summary
from .verifying import verifying_link
from .words import Causes, placeless, time_control

MAX_TITLED = 64
"""Largest crosstable whose cells say more where a pointer rests on them; that doubles its size."""
MAX_ROUNDS = 24
"""Largest number of columns of a table of rounds; more would fill a screen."""
MAX_PLAIN = 1000
"""Number of fouls that are listed, and of matches without the page's script: a long season would double the page."""


class PageLinks(Struct, frozen=True, kw_only=True):
    """Addresses of the files that a page links to, relative to the page."""

    records: str = ""
    """Prefix of a record's address; empty or with a slash at its end."""
    replays: str = "replays/"
    """Prefix of a replay page's address."""
    replayed: Collection[str] = ()
    """The matches that have such a page."""
    entrants: str | None = "entrants/"
    """Prefix of an entrant's page; None: there are none."""
    report: str = "report.html"
    has_verifier: bool = False
    """True if a page that verifies records lies next to the replays."""
    home: str = ""
    """The page that all others lead back to; empty: there is none. One that ends in a slash is a contest's site."""
    printed: Mapping[tuple[str, int], str] = {}
    """Match and seat of a foul -> file with the output of the program, next to the record; for the organiser."""

    @property
    def site(self) -> str:
        """The first page of the contest's site that shows the page; empty: none does."""
        return self.home if self.home.endswith("/") else ""

    def output_file(self, entry: MatchEntry, seat: int) -> str:
        """Return the file with the output of a seat's program; empty if there is none."""
        return self.printed.get((entry.match, seat), "")

    def to_verify(self, summary: Summary) -> str:
        """Return the link that verifies the tournament's record; empty without a verifier, or before the end."""
        is_there = self.has_verifier and summary.tournament.is_over
        return self.replays + verifying_link(f"{summary.spec.name}.jsonl", summary.history.head) if is_there else ""


class Titles(NamedTuple):
    """Titles of the game and the format that the spec names, and the game's rules."""

    game: str
    format: str
    rules: Mapping[str, Rule] = {}
    """Id of a rule -> the rule."""


_SEAT = re.compile(r"\{(\d+)\}")
"""Place of a player in a sentence."""


class _Section(NamedTuple):
    """One part of the page."""

    id: str
    title: str
    figures: Callable[[Summary], Any] = lambda _: None
    """Makes what the section shows besides the summary."""
    is_there: bool = True


class _Round(NamedTuple):
    """Points of a round."""

    title: str
    points: Mapping[int, Fraction]
    """Points of each entrant that played in it."""
    most: Fraction | int


class _Match(NamedTuple):
    """A match in the list of matches."""

    entry: MatchEntry
    uncounted_reason: str
    """Reason why it does not count; empty if it counts."""
    parts: Sequence[str | int]
    """Result in words: texts and seats take turns."""
    points: str
    """Points in the order in which the sentence names the players."""
    looks: Sequence[str]
    """CSS class of the name of each seat."""


class _Fouls(NamedTuple):
    """Figures of the section about fouls."""

    causes: Sequence[str]
    """Causes, the most frequent first."""
    by_entrant: Sequence[tuple[int, Counter[str]]]
    """Number of fouls by cause for each entrant, the most fouls first."""
    told: Sequence[tuple[MatchEntry, FoulEntry, str, str]]
    """The first fouls, each with its cause (in full the first time) and the file with the program's output."""
    left_out: int


def report_page(summary: Summary, titles: Titles, links: PageLinks, only: Collection[str] = ()) -> str:
    """Return a tournament as one HTML document.

    Args:
        summary: the tournament so far.
        titles: titles of its game and its format.
        links: addresses of records and replays.
        only: ids of the sections to show; empty: all of them.
    """
    sections = [
        section
        for section in _sections(summary, titles, links)
        if section.is_there and (not only or section.id in only)
    ]
    return page(
        "report",
        _data(summary, links),
        scripts=("sorting",),
        site=links.site,
        title=summary.spec.name,
        is_running=not summary.tournament.is_over,
        subtitle=_subtitle(summary, titles),
        when=_when(summary),
        links=links,
        facts=list(_facts(summary)),
        sections=sections,
        max_curves=MAX_CURVES,
        summary=summary,
    )


def _sections(summary: Summary, titles: Titles, links: PageLinks) -> Iterator[_Section]:
    tournament = summary.tournament
    is_played = tournament.played > 0
    yield _Section("standings", "Standings", _page_columns)
    shown = brackets(summary)
    yield _Section("bracket", "Bracket", lambda _: shown, bool(shown))
    yield _Section("crosstable", "Crosstable", lambda _: len(summary.names) <= MAX_TITLED, is_played)
    yield _Section("ratings", "Ratings", rating_bars, is_played)
    yield _Section("history", "Ratings over time", ratings_drawings, is_played)
    yield _Section("progress", "Progress", _progress, tournament.table.rounds > 1)
    yield _Section("seats", "Results by seat", is_there=is_played)
    yield _Section("fouls", "Fouls", lambda summary: _fouls(summary, links), bool(summary.fouls_by_cause))
    yield _Section("time", "Time", is_there=any(time.answers for time in summary.times))
    yield _Section("fairness", "Fairness in time", lambda _: summary.fairness, summary.fairness is not None)
    yield _Section("hosts", "Hosts", is_there=bool(summary.hosts))
    yield _Section("suspended", "Out of the tournament", is_there=bool(summary.suspended))
    yield _Section("rulings", "Rulings", is_there=bool(summary.rulings.all))
    yield _Section("joined", "Joined late", is_there=bool(summary.joined))
    yield _Section("changed", "Changed programs", is_there=bool(summary.changed))
    yield _Section("byes", "Byes", lambda _: summary.byes, bool(summary.byes))
    yield _Section("runs", "Start and end", is_there=len(summary.runs) > 1)
    yield _Section("void", "Matches that do not count", _void, bool(summary.uncounted))
    yield _Section("matches", "Matches", _matches, bool(summary.results))
    yield _Section("rules", "Rules of the game", lambda _: titles.rules.values(), bool(titles.rules))


def _page_columns(summary: Summary) -> list[Column]:
    return [column for column in standings_columns(summary) if column.head]


def _subtitle(summary: Summary, titles: Titles) -> str:
    spec = summary.spec
    seats = f"matches of {spec.seats}" + (", each deal from every seat" if spec.duplicate else "")
    return " · ".join((titles.game, titles.format, seats, time_control(spec.time)))


def _when(summary: Summary) -> str:
    """Return when the tournament began, and when it ended if it has ended."""
    if not summary.runs:
        return ""
    end = summary.runs[-1][1]
    begun = Markup("begun {}").format(time_of_day(summary.runs[0][0]))
    if end is None:
        return begun
    ended = "over" if summary.tournament.is_over else "stopped"
    return Markup("{}, {} {}").format(begun, ended, time_of_day(end))


def _facts(summary: Summary) -> Iterator[tuple[int, str]]:
    """Yield numbers with their nouns, in singular or plural; zeros are left out except for matches."""
    tournament = summary.tournament
    for count, noun, nouns in (
        (len(summary.names), "entrant", "entrants"),
        (tournament.table.rounds, "round", "rounds"),
        (tournament.played, "match", "matches"),
        (len(summary.awarded), "match awarded", "matches awarded"),
        (sum(1 for _ in summary.fouls()), "foul", "fouls"),
        (len(summary.suspended), "entrant out", "entrants out"),
        (tournament.given_up, "match cancelled", "matches cancelled"),
        (len(summary.uncounted), "match not counted", "matches not counted"),
    ):
        if count or noun == "match":
            yield count, noun if count == 1 else nouns


def _progress(summary: Summary) -> tuple[list[Drawing], list[_Round]]:
    """Return the drawings of the points, and a column for each round unless there are too many."""
    rounds = summary.points_by_round if summary.tournament.table.rounds <= MAX_ROUNDS else {}
    columns = [_Round(f"R{round_}", points, max(points.values(), default=0)) for round_, points in rounds.items()]
    return points_drawings(summary), columns


def _fouls(summary: Summary, links: PageLinks) -> _Fouls:
    """Return the figures of fouls, without those of a deal that is still to be played from other seats."""
    by_entrant, causes = summary.fouls_by_cause, Causes()
    fouls = [
        (entry, foul, placeless(causes.tell(entry.names[foul.seat], foul.detail)), links.output_file(entry, foul.seat))
        for entry, foul in summary.fouls()
        if entry.match not in summary.withheld
    ]
    return _Fouls(
        causes=[cause for cause, _ in sum(by_entrant.values(), Counter[str]()).most_common()],
        by_entrant=sorted(by_entrant.items(), key=lambda counts: -counts[1].total()),
        told=fouls[:MAX_PLAIN],
        left_out=max(len(fouls) - MAX_PLAIN, 0),
    )


def _void(summary: Summary) -> Iterator[tuple[str, int, Sequence[str], str]]:
    """Yield match, round, players and reason for each match that does not count."""
    for entry in summary.results:
        if why := summary.history.uncounted_reason(entry):
            yield entry.match, entry.fixture.round, entry.names, why


def _matches(summary: Summary) -> tuple[list[_Match], int]:
    """Return the first matches for readers without scripts, and the number of the others."""
    entries = summary.results
    return [_match(summary, entry) for entry in entries[:MAX_PLAIN]], max(len(entries) - MAX_PLAIN, 0)


def _match(summary: Summary, entry: MatchEntry) -> _Match:
    template, order = _template(summary, entry)
    return _Match(
        entry=entry,
        uncounted_reason=summary.history.uncounted_reason(entry),
        parts=[int(part) if at % 2 else part for at, part in enumerate(_SEAT.split(template))],
        points=" : ".join(str(entry.scores[seat]) for seat in order),
        looks=_looks(summary, entry),
    )


def _template(summary: Summary, entry: MatchEntry) -> OutcomeWords:
    """Return in words how a match ended, with `{SEAT}` in place of each name.

    Thousands of matches share a few sentences, so the page has each sentence once.
    """
    return summary.outcome(entry, [f"{{{seat}}}" for seat in range(len(entry.names))])


def _looks(summary: Summary, entry: MatchEntry) -> list[str]:
    """Return the CSS class of the name of each seat."""
    fouls, places = {foul.seat for foul in entry.fouls}, summary.places(entry)
    return [
        "foul" if seat in fouls else "first" if place == 1 < max(places) else "" for seat, place in enumerate(places)
    ]


def _data(summary: Summary, links: PageLinks) -> dict[str, Any]:
    templates = [_template(summary, entry).sentence for entry in summary.results]
    sentences = {template: at for at, template in enumerate(dict.fromkeys(templates))}
    return {
        "results": list(sentences),
        "names": [printable(name) for name in summary.names],
        "pages": summary.pages,
        "columns": MEANINGS,
        "entrants": links.entrants,
        "records": links.records,
        "replays": links.replays,
        "matches": [
            (
                entry.match,
                entry.fixture.round,
                printable(entry.fixture.table),
                entry.fixture.entrants,
                summary.places(entry),
                entry.scores,
                [foul.seat for foul in entry.fouls],
                entry.turns,
                int(summary.history.uncounted_reason(entry) != ""),
                int(entry.match in links.replayed and not entry.is_ruled),
                [line.number for line in summary.rulings.of_match(entry.fixture)],
                sentences[template],
                int(not entry.is_ruled),
            )
            for entry, template in zip(summary.results, templates, strict=True)
        ],
        "rulings": [
            tuple(map(printable, (line.ruling.decision, line.ruling.reason, line.ruling.by, line.at)))
            for line in summary.rulings.all
        ],
    }


class RatingBar(NamedTuple):
    """A rating with the places of its value, its interval and the mean on a line from 0 to 100."""

    rating: Rating
    superiority: float | None
    """Probability that it is stronger than the next one; None if there is none that it can be compared with."""
    start: float
    middle: float
    end: float
    mean: float


def rating_bars(summary: Summary) -> list[RatingBar]:
    """Return all ratings with their 95 % intervals, the strongest first; groups that never met stand apart."""
    ratings = sorted(summary.ratings, key=lambda rating: (rating.group, -rating.rating))
    low = min(rating.low for rating in ratings)
    high = max(rating.high for rating in ratings)
    return [
        RatingBar(
            rating,
            None if after is None else rated_superiority(rating, after),
            *(
                round(100 * (value - low) / max(high - low, 1.0), 2)
                for value in (rating.low, rating.rating, rating.high, MEAN)
            ),
        )
        for rating, after in zip(ratings, (*ratings[1:], None), strict=True)
    ]
