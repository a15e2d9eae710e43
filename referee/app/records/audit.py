"""Audits records, many at once: each by itself, and folders of them for what is missing."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Self

from msgspec import Struct

from ...errors import BadRequest
from ...ledger.checking import check_ledger
from ...ledger.ledger import FILE as LEDGER
from ...pairing.base import BadFormat
from ...pairing.dutch import pair_round
from ...plugins import PluginError, find_format, find_game, installed
from ...record.audit.audit import audit
from ...record.audit.tournament import MatchProof, audit_tournament
from ...record.manifest import NAME, check_manifest, record_files
from ...record.reader import Record, RecordError, Redacted
from ...record.redacted import check_redacted
from ...record.tournament_record import is_tournament
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
    head: str
    """Hash of its last line but the seal."""
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
    """A tournament whose record holds, and so does all that it tells of its matches."""

    tournament: str
    """Its record."""
    state: str
    """`finished`, `stopped` or `unfinished`."""
    matches: int
    """That were opened."""
    playing: int
    """Of them, those that are not over."""
    key: str
    """The public key that sealed it."""
    ledger: str | None
    """The file of its ledger, which says the same; None: there is none in the folder."""
    unverified: tuple[str, ...]
    """Files in the folder that prove nothing: `referee report` makes most of them anew."""
    holds: bool = True


class BrokenTournament(Broken, frozen=True, kw_only=True):
    """A tournament whose record does not hold, or that says other things than the records of its matches."""

    tournament: str


class Equivocation(Struct, frozen=True, kw_only=True):
    """Different records of one match, sealed by one key: the referee told one thing here and another there."""

    match: str
    records: tuple[str, ...]


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
    equivocations: list[Equivocation]
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
    found = find_records(paths)
    whole = [path for path in found if is_tournament(path)]
    files = [path for path in found if path not in set(whole)]
    examined: list[Examined] = []
    with closing(each(partial(examine, demands=demands), files, jobs)) as examinations:
        for one in examinations:
            examined.append(one)
            seen(one.report, len(files))
    reports = [one.report for one in examined]
    folders = [path for path in paths if path.is_dir()]
    manifests = [_manifest(path, demands.keys) for folder in folders for path in sorted(folder.rglob(NAME))]
    tournaments = [_tournament(path, examined, demands) for path in whole]
    equivocations = list(_equivocations(reports))
    parts = (*reports, *manifests, *tournaments)
    return AuditReport(
        records=reports,
        manifests=manifests,
        tournaments=tournaments,
        equivocations=equivocations,
        unlisted=list(_unlisted(folders, [path.parent for path in whole])),
        broken=sum(not report.holds for report in reports),
        redacted=sum(isinstance(report, SoundRedaction) for report in reports),
        holds=all(part.holds for part in parts) and not equivocations,
    )


class Examined(Struct, frozen=True):
    """A record that was audited."""

    path: Path
    report: RecordReport
    proof: MatchProof | None = None
    """What it says of its tournament, if it is of one and holds."""


def examine(path: Path, demands: Demands) -> Examined:
    """Audit one record.

    Raises:
        Exception: the auditor itself failed; a note says over which record.
    """
    try:
        record = _audited(path, demands)
        if record is None:
            return Examined(path, _sound_redaction(path, demands))
        return Examined(path, _sound(record), None if record.header.context is None else MatchProof.of(record))
    except RecordError as error:
        return Examined(path, Broken.by(error))
    except PluginError as error:
        return Examined(path, Broken.by(RecordError(path, 1, str(error), "none")))
    except Exception as error:
        error.add_note(f"while {path} was audited")
        raise


def _audited(path: Path, demands: Demands) -> Record | None:
    """Return a record that holds; None if it is a redacted one.

    Raises:
        RecordError: it does not hold.
    """
    try:
        return audit(
            path,
            find_game,
            keys=demands.keys,
            heads=demands.heads,
            is_strict=not demands.unsealed,
            moves_in=installed().moves_in,
        )
    except Redacted:
        return None


def _sound(record: Record) -> SoundRecord:
    setup = record.header.setup
    return SoundRecord(
        record=str(record.path),
        match=setup.match,
        events=len(record.steps),
        state=record.state,
        deal="position" if setup.position is not None else "fair" if setup.nonces else "fixed",
        key=None if record.seal is None else record.header.key,
        head=record.chain.head if record.seal is None else record.seal.prev,
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
        head=redaction.chain.lines[-1].fields["prev"],
        seat=redaction.seat,
        name=header.setup.names[redaction.seat],
    )


def _manifest(path: Path, keys: Collection[str]) -> SoundManifest | BrokenManifest:
    try:
        return SoundManifest(manifest=str(path), records=len(check_manifest(path.parent, keys).records))
    except RecordError as error:
        return BrokenManifest.by(error, manifest=str(path))


def _tournament(path: Path, examined: Sequence[Examined], demands: Demands) -> SoundTournament | BrokenTournament:
    """Audit the record of a tournament, against those of its matches and the ledger."""
    folder = path.parent
    try:
        audited = audit_tournament(path, find_format, pair_round, keys=demands.keys, is_strict=not demands.unsealed)
        matches = [one for one in examined if folder in one.path.parents]
        audited.check_files([one.path for one in matches])
        for one in matches:
            if one.proof is not None:
                audited.check_match(one.proof, find_game)
        ledger = folder / LEDGER
        if ledger.exists():
            check_ledger(ledger, audited.record)
    except RecordError as error:
        return BrokenTournament.by(error, tournament=str(path))
    except (PluginError, BadFormat) as error:
        return BrokenTournament.by(RecordError(path, 1, str(error), "none"), tournament=str(path))
    record, known = audited.record, {path, ledger, *(one.path for one in matches)}
    return SoundTournament(
        tournament=str(path),
        state="finished" if record.is_finished else "stopped" if record.is_sealed else "unfinished",
        matches=len(audited.contexts),
        playing=len(audited.history.tournament.playing),
        key=record.header.key,
        ledger=str(ledger) if ledger.exists() else None,
        unverified=tuple(sorted({_part(folder, file) for file in folder.rglob("*") if file not in known})),
    )


def _part(folder: Path, file: Path) -> str:
    """Return the file or folder right in a folder that a file below it belongs to."""
    part = file.relative_to(folder).parts[0]
    return f"{part}/" if (folder / part).is_dir() else part


def _equivocations(reports: Sequence[RecordReport]) -> Iterator[Equivocation]:
    """Yield the matches of which one key sealed different records."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for report in reports:
        if isinstance(report, SoundRecord) and report.key is not None:
            found.setdefault((report.match, report.key), {}).setdefault(report.head, report.record)
    for (match, _), records in found.items():
        if len(records) > 1:
            yield Equivocation(match=match, records=tuple(records.values()))


def _unlisted(folders: Sequence[Path], known: Sequence[Path]) -> Iterator[Unlisted]:
    """Yield the folders with records that neither a manifest nor a tournament lists."""
    for folder in folders:
        listed = {*known, *(path.parent for path in folder.rglob(NAME))}
        records = sum(listed.isdisjoint(path.parents) for path in record_files(folder))
        if records:
            yield Unlisted(folder=str(folder), records=records)
