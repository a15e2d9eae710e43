"""Stories: small matches of every kind, folded event by event, with their records. forging.py makes false ones."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

from msgspec.structs import replace

from referee import chance
from referee.games.q.game import QGame
from referee.match import commands as c
from referee.match import events as e
from referee.match.machine import Match
from referee.record.key import Sealer
from referee.record.writer import RecordWriter
from referee.testing import Choose, ScriptedSeat

from ..driving import drive, random_chooser
from ..match.folding import (
    COMMITMENTS,
    EXCHANGE,
    LIMIT,
    PASS,
    RC,
    SEED,
    START,
    B,
    G,
    R,
    Y,
    acked,
    body_of,
    failed,
    frame_of,
    lost,
    moved,
    new_match,
    overdue,
    place,
    ready,
    resumed,
    returned,
    revealed,
    setup_of,
)
from .legs import header_of_leg, settings_of_leg

SEALER = Sealer.new()
TAKES_MS = 1.25
STALL = 300.0
"""In milliseconds; longer than the margin, within which lateness is judged."""
FAULTY = 1
"""The seat that commits the faults."""
HANDS = ([G, B], [Y, Y], [B, B])
MOVES: tuple[tuple[Any, ...], ...] = ((place((0, 1, G)),), (EXCHANGE,), (PASS, place((1, 0, B))))
"""Moves by seat; after them the seat passes."""

Fault = Callable[[c.SeatCommand, float], e.SeatEvent | None]
"""From a command and the instant at which it was sent, to the event that replaces the answer; None: nothing."""
Faults = Mapping[type[c.SeatCommand], Fault]


@dataclass(frozen=True)
class Story:
    """A match that was folded, with everything that its record holds."""

    match: Match
    steps: tuple[tuple[e.Event, tuple[c.Command, ...]], ...]
    is_fixed: bool = True
    """Whether the seed was fixed beforehand, so that the header has it too."""
    header: Mapping[str, Any] = field(default_factory=dict)

    def begin(self, path: Path) -> RecordWriter:
        """Write the first line, and return the writer."""
        writer = RecordWriter(path, SEALER)
        has_programs = any(isinstance(event, e.ProgramExited) for event, _ in self.steps)
        started = {"programs": ["house:x"] * len(self.match.setup.names)} if has_programs else {}
        told = {"referee": "0.0", "opened": "2026-01-01T00:00:00+00:00", **started, **self.header}
        writer.write_header(self.match.setup, self.match.seed, is_fixed=self.is_fixed, **told)
        return writer

    def write(self, path: Path) -> Path:
        """Write all lines; with the result, if the match is over."""
        with closing(self.begin(path)) as writer:
            for event, commands in self.steps:
                writer.write_transition(event, commands, standstills_of(event))
            result = self.match.result
            if result is not None:
                writer.end(self.match)
                writer.sync()
        return path


def standstills_of(event: e.Event) -> list[tuple[float, float]]:
    """Return the standstill that accounts for the referee's own time in an event."""
    standing_ms = max(getattr(event, "lag_ms", 0.0), getattr(event, "stalled_ms", 0.0))
    return [(event.at_ms - standing_ms, event.at_ms)] if standing_ms else []


class FaultySeat(ScriptedSeat):
    """A seat that answers, except for its faults if it is the one that commits them."""

    def __init__(self, choose: Choose, seat: int, faults: Faults | None = None) -> None:
        super().__init__(choose, takes_ms=TAKES_MS, nonce=f"a{seat}" * 16)
        self.faults = (faults or {}) if seat == FAULTY else {}

    def answer(self, command: c.SeatCommand, sent_ms: float) -> e.SeatEvent | None:
        """Answer a command that needs it, or commit the fault instead."""
        given = super().answer(command, sent_ms)
        fault = self.faults.get(type(command))
        return given if fault is None else fault(command, sent_ms) or given


def chooser(moves: Sequence[Any]) -> Choose:
    """Return a player of these moves that passes afterwards."""
    coming = iter(moves)
    return lambda _view: next(coming, PASS)


def story(faults: Faults | None = None, hands: Sequence[list[str]] = HANDS, **fields: Any) -> Story:
    """Play a position of small hands to its end."""
    match = new_match(*hands, pile=(RC, G, Y, R), **fields)
    seats = [FaultySeat(chooser(moves), seat, faults) for seat, moves in enumerate(MOVES[: len(hands)])]
    return Story(match, tuple(drive(match, seats)))


def cut(whole: Story, count: int, *extra: e.Event) -> Story:
    """Fold the first events of a story again, and then other ones."""
    match = Match(whole.match.game, whole.match.setup, whole.match.seed)
    events = [*(event for event, _ in whole.steps[:count]), *extra]
    return Story(match, tuple((event, match.handle(event)) for event in events), whole.is_fixed)


