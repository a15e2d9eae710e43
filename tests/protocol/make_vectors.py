"""Make protocol/vectors.json from the tables: `python -m tests.protocol.make_vectors`.

The examples are in tables.py.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import protocol
from protocol.deal import nonce_commitment
from referee import chance
from referee.games.q import tiles as q_tiles
from referee.games.q.forms import Options
from referee.games.q.game import QGame
from referee.games.quadominos import rounds as quadominos_rounds
from referee.games.quadominos import tiles as quadominos_tiles
from referee.games.quincy import board as quincy_board
from referee.games.quincy import game as quincy

from .conversations import CONVERSATIONS, Conversation
from .further_examples import FURTHER_EXAMPLES
from .other_forms import OTHER_FORMS
from .tables import (
    ALSO,
    BAD_FRAMES,
    BOUNDS,
    COMMITTED,
    DEALS,
    DEALT,
    EXAMPLES,
    LISTS,
    NUMBERS,
    PURPOSES,
    framed,
    packed,
)

PATH = Path(protocol.__file__).parent / "vectors.json"
_LONGEST_BYTES = 2000
"""Longer frames are made only by the tests."""
_WORDS = 8
"""Two blocks."""
_FIRST = 25
"""Number of tiles in four hands of Q and the first tile on the map."""
_NEXT = 5

DECKS: dict[str, list[str]] = {
    "q": [q_tiles.NAMES[tile] for tile in q_tiles.ALL_TILES],
    "quincy": [f"{low}-{high}" for low, high in quincy_board.DOMINOES],
    "quadominos": [*quadominos_tiles.TILES],
}
"""The deck before its shuffle, by game."""
SEATED = (["ada", "bob"], ["dan", "bob", "cyd", "ada"], [f"p{number}" for number in range(12)])
"""Players for whom lots decide the seats."""


class _SpokenStream(chance.Stream):
    """A stream that notes the words it gave, as 16 hex digits each."""

    def __init__(self, key: bytes) -> None:
        super().__init__(key)
        self.given: list[str] = []

    def draw_word(self) -> int:
        word = super().draw_word()
        self.given.append(f"{word:016x}")
        return word


def messages() -> list[dict[str, Any]]:
    """Return every vector of a message: good ones with their message, bad ones with their code."""
    good = [
        {"name": name, "from": str(sender), "message": message, "hex": framed(packed(message)).hex()}
        for name, sender, message in EXAMPLES + FURTHER_EXAMPLES
    ]
    good += [
        {"name": name, "from": str(sender), "message": message, "hex": framed(rewritten(packed(message))).hex()}
        for name, sender, message, rewritten in OTHER_FORMS
    ]
    bad = [
        {"name": name, "from": str(sender), "hex": data.hex(), "code": str(code), **_also(name)}
        for name, sender, data, code in BAD_FRAMES
        if len(data) <= _LONGEST_BYTES
    ]
    return good + bad


def _also(name: str) -> dict[str, list[str]]:
    return {"also": [str(code) for code in ALSO[name]]} if name in ALSO else {}


def conversations() -> list[dict[str, Any]]:
    """Return every vector of a conversation."""
    return [{"name": conversation.name, "lines": _lines(conversation)} for conversation in CONVERSATIONS]


def _lines(conversation: Conversation) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [
        {"from": str(sender), "message": message, "hex": framed(packed(message)).hex()}
        for sender, message in conversation.lines
    ]
    if conversation.code is not None:
        last = lines[-1]
        lines[-1] = {"from": last["from"], "hex": last["hex"], "code": str(conversation.code)}
    return lines


def seeds() -> list[dict[str, Any]]:
    """Return every vector of a fixed seed."""
    return [{"number": number, "seed": chance.seed_from_number(number).hex()} for number in NUMBERS]


def derived() -> list[dict[str, Any]]:
    """Return every vector of a derived seed."""
    return [
        {"seed": seed.hex(), "purpose": purpose, "derived": chance.derive(seed, purpose).hex()}
        for seed, purpose in PURPOSES
    ]


def seatings() -> list[dict[str, Any]]:
    """Return every vector of seats that were drawn by lot."""
    seeds = {purpose_seed for purpose_seed, _ in PURPOSES}
    return [
        {"seed": seed.hex(), "names": sorted(names), "seats": list(chance.seat_by_lot(seed, names))}
        for seed in sorted(seeds)
        for names in SEATED
    ]


def decks() -> list[dict[str, Any]]:
    """Return every vector of a deck before its shuffle."""
    return [{"game": game, "tiles": len(names), "sha256": _digest(names)} for game, names in DECKS.items()]


def commitments() -> list[dict[str, Any]]:
    """Return every vector of a player's commitment to its nonce."""
    return [
        {"match": match, "seat": seat, "nonce": nonce, "commitment": nonce_commitment(match, seat, nonce)}
        for match, seat, nonce in COMMITTED
    ]


