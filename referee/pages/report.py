"""A tournament as one page that needs nothing but a browser: standings, crosstable, ratings, fouls, every match.

Knows which sections there are, and what of a tournament its script lists. The tables and drawings are made in
report_tables and report_charts; the look is in report.html, report.css and report.js beside this file.

Names, details and reasons come from players. They reach the page escaped by `markup`, or as JSON that the script writes
with `textContent`; the page's own policy forbids every other script, style and address.
"""

from collections.abc import Callable, Collection, Iterator
from html import escape
from typing import Any, NamedTuple

from msgspec import Struct

from ..text import printable
from . import report_charts as charts
from . import report_tables as tables
from .causes import Causes, placeless
from .markup import Markup, joined, tag
from .page import embedded, filled, part, policy
from .summary import Summary
from .words import time_control


class Links(Struct, frozen=True, kw_only=True):
    """Where the page finds what it links to, as seen from where it stands."""

    records: str = ""
    """Prefix of a record's address; empty or with a slash at its end."""
    replays: str = "replays/"
    """Prefix of a replay page's address."""
    replayed: Collection[str] = ()
    """The matches that have such a page."""


class Titles(NamedTuple):
    """The words of people for what a spec names."""

    game: str
    format: str


class _Section(NamedTuple):
    """One part of the page."""

    id: str
    title: str
    make: Callable[[Summary], Markup]
    is_there: bool = True


def report_page(summary: Summary, titles: Titles, links: Links) -> str:
    """Return a tournament as one HTML document.

    Args:
        summary: of its course so far.
        titles: of its game and its format.
        links: to records and replays.
    """
    style, script = part("report.css"), part("report.js")
    sections = [one for one in _sections(summary) if one.is_there]
    slots = {
        "policy": policy(script, style),
        "title": escape(printable(summary.spec.name)),
        "state": _state(summary),
        "told": escape(printable(_told(summary, titles))),
        "facts": _facts(summary),
        "contents": joined(tag("a", one.title, href=f"#{one.id}") for one in sections),
        "sections": joined(
            tag("section", tag("h2", one.title), one.make(summary), id=one.id, class_="panel") for one in sections
        ),
        "style": style,
        "script": script,
        "data": embedded(_data(summary, links)),
    }
    return filled(part("report.html"), slots)


def _sections(summary: Summary) -> Iterator[_Section]:
    tournament = summary.history.tournament
    rounds = tournament.table.rounds
    has_fouls = any(True for _ in summary.fouls())
    yield _Section("standings", "Standings", tables.standings_table)
    yield _Section("bracket", "Bracket", charts.bracket, summary.spec.format == "knockout")
    yield _Section("crosstable", "Crosstable", _crosstable, tournament.played > 0)
    yield _Section("ratings", "Ratings", _ratings, tournament.played > 0)
    yield _Section("progress", "Progress", _progress, rounds > 1)
    yield _Section("fouls", "Fouls", _fouls, has_fouls)
    yield _Section("time", "Time", _times, any(one.answers for one in summary.times))
    yield _Section("suspended", "Suspended", tables.suspended_list, bool(tournament.suspended))
    yield _Section("changed", "Changed programs", tables.changed_list, bool(summary.changed))
    yield _Section("byes", "Byes", tables.byes_list, bool(summary.history.byes))
    yield _Section("void", "Void matches", tables.void_table, bool(summary.idle))
    yield _Section("matches", "Matches", lambda _: _list("match-list", "matches"), bool(summary.history.entries))


# --- what stands around the tables


def _state(summary: Summary) -> Markup:
    is_over = summary.history.tournament.is_over
    return tag("span", "over" if is_over else "running", class_="badge" if is_over else "badge running")


def _told(summary: Summary, titles: Titles) -> str:
    spec = summary.spec
    seats = f"matches of {spec.seats}" + (", each deal from every seat" if spec.duplicate else "")
    return " · ".join((titles.game, titles.format, seats, time_control(spec.time)))


def _facts(summary: Summary) -> Markup:
    tournament = summary.history.tournament
    facts = (
        (len(summary.names), "entrant", "entrants"),
        (tournament.table.rounds, "round", "rounds"),
        (tournament.played, "match", "matches"),
        (sum(1 for _ in summary.fouls()), "foul", "fouls"),
        (len(tournament.suspended), "suspended", "suspended"),
        (tournament.given_up, "given up", "given up"),
        (len(summary.idle), "void", "void"),
    )
    return joined(
        tag("div", tag("b", f"{count:,}"), tag("span", one if count == 1 else more), class_="fact")
        for count, one, more in facts
        if count or one == "match"
    )


def _note(text: str) -> Markup:
    return tag("p", text, class_="faint")


def _crosstable(summary: Summary) -> Markup:
    note = (
        "A row's points against each opponent: 1 for every better place, ½ for the same one. Columns are rows' numbers."
    )
    return joined((tables.crosstable(summary), _note(note)))


def _ratings(summary: Summary) -> Markup:
    model = "Elo" if summary.spec.seats == 2 else "The Plackett-Luce model, in Elo"
    found = f"{model} by maximum likelihood, the mean of the field at 1500"
    note = f"{found}; the line is the interval that holds the true rating with 95 %."
    return joined((charts.ratings_table(summary), _note(note)))


def _progress(summary: Summary) -> Markup:
    chart = charts.points_chart(summary)
    if summary.history.tournament.table.rounds > tables.MAX_ROUNDS:
        return chart
    note = "Points after each round. Green: nobody got more in this round; red: nothing; no colour: it did not play."
    return joined((chart, tables.rounds_table(summary), _note(note)))


def _fouls(summary: Summary) -> Markup:
    return joined((tables.causes_table(summary), _list("foul-list", "fouls")))


def _times(summary: Summary) -> Markup:
    note = "Of every move: the referee's own lag is taken off. The limit is the move's, or what was left in the bank."
    return joined((tables.times_table(summary), _note(note)))


def _list(id_: str, what: str) -> Markup:
    """Return the place of a list that the script fills, for there may be too many lines to hold at once."""
    missing = tag("noscript", tag("p", f"This list needs the page's own script; {what}.csv has all of it."))
    return joined((missing, tag("div", id=id_, class_="list", data_what=what)))


# --- what the script lists


def _data(summary: Summary, links: Links) -> dict[str, Any]:
    causes = Causes()
    index = {entry.match: at for at, entry in enumerate(summary.history.entries)}
    return {
        "names": [printable(name) for name in summary.names],
        "records": links.records,
        "replays": links.replays,
        "matches": [
            (
                entry.match,
                entry.context.round,
                printable(entry.context.table),
                entry.context.entrants,
                summary.places(entry),
                entry.scores,
                [foul.seat for foul in entry.fouls],
                entry.turns,
                int(entry.match in summary.idle),
                int(entry.match in links.replayed),
            )
            for entry in summary.history.entries
        ],
        "fouls": [
            (
                index[entry.match],
                entry.context.entrants[foul.seat],
                foul.cause,
                printable(foul.rule or foul.code or ""),
                foul.turn,
                printable(placeless(causes.tell(entry.names[foul.seat], foul.detail))),
            )
            for entry, foul in summary.fouls()
        ],
    }
