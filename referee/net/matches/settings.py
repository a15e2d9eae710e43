"""Settings of a match, and the services that it shares with other matches of its referee.

The organiser settles the options of the game, time, deal and players. The key, the observers, the sandbox and the event
loop are shared.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from protocol.messages import TimeControl

from ... import chance
from ...match.setup import DEFAULT_LAG_MARGIN_MS, DEFAULT_TIME, MatchSetup, SeedOpens
from ...observers import Observers
from ...programs.confining import Confinement
from ...record.key import Sealer
from ...settings import RunTerms
from ...tournament.match_context import MatchContext
from ..event_loop import EventLoop
from ..group_commit import GroupCommit
from ..links.lobby import HELLO_S
from ..links.player_protocol import LinkKind, PlayerLink
from ..links.reserved_seats import RemotePool
from .program_pool import ProgramPool


class MatchTerms(Struct, frozen=True, kw_only=True):
    """The settings that all matches of a tournament have in common."""

    options: dict[str, Any] = {}
    time: TimeControl = DEFAULT_TIME
    lag_margin_ms: float = DEFAULT_LAG_MARGIN_MS
    default_margin: int | None = None
    """Default margin, as in MatchSetup."""
    acknowledge: bool = False
    come_back_s: float = 0.0
    """Seconds that a player that was not launched here may be away after its connection was lost; its clock goes on."""


class MatchSettings(MatchTerms, frozen=True, kw_only=True):
    """The organiser's settings of a match."""

    lot: bool = False
    """True if the seats are drawn by lot."""
    players: Mapping[str, str] | None = None
    """Name -> SHA-256 of the token, for the players that may sign up; None: everybody may."""
    kind: LinkKind = PlayerLink
    """Makes the links, and so decides which protocol they speak."""
    dialect: str | None = None
    """Name of that protocol, for the record; None: the referee's own."""
    hello_s: float = HELLO_S
    """Seconds that a connection may take to say hello during sign-up."""
    seed: int | None = None
    """Fixes the shuffle and leaves the players' nonces out of it; None: a secret seed."""
    drawn: bytes | None = None
    """The seed, 32 bytes, if it was drawn beforehand; None: it is drawn here."""
    deal: bytes | None = None
    """Seed for duplicate deals, 32 bytes; the players' nonces do not enter the shuffle. `seed` takes precedence."""
    is_last_of_deal: bool = True
    """True for the last match with that deal, whose end reveals the seed, unless it is void and played again."""
    position: Any = None
    folder: Path = Path("logs")
    """Folder of the record."""
    match: str | None = None
    """The match's name; None: made from the game and the time."""
    context: MatchContext | None = None
    """Context of the match in its tournament; None: it is a single match."""
    programs: tuple[str, ...] = ()
    """Players' programs as the organiser wrote them, in the order of their launches; the match is resumed with them."""


def make_seed(settings: MatchSettings) -> bytes:
    """Return a match's seed: a fixed one, that of a duplicate deal, or one of its own.

    Args:
        settings: settings of the match.
    """
    if settings.seed is not None:
        return chance.seed_from_number(settings.seed)
    if settings.deal is not None:
        return settings.deal
    return os.urandom(chance.SEED_BYTES) if settings.drawn is None else settings.drawn


def _seed_opens(settings: MatchSettings) -> SeedOpens:
    if settings.seed is not None or settings.deal is None:
        return "at-end"
    return "at-end-unless-void" if settings.is_last_of_deal else "after-last-leg"


def make_setup(settings: MatchSettings, game: str, match: str, names: Sequence[str], seed: bytes) -> MatchSetup:
    """Return the setup of a match.

    Args:
        settings: settings of the match.
        game: name of the game.
        match: name of the match.
        names: names of the players, by seat, or in order of arrival if seats are drawn by lot.
        seed: seed of the match.
    """
    return MatchSetup(
        match=match,
        game=game,
        options=settings.options,
        names=chance.seat_by_lot(seed, names) if settings.lot else tuple(names),
        lot=settings.lot,
        time=settings.time,
        lag_margin_ms=settings.lag_margin_ms,
        default_margin=settings.default_margin,
        acknowledge=settings.acknowledge,
        nonces=settings.seed is None and settings.deal is None,
        seed_opens=_seed_opens(settings),
        commitment=chance.commitment(seed),
        position=settings.position,
    )


class MatchServices(Struct, frozen=True, kw_only=True):
    """Services that matches share, whatever is played."""

    sealer: Sealer = field(default_factory=Sealer.new)
    """Key that seals the record; by default a new one, which is forgotten afterwards."""
    observers: Observers = field(default_factory=Observers)
    """Observers of the match; whatever they do, the match goes on."""
    confinement: Confinement = Confinement()
    """Sandbox and limits of launched programs."""
    loop: EventLoop | None = None
    """The event loop, if several matches share it; None: the match makes its own."""
    terms: RunTerms = RunTerms()
    """Terms of all matches of the run."""
    commits: GroupCommit | None = None
    """Syncs the records of several matches together; None: the match syncs its own record."""
    remote_pool: RemotePool | None = None
    """Lends players that are connected, and takes them back; None: their connections end with the match."""
    pool: ProgramPool | None = None
    """The programs that stay from match to match; None: each is started for its match, and ends with it."""
