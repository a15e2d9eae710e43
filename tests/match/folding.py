"""Small matches of Q, event by event."""

from typing import Any

import msgspec

from protocol.deal import nonce_commitment
from referee import chance
from referee.games.base import Game
from referee.games.q.forms import View
from referee.games.q.game import QGame
from referee.match import commands as c
from referee.match import events as e
from referee.match.fouls import Cause, Foul
from referee.match.machine import Match, Phase
from referee.match.setup import MatchSetup

from ..time_controls import grouped

SEED = chance.seed_from_number(7)
LIMIT = 1000.0
START = 5000.0
NONCE = "0f" * 16
COMMITMENTS = [nonce_commitment("m", seat, NONCE) for seat in range(4)]
R, G, B, Y = "red-star", "green-star", "blue-star", "yellow-star"
RC = "red-clover"
ALIEN = "purple-diamond"
PASS = {"action": "pass"}
EXCHANGE = {"action": "exchange"}


def place(*spots: tuple[int, int, str]) -> dict[str, Any]:
    """Return a plain placement."""
    return {"action": "place", "tiles": [list(spot) for spot in spots]}


def position(*hands: list[str], pile: tuple[str, ...] = (RC,), scores: tuple[int, ...] = ()) -> dict[str, Any]:
    """Return a position with one tile, red-star, on the map."""
    points = [*scores, *([0] * len(hands))]
    players = [{"score": points[seat], "hand": hand} for seat, hand in enumerate(hands)]
    return {"map": [[0, 0, R]], "pile": list(pile), "players": players}


def setup_of(seats: int, **fields: Any) -> MatchSetup:
    """Return the setup of a match between players called a, b, c..."""
    given: dict[str, Any] = {
        "match": "m",
        "game": "q",
        "names": tuple("abcd"[:seats]),
        "nonces": False,
        "commitment": chance.commitment(SEED),
    }
    return MatchSetup(**{**given, **grouped(fields, per_move_ms=LIMIT, start_ms=START)})


def new_match(*hands: list[str], game: Game[Any, Any, Any] | None = None, **fields: Any) -> Match:
    """Return a new match from the position of these hands."""
    place_of = {name: fields.pop(name) for name in ("pile", "scores") if name in fields}
    setup = setup_of(len(hands), position=position(*hands, **place_of), **fields)
    return Match(game or QGame(), setup, SEED)


def opened(at: float = 0.0) -> e.MatchOpened:
    """Return the first event."""
    return e.MatchOpened(at_ms=at)


def ready(
    seat: int, at: float = 1.0, *, sent: float = 0.0, lag: float = 0.0, commitment: str = "", **more: Any
) -> e.ReadyReceived:
    """Return the answer to an offer, with a commitment to NONCE if no other is given."""
    committed = commitment or COMMITMENTS[seat]
    return e.ReadyReceived(
        seat=seat, at_ms=at, sent_ms=sent, first_byte_ms=at, lag_ms=lag, commitment=committed, **more
    )


def revealed(
    seat: int, at: float = 2.0, *, sent: float = 1.0, lag: float = 0.0, nonce: str = NONCE, **more: Any
) -> e.NonceReceived:
    """Return the answer to the request to open a commitment."""
    return e.NonceReceived(seat=seat, at_ms=at, sent_ms=sent, first_byte_ms=at, lag_ms=lag, nonce=nonce, **more)


def moved(
    seat: int, turn: int, move: Any, at: float, *, sent: float | None = None, lag: float = 0.0, **more: Any
) -> e.MoveReceived:
    """Return the answer to a turn; by default it comes 1 ms after the request."""
    asked = at - 1.0 if sent is None else sent
    return e.MoveReceived(
        seat=seat, at_ms=at, sent_ms=asked, first_byte_ms=at, lag_ms=lag, turn=turn, move=move, **more
    )


def frame_of(turn: int, move: Any) -> str:
    """Return the bytes of an answer, in hex."""
    return body_of("move", turn=turn, move=move)


