"""One running player program: starts it within its bounds, and ends it together with all processes that it started."""

# A program runs in its own session and, if the machine allows this, in a sandbox and in control groups. environment.py
# lists its environment variables, and limits.py says how long it may take to end.
#
# The end has three stages. First, a program has PATIENCE_S to exit by itself, as most do when their connection is
# closed. Then its process group gets SIGTERM, and after GRACE_S SIGKILL. Processes that remain have left the group.
# They are killed through their control group, with their sandbox or, if the machine has neither, by the mark in their
# environment.

import contextlib
import functools
import secrets
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ..clock import Timer
from .confining import Confinement
from .control_groups import Group
from .environment import MARK, Invitation
from .file_view import FileAccess, FileView, view_files
from .fork_server import limits_for_all
from .house_process import FORKS, ForkRequest
from .limits import CLEAR_S, GRACE_S, PATIENCE_S
from .output import OutputPipe, Reactor
from .player_spec import Launch, PlayerError, resolve_command, starting
from .processes import ChildProcess, FirstProcess, ProcessCommand, RunningProcess, find_marked, kill_orphans, start
from .usage import ProcessorUse, measure_processor_use

POLL_S = 0.02
"""Time between two checks whether all processes of a program are gone."""
_SIGNALLED = 128
"""Offset that shells and bubblewrap add to the number of the signal that ended a program."""


