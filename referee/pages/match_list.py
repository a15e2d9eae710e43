"""The page of all matches of a tournament, newest first. It shows some matches at a time, filtered by a query."""

# The page also contains all matches as data. A contest's site reads this data, and answers each query with a page of
# the matches that fit, so the filter works without a script. In a folder or an archive there is no server; there, the
# page's script filters the same data.

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from ..text import printable
from ..tournament.match_context import MatchEntry
from .links import PageLinks
from .rendering import find_data, page
from .summary import Summary

PAGE = "matches.html"
"""Name of the page, next to the report."""
MOST_SHOWN = 50
"""Most matches to show at once."""
_MOST_CHARACTERS = 100
"""Most characters of a field of a query; names and causes are shorter."""
ANY_FOUL = "any"
RESULTS = {
    "won": "won",
    "drawn": "drawn",
    "lost": "lost",
    "uncounted": "does not count",
}
"""Value of the field `result` -> words on the page."""


class MatchLine(Struct, frozen=True, array_like=True):
    """One match in the list."""

    match: str
    round: int
    group: str
    """Group of the pairing in its round; usually empty."""
    entrants: Sequence[int]
    """Entrants by seat."""
    places: Sequence[int]
    """Places by seat, from 1; zeros if the match does not count."""
    scores: Sequence[int]
    causes: Sequence[str]
    """Cause of each seat's foul, or an empty text; the whole list is empty if nobody fouled."""
    versions: Sequence[int]
    """Number of each seat's program; the whole list is empty if nobody changed a program."""
    turns: int
    outcome: int
    """Index of the sentence that says how the match ended."""
    counts: bool
    has_page: bool
    has_record: bool
    rulings: Sequence[int]
    """Numbers of the rulings on the match."""

    def look(self, seat: int) -> str:
        """Return the CSS class of the name of a seat."""
        if self.causes and self.causes[seat]:
            return "foul"
        return "first" if self.places[seat] == 1 < max(self.places) else ""


class RulingLine(Struct, frozen=True, array_like=True):
    """A ruling, as the list shows it next to the matches that it changed."""

    decision: str
    reason: str
    by: str
    at: str


class MatchList(Struct, frozen=True, kw_only=True):
    """The matches of a tournament, newest first, with the data to show and filter them."""

    title: str
    report: str
    """Address of the report."""
    home: str
    """Address of the page that all pages link back to; empty if there is none."""
    site: str
    """The first page of the contest's site that shows this page; empty if no site shows it."""
    records: str
    """Prefix of a record's address."""
    replays: str
    """Prefix of the address of a match's page."""
    entrants: str | None
    """Prefix of the address of an entrant's page; None: entrants have no pages."""
    head: str
    """Head of the tournament's record when the list was made."""
    names: Sequence[str]
    pages: Sequence[str]
    """Names of the entrants' pages without their ending."""
    sentences: Sequence[str]
    """Sentences that say how matches ended, with `{SEAT}` for each name. Thousands of matches share a few sentences."""
    rulings: Sequence[RulingLine]
    causes: Sequence[str]
    """Causes of fouls, the most frequent first."""
    versions: int
    """Largest number of a program; 1 if nobody changed a program."""
    matches: Sequence[MatchLine]

    def parts(self, line: MatchLine) -> Iterator[str | int]:
        """Yield the parts of the sentence that says how a match ended: texts and seats alternate."""
        for at, part in enumerate(self.sentences[line.outcome].replace("}", "{").split("{")):
            yield int(part) if at % 2 else part

    def points(self, line: MatchLine) -> str:
        """Return the points of a match in the order in which its sentence names the players."""
        seats = dict.fromkeys(part for part in self.parts(line) if isinstance(part, int))
        return " : ".join(str(line.scores[seat]) for seat in seats)


class MatchQuery(Struct, frozen=True, kw_only=True):
    """A reader's filter; an empty field does not filter."""

    entrant: str = ""
    opponent: str = ""
    result: str = ""
    """Result: a key of RESULTS. It is the entrant's, if `entrant` is set, and else that of any seat."""
    foul: str = ""
    """Cause of a foul, or `any`. The foul is the entrant's, if `entrant` is set, and else that of any seat."""
    version: str = ""
    """Number of a program. It is the entrant's, if `entrant` is set, and else that of any seat."""
    page: int = 1

    def address(self, page_number: int = 1) -> str:
        """Return the address of another page of these matches: `?` and the query."""
        fields = msgspec.structs.asdict(self) | {"page": page_number if page_number > 1 else ""}
        return "?" + urlencode({name: value for name, value in fields.items() if value})


class Selection(NamedTuple):
    """One page of the matches that fit a query."""

    query: MatchQuery
    lines: Sequence[MatchLine]
    first: int
    """Number of the page's first match, from 1; 0 if no match fits."""
    total: int
    """Number of all matches that fit."""
    pages: int

    @property
    def last(self) -> int:
        """Number of the page's last match."""
        return self.first + len(self.lines) - 1 if self.lines else 0


def pair_address(prefix: str, entrant: str, opponent: str = "") -> str:
    """Return the address of the matches of an entrant, or of two entrants against each other.

    Args:
        prefix: prefix of the addresses of the pages next to the report.
        entrant: name of an entrant.
        opponent: name of its opponent; empty: all opponents.
    """
    return prefix + PAGE + MatchQuery(entrant=printable(entrant), opponent=printable(opponent)).address()


