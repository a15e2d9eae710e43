"""Players on a real socket: honest ones, each a thread, and rogues, which a test controls.

A rogue can be brought to the point of its offence; the offences themselves are elsewhere.
"""

import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import msgpack

from protocol.client import Client, connect
from protocol.deal import nonce_commitment
from protocol.decoding import decode
from protocol.frames import FrameReader, encode_frame
from protocol.limits import MAX_FRAME_FROM_REFEREE_BYTES, PROTOCOL_VERSION
from protocol.messages import (
    FROM_REFEREE,
    Ack,
    End,
    Hello,
    Message,
    Move,
    Nonce,
    Offer,
    Ready,
    Refused,
    Reveal,
    Turn,
    Welcome,
    encode,
)
from sample_players.python.q_simple import make_dag

from .match_server import WAIT_S

NONCE = "00" * 16
_MAX_FRAME_BYTES = 1 << 30
_NOW = struct.pack("ii", 1, 0)
"""Value of SO_LINGER that resets the connection when it is closed."""


def frame(message: Message) -> bytes:
    """Return a message as a frame, even if its sender may not send it."""
    return framed(encode(message))


def framed(body: bytes) -> bytes:
    """Return a frame of any body."""
    return encode_frame(body, _MAX_FRAME_BYTES)


def packed(value: Any) -> bytes:
    """Return a frame of any value."""
    return framed(msgpack.packb(value))


def ready(offer: Offer) -> Ready:
    """Return the answer to an offer, with a commitment to NONCE."""
    return Ready(match=offer.match, commitment=nonce_commitment(offer.match, offer.seat, NONCE))


class Honest(threading.Thread):
    """A player that answers everything correctly.

    Args:
        address: of the table.
        name: it signs up with.
        choose: view -> move; dag's if not given.
        gate: its first move waits for it.
        token: for its hello.
    """

    def __init__(
        self,
        address: str,
        name: str,
        *,
        choose: Callable[[Any], Any] | None = None,
        gate: threading.Event | None = None,
        token: str | None = None,
    ) -> None:
        super().__init__(daemon=True)
        self.offer: Offer | None = None
        self.last: Message | None = None
        """The referee's last word."""
        self.client: Client = connect(address)
        self.client.send(Hello(version=PROTOCOL_VERSION, name=name, token=token))
        assert isinstance(self.client.receive(), Welcome)
        self._choose = choose or make_dag()
        self._gate = gate

    def run(self) -> None:
        """Play until the referee closes."""
        while (message := self.client.receive()) is not None:
            self.last = message
            if isinstance(message, Offer):
                self.offer = message
                self.client.send(ready(message))
            elif isinstance(message, Reveal):
                self.client.send(Nonce(match=message.match, nonce=NONCE))
            elif isinstance(message, Turn):
                if self._gate is not None:
                    self._gate.wait(WAIT_S)
                self.client.send(Move(match=message.match, turn=message.turn, move=self._choose(message.view)))
            ack = getattr(message, "ack", None)
            if ack is not None:
                self.client.send(Ack(match=getattr(message, "match", ""), ack=ack))
        self.client.close()

    def finish(self) -> End:
        """Wait for its end, check that it is that of an honest player, and return how the match ended for it."""
        self.join(WAIT_S)
        assert not self.is_alive()
        assert isinstance(self.last, End)
        verdict = self.client.witness.verdict
        assert verdict is not None
        assert verdict.is_kept
        return self.last


class Rogue:
    """A connection that sends what the test wants.

    Args:
        address: of the table.
        buffer_bytes: how much its system takes in before it reads; None: what is usual.
        source: the address of this machine that it comes from; empty: what is usual.
    """

    def __init__(self, address: str, *, buffer_bytes: int | None = None, source: str = "") -> None:
        host, port = address.split(":")[1:]
        self.sock = socket.socket()
        if buffer_bytes is not None:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        self.sock.settimeout(WAIT_S)
        self.sock.bind((source, 0))
        try:
            self.sock.connect((host, int(port)))
        except OSError:
            self.sock.close()
            raise
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent_s = 0.0
        """Instant at which its last bytes were sent."""
        self.heard: list[Message] = []
        self._reader = FrameReader(MAX_FRAME_FROM_REFEREE_BYTES)

    # --- what it does

    def send(self, data: bytes) -> None:
        """Send bytes; a referee that has closed the connection is no surprise."""
        try:
            self.sock.sendall(data)
        except ConnectionError:
            return
        self.sent_s = time.monotonic()

    def say(self, message: Message) -> None:
        """Send a message, even if it may not be sent."""
        self.send(frame(message))

    def hello(self, name: str = "rogue", token: str | None = None) -> Message:
        """Say hello, and return the answer."""
        self.say(Hello(version=PROTOCOL_VERSION, name=name, token=token))
        return self.until(Welcome, Refused)

    def accept(self) -> None:
        """Take the seat."""
        self.say(ready(self.last(Offer)))

    def open_nonce(self) -> None:
        """Open its nonce when asked."""
        self.until(Reveal)
        self.say(Nonce(match=self.match, nonce=NONCE))

    def move(self, move: Any, turn: int | None = None) -> bytes:
        """Return the frame of a move, for the open turn or for another one."""
        asked = self.last(Turn).turn if turn is None else turn
        return frame(Move(match=self.match, turn=asked, move=move))

    def until_asked(self) -> None:
        """Be honest up to the first turn."""
        self.until(Offer)
        self.accept()
        self.open_nonce()
        self.until(Turn)

    def play_on(self) -> None:
        """Be honest from the open turn to the end."""
        choose = make_dag()
        message: Message = self.last(Turn)
        while not isinstance(message, End):
            self.send(self.move(choose(self.last(Turn).view)))
            message = self.until(Turn, End)
        self.last_words()

    def reset(self) -> None:
        """End the connection with a reset."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NOW)
        self.sock.close()
        self.sent_s = time.monotonic()

    # --- what it hears

    @property
    def match(self) -> str:
        """Name of the match that it was offered."""
        return str(self.last(Offer).match)

    @property
    def resume(self) -> str:
        """Token for returning into that match."""
        return str(self.last(Offer).resume)

    def last(self, kind: type[Any]) -> Any:
        """Return the last message of a kind."""
        return next(message for message in reversed(self.heard) if isinstance(message, kind))

    def until(self, *kinds: type[Message]) -> Message:
        """Read until there is a message of one of these kinds."""
        while True:
            message = self._next()
            assert message is not None, f"closed before {kinds}, after {self.heard[-1:]}"
            if isinstance(message, kinds):
                return message

    def last_words(self) -> Message | None:
        """Read until the referee closes, and return its last message."""
        while self._next() is not None:
            pass
        self.sock.close()
        return self.heard[-1] if self.heard else None

    def _next(self) -> Message | None:
        while (body := self._reader.next_frame()) is None:
            try:
                data = self.sock.recv(65_536)
            except (ConnectionError, OSError) as error:
                if isinstance(error, TimeoutError):
                    raise
                return None
            if not data:
                return None
            self._reader.receive_data(data)
        message = decode(body, FROM_REFEREE)
        self.heard.append(message)
        return message


def playing(address: str, name: str, source: str) -> threading.Thread:
    """Let an honest player play from any address of this machine, in a thread."""
    player = Rogue(address, source=source)
    assert isinstance(player.hello(name), Welcome)

    def _play() -> None:
        player.until_asked()
        player.play_on()

    thread = threading.Thread(target=_play, daemon=True)
    thread.start()
    return thread
