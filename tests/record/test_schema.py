"""Lines: every event and command as it is in a record, digests of views, and invalid lines."""

import hashlib
import json
from copy import deepcopy
from typing import Any, get_args

import msgspec
import pytest

from referee.match import commands as c
from referee.match import events as e
from referee.match.fouls import Cause, Foul
from referee.record.hidden_fields import HASH_KEY, OPEN, hide
from referee.record.schema import (
    FIRST_PREV,
    FORMAT,
    BadLine,
    Header,
    ResultLine,
    SealLine,
    Transition,
    encode_line,
    line_hash,
    parse_line,
    plain_json,
    read_line,
)

from ..match.folding import (
    PASS,
    acked,
    failed,
    lost,
    moved,
    opened,
    overdue,
    packed,
    ready,
    resumed,
    revealed,
    setup_of,
    view_of,
)
from .forging import SALT, ZEROS, Line, digest, encoded, line_bytes
from .records import STORIES, tell

EVENTS: tuple[e.AnyEvent, ...] = (
    opened(),
    ready(0, 1.25),
    moved(1, 7, PASS, 2.0),
    acked(2, 3, 1e9),
    overdue(3, 1001.0, sent=0.5, lag=0.125, pending="00ff"),
    e.ProtocolBroken(seat=0, at_ms=0.001, code="bad-frame", detail='"\\\n\u2028\U0001f600', evidence="c1"),
    lost(0, 0.1),
    e.ProgramExited(seat=0, at_ms=86_399_999.999, status="signal SIGKILL"),
    e.SeatVacant(seat=11, at_ms=3.0, detail=""),
    e.SeatReturned(seat=1, at_ms=3.0, gone_ms=1.5),
    resumed(4.0),
    failed(4.0),
    revealed(0, 2.5),
)
VIEW = view_of(tell("clean").match, 0)
FOUL = Foul(seat=1, cause=Cause.FLOOD, at_ms=1.5, turn=2, code="flood", detail="so", evidence="c1")
RESULT = c.Result(
    winners=(0,), ranking=((0,), (1,)), scores=(3, 4), fouls=(FOUL,), reason="r", void=None, turns=2, used_ms=(0.5, 1.0)
)
END: Any = {"winners": (0,), "ranking": ((0,), (1,)), "scores": (3, 4), "void": None}
COMMANDS: tuple[tuple[c.Command, dict[str, Any]], ...] = (
    (c.OfferMatch(seat=0, limit_ms=5.0), {"command": "offer-match", "seat": 0, "limit_ms": 5.0}),
    (
        c.StartSeat(seat=0, view=packed(VIEW), ack=1, limit_ms=5.0),
        {"command": "start-seat", "seat": 0, "view": "DIGEST", "ack": 1, "limit_ms": 5.0},
    ),
    (
        c.AskMove(seat=0, turn=3, view=packed(VIEW), limit_ms=5.0),
        {"command": "ask-move", "seat": 0, "turn": 3, "view": "DIGEST", "limit_ms": 5.0},
    ),
    (c.ExtendLimit(seat=0, limit_ms=5.0), {"command": "extend-limit", "seat": 0, "limit_ms": 5.0}),
    (
        c.ResumeSeat(seat=0, turn=3, view=packed(VIEW)),
        {"command": "resume-seat", "seat": 0, "turn": 3, "view": "DIGEST"},
    ),
    (c.ResumeSeat(seat=0, turn=0, view=None), {"command": "resume-seat", "seat": 0, "turn": 0, "view": None}),
    (
        c.TellSeat(seat=0, turn=3, what={"kind": "played", "tiles": ((0, 1, "t"),)}, draws=("t",), ack=2, limit_ms=5.0),
        {
            "command": "tell-seat",
            "seat": 0,
            "turn": 3,
            "what": {"kind": "played", "tiles": [[0, 1, "t"]]},
            "draws": ["t"],
            "ack": 2,
            "limit_ms": 5.0,
        },
    ),
    (
        c.ExpelSeat(seat=1, foul=FOUL),
        {
            "command": "expel-seat",
            "seat": 1,
            "foul": {
                "seat": 1,
                "cause": "flood",
                "at_ms": 1.5,
                "turn": 2,
                "rule": None,
                "code": "flood",
                "detail": "so",
                "evidence": "c1",
                "ending": None,
            },
        },
    ),
    (
        c.EndSeat(seat=0, ack=None, limit_ms=None, **END),
        {
            "command": "end-seat",
            "seat": 0,
            "winners": [0],
            "ranking": [[0], [1]],
            "scores": [3, 4],
            "void": None,
            "ack": None,
            "limit_ms": None,
        },
    ),
    (c.CloseMatch(result=RESULT), {"command": "close-match", "result": json.loads(msgspec.json.encode(RESULT))}),
    (c.AskNonce(seat=0, limit_ms=5.0), {"command": "ask-nonce", "seat": 0, "limit_ms": 5.0}),
)


