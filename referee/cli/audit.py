"""`referee audit`: verify records, many at once."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import rich_click as click
from msgspec import Struct

from ..plugins import PluginError
from ..record.audit import audit
from ..record.key_file import BadKey, parse_public
from ..record.manifest import NAME, check_manifest, record_files
from ..record.reader import Chain, RecordError
from ..record.redact import check_redacted
from ..web.words import counted
from .common import FAILED, json_option, out, print_json, registry
from .many import each


class Demands(Struct, frozen=True):
    """What an auditor demands of every record."""

    keys: tuple[str, ...]
    heads: tuple[str, ...]
    unsealed: bool
    """Whether a record without a seal is taken."""
    redacted: bool
    """Whether the records are redacted: to fold them is out of the question then."""


@click.command("audit", epilog="Example:  referee audit logs/ --key referee.pub")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--key", "keys", multiple=True, help="Public key that must have sealed them: 64 hex digits, or a file.")
@click.option(
    "--head", "heads", multiple=True, metavar="HASH", help="Hash a player was sent, to be found in the record."
)
@click.option("--redacted", is_flag=True, help="They are redacted: check their chain, what they show, and their seal.")
@click.option("--unsealed", is_flag=True, help="Take records without a seal: unfinished ones, and those of format 1.")
@click.option("--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, help="Records at the same time.")
@json_option
def audit_command(paths: tuple[Path, ...], keys: tuple[str, ...], jobs: int, as_json: bool, **demanded: Any) -> None:
    """Verify records: PATHS are record files or folders of them.

    Checked are the chain of hashes, the seal, the referee's commitment to the shuffle, the shuffle, every view, every
    verdict with its deadline, the scores and the ranking; for a folder with a MANIFEST.json also that no record is
    missing and none was added. The first line that does not hold is named, with what was expected there.

    Without --key a record is held to the key that it names itself: whoever forged all of it could have named his own.

    Exit status: 0 all hold, 1 one does not, 2 used wrongly.
    """
    try:
        demands = Demands(tuple(parse_public(key) for key in keys), **demanded)
    except BadKey as error:
        raise click.UsageError(str(error)) from None
    reports: list[dict[str, Any]] = []
    files = find_records(paths)
    audited = each(partial(report_on, demands=demands), files, jobs, "auditing", is_quiet=as_json)
    for report in chain(_manifests(paths, demands), audited):
        reports.append(report)
        if not as_json:
            _show(report)
    broken = sum(not report["holds"] for report in reports)
    if as_json:
        print_json({"records": reports, "broken": broken})
    else:
        _show_sum(reports, len(files), broken)
    sys.exit(FAILED if broken else 0)


def report_on(path: Path, demands: Demands) -> dict[str, Any]:
    """Audit one record.

    Returns:
        What is found, plain: `record`, `holds`, and what holds or the first line that does not.
    """
    try:
        if demands.redacted:
            return _report_on_redacted(check_redacted(path, demands.keys, demands.heads))
        record = audit(path, registry().game, keys=demands.keys, heads=demands.heads, is_strict=not demands.unsealed)
    except RecordError as error:
        return _broken(error)
    except PluginError as error:
        return _broken(RecordError(path, 1, str(error), "none"))
    setup = record.header.setup
    deal = "position" if setup.position is not None else "fair" if setup.nonces else "fixed"
    return {
        "record": str(path),
        "holds": True,
        "match": setup.match,
        "events": len(record.steps),
        "state": record.state,
        "deal": deal,
        "key": None if record.seal is None else record.header.key,
    }


def _report_on_redacted(chain: Chain) -> dict[str, Any]:
    header = chain.lines[0].fields
    facts = {"record": str(chain.path), "holds": True, "match": header["setup"]["match"], "key": header["key"]}
    return {**facts, "events": len(chain.lines) - 3, "state": "redacted", "deal": "hidden"}


def _broken(error: RecordError) -> dict[str, Any]:
    where = {"record": str(error.path), "holds": False, "line": error.line}
    return {**where, "expected": error.expected, "found": error.found}


def _manifests(paths: tuple[Path, ...], demands: Demands) -> Iterator[dict[str, Any]]:
    """Yield what does not hold of the manifests below the paths."""
    for path in paths:
        for manifest in sorted(path.rglob(NAME)) if path.is_dir() else ():
            try:
                check_manifest(manifest.parent, demands.keys)
            except RecordError as error:
                yield _broken(error)


def find_records(paths: Sequence[Path]) -> list[Path]:
    """Return the files of records that were named, or that lie below a folder that was.

    Raises:
        click.UsageError: a path is none, or there is no record below it.
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise click.UsageError(f"there is no file or folder {path}")
        inside = record_files(path) if path.is_dir() else [path]
        if not inside:
            raise click.UsageError(f"there is no record (*.jsonl) in {path}")
        found += inside
    return found


def _show(report: dict[str, Any]) -> None:
    if report["holds"]:
        facts = f"{counted(report['events'], 'event')}, {report['state']}, {report['deal']} deal"
        text = f"[green]holds[/]   {report['record']}  {facts}"
        out.print(text, highlight=False, soft_wrap=True)
        return
    line = f", line {report['line']}" if report["line"] else ""
    out.print(f"[red]BROKEN[/]  {report['record']}{line}", highlight=False, soft_wrap=True)
    out.print(f"  expected {report['expected']}", markup=False, highlight=False, soft_wrap=True)
    out.print(f"  found    {report['found']}", markup=False, highlight=False, soft_wrap=True)


def _show_sum(reports: list[dict[str, Any]], files: int, broken: int) -> None:
    for key, count in Counter(report["key"] for report in reports if report.get("key")).items():
        out.print(f"{count} sealed by key {key}", highlight=False, soft_wrap=True)
    out.print(f"{counted(files, 'record')}, {broken} broken")
