"""Builds a player's folder, and builds it again only after its content has changed."""

# A build runs a stranger's Makefile, so it is trusted as little as a player. It runs within limits of its own, without
# a network, in a copy of the folder that no other process can reach. In a sandbox the copy is in memory, so that a
# build can't fill the disk. If the referee is root, the build runs as a user without rights, mapped by a user
# namespace. Without a sandbox, the copy is a private folder on the disk.
#
# After a successful build, the files that it has made or changed are copied into the player's folder. A stamp then
# holds a hash of this folder. If somebody changes a file, or removes a result of the build, the next tournament builds
# the folder again. Stamps and outputs of builds are in a folder next to the records.
#
# A build starts as a shell that waits at a gate (a pipe) inside the sandbox. When the shell reports that it is ready,
# the sandbox is complete, and its working directory can be opened and filled from outside. Then the gate is opened.

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

from ..files.copies import carry_over, copy_tree, marks
from ..files.scratch import remove
from ..files.tree import MAX_BYTES, MAX_ENTRIES, TreeNode, open_folder, walk
from .confining import Confinement
from .control_groups import Group
from .environment import HOME
from .file_view import FileView, Workspace, find_private, own_runtime, runtimes
from .limits import BUILD_LIMITS
from .output import Tail
from .player_spec import Launch, PlayerError, blame_player, refuse_escapes, resolve_command, starting
from .processes import ChildProcess, ProcessCommand, start

BUILDS = ".builds"
"""Folder next to the records for stamps and outputs of builds."""
BUILD_S = 300.0
"""Longest time of a build; a whole workspace in Rust takes a minute or two on two cores."""
NOBODY = 65_533
"""Number of the user and group of builds if the referee is root. No distribution uses it, and containers allow it."""
_INSIDE = 1000
"""Number of this user and group inside the sandbox."""
_BLOCK_BYTES = 4096
"""Space on the disk that the smallest file takes."""
_SIZE_BYTES = MAX_BYTES + MAX_ENTRIES * _BLOCK_BYTES
_OWN_PLACES = (HOME, "/tmp", "/dev/shm")  # noqa: S108  # inside
_READY = b"ready\n"
_WAIT = 'echo ready; read -r _ < "$1"; shift; exec "$@" </dev/null'
"""Shell command that reports that its sandbox is complete, waits at the gate, and then becomes the program."""
_USERS = "echo 0 > /proc/sys/user/max_user_namespaces && echo ready; read -r _"
"""Shell command that keeps a user namespace alive until it is opened, and forbids creating others inside it."""
_LOOK_BYTES = 4096
_READ_BYTES = 65_536
_NOT_CONTENT = {"__pycache__", ".git"}
"""Folders whose changes do not matter for a build."""
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")
"""Characters that are replaced in a file's name."""
_NAME_CHARS = 40


class Job(Struct, frozen=True, kw_only=True):
    """A build that waits for its folder to be filled."""

    process: "subprocess.Popen[bytes]"
    folder: int
    """Descriptor of the build's working directory. It is empty at first, and holds the result at the end."""
    owner: int | None
    """Number of the user and group that own the content of the folder; None for the referee's own."""
    gate: int
    """Descriptor that opens the gate at which the build waits."""
    group: Group | None
    ended: Event = field(default_factory=Event)
    """Set after the build has ended and the rest of its process group was killed."""

    def begin(self) -> None:
        """Open the gate."""
        ChildProcess(self.process).on_end(lambda _: self.ended.set())
        with suppress(BrokenPipeError):
            os.write(self.gate, b"\n")

    def end(self) -> None:
        """Kill the remaining processes of the build."""
        ChildProcess(self.process).send_signal(signal.SIGKILL)
        if self.group is not None:
            self.group.kill()


@contextmanager
def build_job(launch: Launch, confinement: Confinement, private: Path) -> Iterator[Job]:
    """Start a player's build, which waits at its gate until its folder is filled.

    Args:
        launch: the player.
        confinement: the bounds of builds.
        private: folder for a build without a sandbox; its content is removed.

    Raises:
        PlayerError: the build can't be started.
    """
    argv = resolve_command(launch, launch.build)
    with ExitStack() as held:
        group = confinement.group()
        if group is not None:
            held.callback(group.end)
        starter = _Starter(launch, confinement, group, held)
        yield starter.start_bare(argv, private) if confinement.sandbox is None else starter.start_boxed(argv)


