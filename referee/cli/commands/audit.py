"""`referee audit`: verify records, many at once."""

import os
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import rich_click as click
from msgspec import Struct
from rich.markup import escape

from ...app.completeness import broken, completeness, show_completeness, show_difference
from ...app.pool import each
from ...plugins import PluginError
from ...record.audit.audit import audit
from ...record.key_file import BadKey, parse_public
from ...record.manifest import record_files
from ...record.reader import RecordError, Redacted
from ...record.redacted import check_redacted
from ...text import counted, printable_lines
from ..common import Count, console, harmless, json_option, out, print_json, registry
from ..errors import FAILED, FAULT

VERIFIED = ("chain", "seal", "shown fields")
"""What can be verified of a redacted record."""
NOT_VERIFIED = ("shuffle", "views", "moves", "times", "verdicts", "scores", "ranking")


class Demands(Struct, frozen=True):
    """What an auditor demands of every record."""

    keys: tuple[str, ...]
    heads: tuple[str, ...]
    unsealed: bool
    """Whether a record without a seal is taken."""


@click.command("audit", epilog="Example:  referee audit logs/ --key referee.pub")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--key", "keys", multiple=True, help="Public key that must have sealed them: 64 hex digits, or a file.")
@click.option(
    "--head", "heads", multiple=True, metavar="HASH", help="Hash a player was sent, to be found in the record."
)
@click.option("--unsealed", is_flag=True, help="Take records without a seal, those of unfinished matches.")
@click.option("--jobs", type=Count(min=1), default=os.cpu_count() or 1, help="Records at the same time.")
@json_option
def audit_command(paths: tuple[Path, ...], keys: tuple[str, ...], jobs: int, as_json: bool, **demanded: Any) -> None:
    """Verify records: PATHS are record files or folders of them.

    Checked are the chain of hashes, the seal, the referee's commitment to the shuffle, the shuffle, every view, every
    verdict with its deadline, the scores and the ranking. The first line that does not hold is named, with what was
    expected there. A redacted record (`referee explain --redact`) is known as such: checked are its chain, its seal,
    and that it shows what was sealed, all of what one seat may see and nothing else.

    Of a folder with a MANIFEST.json is checked that no record is missing and none was added; of a tournament's, that
    its records tell of none that is not there.

    Without --key a record is held to the key that it names itself: whoever forged all of it could have named his own.

    Exit status: 0 all hold, 1 one does not, 2 used wrongly, 3 the auditor itself failed: its traceback is on stderr,
    and that accuses no record.
    """
    try:
        demands = Demands(tuple(parse_public(key) for key in keys), **demanded)
    except BadKey as error:
        raise click.UsageError(str(error)) from None
    with _own_faults():
        reports = _reports(find_records(paths), demands, jobs, as_json=as_json)
        facts = completeness(paths, demands.keys)
    failed = sum(not report["holds"] for report in reports)
    redacted = sum(report.get("state") == "redacted" for report in reports)
    holds = not failed and all(one["holds"] for one in facts["manifests"] + facts["tournaments"])
    if as_json:
        print_json({"records": reports, "broken": failed, "redacted": redacted, **facts, "holds": holds})
    else:
        _show_sum(reports, failed, redacted)
        show_completeness(facts)
    sys.exit(0 if holds else FAILED)


@contextmanager
def _own_faults() -> Iterator[None]:
    """End with a traceback what is a fault of the auditor, a game's rules included, and accuses no record.

    Raises:
        SystemExit: there was one.
    """
    try:
        yield
    except (click.ClickException, click.Abort, OSError):
        raise
    except Exception as error:  # noqa: BLE001  # whatever it is, a record that does not hold is told otherwise
        text = "".join(traceback.format_exception(error))
        told = f"{printable_lines(text)}the auditor itself failed, which accuses no record; please report this"
        console.print(told, markup=False, highlight=False, soft_wrap=True)
        sys.exit(FAULT)


def _reports(files: Sequence[Path], demands: Demands, jobs: int, *, as_json: bool) -> list[dict[str, Any]]:
    """Audit all records, and show what is found of each as soon as it is."""
    reports = []
    with closing(each(partial(report_on, demands=demands), files, jobs)) as found:
        for report in found:
            reports.append(report)
            if not as_json:
                _show(report)
    return reports


def report_on(path: Path, demands: Demands) -> dict[str, Any]:
    """Audit one record.

    Returns:
        What is found, plain: `record`, `holds`, and what holds or the first line that does not.
    """
    try:
        record = audit(path, registry().game, keys=demands.keys, heads=demands.heads, is_strict=not demands.unsealed)
    except Redacted:
        return _report_on_redacted(path, demands)
    except RecordError as error:
        return {"record": str(error.path), **broken(error)}
    except PluginError as error:
        return {"record": str(path), **broken(RecordError(path, 1, str(error), "none"))}
    except Exception as error:
        error.add_note(f"while {path} was audited")
        raise
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


def _report_on_redacted(path: Path, demands: Demands) -> dict[str, Any]:
    try:
        redaction = check_redacted(path, demands.keys, demands.heads)
    except RecordError as error:
        return {"record": str(error.path), **broken(error)}
    header = redaction.header
    return {
        "record": str(path),
        "holds": True,
        "match": header.setup.match,
        "events": len(redaction.chain.lines) - 3,
        "state": "redacted",
        "seat": redaction.seat,
        "name": header.setup.names[redaction.seat],
        "verified": VERIFIED,
        "not_verified": NOT_VERIFIED,
        "deal": "hidden",
        "key": header.key,
    }


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
        if report["state"] == "redacted":
            facts += f", as seat {report['seat']}, {harmless(report['name'])}, may see it"
        text = f"[green]holds[/]   {escape(report['record'])}  {facts}"
        out.print(text, highlight=False, soft_wrap=True)
        return
    line = f", line {report['line']}" if report["line"] else ""
    out.print(f"[red]BROKEN[/]  {escape(report['record'])}{line}", highlight=False, soft_wrap=True)
    show_difference(report)


def _show_sum(reports: list[dict[str, Any]], failed: int, redacted: int) -> None:
    for key, count in Counter(report["key"] for report in reports if report.get("key")).items():
        out.print(f"{count} sealed by key {key}", highlight=False, soft_wrap=True)
    out.print(f"{counted(len(reports), 'record')}, {failed} broken" + (f", {redacted} redacted" if redacted else ""))
    if redacted:
        text = f"of redacted records were verified: {', '.join(VERIFIED)}; not: {', '.join(NOT_VERIFIED)}"
        out.print(text, highlight=False, soft_wrap=True)
