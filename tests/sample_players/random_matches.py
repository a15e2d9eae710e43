"""Matches in which anything happens to time: late answers, standstills, returns, resumptions, banks, losses."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from referee import chance
from referee.games.q.game import QGame
from referee.match import commands as c
from referee.match import events as e
from referee.match.machine import ImpossibleEvent, Match
from referee.match.phases import Request
from referee.match.setup import MatchSetup
from referee.match.timekeeper import MAX_EXTENSIONS

from ..driving import random_chooser
from ..match.folding import PASS, body_of
from ..record.records import Story
from ..time_controls import time_control

MARGIN_MS = 250.0
MOST_TURNS = 16
"""Afterwards all pass."""


def random_setup(source: Random, seed: bytes) -> MatchSetup:
    """Return a setup with any time control, whole milliseconds or not."""
    seats = source.randint(2, 4)
    return MatchSetup(
        match="m",
        game="q",
        names=chance.seated(seed, tuple("abcd"[:seats])),
        lot=True,
        time=time_control(
            per_move_ms=source.choice([1000.0, 777.777, 250.0625]),
            start_ms=5000.0,
            bank_ms=source.choice([None, 1500.0, 3333.333]),
            increment_ms=source.choice([0.0, 12.5, 0.123]),
        ),
        lag_margin_ms=MARGIN_MS,
        acknowledge=source.random() < 0.4,
        nonces=source.random() < 0.8,
        default_margin=source.choice([None, None, 6]),
        commitment=chance.commitment(seed),
    )


def random_match(number: int) -> Story:
    """Return a match that this number stands for."""
    source = Random(number)
    seed = source.randbytes(32)
    match = Match(QGame(), random_setup(source, seed), seed)
    return Story(match, tuple(_course(match, source)), is_fixed=False)


def _course(match: Match, source: Random) -> Iterator[tuple[e.Event, tuple[c.Command, ...]]]:
    pick = random_chooser(match.game, source, match)

    def choose() -> Any:
        return pick(None) if match.turn < MOST_TURNS else PASS

    opened = e.MatchOpened(at_ms=0.0)
    yield opened, match.handle(opened)
    now_ms = 0.0
    while match.result is None:
        seat, request = source.choice(sorted(match.open_requests.items()))
        event = _event(source, seat, request, now_ms, choose)
        try:
            commands = match.handle(event)
        except ImpossibleEvent:
            continue
        now_ms = event.at_ms
        yield event, commands


def _event(source: Random, seat: int, request: Request, now_ms: float, choose: Callable[[], Any]) -> e.Event:
    """Return what happens next to a seat that was asked; it need not be possible."""
    sent_ms = round(max(now_ms, request.asked_ms) + source.choice([0.0, 0.125, 0.001]), 3)
    what = source.random()
    share = 1.2 if what > 0.9 else source.choice([0.001, 0.1, 0.3, 0.9, 1.0])
    at_ms = round(sent_ms + share * request.limit_ms + 0.25, 3)
    lag_ms = round(source.choice([0.0, 0.0, 0.1, 0.25]) * (at_ms - sent_ms), 3)
    stalled_ms = source.choice([0.0, lag_ms, 251.0, 251.0]) if at_ms - sent_ms > 252 else 0.0
    lags = {"lag_ms": lag_ms, "stalled_ms": stalled_ms}
    if what < 0.12:
        troubles = {
            0.02: e.ConnectionLost(seat=seat, at_ms=at_ms, detail="gone"),
            0.07: e.MatchResumed(at_ms=now_ms),
            0.12: e.SeatReturned(seat=seat, at_ms=at_ms, gone_ms=1.5, **lags),
        }
        return next(trouble for bound, trouble in troubles.items() if what < bound)
    if what > 0.93:
        return e.DeadlinePassed(seat=seat, at_ms=at_ms, sent_ms=sent_ms, pending="", **lags)
    kind, said = _answer(source, request, choose)
    used_ms = at_ms - sent_ms - lag_ms
    is_expelled = used_ms > request.limit_ms and not (stalled_ms > MARGIN_MS and request.extensions < MAX_EXTENSIONS)
    frame = body_of(kind, **said) if is_expelled else ""
    return request.answer(seat=seat, at_ms=at_ms, sent_ms=sent_ms, first_byte_ms=at_ms, frame=frame, **lags, **said)


def _answer(source: Random, request: Request, choose: Callable[[], Any]) -> tuple[str, dict[str, Any]]:
    """Return the type of the message that a seat answers with, and what it says."""
    if request.answer is e.MoveReceived:
        return "move", {"turn": request.number, "move": choose()}
    if request.answer is e.AckReceived:
        return "ack", {"ack": request.number}
    return "ready", {"nonce": source.randbytes(16).hex()}
