"""Plays a match in this process, without sockets: players are functions, and their answers are recorded as events.

An answer is encoded and decoded again before the match sees it. Otherwise a move could hold an object that no message
can hold: a player that wins here would be expelled in a tournament.
"""

import os
import sys
import time
import traceback
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from protocol.deal import nonce_commitment
from protocol.decoding import decode
from protocol.errors import RemoteProtocolError
from protocol.frames import encode_frame
from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES
from protocol.messages import FROM_PLAYER, Move, encode

from .. import __version__, chance
from ..app.services import find_sealer
from ..games.arguments import read_seed
from ..games.base import Game
from ..match import commands as c
from ..match import events as e
from ..match.machine import Match, Phase
from ..match.setup import MatchSetup
from ..plugins import find_game
from ..programs.output import Tail
from ..record.key import Sealer
from ..record.writer import RecordWriter
from .players import Choose, SeatedPlayer


class FunctionSeat:
    """A seat whose player is a function: it answers a command with the event that a connected player would cause.

    Args:
        match: name of the match.
        choose: the function from a view to a move.
    """

    # The clock of such a match runs only while a function thinks. On a busy machine this process may have to wait
    # between two answers. If the clock ran meanwhile, the record would show requests that were sent too late. A match
    # with sockets explains such delays by its event loop, but there is no loop here.

    def __init__(self, match: str, choose: Choose) -> None:
        self._match = match
        self._choose = choose
        self._nonce = os.urandom(16).hex()
        self.traceback = ""
        """Traceback of what the function raised, for its author; empty if it raised nothing."""

    def answer(self, command: c.Command, asked_ms: float) -> e.SeatEvent | None:
        """Answer a command.

        Args:
            command: the command.
            asked_ms: the instant of the match at which it was given.

        Returns:
            The answer; None: the command asks for nothing.
        """
        match command:
            case c.OfferMatch(seat=seat):
                commitment = nonce_commitment(self._match, seat, self._nonce)
                return e.ReadyReceived(seat=seat, commitment=commitment, **_instants(asked_ms, asked_ms))
            case c.AskNonce(seat=seat):
                return e.NonceReceived(seat=seat, nonce=self._nonce, **_instants(asked_ms, asked_ms))
            case c.AskMove():
                return self._move(command, asked_ms)
        return None

    def _move(self, command: c.AskMove, sent_ms: float) -> e.SeatEvent:
        """Ask the function for a move. An exception ends the player, as it would end a program."""
        seat, begun_s = command.seat, time.perf_counter()
        try:
            move = self._choose(msgspec.msgpack.decode(command.view))
            body = _encode_move(Move(match=self._match, turn=command.turn, move=move))
        # A KeyboardInterrupt is not caught: it comes from the user, who wants to stop the match, and not from the
        # player.
        except (Exception, SystemExit) as error:  # noqa: BLE001  # any of them would have ended a program
            return self._end(seat, error, _add_time(sent_ms, begun_s))
        at_ms = _add_time(sent_ms, begun_s)
        # Nothing can stop a Python function from outside. A thread could be left behind, but it would go on computing
        # next to the following moves; a process would need functions that can be sent to it. So a late function is
        # expelled when it returns.
        if at_ms - sent_ms > command.limit_ms:
            return e.DeadlinePassed(seat=seat, at_ms=at_ms, sent_ms=sent_ms, lag_ms=0.0, pending="")
        try:
            message = decode(body, FROM_PLAYER)
        except RemoteProtocolError as error:
            evidence = error.evidence.hex()
            return e.ProtocolBroken(seat=seat, at_ms=at_ms, code=error.code, detail=error.detail, evidence=evidence)
        assert isinstance(message, Move)
        return e.MoveReceived(
            seat=seat, turn=message.turn, move=message.move, frame=body.hex(), **_instants(sent_ms, at_ms)
        )

    def _end(self, seat: int, error: BaseException, at_ms: float) -> e.ProgramExited:
        player_frames = error.__traceback__.tb_next if error.__traceback__ else None  # without the frame of this module
        self.traceback = "".join(traceback.format_exception(type(error), error, player_frames))
        printed = Tail()
        printed.add(self.traceback.encode(errors="replace"))
        return e.ProgramExited(seat=seat, at_ms=at_ms, status=f"exit status 1: {printed.last_words}")


def _instants(sent_ms: float, at_ms: float) -> dict[str, Any]:
    """Return the times of an answer, in milliseconds."""
    return {"at_ms": at_ms, "sent_ms": sent_ms, "first_byte_ms": at_ms, "lag_ms": 0.0}


def _add_time(sent_ms: float, begun_s: float) -> float:
    """Return an instant of the match plus the time that has passed since `begun_s`, in milliseconds."""
    return round(sent_ms + (time.perf_counter() - begun_s) * _MS, 3)


