"""Time controls for the matches of tests, from the limits that a test sets."""

from typing import Any

from msgspec.structs import replace

from protocol.messages import TimeControl
from referee.match.setup import DEFAULT_TIME


def time_control(**limits_ms: float | None) -> TimeControl:
    """Return the default time control with other limits, by the names of its fields."""
    return replace(DEFAULT_TIME, **limits_ms)


def grouped(fields: dict[str, Any], **defaults_ms: float | None) -> dict[str, Any]:
    """Return the fields of a setup, with the limits among them moved into its time control."""
    limits = {name: fields[name] for name in TimeControl.__struct_fields__ if name in fields}
    others = {name: value for name, value in fields.items() if name not in limits}
    return {"time": time_control(**{**defaults_ms, **limits}), **others}
