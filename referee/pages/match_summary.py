"""A match in short, as a report needs it, read off its record; and as plain text, like PGN: tags, then the moves.

The format of the text is in docs/reference/exports.md. A move is one word without spaces, whatever a player sent: what
has no short form is shown as JSON.
"""

# A report of a season reads thousands of records. Each is read in a process of its own and summarised there, so that
# what comes back, and stays in memory, is this summary and not the record.

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
"""Reason of a result that a ruling made, in place of the rule that ended a game."""
_WRAPPER = TextWrapper(100, break_long_words=False, break_on_hyphens=False)


class SeatTime(Struct, frozen=True):
    """Time that one seat took for its moves in one match."""

    answers: int = 0
    """Number of moves that the referee asked for, including moves that never came."""
    total_ms: float = 0.0
    """Time for all moves."""
    most_ms: float = 0.0
    """Time for the slowest one."""
    most_share: float = 0.0
    """Largest share of a time limit that was used; more than 1 is too late."""

    @property
    def mean_ms(self) -> float:
        """Average time for a move."""
        return self.total_ms / self.answers if self.answers else 0.0

    def plus(self, other: "SeatTime") -> "SeatTime":
        """Return the time of two seats together."""
        return SeatTime(
            self.answers + other.answers,
            self.total_ms + other.total_ms,
            max(self.most_ms, other.most_ms),
            max(self.most_share, other.most_share),
        )


class MatchSummary(Struct, frozen=True, kw_only=True):
    """One match in short."""

    entry: MatchEntry
    opened: str
    """Wall-clock time, ISO 8601 in UTC."""
    times: tuple[SeatTime, ...]
    """Times by seat."""
    fairness: Fairness
    """Measurements of the time of its seats."""
    moves: tuple[str, ...]
    """Moves in short notation, expulsions among them."""
    pgn: PgnMoves | None = None
    """The moves in PGN; None if the game has no such notation, or the rules that are installed don't confirm them."""


def summarize_match(record: Record, find_game: FindGame) -> MatchSummary:
    """Return a match of a tournament in short.

    Args:
        record: the record, chain checked.
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
    """Return the moves of a match in PGN, or None.

    A report is no audit: if a record does not follow by the rules that are installed here, it still has its result.
    """
    with suppress(RecordError, PluginError):
        game = find_game(record.header.setup.game)
        return game.pgn(_replay_moves(record, game))
    return None


def _replay_moves(record: Record, game: Game[Any, Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each move that was accepted, with the state before it."""
    for before, frame in pairwise(fold_record(record, lambda _name: game).frames):
        if frame.kind is FrameKind.MOVE:
            yield before.state, game.parse_move(frame.move)


def _moves(record: Record) -> Iterator[str]:
    """Yield `TURN.SEAT MOVE` for every answer to a turn, and a remark in braces for every expulsion."""
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
        opened: wall-clock time at which it began; empty if that is not known.
        moves: moves in short notation.
        void: why it does not count; empty if it does.
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
    """Return the place of each seat, from 1; equal seats share one, and fouls the last. Zeros for a void match."""
    places, place = [0] * len(entry.names), 1
    fouls = {foul.seat for foul in entry.fouls}
    for group in entry.ranking if entry.void is None else ():
        for seat in group:
            places[seat] = len(places) if seat in fouls else place
        place += len(group)
    return places
