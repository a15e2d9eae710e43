"""The tables of a tournament's report. Knows what stands in each; refuses to know the page around them."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ..text import printable
from ..tournament.crosstable import HeadToHead
from ..tournament.standings import Standing
from .causes import placeless, short_cause
from .markup import Markup, joined, tag
from .summary import Summary
from .words import duration, number

MAX_TITLED = 64
"""Entrants of a crosstable whose cells say more where a pointer rests on them; that doubles its size."""
MAX_ROUNDS = 24
"""Columns of a table of rounds; with more, a screen is full of them."""
INTERVAL = "95 % interval"
_WORDS = frozenset({"entrant", "match", "players", "why", "", INTERVAL})
"""Heads of columns that hold no numbers."""


def table(titles: Sequence[str], rows: Sequence[Markup], *, id_: str) -> Markup:
    """Return a table that can be sorted by its heads."""
    heads = (tag("th", title, scope="col", class_=None if title in _WORDS else "n") for title in titles)
    head = tag("thead", tag("tr", *heads))
    body = tag("table", head, tag("tbody", *rows), id=id_, class_="sortable")
    return tag("div", body, class_="wide")


def valued(value: float, text: str | None = None, class_: str | None = None) -> Markup:
    """Return a cell that is sorted by a number."""
    return tag("td", number(value) if text is None else text, data_v=f"{value:.6g}", class_=class_ or "n")


def standings_table(summary: Summary) -> Markup:
    """Return the standings, with the values of all tie-breaks."""
    breaks = summary.spec.tie_breaks
    short = [name.replace("-", " ") for name in breaks]
    wins = [] if "wins" in breaks else ["wins"]
    rows = [_standing(summary, line) for line in summary.standings]
    return table(["#", "entrant", "points", *short, "played", *wins, "byes", "fouls"], rows, id_="standings-table")


def _standing(summary: Summary, line: Standing) -> Markup:
    tournament = summary.history.tournament
    fouls = summary.fouls_by_cause.get(line.entrant, Counter()).total()
    state = "suspended" if line.entrant in tournament.suspended else "withdrawn" if line.has_withdrawn else ""
    mark = (" ", tag("span", state, class_="mark bad")) if state else ()
    values = (
        valued(line.tie_breaks[name]) if name in line.tie_breaks else tag("td", "", data_v=-1e9, class_="n faint")
        for name in summary.spec.tie_breaks
    )
    return tag(
        "tr",
        valued(line.place),
        tag("th", summary.names[line.entrant], *mark, scope="row", class_="entrant"),
        valued(line.points, class_="n points"),
        *values,
        valued(line.played),
        *([] if "wins" in summary.spec.tie_breaks else [valued(tournament.table.sums(line.entrant).wins)]),
        valued(line.byes),
        valued(fouls, class_="n bad" if fouls else "n"),
        class_="out" if state else None,
    )


def crosstable(summary: Summary) -> Markup:
    """Return everybody against everybody, in the order of the standings: points of the encounters, and how many."""
    numbers = range(1, len(summary.order) + 1)
    head = tag(
        "tr", tag("th", "#"), tag("th", "entrant"), *(tag("th", str(one)) for one in numbers), tag("th", "points")
    )
    rows = [_crossed(summary, line, place) for place, line in enumerate(summary.standings, 1)]
    body = tag("table", tag("thead", head), tag("tbody", *rows), class_="cross", id="cross-table")
    return tag("div", body, class_="wide tall", tabindex="0", role="region", aria_label="Crosstable")


def _crossed(summary: Summary, line: Standing, place: int) -> Markup:
    name, met = summary.names[line.entrant], summary.history.tournament.table
    parts = []
    for opponent in summary.order:
        versus = met.head_to_head(line.entrant, opponent)
        title = None
        if versus.played and len(summary.order) <= MAX_TITLED:
            title = f"{name} against {summary.names[opponent]}: {_in_words(versus)}"
        parts.append(_cell(versus, title) if opponent != line.entrant else tag("td", "", class_="self"))
    return tag(
        "tr", tag("th", str(place)), tag("th", name, scope="row"), *parts, valued(line.points, class_="n points")
    )


def _in_words(versus: HeadToHead) -> str:
    return f"{versus.wins} won, {versus.draws} drawn, {versus.losses} lost"


def _cell(versus: HeadToHead, title: str | None) -> Markup:
    if not versus.played:
        return Markup("<td></td>")
    share, points = versus.points / versus.played, number(float(versus.points))
    often = () if versus.played == 1 else (tag("small", f" of {versus.played}"),)
    class_ = "won" if share > 0.5 else "drawn" if share == 0.5 else "lost"
    return tag("td", points, *often, class_=class_, title=title)


def rounds_table(summary: Summary) -> Markup:
    """Return for each entrant the points after each round, and how its match of the round went."""
    worth = summary.history.points_by_round()
    best = {round_: max(points.values(), default=0) for round_, points in worth.items()}
    rows = []
    for line in summary.standings:
        total, parts = 0.0, []
        for round_, points in worth.items():
            won = points.get(line.entrant)
            total += 0.0 if won is None else float(won)
            part = "none" if won is None else "won" if won == best[round_] > 0 else "lost" if not won else "drawn"
            parts.append(tag("td", "" if won is None else number(total), class_=f"n {part}"))
        rows.append(tag("tr", valued(line.place), tag("th", summary.names[line.entrant], scope="row"), *parts))
    return table(["#", "entrant", *(f"R{round_}" for round_ in worth)], rows, id_="rounds-table")


def causes_table(summary: Summary) -> Markup:
    """Return how often each entrant fouled, by cause."""
    by_entrant = summary.fouls_by_cause
    causes = [cause for cause, _ in sum(by_entrant.values(), Counter[str]()).most_common()]
    rows = [
        tag(
            "tr",
            tag("th", summary.names[entrant], scope="row"),
            *(valued(counts[cause], str(counts[cause] or "")) for cause in causes),
            valued(counts.total(), class_="n points"),
        )
        for entrant, counts in sorted(by_entrant.items(), key=lambda one: -one[1].total())
    ]
    return table(["entrant", *causes, "all"], rows, id_="causes-table")


def times_table(summary: Summary) -> Markup:
    """Return how long each entrant's moves took, as far as its records are there."""
    rows = []
    for entrant in summary.order:
        time = summary.times[entrant]
        mean_ms = time.total_ms / time.answers if time.answers else 0.0
        rows.append(
            tag(
                "tr",
                tag("th", summary.names[entrant], scope="row"),
                valued(time.answers, str(time.answers)),
                *(valued(ms, duration(ms)) for ms in (mean_ms, time.most_ms)),
                valued(time.most_share, f"{time.most_share:.0%}", "n bad" if time.most_share > 1 else "n"),
                tag("td", share_bar(time.most_share)),
                valued(time.total_ms, duration(time.total_ms)),
            )
        )
    return table(["entrant", "moves", "mean", "longest", "of its limit", "", "all"], rows, id_="times-table")


