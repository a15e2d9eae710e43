"""Audits the records of tournaments, each against those of its matches, and finds records that contradict each other.

Whether a match's record holds by itself has been checked before.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from msgspec import Struct

from ...files.reading import everything_below
from ...plugins import PluginError, find_format, find_game
from ...record.audit.processes import check_runs, check_starts
from ...record.audit.times import Presence
from ...record.audit.tournament import AuditedTournament, MatchProof, audit_tournament
from ...record.manifest import NAME as MANIFEST
from ...record.reader import Chain, RecordError
from ...record.schema import Header
from ...record.tournament_record import TournamentRecord
from ...tournament.pairing.base import BadFormat, Group, RoundToPair
from ...tournament.pairing.dutch import pair_round
from ...tournament.standings import UnknownTieBreak
from ..pool import map_in_processes
from . import audit_reports as reports

# The records of a tournament and of its matches secure each other. The header of a match's record has the hash of the
# tournament's line that opened the match, and the tournament's line that closes it has the hash of the match's last
# line before the seal. So neither can be written again later without the other, and a match can't be moved into another
# tournament.
#
# Some things are proved by no hash, and are checked here by comparison. Every opened match has a record, no unproved
# file is in the folder, and one key did not seal two versions of the same match or tournament.
Head = tuple[int, str]
"""Number of a line, from 0, and its hash."""


class Examined(Struct, frozen=True):
    """A record of a match that was audited."""

    path: Path
    report: reports.RecordReport
    proof: MatchProof | None = None
    """What the record says of its tournament, if it belongs to one and holds."""
    header: Header | None = None
    """First line of a redacted record."""
    opening: str | None = None
    """Distinguishes the match from others of its name. In a tournament: hash of the tournament's line that opened it.
    For a single match: the commitment to its seed; if the seed is fixed, the hash of its first line."""
    heads: frozenset[Head] = frozenset()
    """The demanded heads that it has."""
    presences: tuple[Presence, ...] = ()
    """The process that ran it, when it did, and the standstills on record."""
    digest: str = ""
    """SHA-256 of its file, if the file has a whole record that holds."""


class ExaminedTournament(Struct, frozen=True):
    """A tournament that was audited."""

    report: reports.SoundTournament | reports.BrokenTournament
    record: TournamentRecord | None = None
    """The record; None if it does not hold by itself."""
    heads: frozenset[Head] = frozenset()
    """The demanded heads that it has."""


class _Folder(Struct, frozen=True):
    """The matches found in the folder of a tournament."""

    path: Path
    matches: list[Examined]
    is_whole: bool
    """True if the whole folder was audited, and not only some of its files."""
    others: frozenset[Path]
    """Folders of other tournaments in this folder."""


def audit_tournaments(
    paths: Sequence[Path], folders: Sequence[Path], examined: Sequence[Examined], demands: reports.Demands, jobs: int
) -> list[ExaminedTournament]:
    """Audit the records of tournaments, and name those that are missing.

    Args:
        paths: the records.
        folders: folders that were searched.
        examined: all records of matches that were found.
        demands: the auditor's demands on every record.
        jobs: number of rounds that are paired again at the same time.

    Raises:
        Exception: the auditor itself failed; a note names the record.
    """
    homes = {path.parent for path in paths}
    matches: dict[Path, list[Examined]] = {home: [] for home in homes}
    astray: dict[Path, None] = {}
    for match in examined:
        home = next((parent for parent in match.path.parents if parent in homes), None)
        if home is not None:
            matches[home].append(match)
        elif match.proof is not None and _is_below(match.path, folders):
            context = match.proof.header.context
            astray[match.path.with_name(f"{'' if context is None else context.tournament}.jsonl")] = None
    tournaments = []
    for path in paths:
        others = frozenset(home for home in homes if path.parent in home.parents)
        folder = _Folder(path.parent, matches[path.parent], _is_below(path, folders), others)
        tournaments.append(_examine(path, folder, demands, jobs))
    return [*tournaments, *(_missing(path) for path in astray)]


def _is_below(path: Path, folders: Collection[Path]) -> bool:
    return any(parent in folders for parent in path.parents)


def _missing(path: Path) -> ExaminedTournament:
    error = RecordError(path, None, "the record of the tournament whose matches lie next to it", "none")
    return ExaminedTournament(reports.BrokenTournament.by(error, tournament=str(path)))


def _examine(path: Path, folder: _Folder, demands: reports.Demands, jobs: int) -> ExaminedTournament:
    """Audit the record of a tournament, against those of its matches."""
    try:
        pair = partial(_pair_rounds, jobs=jobs)
        audited = audit_tournament(path, find_format, find_game, pair, keys=demands.keys, is_strict=False)
        _check_matches(audited, folder)
        if not demands.unsealed:
            audited.check_sealed()
    except RecordError as error:
        return ExaminedTournament(reports.BrokenTournament.by(error, tournament=str(path)))
    except (PluginError, BadFormat, UnknownTieBreak) as error:
        return ExaminedTournament(
            reports.BrokenTournament.by(RecordError(path, 0, str(error), "none"), tournament=str(path))
        )
    except Exception as error:
        error.add_note(f"while {path} was audited")
        raise
    unverified = tuple(sorted(_find_unverified(path, folder))) if folder.is_whole else ()
    report = _sound(audited, folder, unverified)
    record = audited.record
    return ExaminedTournament(report, record, select_heads(record.chain, record.header.spec.name, demands))


def _pair_rounds(rounds: Sequence[RoundToPair], jobs: int) -> list[tuple[tuple[Group, ...], str]]:
    with closing(map_in_processes(pair_round, rounds, jobs)) as pairings:
        return list(pairings)


def _check_matches(audited: AuditedTournament, folder: _Folder) -> None:
    """Check the records of a tournament's matches against its own.

    Raises:
        RecordError: the first record that does not fit.
        PluginError: the game is not installed.
    """
    audited.check_files([match.path for match in folder.matches], is_whole=folder.is_whole)
    for match in folder.matches:
        if match.proof is not None:
            audited.check_match(match.proof, find_game)
        elif isinstance(match.report, reports.SoundRedaction) and match.header is not None:
            audited.check_head(match.path, match.header, match.report.head)
    ran = {match.path.stem: match.presences for match in folder.matches}
    check_runs(audited.record, ran)
    check_starts(audited.record, audited.spec, ran)
    for match in folder.matches:
        if isinstance(match.report, reports.Broken):
            is_unfinished = match.report.state == "unfinished"
            audited.check_broken(match.path, match.report.line, is_unfinished=is_unfinished)


def _sound(audited: AuditedTournament, folder: _Folder, unverified: tuple[str, ...]) -> reports.SoundTournament:
    record, tournament = audited.record, audited.history.tournament
    last = record.chain.lines[-1]
    return reports.SoundTournament(
        tournament=str(record.path),
        state="finished" if record.is_finished else "stopped" if record.is_sealed else "unfinished",
        matches=len(audited.contexts),
        playing=len(tournament.playing),
        without_proof=audited.without_proof([match.proof for match in folder.matches if match.proof is not None]),
        taken_on_trust=audited.taken_on_trust,
        rulings=len(tournament.rulings),
        head=last.fields["prev"] if record.is_sealed else last.hash,
        key=record.header.key,
        unverified=unverified,
    )


def _find_unverified(path: Path, folder: _Folder) -> set[str]:
    """Return the entries directly in a tournament's folder that nothing proves, or that hold unproven files."""
    proven_files = {path, folder.path / MANIFEST, *(match.path for match in folder.matches)}
    files = (file for file in everything_below(folder.path) if file not in proven_files)
    return {_part(folder.path, file) for file in files if folder.others.isdisjoint((file, *file.parents))}


