"""The list of system calls that a program in a sandbox is refused, each with the reason; and the filter made of it.

The table has three parts. DANGERS could lead out of the sandbox. BURDENS make the kernel work for a program in threads
and interrupts of its own, for which no control group is charged: the other players would miss that time, and would be
expelled for it (`python -m tests.benchmarks burdens` measures them). CHANNELS carry words from one program to another.
A build is allowed the channels: compilers lock files, and a build knows nothing of a match.
"""

# Libseccomp turns the table into a program for this machine's kernel, and bubblewrap has the kernel load it. The rest
# of the sandbox, and the enemy that it is built against, are in sandbox.py.
#
# Why a list of what is refused, and not of what is allowed: players are written in any language, and each runtime uses
# calls of its own, new ones with each version. A list of allowed calls would break players that did no harm. The price
# is that a dangerous call which is not in the table is allowed until somebody adds it.
#
# What a refused program sees matters as much. No answer ends it: it gets the error that it would get from an older or a
# smaller kernel, so that its runtime falls back on something else, or even success where the call would have had no
# visible effect. The one exception is a call of another architecture (32 bits on 64, x32), which ends the process:
# there the same numbers mean other calls, and no player needs them.

import errno
import os
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, Literal

from msgspec import Struct

from ..errors import RemediableError

ABSENT = errno.ENOSYS
"""Answer of a kernel without the call: a runtime that would like it falls back on something else."""
FORBIDDEN = errno.EPERM
"""Answer to a user without root's rights: programs expect it of the calls of administrators."""
UNKNOWN = errno.EAFNOSUPPORT
"""Answer of a kernel without that family of addresses."""
UNSUPPORTED = errno.EOPNOTSUPP
"""Answer of a file system that can't do it in that way."""
INAPT = errno.ENOTTY
"""Answer of a file that is not of the kind for such a request."""
DONE = 0
"""Success, though nothing was done."""
OLD = errno.EINVAL
"""Answer of a kernel that does not know that form of the call yet."""
OPTIONLESS = errno.ENOPROTOOPT
"""Answer of a kernel that was built without that option of sockets."""
_OLDEST = "2.5.2"
"""Oldest libseccomp that knows every call of the table that is given by its name."""
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
"""Commands of fcntl that read locks, set them and wait for them: classic, of 64 bits, of open file descriptions."""
_NOTICES = (1024, 1026, 1036, 1038, 1040)
"""Commands that leave something at a file: F_SETLEASE, F_NOTIFY, F_SET_RW_HINT, F_SET_FILE_RW_HINT, F_SETDELEG."""
_FILE_SYSTEMS = (0x66, 0x58, 0x94)
"""Second bytes of those ioctl that are requests to a file system: ext4 and all others, XFS, Btrfs."""
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
    """No filter can be made here."""


class Bits(Struct, frozen=True):
    """A condition on one argument of a call: its bits under the mask equal a value."""

    argument: int
    mask: int
    value: int
    how: Literal["equal", "other", "above"] = "equal"
    """`other` holds for every other value, `above` for every larger one; the mask then has all bits."""


class Refusal(Struct, frozen=True):
    """Calls that are refused for one reason."""

    calls: tuple[str | int, ...]
    """Names, or numbers of calls that libseccomp may not know yet: new calls have the same number everywhere."""
    error: int
    """The kernel's answer to the program."""
    why: str
    when: tuple[Bits, ...] = ()
    """The call is refused if any of these holds; empty: always."""
    also: Bits | None = None
    """The call is refused only if this holds as well."""


