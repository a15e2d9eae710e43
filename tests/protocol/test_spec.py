"""SPEC.md and vectors.json: what they say follows from the code, and from SHA-256 alone where they say so."""

import copy
import hashlib
import json
import re
import typing
from collections.abc import Sequence
from typing import Any

import msgpack
import msgspec
import pytest

from protocol import Code, Connection, RemoteProtocolError, Role, State, limits
from protocol.client import COME_BACK_S
from protocol.decoding import decode
from protocol.frames import FrameReader, encode_frame
from protocol.messages import FROM_PLAYER, FROM_REFEREE, encode
from protocol.testing import ConnectionPair
from referee import chance
from referee.games import builtin, q_tiles
from referee.games.q import Exchange, Pass, Place, QGame
from referee.match.fouls import Cause
from referee.match.phases import MIN_LEFT_MS
from referee.net.launch.program import PATIENCE_S
from referee.plugins import load
from referee.record.schema import FORMAT, encode_line
from referee.record.veil import unveil, veil

from . import make_spec, make_vectors
from .other_forms import OTHER_FORMS
from .situations import OTHER, receive_all, typed
from .tables import NONCES, SEED, VIEW

TEXT = make_spec.PATH.read_text()
FILE: dict[str, Any] = json.loads(make_vectors.PATH.read_text())
VECTORS: list[dict[str, Any]] = FILE["messages"]
CONVERSATIONS: list[dict[str, Any]] = FILE["conversations"]
CHANCE: dict[str, list[dict[str, Any]]] = FILE["chance"]
GOOD = [vector for vector in VECTORS if "message" in vector]
BAD = [vector for vector in VECTORS if "code" in vector]
MESSAGES = {**FROM_PLAYER, **FROM_REFEREE}


