"""Words for pages and terminals: moves, times, points, reasons, rankings, and why a player was expelled.

Moves, details and evidence come from players. The texts that this module returns must still be escaped. They are
printable and of bounded length, except for causes, which the caller must make printable, too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from protocol.messages import TimeControl

from ..games.base import Game, MalformedMove, Rule
from ..match.commands import Result
from ..match.events import Answer, DeadlinePassed, used_ms
from ..match.fouls import Cause, Foul
from ..text import placeless, plain_text, printable
from ..tournament.match_context import FoulEntry, MatchEntry
from ..tournament.points import Scoring
from .replay_frames import FrameKind, ReplayFrame

Ranking = Sequence[Sequence[int]]
Teams = tuple[tuple[int, ...], ...]


class _Fault(NamedTuple):
    """Words for a foul."""

    after_name: str
    """Words that follow the player's name in a sentence."""
    alone: str
    """Words in brackets after the name."""


_FAULTS = {
    str(cause): _Fault(*words)
    for cause, words in {
        Cause.TIMEOUT: ("was too late", "too late"),
        Cause.ILLEGAL_MOVE: ("made an illegal move", "illegal move"),
        Cause.MALFORMED_MESSAGE: ("sent a malformed message", "malformed message"),
        Cause.OUT_OF_TURN: ("sent a message out of turn", "out of turn"),
        Cause.FLOOD: ("flooded the referee", "flood"),
        Cause.OVERSIZE: ("sent too long a message", "message too long"),
        Cause.NOT_READING: ("did not read its messages", "did not read"),
        Cause.DISCONNECTED: ("disconnected", "disconnected"),
        Cause.CRASHED: ("crashed", "crashed"),
        Cause.REFUSED_TO_START: ("did not start", "did not start"),
    }.items()
}


class OutcomeWords(NamedTuple):
    """Words for how a match ended."""

    sentence: str
    order: tuple[int, ...]
    """All seats, in the order of their names in the sentence; empty for a void match, whose points are not shown."""

    def by_ruling(self) -> "OutcomeWords":
        """Return the words with the remark that a ruling made the result."""
        return self._replace(sentence=f"{self.sentence} (by a ruling)")

    def with_points(self, scores: Sequence[int]) -> str:
        """Return the sentence, then the points in the order of its names: `gus beat typo (typo crashed); 3 : 5`."""
        return "; ".join(filter(None, (self.sentence, " : ".join(str(scores[seat]) for seat in self.order))))


def outcome(names: Sequence[str], ranking: Ranking, faults: Mapping[int, str], sides: Sequence[int]) -> OutcomeWords:
    """Return in words how a match ended.

    Args:
        names: the players, by seat.
        ranking: groups of seats from best to worst; empty if the match is void.
        faults: seat that fouled -> cause of its foul.
        sides: side of each seat: a number that is equal only for partners.
    """
    if not ranking:
        return OutcomeWords(void_sentence(names), ())
    levels = _levels(ranking, faults, sides)
    seats = {side: [seat for seat, other in enumerate(sides) if other == side] for level in levels for side in level}
    order = tuple(seat for level in levels for side in level for seat in seats[side])
    blame = ", ".join(f"{printable(names[seat])} {_fault(faults[seat]).after_name}" for seat in order if seat in faults)
    if len(faults) == len(names):
        return OutcomeWords(f"nobody won: {blame}", order)
    if len(seats) == 2:
        labels = [_join_names([printable(names[seat]) for seat in seats[side]]) for level in levels for side in level]
        sentence = f"{labels[0]} - {labels[1]}: draw" if len(levels) == 1 else f"{labels[0]} beat {labels[1]}"
        return OutcomeWords(f"{sentence} ({blame})" if blame else sentence, order)
    parts = [
        _join_names([_name_seat(names, seat, faults) for side in level for seat in seats[side]]) for level in levels
    ]
    return OutcomeWords(f"{parts[0]}: draw" if len(parts) == 1 else ", then ".join(parts), order)


def void_sentence(names: Sequence[str]) -> str:
    """Return the sentence for a match that does not count: `ann - bob: void`."""
    return f"{' - '.join(map(printable, names))}: void"


def _levels(ranking: Ranking, faults: Mapping[int, str], sides: Sequence[int]) -> list[list[int]]:
    """Return the sides from best to worst, grouped if equal. The best seat that did not foul decides for its side."""
    clean = [[seat for seat in group if seat not in faults] for group in ranking]
    fouled = [seat for group in ranking for seat in group if seat in faults]
    known: set[int] = set()
    levels = []
    for group in (*clean, fouled):
        level = sorted({sides[seat] for seat in group} - known)
        known.update(level)
        levels += [level] if level else []
    return levels


def _name_seat(names: Sequence[str], seat: int, faults: Mapping[int, str]) -> str:
    fault = f" ({_fault(faults[seat]).alone})" if seat in faults else ""
    return f"{printable(names[seat])}{fault}"


def _fault(cause: str) -> _Fault:
    return _FAULTS.get(cause) or _Fault(f"fouled: {printable(cause)}", printable(cause))


