"""Seeds, commitments, nonces and the shuffle."""

import hashlib
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import mod
from typing import TypeVar

# All chance comes from SHA-256. Python's `random` would be simpler, but a program in another language could not check a
# deck, and its numbers can be predicted. The section "Chance" of protocol/SPEC.md describes this file in words.
#
# One seed serves several purposes: seats, deck, the programs' own seeds. Each purpose hashes the seed with its name, so
# that a player that knows one of these streams learns nothing about the others.

T = TypeVar("T")

SEED_BYTES = 32
MAX_SEED = (1 << 63) - 1
"""Largest number that a seed is made from: all files and programs of a tournament can represent it."""
_ALL = 1 << 64
_BLOCKS = 32
"""Least number of blocks that are derived together, which saves time."""
_WORDS_A_BLOCK = 4


def commitment(seed: bytes) -> str:
    """Commit to a seed without showing it.

    Returns:
        SHA-256 of the seed, in hex.
    """
    return hashlib.sha256(seed).hexdigest()


def seed_from_number(number: int) -> bytes:
    """Make the fixed seed of a test or a duplicate deal.

    Args:
        number: value of `--seed`.

    Returns:
        32 bytes: SHA-256 of the number in decimal.
    """
    return hashlib.sha256(str(number).encode()).digest()


def deal_number(number: int, pairing: int) -> int:
    """Return the number that fixes the deal of one pairing, in a tournament with a fixed seed.

    Args:
        number: number that fixes all deals of the tournament.
        pairing: number of the pairing.
    """
    return int.from_bytes(derive(seed_from_number(number), f"deal:{pairing}")[:6], "big")


def derive(seed: bytes, purpose: str) -> bytes:
    """Derive an independent seed for one purpose, so that no stream reveals anything about another.

    Returns:
        32 bytes: SHA-256 of the seed followed by the purpose.
    """
    return hashlib.sha256(seed + purpose.encode()).digest()


def match_seed(secret: bytes, match: str) -> bytes:
    """Derive the seed of a match from the secret of its tournament, so that one commitment covers all matches.

    Args:
        secret: 32 bytes.
        match: the match's name.

    Returns:
        32 bytes.
    """
    return derive(secret, f"match:{match}")


def player_seed(seed: bytes, seat: int) -> bytes:
    """Derive the seed that a launched program is given for its own chance.

    Returns:
        32 bytes, which reveal nothing about the deck.
    """
    return derive(seed, f"player:{seat}")


def seat_by_lot(seed: bytes, names: Iterable[str]) -> tuple[str, ...]:
    """Draw lots for the seats; return the names by seat.

    Args:
        seed: 32 bytes. Seating derives its own stream from it, so that the seats reveal nothing about the deck.
        names: names of the players, in any order: they are sorted first, so that the order does not matter.
    """
    return tuple(Stream(derive(seed, "seating")).shuffled(sorted(names)))


def shuffle_key(seed: bytes, nonces: Iterable[str | None]) -> bytes:
    """Combine the referee's seed with every player's nonce, so that neither side chooses the deck.

    Args:
        seed: 32 bytes.
        nonces: nonces in seat order, 16 bytes in hex each; None for a seat that sent none.

    Returns:
        32 bytes: SHA-256 of the seed, then for each seat `:` and the hex digits of its nonce (no digits for None).
    """
    text = "".join(":" + (nonce or "") for nonce in nonces)
    return hashlib.sha256(seed + text.encode()).digest()


@dataclass(frozen=True, slots=True)
class Dealer:
    """The shuffles of a match. A dealer has no state: every call gives the same order, so a game's state may keep it.

    Args:
        key: 32 bytes; the match's shuffle key.
    """

    key: bytes

    def __call__(self, items: Sequence[T], /) -> list[T]:
        """Return the items in the random order of this deal."""
        return Stream(self.key).shuffled(items)

    def later(self, deal: int) -> "Dealer":
        """Return the shuffle of another deal of the same match.

        Args:
            deal: 1, 2, 3... for the second deal and those after it.
        """
        return Dealer(derive(self.key, f"deal:{deal}"))


class Stream:
    """Endless unbiased numbers from a key: block i is SHA-256(key + i as 8 bytes big-endian), read in 8-byte words.

    Args:
        key: 32 bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.words: list[int] = []
        """Words that are derived but not drawn yet; the next one is last."""
        self._counter = 0

    def draw_word(self) -> int:
        """Draw the next number of 64 bits."""
        if not self.words:
            self._refill()
        return self.words.pop()

    def _refill(self, blocks: int = _BLOCKS) -> None:
        key, sha256 = self._key, hashlib.sha256
        numbers = range(self._counter, self._counter + blocks)
        data = b"".join([sha256(key + number.to_bytes(8, "big")).digest() for number in numbers])
        self.words[:0] = struct.unpack(f">{_WORDS_A_BLOCK * blocks}Q", data)[::-1]
        self._counter += blocks

    def below(self, bound: int) -> int:
        """Draw a number from 0 to bound - 1, all equally likely.

        Words beyond the last multiple of the bound are thrown away, since a plain modulo would favour small numbers.
        """
        while True:
            word = self.draw_word()
            if word < _ALL - bound or word < _ALL - _ALL % bound:  # the first test is quicker, and nearly always true
                return word % bound

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in a random order.

        Source: R. Fisher and F. Yates, in the in-place form of D. Knuth, The Art of Computer Programming 2, 3.4.2,
        algorithm P: for i from the last index down to 1, swap item i with item below(i + 1).
        """
        result = list(items)
        for last, chosen in zip(range(len(result) - 1, 0, -1), self._places(len(result)), strict=True):
            result[last], result[chosen] = result[chosen], result[last]
        return result

    def _places(self, size: int) -> Iterator[int]:
        """Draw below(size), below(size - 1)... below(2); all at once, if no word must be thrown away."""
        bounds = range(size, 1, -1)
        missing = len(bounds) - len(self.words)
        if missing > 0:
            self._refill(max(-(-missing // _WORDS_A_BLOCK), _BLOCKS))
        words = self.words[: -len(bounds) - 1 : -1]
        if max(words, default=0) >= _ALL - size:
            return map(self.below, bounds)
        del self.words[len(self.words) - len(words) :]
        return map(mod, words, bounds)
