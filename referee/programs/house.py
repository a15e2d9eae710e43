"""Runs house players as programs of their own. What `house:NAME` starts.

`python -m referee.programs.house NAME` is one of them. With `--forks DESCRIPTOR` it is one process for all that a
referee starts: it imports what they need once, then forks whenever it is asked to over the socket of that number. It
runs no thread and no event loop, so that a fork is whole.
"""

import contextlib
import ctypes
import gc
import itertools
import os
import resource
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from protocol.client import ClientError, ProtocolError, run
from protocol.messages import Terms

from ..chance import derive
from ..plugins import PluginError, installed

FORKS = "--forks"
MARK = "REFEREE_PROGRAM"
"""Variable that marks the processes of one program; its values are all of one length."""
MAX_REQUEST_BYTES = 1 << 17
MAX_DESCRIPTORS = 8
NOT_JOINED = 126
"""Exit status of a program that did not get into its control groups."""
_PDEATHSIG = 1
"""Of prctl: the signal that the kernel sends at the parent's end."""


class ForkRequest(Struct, frozen=True, kw_only=True, tag="fork"):
    """Asks for a process that runs a house player.

    Descriptors come with it: of what takes stdout and stderr; of what is told the exit status, as Python counts it; of
    the socket of the referee, if there is one; and of the lists of processes of the control groups to join.
    """

    number: int = 0
    """What signals name it by."""
    player: str
    environment: dict[str, str]
    """The whole of it."""
    open_files: int
    """How many it may have."""
    has_socket: bool = False


class SignalRequest(Struct, frozen=True, kw_only=True, tag="signal"):
    """Asks for a signal to the process group of what was forked; to one that has ended, nothing is sent."""

    number: int
    signal: int


class _Fork(Struct, frozen=True):
    pid: int
    pidfd: int
    told: socket.socket
    """Takes the exit status."""


def main(arguments: list[str]) -> int:
    """Play until the referee closes, or fork until it does.

    Args:
        arguments: the house player's name, or `--forks` and a descriptor.

    Returns:
        0, or 1 if the player could not play on.
    """
    match arguments:
        case [name]:
            return play(name)
        case [option, descriptor] if option == FORKS:
            with contextlib.suppress(PluginError):  # who is forked says that itself
                installed()
            Forks(socket.socket(fileno=int(descriptor))).serve()
            os._exit(0)  # whoever waits for it waits for nothing else
    print("usage: python -m referee.programs.house NAME", file=sys.stderr)
    return 2


def play(name: str) -> int:
    """Play as a house player until the referee closes; return the exit status."""
    try:
        registry = installed()
        player = registry.player(name)
    except PluginError as error:
        print(f"house player: {error}", file=sys.stderr)
        return 2
    seed = bytes.fromhex(os.environ.get("REFEREE_PLAYER_SEED", "")) or os.urandom(32)

    numbers = itertools.count()

    def _make(offer: Terms) -> Callable[[Any], Any]:
        game, number = registry.game(offer.game), next(numbers)
        own = derive(seed, f"match:{number}") if number else seed  # else each match would have the chance of the first
        return player.make(game, game.parse_options(offer.options), own)

    try:
        run(make=_make, name=os.environ.get("REFEREE_NAME", player.name), say=None)
    except (ClientError, ProtocolError, OSError) as error:
        print(f"house player {player.name}: {error}", file=sys.stderr)
        return 1
    return 0


