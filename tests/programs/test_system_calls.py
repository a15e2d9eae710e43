"""The filter of system calls, seen by programs in a real sandbox."""

import errno
import importlib
import json
import operator
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyseccomp
import pytest

from referee.programs.file_view import FileView, own_runtime
from referee.programs.limits import ProgramLimits
from referee.programs.sandbox import Sandbox
from referee.programs.system_calls import BURDENS, REFUSALS, REFUSALS_OF_BUILDS, Refusal, system_call_filter

from ..needs import require_sandbox

CALLER = """
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, (*arguments, *[0] * (6 - len(arguments)))))
    return ctypes.get_errno()
print(json.dumps([call(*arguments) for arguments in json.loads(sys.argv[1])]))
"""
"""Program that makes the given calls, and prints the kernel's answers."""
OLD_INTERRUPT = """
import ctypes, mmap
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(bytes.fromhex("b814000000 cd80 c3"))
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))())
"""
"""Program that asks for its process id as a program of 32 bits would."""
SIGSYS_STATUS, SIGSEGV_STATUS = 128 + 31, 128 + 11
X32 = 0x40000000
MEANT: dict[str, Callable[[int], int]] = {"equal": int, "other": operator.invert, "above": lambda value: value + 24}
"""Kind of an argument -> such a value."""


def called(sandbox: Sandbox, *calls: tuple[int, ...]) -> "subprocess.CompletedProcess[str]":
    """Make calls in a sandbox."""
    return run_inside(sandbox, CALLER, json.dumps(calls))


def run_inside(sandbox: Sandbox, *script: str) -> "subprocess.CompletedProcess[str]":
    """Run a script in a sandbox, with arguments."""
    argv = [sys.executable, "-I", "-S", "-c", *script]
    view = FileView(where=Path("/tmp"), shown=own_runtime())
    with sandbox.wrap(argv, view, ProgramLimits()) as command:
        return subprocess.run(command.argv, pass_fds=command.pass_fds, capture_output=True, text=True, check=False)


def number_of(call: str | int) -> int:
    """Return a call's number on this machine; negative: this architecture has none."""
    number: int = call if isinstance(call, int) else pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, call)
    return number


def cases(refusal: Refusal) -> list[tuple[int, ...]]:
    """Return calls that must be refused."""
    arguments: list[tuple[int, ...]] = [()]
    if refusal.when:
        arguments = [(*[0] * bits.argument, MEANT[bits.how](bits.value)) for bits in refusal.when]
    numbers = [number for call in refusal.calls if (number := number_of(call)) >= 0]
    return [(number, *rest) for number in numbers for rest in arguments]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: str(refusal.calls[0]))
def test_calls_are_refused(refusal: Refusal) -> None:
    """Each call of the table fails with its error."""
    calls = cases(refusal)
    done = called(require_sandbox(), *calls)
    assert [refusal.error] * len(calls) == json.loads(done.stdout), done.stderr


def test_what_looks_alike_is_allowed() -> None:
    """The same calls with other arguments, and starting a process, which needs clone."""
    names = ("personality", "ioctl", "getpid", "fcntl", "socket", "madvise", "preadv2")
    personality, ioctl, getpid, fcntl, socket, madvise, preadv2 = (number_of(name) for name in names)
    msync, setsockopt, prctl = map(number_of, ("msync", "setsockopt", "prctl"))
    assert json.loads(called(require_sandbox(), (msync, 0, 0, 1), (setsockopt, -1, 1, 2), (prctl, 3)).stdout) == [
        *(0, errno.EBADF, 0)
    ]
    alike = [(personality, 0), (ioctl, 1, 0x541B, 1), (getpid,), (fcntl, 1, 1), (socket, 1, 1), (madvise, 0, 0, 4)]
    done = called(require_sandbox(), *alike, (preadv2, -1))
    assert json.loads(done.stdout) == [0, errno.EFAULT, 0, 0, 0, 0, errno.EBADF]


