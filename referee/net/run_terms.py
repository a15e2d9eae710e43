"""Terms of all matches of one run, for every process that plays them."""

from msgspec import Struct

from ..programs.limits import ProgramLimits
from .group_commit import Durability


class RunTerms(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the organiser for all matches of a run; they travel to workers and hosts as one struct."""

    durability: Durability = Durability.MATCH
    """Part of a running match that survives a power failure."""
    keep_for: int | None = None
    """Most matches of one program; None: a new program is started for each match."""
    sandbox: str = "auto"
    """Mode of the sandbox, as in SandboxMode; a host of a cluster may demand more."""
    memory_mib: int = ProgramLimits().memory_mib
    """Memory limit of one program."""
