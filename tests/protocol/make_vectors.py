"""Make protocol/vectors.json from the tables: `python -m tests.protocol.make_vectors`.

Knows the form of the file. Refuses to know any example: those are in tables.py.
"""

import json
from pathlib import Path
from typing import Any

import protocol

from .tables import BAD_FRAMES, EXAMPLES, framed, packed

PATH = Path(protocol.__file__).parent / "vectors.json"
_LONGEST_BYTES = 2000
"""Longer frames are made by the tests alone."""


def vectors() -> list[dict[str, Any]]:
    """Return every vector: good ones with their message, bad ones with their code."""
    good = [
        {"name": name, "from": str(sender), "message": message, "hex": framed(packed(message)).hex()}
        for name, sender, message in EXAMPLES
    ]
    bad = [
        {"name": name, "from": str(sender), "hex": data.hex(), "code": str(code)}
        for name, sender, data, code in BAD_FRAMES
        if len(data) <= _LONGEST_BYTES
    ]
    return good + bad


def text() -> str:
    """Return the file's text: one vector a line."""
    return "[\n" + ",\n".join(json.dumps(vector) for vector in vectors()) + "\n]\n"


if __name__ == "__main__":
    PATH.write_text(text())
