"""The referee of the fairness benchmark, a process of its own: `FOLDER MATCHES TURNS STALL_MS`; prints its port.

It seats every player that connects, two at a table, and lets them count. Its loop stands still on purpose at random
instants, from the first connection on. At the end, it prints the number and lengths of the standstills, in one line of
JSON.
"""

import json
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

from twisted.internet import reactor
from twisted.internet.task import LoopingCall

from referee import chance
from referee.match.machine import Match
from referee.match.setup import MatchSetup
from referee.net.event_loop import EventLoop, collect_garbage_rarely
from referee.net.links.lobby import Lobby, Patience
from referee.net.links.player_protocol import LinkFactory, PlayerLink
from referee.net.matches.journal import Journal
from referee.net.matches.runner import MatchRunner, SeatedPlayers
from referee.record.key import Sealer
from referee.record.writer import RecordWriter

from ..counting import CountingGame
from ..time_controls import time_control

LIMIT_MS = 200.0
SEATS = 2
_STALL_EVERY_S = 0.5
_reactor: Any = reactor
_GAME = CountingGame()
_SEED = chance.seed_from_number(0)


class Tables(Lobby):
    """Seats all players, and begins a match when its players are there; a player's name has its table: `p17s0`."""

    def __init__(self, folder: Path, matches: int, turns: int, stall_ms: float) -> None:
        self._loop = EventLoop(_reactor, time.monotonic)
        super().__init__(_reactor, hello_s=LIMIT_MS / 1000, patience=Patience(_reactor, self._loop))
        self._folder = folder
        self._turns = turns
        self._matches = self._running = matches
        self._stall_ms = stall_ms
        self._links: dict[str, PlayerLink] = {}
        self._sealer = Sealer.new()
        self._source = Random(0)
        self._loop.lag.note = self._note
        self._stalls_ms: list[float] = []
        self._loop.lag.start()
        LoopingCall(self._perhaps_stand_still).start(_STALL_EVERY_S)

    def find_refusal(self, link: PlayerLink) -> tuple[str, str] | None:
        """Accept everybody."""

    def on_leave(self, link: PlayerLink) -> None:
        """Do nothing: no player is remembered."""

    def seat(self, link: PlayerLink) -> None:
        """Seat the player; the match begins with the last one of its table."""
        self._links[link.name] = link
        if len(self._links) == SEATS * self._matches:
            for number in range(self._matches):
                self._play(number)

    def _play(self, number: int) -> None:
        names = tuple(f"p{number}s{seat}" for seat in range(SEATS))
        setup = MatchSetup(
            match=f"m{number}",
            game=_GAME.name,
            options={"limit": self._turns},
            names=names,
            time=time_control(per_move_ms=LIMIT_MS, start_ms=LIMIT_MS),
            nonces=False,
            commitment=chance.commitment(_SEED),
        )
        writer = RecordWriter(self._folder / f"m{number}.jsonl", self._sealer)
        writer.write_header(setup, _SEED, is_fixed=True, referee="benchmark", opened="")
        links = [self._links[name] for name in names]
        players = SeatedPlayers(links=links, tokens=[""] * len(links))
        runner = MatchRunner(Match(_GAME, setup, _SEED), players, Journal(writer), _reactor, self._loop)
        runner.start().addBoth(self._ended)

    def _ended(self, _result: Any) -> None:
        self._running -= 1
        if not self._running:
            print(json.dumps(self._stalls_ms), flush=True)
            _reactor.callLater(0.1, _reactor.stop)

    def _perhaps_stand_still(self) -> None:
        """Stand still at a random instant of the next period, as a slow disk or a busy machine stops a loop."""
        _reactor.callLater(self._source.uniform(0, _STALL_EVERY_S), self._stand_still)

    def _stand_still(self) -> None:
        time.sleep(self._source.uniform(0, self._stall_ms) / 1000)

    def _note(self, event: str, **facts: float) -> None:
        """Store each standstill, even one that was not on purpose."""
        self._stalls_ms.append(facts["stalled_s"] * 1000)


def main() -> None:
    """Referee all matches."""
    folder, matches, turns, stall_ms = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    lobby = Tables(folder, matches, turns, stall_ms)
    port = _reactor.listenTCP(0, LinkFactory(lobby, _reactor, time.monotonic), interface="127.0.0.1", backlog=4096)
    collect_garbage_rarely()
    print(port.getHost().port, flush=True)
    _reactor.run()


if __name__ == "__main__":
    main()
