"""Changes of one file of a folder: as a text, or of a value in its JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

from .values import mutated, mutated_text

Change = Callable[[Path, Random], str]


def texts_of(*names: str) -> Change:
    """Return what changes one of these files as a text."""

    def _change(folder: Path, random: Random) -> str:
        path = folder / random.choice(names)
        path.write_bytes(mutated_text(random, path.read_bytes()))
        return path.name

    return _change


def _parts(data: bytes) -> list[bytes]:
    """Return a file of JSON as it is, or its lines, if each of them is JSON of its own."""
    lines = data.splitlines()
    return lines if all(line.startswith(b"{") and line.endswith(b"}") for line in lines) else [data]


def json_of(*patterns: str) -> Change:
    """Return a function that changes one of the files with these patterns as a text, or a value in one of its lines."""

    def _change(folder: Path, random: Random) -> str:
        path = random.choice([path for pattern in patterns for path in sorted(folder.glob(pattern))])
        if random.random() < 0.4:
            return texts_of(str(path.relative_to(folder)))(folder, random)
        parts = _parts(path.read_bytes())
        number = random.randrange(len(parts))
        content, keys = mutated(random, json.loads(parts[number]))
        parts[number] = json.dumps(content).encode()
        path.write_bytes(b"\n".join(parts) + b"\n")
        return f"{path.name}: {'.'.join(map(str, (number, *keys)))}"

    return _change
