"""Changes plain values and texts at random; both still have most of the structure that a reader looks for.

They work for any kind of file.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from random import Random
from typing import Any

Keys = tuple[str | int, ...]
DEEP = 200
"""Levels of a nested value; many more in a text, which a parser refuses."""
INTEGERS = (-(2**63), -1, 0, 1, 2, 13, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, -(10**30))
FLOATS = (-1.0, -0.0, 0.0001, 0.5, 1.25, 1e15, 1e16, 1e22, 1e300, -1e300, 5e-324)
TEXTS = (
    *("", " ", "x", "0", "None", "NaN", "q", "quincy", "e1", "cup", "cup-00001", "swiss", "..", "../x", "/", "a/b"),
    *("\0", "a\0b", "\x1b[2J\x1b[31m", "\r\n", "\u202e", "\ufeff", "\U0010ffff", "%s%n", "{0}", "[/]", "<script>"),
    *("00", "c1", "7b7d", "ff" * 40, "0" * 63, "0" * 64, "A" * 64, "\u0660" * 64, "0" * 128, "x" * 3000, "9" * 5000),
    *("2026-01-01T00:00:00.000+00:00", "0001-01-01T00:00:00+23:59", "house:greedy", "cmd:true", "remote", "expel-seat"),
)
ODD: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None], {"": None}, {"hidden": "00"}, {"hidden": 7})
NUMBERS = ("1e400", "-1e400", "NaN", "nan", "inf", "Infinity", "1e2", "1.50", "01", "-0", "0x10", "9" * 400, "9" * 5000)
"""Numbers as a text has them: some are invalid, or have another form."""
SIGNS = (
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\n",
    b'"',
    b"[",
    b"{",
    b"\x1b[2J",
    b"\\ud800",
    b" ",
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_TEXT = re.compile(rb'"[^"\n\\]*"')


def paths(value: Any, keys: Keys = ()) -> Iterator[Keys]:
    """Yield the way to every value inside a plain value."""
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*keys, key)
        yield from paths(inner, (*keys, key))


def found_at(value: Any, keys: Keys) -> Any:
    """Return what stands at a place of a plain value."""
    for key in keys:
        value = value[key]
    return value


def nested(value: Any, levels: int = DEEP) -> Any:
    """Return a value inside that many lists and objects."""
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def odd_value(random: Random, value: Any) -> Any:
    """Return a replacement for a value, mostly of its own type."""
    if isinstance(value, bool) or random.random() < 0.25:
        return deepcopy(random.choice(ODD))
    if isinstance(value, int | float) and random.random() < 0.7:
        near = [value + 1, value - 1, -value, float(value), int(value) if abs(value) < 2**60 else 0]
        return random.choice([*near, *INTEGERS, *INTEGERS, *FLOATS])
    if isinstance(value, str) and random.random() < 0.7:
        return random.choice([*TEXTS, value + "x", value[1:], value.upper(), value + "\n", value * 2])
    return random.choice([*INTEGERS, *FLOATS, *TEXTS, nested(value)])


def mutated(random: Random, value: Any, among: Sequence[Keys] | None = None) -> tuple[Any, Keys]:
    """Change one place of a plain value.

    Args:
        random: decides where and how.
        value: an object or a list that is not empty.
        among: the places; None: any.

    Returns:
        The new value, and the place.
    """
    copy = deepcopy(value)
    keys = random.choice(list(paths(value)) if among is None else among)
    holder, last = found_at(copy, keys[:-1]), keys[-1]
    old = holder[last]
    match random.randrange(12):
        case 0:
            del holder[last]
        case 1 if isinstance(holder, dict):
            holder[random.choice([*TEXTS, f"{last}x"])] = holder.pop(last)
        case 1:
            holder.insert(int(last), deepcopy(old))
        case 2 if isinstance(old, list):
            old.reverse()
        case 2 if isinstance(holder, dict):
            holder[random.choice(["x", "seat", "open", "kind", "at_ms"])] = odd_value(random, old)
        case 3 if isinstance(old, list):
            old.extend(deepcopy(old) or [0])
        case 3:
            other = random.choice(list(paths(value)))
            holder[last] = deepcopy(found_at(value, other))
        case 4 if isinstance(holder, dict):
            holder[last] = holder.pop(last)  # the order of the keys is another one
        case _:
            holder[last] = odd_value(random, old)
    return copy, keys


# --- texts


def _replaced(random: Random, data: bytes, pattern: "re.Pattern[bytes]", new: bytes) -> bytes:
    places = list(pattern.finditer(data))
    if not places:
        return new + data
    place = random.choice(places)
    return data[: place.start()] + new + data[place.end() :]


def number_changed(random: Random, data: bytes) -> bytes:
    """Write a number in another form, or an invalid one."""
    return _replaced(random, data, _NUMBER, random.choice(NUMBERS).encode())


def text_changed(random: Random, data: bytes) -> bytes:
    """Change a text in quotation marks."""
    inner = random.choice([*SIGNS, b"\\u0000", b"\\u001b[31m", b"\\udfff", b"\\u0041", b"\\/", b"x" * 100_000])
    return _replaced(random, data, _TEXT, b'"' + inner + b'"')


def sign_put_in(random: Random, data: bytes) -> bytes:
    """Insert bytes anywhere, or overwrite others."""
    at, sign = random.randrange(len(data) + 1), random.choice(SIGNS)
    return data[:at] + sign + data[at + random.choice([0, len(sign)]) :]


def cut(random: Random, data: bytes) -> bytes:
    """Cut the end off, or a piece out."""
    begin = random.randrange(len(data) + 1)
    end = random.choice([len(data), random.randrange(begin, len(data) + 1)])
    return data[:begin] + data[end:]


def lines_moved(random: Random, data: bytes) -> bytes:
    """Double, swap or leave out lines."""
    lines = data.splitlines(keepends=True) or [b"\n"]
    one, two = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(3):
        case 0:
            lines.insert(one, lines[two])
        case 1:
            lines[one], lines[two] = lines[two], lines[one]
        case 2:
            del lines[one]
    return b"".join(lines)


def written_otherwise(random: Random, data: bytes) -> bytes:
    """Write the whole file in the form of other programs."""
    return random.choice([b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), data + b"\n", data + b"\0" * 100, b""])


def nested_in_text(random: Random, data: bytes) -> bytes:
    """Put brackets in that are nested deeply."""
    levels = random.choice([50, 600, 5000])
    opening, closing = random.choice([(b"[", b"]"), (b'{"a":', b"}"), (b"{a=", b"}")])
    return _replaced(random, data, _NUMBER, opening * levels + b"1" + closing * levels)


def byte_changed(random: Random, data: bytes) -> bytes:
    """Change one or a few bytes."""
    changed = bytearray(data or b"\0")
    for _ in range(random.choice([1, 1, 1, 4, 30])):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


WAYS: tuple[Callable[[Random, bytes], bytes], ...] = (
    *(number_changed, number_changed, text_changed, text_changed, sign_put_in, cut, lines_moved),
    *(written_otherwise, nested_in_text, byte_changed, byte_changed),
)
"""Ways to change a text."""


def mutated_text(random: Random, data: bytes) -> bytes:
    """Change a text in one way, or in two."""
    for _ in range(random.choice([1, 1, 2])):
        data = random.choice(WAYS)(random, data)
    return data
