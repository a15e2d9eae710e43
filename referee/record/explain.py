"""Explains a match to one seat: the messages that it got, its answers with their times, and the rule that it broke.

The input is a redacted record (redacted_record.py), so the explanation can't show secrets of other seats.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ..games.base import Rule
from ..match.events import Stage
from ..match.fouls import Foul
from ..match.setup import SeedOpens
from .folder import Printed
from .schema import PlainLine

PREFIX_BYTES = 4
_SAID = (
    *("offer-match", "ask-nonce", "start-seat", "resume-seat", "ask-move"),
    *("extend-limit", "tell-seat", "expel-seat", "end-seat"),
)
_ANSWER_OF = {"offer-match": "a ready", "ask-nonce": "the nonce", "ask-move": "a move"}
"""Command -> the answer that it asks for. All other commands with a limit ask for an ack."""
_OVERSIZE = "oversize"
_NO_JSON = (_OVERSIZE, "not-msgpack")
"""Codes of fouls whose bytes are often JSON or text that the player sent by mistake instead of msgpack."""
_ANSWERS = ("ready-received", "nonce-received", "move-received", "ack-received")


class Said(Struct, kw_only=True, tag_field="is", tag="said"):
    """A message of the referee to the seat."""

    line: int
    """The `n` of the record's line."""
    at_ms: float
    command: str
    """Name of the command: `ask-move`, `tell-seat`..."""
    content: dict[str, Any]
    """Fields of the command, with the view itself in place of its digest."""


class Heard(Struct, kw_only=True, tag_field="is", tag="heard"):
    """An event of the seat, with the times that belong to it."""

    line: int
    at_ms: float
    event: str
    content: dict[str, Any]
    """Fields of the event: the bytes or values that the seat sent, or what happened to it."""
    limit_ms: float | None = None
    """Limit of the open request; None if no request was open."""
    referee_ms: float | None = None
    """Time in which the referee was not listening. The player is not charged for it."""
    program_ms: float | None = None
    """Time from the request to the first byte of the answer: computing, and transport both ways."""
    wire_ms: float | None = None
    """Time from the first to the last byte of the answer."""
    used_ms: float | None = None
    """Time charged to the player: program and wire together."""


class Evidence(Struct, kw_only=True):
    """Offending bytes, or the part of an answer that had arrived at its deadline."""

    hex: str
    decoded: Any
    """Value of the bytes, decoded as msgpack, JSON or text; None if that is impossible."""
    problem: str | None
    """What is wrong with the bytes; None if they are a whole value in the expected encoding."""


class ExplainedFoul(Struct, kw_only=True):
    """The seat's foul."""

    line: int
    foul: Foul
    rule: Rule | None
    """The broken rule of the game; None if the foul concerns no such rule."""
    evidence: Evidence | None
    expected: str | None = None
    """Answer that the seat owed when it fouled, with its limit; None if it owed none, or broke a rule of the game."""


class KnownResult(Struct, kw_only=True):
    """Fields of a result that every seat may know."""

    winners: tuple[int, ...]
    ranking: tuple[tuple[int, ...], ...]
    scores: tuple[int, ...]
    reason: str | None
    void: str | None
    turns: int
    used_ms: tuple[float, ...]


class Explanation(Struct, kw_only=True):
    """Everything that one seat may know about its match."""

    match: str
    game: str
    names: list[str]
    seat: int
    head: str
    """Hash of the record's last line, to identify the record."""
    conversation: list[Said | Heard]
    """All messages to the seat and all events of the seat, in order."""
    verdict: ExplainedFoul | None
    """The seat's foul; None if it did not foul."""
    result: KnownResult
    seed_opens: SeedOpens
    """When the players are sent the seed."""
    printed: Printed | None = None
    """The end of the output of the seat's program, if the referee started it and the file is still there."""


def explain(
    lines: Sequence[PlainLine], seat: int, rules: Mapping[str, Rule], printed: Printed | None = None
) -> Explanation:
    """Explain a match to one seat.

    Args:
        lines: lines of a record redacted for this seat.
        seat: number of the seat.
        rules: rules of the game, by id.
        printed: end of the output of the seat's program.
    """
    setup = lines[0].fields["setup"]
    conversation: list[Said | Heard] = []
    verdict = None
    limit_ms: float | None = None
    expected = None
    for number, line in enumerate(lines):
        if line.fields["kind"] != "step":
            continue
        event = line.fields["event"]
        if event.get("seat") == seat:
            conversation.append(describe_event(number, event, limit_ms))
            expected = _describe_request(conversation, event, limit_ms)
            limit_ms = None
        for said in _list_said(number, line, seat):
            conversation.append(said)
            limit_ms = limit_ms if said.content.get("limit_ms") is None else said.content["limit_ms"]
            if said.command == "expel-seat":
                verdict = _explain_foul(said, rules, expected)
    result = next(line.fields["result"] for line in lines if line.fields["kind"] == "result")
    return Explanation(
        match=setup["match"],
        game=setup["game"],
        names=setup["names"],
        seat=seat,
        head=lines[-1].hash,
        conversation=conversation,
        verdict=verdict,
        result=msgspec.convert(result, KnownResult),
        seed_opens=setup["seed_opens"],
        printed=printed,
    )


