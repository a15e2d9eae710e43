"""Checks a record without the code that ran its match: time, fouls, ranking and shuffle, each computed anew.

Knows what stands in lines. Refuses to fold: two ways to the same verdict find what one alone would repeat.
"""

import hashlib
import itertools
import struct
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from ..games.base import Game
from ..match import events as e
from ..match.commands import Result
from ..match.fouls import Cause
from .reader import Record, RecordError
from .schema import Step

T = TypeVar("T")
_FOUR_WORDS = struct.Struct(">QQQQ")
_LATE = (Cause.TIMEOUT, Cause.REFUSED_TO_START)


class _Book:
    """The open requests and the time used, as the lines tell them."""

    def __init__(self, record: Record) -> None:
        self._path = record.path
        setup = record.header.setup
        self._setup = setup
        self._bank_ms = [setup.bank_ms] * len(setup.names)
        self._limits: dict[int, tuple[float, float]] = {}
        """Seat -> (instant of the line that asked, limit), both in ms."""
        self.used_ms = [0.0] * len(record.header.setup.names)
        self.fouls: list[Any] = []

    def take(self, number: int, step: Step) -> None:
        """Book one line.

        Raises:
            RecordError: the time used and the verdict contradict each other, or an answer came before its request.
        """
        event = step.event
        expelled = {one["seat"]: one["foul"] for one in step.commands if one["command"] == "expel-seat"}
        if isinstance(event, e.Answer | e.DeadlinePassed):
            self._book_time(number, event, expelled)
        elif isinstance(event, e.SeatEvent):
            self._limits.pop(event.seat, None)
        self.fouls += expelled.values()
        for command in step.commands:
            if command["command"] == "ask-move":
                self._check_bank(number, command, is_again=isinstance(event, e.MatchResumed))
            if command.get("limit_ms") is not None:
                self._limits[command["seat"]] = (event.at_ms, command["limit_ms"])

    def _check_bank(self, number: int, command: dict[str, Any], *, is_again: bool) -> None:
        """Check the limit of a move against the time that its seat has left."""
        seat, limit_ms, told_ms = command["seat"], command["limit_ms"], command.get("bank_ms")
        left_ms = self._bank_ms[seat]
        if is_again and left_ms is not None:  # what had passed when the referee died, the lines don't tell
            left_ms = self._bank_ms[seat] = told_ms
        limits_ms = [self._setup.per_move_ms, *([] if left_ms is None else [left_ms])]
        if told_ms != left_ms or (limit_ms != min(limits_ms) and not (is_again and limit_ms <= limits_ms[0])):
            what = f"a limit of {min(limits_ms)} ms, {left_ms} ms in the bank"
            raise RecordError(self._path, number, what, f"{limit_ms} ms, {told_ms} ms in the bank")

    def _book_time(self, number: int, event: Any, expelled: dict[int, Any]) -> None:
        request = self._limits.pop(event.seat, None)
        if request is None:
            raise RecordError(self._path, number, "an answer to a request", f"seat {event.seat} was not asked")
        asked_ms, limit_ms = request
        if event.sent_ms < asked_ms:
            what = f"a request sent after {asked_ms} ms, when it was made"
            raise RecordError(self._path, number, what, f"sent at {event.sent_ms} ms")
        used_ms = event.at_ms - event.sent_ms - event.lag_ms
        self.used_ms[event.seat] += max(used_ms, 0.0)
        left_ms = self._bank_ms[event.seat]
        if left_ms is not None and isinstance(event, e.MoveReceived):
            self._bank_ms[event.seat] = round(max(left_ms - max(used_ms, 0.0) + self._setup.increment_ms, 0.0), 3)
        cause = expelled.get(event.seat, {}).get("cause")
        if (used_ms > limit_ms) != (cause in _LATE):
            verdict = "an expulsion for time" if used_ms > limit_ms else "no expulsion for time"
            what = f"{verdict}: {used_ms:.3f} ms of {limit_ms:.3f} ms used"
            raise RecordError(self._path, number, what, f"{cause or 'no foul'}")


def check_book(record: Record) -> None:
    """Check every deadline, the time used and the list of fouls.

    Raises:
        RecordError: the first line whose instants, limits and verdict do not fit, or the result's if its sums do not.
    """
    book = _Book(record)
    for number, step in enumerate(record.steps, 2):
        try:
            book.take(number, step)
        except (KeyError, TypeError, IndexError, AttributeError, OverflowError):
            raise RecordError(record.path, number, "commands with all their fields", "others") from None
    if record.result is None:
        return
    number, result = len(record.steps) + 2, record.result.result
    used_ms = tuple(round(used, 3) for used in book.used_ms)
    if used_ms != result.used_ms:
        raise RecordError(record.path, number, f"used_ms {list(used_ms)}", f"{list(result.used_ms)}")
    fouls = [(foul["seat"], foul["cause"]) for foul in book.fouls]
    found = [(foul.seat, str(foul.cause)) for foul in result.fouls]
    if fouls != found:
        raise RecordError(record.path, number, f"fouls {fouls}", f"{found}")


