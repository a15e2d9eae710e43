"""Starts a player program and ends it, with everything it started. Knows processes; refuses to know matches.

A program runs in a session of its own, so that its whole process group can be ended; it finds the referee's address
and its own token in its environment, and its stderr goes to a file next to the match's record.
"""

import os
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from twisted.internet.defer import Deferred

from .clock import Clock, Timer

POLL_S = 0.02
"""How often running programs are asked whether they have ended."""
PATIENCE_S = 2.0
"""How long a program may take to end by itself, once its match is over: it may have last words."""
GRACE_S = 0.5
"""Between asking a process group to end and killing it."""
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "SYSTEMROOT")
"""Of the referee's own environment, what a program needs to run at all; secrets stay here."""


class PlayerError(Exception):
    """A player that can't be launched; the text says what to mend."""


class PlayerToml(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file player.toml of a player's folder."""

    name: str
    run: str
    """Command line, split as a shell would, run in the folder; no shell is involved."""
    games: list[str] = []
    """Names of the games it plays; empty: any."""
    version: str = ""
    build: str = ""
    """Command line that must have been run once; the folder's README says so."""


class Launch(Struct, frozen=True, kw_only=True):
    """How to start one player's program."""

    name: str
    argv: tuple[str, ...]
    folder: Path | None = None
    """Working directory; None: the referee's own."""
    games: tuple[str, ...] = ()
    """Games it plays; empty: any."""


def read_folder(folder: Path) -> Launch:
    """Read a player's folder.

    Raises:
        PlayerError: it is no folder, or its player.toml is missing or wrong.
    """
    path = folder / "player.toml"
    if not folder.is_dir():
        raise PlayerError(f"there is no folder {folder}")
    try:
        text = path.read_bytes().decode()
        toml = msgspec.convert(tomllib.loads(text), PlayerToml)
        argv = tuple(shlex.split(toml.run))
    except OSError as error:
        raise PlayerError(f"{path}: {error.strerror}; a player's folder needs that file") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError, ValueError) as error:
        raise PlayerError(f"{path}: {error}") from None
    if not argv:
        raise PlayerError(f"{path}: `run` is empty; it is the command that starts the player")
    return Launch(name=toml.name, argv=argv, folder=folder, games=tuple(toml.games))


def house_launch(name: str) -> Launch:
    """Return how to start a house player: this program itself, as a program of its own."""
    return Launch(name=name, argv=(sys.executable, "-m", "referee.cli.house", name))


def command_launch(command: str, name: str) -> Launch:
    """Return how to start a player given as a command line.

    Raises:
        PlayerError: the command line can't be split or is empty.
    """
    try:
        argv = tuple(shlex.split(command))
    except ValueError as error:
        raise PlayerError(f"cmd:{command}: {error}") from None
    if not argv:
        raise PlayerError("cmd: needs a command behind the colon, e.g. cmd:'python3 my_player.py'")
    return Launch(name=name, argv=argv)


class Program:
    """One running program and its process group.

    Args:
        launch: what to start.
        environment: added to the few variables that are passed on.
        stderr: file that takes its stdout and stderr.
        clock: the reactor.

    Raises:
        PlayerError: it can't be started.
    """

    def __init__(self, launch: Launch, environment: Mapping[str, str], stderr: Path, clock: Clock) -> None:
        self.status: str | None = None
        """How it ended: `exit status N` or `signal NAME`; None while it runs."""
        self.exited: Deferred[str] = Deferred()
        """Fires with the status."""
        self._output = stderr
        self._clock = clock
        self._push: Timer | None = None
        passed_on = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
        try:
            with stderr.open("ab") as sink:
                self._process = subprocess.Popen(
                    _resolved(launch),
                    cwd=launch.folder,
                    env={**passed_on, **environment},
                    stdin=subprocess.DEVNULL,
                    stdout=sink,
                    stderr=sink,
                    start_new_session=True,
                )
        except OSError as error:
            raise PlayerError(f"{launch.name}: can't start {shlex.join(launch.argv)}: {error.strerror}") from None
        self._poll = clock.callLater(POLL_S, self._look)

    def end(self) -> "Deferred[str]":
        """Wait for the program to end by itself; then ask its process group to, and kill it if it does not.

        Returns:
            `exited`.
        """
        if self.status is None and self._push is None:
            self._push = self._clock.callLater(PATIENCE_S, self._ask_to_end)
        return self.exited

    def _ask_to_end(self) -> None:
        self._signal(signal.SIGTERM)
        self._push = self._clock.callLater(GRACE_S, self._signal, signal.SIGKILL)

    def forget_silence(self) -> None:
        """Remove the file of its output if it said nothing."""
        if self._output.exists() and not self._output.stat().st_size:
            self._output.unlink()

    def _look(self) -> None:
        code = self._process.poll()
        if code is None:
            self._poll = self._clock.callLater(POLL_S, self._look)
            return
        if self._push is not None and self._push.active():
            self._push.cancel()
        self._signal(signal.SIGKILL)  # what the program started and left behind
        self.status = f"exit status {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        self.exited.callback(self.status)

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return  # nobody of the group is left


def _resolved(launch: Launch) -> Sequence[str]:
    """Return the command line, a program of the player's own folder given by its whole path."""
    first, *rest = launch.argv
    own = None if launch.folder is None or Path(first).is_absolute() else launch.folder / first
    # absolute(), not resolve(): the interpreter of a virtual environment is a link that must not be followed
    return [str(own.absolute()), *rest] if own is not None and own.is_file() else [first, *rest]
