"""A player of Quincy with one of the mistakes that students make: `python mistaken.py MISTAKE`.

`Player` itself is right. Each mistake is a class that differs from it in one method, and is named by that class.
"""

import json
import os
import socket
import sys
import threading
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgpack

sys.path.insert(0, str(Path(__file__).parents[2] / "sample_players" / "python_socket"))
from games import quincy  # the sample's legal moves, found once its folder is known

Message = dict[str, Any]
FOR_EVER_S = 100.0
LATE = 3
"""Number of the player's move in which a late mistake shows."""


class Player:
    """A player without a mistake."""

    def __init__(self) -> None:
        self.nonce = ""
        self.moves = 0
        self.connection = self.connect()
        self.output = self.connection.makefile("wb")

    def connect(self) -> socket.socket:
        """Return a connection to the referee."""
        kind, _, rest = os.environ["REFEREE_ADDRESS"].partition(":")
        if kind == "unix":
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(rest)
            return connection
        host, _, port = rest.rpartition(":")
        return socket.create_connection((host, int(port)))

    def play(self) -> None:
        """Say hello, and answer all messages until the referee closes the connection."""
        self.send(self.hello())
        while (message := self.receive()) is not None:
            self.answer(message)

    def receive(self) -> Message | None:
        """Return the next message; None at the end."""
        prefix = self.read(4)
        return msgpack.unpackb(self.read(int.from_bytes(prefix, "big"))) if prefix else None

    def read(self, count: int) -> bytes:
        """Return so many bytes; none at the end."""
        data = b""
        while len(data) < count and (part := self.connection.recv(count - len(data))):
            data += part
        return data

    def send(self, message: Message) -> None:
        """Send a message."""
        body = self.pack(message)
        self.output.write(self.prefix(body) + body)
        self.flush(message)

    def pack(self, message: Message) -> bytes:
        """Return the body of a frame."""
        packed: bytes = msgpack.packb(message)
        return packed

    def prefix(self, body: bytes) -> bytes:
        """Return the prefix of a frame."""
        return len(body).to_bytes(4, "big")

    def flush(self, message: Message) -> None:
        """Let the message go."""
        self.output.flush()

    def hello(self) -> Message:
        """Return the first message."""
        return {"type": "hello", "version": 1, "name": "mistaken", "token": os.environ["REFEREE_TOKEN"]}

    def answer(self, message: Message) -> None:
        """Answer a message."""
        if message["type"] == "refused":
            raise ValueError(message["reason"])
        match = {"match": message.get("match")}
        if message["type"] == "offer":
            self.nonce = os.urandom(16).hex()
            text = f"nonce:{message['match']}:{message['seat']}:{self.nonce}"
            self.send({"type": "ready", **match, "commitment": sha256(text.encode()).hexdigest()})
        elif message["type"] == "reveal":
            self.send({"type": "nonce", **match, "nonce": self.nonce})
        elif message["type"] == "turn":
            self.moves += 1
            self.send(self.move(message))

    def move(self, message: Message) -> Message:
        """Return the answer to a turn."""
        turn = {key: message[key] for key in ("match", "turn")}
        return {"type": "move", **turn, "move": self.choose(message["view"])}

    def choose(self, view: Any) -> Any:
        """Return the first legal move."""
        move: Any = quincy(view)[0][1]
        return move


class CrashesAtOnce(Player):
    """It raises before it connects."""

    def connect(self) -> socket.socket:
        raise ValueError("no model")


class CrashesLate(Player):
    """It misspells a key that it needs in its third turn."""

    def choose(self, view: Any) -> Any:
        return view["tile_left"] if self.moves == LATE else super().choose(view)


class CrashesInAThread(Player):
    """A thread that has to answer raises, and the program goes on without it."""

    def answer(self, message: Message) -> None:
        if message["type"] == "turn":
            threading.Thread(target=super().answer, args=(message,)).start()
        else:
            super().answer(message)

    def choose(self, view: Any) -> Any:
        raise ValueError("no move is good")


class ReadsOutside(Player):
    """It reads a file that is not in its folder."""

    def choose(self, view: Any) -> Any:
        return Path("/home/ada/weights.txt").read_text()


class RaisesFromAnother(Player):
    """It turns an exception into another one."""

    def choose(self, view: Any) -> Any:
        try:
            return view["best"]
        except KeyError as error:
            raise ValueError("the search failed") from error


class LacksAModule(Player):
    """It needs a package that is not installed."""

    def choose(self, view: Any) -> Any:
        return __import__("torchvisionx").choose(view)


class Hangs(Player):
    """A loop does not end."""

    def choose(self, view: Any) -> Any:
        while self.moves == LATE:
            pass
        return super().choose(view)


class Sleeps(Player):
    """It waits in its third turn."""

    def choose(self, view: Any) -> Any:
        time.sleep(FOR_EVER_S if self.moves == LATE else 0)
        return super().choose(view)


class FlushesNothing(Player):
    """Its moves stay in its own buffer."""

    def flush(self, message: Message) -> None:
        if message["type"] != "move":
            self.output.flush()


