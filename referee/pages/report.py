"""The report of a tournament as one page that needs only a browser: standings, crosstable, ratings, fouls, matches.

The sections are in templates/report_sections.html. Texts from players (names, moves, details of fouls) reach the page
only as text that the template escapes, or as JSON that the script writes with `textContent`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from markupsafe import Markup

from ..games.base import Rule
from ..text import placeless
from ..tournament.match_context import FoulEntry, MatchEntry
from ..tournament.ratings.elo import MEAN, Rating
from .charts.brackets import brackets
from .charts.curves import MAX_CURVES, Drawing, points_drawings, ratings_drawings
from .columns import Column, standings_columns
from .crosstable import crosstable_rows, has_page
from .encounters import rated_superiority
from .links import PageLinks
from .match_list import list_matches
from .rendering import page, time_of_day
from .summary import Summary
from .words import Causes, time_control

MAX_ROUNDS = 24
"""Most columns of the table of rounds; more would not fit a screen."""
NEWEST = 20
"""Most matches and fouls to list: the newest ones. Another page has all matches."""


class Titles(NamedTuple):
    """Titles of the tournament's game and format, and the game's rules."""

    game: str
    format: str
    rules: Mapping[str, Rule] = {}
    """Id of a rule -> the rule."""


class _Section(NamedTuple):
    """One part of the page."""

    id: str
    title: str
    figures: Callable[[Summary], Any] = lambda _: None
    """Returns the section's own data, in addition to the summary."""
    is_there: bool = True


class _Round(NamedTuple):
    """Points of a round."""

    title: str
    points: Mapping[int, Fraction]
    """Entrant that played in the round -> points."""
    most: Fraction | int
    """Most points of an entrant in this round."""


class _Fouls(NamedTuple):
    """Data of the section about fouls."""

    causes: Sequence[str]
    """Causes, the most frequent first."""
    by_entrant: Sequence[tuple[int, Counter[str]]]
    """Number of fouls by cause for each entrant; entrants with most fouls first."""
    told: Sequence[tuple[MatchEntry, FoulEntry, str, str]]
    """The newest fouls, each with its cause (in full only once) and the file with the program's output."""
    left_out: int
    """Number of older fouls."""


def report_page(summary: Summary, titles: Titles, links: PageLinks, only: Collection[str] = ()) -> str:
    """Return the report of a tournament as one HTML document.

    Args:
        summary: the tournament so far.
        titles: titles of the game and the format.
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
        {},
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
    newest = summary.results[: -NEWEST - 1 : -1]
    rows = None if has_page(summary) else crosstable_rows(summary, links)
    yield _Section("crosstable", "Crosstable", lambda _: rows, is_played)
    yield _Section("ratings", "Ratings", rating_bars, is_played)
    yield _Section("history", "Ratings over time", ratings_drawings, is_played)
    yield _Section("progress", "Progress", _progress, tournament.table.rounds > 1)
    yield _Section("seats", "Results by seat", is_there=is_played)
    yield _Section("fouls", "Fouls", lambda _: _fouls(summary, links), bool(summary.fouls_by_cause))
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
    yield _Section("matches", "Matches", lambda _: list_matches(summary, links, newest), bool(newest))
    yield _Section("rules", "Rules of the game", lambda _: titles.rules.values(), bool(titles.rules))


def _page_columns(summary: Summary) -> list[Column]:
    return [column for column in standings_columns(summary) if column.head]


def _subtitle(summary: Summary, titles: Titles) -> str:
    spec = summary.spec
    seats = f"matches of {spec.seats}" + (", each deal from every seat" if spec.duplicate else "")
    return " · ".join((titles.game, titles.format, seats, time_control(spec.time)))


def _when(summary: Summary) -> str:
    """Return in words when the tournament began, and when it ended or stopped, if it has."""
    if not summary.runs:
        return ""
    end = summary.runs[-1][1]
    begun = Markup("begun {}").format(time_of_day(summary.runs[0][0]))
    if end is None:
        return begun
    ended = "over" if summary.tournament.is_over else "stopped"
    return Markup("{}, {} {}").format(begun, ended, time_of_day(end))


def _facts(summary: Summary) -> Iterator[tuple[int, str]]:
    """Yield numbers with their nouns, in singular or plural. Zeros are left out, except for matches."""
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
    """Return the drawings of the points, and a column for each round, unless there are too many rounds."""
    rounds = summary.points_by_round if summary.tournament.table.rounds <= MAX_ROUNDS else {}
    columns = [_Round(f"R{round_}", points, max(points.values(), default=0)) for round_, points in rounds.items()]
    return points_drawings(summary), columns


def _fouls(summary: Summary, links: PageLinks) -> _Fouls:
    """Return the data about fouls, without fouls in a deal that is still to be played from other seats."""
    by_entrant, causes = summary.fouls_by_cause, Causes()
    shown = [(entry, foul) for entry, foul in summary.fouls() if entry.match not in summary.withheld][::-1]
    return _Fouls(
        causes=[cause for cause, _ in sum(by_entrant.values(), Counter[str]()).most_common()],
        by_entrant=sorted(by_entrant.items(), key=lambda counts: -counts[1].total()),
        told=[
            (
                entry,
                foul,
                placeless(causes.tell(entry.names[foul.seat], foul.detail)),
                links.output_file(entry, foul.seat),
            )
            for entry, foul in shown[:NEWEST]
        ],
        left_out=max(len(shown) - NEWEST, 0),
    )


def _void(summary: Summary) -> Iterator[tuple[str, int, Sequence[str], str]]:
    """Yield match, round, players and reason for each match that does not count."""
    for entry in summary.results:
        if why := summary.history.uncounted_reason(entry):
            yield entry.match, entry.fixture.round, entry.names, why


class RatingBar(NamedTuple):
    """A rating, and the positions of its value, its interval and the mean on a line from 0 to 100."""

    rating: Rating
    superiority: float | None
    """Probability that the entrant is stronger than the next one in the table; None if they can't be compared."""
    start: float
    middle: float
    end: float
    mean: float


def rating_bars(summary: Summary) -> list[RatingBar]:
    """Return all ratings with their 95 % intervals, the strongest first; groups that never met are separate."""
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
