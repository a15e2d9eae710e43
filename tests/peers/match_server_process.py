"""A referee in a process of its own for tests: it plays a match for each job, on real sockets.

Started with `FD FOLDER`: the descriptor of a socket and the folder of the records. Reads a job a line, `{"game",
"settings", "policy"}`, and answers with lines: `{"address"}`, `{"said"}` for every report of the table, and `{"record",
"opened_s", "stalls"}` at the end of the match. Instants are seconds of the monotonic clock, which all processes share.
"""

import json
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Factory
from twisted.protocols.basic import LineOnlyReceiver

from referee.games.q.game import QGame
from referee.net.event_loop import collect_garbage_rarely
from referee.net.links.lobby import SignUpPolicy
from referee.net.matches.session import MatchSession
from referee.net.matches.settings import MatchServices, MatchSettings
from referee.observers import MatchTransition, Observer, Observers
from referee.record.key import default_path, load_or_make

from ..counting import CountingGame

_reactor: Any = reactor
GAMES = {game.name: game for game in (QGame(), CountingGame())}


class Watch(Observer):
    """Keeps the opening of each match and the loop's standstills, and prints reports."""

    def __init__(self, say: Callable[..., None]) -> None:
        self._say = say
        self.opened_s = 0.0
        self.stalls: list[tuple[float, float]] = []

    def note(self, event: str, /, **facts: Any) -> None:
        """Keep a standstill."""
        if event == "listening":
            self._say(address=facts["address"])
        if event == "reported":
            self._say(said=facts["text"])
        if event == "loop-stalled":
            now = time.monotonic()
            self.stalls.append((now - facts["stalled_s"], now))

    def on_match_advanced(self, step: MatchTransition) -> None:
        """Keep the instant of the first step."""
        self.opened_s = self.opened_s or time.monotonic() - step.event.at_ms / 1000


class TestServer(LineOnlyReceiver):
    """The other end of a test."""

    delimiter = b"\n"
    MAX_LENGTH = 1 << 20

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sealer = load_or_make(default_path(os.environ))[0]

    def lineReceived(self, line: bytes) -> None:
        """Play a match."""
        playing = Deferred.fromCoroutine(self._play(json.loads(line)))
        playing.addErrback(lambda failure: self._say(error=failure.getTraceback()))

    def connectionLost(self, reason: Any = None) -> None:
        """End with the test."""
        _reactor.stop()

    async def _play(self, job: dict[str, Any]) -> None:
        settings = msgspec.convert({**job["settings"], "folder": str(self._folder)}, MatchSettings, dec_hook=_decoded)
        watch = Watch(self._say)
        table = MatchSession(
            _reactor,
            time.monotonic,
            GAMES[job["game"]],
            settings,
            MatchServices(sealer=self._sealer, observers=Observers(watch)),
        )
        policy = SignUpPolicy(**job["policy"])
        played = await table.play_after_sign_up("tcp:0:interface=127.0.0.1", policy)
        assert played is not None, "too few signed up"
        self._say(record=str(played.record), opened_s=watch.opened_s, stalls=watch.stalls)

    def _say(self, **facts: Any) -> None:
        self.sendLine(json.dumps(facts).encode())  # type: ignore[no-untyped-call]  # Twisted's own


class Orders(Factory):
    """Makes the protocol that takes this process's orders."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def buildProtocol(self, addr: object) -> TestServer:
        """Make it; called by Twisted."""
        return TestServer(self._folder)


def _decoded(kind: type, value: Any) -> Any:
    return kind(value)


def main() -> None:
    """Serve until the test hangs up."""
    factory = Orders(Path(sys.argv[2]))
    descriptor = int(sys.argv[1])
    _reactor.adoptStreamConnection(descriptor, socket.AF_UNIX, factory)
    os.close(descriptor)
    collect_garbage_rarely()
    _reactor.run()


if __name__ == "__main__":
    main()
