r"""Frames: put the length before a body of bytes, and cut a stream of bytes into bodies again.

>>> encode_frame(b"hello", limit_bytes=64)
b'\x00\x00\x00\x05hello'
"""

from .errors import Code, LocalProtocolError, RemoteProtocolError
from .limits import PREFIX_BYTES

# Why frames. TCP carries a stream of bytes and forgets where one `send` ended and the next one began: two messages
# may arrive in one read, and one message in ten. So the sender has to mark where a message ends. A line feed would be
# enough for text, but msgpack may contain any byte. A length before the body costs four bytes, needs no escaping, and
# lets the receiver refuse a message before it has come.
#
# That last point protects the receiver. A hostile peer can announce 4 GiB and send them slowly. The reader looks at the
# prefix as soon as its four bytes are there, and refuses a length above the limit. So a peer can make this side hold
# one frame of the limit plus one read of the socket, and no more. A frame of length 0 is refused, too: no message is
# empty, and a stream of empty frames would be endless work.
#
# The reader keeps the bytes that were not used up yet, because a read may end anywhere, even inside a prefix. It
# never waits: `next_frame` returns None while a frame is incomplete, and the caller brings more bytes when there are
# some.


def encode_frame(body: bytes, limit_bytes: int) -> bytes:
    """Put the length before a body.

    Args:
        body: one encoded message.
        limit_bytes: the longest body that the receiver accepts.

    Returns:
        The frame: 4 bytes big-endian length, then the body.

    Raises:
        LocalProtocolError: the body is empty or longer than the limit.

    >>> encode_frame(b"", limit_bytes=64)
    Traceback (most recent call last):
    protocol.errors.LocalProtocolError: a frame's body must have 1 to 64 bytes, not 0
    """
    if not 0 < len(body) <= limit_bytes:
        raise LocalProtocolError(f"a frame's body must have 1 to {limit_bytes} bytes, not {len(body)}")
    return len(body).to_bytes(PREFIX_BYTES, "big") + body


class StreamReader:
    """Cuts a stream of bytes, however it was chopped, into messages.

    Args:
        limit_bytes: the longest message that is accepted.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._buffer = bytearray()
        """The bytes that came since the last message."""

    @property
    def pending(self) -> bytes:
        """The received bytes that do not belong to a complete message yet."""
        return bytes(self._buffer)

    @property
    def pending_bytes(self) -> int:
        """Number of bytes that are pending."""
        return len(self._buffer)

    @property
    def is_empty(self) -> bool:
        """Whether all received bytes have been used up."""
        return not self._buffer

    def receive_data(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self._buffer += data


class FrameReader(StreamReader):
    r"""Cuts a stream of bytes into the bodies of frames.

    >>> reader = FrameReader(limit_bytes=64)
    >>> reader.receive_data(b"\x00\x00\x00\x05hel")  # a read may end anywhere
    >>> reader.next_frame() is None
    True
    >>> reader.receive_data(b"lo\x00\x00")
    >>> reader.next_frame()
    b'hello'
    >>> reader.pending
    b'\x00\x00'
    """

    @property
    def announced_bytes(self) -> int | None:
        """Length in bytes of the next frame's body, by its prefix; None until the prefix is complete."""
        buffer = self._buffer
        return int.from_bytes(buffer[:PREFIX_BYTES], "big") if len(buffer) >= PREFIX_BYTES else None

    def next_frame(self) -> bytes | None:
        """Take the next complete body out of the stream; None while it is incomplete.

        Raises:
            RemoteProtocolError: OVERSIZE or EMPTY, as soon as the prefix is complete.

        >>> reader = FrameReader(limit_bytes=64)
        >>> reader.receive_data(b"GET / HTTP/1.1")  # a browser: its first four letters are a length
        >>> reader.next_frame()
        Traceback (most recent call last):
        protocol.errors.RemoteProtocolError: oversize: a frame announces 1195725856 bytes, the limit is 64
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