class Forks:
    """Forks house players until the referee is gone; all of them end with this process.

    Args:
        control: what the referee asks over, a socket that keeps messages apart.
    """

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._pid = os.getpid()
        self._libc = ctypes.CDLL(None)
        self._libc.getenv.restype = ctypes.c_void_p
        self._mark: int | None = self._libc.getenv(MARK.encode())
        """Where it stands in what /proc tells of this process's environment."""
        self._forks: dict[int, _Fork] = {}
        """By number."""
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)

    def serve(self) -> None:
        """Do what is asked until the referee closes."""
        with open(os.devnull, "r+b") as nothing:  # noqa: PTH123  # what was said before is the first player's to tell
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        gc.collect()
        gc.freeze()  # no collection writes into pages that are shared
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is not self._control:
                    self._end(key.data)
                elif not self._take():
                    return

    def _take(self) -> bool:
        """Do what is asked next; tell whether the referee is still there."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, MAX_REQUEST_BYTES, MAX_DESCRIPTORS)
        except OSError:
            return False
        if not data:
            return False
        request = msgspec.json.decode(data, type=ForkRequest | SignalRequest)
        if isinstance(request, ForkRequest):
            self._fork(request, descriptors)
        elif request.number in self._forks:
            _signal(self._forks[request.number].pid, request.signal)
        return True

    def _fork(self, request: ForkRequest, descriptors: list[int]) -> None:
        output, told = descriptors[0], socket.socket(fileno=descriptors[1])
        try:
            pid = os.fork()
        except OSError as error:
            os.write(output, f"house player: no process can be made: {error}\n".encode())
            told.send(b"1")
            told.close()
        else:
            if pid == 0:
                self._become(request, output, descriptors[2:])
            pidfd = os.pidfd_open(pid)
            self._forks[request.number] = _Fork(pid, pidfd, told)
            self._selector.register(pidfd, selectors.EVENT_READ, request.number)
        for descriptor in (output, *descriptors[2:]):
            os.close(descriptor)

    def _end(self, number: int) -> None:
        """Tell of a process that has ended, once all of its group has."""
        fork = self._forks.pop(number)
        self._selector.unregister(fork.pidfd)
        os.close(fork.pidfd)
        _signal(fork.pid, signal.SIGKILL)  # before its status is taken: from then on another group may have its number
        _, status = os.waitpid(fork.pid, 0)
        with contextlib.suppress(OSError):  # nobody wants to know
            fork.told.send(b"%d" % os.waitstatus_to_exitcode(status))
        fork.told.close()

    def _become(self, request: ForkRequest, output: int, others: list[int]) -> None:
        """Be a house player, and end as one; called in a new process."""
        status = 1
        try:
            self._libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != self._pid:
                return
            os.setsid()
            os.dup2(output, 1)
            os.dup2(output, 2)
            _close_all_but(others)
            if self._joined(others[request.has_socket :]):
                self._take_on(request.environment)
                if request.has_socket:
                    os.environ["REFEREE_ADDRESS"] = f"unix:/proc/self/fd/{others[0]}"
                most = min(request.open_files, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
                status = play(request.player)
            else:
                status = NOT_JOINED
        except BaseException:  # noqa: BLE001  # as at an interpreter's end
            traceback.print_exc()
        finally:
            with contextlib.suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)

    @staticmethod
    def _joined(groups: list[int]) -> bool:
        """Join control groups; tell whether that went well."""
        try:
            for group in groups:
                os.write(group, b"0")
                os.close(group)
        except OSError as error:
            print(f"house player: it can't be held to its limits: {error}", file=sys.stderr)
            return False
        return True

    def _take_on(self, environment: dict[str, str]) -> None:
        """Have another environment, and its mark where /proc shows it."""
        mark = environment.get(MARK, "").encode()
        if self._mark is not None and len(mark) == len(os.environ.get(MARK, "")):
            ctypes.memmove(self._mark, mark, len(mark))
        os.environ.clear()
        os.environ.update(environment)


def _close_all_but(kept: list[int]) -> None:
    """Close what belongs to other processes."""
    for before, after in itertools.pairwise([2, *sorted(kept), os.sysconf("SC_OPEN_MAX")]):
        os.closerange(before + 1, after)


def _signal(pid: int, number: int) -> None:
    """Send a signal to a process group; to its first process alone while it is not made."""
    with contextlib.suppress(ProcessLookupError):
        try:
            os.killpg(pid, number)
        except ProcessLookupError:
            os.kill(pid, number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
