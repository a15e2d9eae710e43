"""Finds out why the kernel cannot run an executable file; its own message is often only "no such file"."""

import os
import shutil
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

_BOM = b"\xef\xbb\xbf"
_ELF = b"\x7fELF"
_KIND = slice(4, 6)
"""Bytes of an ELF file that give the width of its numbers and the order of their bytes."""
_MACHINE = slice(18, 20)
_FOREIGN = {b"MZ": "Windows", b"\xcf\xfa\xed\xfe": "macOS", b"\xca\xfe\xba\xbe": "macOS or Java"}
"""First bytes of a program -> the system that it is built for."""
_READ_BYTES = 4096
_LINE_BYTES = 256
"""Number of bytes of a script's first line that the kernel reads."""
_PT_INTERP = 3
_UNIX_LINES = "save it with Unix line ends: sed -i 's/\\r$//' FILE"


def find_obstacle(program: Path) -> str | None:
    """Return why a file can't be run on this machine, and what to do; None if it can be run.

    Args:
        program: an existing file with the executable bit.

    Raises:
        OSError: it can't be read.
    """
    with program.open("rb") as file:
        head = file.read(_READ_BYTES)
    if head.startswith((_BOM + b"#!", b"\xff\xfe#\0", b"\xfe\xff\0#")):
        return "it begins with a byte order mark, so its first line names no interpreter; save it as UTF-8 without one"
    if head.startswith(b"#!"):
        return _obstacle_of_script(head[:_LINE_BYTES].split(b"\n", 1)[0], program.parent)
    if head.startswith(_ELF) and len(head) >= _MACHINE.stop:
        return _obstacle_of_elf(head)
    system = next((system for magic, system in _FOREIGN.items() if head.startswith(magic)), None)
    return None if system is None else f"it is a program for {system}; build it on a machine like this one"


def _obstacle_of_script(line: bytes, folder: Path) -> str | None:
    if line.endswith(b"\r"):
        return f"its first line ends as in Windows, so the interpreter's name has a carriage return; {_UNIX_LINES}"
    words = os.fsdecode(line[2:]).split()
    if not words:
        return "its first line names no interpreter; write, for instance, #!/usr/bin/env python3"
    named = f"its first line names the interpreter {words[0]}, which is"
    interpreter = folder / words[0]
    if not interpreter.is_file():
        remedy = f"; PATH has {other}" if (other := shutil.which(interpreter.name)) else ""
        return f"{named} a folder" if interpreter.is_dir() else f"{named} not there; install or change it{remedy}"
    if not os.access(interpreter, os.X_OK):
        return f"{named} not executable"
    return _obstacle_of_env(words[1:]) if interpreter.name == "env" else None


def _obstacle_of_env(words: Sequence[str]) -> str | None:
    named = next((word for word in words if not word.startswith("-") and "=" not in word), None)
    if named is None or shutil.which(named):
        return None
    return f"its first line asks env for the interpreter {named}, which PATH does not have; install or change it"


def _obstacle_of_elf(head: bytes) -> str | None:
    with Path(sys.executable).open("rb") as file:
        running = file.read(_MACHINE.stop)
    if running[: len(_ELF)] == _ELF and (running[_KIND], running[_MACHINE]) != (head[_KIND], head[_MACHINE]):
        return "it is built for another architecture than this machine's; build it here, or name a `build`"
    loader = _find_loader(head)
    if loader is None or Path(loader).exists():
        return None
    return f"it needs the loader {loader}, which is not there; build it on this system, or link it statically"


def _find_loader(head: bytes) -> str | None:
    """Return the loader of a program of 64 bits; None if it needs none, or if this can't be found out."""
    if head[_KIND] != b"\x02\x01":
        return None
    try:
        (table,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        for number in range(count):
            kind, _, start, _, _, length = struct.unpack_from("<IIQQQQ", head, table + number * size)
            if kind == _PT_INTERP:
                return os.fsdecode(head[start : start + length].rstrip(b"\0")) or None
    except struct.error:  # the file is cut off, or its table is beyond the bytes that were read
        return None
    return None
