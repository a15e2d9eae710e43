"""Makes the page of a match from its record: boards, moves, verdicts, charts, ranking, facts. It needs only a browser.

Texts from players reach the page only in two ways: as text that the template escapes, and as JSON that the script
writes with `textContent`.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec
from jinja2.utils import htmlsafe_json_dumps
from msgspec import Struct

from ..games.base import Game
from ..match.outcome import BY_DEFAULT
from ..record.reader import Record
from ..text import counted, printable
from .rendering import DATA, environment, find_data, page, time_of_day
from .replay_frames import FoldedRecord, FrameKind
from .summary import MatchNotes
from .verifying import verifying_script
from .words import (
    duration,
    gains,
    headline,
    move_words,
    outcome_of_result,
    ranking,
    reasons,
    time_control,
    time_split,
    with_names,
)

T = TypeVar("T")

LOOKS = "replay"
"""Name of the template, the style and the script."""
_NO_TOURNAMENT = MatchNotes()
MOST_DRAWN = 3
"""Most boards to draw in the page for readers without scripts; each is a whole drawing."""
_ASKED = re.compile("<!-- asked -->.*?<!-- /asked -->", re.DOTALL)
"""Place in the page for the board of a requested turn."""
_LEADS = re.compile("<!-- leads -->.*?<!-- /leads -->", re.DOTALL)
"""Links to the server that draws the board of a turn."""
_TURN = re.compile(r'(<tr id="turn-\d+"><td>)(\d+)(?=</td>)')
"""Row of a turn in the list of turns."""


def replay_page(
    folded: FoldedRecord,
    verifier: str = "",
    report: str = "",
    notes: MatchNotes = _NO_TOURNAMENT,
    site: str = "",
    *,
    has_shared_files: bool = False,
) -> str:
    """Return the page of a match as one HTML document.

    Args:
        folded: the replayed record of the match.
        verifier: link to the page that verifies the record; empty: this page contains a verifier.
        report: link to the page of the tournament; empty if there is none.
        notes: notes of the tournament on the match.
        site: relative path to the first page of the contest's site that shows the page; empty if no site shows it.
        has_shared_files: whether the style and the script are files next to the page, shared by all pages of matches.
    """
    match, result, record = folded.match, folded.match.result, folded.record
    own_record = {"name": record.path.name, "address": None, "head": record.chain.head}
    data = _data(folded)
    boards = list(join_lines(data["lines"], [frame["board"] for frame in data["frames"]]))
    return page(
        LOOKS,
        {**data, "record": own_record},
        drawn=[(data["frames"][at], "\n".join(boards[at] or ())) for at in _find_drawn(data["frames"])],
        site=site,
        has_shared_files=has_shared_files,
        library="" if verifier else verifying_script(),
        names=match.setup.names,
        game=match.game.title,
        match=match.setup.match,
        badge=_badge(record),
        ending=_ending(folded),
        ranking=ranking(match.setup.names, result, match.teams) if result else (),
        expulsions=tuple(_expulsions(folded)),
        record=record.path.name,
        verifier=verifier,
        report=report,
        tournament=record.header.context.tournament if record.header.context else "",
        facts=list(_facts(folded, notes)),
        proofs=list(_proofs(folded)),
        notes=notes,
        resumptions=list(_resumptions(folded, notes)),
    )


def with_record(replay: str, record: bytes) -> str:
    """Return the page of a match with its record inside, so that the reader can verify it without a server.

    Args:
        replay: the page.
        record: bytes of the record; bytes of a torn last line that are not UTF-8 can't be verified in the page.
    """
    before, data, behind = replay.partition(DATA.decode())
    text = htmlsafe_json_dumps(record.decode(errors="replace"))
    held = f'<script type="application/json" id="record-text">{text}</script>'
    return f"{_LEADS.sub('', before)}{held}\n{data}{behind}"


class _DrawnFrame(Struct, frozen=True):
    """The data of a frame that are needed to draw its board."""

    turn: int
    board: list[list[int]] | None
    head: str
    move: str | None
    scores: Sequence[int | float] | None


class _Drawings(Struct, frozen=True):
    """The data of a page that are needed to draw the board of a turn. The lines of the boards stay undecoded."""

    lines: Sequence[msgspec.Raw] = ()
    frames: Sequence[_DrawnFrame] = ()
    turns: int = 0


def split_page(replay: bytes) -> tuple[str, memoryview]:
    """Return the page of a match in two parts: the part before its data, and the rest, which begins with the data."""
    begins = replay.find(DATA)
    at = len(replay) if begins < 0 else begins
    return replay[:at].decode(), memoryview(replay)[at:]


def head_at_turn(head: str, rest: memoryview, turn: int) -> str:
    """Return the first part of a page with the board of a turn; the second part needs no change.

    Args:
        head: the first part of the page.
        rest: the second part.
        turn: number of the turn; a number that is too large means the last turn.
    """
    drawings = msgspec.json.decode(find_data(bytes(rest)), type=_Drawings | None)
    last = {frame.turn: number for number, frame in enumerate(drawings.frames if drawings else ())}
    if drawings is None or not last:  # the match has no frames, or this is not the page of a match
        return head
    turns = sorted(last)
    at = max(bisect_right(turns, turn) - 1, 0)
    frame = drawings.frames[last[turns[at]]]
    *_, board = join_lines(drawings.lines, [each.board for each in drawings.frames[: last[turns[at]] + 1]])
    ways = (("First", 0), ("Back", at - 1), ("Forward", at + 1), ("Last", len(turns) - 1))
    shown = (
        environment()
        .get_template("replay_turn.html")
        .render(
            frame=frame,
            board="\n".join(msgspec.json.decode(line, type=str) for line in board or ()),
            turns=drawings.turns,
            ways=[(label, turns[to]) for label, to in ways if 0 <= to < len(turns) and to != at],
        )
    )
    linked = _TURN.sub(r'\1<a href="?turn=\2">\2</a>', head)
    return _ASKED.sub(lambda _: shown, linked, count=1)


def _find_drawn(frames: Sequence[dict[str, Any]]) -> list[int]:
    """Return the indexes of the frames whose boards are drawn in the page: the first expulsions, and the last frame."""
    ends = [at for at, frame in enumerate(frames) if frame["kind"] == FrameKind.EXPELLED][: MOST_DRAWN - 1]
    last = [len(frames) - 1] if frames else []
    return list({frames[at]["turn"]: at for at in (*ends, *last) if frames[at]["board"] is not None}.values())


def _data(folded: FoldedRecord) -> dict[str, Any]:
    names, game = folded.match.setup.names, folded.match.game
    drawings = (None if frame.shown is None else game.draw_svg(frame.shown) for frame in folded.frames)
    lines, boards = pool_lines(svg and with_names(svg, names) for svg in drawings)
    return {
        "names": [printable(name) for name in names],
        "turns": folded.match.turn,
        "hasSteps": any(map(partial(_is_within_turn, game), (frame.state for frame in folded.frames))),
        "ending": _ending(folded) or "the match was not finished",
        "limit": folded.match.setup.time.per_move_ms,
        "lines": lines,
        "frames": list(_frames(folded, boards)),
        "answers": [(answer.seat, answer.turn, answer.at_ms, round(answer.used_ms, 3)) for answer in folded.answers],
    }


def _is_within_turn(game: Game[Any, Any, Any], state: Any) -> bool:
    return state is not None and game.outcome(state) is None and game.is_same_turn(state)


def _ending(folded: FoldedRecord) -> str:
    """Return in words how the match ended; empty if it was not finished."""
    result, names = folded.match.result, folded.match.setup.names
    return "" if result is None else outcome_of_result(names, result, folded.match.teams).with_points(result.scores)


def _frames(folded: FoldedRecord, boards: Sequence[list[list[int]] | None]) -> Iterable[dict[str, Any]]:
    names = folded.match.setup.names
    before = -1.0
    for index, (frame, board) in enumerate(zip(folded.frames, boards, strict=True)):
        yield {
            "board": board,
            "kind": frame.kind,
            "turn": frame.turn,
            "at": frame.at_ms,
            "seat": frame.seat,
            "head": headline(frame, names),
            "move": None if frame.took_ms is None else move_words(folded.match.game, frame.move),
            "took": frame.took_ms,
            "reasons": reasons(frame, folded.match.game.rules),
            "scores": frame.scores,
            "gain": gains(folded.frames, index),
            "next": frame.to_move,
            "out": frame.out,
            "resumed": any(before <= at < frame.at_ms for _, at in folded.resumptions),
        }
        before = frame.at_ms


# --- parts of the page that need no script


class _Expulsion(NamedTuple):
    """An expulsion: the seat, the turn and the reasons."""

    seat: int
    name: str
    turn: int
    reasons: list[tuple[str, str]]


def _expulsions(folded: FoldedRecord) -> Iterator[_Expulsion]:
    setup = folded.match.setup
    for frame in folded.frames:
        if frame.foul is not None:
            time = ("time", f"{time_split(frame)}; allowed: {time_control(setup.time)}")
            why = [*reasons(frame, folded.match.game.rules), time]
            yield _Expulsion(frame.foul.seat, printable(setup.names[frame.foul.seat]), frame.turn, why)


def _resumptions(folded: FoldedRecord, notes: MatchNotes) -> Iterator[tuple[int, str, str]]:
    """Yield the turn, the instant and (if known, else empty) the time of day of each resumption of the match."""
    is_known = len(notes.begun_at) == len(folded.resumptions) + 1
    for at, (turn, ms) in enumerate(folded.resumptions, 1):
        yield turn, duration(ms), notes.begun_at[at] if is_known else ""


def _badge(record: Record) -> str:
    """Return the state of the record in a few words. Every record with a page holds."""
    if record.is_torn:
        return "record holds, its last line is incomplete"
    return "record holds" if record.result else "record holds, match not finished"


def _facts(folded: FoldedRecord, notes: MatchNotes) -> Iterator[tuple[str, str]]:
    """Yield label and text of each fact in the record; the page leaves out empty texts."""
    record, match, setup = folded.record, folded.match, folded.match.setup
    ended = match.result.reason if match.result else None
    rule = {**match.game.rules, BY_DEFAULT.id: BY_DEFAULT}.get(ended or "")
    yield "Match", setup.match
    yield "Game", f"{match.game.title} ({setup.game})"
    yield "Options", json.dumps(setup.options, ensure_ascii=False) if setup.options else "defaults"
    yield "Players", ", ".join(f"{name} (seat {seat})" for seat, name in enumerate(setup.names))
    yield "Time", time_control(setup.time)
    yield "Opened", time_of_day(record.header.opened)
    yield "Ended by", f"{rule.id}: {rule.text}" if rule else ""
    yield "Void", match.result.void or "" if match.result else ""
    yield "Spectators saw", f"during the match: {'; then '.join(notes.sights)}" if notes.sights else ""


def _proofs(folded: FoldedRecord) -> Iterator[tuple[str, str]]:
    """Yield label and text of the facts that prove the record."""
    record, match, setup = folded.record, folded.match, folded.match.setup
    count = 1 + len(record.transitions) + (record.result is not None)
    fixed = "fixed beforehand" if record.header.seed else "revealed at the end"
    yield "Record", f"{record.path.name}, {counted(count, 'line')}, written by referee {record.header.referee}"
    yield "Chain", "holds: every line contains the hash of the line before it"
    yield "Head", record.chain.head
    yield "Key", record.header.key
    yield "Verdicts", "hold: the referee checked for this page that all commands and the result follow from the events"
    yield "Commitment", setup.commitment
    yield "Seed", f"{match.seed.hex()} ({fixed}; it fits the commitment)"
    yield "Nonces", ", ".join(nonce or "none" for nonce in match.nonces.opened) if setup.nonces else "not used"


# Each board of a match differs from the board before it in a few lines only. So a page stores each line once, and for
# each board only the changes. The script can undo this without a decompressor.


def pool_lines(texts: Iterable[str | None]) -> tuple[list[str], list[list[list[int]] | None]]:
    """Store each line of many texts once, and each text as changes of the text before it.

    Args:
        texts: drawings of one match, each similar to the one before it; None stays None.

    Returns:
        All lines, and the edits that make each text from the text before it. An edit is
        `[keep, drop, first, count, first, count...]`: keep a number of lines, drop a number of lines, then insert
        `count` lines from the line `first` on, and so on. The lines after the last edit stay.
    """
    numbers: dict[str, int] = {}
    before: list[int] = []
    edits: list[list[list[int]] | None] = []
    for text in texts:
        if text is None:
            edits.append(None)
            continue
        now = [numbers.setdefault(line, len(numbers)) for line in text.split("\n")]
        edits.append(_compare(before, now))
        before = now
    return list(numbers), edits


def join_lines(lines: Sequence[T], edits: Iterable[Sequence[Sequence[int]] | None]) -> Iterator[list[T] | None]:
    """Yield the lines of each text that `pool_lines` has stored; None for None.

    Args:
        lines: lines of all texts.
        edits: edits of each text, beginning with the first text.
    """
    before: list[T] = []
    for changes in edits:
        if changes is None:
            yield None
            continue
        now: list[T] = []
        at = 0
        for keep, drop, *runs in changes:
            now += before[at : at + keep]
            at += keep + drop
            for first, count in zip(runs[::2], runs[1::2], strict=True):
                now += lines[first : first + count]
        before = now + before[at:]
        yield before


def _compare(before: Sequence[int], now: Sequence[int]) -> list[list[int]]:
    """Return the edits that turn one list of numbers into another."""
    edits, at = [], 0
    matcher = SequenceMatcher(None, before, now)
    for tag, first, end, new, new_end in matcher.get_opcodes():
        if tag != "equal":
            edits.append([first - at, end - first, *_runs(now[new:new_end])])
            at = end
    return edits


def _runs(numbers: Iterable[int]) -> list[int]:
    runs: list[int] = []
    for number in numbers:
        if runs and number == runs[-2] + runs[-1]:
            runs[-1] += 1
        else:
            runs += (number, 1)
    return runs
