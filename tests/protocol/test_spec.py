"""SPEC.md: its content follows from the code, or from SHA-256 alone where it says so."""

import copy
import hashlib
import json
import random
import re
import tomllib
import typing
from typing import Any

import msgspec
import pytest

from protocol import Code, ConnectionState, limits
from protocol.client import COME_BACK_S, RETRY_S
from protocol.connection import TRANSITIONS
from protocol.decoding import decode
from protocol.frames import FrameReader
from protocol.messages import FROM_PLAYER, FROM_REFEREE, End
from referee import builtin, chance
from referee.games.q import tiles as q_tiles
from referee.games.q.forms import Exchange, Pass, Place
from referee.games.q.game import QGame
from referee.match.fouls import Cause
from referee.match.timekeeper import MIN_LEFT_MS
from referee.plugins import load
from referee.programs.limits import PATIENCE_S
from referee.programs.player_spec import PlayerToml
from referee.record.hidden_fields import hide, reveal
from referee.record.schema import encode_line
from referee.testing.seats import plain

from . import make_spec, make_vectors
from .redone import redone
from .situations import sender_of
from .tables import NONCES, SEED
from .worked_turns import shuffle_of_seed

TEXT = make_spec.PATH.read_text()
FILE: dict[str, Any] = json.loads(make_vectors.PATH.read_text())
VECTORS: list[dict[str, Any]] = FILE["messages"]
CHANCE: dict[str, list[dict[str, Any]]] = FILE["chance"]
MESSAGES = {**FROM_PLAYER, **FROM_REFEREE}


