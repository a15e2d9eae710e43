"""Forgeries by an organiser with the key: a tournament's record is written again, chained, folded and sealed.

The tests judge whether an audit finds them.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from referee.plugins import load
from referee.record.key import RECORD_PURPOSE, Sealer
from referee.record.tournament_record import TournamentHeader, TournamentTransition
from referee.tournament.history import new_tournament

from .forging import ZEROS, Line, digest, encoded, lines_of, linked, unchained

FORMATS = load().formats


def course_of(path: Path) -> list[Line]:
    """Return the lines of a tournament's record, plain."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def event_lines(lines: Sequence[Line], event: str) -> list[Line]:
    """Return the lines of all events of a name."""
    return [line for line in lines if line["kind"] == "tournament-step" and line["event"]["event"] == event]


def plain(value: Any) -> Any:
    """Return a value as it stands in a line."""
    return json.loads(encoded(value))


def chain(lines: Sequence[Line], sealer: Sealer) -> bytes:
    """Number and chain lines again, and sign every seal among them."""
    prev, data = ZEROS, b""
    for number, line in enumerate(lines):
        mended = {**line, "n": number, "prev": prev}
        if mended.get("kind") == "seal":
            mended["signature"] = sealer.sign(RECORD_PURPOSE, prev)
        prev = digest(encoded(mended))
        data += encoded(mended) + b"\n"
    return data


def folded(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with the commands that follow from their events.

    Raises:
        Exception: the events are not possible in a tournament.
    """
    header = msgspec.convert(lines[0], TournamentHeader)
    tournament = new_tournament(header.spec, FORMATS[header.spec.format], header.salt)
    mended = []
    for line in lines:
        is_step = line["kind"] == "tournament-step"
        commands = tournament.handle(msgspec.convert(line, TournamentTransition).event) if is_step else ()
        mended.append({**line, "commands": plain(commands)} if is_step else line)
    return mended


def bind_matches(folder: Path, lines: Sequence[Line], sealer: Sealer) -> list[Line]:
    """Rewrite the record of every match to name the lines of other events; return these with the new heads.

    What the matches themselves say stays. The players' own heads are those of before.
    """
    prev, bound = ZEROS, []
    for number, old in enumerate(lines):
        line = {**old, "n": number, "prev": prev}
        if line["kind"] == "seal":
            line["signature"] = sealer.sign(RECORD_PURPOSE, prev)
        event = line.get("event", {})
        if event.get("event") == "match-closed" and (path := _path(folder, event["entry"])).exists():
            head = path.read_bytes().splitlines()[-1]
            line["event"] = {**event, "entry": {**event["entry"], "head": json.loads(head)["prev"]}}
        prev = digest(encoded(line))
        if event.get("event") == "match-opened" and (path := _path(folder, event)).exists():
            _bind(path, prev, event["fixture"], sealer)
        bound.append(line)
    return bound


def _path(folder: Path, holder: Any) -> Path:
    return folder / f"{holder['fixture']['match']}.jsonl"


def _bind(path: Path, head: str, fixture: Any, sealer: Sealer) -> None:
    """Let a match's record say that it was opened with another line."""
    first, *rest = lines_of(path.read_bytes())
    mended = linked([{**first, "context": {**first["context"], "head": head, "fixture": fixture}}, *rest])
    mended[-1]["signature"] = sealer.sign(RECORD_PURPOSE, mended[-1]["prev"])
    path.write_bytes(unchained(mended))