def _join_names(names: Sequence[str]) -> str:
    """Return names as a list in words: `ann, bob and cy`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def outcome_of_entry(entry: MatchEntry, scoring: Scoring, names: Sequence[str] | None = None) -> OutcomeWords:
    """Return how a match of a tournament ended, in words.

    Args:
        entry: result of the match.
        scoring: scoring of the tournament, which says which seats are partners.
        names: other names for the players, by seat; None: their own.
    """
    faults = {foul.seat: foul.cause for foul in entry.fouls}
    ranking = () if entry.void is not None else entry.ranking
    ended = outcome(names or entry.names, ranking, faults, scoring.sides(len(entry.names)))
    return ended.by_ruling() if entry.is_ruled else ended


def outcome_of_result(names: Sequence[str], result: Result, teams: Teams) -> OutcomeWords:
    """Return how a match ended, in words.

    Args:
        names: the players, by seat.
        result: result of the match.
        teams: the game's teams, seats that win and lose together; empty if every seat plays for itself.
    """
    faults = {foul.seat: str(foul.cause) for foul in result.fouls}
    ranking = () if result.void is not None else result.ranking
    return outcome(names, ranking, faults, Scoring(teams=teams).sides(len(names)))


SHORT_CHARS = 100
"""Most characters of a short cause, so that it fits on a line: how the program ended, and the end of its output."""
_BEGINNING_CHARS = 40
"""Characters for the beginning of a short cause. Its end gets more, because it says more, like a traceback's end."""
_CRASHED_PYTHON = re.compile(r"^exit status 1: (?=.*\(\S+:\d+)")
"""The exit status before an exception with its place, in the form of programs.output.Crash."""
_MAX_NAME = 20
"""Most characters of a name in a drawing. The protocol allows no longer name, but a forged record may have one."""
_STAND_IN = re.compile(r'(<text\b[^<>]*\bdata-seat="(\d{1,2})"[^<>]*>)[^<>]*(?=</text>)')


def move_words(game: Game[Any, Any, Any], move: Any) -> str:
    """Return a plain move in the words of its game; a move that the game can't read is shown by its fields."""
    try:
        game.parse_move(move)
    except (MalformedMove, RecursionError):
        return plain_text(move)
    return printable(game.describe(move)) if isinstance(move, dict) and game.describe(move) else plain_text(move)


def headline(frame: ReplayFrame, names: Sequence[str]) -> str:
    """Return the headline of a frame in a few words."""
    name = "" if frame.seat is None else printable(names[frame.seat])
    match frame.kind:
        case FrameKind.DEAL:
            return "the deal"
        case FrameKind.EXPELLED:
            return f"{name} is expelled"
        case FrameKind.VOID:
            return "the match is void"
        case FrameKind.MOVE:
            return name


def duration(ms: float) -> str:
    """Return a duration in a suitable unit."""
    if ms < 1000:
        return f"{ms:.1f} ms" if ms < 10 else f"{ms:.0f} ms"
    return f"{ms / 1000:.2f} s" if ms < 60_000 else f"{ms // 60_000:.0f} min {ms % 60_000 / 1000:.0f} s"


def moment(at: str) -> str:
    """Return a time (ISO 8601, UTC) as text, to the minute."""
    return f"{at[:16].replace('T', ' ')} UTC"


def number(value: float) -> str:
    """Return a number of points as text: halves as ½, other fractions with two digits."""
    whole, rest = divmod(abs(value), 1)
    sign = "-" if value < 0 else ""
    if rest in (0, 0.5):
        return f"{sign}{int(whole) if whole or not rest else ''}{'½' if rest else ''}"
    return f"{value:.2f}"


def gains(frames: Sequence[ReplayFrame], index: int) -> int:
    """Return the points that a frame's move gained for its seat; 0 if the frame is no move.

    Args:
        frames: all frames of the match.
        index: number of the frame.
    """
    frame = frames[index]
    if frame.kind is not FrameKind.MOVE or frame.seat is None or frame.scores is None:
        return 0
    before = frames[index - 1].scores if index else None
    return frame.scores[frame.seat] - (before[frame.seat] if before else 0)


def reasons(frame: ReplayFrame, rules: Mapping[str, Rule]) -> list[tuple[str, str]]:
    """Return pairs of label and text that say why a seat was expelled, or the match is void; empty for a move.

    Args:
        frame: the frame.
        rules: rules of the game, by id.
    """
    if frame.fault is not None:
        return [("fault of the referee", printable(frame.fault))]
    if frame.foul is None:
        return []
    return [(label, printable(text)) for label, text in _foul_reasons(frame.foul, rules) if text]


def _foul_reasons(foul: Foul, rules: Mapping[str, Rule]) -> list[tuple[str, str]]:
    rule = rules.get(foul.rule or "")
    return [
        ("cause", str(foul.cause)),
        ("rule", foul.rule or ""),
        ("it says", rule.text if rule else ""),
        ("source", rule.source if rule else ""),
        ("code", foul.code or ""),
        ("detail", foul.detail),
        ("evidence (hex)", foul.evidence),
        ("read as", _evidence_text(foul.evidence)),
    ]