def check_ranking(record: Record) -> None:
    """Check that every seat has one rank, those who fouled the last one together, and that the best are the winners.

    Raises:
        RecordError: the result contradicts itself.
    """
    if record.result is None:
        return
    result, seats = record.result.result, range(len(record.header.setup.names))
    out = sorted({foul.seat for foul in result.fouls})
    ranked = [seat for level in result.ranking for seat in level]
    problem = None
    if result.void is not None:
        problem = "no ranking of a void match" if result.ranking or result.winners else None
    elif sorted(ranked) != list(seats):
        problem = "one rank for every seat"
    elif out and sorted(result.ranking[-1]) != out:
        problem = f"the expelled seats {out} on the last rank"
    elif list(result.winners) not in _possible_winners(record, result, is_deserted=out == list(seats)):
        problem = "the seats of the best rank as winners"
    if problem is not None:
        found = f"ranking {result.ranking}, winners {result.winners}"
        raise RecordError(record.path, len(record.steps) + 2, problem, found)


def _possible_winners(record: Record, result: Result, *, is_deserted: bool) -> list[list[int]]:
    """Return who can have won: the best; nobody if all fouled, or perhaps if somebody did when told that it had won."""
    if is_deserted:
        return [[]]
    best = sorted(result.ranking[0])
    kinds = [one["command"] for step in record.steps for one in step.commands]
    is_lost_at_the_end = "end-seat" in kinds and "expel-seat" in kinds[kinds.index("end-seat") :]
    return [best, []] if is_lost_at_the_end else [best]


def check_shuffle(record: Record, game: Game[Any, Any, Any]) -> None:
    """Deal again, by a shuffle written a second time from its description, and compare the first views.

    Raises:
        RecordError: the commitment, the nonces or the deal do not follow from what is revealed.
    """
    setup, seed = record.header.setup, record.seed
    if seed is None:
        return
    commitment = hashlib.sha256(seed).hexdigest()
    if commitment != setup.commitment:
        raise RecordError(record.path, 1, f"commitment {commitment}", setup.commitment)
    nonces = _nonces(record)
    if record.result is not None and record.result.nonces != nonces:
        raise RecordError(record.path, len(record.steps) + 2, f"nonces {nonces}", f"{record.result.nonces}")
    if setup.position is not None:
        return
    state = game.new(game.parse_options(setup.options), len(setup.names), Redealer.of_match(seed, nonces))
    for number, step in enumerate(record.steps, 2):
        for seat in (one["seat"] for one in step.commands if one["command"] == "expel-seat"):
            state = game.drop(state, seat)
        starts = [one for one in step.commands if one["command"] == "start-seat"]
        for start in starts:
            digest = hashlib.sha256(msgspec.msgpack.encode(game.view(state, start["seat"]))).hexdigest()
            if start["view"] != digest:
                raise RecordError(record.path, number, f"first view {digest} of seat {start['seat']}", start["view"])
        if starts:
            return


def _nonces(record: Record) -> list[str | None]:
    """Return every seat's nonce that counts: those of the ready in time, unless the setup leaves nonces out."""
    nonces: list[str | None] = [None] * len(record.header.setup.names)
    for step in record.steps:
        if isinstance(step.event, e.ReadyReceived) and record.header.setup.nonces:
            is_out = any(one["command"] == "expel-seat" for one in step.commands)
            nonces[step.event.seat] = None if is_out else step.event.nonce
    return nonces


class Redealer:
    """The shuffles of protocol/SPEC.md, "Chance", once more.

    Args:
        key: 32 bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    def of_match(cls, seed: bytes, nonces: Sequence[str | None]) -> "Redealer":
        """Return the shuffle of a match's first deal.

        Args:
            seed: 32 bytes.
            nonces: by seat, in hex; None for none.
        """
        return cls(hashlib.sha256(seed + "".join(f":{nonce or ''}" for nonce in nonces).encode()).digest())

    def later(self, deal: int) -> "Redealer":
        """Return the shuffle of another deal."""
        return Redealer(hashlib.sha256(self._key + f"deal:{deal}".encode()).digest())

    def __call__(self, items: Sequence[T], /) -> list[T]:
        """Return the items in their new order."""
        words = _words(self._key)
        deck = list(items)
        for size in range(len(deck), 1, -1):
            word = next(words)
            while word >= 2**64 // size * size:
                word = next(words)
            deck[size - 1], deck[word % size] = deck[word % size], deck[size - 1]
        return deck


def _words(key: bytes) -> Iterator[int]:
    for block in itertools.count():
        yield from _FOUR_WORDS.unpack(hashlib.sha256(key + block.to_bytes(8, "big")).digest())
