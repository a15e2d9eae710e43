"""One process of the player program, and the conversation with it up to a match.

If the program does something wrong here, Failed is raised; it says what was expected of the program.
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

from ..match.events import Ending
from ..match.fouls import Cause, describe_processor_time
from ..net.matches.programs import find_ending, find_processor_use
from ..programs.confining import Confinement
from ..programs.environment import Invitation
from ..programs.file_view import FileAccess
from ..programs.limits import CLEAR_S, GRACE_S, PATIENCE_S
from ..programs.output import find_crash, shorten_crash
from ..programs.player_spec import Launch
from ..programs.processes import find_marked
from ..programs.program import Program
from ..programs.usage import measure_peak_memory
from ..text import counted
from .findings import Failed, name_late
from .loop import Loop
from .remedies import CAUSE_REMEDIES, CODE_REMEDIES, SPEC, ending_remedy
from .wire import CheckConnection, Delivery, NotReadingError, listen

Rewrite = Callable[[bytes], bytes]
"""Function that encodes a message's body in another way."""
_EXIT_S = 0.5
"""Time to wait for the program's exit after its connection broke: did it crash, or only disconnect?"""
_WATCHED_S = 0.4
"""Time to watch a program that should have ended: does it wait, or spin?"""
_UNSENT_BYTES = 65_536
"""Size of the kernel's send buffer: small, so that a program which does not read is soon noticed."""
_LAST_WORDS_S = 0.3
"""Time that the program has at the end of a step to print a reason. Other steps check whether it ends by itself."""
_CROSSING_S = 0.03
"""Pause before the connection is closed. If bytes of the program were unread then, the kernel would drop our last."""
_LATE_S = 3.0
"""Further wait for a late answer: is it only late, or does it never come?"""
_LAST_CHARS = 800
_SPINS = 0.15
"""Share of one core: more than a waiting program ever uses, and less than a spinning program gets on any machine."""


class Times(Struct, frozen=True, kw_only=True):
    """Time limits of a program, in seconds."""

    start_s: float = 30.0
    """Limit for the time from the start to the hello, and for a ready."""
    move_s: float = 6.0
    """Limit for each move and each ack."""


