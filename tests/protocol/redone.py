"""Chance as SPEC.md describes it, from SHA-256 alone, without referee.chance and without the vectors."""

import hashlib
from collections.abc import Sequence
from typing import Any


class Redone:
    """The stream as SPEC.md describes it, from SHA-256 alone."""

    def __init__(self, seed: bytes, nonces: Sequence[str | None]) -> None:
        self.key = hashlib.sha256(seed + "".join(":" + (nonce or "") for nonce in nonces).encode()).digest()
        self.words: list[int] = []
        self.block = 0

    def word(self) -> int:
        """Return the next word."""
        if not self.words:
            digest = hashlib.sha256(self.key + self.block.to_bytes(8, "big")).digest()
            self.words = [int.from_bytes(digest[start : start + 8], "big") for start in (0, 8, 16, 24)]
            self.block += 1
        return self.words.pop(0)

    def below(self, bound: int) -> tuple[int, list[int]]:
        """Return a number below a bound, and the rejected words before it."""
        thrown_away = []
        while (word := self.word()) >= 2**64 // bound * bound:
            thrown_away.append(word)
        return word % bound, thrown_away


def redone(seed: bytes, nonces: Sequence[str | None], items: Sequence[Any]) -> list[Any]:
    """Shuffle as SPEC.md describes it, from SHA-256 alone."""
    stream = Redone(seed, nonces)
    result = list(items)
    for index in range(len(items) - 1, 0, -1):
        other, _ = stream.below(index + 1)
        result[index], result[other] = result[other], result[index]
    return result
