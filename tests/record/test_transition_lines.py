"""Lines of transitions in one pass: their bytes are those of the plain line with its fields hidden one by one."""

import hashlib
from collections.abc import Sequence
from itertools import islice, repeat
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from referee.match import commands as c
from referee.match import events as e
from referee.match.timekeeper import Standstill
from referee.record.schema import read_line
from referee.record.writer import encode_transition, new_salts

from ..match.folding import moved
from .forging import SALT, ZEROS, line_bytes
from .records import STORIES, standstills_of, tell
from .test_schema import COMMANDS, EVENTS, FOUL

EVIDENCE = e.ProgramExited(seat=0, at_ms=1.0, status="exit status 1", ending=e.Ending.SPEECHLESS)
TABLE: tuple[tuple[e.Event, Sequence[c.Command]], ...] = (
    *((event, ()) for event in EVENTS),
    (moved(0, 1, None, 2.0), [c.TellSeat(seat=0, turn=1, what={}, draws=None, ack=None, limit_ms=None)]),
    (moved(0, 1, {"hidden": "0", "\u2028": [1.5, -(2**63), 2**64 - 1]}, 2.0), [command for command, _ in COMMANDS]),
    (EVIDENCE, [c.ExpelSeat(seat=0, foul=FOUL), c.ExpelSeat(seat=1, foul=FOUL)]),
)


def line_in_one_pass(event: e.Event, commands: Sequence[c.Command], standstills: Sequence[Standstill]) -> bytes:
    """Return the line that begins a chain."""
    core, opened = encode_transition(event, commands, standstills, repeat(SALT))
    line = b'{"n":1,"prev":"%s",%s' % (ZEROS.encode(), core)
    return line + (b',"open":{%s}}' % opened if opened else b"}")


def line_by_hand(event: e.Event, commands: Sequence[c.Command], standstills: Sequence[Standstill]) -> bytes:
    """Return the same line, made with the forger's tools."""
    stalled: dict[str, Any] = {"standstills": [list(standstill) for standstill in standstills]} if standstills else {}
    views = [getattr(command, "view", None) for command in commands]
    digests = [{} if view is None else {"view": hashlib.sha256(view).hexdigest()} for view in views]
    follows = [
        msgspec.to_builtins(replace(command, **digest)) for command, digest in zip(commands, digests, strict=True)
    ]
    happened = msgspec.to_builtins(event)
    return line_bytes(
        {"n": 1, "prev": ZEROS, "kind": "step", "event": happened, **stalled, "commands": follows}
    ).rstrip(b"\n")


@pytest.mark.parametrize(("event", "commands"), TABLE)
@pytest.mark.parametrize("standstills", [(), ((0.0, 7.625), (8.0, 1e9))])
def test_one_pass_gives_the_bytes_of_the_plain_line(
    event: e.Event, commands: Sequence[c.Command], standstills: Sequence[Standstill]
) -> None:
    """All events and commands are tried; null and missing values are not hidden, values that look hidden are."""
    line = line_in_one_pass(event, commands, standstills)
    assert line == line_by_hand(event, commands, standstills)
    assert not read_line(line).is_redacted


@pytest.mark.parametrize("name", STORIES)
def test_so_do_all_steps_of_whole_matches(name: str) -> None:
    """In whole matches, each line in one pass equals the plain line."""
    for event, commands in tell(name).steps:
        told = (event, commands, standstills_of(event))
        assert line_in_one_pass(*told) == line_by_hand(*told)


def test_no_two_salts_are_the_same() -> None:
    """Many salts are drawn at once, and each is used once; two writers share none."""
    drawn = [salt for salts in (new_salts(), new_salts()) for salt in islice(salts, 100)]
    assert len({*drawn}) == 200
    assert {len(salt) for salt in drawn} == {32}