ASKED_FOR = """
import ctypes, json, mmap, os, resource
libc = ctypes.CDLL(None, use_errno=True)
file = os.open("/usr/bin/env", os.O_RDONLY)
mapped = mmap.mmap(file, 4096, prot=mmap.PROT_READ)
anywhere = os.sched_getaffinity(0)
os.sched_setaffinity(0, {min(anywhere)})
before = resource.getrlimit(resource.RLIMIT_CORE)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
try:
    terminal = bool(os.openpty())
except OSError:
    terminal = False
print(json.dumps({
    "synced": [os.sync(), os.fsync(file), os.fdatasync(file), mapped.flush(), libc.syncfs(file)],
    "range": libc.sync_file_range(file, ctypes.c_long(0), ctypes.c_long(0), 7),
    "moved": os.sched_getaffinity(0) != anywhere,
    "dumps": [before == resource.getrlimit(resource.RLIMIT_CORE), before],
    "terminal": terminal,
    "statistics": os.access("/proc/sys/vm/stat_refresh", os.R_OK) and bool(os.stat("/proc/sys/vm/stat_refresh").st_ino)
        and not os.path.samefile("/proc/sys/vm/stat_refresh", "/dev/null"),
}))
"""
"""Program with harmless uses of calls that would make the kernel work outside of its group."""


def test_nothing_burdens_others_and_nobody_crashes_over_it() -> None:
    """Syncing succeeds at once, cores stay, and there are neither terminals nor core dumps."""
    highest = resource.getrlimit(resource.RLIMIT_CORE)[1]
    done = run_inside(require_sandbox(), ASKED_FOR)
    assert json.loads(done.stdout) == {
        "synced": [None, None, None, None, 0],
        "range": 0,
        "moved": False,
        "dumps": [True, [min(1, highest % (1 << 64))] * 2],
        "terminal": False,
        "statistics": False,
    }, done.stderr


def test_builds_burden_nobody_either() -> None:
    """A build may lock files, but can't make the kernel work outside of its group either."""
    assert set(BURDENS) <= set(REFUSALS_OF_BUILDS)
    assert "flock" not in {call for refusal in REFUSALS_OF_BUILDS for call in refusal.calls}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the other numbering is one of x86-64")
def test_other_architectures_are_killed() -> None:
    """Any call number of x32 ends the process."""
    assert called(require_sandbox(), (X32 | number_of("getpid"),)).returncode == SIGSYS_STATUS


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the other way in is one of x86-64")
def test_the_way_in_of_32_bits_is_closed() -> None:
    """A call by the old interrupt ends the process, if the kernel knows it at all."""
    assert run_inside(require_sandbox(), OLD_INTERRUPT).returncode in {SIGSYS_STATUS, SIGSEGV_STATUS}


def test_every_refusal_has_a_reason() -> None:
    """No case is in the table twice."""
    refused = [(call, when) for refusal in REFUSALS for call in refusal.calls for when in refusal.when or (None,)]
    assert len(refused) == len(set(refused))
    assert all(refusal.why for refusal in REFUSALS)


@pytest.mark.parametrize(
    ("trouble", "complaint"),
    [
        (RuntimeError("Unable to find libseccomp"), "Unable to find libseccomp; install libseccomp"),
        (OSError(errno.EINVAL, "Invalid argument"), "libseccomp can't refuse add_key"),
    ],
)
def test_without_the_library(monkeypatch: pytest.MonkeyPatch, trouble: Exception, complaint: str) -> None:
    """The sandbox works without a filter, and says what is missing."""

    def _fails(*_: Any) -> Any:
        raise trouble

    system_call_filter.cache_clear()
    if isinstance(trouble, OSError):
        monkeypatch.setattr(pyseccomp.SyscallFilter, "add_rule", _fails)
    else:
        monkeypatch.setattr("referee.programs.system_calls.import_module", _fails)
    sandbox = require_sandbox()
    assert not sandbox.is_filtered
    assert complaint in str(sandbox.lacks)
    assert json.loads(called(sandbox, (number_of("keyctl"), 0, -3)).stdout) == [0]
    monkeypatch.undo()
    assert importlib.import_module("pyseccomp") is pyseccomp
    assert require_sandbox().lacks is None
