"""The system calls that are refused to a program in a sandbox, each with the reason; and the filter that refuses them.

The table has three parts. DANGERS could lead out of the sandbox. BURDENS make the kernel work for a program in its own
threads and interrupts, which no control group counts. This time would be missing for other players, and they would be
expelled (`python -m tests.benchmarks burdens` measures it). CHANNELS could carry messages from one program to another.
A build may use the channels: compilers lock files, and a build knows nothing about a match.
"""

# Libseccomp compiles the table into a program for this machine's kernel, and bubblewrap loads it. sandbox.py describes
# the rest of the sandbox, and the attacker.
#
# Why a list of refused calls, and not of allowed ones? Players are written in any language, and each runtime uses other
# calls, and new ones with each version. A list of allowed calls would break harmless players. The price is that a
# dangerous call that is missing in the table is allowed until somebody adds it.
#
# The answer to a refused call also matters. It does not end the program: the program gets the error of an older or
# smaller kernel, so that its runtime uses another call instead. If the call would have no visible effect, it even gets
# success. The only exception is a call of another architecture (32 bits on 64, x32), which ends the process: there the
# same numbers mean other calls, and no player needs them.

import errno
import os
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, Literal

from msgspec import Struct

from ..errors import RemediableError

ABSENT = errno.ENOSYS
"""Answer of a kernel that does not have the call. Runtimes then use another call."""
FORBIDDEN = errno.EPERM
"""Answer to a user without root's rights. Programs expect it from calls for administrators."""
UNKNOWN = errno.EAFNOSUPPORT
"""Answer of a kernel without the requested family of addresses."""
UNSUPPORTED = errno.EOPNOTSUPP
"""Answer of a file system that does not support the requested flags."""
INAPT = errno.ENOTTY
"""Answer for a file whose kind does not support the request."""
DONE = 0
"""Success, although nothing was done."""
OLD = errno.EINVAL
"""Answer of a kernel that does not know this form of the call."""
OPTIONLESS = errno.ENOPROTOOPT
"""Answer of a kernel without the requested socket option."""
_OLDEST = "2.5.2"
"""Oldest libseccomp that knows all calls that the table lists by name."""
_CLONE_FLAGS = {
    "CLONE_NEWNS": 0x00020000,
    "CLONE_NEWCGROUP": 0x02000000,
    "CLONE_NEWUTS": 0x04000000,
    "CLONE_NEWIPC": 0x08000000,
    "CLONE_NEWUSER": 0x10000000,
    "CLONE_NEWPID": 0x20000000,
    "CLONE_NEWNET": 0x40000000,
}
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_LOCKS = (*range(5, 8), *range(12, 15), *range(36, 39))
"""Commands of fcntl that read locks, set them or wait for them: classic, 64-bit, and for open file descriptions."""
_NOTICES = (1024, 1026, 1036, 1038, 1040)
"""Commands of fcntl that attach state to a file: F_SETLEASE, F_NOTIFY, F_SET_RW_HINT, F_SET_FILE_RW_HINT, F_SETDELEG.
"""
_FILE_SYSTEMS = (0x66, 0x58, 0x94)
"""Second byte of ioctl requests to file systems: ext4 and most others, XFS, Btrfs."""
_MADV_COLD, _MADV_PAGEOUT = 20, 21
_MADV_MERGEABLE, _MADV_COLLAPSE = 12, 25
_MS_SYNC = 4
_SECCOMP_SET_MODE_FILTER = 1
_PR_SET_SECCOMP, _PR_SCHED_CORE, _PR_SET_MEMORY_MERGE = 22, 62, 67
_SOCKET_FILTERS = (26, 50, 51, 52)
"""Options of sockets that load a filter: SO_ATTACH_FILTER, _BPF, _REUSEPORT_CBPF, _REUSEPORT_EBPF."""
_RLIMIT_CORE = 4
_AF_UNIX = 1
_INT = 0xFFFFFFFF


class NoFilterError(RemediableError):
    """A filter can't be made on this machine."""


class Bits(Struct, frozen=True):
    """A condition on one argument of a call: the bits that a mask selects equal a value."""

    argument: int
    mask: int
    value: int
    how: Literal["equal", "other", "above"] = "equal"
    """`other` means that the argument differs from the value, and `above` that it is larger. Both ignore the mask."""


class Refusal(Struct, frozen=True):
    """Calls that are refused for one reason."""

    calls: tuple[str | int, ...]
    """Names, or numbers of calls that libseccomp may not know yet: new calls have the same number everywhere."""
    error: int
    """The kernel's answer to the program."""
    why: str
    when: tuple[Bits, ...] = ()
    """The call is refused if any of these conditions holds; if there are none, it is always refused."""
    also: Bits | None = None
    """Further condition that must hold if the call is to be refused; None if there is none."""


