"""One match of Q between in-memory links that speak the course's protocol."""

import json
from pathlib import Path
from typing import Any

from protocol.messages import Message
from referee.dialects.cs4500.server import CourseLink

from ..net.in_memory import InMemoryMatch
from ..net.wires import Peer

VOID = b'"void"'
REPLACE = b'"replace"'
TILE = '{"color": "red", "shape": "star"}'
POSITION = {
    "map": [[0, 0, "red-star"], [-1, 0, "red-clover"]],
    "pile": ["blue-circle"] * 10,
    "players": [{"score": 5, "hand": ["red-star", "blue-8star"]}, {"score": 7, "hand": ["green-square"]}],
}
"""Position of a match for two, as a game restores it."""


class CoursePeer(Peer):
    """A course's player at the other end of a wire."""

    kind = CourseLink

    def hello(self, name: str, token: str | None = None) -> list[Message]:
        """Sign up."""
        self.raw(json.dumps(name).encode())
        return []

    @property
    def call(self) -> Any:
        """The last call."""
        return json.loads(self.wire.written.splitlines()[-1])

    @property
    def is_asked(self) -> bool:
        """Whether a call waits for its result."""
        return self.wire.written != b""

    def result(self, data: bytes) -> None:
        """Answer the call."""
        self.wire.written = b""
        self.raw(data)


class CourseMatch(InMemoryMatch):
    """A match of Q between course players; all of them exchange, unless the test changes that."""

    peer = CoursePeer
    dialect = "cs4500"

    def __init__(self, folder: Path, **setup: Any) -> None:
        super().__init__(folder, acknowledge=True, **setup)
        self.clock.advance(0)

    def until(self, seat: int, method: str) -> Any:
        """Let all seats answer until a seat is called, and return the arguments of the call."""
        while not (self._peer(seat).is_asked and self._peer(seat).call[0] == method):
            self.step()
        return self._peer(seat).call[1]

    def step(self) -> None:
        """Let each called player answer."""
        asked = next(peer for peer in self.peers if isinstance(peer, CoursePeer) and peer.is_asked)
        asked.result(REPLACE if asked.call[0] == "take-turn" else VOID)

    def finish(self) -> None:
        """Let everybody answer until the match is over."""
        while not self.result:
            self.step()

    def _peer(self, seat: int) -> CoursePeer:
        peer = self.peers[seat]
        assert isinstance(peer, CoursePeer)
        return peer
