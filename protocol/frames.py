"""Frames: puts the length before a body of bytes, and cuts a stream of bytes into bodies again.

An over-long frame is refused on its prefix, before its body is buffered: what a peer can make this side hold is one
frame of the limit and one read of the socket.
"""

from .errors import Code, LocalProtocolError, RemoteProtocolError
from .limits import PREFIX_BYTES


def encode_frame(body: bytes, limit_bytes: int) -> bytes:
    """Put the length before a body.

    Args:
        body: one encoded message.
        limit_bytes: the longest body that the receiver takes.

    Returns:
        The frame: 4 bytes big-endian length, then the body.

    Raises:
        LocalProtocolError: the body is empty or longer than the limit.
    """
    if not 0 < len(body) <= limit_bytes:
        raise LocalProtocolError(f"a frame's body must have 1 to {limit_bytes} bytes, not {len(body)}")
    return len(body).to_bytes(PREFIX_BYTES, "big") + body


class StreamReader:
    """Cuts a stream of bytes, however it was chopped, into messages.

    Args:
        limit_bytes: the longest message taken.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._buffer = bytearray()
        """What came since the last message."""

    @property
    def pending(self) -> bytes:
        """The bytes received that no complete message has used up yet."""
        return bytes(self._buffer)

    @property
    def pending_bytes(self) -> int:
        """How many there are."""
        return len(self._buffer)

    @property
    def is_empty(self) -> bool:
        """Whether no byte is left of what was received."""
        return not self._buffer

    def receive_data(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self._buffer += data


class FrameReader(StreamReader):
    """Cuts a stream of bytes into the bodies of frames."""

    @property
    def announced_bytes(self) -> int | None:
        """How long a body the next frame's prefix announces; None until it is there."""
        buffer = self._buffer
        return int.from_bytes(buffer[:PREFIX_BYTES], "big") if len(buffer) >= PREFIX_BYTES else None

    def next_frame(self) -> bytes | None:
        """Take the next complete body out of the stream; None while it is incomplete.

        Raises:
            RemoteProtocolError: OVERSIZE or EMPTY, as soon as the prefix is complete.
        """
        buffer = self._buffer
        if len(buffer) < PREFIX_BYTES:
            return None
        length = int.from_bytes(buffer[:PREFIX_BYTES], "big")
        if length > self._limit_bytes:
            detail = f"a frame announces {length} bytes, the limit is {self._limit_bytes}"
            raise RemoteProtocolError(Code.OVERSIZE, detail, bytes(buffer))
        if length == 0:
            raise RemoteProtocolError(Code.EMPTY, "a frame has no body", bytes(buffer))
        end = PREFIX_BYTES + length
        if len(buffer) < end:
            return None
        body = bytes(buffer[PREFIX_BYTES:end])
        del buffer[:end]
        return body
