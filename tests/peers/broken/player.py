"""A player of Q by hand, from SPEC.md alone, with one fault: `python player.py FAULT`; `none` is none.

It exchanges its hand while the pile lasts, then passes; it knows just enough of the other games to fail in them. It
does not use the client, which would not let it break a rule.
"""

import hashlib
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

import msgpack

Plain = dict[str, Any]
FAULT = sys.argv[1]
EAGER_BYTES = 65_536
HOARD_BYTES = 300 << 20
hoarded: list[bytes] = []


class Gone(Exception):
    """The referee has closed the connection."""


def encoded(message: Plain) -> bytes:
    """Return a frame, as right as the fault lets it be."""
    body: bytes = msgpack.packb(message)
    if FAULT == "json-lines":
        return json.dumps(message).encode() + b"\n"
    if FAULT == "json":
        body = json.dumps(message).encode()
    order = "little" if FAULT == "little-endian" else "big"
    return (len(body) + (3 if FAULT == "wrong-length" else 0)).to_bytes(4, order) + body  # type: ignore[arg-type]


class Player:
    """One player on one connection."""

    def __init__(self) -> None:
        self.matches = self.seat = 0
        self.nonce = ""
        if FAULT == "no-sleeper":
            signal.signal(signal.SIGCONT, lambda *_: sys.exit("where am I?"))
        self.connect(os.environ["REFEREE_TOKEN"])

    def connect(self, token: str) -> None:
        """Connect and say hello."""
        kind, _, rest = os.environ["REFEREE_ADDRESS"].partition(":")
        if kind == "unix":
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(rest)
        else:
            host, port = rest.split(":")
            self.sock = socket.create_connection((host, int(port)))
        self.buffer = b""
        self.hello(token)

    def hello(self, token: str) -> None:
        """Say hello."""
        hello = {"type": "hello", "version": 1, "name": os.environ["REFEREE_NAME"], "token": token}
        changes: dict[str, Plain] = {
            "bad-name": {"name": "Ada Lovelace"},
            "bad-version": {"version": "1"},
            "bad-token": {"token": "secret"},
            "wrong-type": {"type": "Hello"},
        }
        hello.update(changes.get(FAULT, {}))
        if FAULT == "no-name":
            del hello["name"]
        if FAULT != "no-hello":
            self.send(hello)
        if FAULT == "eager":
            self.send({"type": "ready", "match": "check-1", "commitment": "0" * 64})

    def send(self, message: Plain) -> None:
        """Send a message."""
        self.sock.sendall(encoded(message))

    def receive(self) -> Plain:
        """Return the next message."""
        if FAULT == "one-read":  # takes what one read gives for one message
            return self.unpacked(self.read()[4:])
        while len(self.buffer) < 4 or len(self.buffer) < 4 + int.from_bytes(self.buffer[:4], "big"):
            self.buffer += self.read()
        end = 4 + int.from_bytes(self.buffer[:4], "big")
        body, self.buffer = self.buffer[4:end], self.buffer[end:]
        return self.unpacked(body)

    @staticmethod
    def unpacked(body: bytes) -> Plain:
        """Decode a message."""
        if FAULT == "short-forms" and body[0] >> 4 != 8:
            raise ValueError("only maps of up to 15 pairs are known here")
        message: Plain = msgpack.unpackb(body)
        return message

    def read(self) -> bytes:
        """Return some bytes."""
        data = self.sock.recv(EAGER_BYTES)
        if not data:
            raise Gone
        return data

    def play(self) -> None:
        """Answer everything until the referee closes."""
        while True:
            message = self.receive()
            getattr(self, "on_" + message["type"], lambda _message: None)(message)
            if message.get("ack") is not None and FAULT != "no-ack":
                self.send({"type": "ack", "match": message["match"], "ack": message["ack"]})

    def on_offer(self, message: Plain) -> None:
        """Say ready."""
        self.matches += 1
        self.match, self.resume = message["match"], message["resume"]
        self.seat = message["seat"] if self.matches == 1 or FAULT != "old-seat" else self.seat
        if FAULT == "twelve-seats" and len(message["names"]) > 4:
            raise KeyError(len(message["names"]))
        if self.matches == 1 or FAULT != "old-nonce":
            self.nonce = {"short-nonce": "00ff", "fixed-nonce": "0" * 32}.get(FAULT, os.urandom(16).hex())
        text = f"nonce:{self.match}:{self.seat}:{self.nonce}"
        commitment = {"raw-nonce": self.nonce, "no-seat": hashlib.sha256(self.nonce.encode()).hexdigest()}.get(
            FAULT, hashlib.sha256(text.encode()).hexdigest()
        )
        match = "another" if FAULT == "ready-match" else self.match
        if FAULT == "one-match" and self.matches > 1:
            sys.exit(0)
        if FAULT != "no-ready":
            self.send({"type": "ready", "match": match, "commitment": commitment})

    def on_reveal(self, _message: Plain) -> None:
        """Open the nonce."""
        if FAULT == "other-nonce":
            self.nonce = os.urandom(16).hex()
        if FAULT != "no-nonce":
            self.send({"type": "nonce", "match": self.match, "nonce": self.nonce})

    def on_start(self, message: Plain) -> None:
        """Talk out of turn, if that is the fault."""
        if FAULT == "talks":
            self.send({"type": "move", "match": self.match, "turn": 1, "move": {"action": "pass"}})
        if FAULT == "floods":
            self.sock.sendall((60_000).to_bytes(4, "big") + b"\0" * 50_000)
        if FAULT == "no-early-end":
            self.awaits_turn = True

    def on_turn(self, message: Plain) -> None:
        """Move."""
        self.awaits_turn = False
        view = message["view"]
        if FAULT == "large-view" and len(view["map"]) > 500:
            raise MemoryError("a board of 500 tiles is enough")
        if FAULT == "prints":
            print("thinking...\n" * 10_000)
        while FAULT == "ponders":
            pass
        time.sleep({"slow": 0.7, "silent": 1000, "leisurely": 1.2}.get(FAULT, 0))
        move: Any = {"action": "exchange" if len(view["hand"]) <= view["tiles_left"] else "pass"}
        move = {
            "illegal-move": {"action": "place", "tiles": [[7, 7, view["hand"][0]]]},
            "malformed-move": ["exchange"],
        }.get(FAULT, move)
        answer = {"type": "move", "match": self.match, "turn": message["turn"], "move": move}
        changes: dict[str, Plain] = {"other-match": {"match": "another"}, "other-turn": {"turn": message["turn"] + 1}}
        answer.update(changes.get(FAULT, {}))
        if FAULT == "acks-turn":
            answer = {"type": "ack", "match": self.match, "ack": 1}
        if FAULT == "no-answer-type":
            answer["type"] = "moves"
        self.send(answer)
        if FAULT == "moves-twice":
            self.send(answer)
        if FAULT == "deaf":
            time.sleep(1000)

    def on_resumed(self, message: Plain) -> None:
        """Go on."""
        if FAULT == "no-resumed":
            raise ValueError("resumed?")
        self.match, self.resume = message["match"], message["resume"]

    def on_told(self, message: Plain) -> None:
        """Be upset by somebody's expulsion, if that is the fault."""
        if FAULT == "upset" and message["what"]["kind"] == "expelled":
            raise RuntimeError("my friend!")

    def on_end(self, message: Plain) -> None:
        """Be surprised by an end, if that is the fault."""
        if FAULT == "no-end" and message["void"] is None:
            raise RuntimeError("is it over?")
        if FAULT == "no-early-end" and self.awaits_turn:
            raise RuntimeError("it had not begun")

    def on_expelled(self, _message: Plain) -> None:
        """Refuse to leave, if that is the fault."""
        if FAULT == "stays":
            time.sleep(1000)

    def on_refused(self, _message: Plain) -> None:
        """Refuse to leave, if that is the fault."""
        if FAULT == "insists":
            time.sleep(1000)

    on_paused = on_expelled


def print_frames() -> None:
    """Say hello to nobody."""
    sys.stdout.buffer.write(encoded({"type": "hello"}))
    sys.stdout.flush()
    time.sleep(1000)


def spin() -> None:
    """Read from a closed connection for ever."""
    while True:
        pass


def hoard() -> None:
    """Fill memory that a second process shares: either is within the limit of one, both are not."""
    hoarded.append(b"x" * HOARD_BYTES)
    if os.fork() == 0:
        time.sleep(1000)


def main() -> None:
    """Play with the fault."""
    at_once: dict[str, Callable[[], object]] = {
        "exits": lambda: sys.exit(3),
        "prints-frames": print_frames,
        "hoards": hoard,
    }
    at_once.get(FAULT, lambda: None)()
    player = Player()
    while True:
        try:
            player.play()
        except (Gone, ConnectionError):
            if FAULT == "spins":
                spin()
            if FAULT != "comes-back-wrong" or "REFEREE_PLAYER_SEED" in os.environ:
                return
            player.connect(os.environ["REFEREE_TOKEN"])


main()