def _part(folder: Path, file: Path) -> str:
    """Return the entry directly in a folder that a file below the folder belongs to."""
    part = file.relative_to(folder).parts[0]
    return f"{part}/" if (folder / part).is_dir() else part


def select_heads(chain: Chain, name: str, demands: reports.Demands) -> frozenset[Head]:
    """Return the heads of a chain that are demanded, or were published for this match or tournament."""
    return demanded_heads(enumerate(chain.hashes), name, demands)


def demanded_heads(heads: Iterable[Head], name: str, demands: reports.Demands) -> frozenset[Head]:
    """Select the heads that are demanded of every record, or were published for this match or tournament."""
    published = {(head.line, head.head) for head in demands.published.get(name, ())}
    return frozenset(head for head in heads if head in published or head[1] in demands.heads)


def compare_matches(examined: Iterable[Examined]) -> Iterator[reports.Equivocation]:
    """Yield the matches for which one key sealed different records.

    Other matches may have the same name: a tournament that is played again opens its own matches, in another record.
    """
    versions: dict[tuple[str, str, str | None], dict[str, str]] = {}
    for match in examined:
        report = match.report
        if isinstance(report, reports.SoundRecord) and report.key is not None:
            versions.setdefault((report.match, report.key, match.opening), {}).setdefault(report.head, report.record)
    for (name, *_), records in versions.items():
        if len(records) > 1:
            yield reports.Equivocation(match=name, records=tuple(records.values()))


def compare_tournaments(audited: Iterable[ExaminedTournament]) -> Iterator[reports.Equivocation]:
    """Yield the tournaments for which one key sealed different records, neither of which continues the other."""
    versions: dict[tuple[str, ...], list[TournamentRecord]] = {}
    for record in filter(None, (tournament.record for tournament in audited)):
        header, first = record.header, record.chain.lines[0].hash
        begun = header.salt if header.spec.seed is None else first  # drawn once, unless all chance is fixed
        versions.setdefault((header.spec.name, header.key, begun), []).append(record)
    for (name, *_), records in versions.items():
        hashes_of_versions = [record.chain.hashes for record in records]
        # A copy that was made while the tournament went on is no contradiction: it is the beginning of the longer
        # record. So comparing each version with the longest one is enough.
        longest = max(hashes_of_versions, key=len)
        if any(longest[: len(hashes)] != hashes for hashes in hashes_of_versions):
            yield reports.Equivocation(match=name, records=tuple(str(record.path) for record in records))
