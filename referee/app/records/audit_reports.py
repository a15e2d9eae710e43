"""The demands of an auditor, and the report of an audit."""

from typing import Any, Literal, Self

from msgspec import Struct

from ...match.setup import SeedOpens
from ...observers.heads import PublishedHead
from ...record.audit.processes import Contradiction
from ...record.reader import NotSealed, RecordError

VERIFIED = ("chain", "seal", "shown fields", "times")
"""Properties that can be verified in every redacted record."""
BY_SEED = ("shuffle", "views", "moves", "scores", "ranking")
"""Properties that can also be verified with the seed of the match."""
NOT_VERIFIED = ("verdicts on others",)


# These structs are printed as they are by `referee audit --json`. A report is either sound or broken, and both have
# `holds`, so that a reader of the JSON needs to know one key only.


class Demands(Struct, frozen=True):
    """An auditor's demands on the records."""

    keys: tuple[str, ...] = ()
    """Public keys; one of them must have sealed each record. Empty: the key that the record itself names."""
    heads: tuple[str, ...] = ()
    """Hashes of lines that players were sent; one of the records must have each of them."""
    published: dict[str, list[PublishedHead]] = {}
    """Match or tournament -> heads of its record that were published; the record must have all of them."""
    unsealed: bool = False
    """True if a record without a seal is accepted."""
    seed: str | None = None
    """Seed of the match in hex; None: the one in a whole record."""


class MissingHeads(Struct, frozen=True, kw_only=True):
    """Published heads of one record that no sound record has."""

    record: str
    """Name of the match or tournament."""
    missing: int
    published: int
    first: PublishedHead
    """First of the missing heads."""


class Broken(Struct, frozen=True, kw_only=True):
    """The first line that does not hold."""

    record: str
    """File that has it."""
    line: int | None
    """Number `n` of the line, from 0; null: the whole file."""
    expected: str
    found: str
    state: Literal["broken", "unfinished"] = "broken"
    """`unfinished`: the lines hold, but there is no seal, and `--unsealed` was not given."""
    holds: bool = False

    @classmethod
    def by(cls, error: RecordError, **more: Any) -> Self:
        """Return the report of an error, with the other fields of the class."""
        state: Literal["broken", "unfinished"] = "unfinished" if isinstance(error, NotSealed) else "broken"
        return cls(
            record=str(error.path),
            line=error.line,
            expected=error.expected,
            found=error.found,
            state=state,
            **more,
        )


class SoundRecord(Struct, frozen=True, kw_only=True):
    """A record that holds."""

    record: str
    match: str
    events: int
    state: str
    """`sealed`, `unfinished` or `redacted`."""
    deal: str
    """`fair`: the players' nonces entered the shuffle. Otherwise `fixed`, `position` (no shuffle) or `hidden`."""
    seed_opens: SeedOpens
    """Time at which the players are sent the seed."""
    key: str | None
    """Public key that sealed the record."""
    head: str
    """Hash of its last line before the seal."""
    rules_version: str = ""
    """Name and version of the package whose rules the match was played by; empty: the referee's own."""
    checked_by: str = ""
    """Name and version of the package whose rules the record was checked by; empty: the referee's own."""
    tournament: str | None = None
    """Tournament that the record claims to belong to, if the tournament's own record was not audited with it; null: the
    claim was verified, or there is none.
    """
    holds: bool = True


class SoundRedaction(SoundRecord, frozen=True, kw_only=True):
    """A redacted record that holds, as far as it can be verified."""

    seat: int
    """Seat that may see what the record shows."""
    name: str
    """Player on that seat."""
    verified: tuple[str, ...]
    not_verified: tuple[str, ...]


class SoundManifest(Struct, frozen=True, kw_only=True):
    """A signed list of records, all of which are in the folder, and no others."""

    manifest: str
    records: int
    holds: bool = True


class BrokenManifest(Broken, frozen=True, kw_only=True):
    """A manifest that does not hold."""

    manifest: str


class SoundTournament(Struct, frozen=True, kw_only=True):
    """A tournament whose record holds, and agrees with the records of its matches."""

    tournament: str
    state: str
    """`finished`, `stopped` or `unfinished`."""
    matches: int
    """Number of opened matches."""
    playing: int
    """Number of opened matches that are not over."""
    without_proof: tuple[str, ...]
    """Matches whose results only this record has: their own records were not audited, or are redacted."""
    taken_on_trust: tuple[int, ...]
    """Rounds paired by another program or version: only the rules of the system were verified."""
    rulings: int
    """Number of rulings by the organiser, which nothing else proves."""
    head: str
    """Hash of its last line before the seal; an auditor who keeps it notices later if a line was removed."""
    key: str
    """Public key that sealed it."""
    unverified: tuple[str, ...]
    """Files in the folder that prove nothing; most are made by `referee report`."""
    holds: bool = True


class BrokenTournament(Broken, frozen=True, kw_only=True):
    """A tournament whose record does not hold, or contradicts the records of its matches."""

    tournament: str


class Equivocation(Struct, frozen=True, kw_only=True):
    """Different records of one match or tournament, sealed by one key: the key's owner has contradicted itself."""

    match: str
    records: tuple[str, ...]


class Unlisted(Struct, frozen=True, kw_only=True):
    """A folder with records that no manifest lists, so a missing one might not be noticed."""

    folder: str
    records: int


RecordReport = SoundRecord | Broken


class AuditReport(Struct, frozen=True, kw_only=True):
    """Result of an audit."""

    version: Literal[1] = 1
    """Version of this object's form."""
    records: list[RecordReport]
    manifests: list[SoundManifest | BrokenManifest]
    tournaments: list[SoundTournament | BrokenTournament]
    equivocations: list[Equivocation]
    contradictions: list[Contradiction]
    """Standstills that one match of a process has on record, and another match at the same time has not."""
    unlisted: list[Unlisted]
    missing_heads: list[str]
    """Demanded heads that no sound record has."""
    published: int
    """Number of published heads that were looked for; without a folder, those of the audited records."""
    missing_published: list[MissingHeads]
    """Missing published heads, by record."""
    unchanged: int
    """Number of records that an earlier audit found sound, and that have not changed since."""
    broken: int
    """Number of broken records, without those that are only unfinished."""
    unfinished: int
    """Number of records that hold as far as they go, without a seal; 0 with `--unsealed`."""
    redacted: int
    """Number of redacted records."""
    holds: bool
