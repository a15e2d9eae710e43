"""Hides fields of a line behind salted hashes, so that a line can be shown without them and its hash stays the same."""

import hashlib
import re
import secrets
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

# A player may ask how its own match went, but must not see the hand of its opponent, because the two may meet again.
# Giving it a record with fields cut out would break the chain, and with it the proof that the rest is what was sealed.
# So a field is hidden behind its hash from the beginning. A line on the disk is its *core*, the JSON whose hash goes
# into the chain, and after it, under the last key `open`, the values that the core holds hashes of:
#
#     {"n": 7, ..., "event": {..., "move": {"hidden": "5c3a..."}}, "open": {"event.move": ["salt", {...}]}}
#
# To redact a record is to leave out entries of `open`. Nothing else changes, so chain and seal still hold. A view
# stands in a line as its digest only; a redacted record adds the view as a third element, so that its seat can read it.
#
# Without a salt, a hash would hide nothing: there are so few moves that one can try them all.

SALT_BYTES = 16
"""Length of a salt. Nobody can try them all, though the hidden values are few (a hand of Q is six of 36 kinds)."""
OPEN = "open"
HASH_KEY = "hidden"
HASH_PREFIX = b'{"hidden":'
"""First bytes of a hidden field in a core; no string can contain them, since JSON escapes quotation marks there."""
HEADER_HIDES = ("seed", "programs", "folder")
"""Fields of a header, besides the position of its setup."""

EVENT_HIDES: dict[str, tuple[str, ...]] = {
    "ready-received": ("frame",),
    "nonce-received": ("frame",),
    "move-received": ("frame", "move"),
    "ack-received": ("frame",),
    "deadline-passed": ("pending",),
    "protocol-broken": ("detail", "evidence"),
    "program-exited": ("status",),
    "seat-vacant": ("detail", "evidence"),
    "connection-lost": ("detail",),
}
"""Fields of an event, by its name."""
_COMMAND_HIDES = {"ask-move": "view", "start-seat": "view", "tell-seat": "draws", "resume-seat": "view"}
FOUL_HIDES = ("detail", "evidence")
_ENTRY_LENGTHS = (2, 3)
_SALT = f"[0-9a-f]{{{2 * SALT_BYTES}}}"
Salt = Annotated[str, Meta(pattern=f"^{_SALT}$(?!\n)")]
"""The only form of a salt. If there were several, characters could be moved from a value to its salt."""
_encode = msgspec.json.Encoder().encode


class HiddenField(NamedTuple):
    """A field of a line that is to be hidden."""

    path: str
    """Within the line, e.g. `commands.1.draws`."""
    holder: dict[str, Any]
    """The object that has the field."""
    name: str
    seat: int | None
    """Seat that may know it; None: nobody may."""


class BadRedaction(Exception):
    """A line whose hidden fields contradict its core; the text says how."""


def hidden_fields(line: dict[str, Any]) -> list[HiddenField]:
    """Return the fields of a plain line that are to be hidden; fields that are null are left out.

    Args:
        line: the line with nothing hidden yet.
    """
    kind = line["kind"]
    if kind == "step":
        return _step_fields(line)
    if kind == "result":
        return _fields("", line, ("seed",), None) + _foul_fields("result.fouls", line["result"]["fouls"])
    if kind == "header":
        fields = _fields("", line, HEADER_HIDES, None)
        return fields + _fields("setup", line["setup"], ("position",), None)
    return []


def _step_fields(line: dict[str, Any]) -> list[HiddenField]:
    event = line["event"]
    fields = _fields("event", event, EVENT_HIDES.get(event["event"], ()), event.get("seat"))
    for index, command in enumerate(line["commands"]):
        name = _COMMAND_HIDES.get(command["command"])
        if name is None:
            fields += _verdict_fields(f"commands.{index}", command)
        elif command.get(name) is not None:
            fields.append(HiddenField(f"commands.{index}.{name}", command, name, command.get("seat")))
    return fields


def _verdict_fields(path: str, command: dict[str, Any]) -> list[HiddenField]:
    if command["command"] == "expel-seat":
        return _fields(f"{path}.foul", command["foul"], FOUL_HIDES, command["seat"])
    if command["command"] == "close-match":
        return _foul_fields(f"{path}.result.fouls", command["result"]["fouls"])
    return []


def _foul_fields(path: str, fouls: list[dict[str, Any]]) -> list[HiddenField]:
    return [
        place
        for index, foul in enumerate(fouls)
        for place in _fields(f"{path}.{index}", foul, FOUL_HIDES, foul["seat"])
    ]


def _fields(path: str, holder: dict[str, Any], names: tuple[str, ...], seat: int | None) -> list[HiddenField]:
    return [
        HiddenField(f"{path}.{name}" if path else name, holder, name, seat)
        for name in names
        if holder.get(name) is not None
    ]


def hide(line: dict[str, Any]) -> dict[str, list[Any]]:
    """Replace the fields of a plain line that are to be hidden by their hashes, in place.

    Returns:
        Values that the hashes stand for: path -> `[salt in hex, value]`, for the key `open`.
    """
    opened: dict[str, list[Any]] = {}
    for path, holder, name, _ in hidden_fields(line):
        salt = secrets.token_hex(SALT_BYTES)
        opened[path] = [salt, holder[name]]
        holder[name] = {HASH_KEY: _digest(salt, holder[name])}
    return opened


def reveal(line: dict[str, Any], opened: dict[str, Any]) -> dict[str, Any]:
    """Put the values back into a plain line, in place.

    Returns:
        The views that are shown besides their digests: path -> view.

    Raises:
        BadRedaction: a value is not what the core holds the hash of, or the core holds no hash there.
    """
    shown = {}
    for path, entry in opened.items():
        holder, name, hidden = _find(line, path)
        if not (isinstance(entry, list) and len(entry) in _ENTRY_LENGTHS and _is_salt(entry[0])):
            raise BadRedaction(f"{path}: neither salt and value nor salt, digest and view")
        salt, value, *view = entry
        if hidden != {HASH_KEY: _digest(salt, value)}:
            raise BadRedaction(f"{path} does not match its hash in the line")
        if view and hashlib.sha256(msgspec.msgpack.encode(view[0])).hexdigest() != value:
            raise BadRedaction(f"{path} shows a view that does not match its digest")
        holder[name] = value
        if view:
            shown[path] = view[0]
    return shown


def _is_salt(salt: Any) -> bool:
    """Return whether a value is a salt."""
    return isinstance(salt, str) and re.fullmatch(_SALT, salt) is not None


def _digest(salt: str, value: Any) -> str:
    return hashlib.sha256(salt.encode() + _encode(value)).hexdigest()


def _find(line: dict[str, Any], path: str) -> tuple[dict[str, Any], str, dict[str, Any]]:
    """Return the object that holds a path's last key, that key, and its value."""
    *parents, last = path.split(".")
    holder: Any = line
    try:
        for key in parents:
            holder = holder[int(key) if key.isdecimal() else key]
        hidden = holder[last]
    except (KeyError, IndexError, ValueError, TypeError):
        raise BadRedaction(f"{path[:80]} is no field of the line") from None
    if not (isinstance(holder, dict) and isinstance(hidden, dict)):
        raise BadRedaction(f"{path[:80]} is not hidden in the line")
    return holder, last, hidden
