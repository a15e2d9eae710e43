"""One match, of Q or of another game, between in-memory links whose peers speak when a test calls them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from twisted.internet.task import Clock

from protocol.deal import nonce_commitment
from protocol.messages import Move, Nonce, Ready, Turn
from referee import chance
from referee.games.base import Game
from referee.games.q.game import QGame
from referee.match.commands import Result
from referee.match.fouls import Cause
from referee.match.machine import Match
from referee.match.setup import MatchSetup
from referee.net.event_loop import AT_ONCE, BEAT_S, Agenda, EventLoop
from referee.net.group_commit import GroupCommit
from referee.net.links.lobby import MatchLobby, Patience, SignUpPolicy
from referee.net.matches.journal import Journal
from referee.net.matches.runner import MatchRunner, SeatedPlayers
from referee.observers import Observer, Observers
from referee.plugins import installed
from referee.record.audit.match import audit
from referee.record.key import Sealer
from referee.record.writer import RecordWriter
from referee.settings import Durability

from ..time_controls import grouped
from .wires import Peer, fired, kinds

LIMIT_S = 0.2
SEED = chance.seed_from_number(1)
NONCE = "00" * 16
PASS = {"action": "pass"}
Q = QGame()


def token(seat: int) -> str:
    """Return the token with which a seat's player comes back."""
    return f"{seat + 1:064x}"


def ready(seat: int) -> Ready:
    """Return the answer to an offer, with a commitment to NONCE."""
    return Ready(match="m1", commitment=nonce_commitment("m1", seat, NONCE))


def let_others_go_first(agenda: Agenda) -> None:
    """Add as many other matches as the agenda takes together, so that the next addition waits for the next turn."""
    for _ in range(AT_ONCE):
        agenda.add(object(), (_nothing,) * 4)


def _nothing() -> None:
    """Stand in for a stage of another match."""


class InMemoryMatch:
    """A match, of Q unless it is given another game, between peers that speak when the test calls them."""

    peer: type[Peer] = Peer
    dialect: str | None = None

    def __init__(
        self,
        folder: Path,
        seats: int = 2,
        *,
        game: Game[Any, Any, Any] = Q,
        come_back_s: float = 0.0,
        clock: Clock | None = None,
        event_loop: EventLoop | None = None,
        patience: Patience | None = None,
        observers: Observers | None = None,
        commits: GroupCommit | None = None,
        durability: Durability = Durability.MATCH,
        reused: Mapping[int, Any] = MappingProxyType({}),
        **setup: Any,
    ) -> None:
        self.clock = clock or Clock()
        names = [f"p{seat}" for seat in range(seats)]
        policy = SignUpPolicy(min_players=seats, max_players=seats)
        self.lobby = lobby = MatchLobby(self.clock, policy, patience=patience)
        seated = fired(lobby.done)
        self.peers = [self.peer(lobby, self.clock) for _ in names]
        for peer, name in zip(self.peers, names, strict=True):
            peer.hello(name)
        self.setup = MatchSetup(
            match="m1",
            game=game.name,
            names=tuple(names),
            commitment=chance.commitment(SEED),
            **grouped(setup, per_move_ms=LIMIT_S * 1000),
        )
        self.path = folder / "m1.jsonl"
        self.sealer = Sealer.new()
        self.writer = writer = RecordWriter(self.path, self.sealer)
        marked = "turn" if durability is Durability.TURN else None
        writer.write_header(
            self.setup,
            SEED,
            is_fixed=False,
            referee="test",
            opened="",
            dialect=self.dialect,
            durability=marked,
            rules_version=game.rules_version,
        )
        self.match = Match(game, self.setup, SEED)
        self.event_loop = event_loop or EventLoop(self.clock, self.clock.seconds)
        if event_loop is None:
            self.event_loop.lag.start()
        tokens = [token(seat) for seat in range(seats)]
        players = SeatedPlayers(links=seated[0], tokens=tokens, come_back_s=come_back_s, reused=reused)
        told = observers or Observers()
        self.runner = MatchRunner(
            self.match,
            players,
            Journal(writer, commits, durability),
            self.clock,
            self.event_loop,
            on_transition=lambda step: told.notify(Observer.on_match_advanced, step),
        )
        lobby.returns = self.runner
        self.result = fired(self.runner.start())

    def ready(self) -> None:
        """Let all seats accept, and open their nonces."""
        for seat, peer in enumerate(self.peers):
            assert kinds(peer.heard()) == ["Offer"]
            peer.say(ready(seat))
        self.open_nonces()

    def open_nonces(self) -> None:
        """Let every seat that is asked open its nonce."""
        for seat in [*self.match.open_requests]:
            assert kinds(self.peers[seat].heard()) == ["Reveal"]
            self.peers[seat].say(Nonce(match="m1", nonce=NONCE))

    def answer(self, seat: int, move: Any = PASS) -> None:
        """Let the seat answer the turn it was asked."""
        turn = self.asked(seat)
        self.peers[seat].say(Move(match="m1", turn=turn.turn, move=move))

    def asked(self, seat: int) -> Turn:
        """Return the turn the seat was asked."""
        turn = self.peers[seat].heard()[-1]
        assert isinstance(turn, Turn)
        return turn

    def run(self, seconds: float) -> None:
        """Let time pass while the loop beats."""
        self.clock.pump([BEAT_S / 2] * round(2 * seconds / BEAT_S))

    def end(self) -> Result:
        """Return the result of the match after auditing its record."""
        assert len(self.result) == 1
        record = audit(self.path, lambda _name: self.match.game, find_wire=installed().wire)
        assert record.result is not None
        self.event_loop.lag.stop()
        assert self.clock.getDelayedCalls() == []
        result: Result = self.result[0]
        assert result.void is None
        return result

    def fouls(self) -> list[tuple[int, Cause]]:
        """Return the fouls so far."""
        return [(foul.seat, foul.cause) for foul in self.match.fouls]

    def last_step(self) -> Any:
        """Return the last line of the record."""
        return json.loads(self.path.read_text().splitlines()[-1])


OpenMatch = Callable[..., InMemoryMatch]
