"""The page of an entrant: results, opponents, seats, rating, fouls, time and matches."""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from ..text import placeless
from ..tournament.crosstable import HeadToHead
from ..tournament.history import PlayedVersion
from ..tournament.match_context import FoulEntry, MatchEntry
from ..tournament.standings import Standing
from .charts.curves import rating_drawings
from .encounters import superiority
from .links import PageLinks
from .match_list import list_matches, pair_address
from .rendering import page, time_of_day
from .summary import Summary
from .words import Causes, number, short_cause

BRACKETS = ("knockout", "doubleelimination")
"""Formats that place entrants by the round in which they went out, before their points."""
MOST_MATCHES = 50
"""Most matches to list: the newest ones. Another page has all of them."""


class _Opponent(NamedTuple):
    """An opponent of the entrant."""

    line: Standing
    met: HeadToHead
    superiority: float | None


class _Version(NamedTuple):
    """A program of the entrant, with the number and the rounds of its matches."""

    played: PlayedVersion
    matches: int
    rounds: str


def entrant_page(summary: Summary, entrant: int, links: PageLinks) -> str:
    """Return the page of an entrant as one HTML document.

    Args:
        summary: the tournament so far.
        entrant: the entrant, as its index.
        links: addresses of records, replays and other pages.
    """
    entries = summary.entries_by_entrant[entrant]
    return page(
        "entrant",
        {},
        looks="report",
        scripts=("sorting",),
        site=links.site,
        summary=summary,
        links=links,
        entrant=entrant,
        name=summary.names[entrant],
        title=summary.spec.name,
        remarks=list(_remarks(summary, entrant)),
        facts=list(_facts(summary, entrant)),
        drawings=rating_drawings(summary, entrant),
        rulings=summary.rulings.of_entrant(entrant),
        versions=list(_versions(summary, entrant)),
        opponents=list(_opponents(summary, entrant)),
        fouls=list(_fouls(summary, entrant, links)),
        byes=[(bye, worth) for bye, worth in summary.byes if bye.seats[0] == entrant],
        ways=[f"{quote(name)}.html" for name in summary.pages],
        matches=list_matches(summary, links, entries[: -MOST_MATCHES - 1 : -1]),
        total=len(entries),
        all_matches=pair_address(links.beside, summary.names[entrant]),
        pairs=[pair_address(links.beside, summary.names[entrant], name) for name in summary.names],
    )


def _remarks(summary: Summary, entrant: int) -> Iterator[str]:
    """Yield remarks on the entrant, such as that it joined late or went out."""
    if entrant in summary.joined:
        yield Markup("joined at {}").format(time_of_day(summary.joined[entrant]))
    if entrant in summary.suspended:
        yield f"{summary.entrant_state(entrant)}: {short_cause(summary.suspended[entrant])}"
    line = next(line for line in summary.standings if line.entrant == entrant)
    lost = [entry for entry in summary.entries_by_entrant[entrant] if not summary.history.uncounted_reason(entry)]
    if summary.tournament.is_over and summary.spec.format in BRACKETS and line.place > 1 and lost:
        # Without this remark, a reader who compares points or fouls could not understand the place.
        yield f"went out in round {lost[-1].fixture.round}; entrants that went out later have a better place"


def _facts(summary: Summary, entrant: int) -> Iterator[tuple[str, str]]:
    """Yield the main numbers of the entrant with their nouns."""
    line = next(line for line in summary.standings if line.entrant == entrant)
    record, rating = summary.records[entrant], summary.ratings[entrant]
    yield f"{line.place}.", f"of {len(summary.names)}"
    yield number(line.points), "points"
    yield f"{record.wins}-{record.draws}-{record.losses}", "won, drawn, lost"
    if rating.played:
        yield f"{rating.rating:.0f} ± {rating.error:.0f}", "rating"
    yield str(line.played), "match" if line.played == 1 else "matches"
    for count, noun, nouns in ((line.byes, "bye", "byes"), (summary.count_fouls(entrant), "foul", "fouls")):
        if count:
            yield str(count), noun if count == 1 else nouns


def _versions(summary: Summary, entrant: int) -> Iterator[_Version]:
    """Yield the programs of the entrant, the first one first."""
    round_of = {entry.match: entry.fixture.round for entry in summary.entries_by_entrant[entrant]}
    for version in summary.history.versions[entrant]:
        rounds = [round_of[match] for match in version.matches if match in round_of]
        first, last = min(rounds, default=0), max(rounds, default=0)
        yield _Version(version, len(rounds), f"{first} to {last}" if first < last else str(first or ""))


def _opponents(summary: Summary, entrant: int) -> Iterator[_Opponent]:
    """Yield the opponents of the entrant, in the order of the standings."""
    met = summary.tournament.table.opponents(entrant)
    for line in summary.standings:
        if line.entrant in met:
            yield _Opponent(line, met[line.entrant], superiority(met[line.entrant]))


def _fouls(summary: Summary, entrant: int, links: PageLinks) -> Iterator[tuple[MatchEntry, FoulEntry, str, str]]:
    """Yield match, foul, cause and output file of each foul that counts. A cause is given in full only once."""
    causes, left_out = Causes(), summary.uncounted.keys() | summary.withheld
    for entry in summary.entries_by_entrant[entrant]:
        for foul in entry.fouls if entry.match not in left_out else ():
            if entry.fixture.entrants[foul.seat] == entrant:
                yield entry, foul, placeless(causes.tell("", foul.detail)), links.output_file(entry, foul.seat)
