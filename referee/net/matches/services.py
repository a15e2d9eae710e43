"""What a match shares with others of its referee: the key, the observers, the sandbox, the event loop."""

from msgspec import Struct, field

from ...observers import Observers
from ...programs.confining import Confinement
from ...record.seal import Sealer
from ..event_loop import EventLoop
from ..group_commit import Durability, GroupCommit
from ..links.remote_pool import RemotePool
from .kept import KeptPrograms


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
    durability: Durability = Durability.MATCH
    """What of a running match outlives the machine's power."""
    commits: GroupCommit | None = None
    """Syncs the records of several matches together; None: the match has its own syncs."""
    remote_pool: RemotePool | None = None
    """Lends players that are connected, and takes them back; None: their connections end with the match."""
    kept: KeptPrograms | None = None
    """The programs that stay from match to match; None: each is started for its match, and ends with it."""
