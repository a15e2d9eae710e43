"""Starts a player program within its bounds and ends it, with everything it started.

A program runs in a session of its own and, where the machine allows it, in a sandbox and in control groups; it finds
the referee's address, its own token and the mark of its start in its environment.
"""

import contextlib
import functools
import secrets
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ..clock import Timer
from .confining import Confinement
from .control_groups import Group
from .file_view import FileAccess, FileView, view_of
from .fork_server import for_all
from .house import FORKS, MARK, ForkRequest
from .output import OutputPipe, Reactor
from .player_spec import Launch, PlayerError, resolved, starting
from .sandbox import SOCKET
from .starting import ChildProcess, FirstProcess, ProcessCommand, RunningProcess, kill_orphans, start

PATIENCE_S = 2.0
"""How long a program may take to end by itself, once its match is over: it may have last words."""
GRACE_S = 0.5
"""Between asking a process group to end and killing it."""
CLEAR_S = 5.0
"""How long what was killed may take to be gone: the kernel frees the memory of a large process first."""
POLL_S = 0.02
"""How often it is looked at whether all of it is gone."""
_SIGNALLED = 128
"""What a shell, and bubblewrap as well, adds to the number of the signal that ended a program."""


class Invitation(Struct, frozen=True, kw_only=True):
    """How a launched program finds its referee and proves that it is the one."""

    address: str
    """As a player writes it; of a program that is given a socket, that is its address in its place."""
    token: str
    """No other program's is the same."""
    seed: str = ""
    """For a player that draws lots, in hex; empty: it has none."""

    def environment(self, name: str, socket: Path | None) -> dict[str, str]:
        """Return the variables that tell a program.

        Args:
            name: the player's.
            socket: that the program is given; None: it has none.
        """
        address = self.address if socket is None else f"unix:{SOCKET}"
        found = {"REFEREE_ADDRESS": address, "REFEREE_TOKEN": self.token, "REFEREE_NAME": name}
        return found | ({"REFEREE_PLAYER_SEED": self.seed} if self.seed else {})


