"""Summarises a match from its record, for a report, and writes it as plain text: tags, then the moves, like PGN.

docs/reference/exports.md describes the text. Each move is one word without spaces; a move without a short form is shown
as JSON.
"""

# A report of a season reads thousands of records. Worker processes read and summarise them, so that only the summaries
# are sent back and stay in memory, not the records.

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from textwrap import TextWrapper
from typing import Any

from msgspec import Struct

from ..games.base import Game, PgnMoves
from ..games.notation import format_move
from ..match import events as e
from ..match.fouls import Cause
from ..plugins import PluginError
from ..record.audit.match import FindGame
from ..record.reader import Record, RecordError, read_entry
from ..record.timing import Fairness, fairness, timings
from ..text import printable
from ..tournament.match_context import MatchEntry
from .replay_frames import FrameKind, fold_record

AWARD = "award"
"""Reason of a result that a ruling made; other results have the rule that ended the game."""
_WRAPPER = TextWrapper(100, break_long_words=False, break_on_hyphens=False)


class SeatTime(Struct, frozen=True):
    """Time that one seat took for its moves in one match."""

    answers: int = 0
    """Number of moves that the seat was asked for, including moves that never came."""
    total_ms: float = 0.0
    """Time for all moves together."""
    most_ms: float = 0.0
    """Time for the slowest move."""
    most_share: float = 0.0
    """Largest share of a time limit that the seat used; more than 1 is too late."""

    @property
    def mean_ms(self) -> float:
        """Average time for a move."""
        return self.total_ms / self.answers if self.answers else 0.0

    def plus(self, other: "SeatTime") -> "SeatTime":
        """Return the times of two seats, combined."""
        return SeatTime(
            self.answers + other.answers,
            self.total_ms + other.total_ms,
            max(self.most_ms, other.most_ms),
            max(self.most_share, other.most_share),
        )


class MatchSummary(Struct, frozen=True, kw_only=True):
    """Summary of a match."""

    entry: MatchEntry
    opened: str
    """Time of day at which the match was opened, ISO 8601 in UTC."""
    times: tuple[SeatTime, ...]
    """Times by seat."""
    fairness: Fairness
    """Measurements of the time of its seats."""
    moves: tuple[str, ...]
    """Moves in short notation, and remarks on expulsions."""
    pgn: PgnMoves | None = None
    """The moves in PGN; None if the game has no PGN, or if the moves are not legal by the installed rules."""


def summarize_match(record: Record, find_game: FindGame) -> MatchSummary:
    """Return the summary of a tournament's match.

    Args:
        record: the record; its chain is verified already.
        find_game: a game's name -> its rules.

    Raises:
        RecordError: the match was not finished, or belongs to no tournament.
    """
    times = [SeatTime() for _ in record.header.setup.names]
    answers = timings(record)
    for timing in answers:
        if timing.turn is not None or timing.cause == Cause.TIMEOUT:
            used_ms = max(timing.used_ms, 0.0)
            share = timing.used_ms / timing.limit_ms if timing.limit_ms else 1.0
            times[timing.seat] = times[timing.seat].plus(SeatTime(1, used_ms, used_ms, share))
    return MatchSummary(
        entry=read_entry(record),
        opened=record.header.opened,
        times=tuple(times),
        fairness=fairness(answers),
        moves=tuple(_moves(record)),
        pgn=replay_as_pgn(record, find_game),
    )


def replay_as_pgn(record: Record, find_game: FindGame) -> PgnMoves | None:
    """Return the moves of a match in PGN, or None if that is not possible.

    A report is not an audit: even if the installed rules do not confirm a record, its result is reported.
    """
    with suppress(RecordError, PluginError):
        game = find_game(record.header.setup.game)
        return game.pgn(_replay_moves(record, game))
    return None


def _replay_moves(record: Record, game: Game[Any, Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each accepted move, with the state before it."""
    for before, frame in pairwise(fold_record(record, lambda _name: game).frames):
        if frame.kind is FrameKind.MOVE:
            yield before.state, game.parse_move(frame.move)


def _moves(record: Record) -> Iterator[str]:
    """Yield `TURN.SEAT MOVE` for each answer to a turn, and a remark in braces for each expulsion."""
    for step in record.transitions:
        event = step.event
        fouls: list[dict[str, Any]] = [
            command["foul"] for command in step.commands if command["command"] == "expel-seat"
        ]
        if isinstance(event, e.MoveReceived):
            is_wrong = any(foul["seat"] == event.seat for foul in fouls)
            yield f"{event.turn}.{event.seat} {format_move(event.move)}{'?' if is_wrong else ''}"
        for foul in fouls:
            yield expulsion(foul["seat"], foul["cause"], foul.get("rule") or foul.get("code"))


def expulsion(seat: int, cause: str, rule: str | None) -> str:
    """Return the remark that a seat was expelled."""
    return "{" + printable(" ".join(filter(None, (f"seat {seat} expelled: {cause}", rule)))).replace("}", ")") + "}"


def match_text(entry: MatchEntry, game: str, opened: str, moves: Sequence[str], void: str, result: str) -> str:
    """Return a match as text: tags, an empty line, the moves, an empty line.

    Args:
        entry: result of the match.
        game: name of the game.
        opened: time of day at which the match was opened; empty if that is not known.
        moves: moves in short notation.
        void: why the match does not count; empty if it counts.
        result: result in words.
    """
    lines = [f"[{name} {quote_tag(value)}]" for name, value in _tags(entry, game, opened, void, result) if value]
    return "\n".join([*lines, "", *_WRAPPER.wrap(" ".join([*moves, "*"])), "", ""])


def quote_tag(text: str) -> str:
    """Return the value of a tag, in quotes."""
    return '"' + printable(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tags(entry: MatchEntry, game: str, opened: str, void: str, result: str) -> Iterator[tuple[str, str]]:
    fixture = entry.fixture
    yield "Event", entry.match.rpartition("-")[0]
    yield "Match", entry.match
    yield "Game", game
    yield "Opened", opened
    yield "Round", str(fixture.round)
    yield "Table", fixture.table
    yield "Leg", str(fixture.leg + 1) if fixture.leg else ""
    yield "Attempt", str(fixture.attempt + 1) if fixture.attempt else ""
    for seat, name in enumerate(entry.names):
        yield f"Seat{seat}", name
    yield "Void", void
    if not void:
        yield "Result", result
        yield "Places", " ".join(map(str, match_places(entry)))
        yield "Scores", " ".join(map(str, entry.scores))
        fouls = ((str(foul.seat), foul.cause, foul.rule or foul.code) for foul in entry.fouls)
        yield "Fouls", "; ".join(" ".join(filter(None, foul)) for foul in fouls)
        yield "Reason", AWARD if entry.is_ruled else entry.reason
    yield "Turns", str(entry.turns)
    yield "TimeUsed", " ".join(f"{used / 1000:.3f}" for used in entry.used_ms)


def match_places(entry: MatchEntry) -> list[int]:
    """Return the place of each seat, from 1; zeros for a void match.

    Equal seats share a place. All seats that fouled share the last place.
    """
    places, place = [0] * len(entry.names), 1
    fouls = {foul.seat for foul in entry.fouls}
    for group in entry.ranking if entry.void is None else ():
        for seat in group:
            places[seat] = len(places) if seat in fouls else place
        place += len(group)
    return places
