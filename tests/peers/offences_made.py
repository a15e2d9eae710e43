"""Offences of bytes or moves alone, made from tables: bad values, wrong fields, moves against each rule of Q.

They need only the types of messages and the position that the tests play.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from protocol import Code, Role
from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES
from protocol.messages import FROM_PLAYER, Message
from referee.match.fouls import BY_CODE, Cause
from referee.testing import JUNK

from ..protocol.tables import BAD_FRAMES, DEEP_VALUES, EXAMPLES
from .offences import Offence, Stage, bytes_of
from .rogues import NONCE, Rogue, framed, packed

HAND = ["red-circle", "red-square", "blue-circle", "blue-circle", "green-diamond", "green-star"]
"""Hand of the rogue, if it is asked first."""
OTHERS = (["red-star", "blue-star", "yellow-clover"], ["green-square", "red-8star", "purple-star"])
POSITION: dict[str, Any] = {
    "map": [[0, 0, "red-star"]],
    "pile": ["red-clover", "green-star", "yellow-star", "red-star", "blue-8star", "red-diamond"],
    "players": [{"score": 0, "hand": hand} for hand in (HAND, *OTHERS)],
}
_NO_PILE = {**POSITION, "pile": []}
_MALFORMED = Cause.MALFORMED_MESSAGE


def _sent(name: str, data: bytes, code: Code, stage: Stage = Stage.ASKED) -> Offence:
    return Offence(name, stage, bytes_of(lambda _: data), BY_CODE.get(code, _MALFORMED), str(code))


# --- bytes

_FOR_NEW = ("a move before hello",)  # wrong only at the beginning of a conversation
BAD_BYTES = tuple(
    _sent(name, data, code)
    for name, role, data, code in BAD_FRAMES
    if role is Role.PLAYER and code is not Code.TRUNCATED and name not in _FOR_NEW
)
DEEP = tuple(
    _sent(name, framed(data), Code.TOO_DEEP) for name, data in DEEP_VALUES if len(data) <= MAX_FRAME_FROM_PLAYER_BYTES
)
BACK = tuple(
    _sent(f"says the referee's {name}", packed(plain), Code.UNKNOWN_TYPE)
    for name, role, plain in EXAMPLES
    if role is Role.REFEREE
)

# --- fields

_WRONG: tuple[Any, ...] = (None, True, -1, 1.5, "x" * 200, [])
_STAGES = {
    "hello": Stage.ASKED,
    "ready": Stage.OFFERED,
    "nonce": Stage.TO_REVEAL,
    "move": Stage.ASKED,
    "ack": Stage.TO_CONFIRM,
}


def _plain(kind: str, match: str) -> dict[str, Any]:
    """Return a message as it should be."""
    fields: dict[str, dict[str, Any]] = {
        "hello": {"version": 1, "name": "rogue", "token": None},
        "ready": {"match": match, "commitment": "0" * 64},
        "nonce": {"match": match, "nonce": NONCE},
        "move": {"match": match, "turn": 1, "move": {"action": "pass"}},
        "ack": {"match": match, "ack": 1},
    }
    return {"type": kind, **fields[kind]}


def _is_wrong(kind: type[Message], name: str, value: Any) -> bool:
    """Return whether a field may not have a value."""
    try:
        msgspec.convert({**_plain(kind.__struct_config__.tag, "m"), name: value}, kind, strict=True)  # type: ignore[arg-type]  # their tags are names
    except msgspec.ValidationError:
        return True
    return False


def _changed(kind: str, changes: dict[str, Any], left_out: str = "") -> Any:
    def _make(rogue: Rogue) -> bytes:
        plain = {**_plain(kind, rogue.match), **changes}
        return packed({key: value for key, value in plain.items() if key != left_out})

    return bytes_of(_make)


def _with_wrong_fields() -> Iterator[Offence]:
    """Yield every message with each field of a wrong type, or missing, and with one additional key."""
    for kind, message in FROM_PLAYER.items():
        stage = _STAGES[kind]
        for name in (field.name for field in msgspec.structs.fields(message)):
            for value in (item for item in _WRONG if _is_wrong(message, name, item)):
                title = f"{kind}: {name} is {value!r:.9}"
                yield Offence(title, stage, _changed(kind, {name: value}), _MALFORMED, str(Code.WRONG_TYPE))
            if name != "token":
                deed = _changed(kind, {}, left_out=name)
                yield Offence(f"{kind}: no {name}", stage, deed, _MALFORMED, str(Code.MISSING_KEY))
        yield Offence(f"{kind}: no type", stage, _changed(kind, {}, "type"), _MALFORMED, str(Code.UNKNOWN_TYPE))
        deed = _changed(kind, {"extra": None})
        yield Offence(f"{kind}: one key too many", stage, deed, _MALFORMED, str(Code.EXTRA_KEY))


WRONG_FIELDS = tuple(_with_wrong_fields())

# --- moves


def _moved(name: str, move: Any, code: str, cause: Cause = Cause.ILLEGAL_MOVE, **settings: Any) -> Offence:
    return Offence(name, Stage.ASKED, bytes_of(lambda rogue: rogue.move(move)), cause, code, settings=settings)


def _laid(*tiles: tuple[int, int, str]) -> dict[str, Any]:
    return {"action": "place", "tiles": [list(tile) for tile in tiles]}


ILLEGAL = (
    _moved("exchanges more than there is", {"action": "exchange"}, "q.exchange.pile", position=_NO_PILE),
    _moved("lays nothing", _laid(), "q.place.some"),
    _moved("lays what it has not", _laid((0, 1, "red-clover")), "q.place.owned"),
    _moved("lays a tile twice", _laid((0, 1, "red-circle"), (0, 2, "red-circle")), "q.place.owned"),
    _moved("lays out of line", _laid((0, 1, "red-circle"), (1, 0, "red-square")), "q.place.line"),
    _moved("lays on another tile", _laid((0, 0, "red-circle")), "q.place.free"),
    _moved("lays two on one spot", _laid((0, 1, "red-circle"), (0, 1, "red-square")), "q.place.free"),
    _moved("lays far away", _laid((2**31 - 1, -(2**31), "red-circle")), "q.place.adjacent"),
    _moved("lays what does not fit its row", _laid((0, 1, "blue-circle")), "q.fit.row"),
    _moved("lays what does not fit its column", _laid((1, 0, "blue-circle")), "q.fit.column"),
)
MALFORMED_MOVES = tuple(_moved(f"moves {value!r:.20}", value, "move", _MALFORMED) for value in JUNK)
OFFENCES = (*BAD_BYTES, *DEEP, *BACK, *WRONG_FIELDS, *ILLEGAL, *MALFORMED_MOVES)
