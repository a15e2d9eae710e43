"""The settings of a tournament, fixed before its first match.

The number of tables, the folder of the records and the policy for spectators are not part of it: they may change.
"""

# The spec holds everything that affects pairings and standings: two tournaments with the same spec and the same results
# have the same standings. It stands in the header of the record and can't change. The number of tables, the folder and
# the policy for spectators may differ between two runs of the referee. So they are events, or are not recorded at all.

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from protocol.limits import NAME_PATTERN
from protocol.messages import Span, TimeControl

from ..match.setup import DEFAULT_LAG_MARGIN_MS
from ..settings import DEFAULT_MEMORY_MIB, Durability, MemoryMib
from .pairing.base import Entrant, EntrantField
from .points import BadScoring, Scoring

DEFAULT_KEEP_FOR = 1000
MAX_KEEP_FOR = 100_000
"""Maximum of `keep_for`: after so many matches, one more start costs nearly nothing."""
REMOTE = "remote"
"""Value of `player` for an entrant that connects with its token instead of being started."""


class Participant(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entrant, and how its program is started."""

    name: Annotated[str, Meta(pattern=NAME_PATTERN)]
    player: str
    """`house:NAME`, `cmd:COMMAND`, the absolute path of a folder, or `remote`."""
    rating: float | None = None
    """Strength that is known beforehand, on any scale. Formats use it for seeding."""


class TournamentSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that a tournament depends on, except its results."""

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]{1,40}$(?!\n)")]
    """Name of the tournament; its folder of records and its matches are named after it."""
    game: str
    options: dict[str, Any] = {}
    """Options of the game, in the form that its rules take."""
    entrants: Annotated[tuple[Participant, ...], Meta(min_length=1)]
    seats: Annotated[int, Meta(ge=2, le=12)]
    """Number of seats of a match."""
    format: str
    format_options: dict[str, Any] = {}
    duplicate: bool = False
    """True if each pairing is played once from every seat with the same deal. All these matches count as one."""
    time: TimeControl
    lag_margin_ms: Span = DEFAULT_LAG_MARGIN_MS
    """Lag margin of each match; see MatchSetup."""
    acknowledge: bool = False
    durability: Durability = Durability.MATCH
    """When records are synced to the disk. With `turn`, the recorded time of a request is less exact."""
    seed: int | None = None
    """Number that fixes all deals and lots, for tests; None for secret deals, which also depend on the players."""
    scoring: Scoring = Scoring()
    tie_breaks: tuple[str, ...] = ()
    memory_mib: MemoryMib = DEFAULT_MEMORY_MIB
    programs: Literal["anew", "kept"] = "anew"
    """`anew` starts a program for each match; `kept` reuses it for its next matches."""
    keep_for: Annotated[int, Meta(ge=1, le=MAX_KEEP_FOR)] = DEFAULT_KEEP_FOR
    """Number of matches after which a kept program is started again."""
    suspend_after: Annotated[int, Meta(ge=0)] = 3
    """Number of failed starts after which an entrant is suspended; 0 to suspend nobody."""

    def __post_init__(self) -> None:
        """Refuse teams that do not contain every seat exactly once."""
        teams = self.scoring.teams
        if teams and not (all(teams) and sorted(seat for team in teams for seat in team) == [*range(self.seats)]):
            raise BadScoring(f"teams: {teams} are not all {self.seats} seats")

    @property
    def legs(self) -> int:
        """Number of matches of a pairing."""
        return self.seats if self.duplicate else 1

    def field(self) -> EntrantField:
        """Return the field for formats and standings."""
        entrants = tuple(
            Entrant(name=entrant.name, rating=entrant.rating, has_copies=entrant.player != REMOTE)
            for entrant in self.entrants
        )
        return EntrantField(entrants=entrants, seats=self.seats)


def differences(old: Struct, new: Struct) -> Mapping[str, tuple[Any, Any]]:
    """Return the differences of two structs as plain data: path of a field, with dots -> (old value, new value)."""
    return dict(_differences(msgspec.to_builtins(old), msgspec.to_builtins(new), ""))


def _differences(old: Any, new: Any, path: str) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield the smallest parts that differ. If only one side has a value, it is compared with None."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old | new:
            yield from _differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif old != new:
        yield path, (old, new)
