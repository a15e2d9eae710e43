"""What a launched program may use of the machine, how long it may take to end, and the kernel's limits of a process."""

# Control groups (control_groups.py) hold a whole program, where the machine has them. The limits that are set here, by
# prlimit, hold each process by itself: they are what is left on a machine without control groups.

import os
import resource
import shutil
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from ..files.tree import MIB
from ..settings import DEFAULT_MEMORY_MIB

PATIENCE_S = 2.0
"""Time that a program has to end by itself once its match is over; it may have last words."""
GRACE_S = 0.5
"""Time between SIGTERM to a process group and SIGKILL."""
CLEAR_S = 5.0
"""Time that killed processes have to disappear; the kernel frees the memory of a large one first."""


class ProgramLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of one launched program, everything that it starts included."""

    memory_mib: int = DEFAULT_MEMORY_MIB
    """Memory of all its processes and its /tmp."""
    processes: int = 64
    """Threads count, too: Java takes about thirty, Node.js about a dozen. DOMjudge allows 64 as well."""
    cpu_s: int = 3600
    """CPU time of each process: longer than any match lasts, to end what would spin for ever."""
    file_mib: int = 64
    """Size of one file."""
    tmp_mib: int = 64
    """Size of /tmp and of the home folder in a sandbox, each. Both are memory, and count as such for control groups."""
    open_files: int = 256
    """A player needs one connection and the files that it reads; Java also opens its own archives."""


BUILD_LIMITS = ProgramLimits(memory_mib=2048, processes=256, cpu_s=600, file_mib=512, tmp_mib=512, open_files=1024)
"""Limits of a build: compilers use more than the programs that they make, and no match is played at that time."""


def find_prlimit() -> str | None:
    """Return the path of the program that sets a process's limits, or None if the machine has none."""
    return find_program("prlimit")


def find_program(name: str) -> str | None:
    """Return the path of a program of PATH, or None. It is looked up once: it does not move during a run."""
    return _which(name, os.environ.get("PATH"))


@cache
def _which(name: str, path: str | None) -> str | None:
    return shutil.which(name, path=path)


def forbid_dumps(argv: Sequence[str]) -> list[str]:
    """Return a command line in which no crash leaves a core dump, neither of the program nor of its children."""
    program = find_prlimit()
    return [*argv] if program is None else [program, f"--core={_core_bytes()}", "--", *argv]


def _core_bytes() -> int:
    """Return the limit of core dumps.

    With 0, the kernel would still hand dumps to the program that most machines have for them, and start that as root at
    every crash, outside of all control groups. With 1 it does not. A limit that is 0 already can't be raised.
    """
    return min(1, resource.getrlimit(resource.RLIMIT_CORE)[1] % (1 << 64))


def limit_process(
    argv: Sequence[str], limits: ProgramLimits, *, holds_memory: bool, counts_processes: bool
) -> list[str]:
    """Return a command line that sets the limits of a process, then becomes the program.

    Args:
        argv: the program.
        limits: the limits to set.
        holds_memory: whether memory must be limited here, process by process, for want of a control group.
        counts_processes: whether processes must be limited here. The kernel counts them for each user in a user
            namespace, so this limit holds inside a sandbox only.
    """
    program = find_prlimit()
    if program is None:
        return list(argv)
    settings = [
        f"--core={_core_bytes()}",
        f"--cpu={limits.cpu_s}",
        f"--fsize={limits.file_mib * MIB}",
        f"--nofile={limits.open_files}",
    ]
    if holds_memory:
        # The data segment, not the address space: Node.js and Java reserve gigabytes of the latter and use little.
        settings.append(f"--data={limits.memory_mib * MIB}")
    if counts_processes:
        settings.append(f"--nproc={limits.processes}")
    return [program, *settings, "--", *argv]