def share_bar(share: float) -> Markup:
    """Return a bar that is full where all of a limit was used."""
    bar = tag("path", d=f"M0 5H{min(share, 1.0) * 100:.2f}", class_="share over" if share > 1 else "share")
    return tag(
        "svg",
        tag("path", d="M0 5H100", class_="rail"),
        bar,
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        class_="bar",
        aria_hidden="true",
    )


def suspended_list(summary: Summary) -> Markup:
    """Return who plays no more, and why."""
    return tag(
        "dl",
        *(
            joined((tag("dt", summary.names[one.entrant]), tag("dd", printable(short_cause(one.why)))))
            for one in summary.history.tournament.suspended.values()
        ),
        class_="facts",
    )


def changed_list(summary: Summary) -> Markup:
    """Return whose program was another one later on."""
    words = "has changed since the tournament was begun: its matches from {} on are another program's"
    parts = (joined((tag("dt", name), tag("dd", words.format(since)))) for name, since in summary.changed.items())
    return tag("dl", *parts, class_="facts")


def byes_list(summary: Summary) -> Markup:
    """Return who had a bye, round by round."""
    by_round: dict[int, list[Markup]] = {}
    for bye in summary.history.byes:
        note = f" ({bye.table})" if bye.table else ""
        by_round.setdefault(bye.round, []).append(tag("span", summary.names[bye.seats[0]], note, class_="name"))
    parts = (joined((tag("dt", f"round {one}"), tag("dd", *who))) for one, who in sorted(by_round.items()))
    return tag("dl", *parts, class_="facts")


def void_table(summary: Summary) -> Markup:
    """Return the matches that do not count, and why: mostly a fault of the referee's own."""
    rows = list(_void_rows(summary))
    return table(["match", "round", "players", "why"], rows, id_="void-table")


def _void_rows(summary: Summary) -> Iterator[Markup]:
    for entry in summary.history.entries:
        if entry.match in summary.idle:
            round_ = valued(entry.context.round)
            words = (tag("td", ", ".join(entry.names)), tag("td", placeless(summary.idle[entry.match])))
            yield tag("tr", tag("td", entry.match), round_, *words)
