"""What a match needs before it begins: what the organiser settles, and what it shares with others of its referee.

The organiser settles options of the game, time, deal, and who may come. Shared are the key, the observers, the sandbox
and the event loop.
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
from ...tournament.match_context import MatchContext
from ..event_loop import EventLoop
from ..group_commit import GroupCommit
from ..links.lobby import HELLO_S
from ..links.player_protocol import LinkKind, PlayerLink
from ..links.reserved_seats import RemotePool
from ..run_terms import RunTerms
from .program_pool import ProgramPool


class MatchSettings(Struct, frozen=True, kw_only=True):
    """What an organiser settles before anybody sits down."""

    options: dict[str, Any] = {}
    time: TimeControl = DEFAULT_TIME
    lag_margin_ms: float = DEFAULT_LAG_MARGIN_MS
    default_margin: int | None = None
    """As in the setup of a match."""
    lot: bool = False
    """Whether the seats are drawn by lot."""
    come_back_s: float = 0.0
    """How long a player that came by itself may be away once its connection was lost; its clock goes on."""
    players: Mapping[str, str] | None = None
    """The players that may sign up, name -> SHA-256 of its token; None: whoever comes."""
    kind: LinkKind = PlayerLink
    """Makes the links of those who connect: which wire is spoken."""
    dialect: str | None = None
    """The name of that wire, for the record; None: the referee's own."""
    hello_s: float = HELLO_S
    """How long a connection may take to say who it is, where players sign up."""
    acknowledge: bool = False
    seed: int | None = None
    """Fixes the shuffle and leaves the players' nonces out of it; None: a secret seed."""
    drawn: bytes | None = None
    """The seed, 32 bytes, if it was drawn beforehand; None: it is drawn here."""
    deal: bytes | None = None
    """The very seed, 32 bytes, with the players' nonces left out of it: for duplicate deals. `seed` goes before it."""
    is_last_of_deal: bool = True
    """Whether no other match with that deal is to be played, unless this one is void: only then its end reveals it."""
    position: Any = None
    folder: Path = Path("logs")
    """Where the record is written."""
    match: str | None = None
    """The match's name; None: made from the game and the time."""
    context: MatchContext | None = None
    """What the match is opened for, if it is one of a tournament."""
    programs: tuple[str, ...] = ()
    """How the players' programs were given, in the order of their launches; for the record, to resume the match."""


def make_seed(settings: MatchSettings) -> bytes:
    """Return a match's seed: a fixed one, a deal that is given, or one that is this match's alone.

    Args:
        settings: of the table.
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
        settings: of the table.
        game: its name.
        match: the match's name.
        names: of the players, in the order in which they came; by seat, unless lots are drawn.
        seed: the match's.
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
    """What there is around a match, whatever is played."""

    sealer: Sealer = field(default_factory=Sealer.new)
    """The key that seals the record; one of its own, forgotten afterwards, if none is given."""
    observers: Observers = field(default_factory=Observers)
    """Those who are told what happens; whatever they do, the match goes on."""
    confinement: Confinement = Confinement()
    """What launched programs are held to."""
    loop: EventLoop | None = None
    """The event loop, if several matches share it; None: the match makes its own."""
    terms: RunTerms = RunTerms()
    """How all matches of the run are played."""
    commits: GroupCommit | None = None
    """Syncs the records of several matches together; None: the match has its own syncs."""
    remote_pool: RemotePool | None = None
    """Lends players that are connected, and takes them back; None: their connections end with the match."""
    pool: ProgramPool | None = None
    """The programs that stay from match to match; None: each is started for its match, and ends with it."""