class Session:
    """One process of the program.

    Args:
        launch: the program.
        times: time limits of the program.
        loop: the loop that waits.
        confinement: sandbox and limits of the program.
        folder: folder for the socket and the output of this session only.
        is_launched: whether the program gets the environment variables of a launched program. With them it must end
            when its connection ends; without them it may connect again.

    Raises:
        PlayerError: the program can't be started.
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
        # A launched program comes back with the token in its environment; any other uses the token of its last offer.
        self.resume = self.token if is_launched else secrets.token_hex(32)
        self.delivery = Delivery.WHOLE
        self.rewrite: Rewrite | None = None
        """Function that encodes each body in another way; None: bodies are sent as they are."""
        self.connection = Connection(Role.REFEREE)
        self.matches = 0
        self.peak_bytes = 0
        self._wire: CheckConnection | None = None
        self._printed = b""
        self._outbox: list[bytes] = []
        path = None if confinement.sandbox is None else folder / "socket"
        self._listener, address = listen(path)
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
        assert self._wire is not None, "the program has not connected yet"
        return self._wire

    @property
    def asked(self) -> tuple[bytes, ...]:
        """Frames that were sent since the program's last answer."""
        return tuple(self._wire.asked) if self._wire is not None else ()

    @property
    def heard(self) -> bytes:
        """Bytes that the program sent last, whether they are a complete frame or not."""
        return bytes(self._wire.received) or self._wire.last if self._wire is not None else b""

    def accept(self, limit_s: float) -> float:
        """Wait for the program to connect.

        Returns:
            Time since the program was started, in seconds.

        Raises:
            Failed: the program did not connect in time, or ended before.
        """
        if self._wire is not None:
            self._wire.close()
            self._wire = None
        self.connection = Connection(Role.REFEREE)
        if not self.loop.wait(lambda: self._accept() or self.program.status is not None, limit_s):
            doing = describe_processor_time(**find_processor_use(self.program))
            raise self._explain_absence(f"it did not connect within {limit_s:g} s{doing}")
        if self._wire is None and not self._accept():
            raise self._explain_absence(self._describe_end(" before it connected"))
        return self.loop.seconds() - self._began_s

    def _explain_absence(self, happened: str) -> Failed:
        return Failed(
            happened,
            "a connection to the address in the environment variable REFEREE_ADDRESS",
            self._end_remedy() or f"{CAUSE_REMEDIES[Cause.REFUSED_TO_START]} ({SPEC}, Addresses)",
        )

    def _end_remedy(self) -> str | None:
        """Return the advice about a program that ended; None if it still runs, or if there is no advice."""
        if self.program.status is None:
            return None
        return ending_remedy(find_ending(self.program), self.program.status, Cause.CRASHED)

    def _accept(self) -> bool:
        """Accept a connection if there is one; return whether the program is connected."""
        if self._wire is not None:
            return True
        try:
            sock, _ = self._listener.accept()
        except BlockingIOError:
            return False
        if sock.family == socket.AF_INET:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # With a large buffer, it would take long to notice that the program does not read.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNSENT_BYTES)
        self._wire = CheckConnection(sock, self.loop)
        return True

    # --- messages to the program

    def say(self, *messages: Message) -> None:
        """Queue messages; they are sent together at the next flush or wait."""
        for message in messages:
            frame = self.connection.send(message)
            if self.rewrite is not None:
                frame = encode_frame(self.rewrite(frame[PREFIX_BYTES:]), MAX_FRAME_FROM_REFEREE_BYTES)
            self._outbox.append(frame)

    def flush(self, *, but_last: bool = False) -> None:
        """Send the queued messages.

        Args:
            but_last: whether the last message stays in the queue.

        Raises:
            Failed: the program does not read the messages.
        """
        count = len(self._outbox) - but_last
        frames, self._outbox = self._outbox[:count], self._outbox[count:]
        try:
            self.wire.send(frames, self.delivery, self.times.move_s)
        except NotReadingError as error:
            raise Failed(
                f"it does not read: {error} after {self.times.move_s:g} s",
                "everything that the referee sends is read as it comes",
                CODE_REMEDIES["not-reading"],
            ) from None

    def insert(self, data: bytes) -> None:
        """Put bytes at the front of the queue."""
        self._outbox.insert(0, data)

    def unsay(self, first: int = 0) -> None:
        """Remove messages from the queue, from an index on."""
        del self._outbox[first:]

    # --- messages from the program

    def frame(self, limit_s: float, what: str) -> bytes:
        """Wait for the program's next frame.

        Args:
            limit_s: longest wait, in seconds.
            what: the awaited message in words, for the error.

        Returns:
            The frame with its prefix; of a frame over the size limit, the part that came.

        Raises:
            Failed: no frame came in time.
        """
        # Send the queued messages first: the program can't answer messages that it has not received.
        self.flush()
        wire, began_s = self.wire, self.loop.seconds()
        if not self.loop.wait(lambda: wire.has_frame or wire.is_ended, limit_s):
            raise self._explain_late(limit_s, what, began_s)
        if not wire.has_frame:
            raise self._explain_end(what)
        self.peak_bytes = max(self.peak_bytes, measure_peak_memory(find_marked(self.program.mark)))
        return wire.take()

    def hear(self, limit_s: float, what: str) -> Message:
        """Wait for the program's next message.

        Raises:
            Failed: no message came in time, or it breaks the protocol.
        """
        while True:
            frame = self.frame(limit_s, what)
            try:
                self.connection.receive_data(frame)
                event = self.connection.next_event()
            except RemoteProtocolError as error:
                happened, remedy = f"{error.code}: {error.detail}", CODE_REMEDIES[error.code]
                raise Failed(happened, what, remedy, received=frame, cause=error.code) from None
            if isinstance(event, Message):
                return event
            # Else it was a late answer to a match that had just ended. The program could not know that.

    def greet(self, *, is_connected: bool = False) -> Hello:
        """Wait for the program's hello, and welcome it.

        Args:
            is_connected: whether accept() was called already.

        Raises:
            Failed: the program does not connect, or sends something else.
        """
        if not is_connected:
            self.accept(self.times.start_s)
        hello = self.hear(self.times.start_s, "a hello")
        assert isinstance(hello, Hello), "the connection accepts no other first message"
        self.say(Welcome(version=PROTOCOL_VERSION, referee="referee check"))
        return hello

    def expect_silence(self, pause_s: float, when: str) -> None:
        """Check that the program sends nothing for a while.

        Raises:
            Failed: the program sends something, or closes the connection.
        """
        wire = self.wire
        self.loop.wait(lambda: bool(wire.received) or wire.is_ended, pause_s)
        if wire.received:
            self.loop.wait(lambda: wire.has_frame or wire.is_ended, pause_s)
            raise Failed(
                f"it sent {counted(len(wire.received), 'byte')} {when}, without a request",
                "nothing is sent until the referee asks for something",
                CODE_REMEDIES["out-of-turn"],
                received=wire.take(),
            )
        if wire.is_ended:
            raise self._explain_end(f"no message {when}, and an open connection")

    def _explain_late(self, limit_s: float, what: str, began_s: float) -> Failed:
        wire, used_s, due_s = self.wire, self._used_s(), self.loop.seconds()
        # The verdict is clear already. We wait on, to say whether the answer was only late, or would never have come.
        self.loop.wait(lambda: wire.has_frame or wire.is_ended, min(limit_s, _LATE_S))
        used_later_s = max(self._used_s() - used_s, 0.0)
        is_busy = used_later_s > _SPINS * (self.loop.seconds() - due_s)
        ending = Ending.COMPUTING if is_busy else Ending.WAITING
        doing = describe_processor_time((used_s + used_later_s) * 1000, ending)
        if wire.has_frame:
            happened = f"its answer came after {self.loop.seconds() - began_s:.2f} s; the limit was {limit_s:g} s"
        elif wire.received:
            happened = f"only a part of an answer came within {limit_s:g} s: {counted(len(wire.received), 'byte')}"
        else:
            happened = f"nothing came within {limit_s:g} s, or soon after"
        remedy = ending_remedy(ending, "", Cause.TIMEOUT, bytes(wire.received))
        return Failed(
            f"{happened}{doing}",
            f"{what}, complete within {limit_s:g} s after the last byte of the request",
            CAUSE_REMEDIES[Cause.TIMEOUT] if wire.has_frame or remedy is None else remedy,
            cause=name_late(what, ending),
            received=bytes(wire.received),  # not the message before, which was right
        )

    def _used_s(self) -> float:
        """Return the processor time that the program has used, in seconds; 0 if it is not known."""
        use = self.program.measure_processor_use()
        return 0.0 if use is None else use.used_ms / 1000

    def _explain_end(self, what: str) -> Failed:
        if not self.loop.wait(lambda: self.program.status is not None, _EXIT_S):
            return Failed("it closed the connection", what, CAUSE_REMEDIES[Cause.DISCONNECTED], received=b"")
        last_line = self.last_words.rstrip().rpartition("\n")[2]
        remedy = self._end_remedy() or CAUSE_REMEDIES[Cause.CRASHED]
        # Crashes at the same place count as one cause, in all steps and in a real match.
        crash = find_crash(self.printed.decode(errors="replace"))
        cause = f"crashed: {last_line if crash is None and last_line else self.program.status}"
        # The program's last frame was right. To show it would distract from the end of the program.
        return Failed(self._describe_end(), what, remedy, cause=cause, received=b"")

    def _describe_end(self, when: str = "") -> str:
        """Return in words how the program ended; for a crash, the exception."""
        crash = find_crash(self.printed.decode(errors="replace"))
        if crash is None:
            return f"the program ended{when}: {self.program.status}"
        return f"it crashed{when}: {crash.summary}"

    # --- the end

    @property
    def is_idle(self) -> bool:
        """Whether another match can be offered."""
        is_open = self._wire is not None and not self._wire.is_ended and not self._wire.received
        return is_open and self.connection.state is ConnectionState.IDLE

    def sleep(self, pause_s: float) -> None:
        """Stop all processes of the program for a while, as a tournament does between two matches."""
        self.flush()
        self.loop.pause(_CROSSING_S)
        # In this pause the program could read everything: between matches it has nothing left to do.
        self.program.stop()
        self.loop.pause(pause_s)
        self.program.resume()

    def hang_up(self) -> None:
        """Close the connection for good, as a referee does after a tournament."""
        self._listener.close()
        self.drop()

    def drop(self) -> None:
        """Close the connection, and keep listening for a new one."""
        self.flush()
        self.loop.pause(_CROSSING_S)
        self.wire.close()

    def tear(self) -> None:
        """Drop the second half of the queued bytes, so that a message is cut."""
        data = b"".join(self._outbox)
        self._outbox = [data[: len(data) // 2]]

    def expect_exit(self, when: str) -> str:
        """Wait for the program to end by itself.

        Returns:
            A note that says how long it took.

        Raises:
            Failed: the program still runs after `PATIENCE_S` seconds.
        """
        began_s = self.loop.seconds()
        if not self.loop.wait(lambda: self.program.status is not None, PATIENCE_S):
            before_s = self._used_s()
            self.loop.pause(_WATCHED_S)
            spins = self._used_s() - before_s > _SPINS * _WATCHED_S
            raise Failed(
                f"it still runs {PATIENCE_S:g} s {when}; {'it spins: it uses a whole core' if spins else 'it waits'}",
                f"the program ends by itself within {PATIENCE_S:g} s {when}",
                "When a read gives no bytes, the connection has ended: leave the loop that reads, and exit.",
            )
        return f"it ended after {self.loop.seconds() - began_s:.2f} s"

    def explain(self, failure: Failed) -> None:
        """Add to a failure the last frames and the program's output."""
        failure.asked = failure.asked or self.asked
        failure.received = self.heard if failure.received is None else failure.received
        printed = shorten_crash(self.printed.decode(errors="replace"), str(failure))
        failure.printed = failure.printed or printed[-_LAST_CHARS:]

    @property
    def last_words(self) -> str:
        """End of the output so far."""
        return self.printed.decode(errors="replace")[-_LAST_CHARS:]

    @property
    def printed(self) -> bytes:
        """The stored end of the program's output; complete once the program has ended."""
        path = self.program.output_path
        if path.exists():
            self._printed = path.read_bytes()
        return self._printed

    def close(self) -> None:
        """End the program and every process that it started."""
        self._listener.close()
        if self._wire is not None:
            self._wire.close()
        gone = self.program.end(_LAST_WORDS_S)
        self.loop.wait(lambda: gone.called, _LAST_WORDS_S + GRACE_S + CLEAR_S)
        self._held.close()
        _ = self.printed
