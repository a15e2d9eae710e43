"""The hosts of a cluster as a tournament's record has them: how fast each one is, and what is void because of one."""

from typing import Annotated

from msgspec import Meta, Struct

_Milliseconds = Annotated[float, Meta(gt=0.0, le=1e6)]


class Calibration(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The time that a fixed piece of work takes on a host while all its tables do it at once.

    Nothing follows from it. It is shown to the organiser, because a slower machine can change a game that depends on
    time.
    """

    tables: Annotated[int, Meta(ge=1, le=1 << 20)]
    """Number of tables of the host."""
    wall_ms: _Milliseconds
    """Time by the clock, which limits the players."""
    processor_ms: _Milliseconds
    """Time on a processor core; if this is much less than `wall_ms`, tables wait for cores."""


def void_reason(host: str, why: str) -> str:
    """Return why a match is void for its host.

    Args:
        host: its name.
        why: the fault of the host.
    """
    return f"its host {host} {why}"


def is_void_for(host: str, void: str) -> bool:
    """Return whether a match is void for this host.

    Args:
        host: its name.
        void: why the match is.
    """
    return void.startswith(void_reason(host, ""))