def _list_said(number: int, line: PlainLine, seat: int) -> list[Said]:
    messages = []
    for index, command in enumerate(line.fields["commands"]):
        if command["command"] not in _SAID or command.get("seat") != seat:
            continue
        content = {key: value for key, value in command.items() if key not in ("command", "seat")}
        if "view" in content:
            content["view"] = line.shown.get(f"commands.{index}.view")
        at_ms = line.fields["event"]["at_ms"]
        messages.append(Said(line=number, at_ms=at_ms, command=command["command"], content=content))
    return messages


def describe_event(number: int, event: dict[str, Any], limit_ms: float | None) -> Heard:
    """Describe one event of a seat, with the times that belong to it.

    Args:
        number: number of the event's line in the record.
        event: the event.
        limit_ms: limit of the open request; None if no request was open.
    """
    timing = ("event", "seat", "at_ms", "sent_ms", "first_byte_ms", "lag_ms")
    content = {key: value for key, value in event.items() if key not in timing}
    heard = Heard(line=number, at_ms=event["at_ms"], event=event["event"], content=content)
    if "sent_ms" in event:
        heard.limit_ms = limit_ms
        heard.referee_ms = event["lag_ms"]
        heard.used_ms = round(event["at_ms"] - event["sent_ms"] - event["lag_ms"], 3) + 0.0  # no -0.0
    if event["event"] in _ANSWERS:
        heard.wire_ms = round(event["at_ms"] - event["first_byte_ms"], 3)
        heard.program_ms = round((heard.used_ms or 0.0) - heard.wire_ms, 3) + 0.0
    return heard


def _describe_request(
    conversation: Sequence[Said | Heard], event: dict[str, Any], limit_ms: float | None
) -> str | None:
    """Describe the answer that the seat owed when an event happened; None if no request was open."""
    if limit_ms is None:
        return None
    requests = (entry for entry in reversed(conversation) if isinstance(entry, Said) and entry.content.get("limit_ms"))
    open_request = next((request for request in requests if request.command != "extend-limit"), None)
    if open_request is None:  # a limit without a request: the record was not written by this referee
        return None
    is_greeted = event["event"] != "seat-vacant" and event.get("stage") != Stage.NEW
    key = "turn" if open_request.command == "ask-move" else "ack"
    number = "" if open_request.content.get(key) is None else f" with `{key}` {open_request.content[key]}"
    answer = f"{_ANSWER_OF.get(open_request.command, 'an ack')}{number}" if is_greeted else "a hello and then a ready"
    return f"{answer}, within {limit_ms / 1000:g} s"


def _explain_foul(said: Said, rules: Mapping[str, Rule], expected: str | None) -> ExplainedFoul:
    foul = msgspec.convert(said.content["foul"], Foul)
    rule = rules.get(foul.rule or "")
    evidence = decode_evidence(foul.evidence, foul.code) if foul.evidence else None
    return ExplainedFoul(line=said.line, foul=foul, rule=rule, evidence=evidence, expected=None if rule else expected)


def decode_evidence(text: str, code: str | None) -> Evidence:
    """Decode offending bytes, given in hex. They may be a whole frame, or only its body."""
    data = bytes.fromhex(text)
    announced = int.from_bytes(data[:PREFIX_BYTES], "big")
    problem = ""
    if code in _NO_JSON and (value := _decode_json(data) or _decode_json(data[PREFIX_BYTES:])) is not None:
        return Evidence(hex=text, decoded=value, problem="JSON, where msgpack is due")
    if code in _NO_JSON and (words := _decode_text(data)):
        return Evidence(hex=text, decoded=words, problem="text, where msgpack is due")
    is_prefixed = code == _OVERSIZE or data[:1] == b"\0"
    if len(data) >= PREFIX_BYTES and is_prefixed and announced > len(data) - PREFIX_BYTES:
        problem = f"the frame announces {announced} bytes, and {len(data) - PREFIX_BYTES} of them are here"
    cut = problem or None
    with contextlib.suppress(ValueError, RecursionError):  # each single ASCII byte is also valid msgpack
        if len(data) > 1:
            return Evidence(hex=text, decoded=msgspec.json.decode(data), problem=None)
    is_prefixed = is_prefixed or announced == len(data) - PREFIX_BYTES
    for body in (data, data[PREFIX_BYTES:]) if is_prefixed else (data,):
        try:
            return Evidence(hex=text, decoded=msgspec.to_builtins(msgspec.msgpack.decode(body)), problem=cut)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError, ValueError) as error:
            problem = problem or str(error) or type(error).__name__
    return Evidence(hex=text, decoded=None, problem=problem)


def _decode_text(data: bytes) -> str:
    """Decode bytes as printable text; return "" if they are something else."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ""
    return text if len(text) > 1 and all(sign.isprintable() or sign.isspace() for sign in text) else ""


def _decode_json(data: bytes) -> Any:
    """Decode bytes as a JSON object or list; return None if they are something else."""
    try:
        value = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None
