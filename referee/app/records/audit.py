"""Audits records, many at once: each by itself, and folders of them for what is missing."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Self

from msgspec import Struct

from ...errors import BadRequest
from ...plugins import PluginError, find_game, installed
from ...record.audit.audit import audit
from ...record.audit.completeness import check_course
from ...record.manifest import NAME, check_manifest, record_files
from ...record.reader import RecordError, Redacted
from ...record.redacted import check_redacted
from ...record.spec_file import FILE as SPEC
from ..pool import each

VERIFIED = ("chain", "seal", "shown fields")
"""What can be verified of a redacted record."""
NOT_VERIFIED = ("shuffle", "views", "moves", "times", "verdicts", "scores", "ranking")


class NoRecords(BadRequest):
    """A path where records were looked for has none; the text names it."""


class Demands(Struct, frozen=True):
    """What an auditor demands of every record."""

    keys: tuple[str, ...] = ()
    """Public keys, one of which must have sealed it; empty: the one that it names itself."""
    heads: tuple[str, ...] = ()
    """Hashes of lines, as players were sent them, that it must have."""
    unsealed: bool = False
    """Whether a record without a seal is taken."""


class Broken(Struct, frozen=True, kw_only=True):
    """The first thing that does not hold."""

    record: str
    """The file that it was found in."""
    line: int
    """Of that file, from 1; 0: it is about the whole file."""
    expected: str
    found: str
    holds: bool = False

    @classmethod
    def by(cls, error: RecordError, **more: Any) -> Self:
        """Return what an error tells, with the other fields of the class."""
        return cls(record=str(error.path), line=error.line, expected=error.expected, found=error.found, **more)


class SoundRecord(Struct, frozen=True, kw_only=True):
    """A record that holds."""

    record: str
    match: str
    events: int
    state: str
    """`sealed`, `unfinished` or `redacted`."""
    deal: str
    """`fair`, of the players' nonces; `fixed`; from a `position`; or `hidden`."""
    key: str | None
    """The public key that sealed it."""
    holds: bool = True


class SoundRedaction(SoundRecord, frozen=True, kw_only=True):
    """A redacted record that holds as far as that can be told."""

    seat: int
    """That may see what it shows."""
    name: str
    """The player on that seat."""
    verified: tuple[str, ...] = VERIFIED
    not_verified: tuple[str, ...] = NOT_VERIFIED


class SoundManifest(Struct, frozen=True, kw_only=True):
    """A signed list of a folder's records, all of which are there, and no others."""

    manifest: str
    records: int
    holds: bool = True


class BrokenManifest(Broken, frozen=True, kw_only=True):
    """A manifest that does not hold."""

    manifest: str


class SoundTournament(Struct, frozen=True, kw_only=True):
    """A tournament whose records tell of none that is not there."""

    spec: str
    matches: int
    """That were opened."""
    holds: bool = True


class BrokenTournament(Broken, frozen=True, kw_only=True):
    """A tournament of which a record is missing, or contradicts another."""

    spec: str


class Unlisted(Struct, frozen=True, kw_only=True):
    """A folder with records that no manifest lists: a missing one might not be noticed."""

    folder: str
    records: int


RecordReport = SoundRecord | Broken


class AuditReport(Struct, frozen=True, kw_only=True):
    """What an audit found."""

    records: list[RecordReport]
    manifests: list[SoundManifest | BrokenManifest]
    tournaments: list[SoundTournament | BrokenTournament]
    unlisted: list[Unlisted]
    broken: int
    """Of the records."""
    redacted: int
    """Of the records."""
    holds: bool
    """Whether everything does."""


