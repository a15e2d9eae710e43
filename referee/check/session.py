"""One start of the player program, and the conversation with it up to a match.

Whatever the program does wrong here is raised as Failed, with what was expected of it.
"""

import secrets
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from protocol import Connection, ConnectionState, RemoteProtocolError, Role
from protocol.frames import encode_frame
from protocol.limits import MAX_FRAME_FROM_REFEREE_BYTES, PREFIX_BYTES, PROTOCOL_VERSION
from protocol.messages import Hello, Message, Welcome

from ..net.matches.programs import find_ending
from ..programs.confining import Confinement
from ..programs.environment import Invitation
from ..programs.file_view import FileAccess
from ..programs.limits import CLEAR_S, GRACE_S, PATIENCE_S
from ..programs.player_spec import Launch
from ..programs.program import Program
from ..text import counted
from .findings import Failed
from .loop import Loop
from .processes import used_cpu_s, used_memory_bytes
from .remedies import OF_CODE, SPEC, ending_remedy, late_remedy
from .wire import CheckConnection, Delivery, NotReadingError, listening

Rewrite = Callable[[bytes], bytes]
"""Another encoding of a message's body."""
_EXIT_S = 0.5
"""How long after its connection broke a program's exit is awaited, to tell a crash from a disconnection."""
_WATCHED_S = 0.4
"""How long a program that does not end is watched, to tell one that waits from one that spins."""
_UNSENT_BYTES = 65_536
"""What the kernel keeps on our side: so that who does not read is soon found out."""
_LAST_WORDS_S = 0.3
"""Of a step that is over, to print why it ends: whether it ends by itself is for steps of their own."""
_CROSSING_S = 0.03
"""Before the connection is closed: what the program has just sent is read, or the kernel would not deliver our own."""
_LATE_S = 3.0
"""How much longer a late answer is awaited, to tell whether it is late or never comes."""
_LAST_CHARS = 800
_SPINS = 0.15
"""Share of one core; more than what only waits ever takes, and what any machine gives to what does not."""


class Times(Struct, frozen=True, kw_only=True):
    """How long a program may take, in seconds."""

    start_s: float = 30.0
    """To start and say hello, and to say ready."""
    move_s: float = 6.0
    """For each move and each ack."""


