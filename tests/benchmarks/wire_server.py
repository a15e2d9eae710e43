"""The server side of the wire benchmark, in its own process: `echo` or `referee`, and a path for a Unix socket.

It prints its port or this path; then it serves.

Both answer a move of the same bytes with a turn of the same bytes: `echo` from a list, the referee by refereeing.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Any, cast

from twisted.internet import reactor
from twisted.internet.protocol import Factory
from twisted.protocols.basic import Int32StringReceiver

from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES
from referee.games.q.game import QGame
from referee.match.machine import Match
from referee.net.event_loop import EventLoop, collect_garbage_rarely
from referee.net.group_commit import GroupCommit
from referee.net.links.lobby import Lobby, Patience
from referee.net.links.player_protocol import LinkFactory, PlayerLink
from referee.net.matches.journal import Journal
from referee.net.matches.runner import MatchRunner, SeatedPlayers
from referee.record.key import Sealer
from referee.record.writer import RecordWriter

from . import staircase

_reactor: Any = reactor
_GAME = QGame()


class Echo(Int32StringReceiver):
    """Answers the k-th frame with the k-th turn's bytes, and knows nothing else."""

    MAX_LENGTH = MAX_FRAME_FROM_PLAYER_BYTES

    def connectionMade(self) -> None:
        """Send the first turn."""
        self._next = 0
        self._wire = cast("Any", self.transport)
        self._wire.setTcpNoDelay(True)
        self._answer()

    def stringReceived(self, _string: bytes) -> None:
        """Send the next turn; after the last one, close."""
        self._answer()

    def _answer(self) -> None:
        if self._next < len(ECHOED):
            self._wire.write(ECHOED[self._next])
            self._next += 1
        else:
            self._wire.loseConnection()


ECHOED: list[bytes] = []


class Tables(Lobby):
    """Seats every player at its own table, and plays at once."""

    def __init__(self, folder: Path) -> None:
        self._loop = EventLoop(_reactor, time.monotonic)
        self._loop.lag.start()
        super().__init__(_reactor, patience=Patience(_reactor, self._loop))
        self._folder = folder
        self._count = 0
        self._sealer = Sealer.new()
        self._commits = GroupCommit(_reactor)

    def find_refusal(self, link: PlayerLink) -> tuple[str, str] | None:
        """Accept everybody."""

    def on_leave(self, link: PlayerLink) -> None:
        """Do nothing: no player is remembered."""

    def seat(self, link: PlayerLink) -> None:
        """Play."""
        self._count += 1
        setup = staircase.setup("bench")
        writer = RecordWriter(self._folder / f"{self._count}.jsonl", self._sealer)
        writer.write_header(setup, staircase.SEED, is_fixed=True, referee="benchmark", opened="")
        match = Match(_GAME, setup, staircase.SEED)
        players, journal = SeatedPlayers(links=[link], tokens=[""]), Journal(writer, self._commits)
        MatchRunner(match, players, journal, _reactor, self._loop).start()


def main() -> None:
    """Serve until killed."""
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1] == "echo":
            ECHOED.extend(staircase.referee_frames("bench"))
            factory: Factory = Factory.forProtocol(Echo)
        else:
            factory = LinkFactory(Tables(Path(folder)), _reactor, time.monotonic)
        if sys.argv[2:]:
            port = _reactor.listenUNIX(sys.argv[2], factory)
        else:
            port = _reactor.listenTCP(0, factory, interface="127.0.0.1", backlog=512)
        collect_garbage_rarely()
        host = port.getHost()
        print(getattr(host, "port", None) or host.name, flush=True)
        _reactor.run()


if __name__ == "__main__":
    main()