class LoadsFirst(Player):
    """Something blocks before it connects."""

    def connect(self) -> socket.socket:
        time.sleep(FOR_EVER_S)
        return super().connect()


class ComputesFirst(Player):
    """It computes before it connects."""

    def connect(self) -> socket.socket:
        while time.process_time() < FOR_EVER_S:
            pass
        return super().connect()


class NamesItsOwnTurn(Player):
    """It counts its own moves."""

    def move(self, message: Message) -> Message:
        return {**super().move(message), "turn": self.moves}


class NamesNoMatch(Player):
    """It makes up the name of the match."""

    def move(self, message: Message) -> Message:
        return {**super().move(message), "match": "match-1"}


class CountsFromZero(Player):
    """It numbers rows and columns from 0."""

    def choose(self, view: Any) -> Any:
        move = super().choose(view)
        return {**move, "square": [number - 1 for number in move["square"]]}


class ExchangesRowAndColumn(Player):
    """It writes the column first."""

    def choose(self, view: Any) -> Any:
        legal = [move for _, move in quincy(view)]
        exchanged = [{**move, "square": move["square"][::-1]} for move in legal]
        return next((move for move in exchanged if move not in legal), legal[0])


class LaysWhatItHasNot(Player):
    """It plays a domino of somebody else."""

    def choose(self, view: Any) -> Any:
        others = [[low, high] for low in range(10) for high in range(low, 10)]
        return {**super().choose(view), "domino": next(domino for domino in others if domino not in view["hand"])}


class Prints(Player):
    """It writes its messages to stdout."""

    def send(self, message: Message) -> None:
        sys.stdout.write(f"{json.dumps(message)}\n")
        sys.stdout.flush()


class ReadsStdin(Player):
    """It expects the referee on stdin."""

    def connect(self) -> socket.socket:
        sys.stdin.read()
        sys.exit()


class ExitsEarly(Player):
    """It ends in its first turn."""

    def move(self, message: Message) -> Message:
        sys.exit()


class Closes(Player):
    """It closes the connection, and runs on."""

    def move(self, message: Message) -> Message:
        self.connection.shutdown(socket.SHUT_RDWR)
        time.sleep(FOR_EVER_S)
        return super().move(message)


class SpeaksJson(Player):
    """The body of a frame is JSON."""

    def pack(self, message: Message) -> bytes:
        return json.dumps(message).encode()


class SpeaksLines(Player):
    """Each message is a line of JSON."""

    def send(self, message: Message) -> None:
        self.output.write(json.dumps(message).encode() + b"\n")
        self.output.flush()


class TurnsThePrefixRound(Player):
    """The least significant byte of the prefix comes first."""

    def prefix(self, body: bytes) -> bytes:
        return len(body).to_bytes(4, "little")


class CountsThePrefix(Player):
    """The prefix counts itself."""

    def prefix(self, body: bytes) -> bytes:
        return (len(body) + 4).to_bytes(4, "big")


class LeavesOutThePrefix(Player):
    """A frame has no prefix."""

    def prefix(self, body: bytes) -> bytes:
        return b""


class ReadsOnce(Player):
    """It takes the result of one read for a whole frame."""

    def receive(self) -> Message | None:
        message: Message | None = msgpack.unpackb(self.connection.recv(100)[4:])
        return message


class ReadsThePrefixRound(Player):
    """It reads the prefix with the least significant byte first."""

    def receive(self) -> Message | None:
        prefix = self.read(4)
        return msgpack.unpackb(self.read(int.from_bytes(prefix, "little"))) if prefix else None


class SendsASet(Player):
    """Its move holds a value that msgpack can't encode."""

    def choose(self, view: Any) -> Any:
        return {**super().choose(view), "square": {1, 2}}


class SendsText(Player):
    """Its move is a text."""

    def choose(self, view: Any) -> Any:
        return json.dumps(super().choose(view))


class NamesNoAction(Player):
    """It calls an action by another name."""

    def choose(self, view: Any) -> Any:
        return {**super().choose(view), "action": "place"}


class ReturnsNothing(Player):
    """It forgets to return the move."""

    def choose(self, view: Any) -> Any:
        super().choose(view)


class SendsFractions(Player):
    """Its numbers have a decimal point."""

    def choose(self, view: Any) -> Any:
        move = super().choose(view)
        return {**move, "square": [float(number) for number in move["square"]]}


class AnswersTwice(Player):
    """It answers each turn twice."""

    def answer(self, message: Message) -> None:
        super().answer(message)
        if message["type"] == "turn":
            super().answer(message)


class SaysNothingToAnOffer(Player):
    """It waits for the match to start."""

    def answer(self, message: Message) -> None:
        if message["type"] != "offer":
            super().answer(message)


class HasNoToken(Player):
    """It leaves out the token."""

    def hello(self) -> Message:
        return {**super().hello(), "token": None}


if __name__ == "__main__":
    globals()[sys.argv[1]]().play()
