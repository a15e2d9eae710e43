"""Builds a player's folder, once for each content of it. Knows command lines and content; refuses to know languages.

A build runs within bounds of its own, with that one folder to write and without a network. What it was built from is
told by a hash over the folder as the build left it: whoever changes a file, or takes away what was made, has it built
again. The stamp and the build's output stand in a folder beside the records.
"""

import fcntl
import hashlib
import os
import selectors
import shlex
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from .limits import BUILD_LIMITS
from .output import Tail
from .players import Launch, PlayerError, entries, refuse_escapes, resolved
from .program import Confinement
from .reach import own_runtime, runtimes
from .reasons import reason_of_build
from .starting import Command, start
from .view import View

BUILD_S = 300.0
"""How long a build may take; a whole workspace in Rust takes a minute or two on two cores."""
_NOT_CONTENT = {"__pycache__", ".git"}
"""What running and keeping a program changes without changing the program."""
_READ_BYTES = 65_536
_GONE_S = 5.0


def content_hash(folder: Path) -> str:
    """Return the SHA-256, in hex, of everything in a folder: paths, what is executable, links, and bytes."""
    digest = hashlib.sha256()
    for path in entries(folder):
        inside = path.relative_to(folder)
        if not _NOT_CONTENT & set(inside.parts):
            digest.update(b"%d %b " % (len(os.fsencode(inside)), os.fsencode(inside)))
            digest.update(_entry_hash(path))
    return digest.hexdigest()


def _entry_hash(path: Path) -> bytes:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return hashlib.sha256(b"link " + os.fsencode(path.readlink())).digest()
    if not stat.S_ISREG(mode):
        return hashlib.sha256(b"kind %d" % stat.S_IFMT(mode)).digest()
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").digest()
    return hashlib.sha256(b"file %d " % bool(mode & stat.S_IXUSR) + content).digest()


class Builds:
    """The builds of this machine's players.

    Args:
        folder: where stamps and outputs are kept; made when there is something to keep.
        confinement: of players; a build has limits of its own.
        limit_s: how long a build may take.
    """

    def __init__(self, folder: Path, confinement: Confinement, limit_s: float = BUILD_S) -> None:
        self._folder = folder
        self._confinement = msgspec.structs.replace(confinement, limits=BUILD_LIMITS)
        self._limit_s = limit_s

    def build(self, launch: Launch) -> bool:
        """Build a player unless its folder is as its last build left it.

        Args:
            launch: the player; one without `build` needs nothing.

        Returns:
            Whether something was built.

        Raises:
            PlayerError: the build fails or takes too long; the text has the first error that it printed.
        """
        if launch.folder is None or not launch.build:
            return False
        self._folder.mkdir(parents=True, exist_ok=True)
        key = hashlib.sha256(os.fsencode(launch.where.resolve())).hexdigest()[:12]
        stamp, log = (self._folder / f"{launch.name}-{key}.{kind}" for kind in ("built", "log"))
        with _locked(self._folder / f"{launch.name}-{key}.lock"):
            if stamp.exists() and stamp.read_text() == self._stamp(launch):
                return False
            self._run(launch, log)
            refuse_escapes(launch.folder)
            stamp.write_text(self._stamp(launch))
        return True

    def _stamp(self, launch: Launch) -> str:
        return f"{shlex.join(launch.build)}\n{content_hash(launch.where)}\n"

    def _run(self, launch: Launch, log: Path) -> None:
        argv = resolved(launch, launch.build)
        shown = sorted({*own_runtime(), *runtimes(Path(argv[0])), launch.where})
        view = View(where=launch.where, shown=tuple(shown), hidden=self._confinement.hidden, is_writable=True)
        group = self._confinement.group()
        tail = Tail()
        try:
            with self._confinement.command(argv, lambda: view, group) as command:
                status = self._awaited(command, launch.where, tail)
            if group is not None and group.ran_out_of_memory:
                status = f"{status}: out of memory (limit {BUILD_LIMITS.memory_mib} MiB)"
        finally:
            give_up = time.monotonic() + _GONE_S
            while group is not None and not group.remove() and time.monotonic() < give_up:
                group.kill()
                time.sleep(0.01)
        log.write_bytes(tail.content)
        if status is not None:
            said = f"; it said: {reason_of_build(tail.text)}" if not tail.is_empty else ""
            detail = f"{launch.name}: its build failed: {shlex.join(launch.build)}: {status}"
            raise PlayerError(f"{detail}{said} (all of it is in {log})")

    def _awaited(self, command: Command, where: Path, tail: Tail) -> str | None:
        """Run a command to its end; return None if it went well, else how it ended."""
        give_up = time.monotonic() + self._limit_s
        with start(command, cwd=where, env=self._confinement.environment({}), output=subprocess.PIPE) as process:
            try:
                is_done = _drained(process, tail, give_up)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        if not is_done:
            return f"not done after {self._limit_s:g} s"
        return None if process.returncode == 0 else f"exit status {process.returncode}"


def _drained(process: "subprocess.Popen[bytes]", tail: Tail, give_up: float) -> bool:
    """Read what a build prints until it ends.

    Returns:
        Whether it ended in time.
    """
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left_s := give_up - time.monotonic()) > 0:
            if selector.select(left_s):
                data = os.read(process.stdout.fileno(), _READ_BYTES)
                if not data:
                    break
                tail.add(data)
    try:
        process.wait(max(give_up - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        return False
    return True


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep out whoever builds the same folder meanwhile."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