def step_line(event: Any, commands: Any = ()) -> Line:
    """Return the plain line of a transition."""
    return {"n": 1, "prev": ZEROS, "kind": "step", "event": event, "commands": list(commands)}


def step_of(event: Any, commands: Any = ()) -> bytes:
    """Return the bytes of a transition's line, with every hidden value salted with the forger's salt."""
    return line_bytes(step_line(event, commands))


def line_of(data: bytes) -> Any:
    """Read a line to its end."""
    return parse_line(read_line(data))


def test_the_first_line_follows_zeros() -> None:
    """Its `prev` is 64 zeros, and the format is the first one."""
    assert FIRST_PREV == ZEROS == "0" * 64
    assert FORMAT == 1
    assert line_hash(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_is_read_as_it_was_written(event: e.AnyEvent) -> None:
    """Every event that is read is equal to the written one, down to the last bit of its instants."""
    core = step_line(msgspec.to_builtins(event))
    entries = hide(core)
    data, found = encode_line(core, entries)
    assert found == digest(encoded(core))
    assert line_of(data) == Transition(n=1, prev=ZEROS, event=event, told=msgspec.Raw(b"[]"))
    assert read_line(data).hash == found
    assert read_line(step_of(msgspec.to_builtins(event))).fields == read_line(data).fields


def test_every_event_is_tried() -> None:
    """The table above has a row for each kind of event."""
    assert {type(event) for event in EVENTS} == set(get_args(e.AnyEvent))


@pytest.mark.parametrize(("command", "plain"), COMMANDS, ids=lambda row: type(row).__name__)
def test_a_command_in_a_line(command: c.Command, plain: dict[str, Any]) -> None:
    """Every command has its name and all its fields; a view is the SHA-256 of its msgpack bytes."""
    shown = hashlib.sha256(msgspec.msgpack.encode(VIEW)).hexdigest()
    expected = [{key: shown if value == "DIGEST" else value for key, value in plain.items()}]
    assert json.loads(plain_json((command,))) == expected
    core = step_line(msgspec.to_builtins(opened()), json.loads(plain_json((command,))))
    assert line_of(encode_line(core, hide(core))[0]).commands == expected


def test_every_command_is_tried() -> None:
    """The table above has a row for each kind of command, and each occurs in the stories."""
    tried = {type(command) for command, _ in COMMANDS}
    given = {type(command) for name in STORIES for _, commands in tell(name).steps for command in commands}
    assert tried == given == {*c.SeatCommand.__subclasses__(), c.CloseMatch}


def test_header_result_and_seal_are_lines() -> None:
    """First and last lines are read as they were written, whatever names and a result contain."""
    setup = setup_of(2, names=("\u00fc \u2028", "\x7f"), options={"q_bonus": 0}, position={"any": [1, None, 1.5]})
    header = Header(
        n=0,
        prev=ZEROS,
        format=FORMAT,
        referee="0",
        opened="",
        key="0f" * 32,
        setup=setup,
        locked_seed="any",
        seed="0f" * 32,
        programs=["\u00fc", ""],
    )
    result = ResultLine(n=2, prev=ZEROS, result=RESULT, seed="0f" * 32, nonces=["aa", None])
    seal = SealLine(n=3, prev=ZEROS, signature="0f" * 64)
    for line in (header, result, seal):
        plain = json.loads(msgspec.json.encode(line))
        fields = {"n": plain["n"], "prev": plain["prev"], **plain}
        assert line_of(line_bytes(fields)) == line


# --- hidden fields

HIDDEN_CASES: tuple[tuple[str, Line, dict[str, Any]], ...] = (
    ("a move", step_line(msgspec.to_builtins(EVENTS[2])), {"event.move": PASS}),
    ("bytes", step_line(msgspec.to_builtins(EVENTS[4])), {"event.pending": "00ff"}),
    (
        "what broke the protocol",
        step_line(msgspec.to_builtins(EVENTS[5])),
        {"event.detail": '"\\\n\u2028\U0001f600', "event.evidence": "c1"},
    ),
    ("why a connection ended", step_line(msgspec.to_builtins(EVENTS[6])), {"event.detail": "gone"}),
    (
        "a view and draws",
        step_line({"event": "match-opened", "at_ms": 0.0}, [COMMANDS[2][1], COMMANDS[6][1]]),
        {
            "commands.0.view": "DIGEST",
            "commands.1.draws": ["t"],
        },
    ),
    (
        "a foul",
        step_line({"event": "match-opened", "at_ms": 0.0}, [COMMANDS[7][1]]),
        {
            "commands.0.foul.detail": "so",
            "commands.0.foul.evidence": "c1",
        },
    ),
)


@pytest.mark.parametrize(("line", "hidden"), [row[1:] for row in HIDDEN_CASES], ids=[row[0] for row in HIDDEN_CASES])
def test_what_concerns_one_seat_is_not_in_the_core(line: Line, hidden: dict[str, Any]) -> None:
    """The core has the salted hash, `open` the salt and the value; all salts differ."""
    core = deepcopy(line)
    entries = hide(core)
    assert {path: value for path, (_, value) in entries.items()} == hidden
    assert len({salt for salt, _ in entries.values()}) == len(entries)
    data, found = encode_line(core, entries)
    plain = json.loads(data)
    assert plain.pop(OPEN, {}) == entries
    assert digest(encoded(plain)) == found
    for salt, value in entries.values():
        assert encoded({HASH_KEY: digest(salt.encode() + encoded(value))}) in encoded(core)
    assert read_line(data).fields == line
    assert set(read_line(data).opened) == set(hidden)


MOVED = step_of(msgspec.to_builtins(EVENTS[2]))
ENTRY = encoded({"event.move": [SALT, PASS]})
BROKEN = step_of(msgspec.to_builtins(EVENTS[5]))


def with_entry(**entries: Any) -> bytes:
    """Return the line of a move with other entries in `open`."""
    return MOVED.replace(ENTRY, encoded({key.replace("__", "."): value for key, value in entries.items()}))


def turned(data: bytes) -> bytes:
    """Return a line with the entries of `open` the other way round."""
    plain = json.loads(data)
    return encoded({**plain, OPEN: dict(reversed(plain[OPEN].items()))})


BADLY_HIDDEN: tuple[tuple[str, bytes], ...] = (
    ("another value", with_entry(event__move=[SALT, {"action": "exchange"}])),
    ("another salt", with_entry(event__move=["00" * 16, PASS])),
    ("a salt that is none", with_entry(event__move=[None, PASS])),
    ("no salt", with_entry(event__move=[PASS])),
    ("no entry", with_entry(event__move=[])),
    ("an entry that is none", with_entry(event__move="none")),
    ("too long an entry", with_entry(event__move=[SALT, PASS, 1, 2])),
    ("a view where none is", with_entry(event__move=[SALT, PASS, {}])),
    ("still hidden", MOVED.replace(b',"open":' + ENTRY, b"")),
    ("nothing opened", with_entry()),
    ("open that is null", MOVED.replace(ENTRY, b"null")),
    ("open that is an array", MOVED.replace(ENTRY, b"[]")),
    ("open that is a text", MOVED.replace(ENTRY, b'"x"')),
    ("another field", with_entry(event__turn=[SALT, 7])),
    ("no field", with_entry(event__none=[SALT, 7])),
    ("the way to no field", with_entry(event__none__none=[SALT, 7])),
    ("a place in no array", with_entry(commands__0__view=[SALT, 7])),
    ("a number that is none", with_entry(commands__x__view=[SALT, 7])),
    ("an array", with_entry(commands=[SALT, []])),
    ("the event", with_entry(event=[SALT, {}])),
    ("no path", MOVED.replace(b"event.move", b"")),
    ("a move that stands there openly", encoded(step_line(msgspec.to_builtins(EVENTS[2])))),
    ("open before the rest", MOVED.replace(b',"open":' + ENTRY, b"").replace(b"{", b'{"open":' + ENTRY + b",", 1)),
    ("open twice", MOVED[:-1] + b',"open":' + ENTRY + b"}"),
    ("entries in another order", turned(BROKEN)),
)


@pytest.mark.parametrize("data", [row[1] for row in BADLY_HIDDEN], ids=[row[0] for row in BADLY_HIDDEN])
def test_a_hidden_field_that_is_not_what_it_should_be(data: bytes) -> None:
    """`open` must have exactly the values behind the hashes of the core, in their order."""
    assert isinstance(line_of(MOVED), Transition)
    assert isinstance(line_of(BROKEN), Transition)
    with pytest.raises(BadLine, match=r"."):
        line_of(data)


MOVES: tuple[Any, ...] = (
    {HASH_KEY: "none"},
    {HASH_KEY: "0" * 64},
    {"action": {HASH_KEY: None}},
    [{HASH_KEY: 1}],
    {OPEN: {}},
    {OPEN: {"event.move": ["", ""]}},
)


@pytest.mark.parametrize("move", MOVES, ids=repr)
def test_a_move_that_looks_hidden_is_a_move(move: Any) -> None:
    """A player that sends something like a record's own hashes spoils no record."""
    event = {**msgspec.to_builtins(EVENTS[2]), "move": move}
    assert msgspec.to_builtins(line_of(step_of(event)).event) == event


# # --- invalid lines

OPENED = step_of({"event": "match-opened", "at_ms": 0.0})
EVENT = b'"event":{"event":"match-opened","at_ms":0.0}'
BAD: tuple[tuple[str, bytes], ...] = (
    ("nothing", b""),
    ("only a space", b" "),
    ("null", b"null"),
    ("a number", b"1"),
    ("an array", b"[]"),
    ("no kind", b"{}"),
    ("half a line", OPENED[:-9]),
    ("two lines in one", OPENED + OPENED),
    ("binary", bytes(range(256))),
    ("a byte order mark", b"\xef\xbb\xbf" + OPENED),
    ("utf-16", OPENED.decode().encode("utf-16")),
    ("no utf-8 in a key", OPENED.replace(b'"n"', b'"\xff"')),
    ("no utf-8 in a value", OPENED.replace(b"match-opened", b"match-\xffopened")),
    ("no utf-8 in a command", OPENED.replace(b"[]", b'[{"command":"\xc3"}]')),
    ("half a surrogate pair", OPENED.replace(b"[]", b'[{"command":"\\ud800"}]')),
    ("surrogates the wrong way round", OPENED.replace(b"[]", b'[{"command":"\\udc00\\ud800"}]')),
    ("a bare line feed in a string", OPENED.replace(b"match-opened", b"match\nopened")),
    ("not a number", OPENED.replace(b'"at_ms":0.0', b'"at_ms":NaN')),
    ("infinity", OPENED.replace(b'"at_ms":0.0', b'"at_ms":Infinity')),
    ("a float beyond all", OPENED.replace(b'"at_ms":0.0', b'"at_ms":1e400')),
    ("a huge instant", OPENED.replace(b'"at_ms":0.0', b'"at_ms":' + b"9" * 5000)),
    ("a huge number of a line", OPENED.replace(b'"n":1', b'"n":' + b"9" * 5000)),
    ("a huge number in a command", OPENED.replace(b"[]", b'[{"limit_ms":' + b"9" * 5000 + b"}]")),
    ("nested deeply", OPENED.replace(b"[]", b'[{"what":' + b"[" * 100_000 + b"]" * 100_000 + b"}]")),
    ("nested without an end", b"[" * 100_000),
    ("a move nested deeply", step_of(msgspec.to_builtins(EVENTS[2])).replace(b'"pass"', b"[" * 9999 + b"]" * 9999)),
    ("a huge instant that is an integer", OPENED.replace(b'"at_ms":0.0', b'"at_ms":' + b"9" * 400)),
    ("a space", OPENED.replace(b":", b": ", 1)),
    ("a space behind", OPENED + b" "),
    ("a longer zero", OPENED.replace(b'"at_ms":0.0', b'"at_ms":0.00')),
    ("an escape that need not be", OPENED.replace(b"match-opened", b"\\u006datch-opened")),
    ("a key twice", OPENED.replace(b'"n":1', b'"n":1,"n":1')),
    ("a line's number as a float", OPENED.replace(b'"n":1', b'"n":1.0')),
    ("a line's number as a string", OPENED.replace(b'"n":1', b'"n":"1"')),
    ("a line's number as a truth", OPENED.replace(b'"n":1', b'"n":true')),
    ("no number", OPENED.replace(b'"n":1,', b"")),
    ("no hash", OPENED.replace(b'"prev":"' + ZEROS.encode() + b'",', b"")),
    ("an unknown kind", OPENED.replace(b'"step"', b'"epilogue"')),
    ("an unknown key", OPENED.replace(b"{", b'{"extra":1,', 1)),
    ("an unknown key of the event", OPENED.replace(b'"at_ms"', b'"extra":1,"at_ms"')),
    ("an unknown event", OPENED.replace(b"match-opened", b"match-closed")),
    ("no event", OPENED.replace(EVENT + b",", b"")),
    ("an event that is null", OPENED.replace(EVENT, b'"event":null')),
    ("an instant as a string", OPENED.replace(b'"at_ms":0.0', b'"at_ms":"0.0"')),
    ("no instant", OPENED.replace(b',"at_ms":0.0', b"")),
    ("no commands", OPENED.replace(b',"commands":[]', b"")),
    ("commands that are none", OPENED.replace(b"[]", b"{}")),
    ("a command that is none", OPENED.replace(b"[]", b"[1]")),
    ("a seat that is no integer", step_of({**msgspec.to_builtins(EVENTS[6]), "seat": 0.5})),
)


@pytest.mark.parametrize("body", [row[1] for row in BAD], ids=[row[0] for row in BAD])
def test_a_body_that_is_no_line(body: bytes) -> None:
    """All other bytes are refused with a reason."""
    assert isinstance(line_of(OPENED), Transition)
    with pytest.raises(BadLine, match=r"."):
        line_of(body)
