"""Random hostile streams: bytes, frames, msgpack by its grammar, and messages with a mistake.

The right answer is not checked: a conversation may accept, drop or refuse a stream, but do nothing else.
"""

from collections import Counter
from collections.abc import Callable
from random import Random

import msgpack

from protocol import Connection, ConnectionState, Need, RemoteProtocolError, Role
from protocol.connection import TRANSITIONS
from protocol.decoding import decode
from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES, MAX_FRAME_FROM_REFEREE_BYTES
from protocol.messages import FROM_PLAYER, FROM_REFEREE, Message, encode
from referee.testing import spoilt

from .situations import OTHER, message_for, pair_in, sender_of
from .tables import BAD_VALUES, EXAMPLES, MATCH, Plain, framed

SIDES = [(state, role) for state in ConnectionState for role in Role]
PLAIN = {role: [plain for _, other, plain in EXAMPLES if other is role] for role in Role}
READ_BYTES = 65_536
"""Most bytes that one read of a socket gives."""
_LIMITS = {Role.REFEREE: MAX_FRAME_FROM_PLAYER_BYTES, Role.PLAYER: MAX_FRAME_FROM_REFEREE_BYTES}
"""By who reads."""
_ACCEPTED = {Role.REFEREE: FROM_PLAYER, Role.PLAYER: FROM_REFEREE}
_DEEPEST = 20
_SIZES = (0, 1, 2, 15, 16, 31, 32, 255, 256, 4096, 4097, 65_535, 65_536, 2**31, 2**32 - 1)

"""Lengths around every limit and every form of a header."""
_HEADERS = ((b"\xda", 2), (b"\xdb", 4), (b"\xdd", 4), (b"\xdf", 4), (b"\xc6", 4), (b"\xc9", 4))
"""Kinds of strings, arrays, maps, raw bytes and ext types, each with the bytes that its length takes."""
_VALUES = (None, True, 0, -1, 2**64 - 1, -(2**63), 1.5, float("nan"), "", MATCH)


class Fuzzer:
    """Makes hostile streams, and hands them over.

    Args:
        source: of all chance.
    """

    def __init__(self, source: Random) -> None:
        self.source = source
        self.counts: Counter[str] = Counter()
        """Outcomes of the streams: `taken` for each message, the code of each refusal."""

    def play(self) -> None:
        """Bring a conversation into some state, and send a stream to one of its sides."""
        state, role = self.source.choice(SIDES)
        pair = pair_in(
            state, self.source.choice(("resumed", "offer")) if state is ConnectionState.SEATED else "resumed"
        )
        self.hand_over(pair.side(role), self.stream(OTHER[role], state))

    def hand_over(self, receiver: Connection, data: bytes) -> None:
        """Send a stream, cut at random, until its end or its refusal.

        Raises:
            AssertionError: a message was taken that is another one on its way back, or too much was kept.
            Exception: whatever the conversation raised that it must not.
        """
        accepted = _ACCEPTED[receiver.role]
        try:
            while data:
                size = self.source.choice((1, 3, 50, 1000, READ_BYTES))
                receiver.receive_data(data[:size])
                data = data[size:]
                while (event := receiver.next_event()) is not Need.DATA:
                    assert isinstance(event, Message)
                    assert decode(encode(event), accepted) == event
                    self.counts["taken"] += 1
                assert len(receiver.pending) <= _LIMITS[receiver.role] + READ_BYTES or self._is_closed(receiver)
            receiver.receive_end()
        except RemoteProtocolError as error:
            assert len(error.evidence) <= _LIMITS[receiver.role] + READ_BYTES  # noqa: PT017  # not raising is right, too
            assert len(error.detail) <= 1000  # noqa: PT017
            self.counts[str(error.code)] += 1

    @staticmethod
    def _is_closed(receiver: Connection) -> bool:
        return receiver.state is ConnectionState.CLOSED

    # --- streams

    def stream(self, sender: Role, state: ConnectionState) -> bytes:
        """Return bytes as a hostile sender might send them to a conversation in some state."""
        parts = [self._part(sender, state) for _ in range(self.source.choice((1, 1, 2, 5)))]
        data = b"".join(parts)
        return self._mutated(data) if self.source.random() < 0.3 else data

    def _part(self, sender: Role, state: ConnectionState) -> bytes:
        kind = self.source.randrange(6)
        if kind == 0:
            return self.source.randbytes(self.source.choice((1, 4, 40, 400)))
        if kind == 1:
            return framed(self.source.randbytes(self.source.choice((1, 4, 40, 400))))
        if kind == 2:
            return framed(self.value(0))
        if kind == 3:
            return framed(self._message_of_values(sender))
        due = [trigger for before, trigger in TRANSITIONS if before is state and sender_of(trigger) is sender]
        if kind == 4 and due:
            return framed(encode(message_for(self.source.choice(due), MATCH)))
        plain: Plain = self.source.choice(PLAIN[sender])
        return framed(msgpack.packb(spoilt(plain, self.source), unicode_errors="surrogatepass"))

    def _message_of_values(self, sender: Role) -> bytes:
        """Return a message some of whose values are msgpack of any kind."""
        plain: Plain = self.source.choice(PLAIN[sender])
        body = bytearray(b"\xde" + len(plain).to_bytes(2, "big"))
        for key, value in plain.items():
            is_kept = key == "type" or self.source.random() < 0.7
            body += msgpack.packb(key) + (msgpack.packb(value) if is_kept else self.value(2))
        return bytes(body)

    def value(self, depth: int) -> bytes:
        """Return one msgpack value by the grammar, or bytes that look like one."""
        source = self.source
        if source.random() < 0.25 and depth < _DEEPEST:
            return self._container(depth, source.randrange(4))
        head, width = source.choice(_HEADERS)
        makers: tuple[Callable[[], bytes], ...] = (
            lambda: source.choice(BAD_VALUES)[1],
            lambda: head + (source.choice(_SIZES) % 256**width).to_bytes(width, "big") + source.randbytes(9),
            lambda: source.choice((b"\x91", b"\x81\xa1k")) * source.choice((15, 17, 1100)) + b"\xc0",
            lambda: source.choice((b"\xca", b"\xcb")) + source.randbytes(8),
            lambda: b"\xc7" + source.randbytes(10),
            lambda: msgpack.packb(source.choice(_VALUES)),
            lambda: msgpack.packb("x" * source.choice(_SIZES[:11])),
        )
        return source.choice(makers)()

    def _container(self, depth: int, size: int) -> bytes:
        if self.source.random() < 0.5:
            return bytes([0x90 + size]) + b"".join(self.value(depth + 1) for _ in range(size))
        keys = ("type", "match", "turn", "k", "")
        pairs = [
            (msgpack.packb(self.source.choice(keys)) if self.source.random() < 0.9 else self.value(depth + 1))
            + self.value(depth + 1)
            for _ in range(size)
        ]
        return bytes([0x80 + size]) + b"".join(pairs)

    def _mutated(self, data: bytes) -> bytes:
        """Return bytes with some of them changed, added, lost, doubled or moved."""
        for _ in range(self.source.choice((1, 1, 2, 8))):
            at, size = self.source.randrange(len(data) + 1), self.source.choice((0, 1, 2, 9))
            new = self.source.choice((self.source.randbytes(size), data[at : at + size] * 2, b"\xff" * size, b""))
            data = data[:at] + new + data[at + self.source.choice((0, len(new), size)) :]
        return data
