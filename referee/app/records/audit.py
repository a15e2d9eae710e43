"""Audits many records at once: checks each record by itself, and looks for records that are missing from folders."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ...errors import BadRequest
from ...files.reading import files_below
from ...games.base import BadSetup
from ...observers.heads import PublishedHead
from ...plugins import PluginError, find_game, installed
from ...record.audit.match import audit
from ...record.audit.processes import contradictions
from ...record.audit.redacted import check_with_seed
from ...record.audit.times import presences
from ...record.audit.tournament import MatchProof
from ...record.folder import record_files
from ...record.manifest import NAME, check_manifest
from ...record.reader import Chain, IsRedacted, Record, RecordError
from ...record.redacted_record import RedactedRecord, check_redacted_record
from ...record.schema import Header
from ...record.tournament_record import is_tournament
from ..pool import map_in_processes
from .audit_reports import (
    BY_SEED,
    NOT_VERIFIED,
    VERIFIED,
    AuditReport,
    Broken,
    BrokenManifest,
    Demands,
    Equivocation,
    MissingHeads,
    RecordReport,
    SoundManifest,
    SoundRecord,
    SoundRedaction,
    Unlisted,
)
from .earlier_audit import EarlierAudit
from .tournament_audit import (
    Examined,
    ExaminedTournament,
    Head,
    audit_tournaments,
    compare_matches,
    compare_tournaments,
    select_heads,
)

# A single sound record proves little: its owner may have dropped another one, or have sealed two versions of it. So an
# audit of several files also compares them. Records are first examined each by itself, in parallel, because replaying
# a match takes most of the time. What the comparisons need is then taken from their results: heads that players were
# sent, the tournament's line that opened the match, and the times at which a process ran. This keeps the memory of an
# audit of ten thousand records small.


def find_records(paths: Sequence[Path]) -> list[Path]:
    """Return the named files of records, and those below the named folders.

    Raises:
        BadRequest: a path does not exist, or has no record below it.
    """
    records: list[Path] = []
    for path in paths:
        if not path.exists():
            raise BadRequest(f"there is no file or folder {path}")
        inside = record_files(path) if path.is_dir() else [path]
        if not inside:
            raise BadRequest(f"there is no record (*.jsonl) in {path}")
        records += inside
    return records


def audit_paths(
    paths: Sequence[Path],
    demands: Demands,
    jobs: int,
    seen: Callable[[RecordReport, int], None],
    since: Path | None = None,
) -> AuditReport:
    """Audit records, and look for missing ones.

    Args:
        paths: record files, or folders of them.
        demands: the auditor's demands on every record.
        jobs: number of records audited at the same time.
        seen: called for each audited record, in the order of the files, with the number of all records.
        since: file with the results of earlier audits, which this one updates.

    Raises:
        BadRequest: a path has no record below it, or the file of earlier audits can't be trusted, read or written.
        Exception: the auditor or a game's rules failed; that is no evidence against a record.
    """
    record_paths = find_records(paths)
    earlier = EarlierAudit(auditor="") if since is None else EarlierAudit.read(since, paths)
    tournament_paths = [path for path in record_paths if _is_tournament(path)]
    files = [path for path in record_paths if path not in set(tournament_paths)]
    unchanged = {match.path: match for match in earlier.unchanged(files, demands)}
    examined: list[Examined] = []
    homes = {path.parent for path in tournament_paths}
    rest = [path for path in files if path not in unchanged]
    with closing(map_in_processes(partial(examine, demands=demands), rest, jobs)) as examinations:
        for path in files:
            examined.append(_with_claim(unchanged.get(path) or next(examinations), homes))
            seen(examined[-1].report, len(files))
    folders = [path for path in paths if path.is_dir()]
    audited = audit_tournaments(tournament_paths, folders, examined, demands, jobs)
    equivocations = [*compare_matches([*examined, *earlier.others(examined)]), *compare_tournaments(audited)]
    if since is not None:
        earlier.write(since, examined)
    return _report(_Findings(folders, examined, audited, equivocations, len(unchanged)), demands)


def _with_claim(match: Examined, homes: set[Path]) -> Examined:
    """Drop a match's claim to belong to a tournament, if the tournament's own record is audited with it."""
    if not isinstance(match.report, SoundRecord) or homes.isdisjoint(match.path.parents):
        return match
    return replace(match, report=replace(match.report, tournament=None))


class _Findings(Struct, frozen=True):
    """Everything that was found, before it becomes a report."""

    folders: list[Path]
    examined: list[Examined]
    audited: list[ExaminedTournament]
    equivocations: list[Equivocation]
    unchanged: int


def _report(findings: _Findings, demands: Demands) -> AuditReport:
    """Return the report of an audit, with everything that was demanded and is missing."""
    folders, examined, audited = findings.folders, findings.examined, findings.audited
    reports = [match.report for match in examined]
    manifests = [_manifest(path, demands.keys) for folder in folders for path in files_below(folder, NAME)]
    tournaments = [tournament.report for tournament in audited]
    there = frozenset[Head]().union(*(match.heads for match in examined), *(tournament.heads for tournament in audited))
    hashes = {head for _, head in there}
    missing_heads = [head for head in demands.heads if head not in hashes]
    audited_names = {report.match for report in reports if isinstance(report, SoundRecord)}
    audited_names |= {part.record.header.spec.name for part in audited if part.record is not None}
    # A referee publishes heads of all its matches in one file. An audit of single files looks only for the heads of
    # these files. An audit of a folder looks for all heads, so that it notices a record that was removed.
    published = {name: heads for name, heads in demands.published.items() if folders or name in audited_names}
    missing_published = list(_missing(published, there))
    contradicted = list(contradictions(presence for match in examined for presence in match.presences))
    parts = (*reports, *manifests, *tournaments)
    return AuditReport(
        records=reports,
        manifests=manifests,
        tournaments=tournaments,
        equivocations=findings.equivocations,
        contradictions=contradicted,
        unlisted=list(_find_unlisted(folders, [Path(tournament.report.tournament).parent for tournament in audited])),
        missing_heads=missing_heads,
        published=sum(map(len, published.values())),
        missing_published=missing_published,
        unchanged=findings.unchanged,
        broken=sum(isinstance(report, Broken) and report.state == "broken" for report in reports),
        unfinished=sum(isinstance(report, Broken) and report.state == "unfinished" for report in reports),
        redacted=sum(isinstance(report, SoundRedaction) for report in reports),
        holds=all(part.holds for part in parts)
        and not (findings.equivocations or contradicted or missing_heads or missing_published),
    )


def _missing(published: Mapping[str, Sequence[PublishedHead]], there: Collection[Head]) -> Iterator[MissingHeads]:
    """Yield, by record, published heads that no record has."""
    for record, heads in published.items():
        missing = [head for head in heads if (head.line, head.head) not in there]
        if missing:
            yield MissingHeads(record=record, missing=len(missing), published=len(heads), first=missing[0])


def _is_tournament(path: Path) -> bool:
    """Return whether a file is a tournament's record; an unreadable one is examined like any other."""
    try:
        return is_tournament(path)
    except OSError:
        return False


