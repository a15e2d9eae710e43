"""How the matches of one run are played, whichever process plays them: handed on as a whole."""

from msgspec import Struct

from ..programs.limits import ProgramLimits
from .group_commit import Durability


class RunTerms(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the organiser settles once for all matches of a run."""

    durability: Durability = Durability.MATCH
    """What of a running match outlives the machine's power."""
    keep_for: int | None = None
    """How many matches a program may play; None: each is started for its match."""
    sandbox: str = "auto"
    """Whether programs run in a sandbox, as SandboxMode has it; a host of a cluster may demand more."""
    memory_mib: int = ProgramLimits().memory_mib
    """Memory of one program."""