def dealt(seats: int, *, is_fixed: bool, faults: Faults | None = None, header: Any = None, **fields: Any) -> Story:
    """Play a new deal at random for a few turns; then all pass."""
    match = Match(QGame(), setup_of(seats, **{"nonces": True, **fields}), SEED)
    pick = random_chooser(match.game, Random(1), match)
    players = [FaultySeat(lambda view: pick(view) if match.turn < 4 else PASS, seat, faults) for seat in range(seats)]
    return Story(match, tuple(drive(match, players)), is_fixed, header or {})


def whole_deal() -> Story:
    """Play a new deal of four seats at random. One sends junk in its third turn, and in the end all pass."""
    match = Match(QGame(), setup_of(4, nonces=True), SEED)
    pick = random_chooser(match.game, Random(2), match)
    players = [FaultySeat(lambda view: pick(view) if match.turn < 24 else PASS, seat) for seat in range(4)]
    players[FAULTY].choose = lambda view: {"action": "fly"} if match.turn > 9 else pick(view)
    return Story(match, tuple(drive(match, players)), is_fixed=False)


def finished() -> Story:
    """Let the first placement end the game."""
    match = new_match([G], [Y])
    return Story(match, tuple(drive(match, [FaultySeat(chooser(MOVES[0]), seat) for seat in range(2)])))


def left_after_the_end() -> Story:
    """Let the first seat that has confirmed the end leave before the others confirm it."""
    whole = tell("acknowledged")
    first = whole.steps[-3][0]
    assert isinstance(first, e.AckReceived)
    last = [event for event, _ in whole.steps[-2:]]
    return cut(whole, len(whole.steps) - 2, lost(first.seat, first.at_ms + 0.5), *last)


def taken_up(name: str, count: int) -> Story:
    """Let the referee crash after so many events, and start it again; the same answers follow."""
    whole = tell(name)
    events = [event for event, _ in whole.steps]
    return cut(whole, count, resumed(events[count - 1].at_ms), *events[count:])


def offered_anew() -> Story:
    """Let the referee crash when one nonce was opened: the match is offered again."""
    whole = tell("dealt")
    died = whole.steps[3][0].at_ms
    again = [_postponed(event, died) for event, _ in whole.steps[1:]]
    return cut(whole, 4, resumed(died), *again)


def back_before_its_nonce() -> Story:
    """Let a seat lose its connection when it is asked for its nonce, and return."""
    whole = tell("dealt")
    asked = whole.steps[2][0].at_ms
    later = [_postponed(event, 60.0) for event, _ in whole.steps[3:]]
    return cut(whole, 3, returned(0, asked + 40.0, 30.0), *later)


def late_for_a_stall(name: str) -> Story:
    """Let a deadline pass while the referee stands still, and the answer come too late for the same reason."""
    whole = tell(name)
    index = next(index for index, (event, _) in enumerate(whole.steps) if isinstance(event, e.MoveReceived))
    answer, asked = whole.steps[index][0], whole.steps[index - 1][0].at_ms
    assert isinstance(answer, e.MoveReceived)
    again = asked + LIMIT + 2.0
    later = [_postponed(event, 2 * LIMIT + 4.0) for event, _ in whole.steps[index:]]
    late = replace(later[0], sent_ms=again, stalled_ms=STALL)
    return cut(whole, index, overdue(answer.seat, again, sent=asked, stalled=STALL), late, *later[1:])


def too_late_after_stalls() -> Story:
    """Let the referee stand still at three deadlines of one request; the third one counts."""
    begun = cut(tell("clean"), 5)
    (seat, request), asked = next(iter(begun.match.open_requests.items())), begun.steps[-1][0].at_ms
    span = request.limit_ms + 2.0
    waited = [overdue(seat, asked + n * span, sent=asked + (n - 1) * span, stalled=STALL) for n in (1, 2, 3)]
    rest = [lost(other, asked + 4 * span + other) for other in range(3) if other != seat]
    return cut(tell("clean"), 5, *waited, *rest)


def stalled_resumed_and_late() -> Story:
    """Extend a request as often as allowed, crash the referee, and let the limit pass in a third standstill."""
    begun = cut(tell("clean"), 5)
    (seat, request), asked = next(iter(begun.match.open_requests.items())), begun.steps[-1][0].at_ms
    span = request.limit_ms + 2.0
    waited = [overdue(seat, asked + n * span, sent=asked + (n - 1) * span, stalled=STALL) for n in (1, 2)]
    died = asked + 2 * span
    late = overdue(seat, died + span, sent=died, stalled=STALL)
    rest = [lost(other, died + 2 * span + other) for other in range(3) if other != seat]
    return cut(tell("clean"), 5, *waited, resumed(died), late, *rest)