class Program:
    """One running program and everything that it starts.

    Args:
        launch: the program to start.
        invitation: address and token with which it reaches the referee.
        output: file for the end of its stdout and stderr.
        reactor: Twisted's reactor.
        confinement: the bounds of all programs.
        access: further files that this program may not read, and its socket.

    Raises:
        PlayerError: the program can't be started.
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
        """`exit status N` or `signal NAME`, and the end of its output; None while it runs."""
        self.end_parts: list[str] = []
        """Parts of the status: exit status or signal; a note if it ran out of memory; the end of its output."""
        self.exited: Deferred[str] = Deferred()
        """Fires with the status when the program has exited."""
        self.gone: Deferred[None] = Deferred()
        """Fires when no process and no control group of the program is left."""
        self.output_path = output
        """File of its output. It exists only if the program printed something."""
        self._reactor = reactor
        self._confinement = confinement
        added = invitation.variables(launch.name, access.socket) | {MARK: secrets.token_hex(16)}
        # The token can't serve as the mark, because a resumed match has the same tokens.
        self.mark = f"{MARK}={added[MARK]}"
        """Variable in the environment of all its processes, but of no other process."""
        self._push: Timer | None = None
        self._first: FirstProcess | None = None
        argv = resolve_command(launch)
        hidden = (*confinement.hidden, *access.hidden)
        full_access = replace(access, hidden=hidden, private_names=confinement.private_names)

        self._group = confinement.group()
        self.output = OutputPipe(reactor, output)
        """The program's stdout and stderr."""
        with contextlib.ExitStack() as undoing:
            undoing.callback(self.output.close)
            if self._group is not None:
                undoing.callback(self._group.remove)
            try:
                with starting(launch):
                    self._process = self._start(launch, argv, full_access, confinement.environment(added))
            except OSError as error:
                raise PlayerError(f"{launch.name}: can't start {argv[0]}: {error.strerror}") from None
            finally:
                self.output.close_write_end()
            undoing.pop_all()
        # Wait for two turns of the event loop: they read its socket, so that its last message comes before its end.
        self._process.on_end(functools.partial(reactor.callLater, 0, reactor.callLater, 0, self._finish))

    def _start(self, launch: Launch, argv: Sequence[str], access: FileAccess, env: Mapping[str, str]) -> RunningProcess:
        """Start the program; fork it from the fork server if it is a house player."""
        confinement, output = self._confinement, self.output.write_fd
        if confinement.fork_server is None or not launch.is_house:
            return ChildProcess(self._start_alone(launch, argv, access, env), self._reactor)
        request = ForkRequest(player=argv[-1], environment=dict(env), open_files=confinement.limits.open_files)

        def _begin(descriptor: int) -> tuple["subprocess.Popen[bytes]", Group | None]:
            shared = replace(confinement, limits=limits_for_all(confinement.limits))
            forking = [*argv[:-1], FORKS, str(descriptor)]
            shared_env = confinement.environment({MARK: secrets.token_hex(16)})
            group = shared.group()
            view = functools.partial(view_files, launch, argv, replace(access, socket=None))
            with contextlib.ExitStack() as undoing, shared.command(forking, view, group) as command:
                if group is not None:
                    undoing.callback(group.remove)
                process = start(command, cwd=None, env=shared_env, output=output, pass_fds=(descriptor,))
                undoing.pop_all()
                return process, group

        return confinement.fork_server.fork(_begin, self._reactor, request, output, access.socket, self._group)

    def _start_alone(
        self, launch: Launch, argv: Sequence[str], access: FileAccess, env: Mapping[str, str]
    ) -> "subprocess.Popen[bytes]":
        """Start the program. Without a control group, watch the sandbox's first process to notice when all are gone."""
        info_fds: tuple[int, ...] = ()
        if self._confinement.sandbox is not None and self._group is None:
            self._first = FirstProcess(self._reactor)
            info_fds = (self._first.write_fd,)

        def _view() -> FileView:
            view = view_files(launch, argv, access)
            return replace(view, info_fd=info_fds[0]) if info_fds else view

        with ProcessCommand((), info_fds), self._confinement.command(argv, _view, self._group) as command:
            return start(command, cwd=launch.folder, env=env, output=self.output.write_fd, pass_fds=info_fds)

    def begin_match(self, output: Path) -> None:
        """Prepare for another match: later output goes to another file, and `exited` is a new Deferred.

        Args:
            output: file for the end of the later output.
        """
        self.output_path, self.exited = output, Deferred()
        self.output.switch_file(output)

    def save_output(self) -> None:
        """Write its output so far into its file."""
        self.output.save()

    def stop(self) -> None:
        """Pause the program. Without control groups, processes that have left its session go on."""
        self._signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused program run again."""
        self._signal_all(signal.SIGCONT)

    def uses_at_least(self, share: float) -> bool:
        """Return whether it uses this share of its memory or of its processes; False if this is not known."""
        return self._group is not None and self._group.uses_at_least(share)

    def measure_processor_use(self) -> ProcessorUse | None:
        """Return the processor time of its processes, and whether one of them is computing; None if it is not known."""
        return measure_processor_use(find_marked(self.mark) if self._group is None else self._group.list_members())

    def end(self, patience_s: float = PATIENCE_S) -> "Deferred[None]":
        """Wait for the program to end by itself; then send its process group SIGTERM, and SIGKILL after GRACE_S.

        Args:
            patience_s: time that it has to end by itself, in seconds.

        Returns:
            The Deferred `gone`.
        """
        if self.status is None and self._push is None:
            self._push = self._reactor.callLater(patience_s, self._terminate)
        return self.gone

    def _terminate(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._push = self._reactor.callLater(GRACE_S, self._kill)

    def _finish(self, code: int) -> None:
        if self._push is not None and self._push.active():
            self._push.cancel()
        self.output.close()
        self.end_parts = self._describe_end(code)
        self.status = ": ".join(self.end_parts)
        self.exited.callback(self.status)
        self._clear(self._reactor.seconds() + CLEAR_S)

    def _describe_end(self, code: int) -> list[str]:
        number = -code if code < 0 else code - _SIGNALLED if self._confinement.sandbox is not None else 0
        is_signal = number in set(signal.Signals)
        parts = [f"signal {signal.Signals(number).name}" if is_signal else f"exit status {code}"]
        if self._group is not None and self._group.ran_out_of_memory:
            parts.append(f"out of memory (limit {self._confinement.limits.memory_mib} MiB)")
        if last_words := self.output.tail.last_words:
            parts.append(last_words)
        return parts

    def _clear(self, give_up: float) -> None:
        """Kill processes and remove groups until nothing is left."""
        is_clear = not self._kill_rest() and (self._group is None or self._group.remove())
        if is_clear or self._reactor.seconds() > give_up:
            self.gone.callback(None)
        else:
            self._reactor.callLater(POLL_S, self._clear, give_up)

    def _kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._kill_rest()

    def _kill_rest(self) -> bool:
        """Kill processes that have left the process group; return whether some may be left that no group contains."""
        if self._group is not None:
            self._group.kill()
        if self._first is not None:
            return not self._first.is_gone
        # A forked house player shares its sandbox with others, so its sandbox does not end with it.
        return self._group is None and kill_orphans(self.mark)

    def _signal_all(self, number: signal.Signals) -> None:
        """Send a signal once to each process of the program."""
        if self._group is None:
            self._process.send_signal(number)
        elif self.status is None:
            self._group.signal(number)
