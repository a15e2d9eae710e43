"""The input of the course's programs `xserver` and `xclients`.

Source: The course CS4500 of Fall 2023, milestones 8 to 10: ServerConfig, RefereeConfig, ClientConfig, JActorsB.
"""

import codecs
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from protocol import RemoteProtocolError

from ...text import counted
from ...type_words import explain_mismatch
from .forms import JState, MalformedValue
from .json_stream import JsonReader

MAX_CONFIG_BYTES = 16 * 1024 * 1024
"""Largest input. A game with all its tiles has less than 0.1 MiB."""

Seconds = Annotated[float, Meta(gt=0, le=86_400)]
"""Time in seconds. The course's own limits are 6 to 30; longer ones do no harm."""
Port = Annotated[int, Meta(ge=1, le=65_535)]
Method = Literal["setup", "take-turn", "new-tiles", "win"]
Cheat = Literal["non-adjacent-coordinate", "tile-not-owned", "not-a-line", "bad-ask-for-tiles", "no-fit"]
Strategy = Literal["dag", "ldasg"]


class Bonuses(Struct, frozen=True, forbid_unknown_fields=True):
    """Points besides those for tiles and runs."""

    q: Annotated[int, Meta(ge=0, le=1000)] = msgspec.field(name="qbo")
    finish: Annotated[int, Meta(ge=0, le=1000)] = msgspec.field(name="fbo")


class RefereeConfig(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The game to be refereed."""

    state0: JState
    config_s: Bonuses
    per_turn: Seconds
    """Limit for each call."""
    quiet: bool = True
    observe: bool = False
    """Whether to show the game while it is played. It has no effect here: the record can be watched."""


class ServerConfig(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The settings of a server."""

    ref_spec: RefereeConfig
    server_tries: Annotated[int, Meta(ge=1, le=1000)]
    """Number of waiting periods."""
    server_wait: Seconds
    """Length of one waiting period."""
    wait_for_signup: Seconds
    """Time that a connection may take to send its name, in seconds."""
    port: Port | None = None
    quiet: bool = True


class ClientConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """The configuration of a group of clients."""

    players: list[list[Any]]
    """JActorsB; see Actor."""
    host: str = "127.0.0.1"
    port: Port | None = None
    wait: Annotated[float, Meta(ge=0, le=3600)] = 0.0
    """Pause between the launches of two clients, in seconds."""
    quiet: bool = True


class ActorSpec(Struct, frozen=True, kw_only=True):
    """One player of JActorsB."""

    name: str
    """Name to sign up with. It may be an invalid one, to test the server."""
    strategy: str
    raises_in: str | None = None
    """The method whose first call it leaves with an error."""
    loops_in: str | None = None
    """The method in which it never answers the call with the number `count`."""
    count: int = 0
    cheat: str | None = None
    """Name of the cheat that it tries in every turn in which that is possible."""


_LONGEST_SPEC = 4
_Honest = tuple[str, Strategy]
_Raising = tuple[str, Strategy, Method]
_Cheating = tuple[str, Strategy, Literal["a cheat"], Cheat]
_Looping = tuple[str, Strategy, Method, Annotated[int, Meta(ge=1, le=7)]]


def parse_actor(spec: list[Any], place: str = "") -> ActorSpec:
    """Parse an actor of JActorsB.

    Args:
        spec: its name, its strategy, and what it does wrong.
        place: its place in the configuration, for the error.

    Raises:
        MalformedValue: it is not an actor.
    """
    if len(spec) == 2:
        name, strategy = _convert(spec, _Honest, place)
        return ActorSpec(name=name, strategy=strategy)
    if len(spec) == 3:
        name, strategy, method = _convert(spec, _Raising, place)
        return ActorSpec(name=name, strategy=strategy, raises_in=method)
    if len(spec) == 4 and spec[2] == "a cheat":
        name, strategy, _, cheat = _convert(spec, _Cheating, place)
        return ActorSpec(name=name, strategy=strategy, cheat=cheat)
    if len(spec) != _LONGEST_SPEC:
        raise MalformedValue(f"{place or 'it'} takes 2 to {_LONGEST_SPEC} elements, not {len(spec)}")
    name, strategy, method, count = _convert(spec, _Looping, place)
    return ActorSpec(name=name, strategy=strategy, loops_in=method, count=count)


def read_values(data: bytes) -> list[Any]:
    """Read all JSON values of a program's input.

    Raises:
        MalformedValue: it is not JSON.
    """
    reader, values = JsonReader(MAX_CONFIG_BYTES), []
    try:
        reader.receive_data(data.removeprefix(codecs.BOM_UTF8))  # Windows editors write a byte order mark
        while (value := reader.next_value()) is not None:
            values.append(value.value)
        reader.receive_end()
        if (last := reader.next_value()) is not None:
            values.append(last.value)
    except RemoteProtocolError as error:
        raise MalformedValue(f"it is not JSON: {error.detail}") from None
    return values


def read_config(data: bytes, form: type[ServerConfig] | type[ClientConfig], port: int | None = None) -> Any:
    """Read the configuration in a program's input.

    Args:
        data: the input.
        form: the kind of configuration.
        port: replaces the port of the configuration, even an invalid one; None: keep that port.

    Raises:
        MalformedValue: it is not JSON, not exactly one value, or not of this form.
    """
    values = read_values(data)
    if len(values) != 1:
        raise MalformedValue(f"it must be one {form.__name__}, but has {counted(len(values), 'JSON value')}")
    config = values[0]
    # Public tests of the course have ports such as 123240984. If a port is given on the command line, the one in the
    # test does not matter.
    if port is not None and isinstance(config, dict):
        config = {**config, "port": port}
    if isinstance(config, dict) and not _is_port(config.get("port")):
        shown = msgspec.json.encode(config["port"]).decode()
        raise MalformedValue(f"port: takes a whole number from 1 to 65535, not {shown:.40}; or give PORT in its place")
    return _convert(config, form)


def _is_port(value: Any) -> bool:
    """Return whether a value is a port, or None."""
    return value is None or (type(value) is int and 1 <= value <= 65_535)


def _convert(value: Any, form: Any, place: str = "") -> Any:
    """Convert a plain value into a part of a configuration.

    Raises:
        MalformedValue: it does not have that form. The text is for the organiser.
    """
    try:
        return msgspec.convert(value, form, strict=True)
    except msgspec.ValidationError as error:
        raise MalformedValue(explain_mismatch(error, place)) from None