def come_back(name: str, **lags: float) -> Story:
    """Let the asked seat lose its connection, and return half a second later."""
    whole = tell(name)
    index = next(index for index, (event, _) in enumerate(whole.steps) if isinstance(event, e.MoveReceived))
    answer, asked = whole.steps[index][0], whole.steps[index - 1][0].at_ms
    assert isinstance(answer, e.MoveReceived)
    later = [_postponed(event, 500.0) for event, _ in whole.steps[index:]]
    return cut(whole, index, returned(answer.seat, asked + 400.0, 300.0, **lags), *later)


def _postponed(event: e.Event, by_ms: float) -> e.Event:
    names = [name for name in ("at_ms", "sent_ms", "first_byte_ms") if hasattr(event, name)]
    return replace(event, **{name: getattr(event, name) + by_ms for name in names})


def by_lot() -> Story:
    """Play a new deal whose seats were drawn."""
    return dealt(3, is_fixed=False, lot=True, names=chance.seat_by_lot(SEED, ("ada", "bob", "cyd")))


# --- what goes wrong


def _number(command: c.SeatCommand) -> int:
    """Return the number of the turn or of the ack that a command asks for."""
    return int(command.turn if isinstance(command, c.AskMove) else getattr(command, "ack", 0))


def _breach(code: str, evidence: str = "", after: int | None = None) -> Fault:
    """Return a breach; with a seat, one that comes when this seat is sent that seat's play."""

    def fault(command: c.SeatCommand, sent: float) -> e.SeatEvent | None:
        if after is not None and getattr(command, "what", {}).get("seat") != after:
            return None
        at_ms = sent + TAKES_MS
        return e.ProtocolBroken(seat=command.seat, at_ms=at_ms, code=code, detail="so", evidence=evidence)

    return fault


def _move(move: Any, takes_ms: float = TAKES_MS, wrong: int = 0) -> Fault:
    def fault(command: c.SeatCommand, sent: float) -> e.SeatEvent:
        turn = _number(command) + wrong
        return moved(command.seat, turn, move, sent + takes_ms, sent=sent, frame=frame_of(turn, move))

    return fault


def _ack(takes_ms: float = TAKES_MS, wrong: int = 0) -> Fault:
    def fault(command: c.SeatCommand, sent: float) -> e.SeatEvent | None:
        if getattr(command, "ack", None) is None:
            return None
        ack = _number(command) + wrong
        return acked(command.seat, ack, sent + takes_ms, sent=sent, frame=body_of("ack", ack=ack))

    return fault


def _silence(limit_ms: float, lag: float, pending: str) -> Fault:
    at = limit_ms + 1.5
    return lambda command, sent: overdue(command.seat, sent + at, sent=sent, lag=lag, pending=pending)


def _late_ready(command: c.SeatCommand, sent: float) -> e.SeatEvent:
    return ready(
        command.seat, sent + START + 1.5, sent=sent, frame=body_of("ready", commitment=COMMITMENTS[command.seat])
    )


def _exit(command: c.SeatCommand, sent: float) -> e.SeatEvent:
    return e.ProgramExited(seat=command.seat, at_ms=sent + TAKES_MS, status="exit status 1")


def _vacancy(command: c.SeatCommand, sent: float) -> e.SeatEvent:
    return e.SeatVacant(seat=command.seat, at_ms=sent + TAKES_MS, detail="nobody came")


def _loss(command: c.SeatCommand, sent: float) -> e.SeatEvent:
    return lost(command.seat, sent + TAKES_MS)


def _nonce(takes_ms: float = TAKES_MS, nonce: str = f"a{FAULTY}" * 16) -> Fault:
    frame = body_of("nonce", nonce=nonce)
    return lambda command, sent: revealed(command.seat, sent + takes_ms, sent=sent, nonce=nonce, frame=frame)


