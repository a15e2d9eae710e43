"""How a tournament is shown: its standings, as plain lines, as JSON lines, and live on a terminal.

The event loop that draws the live view also reads the players' answers. A player's answer waits while the view is
drawn, so drawing must take very little time. Events are only stored when they come. Lines are laid out by hand, and
only as many as fit. rich's own refresh thread is off. docs/reference/exports.md describes the JSON lines.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import msgspec
from rich.cells import set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.table import Table as RichTable
from rich.text import Text

from ..app.services import monotonic
from ..observers import MatchTransition, Observer
from ..pages.columns import standings_columns
from ..pages.summary import Summary
from ..pages.words import Causes, broken, number, outcome_of_entry, short_cause
from ..text import counted, printable
from ..tournament.commands import SuspendEntrant
from ..tournament.machine import Tournament
from ..tournament.match_context import Fixture, MatchEntry
from ..tournament.points import Scoring
from ..tournament.standings import Standing
from .common import console, harmless, is_interactive, out, print_json
from .common import console as usual_console

_MOST = 20
"""Most lines of standings to show."""


def standings_table(summary: Summary) -> RichTable:
    """Return the first lines of the standings as a table, with as many tie-breaks as fit."""
    tournament = summary.tournament
    table = RichTable(show_edge=False)
    left_out = tournament.spec.tie_breaks[max((out.width - 50) // 20, 1) :]
    columns = [column for column in standings_columns(summary) if column.is_brief and column.key not in left_out]
    for column in columns:
        table.add_column(column.head, justify="left" if column.key == "name" else "right", no_wrap=True)
    lines = summary.standings
    for line in lines[:_MOST]:
        mark = " [red](suspended)[/]" if line.entrant in tournament.suspended else ""
        table.add_row(
            *(
                harmless(column.value(summary, line)) + mark if column.key == "name" else column.text(summary, line)
                for column in columns
            )
        )
    if len(lines) > _MOST:
        table.add_row("", f"and {len(lines) - _MOST} more")
    return table


def plain_standings(tournament: Tournament) -> list[dict[str, Any]]:
    """Return all lines of the standings. Each has the entrant's name, and its rating if ratings decide the order."""
    entrants, ratings = tournament.spec.entrants, tournament.placing_ratings()
    return [
        {
            "name": entrants[line.entrant].name,
            **msgspec.to_builtins(line),
            **({} if ratings is None else {"ladder_rating": ratings[line.entrant]}),
        }
        for line in tournament.standings()
    ]


Say = Callable[[str], None]
Clock = Callable[[], float]
STANDINGS_S = 1.0
"""Shortest time between two standings among the lines of JSON, in seconds."""


def foul_lines(entry: MatchEntry, causes: Causes | None = None) -> list[str]:
    """Return one printable line for each expulsion of a match.

    Args:
        entry: the match.
        causes: the causes that were printed before; these are shortened. None: all causes are shortened.
    """
    lines = []
    for foul in entry.fouls:
        name = entry.names[foul.seat]
        what = " ".join(filter(None, (f"{name} expelled: {foul.cause}", broken(foul))))
        why = short_cause(foul.detail) if causes is None else causes.tell(name, foul.detail)
        lines.append(printable(f"{what}: {why}" if why else what))
    return lines


def result_text(tournament: Tournament | None, entry: MatchEntry) -> str:
    """Return in words how a match ended, with the points: `gus beat typo (typo crashed); 3 : 5`."""
    scoring = Scoring() if tournament is None else tournament.spec.scoring
    return outcome_of_entry(entry, scoring).with_points(entry.scores)


def matches_text(tournament: Tournament) -> str:
    """Return in words how many matches were played, awarded and given up: `18 matches, 1 awarded, 3 given up`."""
    awarded = f", {len(tournament.awards)} awarded" if tournament.awards else ""
    lost = f", {tournament.given_up} given up" if tournament.given_up else ""
    return f"{counted(tournament.played, 'match', 'matches')}{awarded}{lost}"


