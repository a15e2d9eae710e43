"""A match in memory between honest players and rogues that act at random.

Honest players answer at once and correctly. Between their answers, rogues at random speak, send garbage, lose and open
connections. Time passes while the loop beats or stands still.
"""

from pathlib import Path
from random import Random
from typing import Any

from protocol import ConnectionState, Role
from protocol.messages import Ack, Hello, Message, Move, Nonce, Offer, Reveal, Turn
from referee.match.commands import Result
from referee.testing import JUNK
from sample_players.python.q_simple import make_dag

from ...peers.offences_made import POSITION
from ...peers.rogues import NONCE, frame
from ...protocol.fuzzing import Fuzzer
from ..in_memory import LIMIT_S, PASS, InMemoryMatch, let_others_go_first, ready
from ..in_memory import token as resume
from ..wires import Peer

SEATS = 3
_STEPS = 400
"""Number of random actions; after them only time passes, so that all limits pass."""


class Fray:
    """One match.

    Args:
        folder: for its record.
        source: of all chance.
    """

    def __init__(self, folder: Path, source: Random) -> None:
        self.source = source
        self.running = InMemoryMatch(
            folder,
            SEATS,
            come_back_s=source.choice((0.0, 0.0, 0.5)),
            acknowledge=source.random() < 0.5,
            position=POSITION,
            start_ms=1000.0,
            bank_ms=source.choice((None, 500.0)),
        )
        rogues = source.choice((1, 1, 2))
        self.rogues = frozenset(source.sample(range(SEATS), rogues))
        self._wildness = source.choice((0.0, 0.1, 0.7))
        self._togetherness = source.choice((0.0, 0.3))
        self._choose = make_dag()
        self._strangers: list[Peer] = []
        self._streams = Fuzzer(source)

    @property
    def honest(self) -> list[int]:
        """The seats without a fault."""
        return [seat for seat in range(SEATS) if seat not in self.rogues]

    def play(self) -> Result:
        """Play to the end, audit the record, and return the result."""
        for _ in range(_STEPS):
            self._answer()
            if self.running.result:
                break
            self._happen()
        while not self.running.result:
            self._answer()
            self.running.run(LIMIT_S)
        self.running.run(4.0)  # players that still wait in the lobby are refused
        return self.running.end()

    def _answer(self) -> None:
        """Let the honest players answer everything that they are asked."""
        while any(self._answer_all(self.running.peers[seat]) for seat in self.honest):
            pass

    def _answer_all(self, peer: Peer) -> bool:
        heard = peer.heard()
        for message in heard:
            if isinstance(message, Offer):
                peer.say(ready(message.seat))
            elif isinstance(message, Reveal):
                peer.say(Nonce(match=message.match, nonce=NONCE))
            elif isinstance(message, Turn):
                peer.say(Move(match=message.match, turn=message.turn, move=self._choose(message.view)))
            if getattr(message, "ack", None) is not None:
                peer.say(Ack(match="m1", ack=message.ack))  # type: ignore[attr-defined]  # it was looked at
        return bool(heard)

    def _happen(self) -> None:
        """Let chance do something."""
        if self.source.random() < self._togetherness:
            self._speak_together()
            return
        wild = (self._garble, self._lose, self._come, self._pass, self._stand_still)
        deed = self.source.choice(wild) if self.source.random() < self._wildness else self._speak
        deed()

    def _speak_together(self) -> None:
        """Let several players speak before any is answered, as with sockets that are read together."""
        agenda, wild = self.running.event_loop.agenda, (self._garble, self._come)
        agenda.hold()
        if self.source.random() < 0.5:  # the match waits while the loop goes on
            let_others_go_first(agenda)
        for _ in range(self.source.randrange(1, 6)):
            if self.source.random() < 0.4:
                self._answer_all(self.running.peers[self.source.choice(self.honest)])
            else:
                (self.source.choice(wild) if self.source.random() < self._wildness else self._speak)()
        agenda.release()
        while len(agenda.due):
            self.source.choice((self._lose, self._come, self._look_away, self._stand_still))()
            if self.source.random() < 0.5:
                agenda.release()

    def _look_away(self) -> None:
        """Let a moment pass while the loop beats."""
        self.running.run(0.005)

    def _rogue(self) -> Peer:
        return self.source.choice([*(self.running.peers[seat] for seat in self.rogues), *self._strangers])

    def _speak(self) -> None:
        """Send a valid message, mostly the one that is due."""
        match = self.running.match
        turn = match.turn + (self.source.choice((-1, 1)) if self.source.random() < 0.05 else 0)
        acks: list[Any] = [request.number for request in match.open_requests.values()]
        moves = [PASS, {"action": "exchange"}, *([self.source.choice(JUNK)] if self.source.random() < 0.1 else [])]
        said: tuple[Message, ...] = (
            ready(self.source.randrange(len(match.setup.names))),
            Nonce(match="m1", nonce=NONCE),
            Move(match="m1", turn=turn, move=self.source.choice(moves)),
            Ack(match="m1", ack=self.source.choice([*acks, 1])),
        )
        peer = self._rogue()
        speaks = {
            ConnectionState.OFFERED: said[0],
            ConnectionState.TO_REVEAL: said[1],
            ConnectionState.ASKED: said[2],
            ConnectionState.TO_CONFIRM: said[3],
            ConnectionState.TO_CONFIRM_END: said[3],
        }
        fitting = speaks.get(peer.link.connection.state)
        if fitting is not None and self.source.random() < 0.95:
            peer.raw(frame(fitting))
        elif self.source.random() < self._wildness / 10:
            peer.raw(frame(self.source.choice(said)))

    def _garble(self) -> None:
        """Send hostile bytes, or a part of them; seldom, so that the match goes on."""
        if self.source.random() < 0.15:
            peer = self._rogue()
            data = self._streams.stream(Role.PLAYER, peer.link.connection.state)
            peer.raw(data[: self.source.choice((2, 20, len(data)))])

    def _lose(self) -> None:
        """Break a rogue's connection."""
        if self.source.random() < 0.2:
            self._rogue().wire.drop()

    def _come(self) -> None:
        """Open a connection, and perhaps say hello with some token."""
        peer = Peer(self.running.lobby, self.running.clock)
        self._strangers.append(peer)
        seat = self.source.choice(sorted(self.rogues))
        token = self.source.choice((None, "x", resume(seat), resume(SEATS)))
        if self.source.random() < 0.8:
            peer.raw(frame(Hello(version=self.source.choice((1, 1, 1, 2)), name="p0", token=token)))

    def _pass(self) -> None:
        """Let time pass while the loop beats."""
        self.running.run(self.source.choice((0.005, 0.02, LIMIT_S / 2, LIMIT_S)))

    def _stand_still(self) -> None:
        """Let time pass while the loop sees none of it."""
        self.running.clock.advance(self.source.choice((0.02, 0.1, 0.3, 0.7)))