def _encode_move(answer: Move) -> bytes:
    """Return the bytes of an answer.

    Raises:
        TypeError: the move is not plain data.
        LocalProtocolError: it is too long to be sent.
    """
    try:
        body = encode(answer)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        kinds = "a move is plain data: dicts with strings as keys, lists, strings, numbers, booleans and None"
        raise TypeError(f"{kinds}; not {answer.move!r:.80} ({error})") from None
    encode_frame(body, MAX_FRAME_FROM_PLAYER_BYTES)
    return body


_MS = 1000.0


class Played(Struct, frozen=True, kw_only=True):
    """A match that was played to its end."""

    setup: MatchSetup
    seed: bytes
    is_fixed: bool
    """True if the seed was given beforehand."""
    opened: str
    """Wall-clock time of the start, ISO 8601 in UTC."""
    programs: tuple[str, ...]
    """The players by seat, as they were given."""
    events: tuple[Any, ...]
    result: c.Result
    tracebacks: dict[int, str]
    """Seat -> the traceback of what its function raised."""

    def write(self, path: Path) -> None:
        """Write the match's record, sealed with this user's key.

        Raises:
            FileExistsError: there is a file of that name.
            BadKey: the key can't be read or made.
            OSError: the record can't be written.
        """
        match = Match(find_game(self.setup.game), self.setup, self.seed)
        writer = RecordWriter(path, sealer())
        writer.write_header(
            self.setup,
            self.seed,
            is_fixed=self.is_fixed,
            referee=__version__,
            opened=self.opened,
            programs=list(self.programs),
            folder=str(Path.cwd()),
            rules_version=match.game.rules_version,
        )
        for event in self.events:
            writer.write_transition(event, match.handle(event))
        writer.end(match)
        writer.sync()
        writer.close()


@cache
def sealer() -> Sealer:
    """Return the key that seals the records of this process: the key of the command `referee`, made on first use.

    Raises:
        BadKey: it can't be read or made.
    """
    return find_sealer(None, lambda text: print(text, file=sys.stderr))  # noqa: T201  # it reports a new file


def play_to_end(
    game: Game[Any, Any, Any], players: Sequence[SeatedPlayer], setup: MatchSetup, seed: bytes, *, is_fixed: bool
) -> Played:
    """Play a match to its end.

    Args:
        game: the game.
        players: players by seat.
        setup: the setup of the match.
        seed: the seed, which fits the setup's commitment.
        is_fixed: whether the seed was given beforehand, and is no secret.

    Raises:
        BadSetup: the options do not fit the game.
        KeyboardInterrupt: the user stopped the match while a player was thinking; no result is returned.
    """
    match = Match(game, setup, seed)
    opened = datetime.now(UTC).isoformat(timespec="seconds")
    seats = [
        FunctionSeat(setup.match, player.begin(match.options, chance.player_seed(seed, seat)))
        for seat, player in enumerate(players)
    ]
    return Played(
        setup=setup,
        seed=seed,
        is_fixed=is_fixed,
        opened=opened,
        programs=tuple(player.given for player in players),
        events=tuple(_events(match, seats)),
        result=_result(match),
        tracebacks={seat: played_seat.traceback for seat, played_seat in enumerate(seats) if played_seat.traceback},
    )


def _events(match: Match, seats: Sequence[FunctionSeat]) -> list[e.Event]:
    """Let the seats answer until the match is over; return the events, as a record holds them."""
    happened: list[e.Event] = []
    waiting: deque[e.Event] = deque([e.MatchOpened(at_ms=0.0)])
    while match.phase is not Phase.OVER:
        event = waiting.popleft()
        # # An answer may still wait in the queue when its seat is expelled because of another answer.
        if isinstance(event, e.SeatEvent) and match.is_out(event.seat):
            continue
        commands = match.handle(event)
        if isinstance(event, e.Answer) and not match.is_out(event.seat):
            event = replace(event, frame="")  # the bytes are only needed as evidence of a foul
        happened.append(event)
        for command in commands:
            answer = seats[command.seat].answer(command, event.at_ms) if isinstance(command, c.SeatCommand) else None
            if answer is not None:
                waiting.append(answer)
    return happened


def _result(match: Match) -> c.Result:
    """Return how a match ended.

    Raises:
        Exception: the referee or the rules failed, so the match is void; no player is to blame.
    """
    if match.fault is not None:
        raise match.fault
    assert match.result is not None
    return match.result


def make_seed(number: int | None) -> bytes:
    """Return the seed that a number fixes; None: a random seed."""
    return os.urandom(chance.SEED_BYTES) if number is None else chance.seed_from_number(read_seed(number))
