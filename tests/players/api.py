"""A small referee for one player program: no clock, no record, one socket. It plays many games with it, quickly.

It raises at the first mistake. A program is started once; the other seats move at random in this process.
"""

import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self

from protocol.connection import Connection, Need, Role
from protocol.deal import nonce_commitment
from protocol.limits import PROTOCOL_VERSION
from protocol.messages import (
    Ack,
    End,
    Expelled,
    Hello,
    Message,
    Move,
    Nonce,
    Offer,
    Paused,
    Ready,
    Reveal,
    Start,
    TimeControl,
    Told,
    Turn,
    Welcome,
)
from referee import chance
from referee.games.base import Game
from referee.testing import plain

AnyGame = Game[Any, Any, Any]
SEED = bytes(32)
PATIENCE_S = 60.0
"""Limit of an answer, and of a program's end: only a program that hangs takes so long."""
TOKEN, NAME = "5ec2e7", "sample"
_HEAD = "0" * 64
SEED_VARIABLE = "REFEREE_PLAYER_SEED"


class AuthorApi:
    """One program, and the matches that it is offered.

    Args:
        argv: the program, as its player.toml starts it.
        folder: where it runs.
        place: a folder for the socket.
        over: `unix` or `tcp`.
        environment: added to what it finds.
    """

    def __init__(
        self,
        argv: Sequence[str],
        folder: Path,
        place: Path,
        over: str = "unix",
        environment: Mapping[str, str] = {},
    ) -> None:
        listener = socket.socket(socket.AF_UNIX if over == "unix" else socket.AF_INET)
        listener.settimeout(PATIENCE_S)
        listener.bind(str(place / "s") if over == "unix" else ("127.0.0.1", 0))
        listener.listen()
        where = f"unix:{place / 's'}" if over == "unix" else f"tcp:127.0.0.1:{listener.getsockname()[1]}"
        own = {"REFEREE_ADDRESS": where, "REFEREE_TOKEN": TOKEN, "REFEREE_NAME": NAME, SEED_VARIABLE: SEED.hex()}
        self.nonces: list[str] = []
        """The program's nonces, one for each match."""
        self.moves: list[Any] = []
        """The program's moves in all matches, plain."""
        self._number = self._ack = 0
        self._connection = Connection(Role.REFEREE)
        self._process = subprocess.Popen(
            argv,
            cwd=folder,
            env={**os.environ, **own, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        with listener:
            self._socket, _ = listener.accept()
        self._socket.settimeout(PATIENCE_S)
        if over == "tcp":
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        assert self._take() == Hello(version=PROTOCOL_VERSION, name=NAME, token=TOKEN)
        self._send(Welcome(version=PROTOCOL_VERSION, referee="api"))

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the program, whatever it does."""
        self._socket.close()
        self._process.kill()
        self._process.communicate()

    def play(self, game: AnyGame, seats: int, source: Random, most: int, *, acknowledge: bool = False) -> int:
        """Play one match with the program on a random seat; it is void after so many of its moves.

        Args:
            game: the rules.
            seats: how many.
            source: what chooses the seat, the deal, the moves of the others, and whether one of them is expelled.
            most: moves of the program.
            acknowledge: whether messages must be confirmed.

        Returns:
            How many moves the program made.

        Raises:
            MalformedMove: a move of the program does not have the form of a move.
            IllegalMove: it breaks a rule.
        """
        own, moves, turn = source.randrange(seats), 0, 0
        state = game.new(game.parse_options({}), seats, chance.Dealer(source.randbytes(32)))
        match = self._seated(game, seats, own, acknowledge=acknowledge)
        self._confirmed(Start(match=match, view=plain(game.view(state, own)), ack=self._next_ack(acknowledge)))
        while (outcome := game.outcome(state)) is None and moves < most:
            turn, seat = turn + 1, game.to_move(state)
            if moves and seat != own and source.random() < 0.01 and not game.is_same_turn(state):
                state = game.drop(state, seat)
                self._send(Told(match=match, turn=turn, what={"kind": "expelled", "seat": seat, "cause": "timeout"}))
                continue
            if seat == own:
                moves += 1
                move = game.parse_move(self._asked(match, turn, plain(game.view(state, own))))
            else:
                move = source.choice(game.legal_moves(state))
            state = game.play(state, move)
            news = game.news(state)
            draws = plain(news.draws) if seat == own else None
            ack = self._next_ack(acknowledge and draws is not None)
            what = {"kind": "played", **plain(news.public)}
            self._confirmed(Told(match=match, turn=turn, what=what, draws=draws, ack=ack))
            state = game.deliver(state)
        void = "there are enough moves" if outcome is None else None
        nonces = [self.nonces[-1] if seat == own else None for seat in range(seats)]
        is_confirmed = acknowledge and void is None
        self._confirmed(self._end(match, nonces, void, self._next_ack(is_confirmed)))
        if is_confirmed:
            self._send(self._end(match, nonces, void, None))
        return moves

    def close(self) -> tuple[int, str]:
        """Close the connection.

        Returns:
            The exit status of the program, and what it printed.
        """
        # Its last bytes are read, because no program may meet a reset by accident.
        self._socket.shutdown(socket.SHUT_WR)
        while self._socket.recv(65_536):
            pass
        printed, _ = self._process.communicate(timeout=PATIENCE_S)
        return self._process.returncode, printed

    def break_off(self, game: AnyGame, seats: int, *, by_expulsion: bool) -> None:
        """Begin a match, ask for a move, and expel the program, or pause, before its answer is read."""
        state = game.new(game.parse_options({}), seats, chance.Dealer(SEED))
        seat = game.to_move(state)
        match = self._seated(game, seats, seat, acknowledge=False)
        self._send(self._turn(match, 1, plain(game.view(state, seat))))
        if by_expulsion:
            text = "no complete answer within 0 ms"
            self._send(
                Expelled(match=match, foul="timeout", rule=None, code=None, detail=text, evidence="", head=_HEAD)
            )
        else:
            self._send(Paused(match=match, reason="the organiser stopped the referee", head=_HEAD))

    def _seated(self, game: AnyGame, seats: int, own: int, *, acknowledge: bool) -> str:
        """Offer a match, and return its name once the program is ready."""
        self._number += 1
        match = f"{game.name}-{self._number}"
        self._send(
            Offer(
                match=match,
                game=game.name,
                options={},
                seat=own,
                names=[NAME if seat == own else f"other{seat}" for seat in range(seats)],
                time=TimeControl(per_move_ms=6000.0, start_ms=30000.0, bank_ms=None, increment_ms=0.0),
                teams=[list(team) for team in game.teams(game.parse_options({}), seats)],
                lot=False,
                acknowledge=acknowledge,
                commitment=sha256(SEED).hexdigest(),
                nonces=True,
                resume="0" * 64,
            )
        )
        ready = self._take()
        assert isinstance(ready, Ready)
        self._send(
            Reveal(match=match, commitments=[ready.commitment if seat == own else None for seat in range(seats)])
        )
        opened = self._take()
        assert isinstance(opened, Nonce)
        assert ready.commitment == nonce_commitment(match, own, opened.nonce)
        self.nonces.append(opened.nonce)
        return match

    def _next_ack(self, is_due: bool) -> int | None:  # noqa: FBT001  # what it is, is its name
        self._ack += is_due
        return self._ack if is_due else None

    def _turn(self, match: str, turn: int, view: Any) -> Turn:
        return Turn(match=match, turn=turn, view=view, left_ms=6000.0, bank_ms=None, head=_HEAD)

    def _end(self, match: str, nonces: list[str | None], void: str | None, ack: int | None) -> End:
        return End(
            match=match,
            winners=[],
            ranking=[],
            scores=[0] * len(nonces),
            void=void,
            seed=SEED.hex(),
            nonces=nonces,
            head=_HEAD,
            ack=ack,
        )

    def _asked(self, match: str, turn: int, view: Any) -> Any:
        self._send(self._turn(match, turn, view))
        answer = self._take()
        assert isinstance(answer, Move)
        assert (match, turn) == (answer.match, answer.turn)
        self.moves.append(answer.move)
        return answer.move

    def _confirmed(self, message: Start | Told | End) -> None:
        """Send a message, and wait until it is confirmed if it demands that."""
        self._send(message)
        if message.ack is not None:
            assert self._take() == Ack(match=message.match, ack=message.ack)

    def _send(self, message: Message) -> None:
        self._socket.sendall(self._connection.send(message))

    def _take(self) -> Message:
        """Return the program's next message.

        Raises:
            AssertionError: it has closed the connection; the text is what it printed.
        """
        while (event := self._connection.next_event()) is Need.DATA:
            data = self._socket.recv(65_536)
            assert data, self._process.communicate(timeout=PATIENCE_S)[0]
            self._connection.receive_data(data)
        assert isinstance(event, Message)
        return event