def find_name(tournament: Tournament | None, entrant: int) -> str:
    """Return the name of an entrant, which may have joined late."""
    return "" if tournament is None else tournament.spec.entrants[entrant].name


def _counts(tournament: Tournament | None) -> dict[str, int | None]:
    """Return how many matches were played, and how many there will be, if the format knows that."""
    return {} if tournament is None else {"played": tournament.played, "total": tournament.total}


class PlainLines(Observer):
    """Prints a line for each result, foul, suspension and notice: for log files and pipes.

    Args:
        say: writes one line.
    """

    def __init__(self, say: Say | None = None) -> None:
        self._say = say or console.say
        self._tournament: Tournament | None = None
        self._causes = Causes()

    def on_tournament_begun(self, tournament: Tournament, total: int | None) -> None:
        """Print the tournament's name, game, format and number of entrants."""
        self._tournament = tournament
        spec = tournament.spec
        parts = [spec.game, spec.format, counted(len(spec.entrants), "entrant")]
        parts += [] if total is None else [counted(total, "match", "matches")]
        if tournament.played:
            what = counted(tournament.played, "match", "matches") if total is None else f"{tournament.played} of them"
            parts.append(f"{what} played")
        parts += [f"{len(tournament.awards)} awarded"] if tournament.awards else []
        parts += [f"{tournament.given_up} given up"] if tournament.given_up else []
        self._say(f"{spec.name}: {', '.join(parts)}")

    def on_match_closed(self, entry: MatchEntry) -> None:
        """Print the result, and which players were expelled and why."""
        played, total = (0, None) if self._tournament is None else (self._tournament.played, self._tournament.total)
        of = "" if total is None else f"/{total}"
        self._say(f"[{played}{of}] {entry.match}: {result_text(self._tournament, entry)}")
        for line in foul_lines(entry, self._causes):
            self._say(f"  {line}")

    def on_match_voided(self, entry: MatchEntry) -> None:
        """Print that the match will be played again, and why."""
        self._say(f"{entry.match}: void, to be played again: {printable(entry.void or '')}")

    def on_entrant_suspended(self, suspension: SuspendEntrant) -> None:
        """Print which entrant was suspended, and why."""
        name = printable(find_name(self._tournament, suspension.entrant))
        self._say(f"{name} is suspended: {printable(short_cause(suspension.why))}")

    def on_notice(self, text: str) -> None:
        """Print the notice."""
        self._say(printable(text))

    def on_tournament_ended(self, tournament: Tournament) -> None:
        """Print the number of matches, and the first three of the standings."""
        state = "is over" if tournament.is_over else "was stopped"
        self._say(f"{tournament.spec.name} {state}: {matches_text(tournament)}, {tournament.voided} void")
        ratings = tournament.placing_ratings()
        for line in tournament.standings()[:3]:
            mark = "" if ratings is None else f" (rating {ratings[line.entrant]:.1f})"
            mark += " (suspended)" if line.entrant in tournament.suspended else ""
            name = printable(find_name(tournament, line.entrant))
            self._say(f"  {line.place}. {name} {number(line.points)}{mark}")


