"""A tournament in formats for other programs: CSV tables, results as PGN, rounds as FIDE's report file (TRF).

docs/reference/exports.md describes the files. If a spreadsheet would read a player's text as a formula, the text gets
an apostrophe before it.
"""

# Other formats can't express everything, so each function below has to leave something out. PGN has no result for a
# match that both players lost, so the result is `*`, which rating programs skip. FIDE's report file has only two seats
# and half points, so it is not written for larger matches or other scorings. The CSV tables have everything. They are
# meant for spreadsheets: a player's name could be a formula, and an apostrophe before `=` prevents that.

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import combinations
from textwrap import TextWrapper
from typing import Any

from msgspec.structs import replace

from ..games.base import PgnMoves
from ..match.fouls import Cause
from ..text import printable
from ..tournament.history import History
from ..tournament.match_context import MatchEntry
from ..tournament.pairing import swiss, timetable
from ..tournament.pairing.base import PlayedRounds, RoundLine, bye_half_points, half_points
from ..tournament.pairing.dutch import TrfPlayer, trf_text
from .columns import standings_columns
from .match_summary import AWARD, quote_tag
from .summary import Summary
from .words import void_sentence

_FORMULA = ("=", "+", "-", "@")
Row = list[Any]
_UNDECIDED = "*"
_WRAPPER = TextWrapper(255, break_long_words=False, break_on_hyphens=False)
"""Wraps lines at 255 characters, the longest line that PGN allows."""
_TYPES = {"swiss": "Individual: Swiss-System (Dutch)", "roundrobin": "Individual: Round-Robin"}


def standings_csv(summary: Summary) -> str:
    """Return a line for each entrant, from first to last."""
    columns = [column for column in standings_columns(summary) if column.key]
    rows = ([_cell(column.value(summary, line), column.form) for column in columns] for line in summary.standings)
    return join_csv([column.key for column in columns], rows)


def _cell(value: Any, form: str) -> str:
    if value is None or isinstance(value, str):
        return defuse(value or "")
    return format(value, form) if form else _plain(value)


def crosstable_csv(summary: Summary) -> str:
    """Return the crosstable, from first to last. A cell is `WINS-DRAWS-LOSSES`, or empty if the two never met."""
    names = [defuse(summary.names[entrant]) for entrant in summary.order]
    return join_csv(["name", *names], _crosstable(summary))


def _crosstable(summary: Summary) -> Iterator[Row]:
    for entrant in summary.order:
        met = (summary.tournament.table.head_to_head(entrant, opponent) for opponent in summary.order)
        cells = (f"{pair.wins}-{pair.draws}-{pair.losses}" if pair.played else "" for pair in met)
        yield [defuse(summary.names[entrant]), *cells]


def matches_csv(summary: Summary) -> str:
    """Return a line for each seat of each match, in the order of the results in the record."""
    titles = ["match", "number", "round", "table", "leg", "attempt", "seat", "name", "place", "score", "foul"]
    return join_csv([*titles, "used_s", "turns", "reason", "void", "opened", "result"], _matches(summary))


def _matches(summary: Summary) -> Iterator[Row]:
    for entry in summary.results:
        fixture, places = entry.fixture, summary.places(entry)
        causes = {foul.seat: foul.cause for foul in entry.fouls}
        match = None if entry.is_ruled else summary.match_summaries.get(entry.match)
        uncounted_reason = summary.history.uncounted_reason(entry)
        # A match that a ruling voided may have a winner, but "ann beat bob" would contradict the ruling.
        result = void_sentence(entry.names) if uncounted_reason else summary.outcome(entry).sentence
        for seat, name in enumerate(entry.names):
            yield [
                *(entry.match, fixture.number, fixture.round, fixture.table, fixture.leg, fixture.attempt),
                *(seat, defuse(name), places[seat] or "", entry.scores[seat], causes.get(seat, "")),
                *(
                    f"{entry.used_ms[seat] / 1000:.3f}",
                    entry.turns,
                    AWARD if entry.is_ruled else entry.reason,
                    defuse(uncounted_reason),
                ),
                *("" if match is None else match.opened, defuse(result)),
            ]


def fouls_csv(summary: Summary) -> str:
    """Return a line for each foul, in the order of the results in the record."""
    titles = ["match", "round", "turn", "seat", "name", "cause", "rule", "code", "detail"]
    rows = (
        [
            *(entry.match, entry.fixture.round, foul.turn, foul.seat, defuse(entry.names[foul.seat]), foul.cause),
            *(defuse(foul.rule or ""), defuse(foul.code or ""), defuse(foul.detail)),
        ]
        for entry, foul in summary.fouls()
    )
    return join_csv(titles, rows)