def deals() -> list[dict[str, Any]]:
    """Return every vector of a shuffle, from the seed to the hands of Q."""
    return [_deal(name, seed, nonces) for name, seed, nonces in DEALS]


def _deal(name: str, seed: bytes, nonces: Sequence[str | None]) -> dict[str, Any]:
    key = chance.shuffle_key(seed, nonces)
    words = _SpokenStream(key)
    for _ in range(_WORDS):
        words.below(1)
    deck = [q_tiles.NAMES[tile] for tile in chance.Stream(key).shuffled(q_tiles.ALL_TILES)]
    dealt = QGame().new(Options(), len(nonces), chance.Dealer(key))
    return {
        "name": name,
        "seed": seed.hex(),
        "nonces": nonces,
        "commitment": chance.commitment(seed),
        "key": key.hex(),
        "words": words.given,
        "below": list(_drawn(key)),
        "shuffled": [[items, chance.Stream(key).shuffled(items)] for items in LISTS],
        "q": {
            "sha256": _digest(deck),
            "first": deck[:_FIRST],
            "hands": [[q_tiles.NAMES[tile] for tile in hand] for hand in dealt.hands],
            "table": dealt.laid[0][2],
        },
    }


def dealt() -> list[dict[str, Any]]:
    """Return every vector of a deal of the other games, from the seed to the hands."""
    return [_dealt(game, *DEALS[index][1:], number) for game, index, number in DEALT]


def _dealt(game: str, seed: bytes, nonces: Sequence[str | None], number: int) -> dict[str, Any]:
    first, seats = chance.Dealer(chance.shuffle_key(seed, nonces)), len(nonces)
    dealer = first.later(number) if number else first
    deck = dealer(DECKS[game])
    size = quincy.HAND_SIZE if game == "quincy" else quadominos_rounds.hand_size(seats)
    return {
        "game": game,
        "seed": seed.hex(),
        "nonces": nonces,
        "deal": number,
        "key": dealer.key.hex(),
        "sha256": _digest(deck),
        "hands": [deck[size * seat : size * (seat + 1)] for seat in range(seats)],
        "next": deck[size * seats : size * seats + _NEXT],
    }


def _drawn(key: bytes) -> Iterable[dict[str, Any]]:
    """Draw below the bounds, one after another from one stream; numbers over 2**53 are strings for other languages."""
    stream = _SpokenStream(key)
    for bound in BOUNDS:
        before = len(stream.given)
        drawn = stream.below(bound)
        yield {"bound": str(bound), "drawn": str(drawn), "thrown_away": stream.given[before:-1]}


def _digest(names: Iterable[str]) -> str:
    return hashlib.sha256(" ".join(names).encode()).hexdigest()


def text() -> str:
    """Return the file's text: one vector a line."""
    chances = {
        "seeds": seeds(),
        "derived": derived(),
        "seatings": seatings(),
        "commitments": commitments(),
        "decks": decks(),
        "deals": deals(),
        "dealt": dealt(),
    }
    inner = ",\n".join(f'"{name}": {_listed(vectors)}' for name, vectors in chances.items())
    spoken = f'"messages": {_listed(messages())},\n"conversations": {_listed(conversations())}'
    return f'{{\n{spoken},\n"chance": {{\n{inner}\n}}\n}}\n'


def _listed(vectors: Iterable[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(json.dumps(vector) for vector in vectors) + "\n]"


if __name__ == "__main__":
    PATH.write_text(text())