def examine(path: Path, demands: Demands) -> Examined:
    """Audit one record.

    Raises:
        Exception: the auditor itself failed; a note names the record.
    """
    try:
        record = _audit_match(path, demands)
        if record is None:
            return _examine_redaction(path, demands)
        if demands.seed is not None and record.seed is not None and record.seed.hex() != demands.seed:
            raise RecordError(path, len(record.chain.hashes) - 2, f"seed {demands.seed}", f"seed {record.seed.hex()}")
        header = record.header
        return Examined(
            path,
            _sound(record),
            proof=None if header.context is None else MatchProof.of(record),
            opening=_opening(header, record.chain, is_drawn=header.seed is None),
            heads=select_heads(record.chain, header.setup.match, demands),
            presences=tuple(presences(record)),
            digest=record.chain.digest,
        )
    except RecordError as error:
        return Examined(path, Broken.by(error))
    # A game that is not installed here must not end the audit of all other records.
    except PluginError as error:
        return Examined(path, Broken.by(RecordError(path, 0, str(error), "none")))
    # Anything else is a fault of the auditor. It ends the audit: counted as a broken record, it would look like
    # evidence against the referee that wrote the record.
    except Exception as error:
        error.add_note(f"while {path} was audited")
        raise


def _audit_match(path: Path, demands: Demands) -> Record | None:
    """Return a record that holds; None if it is redacted."""
    try:
        return audit(path, find_game, keys=demands.keys, is_strict=not demands.unsealed, find_wire=installed().wire)
    except IsRedacted:
        return None