DANGERS = (
    Refusal(
        ("add_key", "request_key", "keyctl"),
        ABSENT,
        "keyrings belong to the user: what one match leaves there, the next one and the other seats can read",
    ),
    Refusal(
        ("io_uring_setup", "io_uring_enter", "io_uring_register"),
        ABSENT,
        "it makes other calls without this filter, and has had the most holes; runtimes use epoll instead",
    ),
    Refusal(("clone3",), ABSENT, "its flags are in memory, which a filter can't read; libraries use clone instead"),
    Refusal(
        ("clone",),
        FORBIDDEN,
        "in its own namespace it would be root, and could reach most holes of the kernel",
        tuple(Bits(0, flag, flag) for flag in _CLONE_FLAGS.values()),
    ),
    Refusal(("unshare", "setns"), FORBIDDEN, "the same reason as for clone"),
    Refusal(
        ("bpf", "perf_event_open", "userfaultfd"),
        ABSENT,
        "they load programs into the kernel, count what others do, or stop the kernel in the middle of a call",
    ),
    Refusal(
        ("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"),
        FORBIDDEN,
        "they are a debugger's tools, and can control other processes, even the sandbox's first one",
    ),
    Refusal(
        ("mount", "umount2", "pivot_root", "chroot"),
        FORBIDDEN,
        "only the sandbox may decide which files are visible",
    ),
    Refusal(
        (
            *("open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"),
            467,  # open_tree_attr
        ),
        ABSENT,
        "they are newer forms of mount",
    ),
    Refusal(
        ("name_to_handle_at", "open_by_handle_at"),
        FORBIDDEN,
        "they open files by number, even outside of the visible folders",
    ),
    Refusal(
        (
            *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot"),
            *("swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "vhangup"),
            *("settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname"),
            *("iopl", "ioperm", "lookup_dcookie", "nfsservctl"),
        ),
        FORBIDDEN,
        "they are for administrators; a program without rights can't use them anyway",
    ),
    Refusal(
        ("personality",),
        FORBIDDEN,
        "emulating other systems uses the kernel's oldest code; to ask for the present mode is refused, too",
        (Bits(0, _INT, 0, how="other"),),
    ),
    Refusal(
        ("ioctl",),
        FORBIDDEN,
        "these two type into the organiser's terminal",
        (Bits(1, _INT, _TIOCSTI), Bits(1, _INT, _TIOCLINUX)),
    ),
)
"""Calls that could lead out of the sandbox, or do harm to the machine."""

BURDENS = (
    Refusal(
        ("sync", "syncfs", "fsync", "fdatasync", "sync_file_range", "sync_file_range2"),
        DONE,
        "the kernel's own threads do this work and wait for the disk; a program writes only into memory anyway",
    ),
    Refusal(("msync",), DONE, "the same as fsync, for a mapped file", (Bits(2, _MS_SYNC, _MS_SYNC),)),
    Refusal(("io_setup", "io_submit"), ABSENT, "they can put fsync into a queue"),
    Refusal(
        ("sched_setaffinity",),
        DONE,
        "a thread with the highest priority moves a process that changes cores",
    ),
    Refusal(
        ("move_pages", "migrate_pages", "mbind"),
        ABSENT,
        "to move pages between memory nodes, the kernel interrupts all cores; most machines have only one node",
    ),
    Refusal(
        ("memfd_secret",),
        ABSENT,
        "each of its pages is removed from the kernel's own map and added again, which interrupts all cores",
    ),
    Refusal(("modify_ldt",), ABSENT, "it interrupts the cores that others use; only 16-bit programs need it"),
    Refusal(
        ("madvise",),
        OLD,
        "the kernel's threads search for equal pages, and all cores must stop for a moment to make a large page",
        (Bits(2, _INT, _MADV_MERGEABLE), Bits(2, _INT, _MADV_COLLAPSE)),
    ),
    Refusal(
        ("seccomp",),
        OLD,
        "when such a process ends, a thread of the kernel removes its filter",
        (Bits(0, _INT, _SECCOMP_SET_MODE_FILTER),),
    ),
    Refusal(
        ("prctl",),
        OLD,
        "the same as seccomp; the same as madvise, for all memory; the last one keeps others off half of a core",
        (Bits(0, _INT, _PR_SET_SECCOMP), Bits(0, _INT, _PR_SET_MEMORY_MERGE), Bits(0, _INT, _PR_SCHED_CORE)),
    ),
    Refusal(
        ("setsockopt",),
        OPTIONLESS,
        "when the filter is replaced, a thread of the kernel removes the old one, as for seccomp",
        tuple(Bits(2, _INT, option) for option in _SOCKET_FILTERS),
    ),
    Refusal(
        ("setrlimit",),
        DONE,
        "with any limit but one byte, a crash starts the machine's own program for dumps, as root",
        (Bits(0, _INT, _RLIMIT_CORE),),
    ),
    Refusal(
        ("prlimit64",),
        DONE,
        "the same as setrlimit; to ask for the limit is allowed",
        (Bits(1, _INT, _RLIMIT_CORE),),
        also=Bits(2, (1 << 64) - 1, 0, how="other"),
    ),
)
"""Calls that make the kernel work for a program without counting the work in its control group."""

CHANNELS = (
    Refusal(
        ("flock",),
        ABSENT,
        "all programs can see a lock on a file that they can read, such as one in /usr: one bit for each file",
    ),
    Refusal(
        ("fcntl",),
        FORBIDDEN,
        "the same as flock, for each byte of /dev/null; others can also see leases, notices and hints of a file",
        tuple(Bits(1, _INT, command) for command in (*_LOCKS, *_NOTICES)),
    ),
    Refusal(
        ("inotify_init", "inotify_init1", "inotify_add_watch", "fanotify_init", "fanotify_mark"),
        ABSENT,
        "they show when another program opens a file",
    ),
    Refusal(
        ("mincore", "fadvise64", "readahead", "process_madvise", 451),  # cachestat
        ABSENT,
        "they show which parts of a file are in memory, since others have read them, or drop them from memory",
    ),
    Refusal(
        ("preadv2",),
        UNSUPPORTED,
        "with RWF_NOWAIT, it shows which parts of a file are in memory; with RWF_DONTCACHE, it drops them",
        (Bits(5, _INT, 0, how="above"),),
    ),
    Refusal(
        ("madvise",),
        OLD,
        "these two drop pages of files from memory",
        (Bits(2, _INT, _MADV_COLD), Bits(2, _INT, _MADV_PAGEOUT)),
    ),
    Refusal(
        ("ioctl",),
        INAPT,
        "file systems store and show earlier requests for a file, even for a read-only file",
        tuple(Bits(1, 0xFF00, kind << 8) for kind in _FILE_SYSTEMS),
    ),
    Refusal(
        ("statfs", "fstatfs", "ustat"),
        ABSENT,
        "they show how full the disk is, and the referee stores the output of programs there",
    ),
    Refusal(
        ("utimensat", "utime", "utimes", "futimesat"),
        DONE,
        "all programs see the same times of /dev/null; times of other files don't matter, as these end with the match",
    ),
    Refusal(
        (
            *("shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semtimedop", "semctl"),
            *("msgget", "msgsnd", "msgrcv", "msgctl"),
            *("mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr"),
        ),
        ABSENT,
        "each sandbox has its own objects, but the kernel counts them for the user, who is the same in all",
    ),
    Refusal(
        ("socket", "socketpair"),
        UNKNOWN,
        "all families except the local one lead out of the sandbox, or to state that all programs share",
        (Bits(0, _INT, _AF_UNIX, how="other"),),
    ),
)
"""Calls that could carry messages to another program, or to a later match, without the referee."""
REFUSALS_OF_BUILDS = (*DANGERS, *BURDENS)
REFUSALS = (*REFUSALS_OF_BUILDS, *CHANNELS)


@cache
def system_call_filter(refusals: tuple[Refusal, ...] = REFUSALS) -> bytes:
    """Return a filter as a program for the kernel of this machine.

    Args:
        refusals: the calls that it refuses.

    Raises:
        NoFilterError: libseccomp is not installed, or is too old.
    """
    try:
        library = import_module("pyseccomp")
    except (ImportError, RuntimeError, OSError) as error:
        remedy = "install libseccomp (Debian, Ubuntu: the package libseccomp2; Fedora, Arch: libseccomp)"
        raise NoFilterError(f"no filter of system calls: {error}", remedy) from None
    rules = library.SyscallFilter(library.ALLOW)
    rules.set_attr(library.Attr.ACT_BADARCH, library.KILL_PROCESS)
    for refusal in refusals:
        for call in refusal.calls:
            for condition in _conditions(library, refusal):
                try:
                    rules.add_rule(library.ERRNO(refusal.error), call, *condition)
                except OSError as error:
                    remedy = f"install libseccomp {_OLDEST} or newer"
                    raise NoFilterError(f"libseccomp can't refuse {call} ({error.strerror})", remedy) from None
    with open(os.memfd_create("filter"), "w+b") as file:  # noqa: PTH123  # a descriptor
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def _conditions(library: Any, refusal: Refusal) -> Iterator[tuple[Any, ...]]:
    """Yield the conditions of a rule, for each case in which the kernel must refuse a call."""
    also = () if refusal.also is None else (_condition(library, refusal.also),)
    if not refusal.when:
        yield also
    for bits in refusal.when:
        yield (_condition(library, bits), *also)


def _condition(library: Any, bits: Bits) -> Any:
    if bits.how == "equal":
        return library.Arg(bits.argument, library.MASKED_EQ, bits.mask, bits.value)
    return library.Arg(bits.argument, library.NE if bits.how == "other" else library.GT, bits.value)