def list_matches(summary: Summary, links: PageLinks, entries: Sequence[MatchEntry]) -> MatchList:
    """Return a list of matches.

    Args:
        summary: the tournament so far.
        links: addresses relative to the page that shows the list.
        entries: results of the matches, in the order of the list.
    """
    templates = [_template(summary, entry) for entry in entries]
    sentences = {template: at for at, template in enumerate(dict.fromkeys(templates))}
    counts = sum(summary.fouls_by_cause.values(), Counter[str]())
    return MatchList(
        title=summary.spec.name,
        report=links.report,
        home=links.home,
        site=links.site,
        records=links.records,
        replays=links.replays,
        entrants=links.entrants,
        head=summary.history.head,
        names=[printable(name) for name in summary.names],
        pages=[quote(name) for name in summary.pages],
        sentences=list(sentences),
        rulings=[
            RulingLine(*map(printable, (line.ruling.decision, line.ruling.reason, line.ruling.by, line.at)))
            for line in summary.rulings.all
        ],
        causes=[printable(cause) for cause, _ in counts.most_common()],
        versions=max(summary.version_numbers.values(), default=1),
        matches=[
            _line(summary, links, entry, sentences[template])
            for entry, template in zip(entries, templates, strict=True)
        ],
    )


def read_query(fields: Mapping[str, str]) -> MatchQuery:
    """Return the query with these fields; if `page` is not a number, it is 1."""
    texts = {name: fields.get(name, "")[:_MOST_CHARACTERS] for name in MatchQuery.__struct_fields__}
    number = texts.pop("page")
    return MatchQuery(page=int(number) if re.fullmatch(r"[0-9]{1,9}", number) else 1, **texts)


def _template(summary: Summary, entry: MatchEntry) -> str:
    return summary.outcome(entry, [f"{{{seat}}}" for seat in range(len(entry.names))]).sentence


def _line(summary: Summary, links: PageLinks, entry: MatchEntry, outcome: int) -> MatchLine:
    numbers = summary.version_numbers
    entrants, causes = entry.fixture.entrants, {foul.seat: printable(foul.cause) for foul in entry.fouls}
    return MatchLine(
        match=entry.match,
        round=entry.fixture.round,
        group=printable(entry.fixture.table),
        entrants=entrants,
        places=summary.places(entry),
        scores=entry.scores,
        causes=[causes.get(seat, "") for seat in range(len(entrants))] if causes else [],
        versions=[numbers.get((entrant, entry.match), 0) for entrant in entrants] if numbers else [],
        turns=entry.turns,
        outcome=outcome,
        counts=not summary.history.uncounted_reason(entry),
        has_page=entry.match in links.replayed and not entry.is_ruled,
        has_record=not entry.is_ruled,
        rulings=[line.number for line in summary.rulings.of_match(entry.fixture)],
    )


def select_matches(matches: MatchList, query: MatchQuery) -> Selection:
    """Return a page of the matches that fit a query; a page number that is too large means the last page."""
    indexes = {name: at for at, name in enumerate(matches.names)}
    named = [name for name in (query.entrant, query.opponent) if name]
    fitting = (
        [line for line in matches.matches if _fits(line, query, [indexes[name] for name in named])]
        if indexes.keys() >= set(named)
        else []
    )
    pages = max(-(-len(fitting) // MOST_SHOWN), 1)
    first = (min(max(query.page, 1), pages) - 1) * MOST_SHOWN
    shown = fitting[first : first + MOST_SHOWN]
    asked = msgspec.structs.replace(query, page=first // MOST_SHOWN + 1)
    return Selection(asked, shown, first + 1 if shown else 0, len(fitting), pages)


def _fits(line: MatchLine, query: MatchQuery, entrants: Sequence[int]) -> bool:
    if not set(entrants) <= set(line.entrants):
        return False
    seats = [line.entrants.index(entrants[0])] if query.entrant else range(len(line.entrants))
    if query.result and not any(query.result == _result(line, seat) for seat in seats):
        return False
    if query.foul and not any(
        line.causes and line.causes[seat] and query.foul in (ANY_FOUL, line.causes[seat]) for seat in seats
    ):
        return False
    return not query.version or any(query.version == str(line.versions[seat] if line.versions else 1) for seat in seats)


def _result(line: MatchLine, seat: int) -> str:
    """Return how a match ended for a seat: a key of RESULTS."""
    if not line.counts:
        return "uncounted"
    if max(line.places) == 1:
        return "drawn"
    return "won" if line.places[seat] == 1 else "lost"


def matches_page(matches: MatchList, query: MatchQuery | None = None) -> str:
    """Return the page of the matches.

    Args:
        matches: all matches.
        query: the filter of a visitor of a site; None: the page includes all data, so that its script can filter.
    """
    data: Any = {} if query is not None else msgspec.to_builtins(matches) | {"size": MOST_SHOWN}
    return page(
        "matches",
        data,
        styles=("report",),
        may_send=True,
        site=matches.site,
        list=matches,
        selection=select_matches(matches, query or MatchQuery()),
        results=RESULTS,
    )


def answer_query(path: Path, query: MatchQuery) -> bytes:
    """Return the page of the matches that fit a visitor's query.

    Args:
        path: path of the page of all matches, which contains the data.
        query: the matches to show.
    """
    return matches_page(msgspec.json.decode(find_data(path.read_bytes()), type=MatchList), query).encode()
