"""Refuses a program's lone file, with the commands that make a player's folder of it."""

import json
import re
import shlex
from pathlib import PurePath

from ...programs.player_spec import RUNNERS
from .entries import MANIFEST, BadArchive, shown

_KITS = {".c": "c", ".go": "go", ".rs": "rust"}
"""Ending of a file that has to be built -> the language of `referee new`."""
_PLAIN = re.compile(r"\w[\w.-]*", re.ASCII)
_NAME_CHARS = 20
_DEFAULT_NAME = "player"


def is_text(data: bytes) -> bool:
    """Tell whether data may be a program's source."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return "\0" not in text


def refuse_lone_file(path: str) -> BadArchive:
    """Return what to say of a lone file, with the commands that make a player of it.

    Args:
        path: of the file, as its author calls it; empty: it has no name.
    """
    file = PurePath(path or "FILE")
    name = re.sub(r"[^A-Za-z0-9_-]", "", file.stem).lstrip("_-")[:_NAME_CHARS] or _DEFAULT_NAME
    if name == file.name:  # a folder can't have the name of a file next to it
        name = f"{name[: _NAME_CHARS - 1]}1"
    what = f"{shown(path) or 'this'} is a lone file, and a player is a folder with a {MANIFEST}"
    if kit := _KITS.get(file.suffix.lower()):
        return BadArchive(what, f"make one with `referee new {kit} {name}`, put your code into it, and hand in {name}")
    inside = next(filter(_PLAIN.fullmatch, (file.name, f"{_DEFAULT_NAME}{file.suffix}")), _DEFAULT_NAME)
    run = f"{RUNNERS.get(file.suffix.lower(), 'COMMAND')} {inside}"
    source = shlex.quote(f"./{path}" if path.startswith("-") else str(file))
    lines = shlex.join([f"name = {json.dumps(name)}", f"run = {json.dumps(run)}"])
    commands = f"mkdir {name} && cp {source} {name}/{inside}", f"printf '%s\\n' {lines} > {name}/{MANIFEST}"
    return BadArchive(what, "\n  ".join([f"make one, and hand in {name}:", *commands]))
