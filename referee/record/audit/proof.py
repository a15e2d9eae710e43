"""Proves a record by writing it anew: whoever folds its events and comes to the same bytes has checked all its lines.

What is not proven is not refuted: then audit.py reads and compares piece by piece, and names what does not hold.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Raw

from ...match.machine import Match
from ..hidden_fields import HASH_PREFIX, OPEN, Salt
from ..reader import Chain, Record, is_sealed, lines_in, opened_file
from ..schema import (
    FIRST_PREV,
    BadLine,
    Header,
    PlainLine,
    RecordedStep,
    ResultLine,
    SealLine,
    line_hash,
    linked_core,
    read_line,
    typed,
    with_open,
)
from ..writer import step_line

_BEFORE_OPEN = b',"%s":' % OPEN.encode()
_HASHED = re.compile(re.escape(HASH_PREFIX) + rb'"[0-9a-f]{64}"}')
"""What stands in place of a hidden value."""
_entries = msgspec.json.Decoder(dict[str, tuple[Salt, Raw]])
_steps = msgspec.json.Decoder(RecordedStep)


def prove(path: Path, open_match: Callable[[Record], Match | None]) -> tuple[Record, Match] | None:
    """Read a record, and fold its match, if it is one that is finished and holds.

    Args:
        path: the record.
        open_match: builds the match, before its first event, of a record that has no steps yet.

    Returns:
        Both; None if the bytes are not those that the referee would have written, or nobody can tell.
    """
    try:
        with opened_file(path) as file:
            return _proven(path, list(lines_in(path, file)), open_match)
    except Exception:  # noqa: BLE001  # whoever looks closer meets it again, and says what it is
        return None


def _proven(path: Path, lines: Sequence[bytes], open_match: Callable[[Record], Match | None]) -> tuple[Record, Match]:
    if not lines[-1].endswith(b"\n"):
        raise BadLine("torn")
    numbers = 0, len(lines) - 2, len(lines) - 1
    ends = [read_line(lines[number][:-1]) for number in numbers]
    header, result, seal = map(typed, ends)
    if not (isinstance(header, Header) and isinstance(result, ResultLine) and isinstance(seal, SealLine)):
        raise BadLine("not what begins and ends a record")
    steps = _Steps(lines[1:-2], ends[0].hash)
    hashes = (*steps.hashes, ends[1].hash, ends[2].hash)
    links = list(zip(numbers, (FIRST_PREV, *hashes[-3:-1]), strict=True))
    if [(end.n, end.prev) for end in (header, result, seal)] != links or not is_sealed(header.key, seal):
        raise BadLine("not chained, or not sealed")
    data = b"".join(lines)
    chain = Chain(path, hashes, len(data), b"", hashlib.sha256(data).hexdigest(), partial(_read, data))
    record = Record(path, header, (), result, seal, chain)
    match = open_match(record)
    assert match is not None, "a result tells the seed"
    return replace(record, steps=steps.folded(match)), match


def _read(data: bytes) -> tuple[PlainLine, ...]:
    return tuple(map(read_line, data[:-1].split(b"\n")))


class _Steps:
    """The lines between the header and the result, which are chained.

    Each thing is done for all of them before the next is: in the processor's caches, there is room for one at a time.

    Args:
        lines: with their line feeds.
        prev: hash of the header.

    Raises:
        BadLine: they are not chained.
    """

    def __init__(self, lines: Sequence[bytes], prev: str) -> None:
        self._lines = lines
        self._parts: list[tuple[bytes, bytes]] = []
        """Core and, if anything is hidden in it, the key `open`."""
        self.hashes = [prev]
        """Of the header and the lines."""
        for number, data in enumerate(lines, 1):
            core, _, opened = data[:-1].partition(_BEFORE_OPEN)
            core += b"}" if opened else b""
            if not core.startswith(linked_core(number, self.hashes[-1], b"")[:-1]):
                raise BadLine("not chained")
            self._parts.append((core, opened[:-1]))
            self.hashes.append(line_hash(core))

    def folded(self, match: Match) -> tuple[RecordedStep, ...]:
        """Fold the events, and write the lines anew.

        Args:
            match: before its first event.

        Raises:
            BadLine: a line is not what was written anew.
            Exception: a line is none, or its event can't happen.
        """
        steps, salts = zip(*(_opened(*parts) for parts in self._parts), strict=True)
        followed = [match.handle(step.event) for step in steps]
        msgspec.msgpack.encode(([step.event for step in steps], followed))  # fails for integers of over 64 bits
        _ = [step.forms for step in steps]  # fails for commands that are none
        told = [
            step_line(step.event, commands, step.standstills, iter(own))
            for step, commands, own in zip(steps, followed, salts, strict=True)
        ]
        for number, (fields, opened) in enumerate(told):
            core = linked_core(number + 1, self.hashes[number], fields)
            if core != self._parts[number][0] or with_open(core, opened) + b"\n" != self._lines[number]:
                raise BadLine("not what follows")
        return steps


def _opened(core: bytes, opened: bytes) -> tuple[RecordedStep, list[str]]:
    """Return a step, its values put in their places one after the other, and their salts.

    What is misplaced gives another line when that is written anew.
    """
    if not opened:
        return _steps.decode(core), []
    entries = _entries.decode(opened).values()
    values = iter(entries)
    filled = _HASHED.sub(lambda _: bytes(next(values)[1]), core)
    return _steps.decode(filled), [salt for salt, _ in entries]
