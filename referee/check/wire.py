"""The referee's end of the connection to a program under check: sends frames in chosen packets, and reads frames."""

# A program must not depend on how bytes are cut into packets: TCP may deliver one byte at a time, or several messages
# at once. Programs that were only tried on one machine, where each frame comes in one packet, often depend on it.

import os
import socket
from enum import Enum
from pathlib import Path

from twisted.python.failure import Failure

from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES, PREFIX_BYTES

from .loop import Loop

_READ_BYTES = 65_536
_KEPT_BYTES = 1 << 20
"""Most bytes to hold for a step that has not read them yet, so that a flood does not fill our memory."""
_BETWEEN_BYTES_S = 0.0004
"""Pause after a byte: long enough that a waiting program wakes up for nearly every byte."""
_BETWEEN_PIECES_S = 0.03
_RETRY_S = 0.002


class Delivery(Enum):
    """How the referee's bytes are cut into packets."""

    WHOLE = "one frame at a time"
    BYTEWISE = "byte by byte"
    SPLIT = "each frame in three pieces, the first cut within the prefix"
    PACKED = "all frames that belong together at once"


class NotReadingError(Exception):
    """The other end does not read."""


class CheckConnection:
    """One connection, registered with Twisted's reactor as a reader.

    Args:
        sock: a connected socket.
        loop: the loop that reads it.
    """

    def __init__(self, sock: socket.socket, loop: Loop) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._loop = loop
        self.received = bytearray()
        """Bytes that came and that `take` has not returned yet."""
        self.is_ended = False
        """True once the other end has closed."""
        self.asked: list[bytes] = []
        """Frames that were sent since the program's last answer."""
        self._is_answered = False
        self.last = b""
        """Frame that `take` returned last."""
        loop.reactor.addReader(self)

    def fileno(self) -> int:
        """Return the descriptor to wait for; called by the reactor."""
        return self._sock.fileno()

    def logPrefix(self) -> str:
        """Return a name; called by the reactor."""
        return "connection of a check"

    def doRead(self) -> Exception | None:
        """Read the bytes that are there; called by the reactor.

        Returns:
            An error once the other end has closed; None before.
        """
        try:
            data = self._sock.recv(_READ_BYTES)
        except BlockingIOError:
            return None
        except OSError as error:
            return error
        if not data:
            return EOFError()
        # Drop the bytes beyond the limit: the step fails because of the first bytes anyway.
        self.received += data[: max(_KEPT_BYTES - len(self.received), 0)]
        return None

    def connectionLost(self, reason: Failure) -> None:
        """Note that the other end has closed; called by the reactor."""
        self.is_ended = True

    @property
    def has_frame(self) -> bool:
        """Whether the next frame is complete, or its prefix announces too long a body."""
        if len(self.received) < PREFIX_BYTES:
            return False
        length = int.from_bytes(self.received[:PREFIX_BYTES], "big")
        return length > MAX_FRAME_FROM_PLAYER_BYTES or len(self.received) >= PREFIX_BYTES + length

    def take(self) -> bytes:
        """Return the next frame with its prefix; if it is incomplete or too long, all bytes that came."""
        length = int.from_bytes(self.received[:PREFIX_BYTES], "big")
        size = PREFIX_BYTES + length if self.has_frame and length <= MAX_FRAME_FROM_PLAYER_BYTES else len(self.received)
        self.last, self._is_answered = bytes(self.received[:size]), True
        del self.received[:size]
        return self.last

    def send(self, frames: list[bytes], delivery: Delivery, limit_s: float) -> None:
        """Send frames.

        Args:
            frames: the frames, in their order.
            delivery: how the frames are cut into packets.
            limit_s: time that the other end has to read the frames, in seconds.

        Raises:
            NotReadingError: the other end does not read them.
        """
        if not frames:
            return
        self.asked = frames if self._is_answered else [*self.asked, *frames]
        self._is_answered = False
        give_up = self._loop.seconds() + limit_s
        for piece, pause_s in _pieces(frames, delivery):
            self._send(piece, give_up)
            if pause_s:
                self._loop.pause(pause_s)

    def _send(self, data: bytes, give_up: float) -> None:
        rest = memoryview(data)
        while rest and not self.is_ended:
            try:
                rest = rest[self._sock.send(rest) :]
            except BlockingIOError:
                if self._loop.seconds() >= give_up:
                    raise NotReadingError(f"{len(rest)} bytes are left unread") from None
                self._loop.pause(_RETRY_S)
            except OSError:  # the other end has closed; bytes that it sent before can still be read
                return

    def close(self) -> None:
        """Close the connection."""
        self._loop.reactor.removeReader(self)
        self._sock.close()


def listen(path: Path | None) -> tuple[socket.socket, str]:
    """Listen for one program.

    Args:
        path: path of the socket, for a program in a sandbox; None: any port of this machine.

    Returns:
        The socket, and its address.
    """
    if path is None:
        sock = socket.create_server(("127.0.0.1", 0))
        address = f"tcp:127.0.0.1:{sock.getsockname()[1]}"
    else:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.bind(os.fspath(path))
        sock.listen()
        address = f"unix:{path}"
    sock.setblocking(False)
    return sock, address


def _pieces(frames: list[bytes], delivery: Delivery) -> list[tuple[bytes, float]]:
    """Return the pieces to send, each with the pause after it, in seconds."""
    if delivery is Delivery.PACKED:
        return [(b"".join(frames), 0.0)]
    if delivery is Delivery.BYTEWISE:
        return [(bytes([byte]), _BETWEEN_BYTES_S) for byte in b"".join(frames)]
    if delivery is Delivery.SPLIT:
        cuts = [(frame[:2], frame[2 : len(frame) // 2 + 2], frame[len(frame) // 2 + 2 :]) for frame in frames]
        return [(piece, _BETWEEN_PIECES_S) for pieces in cuts for piece in pieces]
    return [(frame, 0.0) for frame in frames]
