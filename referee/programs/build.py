"""Builds a player's folder, once for each content of it.

A build runs within bounds of its own, on a private copy of the folder and without a network; what it made or changed is
put into the folder when it has ended well. What it was built from is told by a hash over the folder as the build left
it: whoever changes a file, or takes away what was made, has it built again. The stamp and the build's output stand in a
folder beside the records.
"""

import fcntl
import hashlib
import os
import re
import selectors
import shlex
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ..files.copies import carry_over, copied, marks
from ..files.tree import TreeNode, walk
from .build_folder import Job, build_job
from .file_view import private_to
from .limits import BUILD_LIMITS
from .output import Tail
from .player_spec import Launch, PlayerError, refuse_escapes, telling_whose
from .program import Confinement

BUILDS = ".builds"
"""Folder beside the records: what players were built from, and what their builds printed."""
BUILD_S = 300.0
"""How long a build may take; a whole workspace in Rust takes a minute or two on two cores."""
_NOT_CONTENT = {"__pycache__", ".git"}
"""What running and keeping a program changes without changing the program."""
_READ_BYTES = 65_536
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")
"""For the name of a file."""
_NAME_CHARS = 40


def content_hash(folder: Path) -> str:
    """Return the SHA-256, in hex, of everything in a folder: paths, what is executable, links, and bytes.

    Raises:
        PlayerError: it is too deep or too much, or something in it can't be read.
    """
    digest = hashlib.sha256()
    with telling_whose(folder):
        for node in walk(folder):
            if not _NOT_CONTENT & set(node.path.split("/")):
                path = os.fsencode(node.path)
                digest.update(b"%d %b " % (len(path), path))
                digest.update(_entry_hash(node))
    return digest.hexdigest()


def _entry_hash(node: TreeNode) -> bytes:
    if node.is_link:
        return hashlib.sha256(b"link " + os.fsencode(node.target())).digest()
    if not node.is_file:
        return hashlib.sha256(b"kind %d" % stat.S_IFMT(node.status.st_mode)).digest()
    content = hashlib.sha256()
    for piece in node.pieces():
        content.update(piece)
    return hashlib.sha256(b"file %d " % node.is_executable + content.digest()).digest()


class Builds:
    """The builds of this machine's players.

    Args:
        folder: where stamps and outputs are kept; made when there is something to keep.
        confinement: of players; a build has limits of its own.
    """

    def __init__(self, folder: Path, confinement: Confinement) -> None:
        self._folder = folder
        self._confinement = msgspec.structs.replace(confinement, limits=BUILD_LIMITS)

    def build(self, launch: Launch) -> bool:
        """Build a player unless its folder is as its last build left it.

        Args:
            launch: the player; one without `build` needs nothing.

        Returns:
            Whether something was built.

        Raises:
            PlayerError: the build fails or takes too long, and the text has the end of what it printed; or what it
                made can't be worked with.
            OSError: the disk can't take what is to be kept.
        """
        if launch.folder is None or not launch.build:
            return False
        self._folder.mkdir(parents=True, exist_ok=True)
        name = _UNFIT.sub("_", launch.name)[:_NAME_CHARS]
        key = hashlib.sha256(os.fsencode(launch.where.resolve())).hexdigest()[:12]
        stamp, log, private = (self._folder / f"{name}-{key}.{kind}" for kind in ("built", "log", "work"))
        with _locked(self._folder / f"{name}-{key}.lock"):
            if stamp.exists() and stamp.read_bytes() == self._stamp(launch):
                return False
            self._run(launch, log, private)
            stamp.write_bytes(self._stamp(launch))
        return True

    def _stamp(self, launch: Launch) -> bytes:
        return f"{shlex.join(launch.build)}\n{content_hash(launch.place)}\n".encode()

    def _run(self, launch: Launch, log: Path, private: Path) -> None:
        tail = Tail()
        is_boxed = self._confinement.sandbox is not None
        left_out = private_to(launch.where, self._confinement.hidden, self._confinement.private_names)
        with build_job(launch, self._confinement, private.absolute()) as job:
            with telling_whose(launch.place, "copied", is_disk=not is_boxed):
                copied(launch.place, job.folder, left_out=left_out, owner=job.owner)
            before = marks(job.folder)
            status = self._awaited(job, tail)
            log.write_bytes(tail.content)
            if status is not None:
                # First where all of it is: a foul's detail has room for the beginning of a long text.
                said = f" (all of it is in {log}): {tail.last_words}" if not tail.is_empty else ""
                raise PlayerError(f"{launch.name}: its build failed: {shlex.join(launch.build)}: {status}{said}")
            refuse_escapes(launch.place, job.folder)
            with telling_whose(launch.place, "given what its build made"):
                carry_over(job.folder, launch.place, before, left_out=left_out)

    def _awaited(self, job: Job, tail: Tail) -> str | None:
        """Let a build run to its end; return None if it went well, else how it ended."""
        job.begin()
        is_done = _drained(job, tail, time.monotonic() + BUILD_S)
        job.end()
        status = None
        if not is_done:
            status = f"not done after {BUILD_S:g} s"
        elif job.process.returncode != 0:
            status = f"exit status {job.process.returncode}"
        if job.group is not None and job.group.ran_out_of_memory:
            return f"{status}: out of memory (limit {BUILD_LIMITS.memory_mib} MiB)"
        return status


def _drained(job: Job, tail: Tail, give_up: float) -> bool:
    """Read what a build prints until it ends.

    Returns:
        Whether it ended in time.
    """
    output = job.process.stdout
    assert output is not None
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while (left_s := give_up - time.monotonic()) > 0:
            if selector.select(left_s):
                data = os.read(output.fileno(), _READ_BYTES)
                if not data:
                    break
                tail.add(data)
    return job.ended.wait(max(give_up - time.monotonic(), 0))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep out whoever builds the same folder meanwhile."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
