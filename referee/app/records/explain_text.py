"""Says in words what an explanation tells: how the match ended, and what there is to know of a foul."""

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...check.remedies import foul_remedy
from ...match.commands import rank_of
from ...match.events import Ending
from ...match.fouls import Cause, Foul
from ...record.explain import ExplainedFoul, Explanation, Heard, Said
from ...text import counted, printable, printable_json

MOVE_CODE = "move"
"""Code of a foul: what came has not the form of a move."""
_OF_SILENCE = ("deadline-passed", "seat-vacant")
"""Events of a seat that said nothing, or too little."""


def explain_command(record: Path, found: Explanation, turn: int | None = None) -> str:
    """Return the command that explains a match, or one turn of it, to a seat, as a shell takes it."""
    words = ("referee", "explain", str(record), found.names[found.seat])
    return shlex.join(words if turn is None else (*words, "--turn", str(turn)))


def standing(found: Explanation) -> str:
    """Return how the match ended for the seat."""
    result = found.result
    if result.void:
        return f"void, a fault of the referee: {result.void}"
    rank = rank_of(result.ranking, found.seat)
    others = [found.names[seat] for seat in result.winners if seat != found.seat]
    won = (
        ""
        if found.seat not in result.winners
        else f", together with {' and '.join(others)}"
        if others
        else ", the winner"
    )
    points = result.scores[found.seat]
    return f"rank {rank} of {len(found.names)}{won}, {counted(points, 'point')}, ended by {result.reason}"


def foul_lines(found: Explanation, verdict: ExplainedFoul) -> Iterator[tuple[str, str]]:
    """Yield label and text of what there is to know of the seat's foul."""
    foul = verdict.foul
    if verdict.rule is not None:
        yield "rule", f"{verdict.rule.id}: {verdict.rule.text}"
        yield "source", verdict.rule.source
    elif foul.code:
        where = f"`referee list {found.game} --schema`" if foul.code == MOVE_CODE else "protocol/SPEC.md, Fouls"
        yield "code", f"{printable(foul.code)} ({where})"
    yield "because", printable(foul.detail)
    answers = [
        part.content["move"] for part in found.conversation if isinstance(part, Heard) and "move" in part.content
    ]
    if answers and (foul.rule or foul.code == MOVE_CODE):
        yield "answer", compact_json(answers[-1])
    for label, text in expected_and_come(verdict, found.conversation):
        yield label, printable(text)
    if verdict.evidence is not None:
        yield "bytes", verdict.evidence.hex
    printed = None if found.printed is None else found.printed.path or None
    yield "mend", printable(foul_remedy(foul, found.game, printed))


def expected_and_come(verdict: ExplainedFoul, conversation: Sequence[Said | Heard]) -> Iterator[tuple[str, str]]:
    """Yield label and text of what was asked of the seat, and of what came in its place."""
    evidence = verdict.evidence
    if verdict.expected is not None:
        yield "expected", verdict.expected
    if evidence is not None:
        read = "" if evidence.decoded is None else f": {compact_json(evidence.decoded)}"
        problem = f", {evidence.problem}" if evidence.problem else ""
        yield "came", f"{counted(len(evidence.hex) // 2, 'byte')}{problem}{read}"
        return
    heard = [part for part in conversation if isinstance(part, Heard) and part.line == verdict.line]
    if any(part.event in _OF_SILENCE for part in heard):
        yield "came", _silence(verdict.foul)


def _silence(foul: Foul) -> str:
    """Return what came of a seat before it said nothing, or too little."""
    if foul.ending is Ending.STRANGER:
        return "a hello whose `token` is not the content of REFEREE_TOKEN"
    if foul.ending is Ending.SILENT:
        return "its hello, which was read; only `ready`, the answer to `offer`, did not come"
    return "nothing in this time" if foul.cause == Cause.TIMEOUT else "nothing"


def compact_json(value: Any) -> str:
    """Return a value as JSON on one line, what is not printable escaped."""
    return printable_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
