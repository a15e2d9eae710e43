"""The hosts of a cluster in a tournament's record: how fast they are, and which matches are void because of them."""

from typing import Annotated

from msgspec import Meta, Struct

_Milliseconds = Annotated[float, Meta(gt=0.0, le=1e6)]


class Calibration(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The time that a host takes for a fixed piece of work, while all its tables do this work at once.

    It decides nothing. It is shown to the organiser, because a slower machine can change the result of a game in which
    time matters.
    """

    tables: Annotated[int, Meta(ge=1, le=1 << 20)]
    """Number of tables of the host."""
    wall_ms: _Milliseconds
    """Wall-clock time, on which the players' limits are based."""
    processor_ms: _Milliseconds
    """Time on a processor core; if this is much less than `wall_ms`, tables wait for cores."""


def void_reason(host: str, why: str) -> str:
    """Return the reason of a match that is void because of its host.

    Args:
        host: name of the host.
        why: what the host did wrong, as a verb with its object.
    """
    return f"its host {host} {why}"


def is_void_for(host: str, void: str) -> bool:
    """Return whether a match is void because of this host.

    Args:
        host: name of the host.
        void: reason why the match is void.
    """
    return void.startswith(void_reason(host, ""))
