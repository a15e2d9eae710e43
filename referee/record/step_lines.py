"""Makes the line of a step in one pass, from event and commands to bytes: one is written for all that happens.

The same bytes as those of a plain line with its fields hidden by `hide`, which is how everybody else makes lines; the
tests hold one against the other. Which fields are hidden, says hidden_fields.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import fields, replace

from ..match import commands as c
from ..match.events import Event
from ..match.fouls import Foul
from ..match.standstills import Standstill
from .hidden_fields import EVENT_HIDES, HASH_PREFIX, OF_FOULS

_encode = msgspec.json.Encoder().encode
_Showing = c.AskMove | c.StartSeat | c.ResumeSeat
_HIDDEN = HASH_PREFIX.decode() + '"%s"}'


class _LineRedaction:
    """Puts hashes in place of the fields of one line, and keeps what they stand for."""

    def __init__(self, salts: Iterator[str]) -> None:
        self.opened: list[bytes] = []
        """Entries of the line's key `open`, as JSON."""
        self._salts = salts

    def hide(self, path: str, value: bytes) -> Raw:
        """Return the hash of a value, given as JSON, as it stands in the core."""
        salt = next(self._salts).encode()
        self.opened.append(b'"%s":["%s",%s]' % (path.encode(), salt, value))
        return Raw(_HIDDEN % hashlib.sha256(salt + value).hexdigest())


def step_line(
    event: Event, commands: Sequence[c.Command], standstills: Sequence[Standstill], salts: Iterator[str]
) -> tuple[bytes, bytes]:
    """Return what the line of a step holds.

    Args:
        event: what happened.
        commands: what followed.
        standstills: of the referee, told in this line; none: the line has no such key.
        salts: for what is hidden, one each.

    Returns:
        The keys and values of its core from `kind` on, and those of `open`, as JSON without the braces around them.
    """
    redaction = _LineRedaction(salts)
    happened = _encode(_redacted_event(event, redaction))
    follows = list(commands)
    for index, command in enumerate(commands):
        hide = _HIDING.get(type(command))
        if hide is not None:
            follows[index] = hide(command, f"commands.{index}", redaction)
    stalled = b',"standstills":' + _encode(standstills) if standstills else b""
    core = b'"kind":"step","event":%s%s,"commands":%s' % (happened, stalled, _encode(follows))
    return core, b",".join(redaction.opened)


@cache
def _hidden_of(kind: type[Event]) -> tuple[tuple[str, Any], ...]:
    """Return the fields of an event that are hidden, each with the value with which it is left out."""
    config: Any = kind.__struct_config__
    defaults = {field.name: field.default for field in fields(kind)} if config.omit_defaults else {}
    return tuple((name, defaults.get(name)) for name in EVENT_HIDES.get(config.tag, ()))


def _redacted_event(event: Event, redaction: _LineRedaction) -> Event:
    hidden = {}
    for name, default in _hidden_of(type(event)):
        value = getattr(event, name)
        if value is not None and value is not default:
            hidden[name] = redaction.hide(f"event.{name}", _encode(value))
    return replace(event, **hidden) if hidden else event


def _redacted_view(command: _Showing, path: str, redaction: _LineRedaction) -> c.Command:
    """Hide the digest of a view, for the line does not hold the view itself."""
    if command.view is None:
        return command
    digest = hashlib.sha256(command.view).hexdigest()
    return replace(command, view=redaction.hide(f"{path}.view", b'"%s"' % digest.encode()))


def _redacted_draws(command: c.TellSeat, path: str, redaction: _LineRedaction) -> c.Command:
    if command.draws is None:
        return command
    return replace(command, draws=redaction.hide(f"{path}.draws", _encode(command.draws)))


def _redacted_expulsion(command: c.ExpelSeat, path: str, redaction: _LineRedaction) -> c.Command:
    return replace(command, foul=_redacted_foul(command.foul, f"{path}.foul", redaction))


def _redacted_result(command: c.CloseMatch, path: str, redaction: _LineRedaction) -> c.Command:
    fouls = [
        _redacted_foul(foul, f"{path}.result.fouls.{index}", redaction)
        for index, foul in enumerate(command.result.fouls)
    ]
    return replace(command, result=replace(command.result, fouls=fouls)) if fouls else command


def _redacted_foul(foul: Foul, path: str, redaction: _LineRedaction) -> Foul:
    return replace(foul, **{name: redaction.hide(f"{path}.{name}", _encode(getattr(foul, name))) for name in OF_FOULS})


_HIDING: dict[type[c.Command], Callable[[Any, str, _LineRedaction], c.Command]] = {
    c.AskMove: _redacted_view,
    c.StartSeat: _redacted_view,
    c.ResumeSeat: _redacted_view,
    c.TellSeat: _redacted_draws,
    c.ExpelSeat: _redacted_expulsion,
    c.CloseMatch: _redacted_result,
}
