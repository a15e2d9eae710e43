"""Chance: fixed vectors, no bias, and independent streams."""

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee import chance

SEED = bytes(range(32))
NONCES = ("00" * 16, None, "ff" * 16)


VECTOR_BELOW = [0, 1, 1, 221]
VECTOR_SHUFFLED = [7, 2, 0, 6, 3, 8, 5, 9, 4, 1]


def test_vectors() -> None:
    """The derivations give what SHA-256 gives, so any language can do the same."""
    assert chance.commitment(SEED) == "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"
    assert chance.derive(SEED, "player:0").hex() == "2c777f26101061c84092beb082157158aea9376785d0fc1fd7d623f4ebddea53"
    assert chance.seed_from_number(7).hex() == "7902699be42c8a8e46fbbb4501726517e86b22c56a189f7625a6da49081b2451"
    key = chance.shuffle_key(SEED, NONCES)
    assert chance.Stream(key).shuffled(range(10)) == chance.Stream(key).shuffled(range(10))
    assert [chance.Stream(SEED).below(bound) for bound in (1, 2, 6, 1000)] == VECTOR_BELOW
    assert chance.Stream(SEED).shuffled(range(10)) == VECTOR_SHUFFLED


class Words(chance.Stream):
    """A stream whose 64-bit words are given."""

    def __init__(self, *words: int) -> None:
        super().__init__(SEED)
        self._given = iter(words)

    def draw_word(self) -> int:
        return next(self._given)


@pytest.mark.parametrize("bound", [1, 2, 3, 6, 36, 1080, 2**63 + 1])
def test_the_incomplete_multiple_is_thrown_away(bound: int) -> None:
    """Words from the last whole multiple of the bound on are rejected; the one before it counts."""
    limit = 2**64 - 2**64 % bound
    skipped = [word for word in (limit, 2**64 - 1) if limit <= word < 2**64]
    assert Words(*skipped, 5 % bound).below(bound) == 5 % bound
    assert Words(limit - 1).below(bound) == bound - 1


THROWN_AWAY = (  # (nonces with the seed of 7, bound, the first word, the number drawn from the second)
    (
        ("00112233445566778899aabbccddeeff", "0123456789abcdef0123456789abcdef"),
        2**63 + 1,
        0xD95BA7087C246513,
        1243624223057265555,
    ),
    ((None, None), 3 * 2**62, 0xE7654C89B73F8D42, 8394161548889849409),
)


@pytest.mark.parametrize(("nonces", "bound", "word", "drawn"), THROWN_AWAY)
def test_a_real_word_is_thrown_away(nonces: tuple[str | None, ...], bound: int, word: int, drawn: int) -> None:
    """With these keys the first word is rejected, and the second one is used."""
    key = chance.shuffle_key(chance.seed_from_number(7), nonces)
    first, second = (int.from_bytes(hashlib.sha256(key + bytes(8)).digest()[at : at + 8], "big") for at in (0, 8))
    assert word == first >= 2**64 // bound * bound > second
    assert drawn == second % bound == chance.Stream(key).below(bound)


def one_by_one(items: Sequence[int], words: Iterator[int]) -> list[int]:
    """Shuffle as SPEC.md describes it, a word at a time."""
    deck = list(items)
    for last in range(len(deck) - 1, 0, -1):
        word = next(word for word in words if word < 2**64 // (last + 1) * (last + 1))
        deck[last], deck[word % (last + 1)] = deck[word % (last + 1)], deck[last]
    return deck


WORDS = st.lists(st.integers(0, 2**64 - 1) | st.integers(2**64 - 8, 2**64 - 1), max_size=80)


@given(WORDS, st.integers(0, 40))
def test_a_word_is_thrown_away_in_a_shuffle_too(words: list[int], size: int) -> None:
    """The order is the one that the words give one by one, and the next shuffle continues after them."""
    stream, derived = chance.Stream(SEED), chance.Stream(SEED)
    stream.words = words[::-1]
    one = itertools.chain(words, (derived.draw_word() for _ in itertools.count()))
    assert one_by_one(range(size), one) == stream.shuffled(range(size))
    assert one_by_one(range(9), one) == stream.shuffled(range(9))


@given(st.binary(min_size=32, max_size=32), st.lists(st.integers(), max_size=60))
def test_a_shuffle_is_a_permutation(key: bytes, items: list[int]) -> None:
    """Nothing is lost or doubled, the input is not changed, and only the key decides."""
    before = list(items)
    shuffled = chance.Stream(key).shuffled(items)
    assert Counter(shuffled) == Counter(before)
    assert items == before
    assert shuffled == chance.Stream(key).shuffled(items)


def test_every_order_comes_up() -> None:
    """Over many keys, the six orders of three things are about equally frequent."""
    orders = Counter(tuple(chance.Stream(chance.seed_from_number(number)).shuffled("abc")) for number in range(6000))
    assert len(orders) == 6
    assert all(850 < count < 1150 for count in orders.values())


def test_every_nonce_counts() -> None:
    """Any seat's nonce, the seat that gave it, and the seed change the key."""
    one, other = "00" * 16, "01" + "00" * 15
    keys = [
        chance.shuffle_key(SEED, nonces)
        for nonces in ((one, one), (one, other), (other, one), (one, None), (None, one), (None, None), (one,))
    ]
    keys.append(chance.shuffle_key(bytes(32), (one, one)))
    assert len(set(keys)) == len(keys)


def test_purposes_have_streams_of_their_own() -> None:
    """The seed of a purpose differs from the seed itself and from that of any other purpose."""
    seeds = {SEED, chance.derive(SEED, "deck"), chance.derive(SEED, "seating"), chance.derive(SEED, "player:0")}
    assert len(seeds) == 4