def _evidence_text(evidence: str) -> str:
    """Return evidence as a decoded value, or as text if it can't be decoded; empty if it is not hex."""
    try:
        data = bytes.fromhex(evidence)
    except ValueError:  # the record may not have been audited yet
        return ""
    try:
        return plain_text(msgspec.msgpack.decode(data))
    except (ValueError, TypeError, RecursionError):  # a breach of the protocol may not be msgpack
        return data.decode(errors="backslashreplace")


def time_split(frame: ReplayFrame) -> str:
    """Return in words how much time an expelled seat took, and which part of it was not charged."""
    assert frame.judged is not None
    event, request = frame.judged.event, frame.judged.asked
    if request is None:
        return "the referee was not waiting for an answer"
    limit = f"of the {duration(request.limit_ms)} that were left for this answer"
    if not isinstance(event, Answer | DeadlinePassed):
        return f"{duration(event.at_ms - request.asked_ms)} after it was asked, {limit}"
    whole, lag_text = (
        event.at_ms - event.sent_ms,
        f"including {duration(event.lag_ms)} of the referee's own lag, which is not charged",
    )
    if isinstance(event, DeadlinePassed):
        return f"not complete after {duration(whole)}, {lag_text}; {duration(whole - event.lag_ms)} used {limit}"
    first = f"first byte after {duration(event.first_byte_ms - event.sent_ms)}"
    return f"complete after {duration(whole)} ({first}), {lag_text}; {duration(used_ms(event))} used {limit}"


class Ranked(NamedTuple):
    """One line of a final ranking."""

    place: str
    """The rank; `-` in a void match."""
    seat: int
    name: str
    points: int
    used_ms: float
    note: str
    foul: Foul | None


def ranking(names: Sequence[str], result: Result, teams: Teams) -> Iterator[Ranked]:
    """Yield the final ranking, best first; for a void match, the order of the seats.

    Args:
        names: the players by seat.
        result: result of the match.
        teams: the game's teams, seats that win and lose together; empty if every seat plays for itself.
    """
    fouls = {foul.seat: foul for foul in result.fouls}
    sides = Scoring(teams=teams).sides(len(names))
    is_shared = len({sides[seat] for seat in result.winners}) > 1
    for seat in chain.from_iterable(result.ranking) if result.ranking else range(len(names)):
        foul = fouls.get(seat)
        note = "" if seat not in result.winners else "shares the first place" if is_shared else "winner"
        if foul is not None:
            note = printable(" ".join(filter(None, (f"expelled: {foul.cause}", broken(foul)))))
        place, points, used_ms = str(result.rank(seat) or "-"), result.scores[seat], result.used_ms[seat]
        yield Ranked(place, seat, printable(names[seat]), points, used_ms, note, foul)


def time_control(given: TimeControl) -> str:
    """Return the time limits of players in words."""
    parts = [f"{given.per_move_ms / 1000:g} s for each move"]
    if given.bank_ms is not None:
        added = f" and {given.increment_ms / 1000:g} s more for each move" if given.increment_ms else ""
        parts.append(f"{given.bank_ms / 1000:g} s for all of a seat's moves{added}")
    return ", ".join([*parts, f"{given.start_ms / 1000:g} s to start"])


def broken(foul: Foul | FoulEntry) -> str:
    """Return the id of the game's broken rule, or the protocol's code, unless the code repeats the cause."""
    return foul.rule or (foul.code if foul.code and foul.code != foul.cause else "")


def why(foul: Foul) -> str:
    """Return the broken rule, and in words what happened."""
    return ": ".join(filter(None, (broken(foul), describe_detail(foul))))


def describe_detail(foul: Foul) -> str:
    """Return in words what happened, without the exit status of a crash in Python, which says nothing."""
    return _CRASHED_PYTHON.sub("", foul.detail)


def short_cause(detail: str) -> str:
    """Return the beginning and the end of a cause, without absolute paths."""
    text = placeless(detail)
    if len(text) <= SHORT_CHARS:
        return text
    return f"{text[:_BEGINNING_CHARS]}...{text[_BEGINNING_CHARS + 3 - SHORT_CHARS :]}"


class Causes:
    """Remembers which causes a list has shown in full already."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def tell(self, who: str, detail: str) -> str:
        """Return a cause in full when it is shown for a player for the first time, and shortened later."""
        short = short_cause(detail)
        if (who, short) in self._told:
            return short
        self._told.add((who, short))
        return detail


def with_names(svg: str, names: Sequence[str]) -> str:
    """Return a drawing with the players' names in place of its stand-ins.

    Args:
        svg: drawing that a game's `draw_svg` returned.
        names: the players by seat.
    """
    short = (name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 1] + "…" for name in map(printable, names))
    by_seat = {str(seat): escape(name) for seat, name in enumerate(short)}
    return _STAND_IN.sub(lambda stand_in: stand_in[1] + by_seat.get(stand_in[2], "?"), svg)
