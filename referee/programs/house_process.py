"""Runs a house player as a program; `house:NAME` starts it. Its choice of moves is in sample_players/python/.

`python -m referee.programs.house_process NAME` is one player. With `--forks DESCRIPTOR`, it is the process from which
all house players of a referee are forked (fork_server.py is the other side). It imports their code once, and then forks
at each request on the socket with this descriptor. It has a single thread and no event loop, because a fork does not
copy other threads: a lock that such a thread held would never be released in the child.
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
from .environment import MARK

FORKS = "--forks"
MAX_REQUEST_BYTES = 1 << 17
MAX_DESCRIPTORS = 8
NOT_JOINED = 126
"""Exit status of a program that could not join its control groups."""
_PR_SET_PDEATHSIG = 1
"""Number of the operation of prctl that sets the signal for the parent's end."""


class ForkRequest(Struct, frozen=True, kw_only=True, tag="fork"):
    """Requests a process that runs a house player.

    Descriptors come with the request, in this order: one for stdout and stderr; a socket for the exit status (negative
    for a signal); the referee's socket, if there is one; and the process lists of the control groups to join.
    """

    number: int = 0
    """Number by which later requests name the process."""
    player: str
    environment: dict[str, str]
    """The whole environment of the process."""
    open_files: int
    """Maximum number of open files of the process."""
    has_socket: bool = False


class SignalRequest(Struct, frozen=True, kw_only=True, tag="signal"):
    """Requests a signal to a process group. If the process has ended, nothing is sent."""

    number: int
    signal: int


class _Fork(Struct, frozen=True):
    pid: int
    pidfd: int
    status_socket: socket.socket


def main(arguments: list[str]) -> int:
    """Play until the referee closes, or fork until it does.

    Args:
        arguments: the house player's name, or `--forks` and a descriptor.

    Returns:
        The exit status: 0; 1 if the player could not go on; 2 for a wrong argument.
    """
    match arguments:
        case [name]:
            return play(name)
        case [option, descriptor] if option == FORKS:
            with contextlib.suppress(PluginError):  # each house player will report it itself
                list(installed().games.values())  # this imports all games
            Forks(socket.socket(fileno=int(descriptor))).serve()
            os._exit(0)  # without the usual clean-up, because the referee is waiting for the end
    print("usage: python -m referee.programs.house_process NAME", file=sys.stderr)
    return 2


def play(name: str) -> int:
    """Play as a house player until the referee closes the connection; return the exit status."""
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
        # A program that stays for several matches needs different random numbers in each. The first match uses the seed
        # itself, so that a program that is started again makes the same moves.
        match_seed = derive(seed, f"match:{number}") if number else seed
        return player.make(game, game.parse_options(offer.options), match_seed)

    try:
        run(make=_make, name=os.environ.get("REFEREE_NAME", player.name), say=None)
    except (ClientError, ProtocolError, OSError) as error:
        print(f"house player {player.name}: {error}", file=sys.stderr)
        return 1
    return 0


class Forks:
    """Forks house players until the referee has ended. All of them end with this process.

    Args:
        control: socket for the referee's requests; each request is one message.
    """

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._pid = os.getpid()
        self._libc = ctypes.CDLL(None)
        self._libc.getenv.restype = ctypes.c_void_p
        self._mark: int | None = self._libc.getenv(MARK.encode())
        """Memory address of the mark in the environment that /proc shows for this process."""
        self._forks: dict[int, _Fork] = {}
        """Number -> running process."""
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)

    def serve(self) -> None:
        """Serve requests until the referee closes the socket."""
        # Until now, stdout and stderr were those of the first player, for which this process was started.
        with open(os.devnull, "r+b") as nothing:  # noqa: PTH123
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        gc.collect()
        gc.freeze()  # later collections don't touch these objects, so all children share their memory pages
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is not self._control:
                    self._report_end(key.data)
                elif not self._serve_one():
                    return

    def _serve_one(self) -> bool:
        """Serve the next request; return False if the referee has ended."""
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
        output, status_socket = descriptors[0], socket.socket(fileno=descriptors[1])
        with contextlib.suppress(PluginError):  # the house player will report it itself
            installed().player(request.player).load()
        try:
            pid = os.fork()
        except OSError as error:
            os.write(output, f"house player: no process can be made: {error}\n".encode())
            status_socket.send(b"1")
            status_socket.close()
        else:
            if pid == 0:
                self._become(request, output, descriptors[2:])
            pidfd = os.pidfd_open(pid)
            self._forks[request.number] = _Fork(pid, pidfd, status_socket)
            self._selector.register(pidfd, selectors.EVENT_READ, request.number)
        for descriptor in (output, *descriptors[2:]):
            os.close(descriptor)

    def _report_end(self, number: int) -> None:
        """Kill the rest of the group of a process that has ended, and report the end."""
        fork = self._forks.pop(number)
        self._selector.unregister(fork.pidfd)
        os.close(fork.pidfd)
        # The group is killed before the status is collected, because later another group may get the same number.
        _signal(fork.pid, signal.SIGKILL)
        _, status = os.waitpid(fork.pid, 0)
        with contextlib.suppress(OSError):  # the referee has closed its end
            fork.status_socket.send(b"%d" % os.waitstatus_to_exitcode(status))
        fork.status_socket.close()

    def _become(self, request: ForkRequest, output: int, others: list[int]) -> None:
        """Run a house player in this new process, and exit when it is done."""
        status = 1
        try:
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != self._pid:  # the parent ended before prctl, so no signal will come
                return
            os.setsid()
            os.dup2(output, 1)
            os.dup2(output, 2)
            _close_all_but(others)
            if self._join(others[request.has_socket :]):
                self._set_environment(request.environment)
                if request.has_socket:
                    os.environ["REFEREE_ADDRESS"] = f"unix:/proc/self/fd/{others[0]}"
                most = min(request.open_files, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
                status = play(request.player)
            else:
                status = NOT_JOINED
        except BaseException:  # noqa: BLE001  # print it, as an interpreter does at its end
            traceback.print_exc()
        finally:
            with contextlib.suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)

    @staticmethod
    def _join(groups: list[int]) -> bool:
        """Join control groups; return whether this succeeded."""
        try:
            for group in groups:
                os.write(group, b"0")
                os.close(group)
        except OSError as error:
            print(f"house player: its limits can't be enforced: {error}", file=sys.stderr)
            return False
        return True

    def _set_environment(self, environment: dict[str, str]) -> None:
        """Replace this process's environment.

        The mark is also overwritten in the memory that /proc shows, because the referee finds leftover processes by it.
        """
        mark = environment.get(MARK, "").encode()
        if self._mark is not None and len(mark) == len(os.environ.get(MARK, "")):
            ctypes.memmove(self._mark, mark, len(mark))
        os.environ.clear()
        os.environ.update(environment)


def _close_all_but(needed: list[int]) -> None:
    """Close all descriptors that the fork has copied, except those that are needed."""
    for before, after in itertools.pairwise([2, *sorted(needed), os.sysconf("SC_OPEN_MAX")]):
        os.closerange(before + 1, after)


def _signal(pid: int, number: int) -> None:
    """Send a signal to a process group, or to its first process if the group does not exist yet."""
    with contextlib.suppress(ProcessLookupError):
        try:
            os.killpg(pid, number)
        except ProcessLookupError:
            os.kill(pid, number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
