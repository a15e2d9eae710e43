"""vectors.json: following SPEC.md gives each vector, the client reads it, and every case has one."""

import hashlib
import itertools
import json
from collections.abc import Sequence
from typing import Any

import msgpack
import msgspec
import pytest

from protocol import Code, Connection, RemoteProtocolError, Role, limits
from protocol.decoding import decode
from protocol.frames import FrameReader, encode_frame
from protocol.messages import FROM_PLAYER, FROM_REFEREE, encode
from referee import builtin, chance
from referee.games.q import tiles as q_tiles
from referee.games.quadominos import rounds as quadominos_rounds
from referee.plugins import load

from . import make_vectors
from .other_forms import OTHER_FORMS
from .pairs import ConnectionPair
from .redone import Redone, redone
from .situations import OTHER, receive_all, typed
from .tables import ALSO

FILE: dict[str, Any] = json.loads(make_vectors.PATH.read_text())
VECTORS: list[dict[str, Any]] = FILE["messages"]
CONVERSATIONS: list[dict[str, Any]] = FILE["conversations"]
CHANCE: dict[str, list[dict[str, Any]]] = FILE["chance"]
GOOD = [vector for vector in VECTORS if "message" in vector]
BAD = [vector for vector in VECTORS if "code" in vector]
MESSAGES = {**FROM_PLAYER, **FROM_REFEREE}


def digest(names: Sequence[str]) -> str:
    """Return the digest of a deck in the vectors' form."""
    return hashlib.sha256(" ".join(names).encode()).hexdigest()


def deck_of(game: str) -> list[str]:
    """Return the deck of a game before its shuffle, as SPEC.md describes it."""
    if game == "q":  # test_spec.py checks that these are in the order of SPEC.md
        return [q_tiles.NAMES[tile] for tile in q_tiles.ALL_TILES]
    if game == "quincy":
        return [f"{low}-{high}" for low in range(10) for high in range(low, 10)]
    names = map("".join, itertools.product("012345", repeat=4))
    return [name for name in names if sorted(name) == [*name] and name != "0245"]


def test_the_vectors_of_decks_hold() -> None:
    """There is a vector for each game that shuffles, in the order of SPEC.md."""
    decks = {game.name: deck_of(game.name) for game in builtin.referee_games() if game.name != "quincala"}
    vectors = [{"game": game, "tiles": len(deck), "sha256": digest(deck)} for game, deck in decks.items()]
    assert sorted(vectors, key=str) == sorted(CHANCE["decks"], key=str)


def test_the_vectors_of_seeds_hold() -> None:
    """Fixed and derived seeds are plain SHA-256."""
    for vector in CHANCE["seeds"]:
        assert hashlib.sha256(str(vector["number"]).encode("ascii")).hexdigest() == vector["seed"]
    for vector in CHANCE["derived"]:
        text = bytes.fromhex(vector["seed"]) + vector["purpose"].encode("utf-8")
        assert hashlib.sha256(text).hexdigest() == vector["derived"]


def test_the_vectors_of_commitments_hold() -> None:
    """The commitment is over one text: any change of it changes the commitment."""
    vectors = CHANCE["commitments"]
    for vector in vectors:
        text = "nonce:" + vector["match"] + ":" + str(vector["seat"]) + ":" + vector["nonce"]
        assert hashlib.sha256(text.encode("ascii")).hexdigest() == vector["commitment"]
    assert len({vector["commitment"] for vector in vectors}) == len(vectors)


def test_the_vectors_of_seatings_hold() -> None:
    """Drawn seats are the sorted names, shuffled with the derived seed of their purpose as the key."""
    for vector in CHANCE["seatings"]:
        seed = bytes.fromhex(vector["seed"])
        assert redone(seed + b"seating", [], sorted(vector["names"])) == vector["seats"]


@pytest.mark.parametrize("vector", CHANCE["deals"], ids=lambda vector: str(vector["name"]))
def test_a_vector_of_a_deal_holds(vector: dict[str, Any]) -> None:
    """Following SPEC.md with SHA-256 alone gives each value of a deal."""
    seed, nonces = bytes.fromhex(vector["seed"]), vector["nonces"]
    assert hashlib.sha256(seed).hexdigest() == vector["commitment"]
    stream = Redone(seed, nonces)
    assert stream.key.hex() == vector["key"]
    assert [f"{stream.word():016x}" for _ in range(8)] == vector["words"]
    stream = Redone(seed, nonces)
    for draw in vector["below"]:
        drawn, thrown_away = stream.below(int(draw["bound"]))
        assert (str(drawn), [f"{word:016x}" for word in thrown_away]) == (draw["drawn"], draw["thrown_away"])
    for before, after in vector["shuffled"]:
        assert redone(seed, nonces, before) == after
    deck, seats = redone(seed, nonces, deck_of("q")), len(nonces)
    hands = [deck[6 * seat : 6 * seat + 6] for seat in range(seats)]
    expected = {"sha256": digest(deck), "first": deck[:25], "hands": hands, "table": deck[6 * seats]}
    assert expected == vector["q"]