class JsonLines(Observer):
    """Writes one JSON object a line, for other programs.

    Args:
        write: writes one object.
        clock: returns monotonic seconds.
    """

    def __init__(self, write: Callable[[Any], None] = print_json, clock: Clock = monotonic) -> None:
        self._write = write
        self._clock = clock
        self._tournament: Tournament | None = None
        self._standings_s = float("-inf")
        """Time at which the last standings were written, in seconds of the clock."""

    def on_tournament_begun(self, tournament: Tournament, total: int | None) -> None:
        """Write the tournament's name, game, format and entrants."""
        self._tournament = tournament
        spec = tournament.spec
        names = [entrant.name for entrant in spec.entrants]
        begun = {"game": spec.game, "format": spec.format, "entrants": names, "total": total}
        self._event("tournament-begun", tournament=spec.name, **begun, played=tournament.played)

    def on_match_opened(self, name: str, table: int, fixture: Fixture) -> None:
        """Write the match, its table and its players."""
        names = [find_name(self._tournament, entrant) for entrant in fixture.entrants]
        place = {key: getattr(fixture, key) for key in ("number", "round", "leg", "attempt")}
        self._event("match-opened", match=name, table=table, **place, names=names)

    def on_match_closed(self, entry: MatchEntry) -> None:
        """Write the result. Also write the standings after every N matches (N entrants), at most once a second."""
        fields = {name: getattr(entry, name) for name in entry.__struct_fields__ if name not in ("fixture", "void")}
        result = result_text(self._tournament, entry)
        self._event("match-closed", match=entry.match, **fields, result=result, **_counts(self._tournament))
        tournament = self._tournament
        # Standings have an entry for each entrant. After every match, they would be most of the output and of the work.
        if tournament is not None and tournament.played % len(tournament.spec.entrants) == 0:
            now_s = self._clock()
            if now_s >= self._standings_s + STANDINGS_S:
                self._standings_s = now_s
                self._standings(tournament)

    def on_match_voided(self, entry: MatchEntry) -> None:
        """Write why the match is void; it will be played again."""
        result = result_text(self._tournament, entry)
        self._event("match-voided", match=entry.match, names=entry.names, void=entry.void, result=result)

    def on_entrant_suspended(self, suspension: SuspendEntrant) -> None:
        """Write which entrant was suspended and why, and how many matches were given up because of suspensions."""
        given_up = 0 if self._tournament is None else self._tournament.given_up
        name, counts = find_name(self._tournament, suspension.entrant), _counts(self._tournament)
        self._event("entrant-suspended", name=name, why=suspension.why, given_up=given_up, **counts)

    def on_notice(self, text: str) -> None:
        """Write the notice."""
        self._event("noted", text=text)

    def on_tournament_ended(self, tournament: Tournament) -> None:
        """Write the last standings, and whether the tournament is over or was stopped."""
        self._standings(tournament)
        self._event(
            "tournament-over",
            is_over=tournament.is_over,
            **_counts(tournament),
            awarded=len(tournament.awards),
            given_up=tournament.given_up,
            void=tournament.voided,
        )

    def _standings(self, tournament: Tournament) -> None:
        order = tournament.explain_order()
        self._event("standings", played=tournament.played, order=order, standings=plain_standings(tournament))

    def _event(self, event: str, **fields: Any) -> None:
        self._write({"event": event, **msgspec.to_builtins(fields)})


REFRESH_S = 0.25
"""Shortest time between two drawings, in seconds: a person can't read faster."""
COSTLY = 50
"""If computing the standings took T seconds, they are computed again after 50 T at the earliest: 2 % of the time."""
SLOW_S = 0.01
"""Longest time for tie-breaks, in seconds. If they take longer, entrants with equal points share a place on screen."""
RATE_S = 120.0
"""Period of the rate of matches, in seconds: long enough for slow games, short enough to follow changes."""
RECENT = 50
"""Number of recent matches whose length is used to estimate the remaining time."""
LATELY = 5
"""Most lines of recent trouble, and most results above them."""
LEAST_ROWS = 18
"""A terminal of this height shows no results. A higher one shows one result for every two further rows."""
MIN_STANDINGS = 3
WIDE = 120
"""Smallest width, in columns, at which the standings are drawn next to the tables."""


def choose_view(*, as_json: bool) -> Observer:
    """Return the observer for the output: JSON lines, the live view on a terminal, or plain lines elsewhere."""
    if as_json:
        return JsonLines()
    return LiveView() if is_interactive() else PlainLines()


@dataclass(slots=True)
class _Seated:
    """An open match."""

    name: str
    table: int
    names: tuple[str, ...]
    round: int
    opened_s: float
    transition: MatchTransition | None = None


@dataclass(frozen=True, slots=True)
class Screen:
    """Lines that fit the screen. rich does not wrap them; wrapping would take most of the time."""

    lines: Sequence[Text]

    def __rich_console__(self, console: Console, _options: ConsoleOptions) -> RenderResult:
        for line in self.lines:
            yield from line.render(console, end="\n")