def section(name: str) -> str:
    """Return what stands under a heading, up to the next one of any level."""
    found = re.search(rf"^##+ {re.escape(name)}\n(.*?)(?=^##|\Z)", TEXT, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def first_column(text: str) -> list[str]:
    """Return what the tables of a text have in back quotes in their first column."""
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def test_the_parts_made_from_the_code_are_up_to_date() -> None:
    """To make the parts of SPEC.md anew changes nothing: run `python -m tests.protocol.make_spec`."""
    assert make_spec.filled(TEXT) == TEXT


def test_every_part_is_used() -> None:
    """Nothing is made that SPEC.md does not show."""
    for name in make_spec.PARTS:
        assert f"<!-- part: {name} -->" in TEXT


def test_every_state_is_explained_by_the_table() -> None:
    """The table of states names each state."""
    states = section("The conversation")
    assert set(State) == {state for state in State if f"`{state}`" in states}


def test_every_section_is_listed() -> None:
    """The table of contents has the sections in their order."""
    listed = re.findall(r"^- \[(.+)\]\(#(.+)\)$", TEXT, re.MULTILINE)
    headings = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    assert [(heading, heading.lower().replace(" ", "-")) for heading in headings] == listed


def test_every_link_leads_somewhere() -> None:
    """Each link within SPEC.md is to one of its headings."""
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^##+ (.+)$", TEXT, re.MULTILINE)}
    assert set(re.findall(r"\]\(#(.+?)\)", TEXT)) <= headings


def test_the_times_of_coming_back_hold() -> None:
    """How long a client tries, and the least that is left of a turn, are those of the code."""
    text = section("Coming back")
    assert "comes back by itself, for a minute" in text
    assert COME_BACK_S == 60
    assert "at least a second" in text
    assert MIN_LEFT_MS == 1000


def test_the_patience_with_programs_holds() -> None:
    """How long a launched program has to end by itself is that of the code."""
    assert "has 2 seconds for that" in section("Addresses")
    assert PATIENCE_S == 2


def test_every_limit_is_in_the_table() -> None:
    """No limit in bytes, items, levels or characters is left out."""
    named = {name for name in vars(limits) if name.startswith("MAX_") or name.endswith("_BYTES")}
    assert sorted(getattr(limits, name) for name in named) == sorted(number for _, number, *_ in make_spec.LIMITS)


@pytest.mark.parametrize("name", MESSAGES)
def test_every_key_is_described_and_shown(name: str) -> None:
    """Each message has a section with its keys in their order, those that may be missing called so, and an example."""
    text = section(name)
    fields = msgspec.structs.fields(MESSAGES[name])
    assert [field.name for field in fields] == first_column(text)
    for field in fields:
        assert field.required is (f"| `{field.name}` | optional: " not in text)
    assert f'"type": "{name}"' in text


def test_every_code_is_described() -> None:
    """The codes stand in the order of the code."""
    assert list(Code) == first_column(section("Codes"))


def test_every_foul_is_described() -> None:
    """The causes of fouls stand in the order of the code."""
    assert list(Cause) == first_column(section("Fouls"))


GAMES = {"q": "The Q game", "quincy": "Quincy", "quincala": "Quincala Mixing", "quadominos": "Quad-Ominos"}
"""The section of each game."""


def test_every_game_has_its_section() -> None:
    """No game that is built in is left out."""
    assert set(GAMES) == {game.name for game in builtin.referee_games()}


@pytest.mark.parametrize(("name", "heading"), GAMES.items())
def test_the_view_of_a_game_is_described(name: str, heading: str) -> None:
    """Each key of a view of the game has its row, in its order."""
    keys = [field.name for field in msgspec.structs.fields(load().game(name).view_type)]
    assert keys == [key for key in first_column(section(heading)) if key in keys]


def test_the_view_of_q_is_a_view() -> None:
    """The example is one."""
    msgspec.convert(VIEW, QGame.view_type, strict=True)


@pytest.mark.parametrize(("name", "heading"), [pair for pair in GAMES.items() if pair[0] != "q"])
def test_the_turn_of_a_game_is_one(name: str, heading: str) -> None:
    """The view that SPEC.md shows has the form of one, and the move is legal in it; its forms are all named."""
    game = load().game(name)
    view, move, told = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", section(heading), re.DOTALL))
    shown = msgspec.convert(view, game.view_type, strict=True)
    imagined = game.imagine(game.parse_options({}), shown, chance.Dealer(SEED))
    assert game.play(imagined, game.parse_move(move)) != imagined
    assert told["kind"] == "played"
    for variant in typing.get_args(game.move_type):
        assert f"`{variant.__struct_config__.tag}`" in section(heading)
    for option in msgspec.structs.fields(game.options_type):
        assert f"`{option.name}`" in section(heading)


def test_the_moves_of_q_are_moves() -> None:
    """The three moves that SPEC.md shows are of the three kinds."""
    shown = re.findall(r'^\{"action".*$', section("The Q game"), re.MULTILINE)
    assert [Pass, Exchange, Place] == [type(QGame().parse_move(json.loads(line))) for line in shown]


class Redone:
    """The stream as SPEC.md says it, from SHA-256 alone."""

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
        """Return a number below a bound, and the words thrown away before it."""
        thrown_away = []
        while (word := self.word()) >= 2**64 // bound * bound:
            thrown_away.append(word)
        return word % bound, thrown_away


def redone(seed: bytes, nonces: Sequence[str | None], items: Sequence[Any]) -> list[Any]:
    """Shuffle as SPEC.md says, from SHA-256 alone."""
    stream = Redone(seed, nonces)
    result = list(items)
    for index in range(len(items) - 1, 0, -1):
        other, _ = stream.below(index + 1)
        result[index], result[other] = result[other], result[index]
    return result


@pytest.mark.parametrize("nonces", [[], [None], [None, None], NONCES, [NONCES[0], None, NONCES[1]]])
def test_the_shuffle_can_be_redone(nonces: list[str | None]) -> None:
    """What SPEC.md says in words gives the referee's own shuffle, of a whole deck too."""
    for number, size in ((7, 5), (7, 10), (8, 1080), (9, 0), (10, 1)):
        seed = hashlib.sha256(str(number).encode()).digest()
        items = list(range(size))
        assert redone(seed, nonces, items) == chance.Stream(chance.shuffle_key(seed, nonces)).shuffled(items)


def test_the_examples_of_the_shuffle_hold() -> None:
    """The two examples of SPEC.md come out when redone."""
    text = section("Chance")
    assert hashlib.sha256(b"7").digest() == SEED
    assert f"commitment  {hashlib.sha256(SEED).hexdigest()}" in text
    assert "after       " + " ".join(redone(SEED, [*NONCES], list("ABCDE"))) in text
    assert "after       " + " ".join(map(str, redone(SEED, [None, None], list(range(10))))) in text


def test_a_hidden_field_is_hidden_as_described() -> None:
    """Salt and value of the example open the hash of the example, to the record's own reader too."""
    found = re.search(r'^salt +(\w+)\nvalue +"(\w+)"\nhash +(\w+)$', section("The record"), re.MULTILINE)
    assert found is not None
    salt, value, veiled = found.groups()
    assert SEED.hex() == value
    assert hashlib.sha256(f'{salt}"{value}"'.encode()).hexdigest() == veiled
    line: dict[str, Any] = {"seed": {"veiled": veiled}}
    unveil(line, {"seed": [salt, value]})
    assert line == {"seed": value}


LINES: tuple[dict[str, Any], ...] = (
    {"n": 9, "kind": "result", "result": {"fouls": []}, "seed": SEED.hex(), "nonces": NONCES},
    {"n": 9, "kind": "result", "result": {"fouls": [{"seat": 0, "detail": "{,"}]}, "seed": SEED.hex(), "nonces": []},
    {"n": 1, "kind": "step", "event": {"event": "match-opened", "at_ms": 0.0}, "commands": []},
    {"n": 10, "kind": "seal", "signature": "00"},
)


@pytest.mark.parametrize("line", LINES)
def test_a_core_is_cut_out_as_described(line: dict[str, Any]) -> None:
    """What SPEC.md says of the core gives the hash that the record's writer puts into the chain."""
    core = copy.deepcopy(line)
    opened = veil(core, FORMAT)
    data, expected = encode_line(core, opened)
    before, comma, _ = data.decode().partition(',"open":')
    assert bool(opened) is bool(comma)
    assert hashlib.sha256((before + "}" * bool(comma)).encode()).hexdigest() == expected
    assert list(json.loads(data))[-1:] == (["open"] if opened else list(line)[-1:])


def words_of(section_name: str, before: str, after: str) -> list[str]:
    """Return the words of a list that stands in a section between two phrases."""
    found = re.search(re.escape(before) + "(.*?)" + re.escape(after), section(section_name).replace("\n  ", " "))
    assert found is not None
    return found[1].split(", ")


def deck_of_q() -> list[str]:
    """Return the deck of Q before its shuffle, with the orders that SPEC.md gives."""
    shapes = words_of("Chance", "by shape, in the order ", ";")
    colours = words_of("Chance", "by colour, in the order ", ";")
    return [f"{colour}-{shape}" for shape in shapes for colour in colours for _ in range(30)]


def digest(names: Sequence[str]) -> str:
    """Return the digest of a deck as the vectors have it."""
    return hashlib.sha256(" ".join(names).encode()).hexdigest()


def test_the_deck_of_q_is_the_games() -> None:
    """The order before the shuffle, as SPEC.md gives it, is that of the rules and of the vector."""
    deck = deck_of_q()
    assert [q_tiles.NAMES[tile] for tile in q_tiles.ALL_TILES] == deck
    assert CHANCE["decks"] == [{"game": "q", "tiles": len(deck), "sha256": digest(deck)}]


def test_the_vectors_of_seeds_hold() -> None:
    """Fixed and derived seeds are plain SHA-256."""
    for vector in CHANCE["seeds"]:
        assert hashlib.sha256(str(vector["number"]).encode("ascii")).hexdigest() == vector["seed"]
    for vector in CHANCE["derived"]:
        text = bytes.fromhex(vector["seed"]) + vector["purpose"].encode("utf-8")
        assert hashlib.sha256(text).hexdigest() == vector["derived"]


def test_the_vectors_of_seatings_hold() -> None:
    """Drawn seats are the sorted names, shuffled with the derived seed of their purpose as the key."""
    for vector in CHANCE["seatings"]:
        seed = bytes.fromhex(vector["seed"])
        assert redone(seed + b"seating", [], sorted(vector["names"])) == vector["seats"]


@pytest.mark.parametrize("vector", CHANCE["deals"], ids=lambda vector: str(vector["name"]))
def test_a_vector_of_a_deal_holds(vector: dict[str, Any]) -> None:
    """Each value of a deal comes out when redone as SPEC.md says, from SHA-256 alone."""
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
    deck, seats = redone(seed, nonces, deck_of_q()), len(nonces)
    hands = [deck[6 * seat : 6 * seat + 6] for seat in range(seats)]
    expected = {"sha256": digest(deck), "first": deck[:25], "hands": hands, "table": deck[6 * seats]}
    assert expected == vector["q"]


def test_the_vectors_of_deals_have_every_case() -> None:
    """Two to four seats, with and without nonces; words are thrown away, two in a row, and not; bounds of all sizes."""
    deals = CHANCE["deals"]
    assert {2, 3, 4} == {len(deal["nonces"]) for deal in deals}
    assert {"none", "some", "all"} == {
        "all" if all(deal["nonces"]) else "some" if any(deal["nonces"]) else "none" for deal in deals
    }
    draws = [draw for deal in deals for draw in deal["below"]]
    assert {0, 1, 2} <= {len(draw["thrown_away"]) for draw in draws}
    assert {1, 1080, 2**63, 2**63 + 1, 2**64} <= {int(draw["bound"]) for draw in draws}
    assert len({deal["name"] for deal in deals}) == len({deal["key"] for deal in deals}) == len(deals)


def test_the_keys_of_the_vectors_are_described() -> None:
    """Each key under `chance` that is not an input or a commitment has its row in SPEC.md."""
    described = set(first_column(section("Chance")))
    assert set(CHANCE) <= described
    assert {"name", "seed", "nonces", "commitment", "key"} | described - set(CHANCE) == set(CHANCE["deals"][0])


def test_the_vectors_are_up_to_date() -> None:
    """To make vectors.json anew changes nothing: run `python -m tests.protocol.make_vectors`."""
    assert make_vectors.text() == make_vectors.PATH.read_text()


def test_the_vectors_have_every_message_and_code() -> None:
    """Each message and each code that a new conversation can meet has a vector."""
    assert set(MESSAGES) == {vector["message"]["type"] for vector in GOOD}
    assert set(Code) - {Code.WRONG_MATCH, Code.FLOOD, Code.NOT_READING} == {vector["code"] for vector in BAD}
    assert len({vector["name"] for vector in VECTORS}) == len(VECTORS)


@pytest.mark.parametrize("vector", GOOD, ids=lambda vector: str(vector["name"]))
def test_a_good_vector_round_trips(vector: dict[str, Any]) -> None:
    """The bytes are one frame of one message with the values shown; with all keys there, it is encoded so again."""
    accepted = FROM_PLAYER if vector["from"] == Role.PLAYER else FROM_REFEREE
    data = bytes.fromhex(vector["hex"])
    reader = FrameReader(limits.MAX_FRAME_FROM_PLAYER_BYTES)
    reader.receive_data(data)
    body = reader.next_frame()
    assert body is not None
    assert not reader.pending_bytes
    message = decode(body, accepted)
    plain = msgspec.to_builtins(message)
    assert vector["message"].items() <= plain.items()
    unusual = {name for name, *_ in OTHER_FORMS} | {"offer with whole milliseconds as integers"}
    if set(plain) == set(vector["message"]) and vector["name"] not in unusual:
        assert data == encode_frame(encode(message), limits.MAX_FRAME_FROM_PLAYER_BYTES)


def test_no_vector_is_there_twice() -> None:
    """An unusual encoding is another one than the usual."""
    assert len({vector["hex"] for vector in VECTORS if "message" in vector}) == len(GOOD)


@pytest.mark.parametrize("vector", CONVERSATIONS, ids=lambda vector: str(vector["name"]))
def test_a_conversation_is_one(vector: dict[str, Any]) -> None:
    """Both sides can say its lines in this order; a last line with a code is refused with that code."""
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
    """Each message is said in one of them, and what a new conversation can't meet is refused in one."""
    lines = [line for vector in CONVERSATIONS for line in vector["lines"]]
    assert set(MESSAGES) == {line["message"]["type"] for line in lines if "message" in line}
    assert {Code.WRONG_MATCH, Code.OUT_OF_TURN} == {line["code"] for line in lines if "code" in line}


@pytest.mark.parametrize("vector", BAD, ids=lambda vector: str(vector["name"]))
def test_a_bad_vector_is_refused(vector: dict[str, Any]) -> None:
    """The bytes give a new conversation the code that stands there."""
    with pytest.raises(RemoteProtocolError) as caught:
        receive_all(Connection(OTHER[Role(vector["from"])]), bytes.fromhex(vector["hex"]), 65_536)
    assert vector["code"] == caught.value.code
