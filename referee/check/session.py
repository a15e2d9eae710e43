"""One start of the player program, and the conversation with it up to a match.

Everything that the program does wrong here is raised as Failed, with what was expected of it.
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
"""Another encoding of a message's body."""
_EXIT_S = 0.5
"""Time to wait for the program's exit after its connection broke, to tell a crash from a disconnection."""
_WATCHED_S = 0.4
"""Time to watch a program that does not end, to tell one that waits from one that spins."""
_UNSENT_BYTES = 65_536
"""Size of the kernel's send buffer: small, so that a program which does not read is soon noticed."""
_LAST_WORDS_S = 0.3
"""Time to print a reason at the end of a step; other steps check whether a program ends by itself."""
_CROSSING_S = 0.03
"""Pause before the connection is closed: the kernel drops our last bytes if some of the program's are unread."""
_LATE_S = 3.0
"""Further wait for a late answer, to tell whether it is late or never comes."""
_LAST_CHARS = 800
_SPINS = 0.15
"""Share of one core: more than a waiting program ever uses, and less than a spinning one gets on any machine."""


class Times(Struct, frozen=True, kw_only=True):
    """Time limits of a program, in seconds."""

    start_s: float = 30.0
    """Limit for the start up to the hello, and for a ready."""
    move_s: float = 6.0
    """Limit for each move and each ack."""


class Session:
    """One start of the program.

    Args:
        launch: the program.
        times: time limits of the program.
        loop: the loop that waits.
        confinement: the bounds of the program.
        folder: folder for its socket and its output, of this session only.
        is_launched: whether it gets the variables of a launched program, and so ends when its connection does. A
            program without them may come back.

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
        # A launched program comes back with the token of its environment, any other with one from its last offer.
        self.resume = self.token if is_launched else secrets.token_hex(32)
        self.delivery = Delivery.WHOLE
        self.rewrite: Rewrite | None = None
        """Function that replaces a message's body by another encoding of it."""
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
        assert self._wire is not None, "nobody has connected yet"
        return self._wire

    @property
    def asked(self) -> tuple[bytes, ...]:
        """Frames that were sent since the program's last answer."""
        return tuple(self._wire.asked) if self._wire is not None else ()

    @property
    def heard(self) -> bytes:
        """Bytes that the program sent last, a complete frame or not."""
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
        """Return the advice about a program that ended; None if it runs, or if there is no advice."""
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
        # A large buffer would hide for a long time that nobody reads at the other end.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNSENT_BYTES)
        self._wire = CheckConnection(sock, self.loop)
        return True

    # --- the referee speaks

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
            Failed: the program does not read them.
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

    # --- the program speaks

    def frame(self, limit_s: float, what: str) -> bytes:
        """Wait for the program's next frame.

        Args:
            limit_s: longest wait, in seconds.
            what: the message that is awaited, for the error.

        Returns:
            The frame with its prefix; of a frame over the size limit, the part that came.

        Raises:
            Failed: none came in time.
        """
        # Everything that was queued goes out first: the program answers nothing that it has not been sent.
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
            Failed: none came in time, or what came is against the protocol.
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
            # Else it was an answer that has crossed the end of its match, which is nobody's mistake.

    def greet(self, *, is_connected: bool = False) -> Hello:
        """Wait for the program's hello, and welcome it.

        Args:
            is_connected: whether accept() was called already.

        Raises:
            Failed: it does not come, or sends anything else.
        """
        if not is_connected:
            self.accept(self.times.start_s)
        hello = self.hear(self.times.start_s, "a hello")
        assert isinstance(hello, Hello), "the connection lets nothing else come first"
        self.say(Welcome(version=PROTOCOL_VERSION, referee="referee check"))
        return hello

    def expect_silence(self, pause_s: float, when: str) -> None:
        """Check that the program sends nothing for a while.

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
                CODE_REMEDIES["out-of-turn"],
                received=wire.take(),
            )
        if wire.is_ended:
            raise self._explain_end(f"silence {when}, the connection open")

    def _explain_late(self, limit_s: float, what: str, began_s: float) -> Failed:
        wire, used_s, due_s = self.wire, self._used_s(), self.loop.seconds()
        # The verdict is clear, but its author should learn whether the answer was late, or would never have come.
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
            happened = f"nothing came within {limit_s:g} s, nor soon after"
        remedy = ending_remedy(ending, "", Cause.TIMEOUT, bytes(wire.received))
        return Failed(
            f"{happened}{doing}",
            f"{what}, complete within {limit_s:g} s after the last byte of the request",
            CAUSE_REMEDIES[Cause.TIMEOUT] if wire.has_frame or remedy is None else remedy,
            cause=name_late(what, ending),
            received=bytes(wire.received),  # the message before it was right
        )

    def _used_s(self) -> float:
        """Return the processor time of the program so far, in seconds; 0 if it is not known."""
        use = self.program.measure_processor_use()
        return 0.0 if use is None else use.used_ms / 1000

    def _explain_end(self, what: str) -> Failed:
        if not self.loop.wait(lambda: self.program.status is not None, _EXIT_S):
            return Failed("it closed the connection", what, CAUSE_REMEDIES[Cause.DISCONNECTED], received=b"")
        last_line = self.last_words.rstrip().rpartition("\n")[2]
        remedy = self._end_remedy() or CAUSE_REMEDIES[Cause.CRASHED]
        # All steps in which it crashes at one place have one cause, and so has its crash in a real match.
        crash = find_crash(self.printed.decode(errors="replace"))
        cause = f"crashed: {last_line if crash is None and last_line else self.program.status}"
        # The last frame of a program that ended was right; to show it would draw the eye away from the end.
        return Failed(self._describe_end(), what, remedy, cause=cause, received=b"")

    def _describe_end(self, when: str = "") -> str:
        """Return in words how the program ended, for a crash the exception."""
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
        """Stop the program for a while, with all its processes, as between two matches of a tournament."""
        self.flush()
        self.loop.pause(_CROSSING_S)
        # The pause before has let the program read all that was sent: between matches it has nothing left to do.
        self.program.stop()
        self.loop.pause(pause_s)
        self.program.resume()

    def hang_up(self) -> None:
        """Close the connection for good, as a referee does after a tournament."""
        self._listener.close()
        self.drop()

    def drop(self) -> None:
        """Close the connection, and listen for the next."""
        self.flush()
        self.loop.pause(_CROSSING_S)
        self.wire.close()

    def tear(self) -> None:
        """Drop the second half of the queued bytes."""
        data = b"".join(self._outbox)
        self._outbox = [data[: len(data) // 2]]

    def expect_exit(self, when: str) -> str:
        """Wait for the program to end by itself.

        Returns:
            A note that says how long it took.

        Raises:
            Failed: it does not.
        """
        began_s = self.loop.seconds()
        if not self.loop.wait(lambda: self.program.status is not None, PATIENCE_S):
            before_s = self._used_s()
            self.loop.pause(_WATCHED_S)
            spins = self._used_s() - before_s > _SPINS * _WATCHED_S
            raise Failed(
                f"it still runs {PATIENCE_S:g} s {when}, and {'spins: it uses a whole core' if spins else 'waits'}",
                f"the program ends by itself within {PATIENCE_S:g} s {when}",
                "When a read gives no bytes, the connection has ended: leave the loop that reads, and exit.",
            )
        return f"it ended after {self.loop.seconds() - began_s:.2f} s"

    def explain(self, failure: Failed) -> None:
        """Add to a failure the frames before it and the program's output."""
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
        """Stored end of the program's output; complete once the program has ended."""
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
