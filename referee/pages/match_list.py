"""All matches of a tournament on a page of their own, newest first: a page of them at a time, filtered by a query."""

# The page has its matches as data, too. A contest's site reads them there and answers each query with a page that has
# these matches alone, so that the filter works without a script. Where no server answers, in a folder or an archive,
# the page's script does the same from the same data.

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
"""Number of matches that are shown at once."""
_MOST_CHARACTERS = 100
"""Most characters of a field that are looked at; names and causes are shorter."""
ANY_FOUL = "any"
RESULTS = {
    "won": "won",
    "drawn": "drawn",
    "lost": "lost",
    "uncounted": "does not count",
}
"""Value of the field `result` -> its words."""


class MatchLine(Struct, frozen=True, array_like=True):
    """One match in the list."""

    match: str
    round: int
    group: str
    """Group of the pairing in its round; mostly empty."""
    entrants: Sequence[int]
    """Entrants by seat."""
    places: Sequence[int]
    """Places by seat, from 1; zeros if it does not count."""
    scores: Sequence[int]
    causes: Sequence[str]
    """Cause of the foul of each seat, empty for a seat without one; no causes if nobody fouled."""
    versions: Sequence[int]
    """Number of the program of each seat; no numbers if nobody changed a program."""
    turns: int
    outcome: int
    """Index of the sentence that says how it ended."""
    counts: bool
    has_page: bool
    has_record: bool
    rulings: Sequence[int]
    """Numbers of the rulings on it."""

    def look(self, seat: int) -> str:
        """Return the CSS class of the name of a seat."""
        if self.causes and self.causes[seat]:
            return "foul"
        return "first" if self.places[seat] == 1 < max(self.places) else ""


class RulingLine(Struct, frozen=True, array_like=True):
    """A ruling, as it stands next to the matches that it changed."""

    decision: str
    reason: str
    by: str
    at: str


class MatchList(Struct, frozen=True, kw_only=True):
    """The matches of a tournament, newest first, with what is needed to show and to filter them."""

    title: str
    report: str
    """Address of the report."""
    home: str
    """The page that all others lead back to; empty: there is none."""
    site: str
    """The first page of the contest's site that shows the page; empty: none does."""
    records: str
    """Prefix of a record's address."""
    replays: str
    """Prefix of the address of a match's page."""
    entrants: str | None
    """Prefix of the address of an entrant's page; None: there are none."""
    head: str
    """Head of the tournament's record from which the list was made."""
    names: Sequence[str]
    pages: Sequence[str]
    """Names of the entrants' pages without their ending."""
    sentences: Sequence[str]
    """How matches ended, with `{SEAT}` in place of each name: thousands of matches share a few sentences."""
    rulings: Sequence[RulingLine]
    causes: Sequence[str]
    """Causes of fouls, the most frequent first."""
    versions: int
    """Largest number of a program; 1 if nobody changed a program."""
    matches: Sequence[MatchLine]

    def parts(self, line: MatchLine) -> Iterator[str | int]:
        """Yield the sentence that says how a match ended: texts and seats take turns."""
        for at, part in enumerate(self.sentences[line.outcome].replace("}", "{").split("{")):
            yield int(part) if at % 2 else part

    def points(self, line: MatchLine) -> str:
        """Return the points of a match in the order in which its sentence names the players."""
        seats = dict.fromkeys(part for part in self.parts(line) if isinstance(part, int))
        return " : ".join(str(line.scores[seat]) for seat in seats)


class MatchQuery(Struct, frozen=True, kw_only=True):
    """The matches that a reader asks for; an empty field asks for all."""

    entrant: str = ""
    opponent: str = ""
    result: str = ""
    """Result of the entrant: a key of RESULTS. Without an entrant, a match that anybody won or lost."""
    foul: str = ""
    """Cause of a foul, of the entrant if there is one; `any`: any cause."""
    version: str = ""
    """Number of a program, of the entrant if there is one."""
    page: int = 1

    def address(self, page_number: int = 1) -> str:
        """Return the query of another page of these matches, with its question mark."""
        fields = msgspec.structs.asdict(self) | {"page": page_number if page_number > 1 else ""}
        return "?" + urlencode({name: value for name, value in fields.items() if value})


class Selection(NamedTuple):
    """One page of the matches that fit a query."""

    query: MatchQuery
    lines: Sequence[MatchLine]
    first: int
    """Number of the first of them, from 1; 0 if none fits."""
    total: int
    """Number of all that fit."""
    pages: int

    @property
    def last(self) -> int:
        """Number of the last match that is shown."""
        return self.first + len(self.lines) - 1 if self.lines else 0


def pair_address(prefix: str, entrant: str, opponent: str = "") -> str:
    """Return the address of the matches of an entrant, or of two.

    Args:
        prefix: prefix of the addresses of the pages next to the report.
        entrant: name of an entrant.
        opponent: name of another one; empty: all.
    """
    return prefix + PAGE + MatchQuery(entrant=printable(entrant), opponent=printable(opponent)).address()


def list_matches(summary: Summary, links: PageLinks, entries: Sequence[MatchEntry]) -> MatchList:
    """Return a list of matches.

    Args:
        summary: the tournament so far.
        links: addresses, as the page that has the list sees them.
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
    """Return the query with these fields; a page that is no number is the first one."""
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
    """Return a page of the matches that fit a query; a page beyond the last is the last one."""
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
        query: the matches that a visitor of a site asks for. None: the page stands alone, with its data for the script.
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
    """Return the page of the matches that a visitor asks for.

    Args:
        path: the page of all matches.
        query: the matches to show.
    """
    return matches_page(msgspec.json.decode(find_data(path.read_bytes()), type=MatchList), query).encode()
