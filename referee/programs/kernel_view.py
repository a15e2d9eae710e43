"""What of /proc a program in a sandbox is not shown: what the kernel counts there for the whole machine.

Such a number carries words: one program has it count, another reads it, if need be in a later match. What runtimes ask
for at their start is there all the same, and says the same at all times.

One file is hidden because all cores work for whoever reads it: sys/vm/stat_refresh.
"""

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_COUNTED = (
    *("buddyinfo", "diskstats", "fs", "interrupts", "key-users", "keys", "kpagecgroup", "kpagecount", "kpageflags"),
    *("pagetypeinfo", "pressure", "schedstat", "slabinfo", "softirqs", "sys/fs", "sys/kernel/pty"),
    *("sys/vm/stat_refresh", "timer_list", "uptime", "vmallocinfo", "vmstat", "zoneinfo"),
)
_NUMBER = re.compile(rb"(?<= )\d+")
_LOAD = b"0.00 0.00 0.00 1/1 1\n"
_KIB = 1024


@cache
def counted() -> tuple[str, ...]:
    """Return the files and folders that are not shown: those of this kernel that the referee's user could read."""
    return tuple(path for name in _COUNTED if os.access(path := f"/proc/{name}", os.R_OK))


@cache
def told() -> Mapping[str, bytes]:
    """Return what is shown in the place of files with such numbers: the processors and the memory that there are."""
    memory = b"".join(b"%s: %d kB\n" % (name, _memory_kib()) for name in (b"MemTotal", b"MemFree", b"MemAvailable"))
    processors = _NUMBER.sub(b"0", Path("/proc/stat").read_bytes())
    return {"/proc/loadavg": _LOAD, "/proc/meminfo": memory, "/proc/stat": processors}


def _memory_kib() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _KIB