def section(name: str) -> str:
    """Return the text under a heading, up to the next one of any level."""
    found = re.search(rf"^##+ {re.escape(name)}\n(.*?)(?=^##|\Z)", TEXT, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def first_column(text: str) -> list[str]:
    """Return the words in back quotes in the first column of the tables of a text."""
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def test_the_parts_made_from_the_code_are_up_to_date() -> None:
    """If they are not, run `python -m tests.protocol.make_spec`."""
    assert make_spec.fill(TEXT) == TEXT


def test_every_part_is_used() -> None:
    """SPEC.md shows all parts that are made."""
    for name in make_spec.PARTS:
        assert f"<!-- part: {name} -->" in TEXT


def test_every_state_is_explained_by_the_table() -> None:
    states = section("The conversation")
    assert set(ConnectionState) == {state for state in ConnectionState if f"`{state}`" in states}


def test_the_diagram_has_every_message_and_every_state() -> None:
    """The diagram of the states has everything that the table has."""
    diagram = next(block for block in re.findall(r"```text\n(.*?)```", TEXT, re.DOTALL) if "[ greeted ]" in block)
    arrows = {f"{trigger} >" if sender_of(trigger) == "player" else f"< {trigger}" for _, trigger in TRANSITIONS}
    assert [arrow for arrow in arrows if arrow not in diagram] == []
    assert [state for state in ConnectionState if state not in diagram] == []


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
    """The time that a client tries, and the least rest of a turn, are those of the code."""
    text = section("Coming back")
    assert "comes back by itself, for a minute" in text
    assert COME_BACK_S == 60
    assert "every 50 ms" in text
    assert RETRY_S == 0.05
    assert "at least a second" in text
    assert MIN_LEFT_MS == 1000


def test_the_patience_with_programs_holds() -> None:
    """The time that a launched program has to end by itself is that of the code."""
    assert "has 2 seconds for that" in section("Launched programs")
    assert PATIENCE_S == 2


def test_the_keys_of_player_toml_are_described() -> None:
    """The example of a player.toml has every key, and names the optional ones."""
    found = re.search(r"```toml\n(.*?)```", section("Launched programs"), re.DOTALL)
    assert found is not None
    assert set(tomllib.loads(found[1])) == {field.name for field in msgspec.structs.fields(PlayerToml)}
    for field in msgspec.structs.fields(PlayerToml):
        assert bool(re.search(rf"^{field.name} = .*# optional", found[1], re.MULTILINE)) is not field.required


def test_the_ranges_of_values_are_the_schemas() -> None:
    """The ranges above the referee's messages are those of their types."""
    text = section("Messages of the referee")
    schema = msgspec.json.schema(End)["$defs"]["End"]["properties"]
    seat, count, head = schema["winners"]["items"], schema["ack"]["anyOf"][0], schema["head"]
    assert (seat["minimum"], seat["maximum"]) == (0, 11)
    assert "A seat is an integer from 0 to 11" in " ".join(text.split())
    assert (count["minimum"], count["maximum"]) == (0, 2**53)
    assert "from 0 to 2^53" in text
    assert "[0-9a-f]{64}" in head["pattern"]
    assert "hex digits are in lower case" in text


def test_every_limit_is_in_the_table() -> None:
    """The table has all limits in bytes, items, levels and characters."""
    named = {name for name in vars(limits) if name.startswith("MAX_") or name.endswith("_BYTES")}
    assert sorted(getattr(limits, name) for name in named) == sorted(number for _, number, *_ in make_spec.LIMITS)


@pytest.mark.parametrize("name", MESSAGES)
def test_every_key_is_described_and_shown(name: str) -> None:
    """Each message has a section with its keys in order, marks optional ones, and has an example."""
    text = section(name)
    fields = msgspec.structs.fields(MESSAGES[name])
    assert [field.name for field in fields] == first_column(text)
    for field in fields:
        assert field.required is (f"| `{field.name}` | optional: " not in text)
    assert f'"type": "{name}"' in text


def test_the_short_client_names_the_limits_of_a_decoder() -> None:
    """It has their numbers, and where they apply."""
    text = section("A client in short")
    assert f"as many as they say, 1 to {limits.MAX_FRAME_FROM_REFEREE_BYTES};" in text
    words = " ".join(text.split())
    assert f"{limits.MAX_DEPTH} nested levels of arrays and maps" in words
    assert f"strings of {limits.MAX_STRING_BYTES} bytes" in words
    assert f"arrays of {limits.MAX_ITEMS} items, and maps of {limits.MAX_ITEMS} pairs" in words


def test_every_code_is_described() -> None:
    """The codes stand in the order of the code."""
    assert list(Code) == first_column(section("Codes"))


def test_every_foul_is_described() -> None:
    """The causes of fouls stand in the order of the code."""
    assert list(Cause) == first_column(section("Fouls"))


GAMES = {"q": "The Q game", "quincy": "Quincy", "quincala": "Quincala Mixing", "quadominos": "Quad-Ominos"}
"""The section of each game."""


def test_every_game_has_its_section() -> None:
    """Every built-in game has one."""
    assert set(GAMES) == {game.name for game in builtin.referee_games()}


@pytest.mark.parametrize(("name", "heading"), GAMES.items())
def test_the_view_of_a_game_is_described(name: str, heading: str) -> None:
    """Each key of a view of the game has its row, in the order of the keys."""
    keys = [field.name for field in msgspec.structs.fields(load().game(name).view_type)]
    assert keys == [key for key in first_column(section(heading)) if key in keys]


@pytest.mark.parametrize(("name", "heading"), GAMES.items())
def test_the_worked_turn_of_a_game_holds(name: str, heading: str) -> None:
    """The bytes decode to the messages, and the game judges the move in this view as the page says."""
    game, text = load().game(name), section(heading)
    worked = re.search(r"<!-- part: game: .*?<!-- end of part -->", text, re.DOTALL)
    assert worked is not None
    view, move, told = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", worked[0], re.DOTALL))
    move_bytes, told_bytes = (bytes.fromhex(block) for block in re.findall(r"```text\n(.*?)```", worked[0], re.DOTALL))
    move_message = decode(one_body(move_bytes, limits.MAX_FRAME_FROM_PLAYER_BYTES), FROM_PLAYER)
    told_message = decode(one_body(told_bytes, limits.MAX_FRAME_FROM_REFEREE_BYTES), FROM_REFEREE)
    assert msgspec.to_builtins(move_message) == move
    assert msgspec.to_builtins(told_message) == told
    shown = msgspec.convert(view, game.view_type, strict=True)
    before = game.imagine(game.parse_options({}), shown, shuffle_of_seed())
    after = game.play(before, game.parse_move(move["move"]))
    assert {"kind": "played", **plain(game.news(after).public)} == told["what"]


def one_body(data: bytes, limit_bytes: int) -> bytes:
    """Return the body of bytes that are one frame."""
    reader = FrameReader(limit_bytes)
    reader.receive_data(data)
    body = reader.next_frame()
    assert body is not None
    assert reader.is_empty
    return body


@pytest.mark.parametrize(("name", "heading"), GAMES.items())
def test_the_moves_and_options_of_a_game_are_named(name: str, heading: str) -> None:
    """Every form of a move and every option is named."""
    game = load().game(name)
    for variant in typing.get_args(game.move_type):
        assert variant.__struct_config__.tag in section(heading)
    for option in msgspec.structs.fields(game.options_type):
        assert f"`{option.name}`" in section(heading)


def test_every_event_of_quadominos_is_described() -> None:
    """The table has each event of the rules with all its fields."""
    described = dict(re.findall(r"^\| `\"([\w-]+)\"` \| (.*?)\| ", section("Quad-Ominos"), re.MULTILINE))
    game, source = load().game("quadominos"), random.Random(1)
    told: dict[str, set[str]] = {}
    for _ in range(3):
        state = game.new(game.parse_options({"rounds": 1}), 2, chance.Dealer(source.randbytes(32)))
        while game.outcome(state) is None:
            state = game.play(state, source.choice(game.legal_moves(state)))
            for event in game.news(state).public["events"]:
                told.setdefault(event["event"], set()).update(event.keys() - {"event"})
            state = game.deliver(state)
    assert told.keys() <= described.keys()
    assert {"dealt", "laid", "bonus", "drew", "went-out"} <= told.keys()
    for event, keys in told.items():
        assert set(re.findall(r"`(\w+)`", described[event])) == keys


def test_the_moves_of_q_are_moves() -> None:
    """SPEC.md shows a move of each of the three kinds."""
    shown = re.findall(r'^\{"action".*$', section("The Q game"), re.MULTILINE)
    assert [Pass, Exchange, Place] == [type(QGame().parse_move(json.loads(line))) for line in shown]


@pytest.mark.parametrize("nonces", [[], [None], [None, None], NONCES, [NONCES[0], None, NONCES[1]]])
def test_the_shuffle_can_be_redone(nonces: list[str | None]) -> None:
    """The description in SPEC.md gives the referee's own shuffle, even of a whole deck."""
    for number, size in ((7, 5), (7, 10), (8, 1080), (9, 0), (10, 1)):
        seed = hashlib.sha256(str(number).encode()).digest()
        items = list(range(size))
        assert redone(seed, nonces, items) == chance.Stream(chance.shuffle_key(seed, nonces)).shuffled(items)


def test_the_examples_of_the_shuffle_hold() -> None:
    """Following SPEC.md gives both examples."""
    text = section("Worked examples")
    assert hashlib.sha256(b"7").digest() == SEED
    assert f"commitment  {hashlib.sha256(SEED).hexdigest()}" in text
    assert "after       " + " ".join(redone(SEED, [*NONCES], list("ABCDE"))) in text
    assert "after       " + " ".join(map(str, redone(SEED, [None, None], list(range(10))))) in text


def test_a_hidden_field_is_hidden_as_described() -> None:
    """Salt and value of the example give its hash, also for the record's own reader."""
    found = re.search(r'^salt +(\w+)\nvalue +"(\w+)"\nhash +(\w+)$', section("The record"), re.MULTILINE)
    assert found is not None
    salt, value, hidden = found.groups()
    assert SEED.hex() == value
    assert hashlib.sha256(f'{salt}"{value}"'.encode()).hexdigest() == hidden
    line: dict[str, Any] = {"seed": {"hidden": hidden}}
    reveal(line, {"seed": [salt, value]})
    assert line == {"seed": value}


LINES: tuple[dict[str, Any], ...] = (
    {"n": 9, "kind": "result", "result": {"fouls": []}, "seed": SEED.hex(), "nonces": NONCES},
    {"n": 9, "kind": "result", "result": {"fouls": [{"seat": 0, "detail": "{,"}]}, "seed": SEED.hex(), "nonces": []},
    {"n": 1, "kind": "step", "event": {"event": "match-opened", "at_ms": 0.0}, "commands": []},
    {"n": 10, "kind": "seal", "signature": "00"},
)


@pytest.mark.parametrize("line", LINES)
def test_a_core_is_cut_out_as_described(line: dict[str, Any]) -> None:
    """The description of the core in SPEC.md gives the hash of the record's writer."""
    core = copy.deepcopy(line)
    opened = hide(core)
    data, expected = encode_line(core, opened)
    before, comma, _ = data.decode().partition(',"open":')
    assert bool(opened) is bool(comma)
    assert hashlib.sha256((before + "}" * bool(comma)).encode()).hexdigest() == expected
    assert list(json.loads(data))[-1:] == (["open"] if opened else list(line)[-1:])


def words_of(section_name: str, before: str, after: str) -> list[str]:
    """Return the words of a list in a section between two phrases."""
    found = re.search(re.escape(before) + "(.*?)" + re.escape(after), section(section_name).replace("\n  ", " "))
    assert found is not None
    return found[1].split(", ")


def deck_of_q() -> list[str]:
    """Return the deck of Q before its shuffle, with the orders that SPEC.md gives."""
    shapes = words_of("Chance", "by shape, in the order ", ";")
    colours = words_of("Chance", "by colour, in the order ", ";")
    return [f"{colour}-{shape}" for shape in shapes for colour in colours for _ in range(30)]


def test_the_deck_of_q_is_the_games() -> None:
    """The order before the shuffle in SPEC.md is that of the rules."""
    assert [q_tiles.NAMES[tile] for tile in q_tiles.ALL_TILES] == deck_of_q()


def test_the_keys_of_the_vectors_are_described() -> None:
    """Each list under `chance` has its row, each key of its vectors is named, and there are no other rows."""
    text = section("Vectors of chance")
    rows = set(first_column(text))
    keys = {key for vectors in CHANCE.values() for vector in vectors for key in vector}
    assert set(CHANCE) <= rows <= set(CHANCE) | keys
    assert not [key for key in keys if f"`{key}`" not in text]
    assert not [key for vector in VECTORS for key in vector if f"| `{key}` |" not in section("Testing a client")]
