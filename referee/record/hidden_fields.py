"""Hides fields of a line behind salted hashes. Without these fields, a line can be shown and keeps its hash."""

import hashlib
import re
import secrets
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

# A player may see how its own match went, but it must not see its opponent's hand, because the two may meet again. If
# the referee cut fields out of the record, the chain would break, and nobody could prove that the rest is unchanged. So
# such fields are hidden behind their hashes from the beginning. A line on the disk begins with its *core*, the JSON
# whose hash goes into the chain. The last key, `open`, holds the values whose hashes stand in the core:
#
#     {"n": 7, ..., "event": {..., "move": {"hidden": "5c3a..."}}, "open": {"event.move": ["salt", {...}]}}
#
# To redact a record, entries of `open` are left out. Nothing else changes, so chain and seal still hold. A line holds
# only the digest of a view. A redacted record adds the view itself as a third element, so that the seat can read it.
#
# A hash without a salt would hide nothing: there are so few possible moves that anybody can try them all.

SALT_BYTES = 16
"""Length of a salt. There are too many salts to try them all, even if few values are possible, as for a hand of Q."""
OPEN = "open"
"""Key of a line under which the hidden values stand."""
HASH_KEY = "hidden"
"""Key of the object that stands in the core in place of a hidden value."""
HASH_PREFIX = b'{"hidden":'
"""First bytes of a hidden field in a core. No string contains them, since JSON escapes quotation marks in strings."""
HEADER_HIDES = ("seed", "programs", "folder")
"""Hidden fields of a header. The position in its setup is hidden, too."""

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
"""Name of an event -> its hidden fields."""
_COMMAND_HIDES = {"ask-move": "view", "start-seat": "view", "tell-seat": "draws", "resume-seat": "view"}
FOUL_HIDES = ("detail", "evidence")
_ENTRY_LENGTHS = (2, 3)
_SALT = f"[0-9a-f]{{{2 * SALT_BYTES}}}"
Salt = Annotated[str, Meta(pattern=f"^{_SALT}$(?!\n)")]
"""Salt in hex, of a fixed length: salt and value are hashed as one text, so their border must be fixed."""
_encode = msgspec.json.Encoder().encode


class HiddenField(NamedTuple):
    """A field of a line that must be hidden."""

    path: str
    """Path of the field within the line, such as `commands.1.draws`."""
    holder: dict[str, Any]
    """The object that has the field."""
    name: str
    seat: int | None
    """Seat that may know the value; None if no seat may."""


class BadRedaction(Exception):
    """The opened values of a line contradict its core; the text says how."""


def hidden_fields(line: dict[str, Any]) -> list[HiddenField]:
    """Return the fields of a plain line that must be hidden, without those that are null.

    Args:
        line: the line. Its fields may already be hidden.
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
    """Replace the fields that must be hidden by their hashes, in the line itself.

    Returns:
        The content for the key `open`: path of a hidden field -> `[salt in hex, value]`.
    """
    opened: dict[str, list[Any]] = {}
    for path, holder, name, _ in hidden_fields(line):
        salt = secrets.token_hex(SALT_BYTES)
        opened[path] = [salt, holder[name]]
        holder[name] = {HASH_KEY: _digest(salt, holder[name])}
    return opened


def reveal(line: dict[str, Any], opened: dict[str, Any]) -> dict[str, Any]:
    """Put the hidden values back into the line itself.

    Args:
        line: the line's core.
        opened: the content of the line's key `open`.

    Returns:
        The views that a redacted record adds: path of a view's digest -> view.

    Raises:
        BadRedaction: a value does not match its hash in the core, or the core has no hash at its path.
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
