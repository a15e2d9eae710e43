"""Many matches of one loop on real sockets: messages come at any time, and connections end in between.

Only a few matches are processed together, so most of them wait. Every record is audited, and no honest player is ever
expelled.
"""

import socket
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from protocol import Connection, ConnectionState, Need, Role
from protocol.messages import Ack, Hello, Message, Move, Nonce, Offer, Resumed, Reveal, Turn
from referee.games.q.game import QGame
from referee.net import event_loop as event_loop_module
from referee.net.event_loop import EventLoop
from referee.net.links.lobby import Lobby, Patience
from referee.net.links.player_protocol import LinkFactory
from referee.plugins import installed
from referee.record.audit.match import audit
from referee.record.audit.processes import contradictions
from referee.record.audit.times import presences
from referee.record.reader import read_record
from sample_players.python.q_simple import make_dag

from ..in_memory import NONCE, InMemoryMatch, ready, token
from ..real_loop import real_loop
from ..wires import Peer
from .test_standstills import TickingClock

MATCHES = 12
LIMIT_MS = 60_000.0
_MOST_LOOKS = 20_000
_DEEDS = ("leave", "garble", "answer and leave", "half, then leave", "say it twice")


class SocketPeer(Peer):
    """A player at the other end of a real connection.

    Args:
        lobby: lobby that the connection is made to.
        loop: loop that reads the connection: an EPollReactor of the test's own.
    """

    def __init__(self, lobby: Lobby, loop: Any) -> None:
        port = loop.listenTCP(0, LinkFactory(lobby, loop, loop.seconds), interface="127.0.0.1")
        self.connection = Connection(Role.PLAYER)
        self.socket = socket.create_connection(("127.0.0.1", port.getHost().port))
        self.socket.setblocking(False)
        self._loop = loop
        before = len(lobby.greeting)
        while len(lobby.greeting) == before:
            loop.iterate(0)
        port.stopListening()

    @property
    def is_open(self) -> bool:
        """Whether this end is still open."""
        return self.socket.fileno() >= 0

    def raw(self, data: bytes) -> None:
        """Send any bytes."""
        with suppress(OSError):
            self.socket.sendall(data)

    def heard(self) -> list[Message]:
        """Return the messages that came since the last call."""
        with suppress(OSError):
            self.connection.receive_data(self.socket.recv(1 << 20))
        messages: list[Message] = []
        while (event := self.connection.next_event()) is not Need.DATA:
            assert isinstance(event, Message)
            messages.append(event)
        return messages

    def hello(self, name: str, token: str | None = None) -> list[Message]:
        """Say hello, and return the referee's answer."""
        self.say(Hello(version=1, name=name, token=token))
        while not (heard := self.heard()):
            self._loop.iterate(0)
        return heard


class SocketMatch(InMemoryMatch):
    """A match with one seat that acts at random.

    Args:
        folder: for its record.
        source: of all random choices.
        loop: loop in which the match is played.
        event_loop: the same loop, in the form that matches use.
    """

    peer = SocketPeer
    peers: list[SocketPeer]  # type: ignore[assignment]  # as they are made

    def __init__(self, folder: Path, source: Random, loop: Any, event_loop: EventLoop) -> None:
        seats = source.choice((2, 3))
        self.source, self.rogue = source, source.randrange(seats)
        folder.mkdir()
        super().__init__(
            folder,
            seats,
            come_back_s=source.choice((0.0, 1.0)),
            clock=loop,
            event_loop=event_loop,
            patience=Patience(loop, event_loop),
            acknowledge=source.random() < 0.5,
            start_ms=LIMIT_MS,
        )
        self._choose = make_dag()

    def close(self) -> None:
        """Close everything."""
        self.writer.close()
        for peer in self.peers:
            peer.socket.close()

    def look(self) -> None:
        """Let all asked players answer; players that left may return."""
        for seat, peer in enumerate(self.peers):
            if peer.is_open:
                for message in peer.heard():
                    self._answer(seat, peer, message)
                if seat == self.rogue and self.source.random() < 0.02:  # whether it is asked or not
                    peer.socket.close()
            elif self.source.random() < 0.1 and self.runner.find_seat(token(seat), None) == seat:
                self.peers[seat] = SocketPeer(self.lobby, self.clock)
                self.peers[seat].say(Hello(version=1, name=f"p{seat}", token=token(seat)))

    def _answer(self, seat: int, peer: SocketPeer, message: Message) -> None:
        answer: Message
        if peer.connection.state is ConnectionState.CLOSED:
            return  # its expulsion came in the same bytes
        if isinstance(message, Offer):
            answer = ready(seat)
        elif isinstance(message, Reveal):
            answer = Nonce(match="m1", nonce=NONCE)
        elif isinstance(message, Turn):
            answer = Move(match="m1", turn=message.turn, move=self._choose(message.view))
        elif (ack := getattr(message, "ack", None)) is not None:
            answer = Ack(match="m1", ack=ack)
        else:
            return
        data = peer.connection.send(answer)
        is_wild = seat == self.rogue and not isinstance(message, Resumed) and self.source.random() < 0.05
        self._misbehave(peer, data) if is_wild else peer.raw(data)

    def _misbehave(self, peer: SocketPeer, data: bytes) -> None:
        deed = self.source.choice(_DEEDS)
        said = {"leave": b"", "garble": data + b"\0\0\0\1\xc1", "half, then leave": data[:5], "say it twice": data * 2}
        peer.raw(said.get(deed, data))
        if "leave" in deed:
            peer.socket.close()


def played(folder: Path, source: Random, loop: Any) -> list[SocketMatch]:
    """Play matches until all are over, and check that the agenda is empty."""
    event_loop = EventLoop(loop, loop.seconds)
    event_loop.lag.start()
    matches = [SocketMatch(folder / str(number), source, loop, event_loop) for number in range(MATCHES)]
    try:
        for _ in range(_MOST_LOOKS):
            going = [match for match in matches if not match.result]
            for match in source.sample(going, len(going)):
                match.look()
            loop.iterate(0)
            if not going:
                break
    finally:
        event_loop.lag.stop()
        for match in matches:
            match.close()
    assert len(event_loop.agenda.due) == 0
    return matches


@pytest.mark.parametrize("seed", range(4))
def test_however_matches_wait_their_records_hold(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All matches end, none is void, no record contradicts another, and nothing is left in the loop."""
    source = Random(seed)
    monkeypatch.setattr(event_loop_module, "AT_ONCE", source.choice((1, 2, 4)))
    monkeypatch.setattr(event_loop_module, "MOST_WAITING", source.choice((4, 16)))
    clock = TickingClock(source, 0.002)
    with real_loop(clock.seconds) as loop:
        matches = played(tmp_path, source, loop)
    found = []
    for match in matches:
        (result,) = match.result
        assert {foul.seat for foul in result.fouls} <= {match.rogue}
        assert result.void is None
        assert audit(match.path, lambda _name: QGame(), find_wire=installed().wire).result is not None
        found += presences(read_record(match.path))
    assert list(contradictions(found)) == []
