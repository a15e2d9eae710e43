"""A record as one page that needs nothing but a browser: boards, moves, verdicts, charts, ranking, facts.

Knows what of a match stands in the page and how it is kept from acting there. Refuses to know the page's look: that is
in replay.html, replay.css and replay.js beside this file.

What players say reaches the page in two ways only: as text escaped here, and as JSON that the script writes with
`textContent`. The page's own policy forbids every other script, style and address, should both fail.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

from ..games.base import Game
from ..record.audit.audit import FindGame
from ..record.reader import Record
from ..text import counted, printable
from .drawing import pooled, with_names
from .frames import FoldedRecord, fold_record
from .page import embedded, filled, part, policy
from .words import ending, gains, headline, move_text, ranking, reasons, time_control


def replay_page(record: Record, find_game: FindGame) -> str:
    """Return a match as one HTML document.

    Args:
        record: the record, chain checked.
        find_game: a game's name -> its rules.

    Raises:
        RecordError: a line of the record does not follow from those before it.
        StillSecret: the match was not finished and its seed is not in the record.
        Exception: what find_game raises for a game it does not know.
    """
    return page_of(fold_record(record, find_game))


def page_of(folded: FoldedRecord) -> str:
    """Return a match that was folded again as one HTML document."""
    names = [printable(name) for name in folded.match.setup.names]
    style, script = part("replay.css"), part("replay.js")
    slots = {
        "policy": policy(script, style),
        "title": escape(f"{' · '.join(names)} — {folded.match.setup.match}"),
        "players": escape(" · ".join(names)),
        "game": escape(folded.match.game.title),
        "match": escape(folded.match.setup.match),
        "badge": escape(_badge(folded.record)),
        "ending": escape(_ending(folded)),
        "ranking": _ranking(folded),
        "facts": _facts(folded),
        "style": style,
        "script": script,
        "data": embedded(_data(folded)),
    }
    return filled(part("replay.html"), slots)


def _data(folded: FoldedRecord) -> dict[str, Any]:
    """Return what the script shows."""
    names, game = folded.match.setup.names, folded.match.game
    drawings = (None if frame.state is None else game.draw_svg(frame.state) for frame in folded.frames)
    lines, boards = pooled(svg and with_names(svg, names) for svg in drawings)
    return {
        "names": [printable(name) for name in names],
        "turns": folded.match.turn,
        "hasSteps": any(map(partial(_is_within_turn, game), (frame.state for frame in folded.frames))),
        "ending": _ending(folded) or "the match was not finished",
        "limit": folded.match.setup.per_move_ms,
        "lines": lines,
        "frames": list(_frames(folded, boards)),
        "answers": [(answer.seat, answer.turn, answer.at_ms, round(answer.used_ms, 3)) for answer in folded.answers],
    }


def _is_within_turn(game: Game[Any, Any, Any], state: Any) -> bool:
    return state is not None and game.outcome(state) is None and game.is_same_turn(state)


def _ending(folded: FoldedRecord) -> str:
    """Return who won; nothing of a match that was not finished."""
    result = folded.match.result
    return "" if result is None else ending(folded.match.setup.names, result)


def _frames(folded: FoldedRecord, boards: Sequence[list[int] | None]) -> Iterable[dict[str, Any]]:
    names = folded.match.setup.names
    for index, (frame, board) in enumerate(zip(folded.frames, boards, strict=True)):
        yield {
            "board": board,
            "kind": frame.kind,
            "turn": frame.turn,
            "at": frame.at_ms,
            "seat": frame.seat,
            "head": headline(frame, names),
            "move": None if frame.took_ms is None else move_text(frame.move),
            "took": frame.took_ms,
            "reasons": reasons(frame, folded.match.game.rules),
            "scores": frame.scores,
            "gain": gains(folded.frames, index),
            "next": frame.to_move,
            "out": frame.out,
        }


# --- what stands in the page without the script


def _badge(record: Record) -> str:
    """Return in a few words whether the record holds; only one that does gets a page."""
    if record.is_torn:
        return "record holds, its end is torn off"
    return "record holds" if record.result else "record holds, match not finished"


def _ranking(folded: FoldedRecord) -> str:
    """Return the final ranking as the rows of a table."""
    result = folded.match.result
    if result is None:
        return _row("td", ["", "", "the match was not finished", "", "", ""])
    return "".join(
        _row("td", [row.place, str(row.seat), row.name, str(row.points), f"{row.used_ms / 1000:.3f} s", row.note])
        for row in ranking(folded.match.setup.names, result)
    )


def _row(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _facts(folded: FoldedRecord) -> str:
    """Return what the record says of the match, as the items of a list of definitions."""
    return "".join(
        f"<dt>{escape(label)}</dt><dd>{escape(printable(text))}</dd>" for label, text in _told(folded).items() if text
    )


def _told(folded: FoldedRecord) -> Mapping[str, str]:
    record, match, setup = folded.record, folded.match, folded.match.setup
    count = 1 + len(record.steps) + (record.result is not None)
    ended = match.result.reason if match.result else None
    rule = match.game.rules.get(ended or "")
    fixed = "fixed beforehand" if record.header.seed else "revealed at the end"
    return {
        "Match": setup.match,
        "Game": f"{match.game.title} ({setup.game})",
        "Options": json.dumps(setup.options, ensure_ascii=False) if setup.options else "as usual",
        "Players": ", ".join(f"{name} (seat {seat})" for seat, name in enumerate(setup.names)),
        "Time": time_control(setup),
        "Opened": record.header.opened,
        "Ended by": f"{rule.id}: {rule.text}" if rule else "",
        "Void": match.result.void or "" if match.result else "",
        "Record": f"{record.path.name}, {counted(count, 'line')}, written by referee {record.header.referee}",
        "Chain": "holds: every line carries the hash of the line before it",
        "Verdicts": "hold: every command and the result follow from the events, folded again for this page",
        "Commitment": setup.commitment,
        "Seed": f"{match.seed.hex()} ({fixed}; it fits the commitment)",
        "Nonces": ", ".join(nonce or "none" for nonce in match.nonces) if setup.nonces else "not used",
    }
