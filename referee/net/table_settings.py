"""What an organiser settles before anybody sits down. Knows every choice and its default; refuses to act on any."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..match.setup import DEFAULT_LAG_MARGIN_MS, DEFAULT_PER_MOVE_MS, DEFAULT_START_MS
from .lobby import HELLO_S
from .player_protocol import LinkKind, PlayerLink


class TableSettings(Struct, frozen=True, kw_only=True):
    """What an organiser settles before anybody sits down."""

    options: dict[str, Any] = {}
    per_move_ms: float = DEFAULT_PER_MOVE_MS
    bank_ms: float | None = None
    increment_ms: float = 0.0
    start_ms: float = DEFAULT_START_MS
    lag_margin_ms: float = DEFAULT_LAG_MARGIN_MS
    lot: bool = False
    """Whether the seats are drawn by lot."""
    come_back_s: float = 0.0
    """How long a player that came by itself may be away once its connection was lost; its clock goes on."""
    players: Mapping[str, str] | None = None
    """The players that may sign up, name -> SHA-256 of its token; None: whoever comes."""
    kind: LinkKind = PlayerLink
    """Makes the links of those who connect: which wire is spoken."""
    hello_s: float = HELLO_S
    """How long a connection may take to say who it is, where players sign up."""
    acknowledge: bool = False
    seed: int | None = None
    """Fixes the shuffle and leaves the players' nonces out of it; None: a secret seed."""
    secret: bytes | None = None
    """What secret seeds are derived from, 32 bytes; None: chance of this table's own."""
    position: Any = None
    folder: Path = Path("logs")
    """Where the record is written."""
    match: str | None = None
    """The match's name; None: made from the game and the time."""
    programs: tuple[str, ...] = ()
    """How the players' programs were given, in the order of their launches; for the record, to resume the match."""
