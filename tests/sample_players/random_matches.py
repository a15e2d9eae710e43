"""Matches with any events about time: late answers, standstills, returns, resumptions, banks, losses."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from random import Random
from typing import Any

from msgspec.structs import replace

from referee import chance
from referee.match import commands as c
from referee.match import events as e
from referee.match.events import ImpossibleEvent
from referee.match.machine import Match
from referee.match.setup import MatchSetup
from referee.match.timekeeper import Request
from referee.record.audit.times import LOOKING_MS
from referee.testing import Choose, ScriptedSeat

from ..driving import random_chooser, with_frame
from ..match.folding import PASS
from ..record.forging import REGISTRY
from ..record.records import Story, standstills_of
from ..time_controls import time_control

MARGIN_MS = 250.0
OTHER_NONCE = "ff" * 16
"""A seed without a commitment of its own."""
MOST_TURNS = 16
"""Turns of Q; after them all pass."""
SEATS = {"q": (2, 3, 4), "quincy": (2, 4), "quincala": (2,), "quadominos": (2, 3, 4, 5)}
"""By game."""
OPTIONS: dict[str, dict[str, Any]] = {"quadominos": {"rounds": 2}, "quincala": {"max_turns": 6}}


def random_setup(source: Random, seed: bytes, game: str) -> MatchSetup:
    """Return a setup with any time control, in whole milliseconds or not."""
    return MatchSetup(
        match="m",
        game=game,
        options=OPTIONS.get(game, {}),
        names=chance.seat_by_lot(seed, tuple("abcde"[: source.choice(SEATS[game])])),
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


def random_match(number: int, game: str = "q") -> Story:
    """Return a match that this number stands for."""
    source = Random(number)
    seed = source.randbytes(32)
    match = Match(REGISTRY.game(game), random_setup(source, seed, game), seed)
    return Story(match, tuple(_course(match, source)), is_fixed=not match.setup.nonces)


class RandomSeat(ScriptedSeat):
    """A seat with any event while it is asked.

    Args:
        choose: its moves.
        source: of its chance.
        match: the match's name.
    """

    def __init__(self, choose: Choose, source: Random, match: str) -> None:
        super().__init__(choose, nonce=source.randbytes(16).hex())
        self.match = match
        self.source = source
        self.asked: c.SeatCommand | None = None
        """What is open."""

    def take(self, command: c.SeatCommand) -> None:
        """Take a command that opens a request, or gives it another limit."""
        if not isinstance(command, c.ExtendLimit):
            self.asked = command

    def next_event(self, request: Request, now_ms: float) -> e.Event:
        """Return the next event; it need not be possible."""
        assert self.asked is not None
        source, seat = self.source, self.asked.seat
        sent_ms = round(request.asked_ms + source.choice([0.0, 0.125, 0.001]), 3)
        what = source.random()
        share = 1.2 if what > 0.9 else source.choice([0.001, 0.1, 0.3, 0.9, 1.0])
        at_ms = round(max(sent_ms + share * request.limit_ms, now_ms) + 0.25, 3)
        alone_ms = at_ms - max(sent_ms, now_ms)  # no other event came since
        lag_ms = round(source.choice([0.0, 0.0, 0.1, 0.25]) * alone_ms, 3)
        stalled_ms = source.choice([0.0, lag_ms, 251.0, 251.0]) if alone_ms > 252 else 0.0
        lags = {"lag_ms": lag_ms, "stalled_ms": stalled_ms}
        if what < 0.02:
            return e.ConnectionLost(seat=seat, at_ms=at_ms, detail="gone")
        if what < 0.07:
            return e.MatchResumed(at_ms=now_ms)
        if what < 0.12:
            stormed_ms = source.choice([0.0, at_ms])
            return e.SeatReturned(seat=seat, at_ms=at_ms, gone_ms=0.0, stormed_ms=stormed_ms, **lags)
        if what > 0.93:
            return e.DeadlinePassed(
                seat=seat, at_ms=at_ms, sent_ms=sent_ms, pending="", lag_ms=lag_ms, stalled_ms=stalled_ms
            )
        answer = self.answer(self.asked, sent_ms)
        assert isinstance(answer, e.Answer)
        return replace(answer, at_ms=at_ms, first_byte_ms=at_ms, **lags)


def _course(match: Match, source: Random) -> Iterator[tuple[e.Event, tuple[c.Command, ...]]]:
    pick, name = random_chooser(match.game, source, match), match.setup.match

    def choose(view: object) -> object:
        return PASS if match.setup.game == "q" and match.turn >= MOST_TURNS else pick(view)

    seats = [RandomSeat(choose, source, name) for _ in match.setup.names]
    now_ms = 0.0
    event: e.Event = e.MatchOpened(at_ms=0.0)
    told: list[tuple[float, float]] = []
    while True:
        event = with_frame(event, name)
        with suppress(ImpossibleEvent):
            commands = match.handle(event)
            now_ms = event.at_ms
            told += standstills_of(event)
            yield _kept(event, commands), commands
            for command in commands:
                if isinstance(command, c.SeatCommand) and getattr(command, "limit_ms", None) is not None:
                    seats[command.seat].take(command)
        if match.result is not None:
            return
        seat, request = source.choice(sorted(match.open_requests.items()))
        event = seats[seat].next_event(request, now_ms)
        while not _is_judged_so(event, request, told):
            event = seats[seat].next_event(request, now_ms)


def _is_judged_so(event: e.Event, request: Request, told: Iterable[tuple[float, float]]) -> bool:
    """Return whether a referee would judge so late an event like this: at once, with every standstill as an excuse.

    A player that returns is also excused by every standstill, unless its address stormed the lobby.
    """
    if isinstance(event, e.SeatReturned) and not event.stormed_ms:
        parts = [min(end, event.at_ms) - max(begin, request.asked_ms) for begin, end in (*told, *standstills_of(event))]
        return event.lag_ms == event.stalled_ms >= max(parts, default=0.0) - 0.001
    if not isinstance(event, e.Answer | e.DeadlinePassed) or e.used_ms(event) <= request.limit_ms:
        return True
    parts = [min(end, event.at_ms) - max(begin, event.sent_ms) for begin, end in (*told, *standstills_of(event))]
    is_at_once = event.at_ms <= event.sent_ms + request.limit_ms + LOOKING_MS
    return is_at_once and (event.stalled_ms > MARGIN_MS or max((*parts, 0.0)) <= MARGIN_MS)


def _kept(event: e.Event, commands: tuple[c.Command, ...]) -> e.Event:
    """Return an event as it is recorded: with the bytes of an answer only if it led to an expulsion."""
    if not isinstance(event, e.Answer) or any(isinstance(command, c.ExpelSeat) for command in commands):
        return event
    return replace(event, frame="")
