"""Builds a player's folder, once for each content of it.

A build runs within bounds of its own, without a network, in a copy of the folder that nobody else can reach. In a
sandbox the copy is in memory, and as large as what the build may write; where the referee is root, the build runs as a
user without rights, whom a user namespace maps. Without a sandbox it is a private folder on the disk.

What the build made or changed is put into the folder when it has ended well. What it was built from is told by a hash
over the folder as the build left it: whoever changes a file, or takes away what was made, has it built again. The stamp
and the build's output stand in a folder beside the records.
"""

import fcntl
import hashlib
import json
import os
import re
import selectors
import shlex
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event

import msgspec
from msgspec import Struct, field

from ..files.copies import carry_over, copied, marks
from ..files.removal import remove
from ..files.tree import MAX_BYTES, MAX_ENTRIES, TreeNode, opened_folder, walk
from .confining import Confinement
from .control_groups import Group
from .file_view import FileView, Workspace, own_runtime, private_to, runtimes
from .limits import BUILD_LIMITS
from .output import Tail
from .player_spec import Launch, PlayerError, refuse_escapes, resolved, starting, telling_whose
from .sandbox import HOME
from .starting import ChildProcess, ProcessCommand, start

NOBODY = 65_533
"""User and group of builds where the referee is root: no distribution gives it to anybody, and containers have it."""
_INSIDE = 1000
"""What it is called in the sandbox."""
_BLOCK_BYTES = 4096
"""What the smallest file takes."""
_SIZE_BYTES = MAX_BYTES + MAX_ENTRIES * _BLOCK_BYTES
_OWN_PLACES = (HOME, "/tmp", "/dev/shm")  # noqa: S108  # inside
_READY = b"ready\n"
_WAIT = 'echo ready; read -r _ < "$1"; shift; exec "$@" </dev/null'
"""Says that all around it is set up, waits at a gate, then becomes the program."""
_USERS = "echo 0 > /proc/sys/user/max_user_namespaces && echo ready; read -r _"
"""Lets nobody in a new user namespace make another one, and keeps it until it is held."""
_LOOK_BYTES = 4096


class Job(Struct, frozen=True, kw_only=True):
    """A build that waits for its folder to be filled."""

    process: "subprocess.Popen[bytes]"
    folder: int
    """Descriptor of the folder in which it works, empty at first; it holds what the build made when that has ended."""
    owner: int | None
    """User and group to whom what is in the folder has to belong; None: the referee's."""
    gate: int
    """Descriptor of the gate at which it waits."""
    group: Group | None
    ended: Event = field(default_factory=Event)
    """Set once it has ended, and what it has left in its process group is killed."""

    def begin(self) -> None:
        """Let it run."""
        ChildProcess(self.process).when_ended(lambda _: self.ended.set())
        with suppress(BrokenPipeError):
            os.write(self.gate, b"\n")

    def end(self) -> None:
        """Kill what is left of it."""
        ChildProcess(self.process).send_signal(signal.SIGKILL)
        if self.group is not None:
            self.group.kill()


@contextmanager
def build_job(launch: Launch, confinement: Confinement, private: Path) -> Iterator[Job]:
    """Start a player's build, which waits until its folder is filled and it is told to begin.

    Args:
        launch: the player.
        confinement: of a build.
        private: a folder for what is built without a sandbox; what is there is removed.

    Raises:
        PlayerError: it can't be started.
    """
    argv = resolved(launch, launch.build)
    with ExitStack() as held:
        group = confinement.group()
        if group is not None:
            held.callback(group.end)
        begun = _Start(launch, confinement, group, held)
        yield begun.bare(argv, private) if confinement.sandbox is None else begun.boxed(argv)


