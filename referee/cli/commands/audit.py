"""`referee audit` and `referee manifest`: verify records, many at once, and sign a list of records."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import rich_click as click
from rich.markup import escape

from ...app.records.audit import audit_paths
from ...app.records.audit_reports import (
    AuditReport,
    Broken,
    Demands,
    MissingHeads,
    RecordReport,
    SoundRedaction,
    SoundTournament,
)
from ...app.services import find_sealer
from ...match.setup import LEG_WORDS
from ...observers.heads import by_record
from ...record.audit.match import name_rules
from ...record.folder import record_files
from ...record.key import parse_head, parse_public, parse_seed
from ...record.manifest import NAME, write_manifest
from ...text import counted, printable
from ..common import (
    EXISTING_FILE,
    EXISTING_FOLDER,
    FILE,
    KEY_UNSET,
    PATH,
    console,
    group_options,
    harmless,
    jobs_option,
    json_option,
    out,
    paths_argument,
    print_json,
    progress,
)
from ..errors import FAILED, own_faults

keys_option = click.option(
    "--public-key",
    "keys",
    type=parse_public,
    metavar="KEY",
    multiple=True,
    help="Public key that must have sealed the records: 64 hex digits, or a file. (Default: the one in each record)",
)
published_option = click.option(
    "--heads",
    "published",
    type=EXISTING_FILE,
    multiple=True,
    help="File of heads written by `referee play --heads FILE`: the records must have all of them.",
)
seed_option = click.option(
    "--seed",
    type=parse_seed,
    metavar="HEX",
    help="Seed of the match; with it, the audit also verifies the hand in a redacted record.",
)
heads_option = click.option(
    "--head",
    "heads",
    type=parse_head,
    metavar="HASH",
    multiple=True,
    help="Hash that the referee sent to a player: one of the records must have it.",
)


_SHOWN = 20
"""Most names to show in a line."""


def _demands(published: Sequence[Path], **demanded: Any) -> Demands:
    return Demands(published=by_record(published), **demanded)


@click.command("audit", epilog="Example:  referee audit logs/ --public-key referee.pub")
@paths_argument
@group_options(
    "demands",
    _demands,
    keys_option,
    heads_option,
    published_option,
    seed_option,
    click.option("--unsealed", is_flag=True, help="Accept records without a seal, which unfinished matches have."),
)
@jobs_option("Check this many records, or rounds of a Swiss,")
@click.option(
    "--since",
    type=PATH,
    metavar="FILE",
    help="Store in FILE which records hold, and skip records that have not changed since. The audit trusts FILE: keep"
    " it where only you can write, outside the audited folders.",
)
@click.option("-v", "--verbose", "is_verbose", is_flag=True, help="Also list the records that hold.")
@json_option
def audit_command(
    paths: tuple[Path, ...], *, demands: Demands, jobs: int, since: Path | None, is_verbose: bool, as_json: bool
) -> None:
    """Verify records: PATHS are record files or folders of them.

    In a match's record, the audit checks the chain of hashes, the seal, the commitment to the shuffle, the shuffle,
    every view, every verdict with its deadline, the scores and the ranking. If a line does not hold, it prints the
    number `n` of the first such line, counted from 0, and what it expected there.

    In a tournament's folder, it checks every pairing, ruling and bye, each result against the match's own record, and
    the standings. There, and in a folder with a MANIFEST.json, it also checks that no record is missing or was added.

    In a redacted record (`referee explain --redact`), it checks the chain, the seal, and that the record shows
    everything that one seat may see and nothing else. With --seed it also checks that the hand follows from the deal.

    Without --public-key, a record is checked against the key that the record itself names. Somebody who forged the
    whole record could have named a key of their own.

    Exit status: 0 all records hold, 1 a record is broken or unfinished, 2 usage error, 3 the auditor itself failed: its
    traceback is on stderr, and says nothing against a record.
    """
    with (
        own_faults("the auditor itself failed; this says nothing against a record"),
        progress("auditing", as_json) as advance,
    ):
        # Show each record as soon as it is audited: among ten thousand records, a broken one should be seen at once.
        def _show_progress(report: RecordReport, total: int) -> None:
            advance(total)
            if not as_json and (is_verbose or total == 1 or isinstance(report, Broken)):
                _show(report)

        report = audit_paths(paths, demands, jobs, _show_progress, since)
    if as_json:
        print_json(report)
    else:
        _show_sum(report, is_compared=since is not None)
        if not is_verbose and len(report.records) > 1:
            _show_reservations(report)
        _show_folders(report, takes_unsealed=demands.unsealed)
    sys.exit(0 if report.holds else FAILED)


def _show(report: RecordReport) -> None:
    if isinstance(report, Broken):
        _show_broken(report, report.record)
        return
    facts = f"{counted(report.events, 'event')}, {report.state}, {report.deal} deal"
    if isinstance(report, SoundRedaction):
        facts += f", the view of seat {report.seat}, {harmless(report.name)}"
    out.print(f"[green]holds[/]   {escape(report.record)}  {facts}", highlight=False, soft_wrap=True)
    if report.rules_version != report.checked_by:
        played, checked = name_rules(report.rules_version), name_rules(report.checked_by)
        out.say(f"  played by the rules of {printable(played)}; it also holds by the rules of {printable(checked)}")
    if report.tournament is not None:
        name = printable(report.tournament)
        out.say(f"  not verified: whether it belongs to the tournament {name}, because {name}.jsonl is not here")


def _show_broken(broken: Broken, what: str) -> None:
    word = "[yellow]UNFINISHED[/]" if broken.state == "unfinished" else "[red]BROKEN[/] "
    where = "" if broken.line is None else f", line {broken.line}"
    out.print(f"{word} {escape(what)}{where}", highlight=False, soft_wrap=True)
    out.say(f"  expected {printable(broken.expected)}")
    out.say(f"  found    {printable(broken.found)}")


def _show_sum(report: AuditReport, *, is_compared: bool) -> None:
    sealed = Counter(record.key for record in report.records if not isinstance(record, Broken) and record.key)
    for key, count in sealed.items():
        out.say(f"{count} sealed by key {key}")
    legs = Counter(LEG_WORDS.get(record.seed_opens) for record in report.records if not isinstance(record, Broken))
    for words, count in sorted((words, count) for words, count in legs.items() if words):
        out.say(f"{counted(count, 'record')} of {words}")
    redacted = f", {report.redacted} redacted" if report.redacted else ""
    unfinished = f", {report.unfinished} unfinished" if report.unfinished else ""
    out.print(f"{counted(len(report.records), 'record')}, {report.broken} broken{unfinished}{redacted}")
    redactions = [record for record in report.records if isinstance(record, SoundRedaction)]
    for verified, not_verified in sorted({(record.verified, record.not_verified) for record in redactions}):
        out.say(f"verified in redacted records: {', '.join(verified)}; not verified: {', '.join(not_verified)}")
    if is_compared:
        out.say(f"{counted(report.unchanged, 'record')} held in an earlier audit and did not change since")


def _show_reservations(report: AuditReport) -> None:
    """Print how many of the records that hold have a reservation; -v shows it for each record."""
    holding = [record for record in report.records if not isinstance(record, Broken)]
    reservations = {
        "of a tournament whose own record is not here: not verified that they belong to it": [
            record for record in holding if record.tournament is not None
        ],
        "played by the rules of another version; valid by the present rules, too": [
            record for record in holding if record.rules_version != record.checked_by
        ],
    }
    for words, records in reservations.items():
        if records:
            out.say(f"{counted(len(records), 'record')} {words}; see -v")


def _show_folders(report: AuditReport, *, takes_unsealed: bool) -> None:
    """Print the results for manifests and tournaments, such as missing records.

    Args:
        report: report of the audit.
        takes_unsealed: whether records without a seal were accepted.
    """
    for manifest in report.manifests:
        what = f"the manifest {manifest.manifest}"
        if isinstance(manifest, Broken):
            _show_broken(manifest, what if manifest.record == manifest.manifest else f"{what}: {manifest.record}")
        else:
            out.say(f"{what} holds: {counted(manifest.records, 'record')}, none missing, none added")
    for tournament in report.tournaments:
        what = f"the tournament {tournament.tournament}"
        if isinstance(tournament, Broken):
            is_elsewhere = tournament.record != tournament.tournament
            _show_broken(tournament, f"{what}: {tournament.record}" if is_elsewhere else what)
        else:
            _show_tournament(tournament, what)
    _show_contradictions(report)
    parts = (*report.records, *report.tournaments)
    if any(isinstance(part, Broken) and part.state == "unfinished" for part in parts):
        reasons = "it is still being played, its referee crashed, or its end was cut off"
        late = "copy a tournament's record first, then the records of its matches, or audit again when it is over"
        out.say(f"UNFINISHED: {reasons}; {late if takes_unsealed else '--unsealed audits what is there'}")
    for unlisted in report.unlisted:
        records = counted(unlisted.records, "record")
        text = f"no manifest for {records} in {unlisted.folder}: a missing record might not be noticed"
        out.say(f"{text}; `referee manifest {unlisted.folder}` makes a manifest")


def _show_contradictions(report: AuditReport) -> None:
    """Print where records contradict each other or the published heads."""
    for equivocation in report.equivocations:
        records = " and ".join(map(printable, equivocation.records))
        out.print(f"[red]BROKEN[/]  two different records of {escape(equivocation.match)}: {escape(records)}")
    for lack in report.contradictions:
        text = f"{lack.match} does not show the standstill until {lack.at_ms} ms that {lack.witness} shows"
        out.print(f"[red]BROKEN[/]  {escape(text)}")
    for head in report.missing_heads:
        text = f"expected a line with the hash {escape(head)} in a record that holds; found none"
        out.print(f"[red]BROKEN[/]  {text}", highlight=False, soft_wrap=True)
    if report.published:
        out.say(f"looked for {counted(report.published, 'published head')} of these records")
    for missing in report.missing_published:
        _show_missing(missing)


def _show_missing(heads: MissingHeads) -> None:
    first, published = heads.first, counted(heads.published, "published head")
    out.print(f"[red]BROKEN[/]  {escape(printable(heads.record))}", highlight=False, soft_wrap=True)
    line = f"line {first.line} with the hash {first.head}, published {printable(first.at)}"
    out.say(f"  expected a record that has {line}")
    out.say(f"  found    no such record that holds; {heads.missing} of {published} missing")


def _show_tournament(tournament: SoundTournament, what: str) -> None:
    opened = counted(tournament.matches, "match", "matches")
    out.say(f"{what} holds: {tournament.state}, {opened}, pairings and ranking are right")
    if tournament.rulings:
        out.say(f"  {counted(tournament.rulings, 'ruling')} of the organiser: the report shows them")
    if tournament.without_proof:
        out.say(f"  the result is not proved by an unredacted record: {_some(tournament.without_proof)}")
    if tournament.taken_on_trust:
        rounds = ", ".join(map(str, tournament.taken_on_trust))
        out.say(f"  paired by another program or version, so only the pairing rules were checked: round {rounds}")
    if tournament.unverified:
        printed = [name for name in tournament.unverified if name.endswith(".stderr")]
        others = [name for name in tournament.unverified if not name.endswith(".stderr")]
        if printed:
            others.append(f"what programs printed ({len(printed)} *.stderr)")
        out.say(f"  nothing in it proves {_some(others)}")


def _some(names: Sequence[str]) -> str:
    more = [f"{len(names) - _SHOWN} more (--json names them)"] if len(names) > _SHOWN else []
    return ", ".join([*map(printable, names[:_SHOWN]), *more])


@click.command(epilog="Example:  referee manifest logs/spring-contest")
@click.argument("folder", type=EXISTING_FOLDER)
@click.option("--key", "path", type=FILE, help=f"Key that sealed the records. {KEY_UNSET}")
@json_option
def manifest(folder: Path, path: Path | None, as_json: bool) -> None:
    """Sign the list of all records below FOLDER, so that nobody can remove or add a record unnoticed.

    The list is written to FOLDER/MANIFEST.json, and `referee audit FOLDER` checks it from then on. A tournament's
    folder needs no manifest: the tournament's own record is signed, and lists every match.

    Exit status: 0 written, 1 a record is missing or this key did not seal it, 2 usage error.
    """
    if not record_files(folder):
        raise click.UsageError(f"there is no record (*.jsonl) in {folder}")
    written = write_manifest(folder, find_sealer(path, console.say))
    if as_json:
        print_json({"manifest": str(folder / NAME), "key": written.key, "records": len(written.records)})
    else:
        out.say(f"{folder / NAME}: {counted(len(written.records), 'record')}")
