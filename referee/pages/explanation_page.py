"""Makes the data for the pages of an explained match: the answers with their times, and all messages of a turn."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

_SHOWN_CHARS = 300
"""Most characters of an answer to show in the table of all answers."""
_PARTS = (("referee_ms", "elsewhere"), ("program_ms", "program"), ("wire_ms", "wire"))


class AnswerRow(Struct, frozen=True, kw_only=True):
    """An answer of a seat, or another event of the seat, such as a passed deadline."""

    turn: int | None
    """Turn of the answer, or the last turn that the seat heard of; None before the first."""
    what: str
    answer: str
    """The answer in JSON; a long answer is cut off."""
    words: str
    """The answer in words, if it is a move; else empty."""
    times: Mapping[str, float | None]
    """Name of a time -> milliseconds."""
    shares: Sequence[tuple[str, float, float]]
    """Bars: kind of time, start and length in percent of the limit."""


class Spoken(Struct, frozen=True, kw_only=True):
    """A message to the seat or from the seat."""

    is_answer: bool
    what: str
    at_ms: float
    facts: Sequence[tuple[str, str]]
    """Pairs: name of a field, and its value in JSON."""


def list_answers(conversation: Sequence[Mapping[str, Any]], describe: Callable[[Any], str]) -> Iterator[AnswerRow]:
    """Yield the answers and other events of a seat.

    Args:
        conversation: conversation of an explanation, in plain data.
        describe: returns a plain move in words.
    """
    turn = None
    for part in conversation:
        content = part["content"]
        turn = content.get("turn", turn)
        if "event" in part:
            answer = content.get("move", {key: value for key, value in content.items() if value})
            yield AnswerRow(
                turn=turn,
                what=_words(part["event"].removesuffix("-received")),
                answer=_json(answer)[:_SHOWN_CHARS],
                words=describe(content["move"]) if "move" in content else "",
                times={name: part.get(f"{name}_ms") for name in ("referee", "program", "wire", "used", "limit")},
                shares=list(_shares(part)),
            )


def list_messages(conversation: Sequence[Mapping[str, Any]], turn: int) -> Iterator[Spoken]:
    """Yield the messages of a turn.

    Args:
        conversation: conversation of an explanation, in plain data.
        turn: number of the turn.
    """
    for part in conversation:
        content = part["content"]
        if content.get("foul", content).get("turn") == turn:
            yield Spoken(
                is_answer="event" in part,
                what=_words(part.get("event") or part["command"]),
                at_ms=part["at_ms"],
                facts=list(_facts(content)),
            )


def _facts(content: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in content.items():
        if isinstance(value, dict) and not before:
            yield from _facts(value, f"{name}.")
        elif value is not None:
            yield before + name, _json(value)


def _shares(part: Mapping[str, Any]) -> Iterator[tuple[str, float, float]]:
    limit, begins = part.get("limit_ms") or 0.0, 0.0
    for key, kind in _PARTS if limit else ():
        share = min(100 * (part.get(key) or 0.0) / limit, 100 - begins)
        yield kind, begins, share
        begins += share


def _words(name: str) -> str:
    return name.replace("-", " ")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