def _sound(record: Record) -> SoundRecord:
    setup = record.header.setup
    return SoundRecord(
        record=str(record.path),
        match=setup.match,
        events=len(record.transitions),
        state=record.state,
        deal=_deal(record.header),
        seed_opens=setup.seed_opens,
        key=None if record.seal is None else record.header.key,
        rules_version=record.header.rules_version,
        checked_by=find_game(setup.game).rules_version,
        tournament=_claim(record.header),
        head=record.chain.head if record.seal is None else record.seal.prev,
    )


def _claim(header: Header) -> str | None:
    return None if header.context is None else header.context.tournament


def _deal(header: Header) -> str:
    return "position" if header.setup.position is not None else "fair" if header.setup.nonces else "fixed"


def _check_with_seed(redaction: RedactedRecord, seed: str) -> None:
    """Check what a redacted record shows against the seed of its match."""
    record = redaction.record
    try:
        check_with_seed(record, redaction.seat, seed, find_game(redaction.header.setup.game))
    except BadSetup as error:
        raise RecordError(record.path, 0, f"a setup of {redaction.header.setup.game}", str(error)) from None


def _examine_redaction(path: Path, demands: Demands) -> Examined:
    redaction = check_redacted_record(path, find_game, demands.keys, find_wire=installed().wire)
    header = redaction.header
    if demands.seed is not None:
        _check_with_seed(redaction, demands.seed)
    is_dealt = demands.seed is not None and header.setup.position is None
    report = SoundRedaction(
        record=str(path),
        match=header.setup.match,
        events=len(redaction.chain.lines) - 3,
        state="redacted",
        deal="hidden" if demands.seed is None else _deal(header),
        seed_opens=header.setup.seed_opens,
        key=header.key,
        rules_version=header.rules_version,
        checked_by=find_game(header.setup.game).rules_version,
        tournament=_claim(header),
        head=redaction.chain.lines[-1].fields["prev"],
        seat=redaction.seat,
        name=header.setup.names[redaction.seat],
        verified=(*VERIFIED, *BY_SEED) if is_dealt else VERIFIED,
        not_verified=NOT_VERIFIED if is_dealt else (*BY_SEED, *NOT_VERIFIED),
    )
    heads = select_heads(redaction.chain, header.setup.match, demands)
    opening = _opening(header, redaction.chain, is_drawn=redaction.chain.lines[0].fields["seed"] is None)
    ran = tuple(presences(redaction.record))
    return Examined(path, report, header=header, opening=opening, heads=heads, presences=ran)


def _opening(header: Header, chain: Chain, *, is_drawn: bool) -> str:
    """Return a text that is equal in all records of one match, and differs between matches of the same name."""
    if header.context is not None:
        return header.context.head
    # a secret seed is drawn once; a fixed one may be played again
    return header.setup.commitment if is_drawn else chain.hashes[0]


def _manifest(path: Path, keys: Collection[str]) -> SoundManifest | BrokenManifest:
    try:
        return SoundManifest(manifest=str(path), records=len(check_manifest(path.parent, keys).records))
    except RecordError as error:
        return BrokenManifest.by(error, manifest=str(path))


def _find_unlisted(folders: Sequence[Path], known: Sequence[Path]) -> Iterator[Unlisted]:
    """Yield the folders with records that neither a manifest nor a tournament lists."""
    for folder in folders:
        listed = {*known, *(path.parent for path in files_below(folder, NAME))}
        records = sum(listed.isdisjoint(path.parents) for path in record_files(folder))
        if records:
            yield Unlisted(folder=str(folder), records=records)
