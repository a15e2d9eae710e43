"""The hosts of a cluster as a tournament's record has them.

Hosts of one class play in one tournament: a game that turns on time is another one on a slower machine.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

MOST_TIMES = 1.25
"""So many times as long as on the first host, or as short, may the same work take on a host of its class. Machines that
are sold as the same one differ by a tenth; another generation of them, or a core too few, by more than a quarter."""
_Milliseconds = Annotated[float, Meta(gt=0.0, le=1e6)]


class Calibration(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a fixed piece of work takes on a host while it is done on all its tables at once."""

    tables: Annotated[int, Meta(ge=1, le=1 << 20)]
    """Of the host."""
    wall_ms: _Milliseconds
    """By the clock, which players are held to."""
    processor_ms: _Milliseconds
    """Of a core: where this is much less, tables have to wait for cores."""


class HostClass:
    """The class of a tournament's hosts: that of the first one.

    Args:
        hosts: as the spec has it.
    """

    def __init__(self, hosts: Literal["alike", "any"]) -> None:
        self._hosts = hosts
        self._first: Calibration | None = None

    def why_not(self, calibration: Calibration) -> str | None:
        """Take a host that comes; tell why it can't play, if so.

        Args:
            calibration: its.
        """
        if self._first is None or self._hosts == "any":
            self._first = self._first or calibration
            return None
        for found_ms, first_ms, what in (
            (calibration.wall_ms, self._first.wall_ms, "by the clock"),
            (calibration.processor_ms, self._first.processor_ms, "of a core's time"),
        ):
            if not 1 / MOST_TIMES <= found_ms / first_ms <= MOST_TIMES:
                return (
                    f"it is of another class than the tournament's first host: on all tables at once, a piece of work "
                    f"takes {found_ms:.1f} ms {what} instead of {first_ms:.1f} ms; start it anew if it was busy then, "
                    'or play a tournament whose file says hosts = "any"'
                )
        return None


def void_for(host: str, why: str) -> str:
    """Return why a match is void for its host.

    Args:
        host: its name.
        why: what the host did.
    """
    return f"its host {host} {why}"


def is_void_for(host: str, void: str) -> bool:
    """Tell whether a match is void for this host.

    Args:
        host: its name.
        void: why the match is.
    """
    return void.startswith(void_for(host, ""))