def join_csv(titles: Row, rows: Iterable[Row]) -> str:
    """Return a table as CSV. Texts from players must have gone through `defuse`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows(rows)
    return text.getvalue()


def defuse(text: str) -> str:
    """Return a text that is safe in a spreadsheet: printable, and not a formula."""
    shown = printable(text)
    return "'" + shown if shown.startswith(_FORMULA) else shown


def _plain(number: float) -> str:
    """Return a number with as few digits as possible, at most six after the point."""
    return f"{number:.6f}".rstrip("0").rstrip(".")


def games_pgn(summary: Summary) -> Iterator[str]:
    """Yield each result that counts as a game in PGN. A match of more seats becomes one game for every two opponents.

    A game includes the moves if the game's rules can write them in PGN.
    """
    for entry in summary.results:
        if summary.history.uncounted_reason(entry):
            continue
        match = None if entry.is_ruled else summary.match_summaries.get(entry.match)
        date = match.opened[:10].replace("-", ".") if match is not None else "????.??.??"
        sides = summary.spec.scoring.sides(len(entry.names))
        for white, black in combinations(range(len(entry.names)), 2):
            if sides[white] != sides[black]:
                yield _game(entry, date, white, black, None if match is None else match.pgn)


def _game(entry: MatchEntry, date: str, white: int, black: int, moves: PgnMoves | None) -> str:
    fixture, moves = entry.fixture, moves or PgnMoves((), {})
    result = _result(entry, white, black)
    tags = {
        "Event": entry.match.rpartition("-")[0],
        "Site": "?",
        "Date": date,
        "Round": f"{fixture.round}.{fixture.leg + 1}" if fixture.leg else str(fixture.round),
        "White": entry.names[white],
        "Black": entry.names[black],
        "Result": result,
        "Termination": _termination(entry, white, black),
        **moves.tags,
    }
    lines = [f"[{name} {quote_tag(value)}]" for name, value in tags.items()]
    seats = f" seats {white} and {black} of {len(entry.names)}," if len(entry.names) > 2 else ""
    reason = AWARD if entry.is_ruled else entry.reason
    remark = printable(f"{entry.match},{seats} {reason}").replace("}", ")")
    return "\n".join([*lines, "", *_WRAPPER.wrap(" ".join((*moves.words, f"{{{remark}}} {result}"))), "", ""])


def _result(entry: MatchEntry, white: int, black: int) -> str:
    """Return the result of two seats in PGN; it is `*` if both lost, because PGN has no such result."""
    places = {seat: place for place, group in enumerate(entry.ranking) for seat in group}
    fouls = {foul.seat for foul in entry.fouls}
    if not places or {white, black} <= fouls:
        return _UNDECIDED
    first, second = ((seat in fouls, places[seat]) for seat in (white, black))
    return "1/2-1/2" if first == second else "1-0" if first < second else "0-1"


def _termination(entry: MatchEntry, white: int, black: int) -> str:
    if entry.is_ruled:
        return "adjudication"
    causes = {foul.cause for foul in entry.fouls if foul.seat in (white, black)}
    if causes == {Cause.TIMEOUT}:
        return "time forfeit"
    return "rules infraction" if causes else "normal"


def tournament_trf(summary: Summary) -> str | None:
    """Return a Swiss or a round robin of two seats as FIDE's report file; None for any other tournament."""
    played = _played_rounds(summary)
    if played is None:
        return None
    rounds = _mark_forfeits(played, summary.history)
    people = [TrfPlayer(printable(entrant.name), entrant.rating) for entrant in summary.spec.entrants]
    days = sorted(match.opened[:10].replace("-", "/") for match in summary.match_summaries.values())
    heads = [("012", summary.spec.name)]
    heads += [("042", days[0]), ("052", days[-1])] if days else []
    heads += [("062", str(len(people))), ("072", str(sum(person.rating is not None for person in people)))]
    return trf_text(rounds, people, [*heads, ("092", _TYPES[summary.spec.format])])


def _played_rounds(summary: Summary) -> PlayedRounds | None:
    state = summary.tournament.state
    if summary.spec.seats != 2 or summary.spec.format not in _TYPES:
        return None
    if isinstance(state, swiss.State):
        return swiss.make_played_rounds(state)
    return _timetable_rounds(summary.history, state) if isinstance(state, timetable.State) else None


def _mark_forfeits(rounds: PlayedRounds, history: History) -> PlayedRounds:
    """Return the rounds with a forfeit for each pairing that was awarded by rulings and not played.

    For the format, an award gives points like a match. The file shows the difference, so that other programs know that
    the two have not met.
    """
    played = {(entry.fixture.number, entry.fixture.leg) for entry in history.entries if entry.void is None}
    forfeits = set[tuple[int, int]]()
    for result in history.played:
        legs = {(result.pairing.number, leg) for leg in range(history.tournament.spec.legs)}
        if legs <= history.tournament.awards.keys() and legs.isdisjoint(played) and len(result.ranking) > 1:
            forfeits.update((entrant, result.pairing.round) for entrant in result.pairing.seats)
    return replace(
        rounds,
        lines=tuple(
            tuple(
                replace(line, unplayed="+" if line.points else "-") if (entrant, line.round) in forfeits else line
                for line in lines
            )
            for entrant, lines in enumerate(rounds.lines)
        ),
    )


def _timetable_rounds(history: History, state: timetable.State) -> PlayedRounds:
    """Return the complete rounds of a round robin, before the first round with a match that is due."""
    lines: list[list[RoundLine]] = [[] for _ in history.tournament.table.field.entrants]
    through = min((pairing.round for pairing in state.due), default=state.timetable.rounds + 1) - 1
    for played in history.played:
        pairing = played.pairing
        if pairing.round > through:
            continue
        if pairing.against is not None:
            table = (*pairing.seats, pairing.against)
            lines[table[0]].append(RoundLine(pairing.round, table, bye_half_points(2), "+"))
            lines[table[1]].append(RoundLine(pairing.round, table, 0, "-"))
        elif pairing.is_bye:
            lines[pairing.seats[0]].append(RoundLine(pairing.round, pairing.seats, bye_half_points(2), "U"))
        else:
            for entrant, points in zip(pairing.seats, half_points(played), strict=True):
                lines[entrant].append(RoundLine(pairing.round, pairing.seats, points))
    return PlayedRounds(
        rounds=state.timetable.rounds,
        through=through,
        order=tuple(range(len(lines))),
        lines=tuple(map(tuple, lines)),
        away=state.withdrawn,
    )
