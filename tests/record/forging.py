"""The forger's tools: change any value, hidden or not; repair the chain or not; keep, drop or renew the seal.

They use only plain JSON, SHA-256 and Ed25519, and not the product's own writer, as a forger would.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from referee.plugins import load
from referee.record.audit.match import audit
from referee.record.reader import Record, RecordError

ZEROS = "0" * 64
SALT = "5a" * 16
"""Salt of fields that were not hidden before."""
FORGER = Ed25519PrivateKey.from_private_bytes(b"f" * 32)
FORGERS_KEY = FORGER.public_key().public_bytes_raw().hex()
Line = dict[str, Any]
"""A line with every hidden value in its place; `open` has the salts by path."""
Keys = Sequence[str | int]
REGISTRY = load()

_FOULS = r"(?:commands\.\d+\.foul|(?:commands\.\d+\.)?result\.fouls\.\d+)\.(?:detail|evidence)"
_HIDDEN = {
    "header": re.compile(r"seed|programs|setup\.position"),
    "step": re.compile(rf"event\.(?:move|frame|pending|evidence|status)|commands\.\d+\.(?:view|draws)|{_FOULS}"),
    "result": re.compile(rf"seed|{_FOULS}"),
}
_WITH_DETAIL = ("protocol-broken", "seat-vacant", "connection-lost")
"""Kind of a line -> the paths that are hidden in it, together with the detail of these events."""


# --- lines


def lines_of(data: bytes) -> list[Line]:
    """Return the lines of a record, with every hidden value in its place."""
    return [opened(json.loads(line)) for line in data.splitlines()]


def opened(core: Line) -> Line:
    """Put the hidden values of a line in their places, and keep the salts."""
    entries = core.pop("open", {})
    for path, (_salt, value) in entries.items():
        _set(core, path, value)
    return {**core, "open": {path: salt for path, (salt, _value) in entries.items()}}


def line_bytes(line: Line) -> bytes:
    """Return the bytes of a line, without its line feed."""
    core, entries = hidden(line)
    return encoded({**core, "open": entries} if entries else core)


def hidden(line: Line) -> tuple[Line, dict[str, list[Any]]]:
    """Return the core of a line, and the values behind its hashes."""
    body = {key: value for key, value in line.items() if key not in ("n", "prev")}
    core, entries = json.loads(_hidden(encoded(body)))
    return {key: core.get(key, value) for key, value in line.items() if key != "open"}, entries


@lru_cache(10_000)
def _hidden(body: bytes) -> bytes:
    core = json.loads(body)
    salts, entries = core.pop("open", {}), {}
    hidden = [(path, value) for path, value in _paths(core) if value is not None and is_hidden(core, path)]
    for path, value in sorted(hidden, key=lambda item: "." in item[0]):
        entries[path] = [salts.get(path, SALT), value]
        _set(core, path, {"hidden": digest(entries[path][0].encode() + encoded(value))})
    return encoded([core, entries])


def is_hidden(core: Line, path: str) -> bool:
    """Return whether the value at a path of a line is hidden."""
    pattern = _HIDDEN.get(str(core.get("kind")))
    is_broken = path == "event.detail" and core["event"].get("event") in _WITH_DETAIL
    return pattern is not None and (is_broken or pattern.fullmatch(path) is not None)


def leaves(value: Any, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Yield every value inside a plain value, with the keys that lead to it."""
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*keys, key), inner
        yield from leaves(inner, (*keys, key))


def _paths(core: Line) -> Iterator[tuple[str, Any]]:
    for keys, value in leaves(core):
        yield ".".join(map(str, keys)), value


def _set(line: Line, path: str, value: Any) -> None:
    *way, last = path.split(".")
    inner: Any = line
    for key in way:
        inner = inner[int(key)] if isinstance(inner, list) else inner[key]
    inner[last] = value


def encoded(value: Any) -> bytes:
    """Return a plain value as JSON."""
    return msgspec.json.encode(value)


def digest(data: bytes) -> str:
    """Return a SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


def hash_of(line: Line) -> str:
    """Return the `prev` of the next line: the hash of the core."""
    return digest(encoded(hidden(line)[0]))


def said(data: bytes) -> list[Line]:
    """Return the content of a record's lines without random values and their consequences."""
    drawn = {"prev", "open", "locked_seed", "signature"}
    return [{key: value for key, value in line.items() if key not in drawn} for line in lines_of(data)]