class Session:
    """One start of the program.

    Args:
        launch: how it is started.
        times: its limits.
        loop: runs everything.
        confinement: what the program is held to.
        folder: for its socket and its output; for this session alone.
        is_launched: whether it is told what only launched programs are, and so ends when its connection does.

    Raises:
        PlayerError: it can't be started.
    """

    def __init__(
        self,
        launch: Launch,
        times: Times,
        loop: Loop,
        confinement: Confinement,
        folder: Path,
        *,
        is_launched: bool,
    ) -> None:
        self.name = launch.name
        self.times = times
        self.loop = loop
        self.token = secrets.token_hex(32)
        self.resume = self.token if is_launched else secrets.token_hex(32)
        self.delivery = Delivery.WHOLE
        self.rewrite: Rewrite | None = None
        """Puts another encoding of a message in the place of its body."""
        self.connection = Connection(Role.REFEREE)
        self.matches = 0
        self.peak_bytes = 0
        self._wire: CheckConnection | None = None
        self._printed = b""
        self._outbox: list[bytes] = []
        path = None if confinement.sandbox is None else folder / "socket"
        self._listener, address = listening(path)
        invitation = Invitation(address=address, token=self.token, seed="5e" * 32 if is_launched else "")
        access = FileAccess(hidden=(folder,), socket=path)
        self._held = ExitStack()
        self._held.callback(self._listener.close)
        try:
            access = replace(access, own_copy=self._held.enter_context(confinement.copy_folder(launch, access)))
            self.program = Program(launch, invitation, folder / "output", loop.reactor, confinement, access)
        except BaseException:
            self._held.close()
            raise
        self._began_s = loop.seconds()

    # --- the connection

    @property
    def wire(self) -> CheckConnection:
        """The connection."""
        assert self._wire is not None, "nobody has connected yet"
        return self._wire

    @property
    def asked(self) -> tuple[bytes, ...]:
        """The frames that were sent since the program's last answer."""
        return tuple(self._wire.asked) if self._wire is not None else ()

    @property
    def heard(self) -> bytes:
        """What the program sent last, complete or not."""
        return bytes(self._wire.received) or self._wire.last if self._wire is not None else b""

    def accept(self, limit_s: float) -> float:
        """Wait for the program to connect.

        Returns:
            How long it took, in seconds.

        Raises:
            Failed: it did not, or ended before.
        """
        if self._wire is not None:
            self._wire.close()
            self._wire = None
        self.connection = Connection(Role.REFEREE)
        if not self.loop.wait(lambda: self._knocked() or self.program.status is not None, limit_s):
            raise self._not_there(f"it did not connect within {limit_s:g} s")
        if self._wire is None and not self._knocked():
            raise self._not_there(f"the program ended before it connected: {self.program.status}")
        return self.loop.seconds() - self._began_s

    def _not_there(self, happened: str) -> Failed:
        return Failed(
            happened,
            "a connection to the address in the environment variable REFEREE_ADDRESS",
            self._end_remedy()
            or f"Connect to `tcp:HOST:PORT` or `unix:PATH`, whichever it holds ({SPEC}, Addresses); "
            "stdin and stdout do not lead to the referee.",
        )

    def _end_remedy(self) -> str | None:
        """Return what to do about a program that ended; None if there is nothing to say, or if it runs."""
        if self.program.status is None:
            return None
        return ending_remedy(find_ending(self.program), self.program.status)

    def _knocked(self) -> bool:
        if self._wire is not None:
            return True
        try:
            sock, _ = self._listener.accept()
        except BlockingIOError:
            return False
        if sock.family == socket.AF_INET:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNSENT_BYTES)
        self._wire = CheckConnection(sock, self.loop)
        return True

    # --- the referee speaks

    def say(self, *messages: Message) -> None:
        """Send messages; those that belong together go out with the next wait."""
        for message in messages:
            frame = self.connection.send(message)
            if self.rewrite is not None:
                frame = encode_frame(self.rewrite(frame[PREFIX_BYTES:]), MAX_FRAME_FROM_REFEREE_BYTES)
            self._outbox.append(frame)

    def flush(self, *, but_last: bool = False) -> None:
        """Send what was said.

        Args:
            but_last: whether the last message is held back until the next time.

        Raises:
            Failed: the program does not read it.
        """
        kept = len(self._outbox) - but_last
        frames, self._outbox = self._outbox[:kept], self._outbox[kept:]
        try:
            self.wire.send(frames, self.delivery, self.times.move_s)
        except NotReadingError as error:
            raise Failed(
                f"it does not read: {error} after {self.times.move_s:g} s",
                "everything that the referee sends is read as it comes",
                OF_CODE["not-reading"],
            ) from None

    def slip_in(self, data: bytes) -> None:
        """Put bytes in front of what was said and not sent yet."""
        self._outbox.insert(0, data)

    def keep(self, frames: int) -> None:
        """Forget what was said behind the first frames that were not sent yet."""
        del self._outbox[frames:]

    # --- the program speaks

    def frame(self, limit_s: float, what: str) -> bytes:
        """Wait for the program's next frame.

        Args:
            limit_s: until when, in seconds.
            what: the message that is awaited, for the error.

        Returns:
            The frame with its prefix; if it is over the limit, what came of it.

        Raises:
            Failed: none came in time.
        """
        self.flush()
        wire, began_s = self.wire, self.loop.seconds()
        if not self.loop.wait(lambda: wire.has_frame or wire.is_ended, limit_s):
            raise self._late(limit_s, what, began_s)
        if not wire.has_frame:
            raise self._gone(what)
        self.peak_bytes = max(self.peak_bytes, used_memory_bytes(self.program.mark))
        return wire.take()

    def hear(self, limit_s: float, what: str) -> Message:
        """Wait for the program's next message.

        Raises:
            Failed: none came in time, or what came is against the protocol.
        """
        while True:
            frame = self.frame(limit_s, what)
            try:
                self.connection.receive_data(frame)
                event = self.connection.next_event()
            except RemoteProtocolError as error:
                happened, remedy = f"{error.code}: {error.detail}", OF_CODE[error.code]
                raise Failed(happened, what, remedy, received=frame) from None
            if isinstance(event, Message):
                return event  # else it was an answer that crossed the end of its match

    def greet(self, *, is_connected: bool = False) -> Hello:
        """Take the program in: its hello, and a welcome.

        Args:
            is_connected: whether accept() was called already.

        Raises:
            Failed: it does not come, or says anything else.
        """
        if not is_connected:
            self.accept(self.times.start_s)
        hello = self.hear(self.times.start_s, "a hello")
        assert isinstance(hello, Hello), "the connection lets nothing else come first"
        self.say(Welcome(version=PROTOCOL_VERSION, referee="referee check"))
        return hello

    def quiet(self, pause_s: float, when: str) -> None:
        """See to it that the program says nothing for a while.

        Raises:
            Failed: it does, or it leaves.
        """
        wire = self.wire
        self.loop.wait(lambda: bool(wire.received) or wire.is_ended, pause_s)
        if wire.received:
            self.loop.wait(lambda: wire.has_frame or wire.is_ended, pause_s)
            raise Failed(
                f"it spoke {when}: {counted(len(wire.received), 'byte')} that nothing asked for",
                "silence until the referee asks for something",
                OF_CODE["out-of-turn"],
                received=wire.take(),
            )
        if wire.is_ended:
            raise self._gone(f"silence {when}, the connection open")

    def _late(self, limit_s: float, what: str, began_s: float) -> Failed:
        wire, used_s, due_s = self.wire, used_cpu_s(self.program.mark), self.loop.seconds()
        self.loop.wait(lambda: wire.has_frame or wire.is_ended, min(limit_s, _LATE_S))  # its author wants to know
        used_later_s = used_cpu_s(self.program.mark) - used_s
        is_busy = used_later_s > _SPINS * (self.loop.seconds() - due_s)
        if wire.has_frame:
            happened = f"its answer came after {self.loop.seconds() - began_s:.2f} s; the limit was {limit_s:g} s"
        elif wire.received:
            happened = f"only a part of an answer came within {limit_s:g} s: {counted(len(wire.received), 'byte')}"
        else:
            happened = f"nothing came within {limit_s:g} s, nor soon after"
        return Failed(
            happened,
            f"{what}, complete within {limit_s:g} s after the last byte of the request",
            late_remedy(used_s + max(used_later_s, 0.0), is_busy=is_busy, has_answered=bool(wire.received)),
        )

    def _gone(self, what: str) -> Failed:
        has_ended = self.loop.wait(lambda: self.program.status is not None, _EXIT_S)
        happened = f"the program ended: {self.program.status}" if has_ended else "it closed the connection"
        last_line = self.last_words.rstrip().rpartition("\n")[2]
        remedy = self._end_remedy() or "See what it printed last. Keep the connection until the referee closes it."
        cause = f"crashed: {last_line or self.program.status}" if has_ended else None
        return Failed(happened, what, remedy, cause=cause)

    # --- the end

    @property
    def is_idle(self) -> bool:
        """Whether another match can be offered."""
        is_open = self._wire is not None and not self._wire.is_ended and not self._wire.received
        return is_open and self.connection.state is ConnectionState.IDLE

    def sleep(self, pause_s: float) -> None:
        """Stop the program for a while, with all its processes, as between two matches of a tournament."""
        self.flush()
        self.loop.pause(_CROSSING_S)
        self.program.stop()
        self.loop.pause(pause_s)
        self.program.resume()

    def hang_up(self) -> None:
        """Close the connection, as a referee does that is through with a player."""
        self._listener.close()
        self.drop()

    def drop(self) -> None:
        """Close the connection, and listen for the next."""
        self.flush()
        self.loop.pause(_CROSSING_S)
        self.wire.close()

    def tear(self) -> None:
        """Forget the second half of the bytes that are to be sent next."""
        torn = b"".join(self._outbox)
        self._outbox = [torn[: len(torn) // 2]]

    def expect_exit(self, when: str) -> str:
        """Wait for the program to end by itself.

        Returns:
            How it ended.

        Raises:
            Failed: it does not.
        """
        began_s = self.loop.seconds()
        if not self.loop.wait(lambda: self.program.status is not None, PATIENCE_S):
            before_s = used_cpu_s(self.program.mark)
            self.loop.pause(_WATCHED_S)
            spins = used_cpu_s(self.program.mark) - before_s > _SPINS * _WATCHED_S
            raise Failed(
                f"it still runs {PATIENCE_S:g} s {when}, and {'spins: it uses a whole core' if spins else 'waits'}",
                f"the program ends by itself within {PATIENCE_S:g} s {when}",
                "When a read gives no bytes, the connection has ended: leave the loop that reads, and exit.",
            )
        return f"it ended after {self.loop.seconds() - began_s:.2f} s"

    def explain(self, failure: Failed) -> None:
        """Add to a failure what is known of it here."""
        failure.asked = failure.asked or self.asked
        failure.received = self.heard if failure.received is None else failure.received
        failure.printed = failure.printed or self.last_words

    @property
    def last_words(self) -> str:
        """The end of what it has printed so far."""
        return self.printed.decode(errors="replace")[-_LAST_CHARS:]

    @property
    def printed(self) -> bytes:
        """What is kept of what the program printed; all of it once the program has ended."""
        path = self.program.output_path
        if path.exists():
            self._printed = path.read_bytes()
        return self._printed

    def close(self) -> None:
        """End the program, and everything that it started."""
        self._listener.close()
        if self._wire is not None:
            self._wire.close()
        gone = self.program.end(_LAST_WORDS_S)
        self.loop.wait(lambda: gone.called, _LAST_WORDS_S + GRACE_S + CLEAR_S)
        self._held.close()
        _ = self.printed