DANGERS = (
    Refusal(
        ("add_key", "request_key", "keyctl"),
        ABSENT,
        "keyrings belong to the user: what one match leaves there, the next one and the other seats can read",
    ),
    Refusal(
        ("io_uring_setup", "io_uring_enter", "io_uring_register"),
        ABSENT,
        "it does what other calls do past this very filter, and has had the most holes; runtimes fall back on epoll",
    ),
    Refusal(("clone3",), ABSENT, "its flags lie in memory, where a filter can't look; libraries fall back on clone"),
    Refusal(
        ("clone",),
        FORBIDDEN,
        "a namespace of its own would make it root in there, within reach of most holes of the kernel",
        tuple(Bits(0, flag, flag) for flag in _CLONE_FLAGS.values()),
    ),
    Refusal(("unshare", "setns"), FORBIDDEN, "as clone: namespaces are the sandbox's"),
    Refusal(
        ("bpf", "perf_event_open", "userfaultfd"),
        ABSENT,
        "they load programs into the kernel, count what others do, or hold the kernel up in the middle of a call",
    ),
    Refusal(
        ("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"),
        FORBIDDEN,
        "a debugger's tools: they reach into other processes, the sandbox's own first one included",
    ),
    Refusal(
        ("mount", "umount2", "pivot_root", "chroot"),
        FORBIDDEN,
        "what is seen of the file system is the sandbox's to decide",
    ),
    Refusal(
        (
            *("open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"),
            467,  # open_tree_attr
        ),
        ABSENT,
        "as mount, in newer words",
    ),
    Refusal(
        ("name_to_handle_at", "open_by_handle_at"),
        FORBIDDEN,
        "they open files by number, past the folders that are shown",
    ),
    Refusal(
        (
            *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot"),
            *("swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "vhangup"),
            *("settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname"),
            *("iopl", "ioperm", "lookup_dcookie", "nfsservctl"),
        ),
        FORBIDDEN,
        "an administrator's: a program without rights is refused them anyway, and needs no way to try",
    ),
    Refusal(
        ("personality",),
        FORBIDDEN,
        "other systems' ways bring the kernel's oldest code back; to ask which one it has is refused as well",
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
        "the kernel's own threads carry them out and wait for the disk; all that a program can write is in memory",
    ),
    Refusal(("msync",), DONE, "as fsync, of a file that is mapped", (Bits(2, _MS_SYNC, _MS_SYNC),)),
    Refusal(("io_setup", "io_submit"), ABSENT, "as fsync, which they put into a queue"),
    Refusal(
        ("sched_setaffinity",),
        DONE,
        "a process that changes cores is moved by a thread that goes before all others",
    ),
    Refusal(
        ("move_pages", "migrate_pages", "mbind"),
        ABSENT,
        "to move pages between memories, the kernel interrupts all cores; as from one for machines with one memory",
    ),
    Refusal(
        ("memfd_secret",),
        ABSENT,
        "each page of it is taken from the kernel's own map and given back: that interrupts all cores",
    ),
    Refusal(("modify_ldt",), ABSENT, "it interrupts the cores that others use; nobody but 16-bit programs needs it"),
    Refusal(
        ("madvise",),
        OLD,
        "the kernel's threads look for equal pages, and all cores hand in pages before some are made into a large one",
        (Bits(2, _INT, _MADV_MERGEABLE), Bits(2, _INT, _MADV_COLLAPSE)),
    ),
    Refusal(
        ("seccomp",),
        OLD,
        "a thread of the kernel's removes the filter of each process that ends",
        (Bits(0, _INT, _SECCOMP_SET_MODE_FILTER),),
    ),
    Refusal(
        ("prctl",),
        OLD,
        "as seccomp; as madvise, for all memory; and the last one keeps others off the second half of a core",
        (Bits(0, _INT, _PR_SET_SECCOMP), Bits(0, _INT, _PR_SET_MEMORY_MERGE), Bits(0, _INT, _PR_SCHED_CORE)),
    ),
    Refusal(
        ("setsockopt",),
        OPTIONLESS,
        "as seccomp, of a filter that is replaced",
        tuple(Bits(2, _INT, option) for option in _SOCKET_FILTERS),
    ),
    Refusal(
        ("setrlimit",),
        DONE,
        "one byte is the only limit with which no crash starts the machine's own program for dumps, as root",
        (Bits(0, _INT, _RLIMIT_CORE),),
    ),
    Refusal(
        ("prlimit64",),
        DONE,
        "as setrlimit; to ask for the limit is allowed",
        (Bits(1, _INT, _RLIMIT_CORE),),
        also=Bits(2, (1 << 64) - 1, 0, how="other"),
    ),
)
"""Calls that make the kernel work for a program outside of its control group."""

CHANNELS = (
    Refusal(
        ("flock",),
        ABSENT,
        "a lock on a file that all can read, such as one of /usr, is seen by all: a bit for each file",
    ),
    Refusal(
        ("fcntl",),
        FORBIDDEN,
        "as flock, on each byte of /dev/null; leases, notices and hints stay with a file that others can ask",
        tuple(Bits(1, _INT, command) for command in (*_LOCKS, *_NOTICES)),
    ),
    Refusal(
        ("inotify_init", "inotify_init1", "inotify_add_watch", "fanotify_init", "fanotify_mark"),
        ABSENT,
        "they tell who else opens a file",
    ),
    Refusal(
        ("mincore", "fadvise64", "readahead", "process_madvise", 451),  # cachestat
        ABSENT,
        "they tell what is in memory of a file that others have read, or drop it from there",
    ),
    Refusal(
        ("preadv2",),
        UNSUPPORTED,
        "with RWF_NOWAIT, it tells what is in memory of a file; with RWF_DONTCACHE, it drops that",
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
        "file systems keep and tell what was asked of a file before, even of one that can only be read",
        tuple(Bits(1, 0xFF00, kind << 8) for kind in _FILE_SYSTEMS),
    ),
    Refusal(
        ("statfs", "fstatfs", "ustat"),
        ABSENT,
        "they tell how full the disk is, where the referee keeps what programs print",
    ),
    Refusal(
        ("utimensat", "utime", "utimes", "futimesat"),
        DONE,
        "the times of /dev/null are the same for all; nobody misses those of files that are gone after the match",
    ),
    Refusal(
        (
            *("shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semtimedop", "semctl"),
            *("msgget", "msgsnd", "msgrcv", "msgctl"),
            *("mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr"),
        ),
        ABSENT,
        "each sandbox has its own, but what they take is counted for the user, whom all have in common",
    ),
    Refusal(
        ("socket", "socketpair"),
        UNKNOWN,
        "other families than the local one lead past the sandbox, or to what the kernel has in common for all",
        (Bits(0, _INT, _AF_UNIX, how="other"),),
    ),
)
"""Calls that could carry words to another program, or to a later match, past the referee."""
REFUSALS_OF_BUILDS = (*DANGERS, *BURDENS)
REFUSALS = (*REFUSALS_OF_BUILDS, *CHANNELS)


@cache
def system_call_filter(refusals: tuple[Refusal, ...] = REFUSALS) -> bytes:
    """Return a filter, as a program for the kernel of this machine.

    Args:
        refusals: the calls that it refuses.

    Raises:
        NoFilterError: libseccomp is not there, or too old.
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
    """Yield the conditions of a rule for each case in which the kernel is to refuse a call."""
    also = () if refusal.also is None else (_condition(library, refusal.also),)
    if not refusal.when:
        yield also
    for bits in refusal.when:
        yield (_condition(library, bits), *also)


def _condition(library: Any, bits: Bits) -> Any:
    if bits.how == "equal":
        return library.Arg(bits.argument, library.MASKED_EQ, bits.mask, bits.value)
    return library.Arg(bits.argument, library.NE if bits.how == "other" else library.GT, bits.value)