# --- forgeries


def changed(lines: Sequence[Line], number: int, keys: Keys, value: Any) -> list[Line]:
    """Return the lines with one value in one of them replaced."""
    copy = deepcopy(lines[number])
    inner: Any = copy
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return [*lines[:number], copy, *lines[number + 1 :]]


def unchained(lines: Sequence[Line]) -> bytes:
    """Return lines with hidden values hashed again, but with the old numbers, chain and seal."""
    return b"".join(line_bytes(line) + b"\n" for line in lines)


def chained(lines: Sequence[Line]) -> bytes:
    """Number lines again, and chain each to the one before; an old seal stays."""
    return unchained(linked(lines))


def linked(lines: Sequence[Line]) -> list[Line]:
    """Return lines with new numbers and hashes."""
    mended: list[Line] = []
    for number, line in enumerate(lines):
        mended.append({**line, "n": number, "prev": hash_of(mended[-1]) if mended else ZEROS})
    return mended


def unsealed(lines: Sequence[Line]) -> bytes:
    """Chain lines again, and drop the seal."""
    return chained([line for line in lines if line["kind"] != "seal"])


def sealed(lines: Sequence[Line]) -> bytes:
    """Put the forger's key into the header, chain lines again, and sign a seal at the end with that key."""
    named = [{**line, "key": FORGERS_KEY} if line["kind"] == "header" else line for line in lines]
    mended = linked(named)
    if mended and mended[-1]["kind"] == "seal":
        mended[-1]["signature"] = signature_of(mended[-1]["prev"])
    return unchained(mended)


def signature_of(prev: str) -> str:
    """Return the forger's signature under the line of a hash."""
    return FORGER.sign(f"referee record 1\n{prev}".encode()).hex()


# --- damage at random


def byte_changed(source: Random, data: bytes) -> bytes:
    """Change one byte."""
    place_of = source.randrange(len(data))
    new = source.choice([byte for byte in range(256) if byte != data[place_of]])
    return data[:place_of] + bytes([new]) + data[place_of + 1 :]


def line_left_out(source: Random, data: bytes) -> bytes:
    """Leave a line out."""
    lines = data.splitlines(keepends=True)
    del lines[source.randrange(len(lines))]
    return b"".join(lines)


def line_doubled(source: Random, data: bytes) -> bytes:
    """Repeat a line anywhere."""
    lines = data.splitlines(keepends=True)
    lines.insert(source.randrange(len(lines) + 1), source.choice(lines))
    return b"".join(lines)


def lines_swapped(source: Random, data: bytes) -> bytes:
    """Swap two lines."""
    lines = data.splitlines(keepends=True)
    one, two = source.sample(range(len(lines)), 2)
    lines[one], lines[two] = lines[two], lines[one]
    return b"".join(lines)


WAYS = (byte_changed, line_left_out, line_doubled, lines_swapped)
"""The damages; each returns another record."""


# --- verdicts


def audited(path: Path, data: bytes, *, is_strict: bool = True, keys: Sequence[str] = ()) -> Record:
    """Audit a file of these bytes."""
    path.write_bytes(data)
    return audit(path, REGISTRY.game, keys=keys, is_strict=is_strict, find_wire=REGISTRY.wire)


def is_accepted(path: Path, data: bytes, *, is_strict: bool = True) -> bool:
    """Return whether a file of these bytes passes for a record; a RecordError is the only other outcome."""
    try:
        audited(path, data, is_strict=is_strict)
    except RecordError:
        return False
    return True


def refused(path: Path, data: bytes, *, is_strict: bool = True, keys: Sequence[str] = ()) -> RecordError:
    """Return the error for a file of these bytes."""
    with pytest.raises(RecordError) as caught:
        audited(path, data, is_strict=is_strict, keys=keys)
    error = caught.value
    assert path == error.path
    assert {type(error.expected), type(error.found)} == {str}
    assert str(error) == f"{path}, line {error.line}: expected {error.expected}; found {error.found}"
    return error
