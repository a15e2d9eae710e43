"""Checks the random decisions in a record: commitments, nonces, seating and the deal.

It does not use the code that ran the match.
"""

import hashlib
import itertools
import struct
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec

from ...games.base import Game
from ...match import events as e
from ...text import show_json
from ..reader import Record, RecordError

# This is a second implementation of the shuffle. It follows protocol/SPEC.md and works in another way than chance.py:
# that module draws numbers one by one, and this one draws all places first. An error in one of them shows as a
# difference. To share the code would save lines, but make this check worthless.

T = TypeVar("T")
_BLOCKS = 16
"""Number of blocks of random numbers that are computed together."""
_SURE = 2**64 - 2**32
"""A random number below this is never rejected, because no list has 2**32 elements or more."""


def check_shuffle(record: Record, game: Game[Any, Any, Any]) -> None:
    """Deal the cards again with the second implementation of the shuffle, and compare the first views.

    Raises:
        RecordError: the commitment, the nonces, the seating or the deal do not follow from the revealed secrets.
    """
    shuffle = check_chance(record)
    if shuffle is not None and record.header.setup.position is None:
        _check_deal(record, game, shuffle)


def check_chance(record: Record) -> "Redealer | None":
    """Check the commitment, the nonces and the seating by lot.

    Returns:
        The shuffle of the match's first deal; None if the record does not reveal its seed.

    Raises:
        RecordError: they do not follow from the revealed secrets.
    """
    setup, seed = record.header.setup, record.seed
    if seed is None:
        return None
    commitment = hashlib.sha256(seed).hexdigest()
    if commitment != setup.commitment:
        raise RecordError(record.path, 0, f"commitment {commitment}", setup.commitment)
    nonces = check_nonces(record)
    if setup.lot:
        _check_lot(record, seed)
    return Redealer.of_match(seed, nonces)


def _check_deal(record: Record, game: Game[Any, Any, Any], shuffle: "Redealer") -> None:
    setup = record.header.setup
    state = game.new(game.parse_options(setup.options), len(setup.names), shuffle)
    for number, transition in enumerate(record.transitions, 1):
        for seat in (command["seat"] for command in transition.commands if command["command"] == "expel-seat"):
            state = game.drop(state, seat)
        starts = [command for command in transition.commands if command["command"] == "start-seat"]
        for start in starts:
            digest = hashlib.sha256(msgspec.msgpack.encode(game.view(state, start["seat"]))).hexdigest()
            if start["view"] != digest:
                raise RecordError(record.path, number, f"first view {digest} of seat {start['seat']}", start["view"])
        if starts:
            return


def _check_lot(record: Record, seed: bytes) -> None:
    names = record.header.setup.names
    drawn = tuple(Redealer(hashlib.sha256(seed + b"seating").digest())(sorted(names)))
    if drawn != names:
        raise RecordError(record.path, 0, f"seats by lot: {', '.join(drawn)}", ", ".join(names))


def check_nonces(record: Record) -> list[str | None]:
    """Check the revealed nonces against their commitments and against the nonces in the result.

    Returns:
        For each seat the nonce that counts, since it was revealed in time and after the last offer; None without one.

    Raises:
        RecordError: a nonce was accepted without fitting its commitment, or refused in spite of fitting it, or the
            result has other nonces.
    """
    setup = record.header.setup
    nonces: list[str | None] = [None] * len(setup.names)
    committed = dict[int, str]()
    for number, transition in enumerate(record.transitions, 1):
        event = transition.event
        if isinstance(event, e.MatchResumed) and any(
            command["command"] == "offer-match" for command in transition.commands
        ):
            nonces, committed = [None] * len(setup.names), {}
        elif isinstance(event, e.ReadyReceived):
            committed[event.seat] = event.commitment
        elif isinstance(event, e.NonceReceived):
            foul = next(
                (command["foul"] for command in transition.commands if command["command"] == "expel-seat"), None
            )
            digest = hashlib.sha256(f"nonce:{setup.match}:{event.seat}:{event.nonce}".encode()).hexdigest()
            is_judged = foul is None or foul["code"] == "nonce"
            if is_judged and (digest == committed.get(event.seat)) != (foul is None):
                opened = f"a nonce whose commitment is {digest}, {'taken' if foul is None else 'refused'}"
                raise RecordError(record.path, number, f"a verdict on commitment {committed.get(event.seat)}", opened)
            nonces[event.seat] = None if foul else event.nonce
            if not setup.nonces:
                raise RecordError(record.path, number, "no nonce, because this setup uses none", "one")
    if record.result is not None and record.result.nonces != nonces:
        expected, opened = show_json(nonces), show_json(record.result.nonces)
        raise RecordError(record.path, len(record.transitions) + 1, f"nonces {expected}", opened)
    return nonces


class Redealer:
    """The second implementation of the shuffles in protocol/SPEC.md, "Chance".

    Args:
        key: key of the shuffle, 32 bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    def of_match(cls, seed: bytes, nonces: Sequence[str | None]) -> "Redealer":
        """Return the shuffle of a match's first deal.

        Args:
            seed: seed of the match, 32 bytes.
            nonces: nonces by seat, in hex; None for a seat without one.
        """
        return cls(hashlib.sha256(seed + "".join(f":{nonce or ''}" for nonce in nonces).encode()).digest())

    def later(self, deal: int) -> "Redealer":
        """Return the shuffle of a later deal in the same match."""
        return Redealer(hashlib.sha256(self._key + f"deal:{deal}".encode()).digest())

    def __call__(self, items: Sequence[T], /) -> list[T]:
        """Return the items in their new order."""
        deck = list(items)
        last = len(deck) - 1
        for place in _places(self._key, len(deck)):
            deck[last], deck[place] = deck[place], deck[last]
            last -= 1
        return deck


def _places(key: bytes, size: int) -> list[int]:
    """Return random numbers below size, below size - 1, and so on, down to a number below 2."""
    words, sizes = draw_words(key), range(size, 1, -1)
    drawn = list(itertools.islice(words, len(sizes)))
    if max(drawn, default=0) < _SURE:
        return [word % below for word, below in zip(drawn, sizes, strict=True)]
    left = itertools.chain(drawn, words)
    return [next(word for word in left if word < 2**64 // below * below) % below for below in sizes]


def draw_words(key: bytes) -> Iterator[int]:
    """Yield the endless sequence of 64-bit numbers that follows from a key."""
    return itertools.chain.from_iterable(map(partial(_some_words, key), itertools.count(0, _BLOCKS)))


def _some_words(key: bytes, first: int) -> tuple[int, ...]:
    blocks = [hashlib.sha256(key + block.to_bytes(8)).digest() for block in range(first, first + _BLOCKS)]
    return struct.unpack(f">{4 * _BLOCKS}Q", b"".join(blocks))