def body_of(kind: str, **fields: Any) -> str:
    """Return the bytes of a message of a player, in hex."""
    return msgspec.msgpack.encode({"type": kind, "match": "m", **fields}).hex()


def acked(seat: int, ack: int, at: float, *, sent: float | None = None, lag: float = 0.0, **more: Any) -> e.AckReceived:
    """Return a confirmation; by default it comes 1 ms after the request."""
    asked = at - 1.0 if sent is None else sent
    return e.AckReceived(seat=seat, at_ms=at, sent_ms=asked, first_byte_ms=at, lag_ms=lag, ack=ack, **more)


def overdue(
    seat: int, at: float, *, sent: float, lag: float = 0.0, pending: str = "", stalled: float = 0.0
) -> e.DeadlinePassed:
    """Return the end of a limit."""
    return e.DeadlinePassed(seat=seat, at_ms=at, sent_ms=sent, lag_ms=lag, pending=pending, stalled_ms=stalled)


def returned(seat: int, at: float, gone: float = 1.0, **lags: float) -> e.SeatReturned:
    """Return the event of a player that came back."""
    return e.SeatReturned(seat=seat, at_ms=at, gone_ms=gone, **lags)


def lost(seat: int, at: float) -> e.ConnectionLost:
    """Return the end of a connection."""
    return e.ConnectionLost(seat=seat, at_ms=at, detail="gone")


def failed(at: float) -> e.RefereeFailed:
    """Return a fault of the referee's own."""
    return e.RefereeFailed(at_ms=at, detail="the disk is full")


def resumed(at: float) -> e.MatchResumed:
    """Return the event of a referee that was started again."""
    return e.MatchResumed(at_ms=at)


def disconnected(seat: int, at: float, turn: int) -> Foul:
    """Return the foul that `lost` is."""
    return Foul(seat=seat, cause=Cause.DISCONNECTED, at_ms=at, turn=turn, detail="gone")


def expelled(match: Match, seat: int) -> dict[str, Any]:
    """Return the news of an expulsion that the others get."""
    cause = next(foul.cause for foul in match.fouls if foul.seat == seat)
    return {"kind": "expelled", "seat": seat, "cause": str(cause)}


def told(seat: int, turn: int, what: dict[str, Any], **fields: Any) -> c.TellSeat:
    """Return the command `tell-seat`; by default without draws and ack."""
    return c.TellSeat(
        **{"seat": seat, "turn": turn, "what": what, "draws": None, "ack": None, "limit_ms": None, **fields}
    )


def view_of(match: Match, seat: int) -> View:
    """Return what a seat may know now."""
    view: View = match.game.view(match.state, seat)
    return view


def shown(match: Match, seat: int) -> msgspec.Raw:
    """Return the bytes of what a seat may know now."""
    return packed(view_of(match, seat))


def packed(view: View) -> msgspec.Raw:
    """Return a view as commands hold it."""
    return msgspec.Raw(msgspec.msgpack.encode(view))


def asked(match: Match, seat: int, turn: int) -> c.AskMove:
    """Return the request of a move in the present state."""
    return c.AskMove(seat=seat, turn=turn, view=shown(match, seat), limit_ms=LIMIT)


def fold(match: Match, *events: e.Event) -> tuple[c.Command, ...]:
    """Feed events to a match, and return the commands of the last one."""
    commands: tuple[c.Command, ...] = ()
    for event in events:
        commands = match.handle(event)
    return commands


def playing(*hands: list[str], **fields: Any) -> Match:
    """Return a match without acknowledgements in its first turn, at instant 1 ms."""
    match = new_match(*hands, **fields)
    fold(match, opened(), *(ready(seat) for seat in range(len(hands))))
    assert match.phase is Phase.PLAYING
    return match


def result_of(commands: tuple[c.Command, ...]) -> c.Result:
    """Return the result in the last command."""
    last = commands[-1]
    assert isinstance(last, c.CloseMatch)
    return last.result


def snapshot(match: Match) -> dict[str, str]:
    """Return the whole state of a match in a form that can be compared."""
    return {name: repr(value) for name, value in vars(match).items() if name not in ("game", "_commands")}