class _Starter(Struct, frozen=True):
    """Starts one build, in a sandbox or without."""

    launch: Launch
    confinement: Confinement
    group: Group | None
    held: ExitStack
    """Resources that are released when the build ends."""

    def start_boxed(self, argv: Sequence[str]) -> Job:
        """Start a build in a sandbox. Its folder is opened from outside, so it can be read after the sandbox's end."""
        launch, where = self.launch, self.launch.where
        owner = NOBODY if os.geteuid() == 0 and _is_known(NOBODY) else None
        with starting(launch):
            shown = sorted({*own_runtime(), *runtimes(Path(argv[0]), where), where})
        drop_rights = () if owner is None else _drop_rights(launch)
        users = None if owner is None else _new_users(launch, owner)
        info, info_fd = os.pipe()
        self.held.callback(os.close, info)
        workspace = Workspace(size_bytes=_SIZE_BYTES, users=users)
        hidden = tuple(path.resolve() for path in self.confinement.hidden)
        view = FileView(where=where, shown=tuple(shown), hidden=hidden, workspace=workspace, info_fd=info_fd)
        passed_on = (info_fd,) if users is None else (info_fd, users)
        process, gate = self._start_at_gate([*drop_rights, *argv], view, passed_on)
        root = f"/proc/{json.loads(os.read(info, _LOOK_BYTES))['child-pid']}/root"
        folder = self._open(f"{root}{where}")
        if owner is not None:
            for place in _OWN_PLACES:
                os.chown(f"{root}{place}", owner, owner)
        return Job(process=process, folder=folder, owner=owner, gate=gate, group=self.group)

    def start_bare(self, argv: Sequence[str], private: Path) -> Job:
        """Start a build without a sandbox, in a private folder."""
        remove(private)  # left behind by a referee that was killed
        self.held.callback(remove, private)
        private.mkdir(mode=0o700)
        where = self.launch.where
        work = private / where.name
        work.mkdir()
        first = Path(argv[0])
        if first.is_relative_to(where):
            first = work / first.relative_to(where)
        view = FileView(where=work, shown=())  # without a sandbox, nothing is shown or hidden
        process, gate = self._start_at_gate([str(first), *argv[1:]], view)
        return Job(process=process, folder=self._open(work), owner=None, gate=gate, group=self.group)

    def _open(self, path: Path | str) -> int:
        with blame_player(self.launch.place):
            return self.held.enter_context(open_folder(path))

    def _start_at_gate(
        self, argv: Sequence[str], view: FileView, passed_on: tuple[int, ...] = ()
    ) -> tuple["subprocess.Popen[bytes]", int]:
        """Start a command that waits at a gate, and return when it is waiting, because then its sandbox is complete.

        Args:
            argv: the command that runs after the gate was opened.
            view: its working directory, and the files that it sees in a sandbox.
            passed_on: descriptors that it inherits; they are closed here.

        Returns:
            The process, and the descriptor that opens the gate.
        """
        gate, opener = os.pipe()
        self.held.callback(os.close, opener)
        waiting = ["/bin/sh", "-c", _WAIT, "sh", f"/proc/self/fd/{gate}", *argv]
        with (
            ProcessCommand((), (gate, *passed_on)) as passed,
            self.confinement.command(waiting, lambda: view, self.group) as inner,
        ):
            command = ProcessCommand(inner.argv, (*passed.pass_fds, *inner.pass_fds))
            env = self.confinement.environment({})
            process = start(command, cwd=view.where, env=env, output=subprocess.PIPE)
        self.held.callback(_kill_group, process)
        printed = _read_first_line(process)
        if printed != _READY:
            why = " ".join(printed.decode(errors="replace").split()) or f"exit status {process.wait()}"
            raise PlayerError(f"{self.launch.name}: its build can't be started: {why}")
        return process, opener


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process with its whole group, and collect its status."""
    child = ChildProcess(process)
    child.send_signal(signal.SIGKILL)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()
    child.reap()


def _read_first_line(process: "subprocess.Popen[bytes]") -> bytes:
    """Return _READY if this is the first line that a process prints; otherwise the end of its whole output."""
    assert process.stdout is not None
    printed = b""
    while printed != _READY and (data := os.read(process.stdout.fileno(), _LOOK_BYTES)):
        printed += data
    return printed[-_LOOK_BYTES:]


def _new_users(launch: Launch, owner: int) -> int:
    """Make a user namespace with root and one user without rights; return its descriptor.

    Root is needed while the sandbox is set up, because its files may be in folders that only root can enter.

    Raises:
        PlayerError: this machine does not allow user namespaces.
    """
    maker = subprocess.Popen(
        [_find_tool(launch, "unshare"), "--user", "--keep-caps", "--", "/bin/sh", "-c", _USERS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        printed = _read_first_line(maker)
        if printed != _READY:
            why = printed.decode(errors="replace").strip()
            raise PlayerError(f"{launch.name}: no user namespace for its build: {why}")
        for kind in ("uid", "gid"):
            Path(f"/proc/{maker.pid}/{kind}_map").write_text(f"0 0 1\n{_INSIDE} {owner} 1\n")
        return os.open(f"/proc/{maker.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise PlayerError(f"{launch.name}: no user namespace for its build: {error.strerror}") from None
    finally:
        _kill_group(maker)


def _is_known(user: int) -> bool:
    """Return whether a user and group with this number can exist here. In some containers, root is the only user."""
    for kind in ("uid", "gid"):
        lines = Path(f"/proc/self/{kind}_map").read_text().splitlines()
        ranges = [[int(word) for word in line.split()] for line in lines]
        if not any(first <= user < first + count for first, _, count in ranges):
            return False
    return True


def _drop_rights(launch: Launch) -> Sequence[str]:
    """Return the beginning of a command line that runs as the user without rights."""
    ids = (f"--reuid={_INSIDE}", f"--regid={_INSIDE}", "--clear-groups")
    return (_find_tool(launch, "setpriv"), *ids, "--inh-caps=-all", "--ambient-caps=-all", "--")


def _find_tool(launch: Launch, name: str) -> str:
    tool = shutil.which(name)
    if tool is None:
        raise PlayerError(f"{launch.name}: its build needs {name}, since the referee is root; install util-linux")
    return tool


def content_hash(folder: Path) -> str:
    """Return the SHA-256, in hex, of everything in a folder: paths, executable bits, links and bytes.

    Raises:
        PlayerError: the folder is too deep or too large, or something in it can't be read.
    """
    digest = hashlib.sha256()
    with blame_player(folder):
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


class BuildFailed(PlayerError):
    """A build failed, or took too long.

    Args:
        happened: what failed, and how it ended.
        log: file with the output of the build.
        tail: end of that output.
    """

    def __init__(self, happened: str, log: Path, tail: Tail) -> None:
        # The file comes before the output, because the detail of a foul is cut after some characters.
        super().__init__(happened if tail.is_empty else f"{happened} (all of it is in {log}): {tail.last_words}")
        self.happened = happened
        self.output = tail.content.decode(errors="replace")
        """Output of the build, with its line breaks."""


class Builds:
    """The builds of this machine's players.

    Args:
        folder: folder of stamps and outputs; it is created with the first build.
        confinement: the bounds of players. Builds have other limits, but the same sandbox.
    """

    def __init__(self, folder: Path, confinement: Confinement) -> None:
        self._folder = folder
        self._confinement = msgspec.structs.replace(confinement, limits=BUILD_LIMITS)

    def build(self, launch: Launch) -> bool:
        """Build a player, unless its folder has not changed since its last build.

        Args:
            launch: the player. If its player.toml has no `build`, nothing is done.

        Returns:
            True if something was built.

        Raises:
            PlayerError: the build fails or takes too long (the text has the end of its output), or its result can't
                be used.
            OSError: the stamp or the output can't be written.
        """
        if launch.folder is None or not launch.build:
            return False
        self._folder.mkdir(parents=True, exist_ok=True)
        name = _UNFIT.sub("_", launch.name)[:_NAME_CHARS]
        key = hashlib.sha256(os.fsencode(launch.where.resolve())).hexdigest()[:12]
        stamp, log, private = (self._folder / f"{name}-{key}.{kind}" for kind in ("built", "log", "work"))
        # The stamp is read under the lock, because another process may have built the same folder in the meantime.
        with _lock(self._folder / f"{name}-{key}.lock"):
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
        left_out = find_private(launch.where, self._confinement.hidden, self._confinement.private_names)
        with build_job(launch, self._confinement, private.absolute()) as job:
            with blame_player(launch.place, "copied", is_disk=not is_boxed):
                copy_tree(launch.place, job.folder, left_out=left_out, owner=job.owner)
            before = marks(job.folder)
            status = self._run_to_end(job, tail)
            log.write_bytes(tail.content)
            if status is not None:
                raise BuildFailed(f"{launch.name}: its build failed: {shlex.join(launch.build)}: {status}", log, tail)
            # A build may have made links, and its results are trusted as little as its sources.
            refuse_escapes(launch.place, job.folder)
            with blame_player(launch.place, "given what its build made"):
                carry_over(job.folder, launch.place, before, left_out=left_out)

    def _run_to_end(self, job: Job, tail: Tail) -> str | None:
        """Let a build run to its end; return None if it succeeded, and otherwise a description of its end."""
        job.begin()
        is_done = _read_output(job, tail, time.monotonic() + BUILD_S)
        job.end()
        status = None
        if not is_done:
            status = f"not done after {BUILD_S:g} s"
        elif job.process.returncode != 0:
            status = f"exit status {job.process.returncode}"
        if job.group is not None and job.group.ran_out_of_memory:
            return f"{status}: out of memory (limit {BUILD_LIMITS.memory_mib} MiB)"
        return status


def _read_output(job: Job, tail: Tail, deadline: float) -> bool:
    """Read the output of a build until it ends.

    Args:
        job: the build.
        tail: collects the output.
        deadline: time of the monotonic clock at which to give up, in seconds.

    Returns:
        True if the build ended in time.
    """
    output = job.process.stdout
    assert output is not None
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while (left_s := deadline - time.monotonic()) > 0:
            if selector.select(left_s):
                data = os.read(output.fileno(), _READ_BYTES)
                if not data:
                    break
                tail.add(data)
    return job.ended.wait(max(deadline - time.monotonic(), 0))


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Keep other processes from building the same folder at the same time."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