def hand_size(game: str, seats: int) -> int:
    """Return how many tiles a seat is dealt."""
    return 5 if game == "quincy" else {2: 30, 3: 20, 4: 15, 5: 12}.get(seats, 10)


@pytest.mark.parametrize("vector", CHANCE["dealt"], ids=lambda vector: f"{vector['game']}-{vector['deal']}")
def test_a_vector_of_another_games_deal_holds(vector: dict[str, Any]) -> None:
    """Following SPEC.md with SHA-256 alone gives key, deck and hands of each deal."""
    seed, nonces, number = bytes.fromhex(vector["seed"]), vector["nonces"], vector["deal"]
    first = Redone(seed, nonces).key
    key = hashlib.sha256(first + f"deal:{number}".encode("ascii")).digest() if number else first
    assert key.hex() == vector["key"]
    before = first + f"deal:{number}".encode("ascii") if number else seed
    deck = redone(before, [] if number else nonces, deck_of(vector["game"]))
    assert digest(deck) == vector["sha256"]
    seats = len(nonces)
    size = hand_size(vector["game"], seats)
    assert [deck[size * seat : size * (seat + 1)] for seat in range(seats)] == vector["hands"]
    assert deck[size * seats :][: len(vector["next"])] == vector["next"]


@pytest.mark.parametrize("vector", CHANCE["dealt"], ids=lambda vector: f"{vector['game']}-{vector['deal']}")
def test_a_vector_of_another_games_deal_is_the_games(vector: dict[str, Any]) -> None:
    """The game deals these hands.

    The tiles that its referee laid are on the table, and those that it drew come last.
    """
    game, seats = load().game(vector["game"]), len(vector["nonces"])
    match_key = chance.shuffle_key(bytes.fromhex(vector["seed"]), vector["nonces"])
    state = game.new(game.parse_options({}), seats, chance.Dealer(match_key))
    if vector["deal"]:
        state = quadominos_rounds.deal(msgspec.structs.replace(state, round=vector["deal"]))
    for seat, hand in enumerate(vector["hands"]):
        view = game.view(state, seat)
        held = [item if isinstance(item, str) else "-".join(map(str, item)) for item in view.hand]
        laid = {"".join(sorted(tile)) for *_, tile in view.board} if vector["game"] == "quadominos" else set()
        dealt = [name for name in hand if name not in laid]
        assert dealt == held[: len(dealt)]


def test_the_vectors_of_deals_have_every_case() -> None:
    """They have two to four seats, with and without nonces, up to two rejected words, and bounds of all sizes."""
    deals = CHANCE["deals"]
    assert {2, 3, 4} == {len(deal["nonces"]) for deal in deals}
    assert {"none", "some", "all"} == {
        "all" if all(deal["nonces"]) else "some" if any(deal["nonces"]) else "none" for deal in deals
    }
    draws = [draw for deal in deals for draw in deal["below"]]
    assert {0, 1, 2} <= {len(draw["thrown_away"]) for draw in draws}
    assert {1, 1080, 2**63, 2**63 + 1, 2**64} <= {int(draw["bound"]) for draw in draws}
    assert len({deal["name"] for deal in deals}) == len({deal["key"] for deal in deals}) == len(deals)


def test_the_vectors_are_up_to_date() -> None:
    """If they are not, run `python -m tests.protocol.make_vectors`."""
    assert make_vectors.text() == make_vectors.PATH.read_text()


def test_the_vectors_have_every_message_and_code() -> None:
    """Each message and each code that a new conversation can meet has a vector."""
    assert set(MESSAGES) == {vector["message"]["type"] for vector in GOOD}
    assert set(Code) - {Code.WRONG_MATCH, Code.FLOOD, Code.NOT_READING} == {vector["code"] for vector in BAD}
    assert len({vector["name"] for vector in VECTORS}) == len(VECTORS)


