"""The limits of a launched program, the time that it may take to end, and the kernel's limits of a process."""

# Control groups (control_groups.py) limit a whole program, if the machine has them. The limits that are set here with
# prlimit hold for each single process. On a machine without control groups, there are no others.

import os
import resource
import shutil
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from ..files.tree import MIB
from ..settings import DEFAULT_MEMORY_MIB

PATIENCE_S = 2.0
"""Time in which a program can end by itself after its match; it may still print something."""
GRACE_S = 0.5
"""Time between SIGTERM and SIGKILL to a process group."""
CLEAR_S = 5.0
"""Time in which killed processes must disappear; the kernel has to free the memory of large ones first."""


class ProgramLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of one launched program, including all processes that it starts."""

    memory_mib: int = DEFAULT_MEMORY_MIB
    """Memory of all its processes and of its /tmp."""
    processes: int = 64
    """Number of processes and threads. Java needs about thirty, and Node.js about a dozen; DOMjudge also allows 64."""
    cpu_s: int = 3600
    """CPU time of each process. It is longer than any match, and ends processes that would run for ever."""
    file_mib: int = 64
    """Maximum size of a file."""
    tmp_mib: int = 64
    """Size of /tmp, and of the home folder, in a sandbox. Both are in memory, and control groups count them as such."""
    open_files: int = 256
    """Number of open files. A player needs one connection and the files that it reads; Java opens its own archives."""


BUILD_LIMITS = ProgramLimits(memory_mib=2048, processes=256, cpu_s=600, file_mib=512, tmp_mib=512, open_files=1024)
"""Limits of a build. Compilers need more than the programs that they make, and no match is played at that time."""


def find_prlimit() -> str | None:
    """Return the path of the program that sets a process's limits; None if it is not installed."""
    return find_program("prlimit")


def find_program(name: str) -> str | None:
    """Return the path of a program in PATH; None if there is none. The result is cached."""
    return _which(name, os.environ.get("PATH"))


@cache
def _which(name: str, path: str | None) -> str | None:
    return shutil.which(name, path=path)


def forbid_dumps(argv: Sequence[str]) -> list[str]:
    """Return a command line with which neither the program nor its children leave a core dump after a crash."""
    program = find_prlimit()
    return [*argv] if program is None else [program, f"--core={_core_bytes()}", "--", *argv]


def _core_bytes() -> int:
    """Return the limit of core dumps.

    With 0, the kernel would still pass dumps to the machine's own program for them, which it starts as root, outside of
    all control groups. With 1 it does not. If the limit is already 0, it can't be raised.
    """
    return min(1, resource.getrlimit(resource.RLIMIT_CORE)[1] % (1 << 64))


def limit_process(
    argv: Sequence[str], limits: ProgramLimits, *, holds_memory: bool, counts_processes: bool
) -> list[str]:
    """Return a command line that sets the limits of a process and then becomes the program.

    Args:
        argv: the program.
        limits: the limits to set.
        holds_memory: True if memory must be limited here, for each process, because there is no control group.
        counts_processes: True if the number of processes must be limited here. The kernel counts the processes of a
            user in a user namespace, so this limit works only inside a sandbox.
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
        # This limits the data segment and not the address space, of which Node.js and Java reserve gigabytes.
        settings.append(f"--data={limits.memory_mib * MIB}")
    if counts_processes:
        settings.append(f"--nproc={limits.processes}")
    return [program, *settings, "--", *argv]