class Program:
    """One running program and everything it starts.

    Args:
        launch: what to start.
        invitation: what it is told of the referee.
        output: file that takes the end of its stdout and stderr.
        reactor: Twisted's.
        confinement: what it is held to, as every program is.
        access: what it may not read, besides what no program may, and its socket.

    Raises:
        PlayerError: it can't be started.
    """

    def __init__(
        self,
        launch: Launch,
        invitation: Invitation,
        output: Path,
        reactor: Reactor,
        confinement: Confinement = Confinement(),  # noqa: B008  # frozen
        access: FileAccess = FileAccess(),  # noqa: B008  # frozen
    ) -> None:
        self.status: str | None = None
        """How it ended: `exit status N` or `signal NAME`, and what it printed last; None while it runs."""
        self.end_parts: list[str] = []
        """The same in parts: how; that it ran out of memory, if it did; and what it printed last, if anything."""
        self.exited: Deferred[str] = Deferred()
        """Fires with the status."""
        self.gone: Deferred[None] = Deferred()
        """Fires once nothing of it is left: no process and no control group."""
        self.output_path = output
        """Is there if it printed anything."""
        self._reactor = reactor
        self._confinement = confinement
        own = invitation.environment(launch.name, access.socket) | {MARK: secrets.token_hex(16)}
        self.mark = f"{MARK}={own[MARK]}"
        """What all its processes have in their environment, and no other process has: tokens follow from the seed."""
        self._push: Timer | None = None
        self._first: FirstProcess | None = None
        argv = resolved(launch)
        hidden = (*confinement.hidden, *access.hidden)
        whole = replace(access, hidden=hidden, private_names=confinement.private_names)

        self._group = confinement.group()
        self._output = OutputPipe(reactor, output)
        with contextlib.ExitStack() as undoing:
            undoing.callback(self._output.close)
            if self._group is not None:
                undoing.callback(self._group.remove)
            try:
                with starting(launch):
                    self._process = self._started(launch, argv, whole, confinement.environment(own))
            except OSError as error:
                raise PlayerError(f"{launch.name}: can't start {argv[0]}: {error.strerror}") from None
            finally:
                self._output.close_write_end()
            undoing.pop_all()
        # Two turns of the loop, and its socket was read: what it said last came before its end.
        self._process.when_ended(functools.partial(reactor.callLater, 0, reactor.callLater, 0, self._ended))

    def _started(
        self, launch: Launch, argv: Sequence[str], access: FileAccess, env: Mapping[str, str]
    ) -> RunningProcess:
        """Start it, or have it forked from what runs already."""
        confinement, output = self._confinement, self._output.write_fd
        if confinement.fork_server is None or not launch.is_house:
            return ChildProcess(self._started_alone(launch, argv, access, env), self._reactor)
        request = ForkRequest(player=argv[-1], environment=dict(env), open_files=confinement.limits.open_files)

        def _begin(descriptor: int) -> tuple["subprocess.Popen[bytes]", Group | None]:
            whole = replace(confinement, limits=for_all(confinement.limits))
            own = confinement.environment({MARK: secrets.token_hex(16)})
            group, forking = whole.group(), [*argv[:-1], FORKS, str(descriptor)]
            view = functools.partial(view_of, launch, argv, replace(access, socket=None))
            with contextlib.ExitStack() as undoing, whole.command(forking, view, group) as command:
                if group is not None:
                    undoing.callback(group.remove)
                process = start(command, cwd=None, env=own, output=output, pass_fds=(descriptor,))
                undoing.pop_all()
                return process, group

        return confinement.fork_server.fork(_begin, self._reactor, request, output, access.socket, self._group)

    def _started_alone(
        self, launch: Launch, argv: Sequence[str], access: FileAccess, env: Mapping[str, str]
    ) -> "subprocess.Popen[bytes]":
        """Start it; where no control groups tell when all of a sandbox is gone, its first process does."""
        telling: tuple[int, ...] = ()
        if self._confinement.sandbox is not None and self._group is None:
            self._first = FirstProcess(self._reactor)
            telling = (self._first.write_fd,)

        def _view() -> FileView:
            view = view_of(launch, argv, access)
            return replace(view, told=telling[0]) if telling else view

        with ProcessCommand((), telling), self._confinement.command(argv, _view, self._group) as command:
            return start(command, cwd=launch.folder, env=env, output=self._output.write_fd, pass_fds=telling)

    def turn_to(self, output: Path) -> None:
        """Begin another match: another file takes what is printed, and whoever waited for the end waits no more.

        Args:
            output: file that takes the end of it from now on.
        """
        self.output_path, self.exited = output, Deferred()
        self._output.turn_to(output)

    def save_output(self) -> None:
        """Write what it has printed by now into its file."""
        self._output.save()

    def stop(self) -> None:
        """Let it do nothing until it may go on; without control groups, what has left its session does."""
        self._signal_all(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on, if it was stopped."""
        self._signal_all(signal.SIGCONT)

    def is_filled(self, share: float) -> bool:
        """Tell whether it uses so much of the memory or of the processes that it is allowed, where that is known."""
        return self._group is not None and self._group.is_filled(share)

    def end(self, patience_s: float = PATIENCE_S) -> "Deferred[None]":
        """Wait for the program to end by itself; then ask its process group to, and kill it if it does not.

        Args:
            patience_s: how long it may take to end by itself, in seconds.

        Returns:
            `gone`.
        """
        if self.status is None and self._push is None:
            self._push = self._reactor.callLater(patience_s, self._ask_to_end)
        return self.gone

    def _ask_to_end(self) -> None:
        self._signal(signal.SIGTERM)
        self._push = self._reactor.callLater(GRACE_S, self._kill)

    def _ended(self, code: int) -> None:
        if self._push is not None and self._push.active():
            self._push.cancel()
        self._output.close()
        self.end_parts = self._how_it_ended(code)
        self.status = ": ".join(self.end_parts)
        self.exited.callback(self.status)
        self._clear(self._reactor.seconds() + CLEAR_S)

    def _how_it_ended(self, code: int) -> list[str]:
        number = -code if code < 0 else code - _SIGNALLED if self._confinement.sandbox is not None else 0
        named = number in set(signal.Signals)
        parts = [f"signal {signal.Signals(number).name}" if named else f"exit status {code}"]
        if self._group is not None and self._group.ran_out_of_memory:
            parts.append(f"out of memory (limit {self._confinement.limits.memory_mib} MiB)")
        if last_words := self._output.tail.last_words:
            parts.append(last_words)
        return parts

    def _clear(self, give_up: float) -> None:
        """Kill and remove until nothing is left."""
        is_clear = not self._kill_rest() and (self._group is None or self._group.remove())
        if is_clear or self._reactor.seconds() > give_up:
            self.gone.callback(None)
        else:
            self._reactor.callLater(POLL_S, self._clear, give_up)

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)
        self._kill_rest()

    def _kill_rest(self) -> bool:
        """Kill what has left the process group; tell whether there was any of it that no control group holds."""
        if self._group is not None:
            self._group.kill()
        if self._first is not None:
            return not self._first.is_gone
        return self._group is None and kill_orphans(self.mark)  # a sandbox that is shared does not end with it

    def _signal_all(self, number: signal.Signals) -> None:
        """Send a signal to all processes, once to each: a program may do what it likes when it may go on."""
        if self._group is None:
            self._signal(number)
        elif self.status is None:
            self._group.signal(number)

    def _signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)
