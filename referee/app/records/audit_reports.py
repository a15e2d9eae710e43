"""What is demanded of records, and what an audit of them tells."""

from typing import Any, Literal, Self

from msgspec import Struct

from ...match.setup import SeedOpens
from ...record.audit.processes import Contradiction
from ...record.published_heads import PublishedHead
from ...record.reader import NotSealed, RecordError

VERIFIED = ("chain", "seal", "shown fields", "times")
"""What can be verified of a redacted record."""
BY_SEED = ("shuffle", "views", "moves", "scores", "ranking")
"""What can be verified besides with the seed of a match that was dealt: its views are those of the seat."""
NOT_VERIFIED = ("verdicts on others",)


class Demands(Struct, frozen=True):
    """What an auditor demands of the records."""

    keys: tuple[str, ...] = ()
    """Public keys, one of which must have sealed each; empty: the one that it names itself."""
    heads: tuple[str, ...] = ()
    """Hashes of lines, as players were sent them, each of which one of the records must have."""
    published: dict[str, list[PublishedHead]] = {}
    """Match or tournament -> the heads of its record that were published while it was written, all of which it has."""
    unsealed: bool = False
    """Whether a record without a seal is taken."""
    seed: str | None = None
    """Of the match, in hex; None: the one that a whole record tells."""


class MissingHeads(Struct, frozen=True, kw_only=True):
    """Heads of one record that were published, and that no record which holds has."""

    record: str
    """Name of its match or tournament."""
    missing: int
    published: int
    first: PublishedHead
    """Of those that are missing."""


class Broken(Struct, frozen=True, kw_only=True):
    """The first thing that does not hold."""

    record: str
    """The file that it was found in."""
    line: int | None
    """The `n` of the line, which counts from 0; null: it concerns the whole file."""
    expected: str
    found: str
    state: Literal["broken", "unfinished"] = "broken"
    """`unfinished`: what there is holds, but it has no seal, and `--unsealed` was not given."""
    holds: bool = False

    @classmethod
    def by(cls, error: RecordError, **more: Any) -> Self:
        """Return what an error tells, with the other fields of the class."""
        state: Literal["broken", "unfinished"] = "unfinished" if isinstance(error, NotSealed) else "broken"
        record, expected, found = str(error.path), error.expected, error.found
        return cls(record=record, line=error.line, expected=expected, found=found, state=state, **more)


class SoundRecord(Struct, frozen=True, kw_only=True):
    """A record that holds."""

    record: str
    match: str
    events: int
    state: str
    """`sealed`, `unfinished` or `redacted`."""
    deal: str
    """`fair`, of the players' nonces; `fixed`; from a `position`; or `hidden`."""
    seed_opens: SeedOpens
    """When the players are told the seed."""
    key: str | None
    """The public key that sealed it."""
    head: str
    """Hash of its last line but the seal."""
    tournament: str | None = None
    """The tournament that the record claims to be of, where nothing verified that: the tournament's own record was not
    audited with it; null: that was verified, or it claims nothing like it."""
    holds: bool = True


class SoundRedaction(SoundRecord, frozen=True, kw_only=True):
    """A redacted record that holds as far as that can be told."""

    seat: int
    """That may see what it shows."""
    name: str
    """The player on that seat."""
    verified: tuple[str, ...]
    not_verified: tuple[str, ...]


class SoundManifest(Struct, frozen=True, kw_only=True):
    """A signed list of a folder's records, all of which are there, and no others."""

    manifest: str
    records: int
    holds: bool = True


class BrokenManifest(Broken, frozen=True, kw_only=True):
    """A manifest that does not hold."""

    manifest: str


class SoundTournament(Struct, frozen=True, kw_only=True):
    """A tournament whose record holds, and so does all that it tells of its matches."""

    tournament: str
    state: str
    """`finished`, `stopped` or `unfinished`."""
    matches: int
    """That were opened."""
    playing: int
    """Of them, those that are not over."""
    without_proof: tuple[str, ...]
    """Matches whose results only this record tells: theirs were not audited, or are redacted."""
    taken_on_trust: tuple[int, ...]
    """Rounds that another program, or another version of it, had paired: only what the rules demand was verified."""
    rulings: int
    """What the organiser decided; nothing else tells that he did."""
    head: str
    """Hash of its last line but the seal; whoever keeps it can tell later whether anything was taken back."""
    key: str
    """The public key that sealed it."""
    unverified: tuple[str, ...]
    """What lies in the folder and proves nothing: `referee report` makes most of it anew."""
    holds: bool = True


class BrokenTournament(Broken, frozen=True, kw_only=True):
    """A tournament whose record does not hold, or that says other things than the records of its matches."""

    tournament: str


class Equivocation(Struct, frozen=True, kw_only=True):
    """Different records of one match or tournament, sealed by one key: its owner told one thing here, another there."""

    match: str
    records: tuple[str, ...]


class Unlisted(Struct, frozen=True, kw_only=True):
    """A folder with records that no manifest lists: a missing one might not be noticed."""

    folder: str
    records: int


RecordReport = SoundRecord | Broken


class AuditReport(Struct, frozen=True, kw_only=True):
    """What an audit found."""

    version: Literal[1] = 1
    """Version of this object's form."""
    records: list[RecordReport]
    manifests: list[SoundManifest | BrokenManifest]
    tournaments: list[SoundTournament | BrokenTournament]
    equivocations: list[Equivocation]
    contradictions: list[Contradiction]
    """Standstills that a match of a process tells of, and another one at the same time does not."""
    unlisted: list[Unlisted]
    missing_heads: list[str]
    """Those that were demanded, and that no record which holds has."""
    published: int
    """Heads that were published, and looked for: without a folder, of the records alone that were audited."""
    missing_published: list[MissingHeads]
    """By record."""
    unchanged: int
    """Of the records: an earlier audit found that they hold, and they were not audited again."""
    broken: int
    """Of the records; those that are only unfinished are not among them."""
    unfinished: int
    """Of the records: they hold as far as they go, and have no seal; with `--unsealed`, none is counted here."""
    redacted: int
    """Of the records."""
    holds: bool
