"""What the course's programs `xserver` and `xclients` read from their input.

Source: The course CS4500 of Fall 2023, milestones 8 to 10: ServerConfig, RefereeConfig, ClientConfig, JActorsB.
"""

import codecs
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from protocol import RemoteProtocolError

from ...type_words import explain_mismatch
from .forms import JState, MalformedValue
from .json_stream import JsonReader

MAX_CONFIG_BYTES = 16 * 1024 * 1024
"""A game with all its tiles is under 0.1 MiB."""

Seconds = Annotated[float, Meta(gt=0, le=86_400)]
"""The course's own limits are 6 to 30; nobody is hurt by more."""
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
    """Whether to show the game while it is played: here, its record is there to be watched."""


class ServerConfig(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """What a server is told."""

    ref_spec: RefereeConfig
    server_tries: Annotated[int, Meta(ge=1, le=1000)]
    """Number of waiting periods."""
    server_wait: Seconds
    """Length of one."""
    wait_for_signup: Seconds
    """How long a connection may take to send its name."""
    port: Port | None = None
    quiet: bool = True


class ClientConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """What a group of clients is told."""

    players: list[list[Any]]
    """JActorsB; see Actor."""
    host: str = "127.0.0.1"
    port: Port | None = None
    wait: Annotated[float, Meta(ge=0, le=3600)] = 0.0
    """Between the launches of two clients, in seconds."""
    quiet: bool = True


class ActorSpec(Struct, frozen=True, kw_only=True):
    """One player of JActorsB."""

    name: str
    """As it is sent; it may be a bad one."""
    strategy: str
    raises_in: str | None = None
    """The method whose first call it leaves with an error."""
    loops_in: str | None = None
    """The method in which it never answers the call with the number `count`."""
    count: int = 0
    cheat: str | None = None
    """What it tries in every turn in which that is possible."""


_LONGEST_SPEC = 4
_Honest = tuple[str, Strategy]
_Raising = tuple[str, Strategy, Method]
_Cheating = tuple[str, Strategy, Literal["a cheat"], Cheat]
_Looping = tuple[str, Strategy, Method, Annotated[int, Meta(ge=1, le=7)]]


def actor_of(spec: list[Any], place: str = "") -> ActorSpec:
    """Return an actor of JActorsB.

    Args:
        spec: its name, its strategy, and what it does wrong.
        place: where it stands in a configuration.

    Raises:
        MalformedValue: it is none.
    """
    if len(spec) == 2:
        name, strategy = _read_as(spec, _Honest, place)
        return ActorSpec(name=name, strategy=strategy)
    if len(spec) == 3:
        name, strategy, method = _read_as(spec, _Raising, place)
        return ActorSpec(name=name, strategy=strategy, raises_in=method)
    if len(spec) == 4 and spec[2] == "a cheat":
        name, strategy, _, cheat = _read_as(spec, _Cheating, place)
        return ActorSpec(name=name, strategy=strategy, cheat=cheat)
    if len(spec) != _LONGEST_SPEC:
        raise MalformedValue(f"{place or 'it'} takes 2 to {_LONGEST_SPEC} elements, not {len(spec)}")
    name, strategy, method, count = _read_as(spec, _Looping, place)
    return ActorSpec(name=name, strategy=strategy, loops_in=method, count=count)


def read_values(data: bytes) -> list[Any]:
    """Return the JSON values that stand one after the other in a program's input.

    Raises:
        MalformedValue: it is not JSON.
    """
    reader, values = JsonReader(MAX_CONFIG_BYTES), []
    try:
        reader.receive_data(data.removeprefix(codecs.BOM_UTF8))  # which editors on Windows write
        while (found := reader.next_value()) is not None:
            values.append(found.value)
        reader.receive_end()
        if (last := reader.next_value()) is not None:
            values.append(last.value)
    except RemoteProtocolError as error:
        raise MalformedValue(f"no JSON: {error.detail}") from None
    return values


def read_config(data: bytes, form: type[ServerConfig] | type[ClientConfig], port: int | None = None) -> Any:
    """Return the one configuration that a program's input is.

    Args:
        data: the input.
        form: which configuration it must be.
        port: that is given otherwise: the configuration's own does not matter then, whatever it is; None: none is.

    Raises:
        MalformedValue: it is no JSON, more than one value, or not of this form.
    """
    values = read_values(data)
    if len(values) != 1:
        raise MalformedValue(f"one {form.__name__} is due, {len(values)} JSON values came")
    found = values[0]
    if port is not None and isinstance(found, dict):
        found = {**found, "port": port}
    if isinstance(found, dict) and not _is_port(found.get("port")):
        shown = msgspec.json.encode(found["port"]).decode()
        raise MalformedValue(f"port: takes a whole number from 1 to 65535, not {shown:.40}; or give PORT in its place")
    return _read_as(found, form)


def _is_port(value: Any) -> bool:
    """Tell whether a value is a port, or stands for none."""
    return value is None or (type(value) is int and 1 <= value <= 65_535)


def _read_as(value: Any, form: Any, place: str = "") -> Any:
    """Return a plain value as a part of a configuration.

    Raises:
        MalformedValue: it is none; the text is for the organiser.
    """
    try:
        return msgspec.convert(value, form, strict=True)
    except msgspec.ValidationError as error:
        raise MalformedValue(explain_mismatch(error, place)) from None
