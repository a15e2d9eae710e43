"""Finds the channels by which a program in a sandbox can send bits to another one, or to itself in a later match.

Two programs try each of them, with the same player's folder. They run at once, as two seats of a match, and one after
the other, as in two matches. The first sends several bits, which the second must read correctly.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import Struct

from referee.files.scratch import scratch
from referee.programs.confining import Confinement
from referee.programs.environment import Invitation
from referee.programs.file_view import FileAccess, view_files
from referee.programs.player_spec import Launch, PlayerError, resolve_command
from referee.programs.processes import start

from . import channel_probe

BITS = (False, True, True, False, True, False)
"""Bits that each channel sends; a receiver that always gets the same bit fails."""
COUNTS, OWN_FOLDER, TIMED, WAIT = "counts of the machine", "own folder", "file in memory, timed", "wait at a file"
UNHIDDEN = (
    "how busy the machine is and was, how much was started on it and, in one match, which files of /usr are used, "
    "and at which of their words a thread waits"
)
"""Channels that no filter closes: the processes of one program need them to wait for each other."""
_ANSWER_S = 10.0
_LARGE_BYTES = 8 << 20
"""Least size of a file for the channels that read single pages."""


class Together(StrEnum):
    """Ways in which two programs run."""

    AT_ONCE = "in one match"
    AFTER = "from match to match"


class TriedChannel(Struct, frozen=True, kw_only=True):
    """The result of one channel."""

    name: str
    together: Together
    leaks: bool
    """Whether every bit arrived."""
    detail: str
    """Reason of the kernel if the channel could not be used."""

    @property
    def is_known(self) -> bool:
        """Whether this channel is known to be open: two programs that run at once share the system's files."""
        return self.name in (TIMED, WAIT) and self.together is Together.AT_ONCE


class NoProbeError(Exception):
    """Programs can't be started to try the channels."""


def tried(confinement: Confinement) -> list[TriedChannel]:
    """Try every channel.

    Args:
        confinement: of the programs.

    Raises:
        NoProbeError: a program can't be started, or does not answer.
    """
    large = _large_file()
    with scratch("leaks") as above:
        folder = above / "player"
        folder.mkdir()
        shutil.copy(str(channel_probe.__file__), folder / "probe.py")
        argv = (sys.executable, "-I", "-S", "probe.py", str(large or ""))
        launch = Launch(name="probe", argv=argv, folder=folder)
        trial = _Trial(launch, confinement, large)
        try:
            return [*_judged(Together.AT_ONCE, trial.at_once()), *_judged(Together.AFTER, trial.after())]
        except (OSError, PlayerError, ValueError) as error:
            raise NoProbeError(str(error)) from None


class _Round(Struct, frozen=True):
    """The messages of two programs about one bit."""

    sent: Mapping[str, Any]
    heard: Mapping[str, Any]


def _judged(together: Together, rounds: Sequence[_Round]) -> Iterator[TriedChannel]:
    """Yield the result of each channel."""
    refused = rounds[-1].sent["refused"] | rounds[-1].heard["refused"]
    for name in channel_probe.MAKERS:
        heard = tuple(round_.heard["heard"].get(name) for round_ in rounds)
        detail = refused.get(name, "")
        yield TriedChannel(name=name, together=together, leaks=heard == BITS, detail=detail)
    counted = all(round_.sent["counts"] != round_.heard["counts"] for round_ in rounds)
    yield TriedChannel(name=COUNTS, together=together, leaks=counted, detail="")
    shared = any(round_.sent["own folder"] == round_.heard["own folder"] for round_ in rounds)
    yield TriedChannel(name=OWN_FOLDER, together=together, leaks=shared, detail="")


class _Trial(Struct, frozen=True):
    """Two programs that try to communicate."""

    launch: Launch
    confinement: Confinement
    large: Path | None
    """A file that nobody else is likely to read."""

    def at_once(self) -> list[_Round]:
        """Send all bits between two programs that run at the same time."""
        rounds = []
        with self._program() as one, self._program() as other:
            for bit in BITS:
                self._forget()
                other.told("arm")
                rounds.append(_Round(one.told("send", bit=bit), other.told("receive")))
        return rounds

    def after(self) -> list[_Round]:
        """Send each bit from a program that has ended before the other begins."""
        rounds = []
        for bit in BITS:
            self._forget()
            with self._program() as one:
                sent = one.told("send", bit=bit)
            with self._program() as other:
                other.told("arm")
                rounds.append(_Round(sent, other.told("receive")))
        return rounds

    def _forget(self) -> None:
        """Drop the large file from memory."""
        if self.large is not None:
            with self.large.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    @contextlib.contextmanager
    def _program(self) -> Iterator["_Inside"]:
        """Start a program in the sandbox, and end it with everything that is left of it."""
        launch, confinement = self.launch, self.confinement
        with contextlib.ExitStack() as held:
            private = held.enter_context(scratch("leaks"))
            path = private / "socket"
            listener = held.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(str(path))
            listener.listen()
            listener.settimeout(_ANSWER_S)
            copy = held.enter_context(confinement.copy_folder(launch, FileAccess()))
            is_boxed = confinement.sandbox is not None
            access = FileAccess(socket=path if is_boxed else None, own_copy=copy)
            group = confinement.group()
            if group is not None:
                held.callback(group.end)
            argv = resolve_command(launch)
            invitation = Invitation(address=f"unix:{path}", token="")
            with confinement.command(argv, lambda: view_files(launch, argv, access), group) as command:
                env = confinement.environment(invitation.variables(launch.name, access.socket))
                process = start(command, cwd=launch.folder, env=env, output=subprocess.DEVNULL)
            held.callback(process.wait)
            held.callback(process.kill)
            end, _ = listener.accept()
            held.enter_context(end)
            end.settimeout(_ANSWER_S)
            yield _Inside(end)


class _Inside(Struct, frozen=True):
    """The connection to a program."""

    end: socket.socket

    def told(self, what: str, *, bit: bool = False) -> dict[str, Any]:
        """Make it do something with all channels, and return its answer."""
        bits = dict.fromkeys(channel_probe.MAKERS, bit)
        self.end.sendall(json.dumps({"do": what, "bits": bits}).encode() + b"\n")
        said = b""
        while not said.endswith(b"\n"):
            data = self.end.recv(65_536)
            if not data:
                raise NoProbeError("a program ended too early")
            said += data
        answer: dict[str, Any] = json.loads(said)
        return answer


def _large_file() -> Path | None:
    """Return a file of the system that is large enough, and that nobody is likely to run."""
    for pattern in ("/usr/share/*/*", "/usr/lib/*/*.a", "/usr/lib/**/*"):
        for path in Path("/").glob(pattern[1:]):
            if path.is_file() and not path.is_symlink() and path.stat().st_size >= _LARGE_BYTES:
                return path
    return None
