"""Make protocol/record_vectors.json, for programs that verify records: `python -m tests.record.make_vectors`.

Knows the examples and the form of the file.
"""

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import protocol
from referee.record.hidden_fields import hide
from referee.record.key import RECORD_PURPOSE, Sealer
from referee.record.schema import encode_line, read_line

PATH = Path(protocol.__file__).parent / "record_vectors.json"
SALT = "fedcba9876543210fedcba9876543210"
PREV = "0" * 64
NUMBERS = (
    *(0.0, -0.0, 1.0, 6000.0, 0.25, -1.5, 0.1, 0.001, 1e-5, 1.5e-5, 9.999e-6, 1e-6, 1e-7, 1.25e-7, 5e-324),
    *(
        123456.789,
        1e15,
        9007199254740993.0,
        9999999999999998.0,
        1e16,
        1.5e16,
        1e17,
        1e20,
        1e21,
        1e22,
        1.7976931348623157e308,
    ),
)
TEXTS = ("", "ada", 'a "b" \\ /', "\b\t\n\f\r", "\x00\x1f\x7f", "\u00e9\u2028\ud7ff\U0001f600")
HIDDEN: tuple[Any, ...] = (
    "7902",
    6000.0,
    [],
    ["red-star", "blue-8star"],
    {"action": "place", "tiles": [[-1, 0, "red-star"]]},
    "ab" * 32,
)
VIEWS: tuple[Any, ...] = (
    {
        "seat": 0,
        "hand": ["red-star"] * 6,
        "scores": [0, 1000],
        "order": [1, 0],
        "tiles_left": 1067,
        "map": [[0, -1, "red-star"]],
    },
    [-1, -32, -33, -128, -129, -32768, -32769, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**53 - 1],
    ["a" * 31, "b" * 32, "c" * 255, "d" * 256, list(range(15)), list(range(16)), {str(n): n for n in range(16)}],
    [None, True, False, {}, []],
)
STEP: dict[str, Any] = {
    "n": 5,
    "prev": PREV,
    "kind": "step",
    "event": {"event": "move-received", "at_ms": 2.5, "seat": 0, "move": {"action": "pass", "open": [","]}},
    "commands": [{"command": "tell-seat", "seat": 0, "draws": []}, {"command": "tell-seat", "seat": 1, "draws": None}],
}
REFUSED = {
    '{"n": 0}': "a space",
    '{"n":0}\n': "a line feed",
    '{"n":0,"n":0}': "a key twice",
    '{"n":00}': "a leading zero",
    '{"n":18446744073709551616}': "an integer of more than 64 bits",
    '{"n":-9223372036854775809}': "an integer of more than 64 bits",
    '{"n":-0}': "an integer with a sign that it does not need",
    '{"n":1.50}': "a digit too much",
    '{"n":100.0e1}': "an exponent where there is none",
    '{"n":10000000000000000.0}': "no exponent where there is one",
    '{"n":1e+16}': "a plus",
    '{"n":1E16}': "a capital E",
    '{"n":0.000001}': "no exponent where there is one",
    '{"n":1e999}': "a number that is no double",
    '{"n":"\\u0041"}': "an escape that is not needed",
    '{"n":"\\/"}': "an escape that is not needed",
    '{"n":"\\u001F"}': "a capital digit in an escape",
    '{"n":"\\u000a"}': "the long escape of a line feed",
    '{"n":"\\ud800"}': "a lone surrogate",
    '{"n":0,}': "a comma too much",
    '{"n":0,"open":{}}': "open, with nothing in it",
    '{"n":{"hidden":"00"},"open":{"n":["00",0]}}': "a salt of another length",
    '{"n":1,"open":{"n":["fedcba9876543210fedcba9876543210",1]}}': "an entry of what is not hidden",
    "[0]": "no object",
}


def records() -> dict[str, Any]:
    """Return all vectors by their sections."""
    return {
        "numbers": [{"bits": struct.pack(">d", number).hex(), "text": encoded(number)} for number in NUMBERS],
        "texts": [{"value": text, "text": encoded(text)} for text in TEXTS],
        "hidden": [{"salt": SALT, "value": encoded(value), "hash": _hash(value)} for value in HIDDEN],
        "views": [{"view": view, "digest": hashlib.sha256(msgspec.msgpack.encode(view)).hexdigest()} for view in VIEWS],
        "lines": [_line(STEP), _line({"n": 0, "prev": PREV, "kind": "seal", "signature": "00" * 64})],
        "seals": [_seal(bytes(range(32)), hashlib.sha256(b"").hexdigest())],
        "refused": [{"line": line, "why": why} for line, why in REFUSED.items()],
    }


def encoded(value: Any) -> str:
    """Return a value as it stands in a line."""
    return msgspec.json.encode(value).decode()


def _hash(value: Any) -> str:
    return hashlib.sha256((SALT + encoded(value)).encode()).hexdigest()


def _line(fields: dict[str, Any]) -> dict[str, str]:
    """Return the vector of a line; its salts are the same each time."""
    core: dict[str, Any] = msgspec.json.decode(encoded(fields))
    opened = {path: [SALT, value] for path, (_, value) in hide(msgspec.json.decode(encoded(fields))).items()}
    for path, (_, value) in opened.items():
        holder: Any = core
        *way, last = path.split(".")
        for key in way:
            holder = holder[int(key) if isinstance(holder, list) else key]
        holder[last] = {"hidden": _hash(value)}
    line, digest = encode_line(core, opened)
    assert read_line(line).hash == digest
    return {"line": line.decode(), "core": encoded(core), "hash": digest}


def _seal(key: bytes, prev: str) -> dict[str, str]:
    sealer = Sealer(Ed25519PrivateKey.from_private_bytes(key))
    return {"key": sealer.public, "prev": prev, "signature": sealer.sign(RECORD_PURPOSE, prev)}


def text() -> str:
    """Return the file: a vector a line."""
    sections = [
        f'"{name}": [\n' + ",\n".join(json.dumps(vector) for vector in vectors) + "\n]"
        for name, vectors in records().items()
    ]
    return "{\n" + ",\n".join(sections) + "\n}\n"


if __name__ == "__main__":
    PATH.write_text(text())