class LiveView(Observer):
    """Shows tables, standings, rate and recent events on one screen.

    Args:
        console: draws on the terminal; None: the console on stderr.
        clock: returns monotonic seconds.
    """

    def __init__(self, console: Console | None = None, clock: Clock = monotonic) -> None:
        self._console = console or usual_console
        self._clock = clock
        self._live = Live(console=self._console, auto_refresh=False, transient=True, vertical_overflow="crop")
        self._seated: dict[str, _Seated] = {}
        self._results: deque[Text] = deque(maxlen=LATELY)
        self._lately: deque[Text] = deque(maxlen=LATELY)
        self._recalled: deque[Text] = deque(maxlen=LATELY)
        self._closed_s: deque[float] = deque()
        self._took_s: deque[float] = deque(maxlen=RECENT)
        """Durations of recent matches, in seconds."""
        self._tournament: Tournament | None = None
        self._begun_s = 0.0
        self._drawn_s = float("-inf")
        self._standings: Sequence[Standing] = ()
        self._has_tie_breaks = True
        self._counted = (-1, 0.0)
        """Number of matches played when the standings were computed, and the earliest time to compute them again."""

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._live.stop()

    # --- events

    def on_tournament_begun(self, tournament: Tournament, total: int | None) -> None:
        """Store the tournament."""
        self._tournament = tournament
        self._begun_s = self._clock()

    def on_match_recalled(self, entry: MatchEntry) -> None:
        """Store the result and the trouble of a match that was played before this process; new trouble has priority."""
        self._note_result(entry)
        self._recalled.extend(_trouble_lines(entry))

    def on_match_opened(self, name: str, table: int, fixture: Fixture) -> None:
        """Add an open match."""
        names = tuple(printable(find_name(self._tournament, entrant)) for entrant in fixture.entrants)
        for other in [seated for seated in self._seated.values() if seated.table == table]:
            del self._seated[other.name]  # the earlier match at this table was given up
        self._seated[name] = _Seated(name, table, names, fixture.round, self._clock())

    def on_match_advanced(self, transition: MatchTransition) -> None:
        """Store the last transition of a match; it is read when the screen is drawn."""
        name = transition.setup.match
        if name in self._seated:
            self._seated[name].transition = transition

    def on_match_closed(self, entry: MatchEntry) -> None:
        """Remove the match from its table, and store its result and expulsions."""
        now_s, seated = self._clock(), self._seated.pop(entry.match, None)
        self._closed_s.append(now_s)
        if seated is not None:
            self._took_s.append(now_s - seated.opened_s)
        self._note_result(entry)
        self._lately.extend(_trouble_lines(entry))

    def on_match_voided(self, entry: MatchEntry) -> None:
        """Remove the match from its table, and store why it is void."""
        self._seated.pop(entry.match, None)
        self._lately.extend(_trouble_lines(entry))

    def on_entrant_suspended(self, suspension: SuspendEntrant) -> None:
        """Store a line about the suspended entrant."""
        name = printable(find_name(self._tournament, suspension.entrant))
        self._lately.append(Text(f"{name} is suspended: {printable(short_cause(suspension.why))}", "bold red"))

    def on_notice(self, text: str) -> None:
        """Store the notice."""
        self._lately.append(Text(printable(text), "yellow"))

    def on_tournament_ended(self, tournament: Tournament) -> None:
        """Draw the final state."""
        self._drawn_s = float("-inf")
        self.refresh()

    def _note_result(self, entry: MatchEntry) -> None:
        if entry.void is None:
            self._results.append(Text.assemble((f"{entry.match} ", "dim"), result_text(self._tournament, entry)))

    # --- what is shown

    def refresh(self) -> None:
        """Draw the screen, unless it was drawn a moment ago."""
        now_s = self._clock()
        if now_s - self._drawn_s >= REFRESH_S and self._tournament is not None:
            self._drawn_s = now_s
            self._live.update(self.screen(), refresh=True)

    def screen(self) -> "Screen":
        """Return the screen. No line is wider than the terminal, and there are fewer lines than rows."""
        width, height = self._console.size
        tournament = self._tournament
        if tournament is None:
            return Screen([Text("nothing is played yet")])
        now_s = self._clock()
        self._count_standings(tournament, now_s)
        head = [*self._head(tournament, now_s), Text()]
        lately = [*self._recalled, *self._lately][-LATELY:]
        results = [*self._results][max(len(self._results) - max(height - LEAST_ROWS, 0) // 2, 0) :]
        tail = [line for part in (results, lately) if part for line in (Text(), *(each.copy() for each in part))]
        room = max(height - len(head) - len(tail) - 1, 2)
        body = self._side_by_side(width, room, now_s) if width >= WIDE else self._below(width, room, now_s)
        lines = [*head, *body, *tail][: height - 1]
        for line in lines:
            line.truncate(width - 1, overflow="ellipsis")
        return Screen(lines)

    def _count_standings(self, tournament: Tournament, now_s: float) -> None:
        played, after_s = self._counted
        # In a large field, tie-breaks take too long for a screen. How long depends on the field, the format and the
        # machine, so the measured time decides when they are computed again.
        if played != tournament.played and (now_s >= after_s or tournament.is_over):
            self._standings = tournament.standings(has_tie_breaks=self._has_tie_breaks)
            took_s = self._clock() - now_s
            self._has_tie_breaks = self._has_tie_breaks and took_s <= SLOW_S
            self._counted = (tournament.played, now_s + COSTLY * took_s)

    def _head(self, tournament: Tournament, now_s: float) -> Iterator[Text]:
        spec = tournament.spec
        what = f"  {spec.game}, {spec.format}, {counted(len(spec.entrants), 'entrant')}"
        yield Text.assemble((spec.name, "bold"), (what, "dim"))
        total = tournament.total
        played = counted(tournament.played, "match", "matches")
        parts = [played if total is None else f"{tournament.played} of {counted(total, 'match', 'matches')}"]
        parts.append(f"{spell(now_s - self._begun_s)} so far")
        rate = self._rate(now_s)
        if rate:
            parts.append(f"{rate * 60:.1f} a minute")
        if total is not None and self._took_s:
            parts.append(f"about {spell(self._estimate_left(total - tournament.played, now_s))} left")
        if tournament.awards:
            parts.append(f"{len(tournament.awards)} awarded")
        if tournament.given_up:
            parts.append(f"{tournament.given_up} given up")
        if tournament.voided:
            parts.append(f"{tournament.voided} void")
        if tournament.suspended:
            parts.append(f"{len(tournament.suspended)} suspended")
        yield Text("   ".join(parts))

    def _estimate_left(self, remaining: int, now_s: float) -> float:
        """Return the estimated time for the remaining matches, including the open ones, in seconds."""
        # The rate of finished matches would mislead at the beginning. When the first of many parallel matches ends, the
        # others are nearly over too, but the rate does not count them.
        ages_s = [now_s - seated.opened_s for seated in self._seated.values()]
        usual_s = sum(self._took_s) / len(self._took_s)
        longer_s = [age_s for age_s in ages_s if age_s > usual_s]
        usual_s = (sum(self._took_s) + sum(longer_s)) / (len(self._took_s) + len(longer_s))
        open_s = sum(max(usual_s - age_s, 0.0) for age_s in ages_s)
        return (open_s + max(remaining - len(ages_s), 0) * usual_s) / max(len(ages_s), 1)

    def _rate(self, now_s: float) -> float:
        """Return how many matches ended per second recently; 0 if none did."""
        # A rate since the start would show a change of the field or of the load only after hours.
        while self._closed_s and now_s - self._closed_s[0] > RATE_S:
            self._closed_s.popleft()
        span_s = min(now_s - self._begun_s, RATE_S)
        return len(self._closed_s) / span_s if span_s > 0 else 0.0

    def _below(self, width: int, room: int, now_s: float) -> list[Text]:
        """Lay out the standings below the tables; tables are left out so that some standings fit."""
        wanted = len(self._standings) + 1
        tables = self._tables(width, max(room - 1 - min(wanted, max(room // 2, MIN_STANDINGS)), 2), now_s)
        return [*tables, Text(), *self._places(width, room - len(tables) - 1)]

    def _side_by_side(self, width: int, room: int, now_s: float) -> list[Text]:
        """Lay out the standings to the right of the tables."""
        right = 42
        left = width - right - 3
        tables, places = self._tables(left, room, now_s), self._places(right, room)
        rows = []
        for at in range(max(len(tables), len(places))):
            row = tables[at] if at < len(tables) else Text()
            row.truncate(left, overflow="ellipsis", pad=True)
            rows.append(Text.assemble(row, "   ", places[at] if at < len(places) else ""))
        return rows

    def _tables(self, width: int, room: int, now_s: float) -> list[Text]:
        """Return a line for each open match, by table, as many as fit."""
        players = max(width - 32, 12)
        lines = [Text(f"table round  {'players':<{players}} turn   since", "dim")]
        seated = sorted(self._seated.values(), key=lambda match: match.table)
        shown = seated if len(seated) < room else seated[: room - 2]
        lines += (_table_line(match, players, now_s) for match in shown)
        if len(shown) < len(seated):
            lines.append(Text(f"      and {len(seated) - len(shown)} more tables", "dim"))
        return lines if seated else [*lines, Text("      nothing is played now", "dim")]

    def _places(self, width: int, room: int) -> list[Text]:
        """Return the first lines of the standings, as many as fit."""
        ratings = None if self._tournament is None else self._tournament.placing_ratings()
        rated = "" if ratings is None else " rating"
        name = min(max(width - 24 - len(rated), 8), 22)
        lines = [Text(f"  #  {'entrant':<{name}}{rated} points played", "dim")]
        for standing in self._standings[: max(room - 1, 0)]:
            style = "dim strike" if standing.has_withdrawn else ""
            text = set_cell_size(printable(find_name(self._tournament, standing.entrant)), name)
            rating = "" if ratings is None else f" {ratings[standing.entrant]:>6.1f}"
            points = f" {number(standing.points):>6} {standing.played:>6}"
            lines.append(Text.assemble((f"{standing.place:>3}  ", "dim"), (text, style), rating, points))
        return lines


def _trouble_lines(entry: MatchEntry) -> list[Text]:
    """Return lines about what went wrong in a match: that it is void, or which players were expelled."""
    if entry.void is not None:
        troubles = [(f"void, to be played again: {printable(entry.void)}", "yellow")]
    else:
        troubles = [(line, "red") for line in foul_lines(entry)]
    return [Text.assemble((f"{entry.match} ", "dim"), line) for line in troubles]


def _table_line(seated: _Seated, players: int, now_s: float) -> Text:
    """Return the line of a table. The player whose turn it is stands out; expelled players are struck out."""
    transition = seated.transition
    asked, expelled = ((), ()) if transition is None else (transition.asked, transition.expelled)
    players_text = Text()
    for seat, name in enumerate(seated.names):
        players_text.append(name, "red strike" if seat in expelled else "bold cyan" if seat in asked else "")
        players_text.append("  ")
    players_text.truncate(players, overflow="ellipsis", pad=True)
    turn = "start" if transition is None or not transition.turn else str(transition.turn)
    since = spell(now_s - seated.opened_s)
    return Text.assemble(f"{seated.table:>5} {seated.round:>5}  ", players_text, f" {turn:>5} {since:>7}")


def spell(seconds: float) -> str:
    """Return a time in its two largest units: `42s`, `3m 05s`, `2h 10m`, `1d 03h`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    if whole < 86_400:
        return f"{whole // 3600}h {whole % 3600 // 60:02}m"
    return f"{whole // 86_400}d {whole % 86_400 // 3600:02}h"