@pytest.mark.parametrize("vector", GOOD, ids=lambda vector: str(vector["name"]))
def test_a_good_vector_round_trips(vector: dict[str, Any]) -> None:
    """The bytes are one frame of one message with these values; with all keys, encoding gives the same bytes."""
    accepted = FROM_PLAYER if vector["from"] == Role.PLAYER else FROM_REFEREE
    data = bytes.fromhex(vector["hex"])
    reader = FrameReader(limits.MAX_FRAME_FROM_PLAYER_BYTES)
    reader.receive_data(data)
    body = reader.next_frame()
    assert body is not None
    assert not reader.pending_bytes
    message = decode(body, accepted)
    plain = msgspec.to_builtins(message)
    assert vector["message"] == msgpack.unpackb(body)
    assert vector["message"].items() <= plain.items()
    unusual = {name for name, *_ in OTHER_FORMS} | {"offer with whole milliseconds as integers"}
    if set(plain) == set(vector["message"]) and vector["name"] not in unusual:
        assert data == encode_frame(encode(message), limits.MAX_FRAME_FROM_PLAYER_BYTES)


def test_the_good_vectors_have_every_form() -> None:
    """Each form of msgpack that this protocol allows is in a message of the referee."""
    found: set[int] = set()
    for vector in GOOD:
        if vector["from"] == Role.REFEREE:
            found |= first_bytes(bytes.fromhex(vector["hex"])[limits.PREFIX_BYTES :])
    kinds = {0x80 if byte < 0x90 else 0x90 if byte < 0xA0 else 0xA0 for byte in found if 0x80 <= byte < 0xC0}
    kinds |= {0x00 if byte < 0x80 else 0xE0 for byte in found if byte < 0x80 or byte >= 0xE0}
    wanted = {0x00, 0x80, 0x90, 0xA0, 0xC0, 0xC2, 0xC3, *range(0xCA, 0xD4), *range(0xD9, 0xE0), 0xE0}
    assert wanted == kinds | {byte for byte in found if 0xC0 <= byte < 0xE0}
    assert any(not vector["message"].get("reason", "").isascii() for vector in GOOD)


def first_bytes(body: bytes) -> set[int]:
    """Return the first byte of each value in a body, nested ones too."""
    unpacker = msgpack.Unpacker()
    unpacker.feed(body)
    found, waiting = set(), 1
    while waiting:
        first = body[unpacker.tell()]
        found.add(first)
        waiting -= 1
        if 0x80 <= first < 0x90 or first in (0xDE, 0xDF):
            waiting += 2 * unpacker.read_map_header()
        elif 0x90 <= first < 0xA0 or first in (0xDC, 0xDD):
            waiting += unpacker.read_array_header()
        else:
            unpacker.skip()
    return found


def test_no_vector_is_there_twice() -> None:
    """An unusual encoding differs from the usual one."""
    assert len({vector["hex"] for vector in VECTORS if "message" in vector}) == len(GOOD)


@pytest.mark.parametrize("vector", CONVERSATIONS, ids=lambda vector: str(vector["name"]))
def test_a_conversation_is_one(vector: dict[str, Any]) -> None:
    """Both sides can send its lines in this order; a last line with a code is refused with that code."""
    pair = ConnectionPair()
    *lines, last = vector["lines"]
    for line in [*lines, last] if "message" in last else lines:
        assert bytes.fromhex(line["hex"])[limits.PREFIX_BYTES :] == msgpack.packb(line["message"])
        pair.send(Role(line["from"]), typed(line["message"]))
    if "code" in last:
        with pytest.raises(RemoteProtocolError) as caught:
            receive_all(pair.side(OTHER[Role(last["from"])]), bytes.fromhex(last["hex"]), 65_536)
        assert last["code"] == caught.value.code


def test_the_conversations_have_every_message_and_code() -> None:
    """Each message is in a conversation, and so is each code that a new conversation can't meet."""
    lines = [line for vector in CONVERSATIONS for line in vector["lines"]]
    assert set(MESSAGES) == {line["message"]["type"] for line in lines if "message" in line}
    assert {Code.WRONG_MATCH, Code.OUT_OF_TURN} == {line["code"] for line in lines if "code" in line}


@pytest.mark.parametrize("vector", BAD, ids=lambda vector: str(vector["name"]))
def test_a_bad_vector_is_refused(vector: dict[str, Any]) -> None:
    """A new conversation refuses the bytes with this code, which is not among the other codes that fit."""
    with pytest.raises(RemoteProtocolError) as caught:
        receive_all(Connection(OTHER[Role(vector["from"])]), bytes.fromhex(vector["hex"]), 65_536)
    assert vector["code"] == caught.value.code
    assert caught.value.code not in vector.get("also", ())


ABOUT_A_VALUE = list(Code)[list(Code).index(Code.NOT_MSGPACK) : list(Code).index(Code.NOT_A_MAP)]


def test_codes_that_fit_as_well_are_of_the_same_step() -> None:
    """A wrong value is found before any message is looked for; each name is in use."""
    both = {vector["name"]: {vector["code"], *vector["also"]} for vector in BAD if "also" in vector}
    assert set(both) == set(ALSO)
    for name, codes in both.items():
        assert codes <= set(ABOUT_A_VALUE), name
