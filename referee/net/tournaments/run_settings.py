"""Where and how a tournament is run, whatever its results: what may change between two runs of it."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ...tournament.events import SpectatorSight
from ...tournament.spec import TournamentSpec
from ..group_commit import Durability
from ..run_terms import RunTerms
from .pairing_program import PairingProgram

DEFAULT_MIN_FREE_MIB = 200.0
"""Records of some thousand matches; below that, no match is begun."""


class RunSettings(Struct, frozen=True, kw_only=True):
    """What may change between two runs of the same tournament."""

    folder: Path
    """Of the records; the spec and the report stand there, too."""
    builds: Path | None = None
    """Folder of what is kept of the programs' builds; None: one beside the records."""
    tables: int = 1
    """How many matches are played at the same time."""
    workers: int = 0
    """How many processes play them; 0: the tournament's own does."""
    cluster: str | None = None
    """Address of the Dask scheduler whose hosts play them; None: there is none."""
    cluster_keys: Path | None = None
    """Folder of the certificates for it."""
    spectators: SpectatorSight | None = None
    """What spectators are shown of matches that are played; None: nothing."""
    listen: str = "tcp:7777:interface=127.0.0.1"
    """Twisted endpoint string to which remote entrants connect; not used without any."""
    tokens: Mapping[str, str] = {}
    """Remote entrant -> SHA-256 of its token, in hex."""
    come_back_s: float = 30.0
    """How long a remote entrant whose connection was lost may be away, its clock going on."""
    show_up_s: float = 60.0
    """How long a remote entrant that is not connected is waited for when its match is due."""
    sandbox: str = "auto"
    """`auto`, `required` or `off`, as with `referee play`."""
    pairing_program: PairingProgram | None = None
    """What pairs rounds in place of the built-in library."""
    min_free_mib: float = DEFAULT_MIN_FREE_MIB
    """No match is begun while less is free on the disk of the records."""


def run_terms(spec: TournamentSpec, run_settings: RunSettings) -> RunTerms:
    """Return how the matches of a tournament are played, whichever process plays them.

    Args:
        spec: of the tournament.
        run_settings: how it is run.
    """
    return RunTerms(
        durability=Durability(spec.durability),
        keep_for=spec.keep_for if spec.programs == "kept" else None,
        sandbox=run_settings.sandbox,
        memory_mib=spec.memory_mib,
    )
