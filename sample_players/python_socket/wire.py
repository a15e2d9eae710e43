"""The protocol: turns bytes into messages and messages into bytes, and answers the referee's messages.

It follows protocol/SPEC.md, knows no game, and needs nothing but Python. You need not change anything here.
"""

import os
import secrets
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import Any

Choose = Callable[[str, Any], Any]
"""(name of the game, view) -> move."""
MAX_FRAME_BYTES = 4 * 1024 * 1024
"""SPEC.md, "Limits": the longest body from the referee."""
MAX_DEPTH = 16
_NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"}
_NUMBERS |= {0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
_SIZES = {0xD9: (">B", "string"), 0xDA: (">H", "string"), 0xDB: (">I", "string")}
_SIZES |= {0xDC: (">H", "array"), 0xDD: (">I", "array"), 0xDE: (">H", "map"), 0xDF: (">I", "map")}


class WireError(Exception):
    """The referee breaks the protocol, refuses this player, or has a wrong address; the text says which."""


def encode(value: Any) -> bytes:  # noqa: PLR0911  # one for each kind of value
    """Encode a value as msgpack, with those types that the protocol allows."""
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int() if 0 <= value < 0x80:
            return bytes((value,))
        case int():
            return b"\xd3" + struct.pack(">q", value)
        case float():
            return b"\xcb" + struct.pack(">d", value)
        case str():
            data = value.encode()
            return b"\xda" + struct.pack(">H", len(data)) + data
        case list() | tuple():
            return b"\xdc" + struct.pack(">H", len(value)) + b"".join(map(encode, value))
        case dict():
            pairs = b"".join(encode(key) + encode(item) for key, item in value.items())
            return b"\xde" + struct.pack(">H", len(value)) + pairs
    raise TypeError(f"the protocol has no type {type(value).__name__}: {value!r}")


class Reader:
    """Reads the values in the bytes of one body, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_done(self) -> bool:
        """True if all bytes are read."""
        return self._at == len(self._data)

    def value(self, depth: int = 0) -> Any:  # noqa: PLR0911  # one for each kind of value
        """Return the next value, which is nested in `depth` arrays and maps.

        Raises:
            WireError: the bytes are not a value, or not one that the protocol allows.
        """
        tag = self._take(1)[0]
        if tag < 0x80 or tag >= 0xE0:
            return tag if tag < 0x80 else tag - 0x100
        if tag in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[tag]
        if tag in _NUMBERS:
            return self._number(_NUMBERS[tag])
        if tag in _SIZES:
            form, kind = _SIZES[tag]
            return self._sized(kind, self._number(form), depth)
        if tag < 0x90:
            return self._sized("map", tag & 0x0F, depth)
        if tag < 0xA0:
            return self._sized("array", tag & 0x0F, depth)
        if tag < 0xC0:
            return self._sized("string", tag & 0x1F, depth)
        raise WireError(f"no value of the protocol begins with the byte {tag:#x}")

    def _sized(self, kind: str, count: int, depth: int) -> Any:
        if kind == "string":
            try:
                return self._take(count).decode()
            except UnicodeDecodeError as error:
                raise WireError(f"a string is not UTF-8: {error}") from None
        if depth == MAX_DEPTH:
            raise WireError("arrays and maps are nested too deep")
        if kind == "array":
            return [self.value(depth + 1) for _ in range(count)]
        return {self._key(): self.value(depth + 1) for _ in range(count)}

    def _key(self) -> str:
        key = self.value(MAX_DEPTH)
        if not isinstance(key, str):
            raise WireError(f"a key is not a string: {key!r}")
        return key

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _take(self, count: int) -> bytes:
        if self._at + count > len(self._data):
            raise WireError("a value ends too early: only a part of the frame was read")
        self._at += count
        return self._data[self._at - count : self._at]


def frame(message: dict[str, Any]) -> bytes:
    """Return the frame of a message: its length, then the message."""
    body = encode(message)
    return struct.pack(">I", len(body)) + body


def read_frame(read: Callable[[int], bytes]) -> dict[str, Any] | None:
    """Return the next message, or None at the end.

    Args:
        read: returns a number of bytes, or fewer at the end.

    Raises:
        WireError: the bytes are not a message.
    """
    prefix = read(4)
    if not prefix:
        return None
    length = int.from_bytes(prefix, "big")
    if len(prefix) < 4 or not 0 < length <= MAX_FRAME_BYTES:
        raise WireError(f"the prefix {prefix.hex()} of a frame announces {length} bytes; its first byte counts most")
    reader = Reader(read(length))
    message = reader.value()
    if not reader.is_done or not isinstance(message, dict):
        raise WireError("a frame is not exactly one map")
    return message


def connect(address: str) -> socket.socket:
    """Return a connection to a referee.

    Raises:
        WireError: the address does not have the right form.
        OSError: nobody listens there.
    """
    kind, _, rest = address.partition(":")
    host, _, port = rest.rpartition(":")
    if kind == "tcp" and host and port.isdecimal():
        connection = socket.create_connection((host.strip("[]"), int(port)))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # a move is small: send it at once
        return connection
    if kind == "unix" and rest:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(rest)
        return connection
    raise WireError(f"REFEREE_ADDRESS is tcp:HOST:PORT or unix:PATH, not {address!r}")


def play(choose: Choose) -> None:
    """Connect, play every match that is offered, and return when the referee closes the connection.

    Raises:
        WireError: there is no referee, it refuses this player, or it breaks the protocol.
    """
    address, name = os.environ.get("REFEREE_ADDRESS", ""), os.environ.get("REFEREE_NAME") or "player"
    try:
        connection = connect(address)
    except OSError as error:
        raise WireError(f"no referee at {address}: {error}; is it running?") from None
    token = os.environ.get("REFEREE_TOKEN") or None
    with connection, connection.makefile("rb") as incoming, suppress(ConnectionResetError):  # the match's end, too
        send(connection, {"type": "hello", "version": 1, "name": name, "token": token})
        game = nonce = ""
        while (message := read_frame(incoming.read)) is not None:
            game = message.get("game", game)
            if message["type"] == "offer":  # it enters the shuffle, so nobody may foresee it, not even the referee
                nonce = secrets.token_hex(16)
            for answer in answers(message, game, nonce, choose):
                send(connection, answer)


def send(connection: socket.socket, message: dict[str, Any]) -> None:
    """Send a message; ignore a closed connection, since the referee's last messages may still have to be read."""
    with suppress(ConnectionError):
        connection.sendall(frame(message))


def answers(message: dict[str, Any], game: str, nonce: str, choose: Choose) -> list[dict[str, Any]]:
    """Return the messages that answer a message.

    Raises:
        WireError: the referee refuses this player.
    """
    found: list[dict[str, Any]] = []
    match = {"match": message.get("match")}
    match message["type"]:
        case "refused":
            raise WireError(f"the referee refuses this player: {message['reason']} ({message['code']})")
        case "offer":  # the nonce itself is sent when all players have committed
            text = f"nonce:{message['match']}:{message['seat']}:{nonce}"
            found.append({"type": "ready", **match, "commitment": sha256(text.encode()).hexdigest()})
        case "reveal":
            found.append({"type": "nonce", **match, "nonce": nonce})
        case "turn":
            found.append({"type": "move", **match, "turn": message["turn"], "move": choose(game, message["view"])})
        case "expelled":
            sys.stderr.write(f"expelled: {message['foul']} {message['rule'] or ''} {message['detail']}\n")
    if message.get("ack") is not None:
        found.append({"type": "ack", **match, "ack": message["ack"]})
    return found  # `told`, `end` and `paused` may be read, and need no other answer