NONCE_FAULTS: dict[str, Fault] = {
    "silent reveal": _silence(LIMIT, 0.25, "0001"),
    "late nonce": _nonce(LIMIT + 1.5),
    "another nonce": _nonce(nonce="ff" * 16),
    "gone before its nonce": _loss,
}
FAULTS: dict[str, tuple[type[c.SeatCommand], Fault]] = {
    "deadline": (c.AskMove, _silence(LIMIT, 0.25, "0001")),
    "late move": (c.AskMove, _move(PASS, LIMIT + 1.5)),
    "illegal move": (c.AskMove, _move(place((0, 1, R)))),
    "malformed move": (c.AskMove, _move({"action": "fly"})),
    "turn not asked": (c.AskMove, _move(PASS, wrong=1)),
    "bad frame": (c.AskMove, _breach("not-msgpack", "c1")),
    "out of turn": (c.AskMove, _breach("out-of-turn", body_of("ack", ack=1))),
    "wrong match": (c.AskMove, _breach("wrong-match", body_of("move", match="n", turn=2, move=PASS))),
    "flood": (c.TellSeat, _breach("flood", "00001001", after=2)),
    "oversize": (c.AskMove, _breach("oversize", "00010001")),
    "broken off": (c.AskMove, _breach("truncated", "0000001081")),
    "not reading": (c.AskMove, _breach("not-reading")),
    "disconnected": (c.AskMove, _loss),
    "crashed": (c.AskMove, _exit),
    "silent offer": (c.OfferMatch, _silence(START, 0.0, "")),
    "late ready": (c.OfferMatch, _late_ready),
    "vacant": (c.OfferMatch, _vacancy),
    "late start": (c.StartSeat, _ack(LIMIT + 1.5)),
    "late draw": (c.TellSeat, _ack(LIMIT + 1.5)),
    "ack not asked": (c.TellSeat, _ack(wrong=1)),
    "lost at the end": (c.EndSeat, _loss),
}
"""Name -> the trigger of the fault, and the fault."""
_WITHOUT_ACKS = [name for name, (kind, _) in FAULTS.items() if kind in (c.AskMove, c.OfferMatch) or name == "flood"]


@cache
def tell(name: str) -> Story:
    """Return a story; callers must not change it."""
    return STORIES[name]()


STORIES: dict[str, Callable[[], Story]] = {
    **{name: partial(story, dict([FAULTS[name]])) for name in _WITHOUT_ACKS},
    **{f"{name}, acknowledged": partial(story, dict([FAULTS[name]]), acknowledge=True) for name in FAULTS},
    **{name: partial(dealt, 3, is_fixed=False, faults={c.AskNonce: fault}) for name, fault in NONCE_FAULTS.items()},
    "clean": story,
    "acknowledged": lambda: story(acknowledge=True),
    "finished": finished,
    "all gone": lambda: cut(tell("clean"), 5, *(lost(seat, 20.0 + seat) for seat in range(3))),
    "won by default": lambda: story(dict([FAULTS["crashed"]]), hands=HANDS[:2], default_margin=3),
    "won by default, acknowledged": lambda: story(
        dict([FAULTS["late start"]]), hands=HANDS[:2], default_margin=0, acknowledge=True
    ),
    "alone at the start": lambda: story(dict([FAULTS["vacant"]]), hands=HANDS[:2], default_margin=0),
    "left after the end": left_after_the_end,
    "void": lambda: cut(tell("clean"), 6, failed(9.5)),
    "void, acknowledged": lambda: cut(tell("acknowledged"), 9, failed(99.5)),
    "never opened": lambda: cut(tell("clean"), 0, failed(9.5)),
    "resumed": lambda: taken_up("clean", 6),
    "resumed, acknowledged": lambda: taken_up("acknowledged", 8),
    "late for a stall": lambda: late_for_a_stall("clean"),
    "late for a stall, acknowledged": lambda: late_for_a_stall("acknowledged"),
    "too late after stalls": too_late_after_stalls,
    "stalled, resumed and late": stalled_resumed_and_late,
    "returned": lambda: come_back("clean"),
    "returned after a standstill": lambda: come_back("clean", lag_ms=100.0, stalled_ms=100.0),
    "returned after a long standstill": lambda: come_back("clean", lag_ms=300.0, stalled_ms=STALL),
    "returned, acknowledged": lambda: come_back("acknowledged"),
    "seats by lot": by_lot,
    "unfinished": lambda: cut(tell("acknowledged"), 12),
    "not begun": lambda: cut(tell("clean"), 0),
    "dealt": lambda: dealt(2, is_fixed=False),
    "offered anew": offered_anew,
    "back before its nonce": back_before_its_nonce,
    "dealt, acknowledged": lambda: dealt(3, is_fixed=False, acknowledge=True),
    "dealt, unfinished": lambda: cut(tell("dealt"), 6),
    "whole deal": whole_deal,
    "fixed deal": lambda: dealt(4, is_fixed=True, nonces=False),
    "duplicate deal": lambda: dealt(4, is_fixed=False, header=header_of_leg(4), **settings_of_leg()),
}
"""Every kind of match, by name."""


@cache
def record_of(name: str) -> bytes:
    """Return the bytes of a story's record."""
    with tempfile.TemporaryDirectory() as folder:
        return tell(name).write(Path(folder) / "m.jsonl").read_bytes()