class _Start(Struct, frozen=True):
    """The start of one build."""

    launch: Launch
    confinement: Confinement
    group: Group | None
    held: ExitStack
    """Ends it."""

    def boxed(self, argv: Sequence[str]) -> Job:
        """Start a build in a sandbox; its folder is opened from outside, and outlasts the sandbox."""
        launch, where = self.launch, self.launch.where
        owner = NOBODY if os.geteuid() == 0 and _is_known(NOBODY) else None
        with starting(launch):
            shown = sorted({*own_runtime(), *runtimes(Path(argv[0]), where), where})
        drop = () if owner is None else _unprivileged(launch)
        users = None if owner is None else _new_users(launch, owner)
        told, telling = os.pipe()
        self.held.callback(os.close, told)
        workspace = Workspace(size_bytes=_SIZE_BYTES, users=users)
        hidden = tuple(path.resolve() for path in self.confinement.hidden)
        view = FileView(where=where, shown=tuple(shown), hidden=hidden, workspace=workspace, told=telling)
        process, gate = self._started([*drop, *argv], view, (telling,) if users is None else (telling, users))
        root = f"/proc/{json.loads(os.read(told, _LOOK_BYTES))['child-pid']}/root"
        folder = self._opened(f"{root}{where}")
        if owner is not None:
            for place in _OWN_PLACES:
                os.chown(f"{root}{place}", owner, owner)
        return Job(process=process, folder=folder, owner=owner, gate=gate, group=self.group)

    def bare(self, argv: Sequence[str], private: Path) -> Job:
        """Start a build in a private folder."""
        remove(private)  # of a referee that was killed
        self.held.callback(remove, private)
        private.mkdir(mode=0o700)
        where = self.launch.where
        work = private / where.name
        work.mkdir()
        first = Path(argv[0])
        if first.is_relative_to(where):
            first = work / first.relative_to(where)
        view = FileView(where=work, shown=())  # nobody looks: there is no sandbox
        process, gate = self._started([str(first), *argv[1:]], view)
        return Job(process=process, folder=self._opened(work), owner=None, gate=gate, group=self.group)

    def _opened(self, path: Path | str) -> int:
        with telling_whose(self.launch.place):
            return self.held.enter_context(opened_folder(path))

    def _started(
        self, argv: Sequence[str], view: FileView, handed_on: tuple[int, ...] = ()
    ) -> tuple["subprocess.Popen[bytes]", int]:
        """Start what waits at a gate, and return when it does: its sandbox is complete then.

        Args:
            argv: what is behind the gate.
            view: where it works, and what it is shown in a sandbox.
            handed_on: descriptors that it is given; they are closed here.
        """
        gate, opener = os.pipe()
        self.held.callback(os.close, opener)
        waiting = ["/bin/sh", "-c", _WAIT, "sh", f"/proc/self/fd/{gate}", *argv]
        with (
            ProcessCommand((), (gate, *handed_on)) as passed,
            self.confinement.command(waiting, lambda: view, self.group) as inner,
        ):
            command = ProcessCommand(inner.argv, (*passed.pass_fds, *inner.pass_fds))
            env = self.confinement.environment({})
            process = start(command, cwd=view.where, env=env, output=subprocess.PIPE)
        self.held.callback(_ended, process)
        said = _first_words(process)
        if said != _READY:
            why = " ".join(said.decode(errors="replace").split()) or f"exit status {process.wait()}"
            raise PlayerError(f"{self.launch.name}: its build can't be started: {why}")
        return process, opener


def _ended(process: "subprocess.Popen[bytes]") -> None:
    """End a process, if it has not, with all that is in its group."""
    child = ChildProcess(process)
    child.send_signal(signal.SIGKILL)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()
    child.taken()


def _first_words(process: "subprocess.Popen[bytes]") -> bytes:
    """Return the first line that a process of this program's own prints, or all if it prints something else."""
    assert process.stdout is not None
    said = b""
    while said != _READY and (data := os.read(process.stdout.fileno(), _LOOK_BYTES)):
        said += data
    return said[-_LOOK_BYTES:]


def _new_users(launch: Launch, owner: int) -> int:
    """Make a user namespace that has root and one user without rights, and nobody else; return its descriptor.

    Root is needed to set the sandbox up: what is to be shown in it may lie in folders that are root's alone.

    Raises:
        PlayerError: this machine has none.
    """
    maker = subprocess.Popen(
        [_tool(launch, "unshare"), "--user", "--keep-caps", "--", "/bin/sh", "-c", _USERS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said = _first_words(maker)
        if said != _READY:
            why = said.decode(errors="replace").strip()
            raise PlayerError(f"{launch.name}: no user namespace for its build: {why}")
        for kind in ("uid", "gid"):
            Path(f"/proc/{maker.pid}/{kind}_map").write_text(f"0 0 1\n{_INSIDE} {owner} 1\n")
        return os.open(f"/proc/{maker.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise PlayerError(f"{launch.name}: no user namespace for its build: {error.strerror}") from None
    finally:
        _ended(maker)


def _is_known(user: int) -> bool:
    """Tell whether there is such a user and group at all: in a container, the only one may be root."""
    for kind in ("uid", "gid"):
        lines = Path(f"/proc/self/{kind}_map").read_text().splitlines()
        ranges = [[int(word) for word in line.split()] for line in lines]
        if not any(first <= user < first + count for first, _, count in ranges):
            return False
    return True


def _unprivileged(launch: Launch) -> Sequence[str]:
    """Return what stands before a command line that is to run as the user without rights."""
    ids = (f"--reuid={_INSIDE}", f"--regid={_INSIDE}", "--clear-groups")
    return (_tool(launch, "setpriv"), *ids, "--inh-caps=-all", "--ambient-caps=-all", "--")


def _tool(launch: Launch, name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise PlayerError(f"{launch.name}: its build needs {name}, since the referee is root; install util-linux")
    return found


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
