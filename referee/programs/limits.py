"""How much of the machine a launched program may use, and the kernel's limits of each of its processes.

Control groups (control_groups.py) hold whole programs, where the machine has them.
"""

import os
import resource
import shutil
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from ..files.tree import MIB

MEMORY_MIB = (64, 1 << 20)
"""Least and most that an organiser can allow: an interpreter starts in the one, and no machine has the other."""


class ProgramLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one launched program may use, everything that it starts included."""

    memory_mib: int = 512
    """Node.js and Java start in less than 100 MiB; four players must fit into a small machine beside the referee."""
    processes: int = 64
    """Threads count, too: Java takes about thirty, Node.js about a dozen. DOMjudge allows 64 as well."""
    cpu_s: int = 3600
    """For each process. Longer than any match lasts: it ends what would spin for ever."""
    file_mib: int = 64
    """Of one file."""
    tmp_mib: int = 64
    """Of /tmp, and of the home folder, in a sandbox; both are memory, and count as such where groups are enforced."""
    open_files: int = 256
    """A player needs one connection and the files that it reads; Java opens its own archives besides."""


BUILD_LIMITS = ProgramLimits(memory_mib=2048, processes=256, cpu_s=600, file_mib=512, tmp_mib=512, open_files=1024)
"""Compilers take more than what they make; no match is being played meanwhile."""


def limiter() -> str | None:
    """Return the path of the program that sets a process's limits, or None if the machine has none."""
    return found_program("prlimit")


def found_program(name: str) -> str | None:
    """Return the path of a program that stands where PATH says, and stays there; None if the machine has none."""
    return _found(name, os.environ.get("PATH"))


@cache
def _found(name: str, path: str | None) -> str | None:
    return shutil.which(name, path=path)


def without_dumps(argv: Sequence[str]) -> list[str]:
    """Return a command line that lets no crash of a program, nor of what it starts, leave a core dump."""
    program = limiter()
    return [*argv] if program is None else [program, f"--core={_core_bytes()}", "--", *argv]


def _core_bytes() -> int:
    """Return the limit of core dumps.

    With 0, the kernel would still hand dumps to the program that most machines have for them, and start that as root at
    every crash, outside of all control groups. With 1 it does not. A limit that is 0 already can't be raised.
    """
    return min(1, resource.getrlimit(resource.RLIMIT_CORE)[1] % (1 << 64))


def limited(argv: Sequence[str], limits: ProgramLimits, *, holds_memory: bool, counts_processes: bool) -> list[str]:
    """Return a command line that sets the limits of a process, then becomes the program.

    Args:
        argv: the program.
        limits: what to allow.
        holds_memory: whether the memory must be limited here, for want of a group: for each process by itself.
        counts_processes: whether the processes must be. They are counted for each user in a user namespace, so that
            this holds inside a sandbox alone.
    """
    program = limiter()
    if program is None:
        return list(argv)
    settings = [
        f"--core={_core_bytes()}",
        f"--cpu={limits.cpu_s}",
        f"--fsize={limits.file_mib * MIB}",
        f"--nofile={limits.open_files}",
    ]
    if holds_memory:
        # the data segment, not the address space: Node.js and Java reserve gigabytes of the latter and use little
        settings.append(f"--data={limits.memory_mib * MIB}")
    if counts_processes:
        settings.append(f"--nproc={limits.processes}")
    return [program, *settings, "--", *argv]