def find_records(paths: Sequence[Path]) -> list[Path]:
    """Return the files of records that were named, or that lie below a folder that was.

    Raises:
        NoRecords: there is no such path, or no record below it.
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise NoRecords(f"there is no file or folder {path}")
        inside = record_files(path) if path.is_dir() else [path]
        if not inside:
            raise NoRecords(f"there is no record (*.jsonl) in {path}")
        found += inside
    return found


def audit_paths(
    paths: Sequence[Path], demands: Demands, jobs: int, seen: Callable[[RecordReport, int], None]
) -> AuditReport:
    """Audit records, and what folders of them tell of records that are missing.

    Args:
        paths: record files, or folders of them.
        demands: what is demanded of every record.
        jobs: so many records are audited at the same time.
        seen: called as soon as a record is audited, in the files' order, with how many there are in all.

    Raises:
        NoRecords: there is no such path, or no record below it.
        Exception: the auditor itself failed, or a game's rules did; that accuses no record.
    """
    files = find_records(paths)
    reports: list[RecordReport] = []
    with closing(each(partial(audit_record, demands=demands), files, jobs)) as found:
        for report in found:
            reports.append(report)
            seen(report, len(files))
    folders = [path for path in paths if path.is_dir()]
    manifests = [_manifest(path, demands.keys) for folder in folders for path in sorted(folder.rglob(NAME))]
    tournaments = [_tournament(path) for folder in folders for path in sorted(folder.rglob(SPEC))]
    return AuditReport(
        records=reports,
        manifests=manifests,
        tournaments=tournaments,
        unlisted=list(_unlisted(folders)),
        broken=sum(not report.holds for report in reports),
        redacted=sum(isinstance(report, SoundRedaction) for report in reports),
        holds=all(part.holds for part in (*reports, *manifests, *tournaments)),
    )


def audit_record(path: Path, demands: Demands) -> RecordReport:
    """Audit one record.

    Raises:
        Exception: the auditor itself failed; a note says over which record.
    """
    try:
        return _sound_redaction(path, demands) if (whole := _sound(path, demands)) is None else whole
    except RecordError as error:
        return Broken.by(error)
    except PluginError as error:
        return Broken.by(RecordError(path, 1, str(error), "none"))
    except Exception as error:
        error.add_note(f"while {path} was audited")
        raise


def _sound(path: Path, demands: Demands) -> SoundRecord | None:
    """Return what there is to say of a record that holds; None if it is a redacted one.

    Raises:
        RecordError: it does not hold.
    """
    try:
        record = audit(
            path,
            find_game,
            keys=demands.keys,
            heads=demands.heads,
            is_strict=not demands.unsealed,
            moves_in=installed().moves_in,
        )
    except Redacted:
        return None
    setup = record.header.setup
    return SoundRecord(
        record=str(path),
        match=setup.match,
        events=len(record.steps),
        state=record.state,
        deal="position" if setup.position is not None else "fair" if setup.nonces else "fixed",
        key=None if record.seal is None else record.header.key,
    )


def _sound_redaction(path: Path, demands: Demands) -> SoundRedaction:
    redaction = check_redacted(path, demands.keys, demands.heads)
    header = redaction.header
    return SoundRedaction(
        record=str(path),
        match=header.setup.match,
        events=len(redaction.chain.lines) - 3,
        state="redacted",
        deal="hidden",
        key=header.key,
        seat=redaction.seat,
        name=header.setup.names[redaction.seat],
    )


def _manifest(path: Path, keys: Collection[str]) -> SoundManifest | BrokenManifest:
    try:
        return SoundManifest(manifest=str(path), records=len(check_manifest(path.parent, keys).records))
    except RecordError as error:
        return BrokenManifest.by(error, manifest=str(path))


def _tournament(path: Path) -> SoundTournament | BrokenTournament:
    try:
        return SoundTournament(spec=str(path), matches=len(check_course(path.parent)))
    except RecordError as error:
        return BrokenTournament.by(error, spec=str(path))


def _unlisted(folders: Sequence[Path]) -> Iterator[Unlisted]:
    """Yield the folders with records that no manifest lists."""
    for folder in folders:
        listed = {path.parent for path in folder.rglob(NAME)}
        records = sum(listed.isdisjoint(path.parents) for path in record_files(folder))
        if records:
            yield Unlisted(folder=str(folder), records=records)
