"""`referee audit`: verify records."""

import sys
from pathlib import Path
from typing import Any

import rich_click as click

from ..plugins import PluginError
from ..record.audit import audit
from ..record.reader import RecordError
from .common import FAILED, json_option, out, print_json, registry


@click.command("audit", epilog="Example:  referee audit logs/")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@json_option
def audit_command(paths: tuple[Path, ...], as_json: bool) -> None:
    """Verify records: PATHS are record files or folders of them.

    Each record is folded again from its events: every command, every verdict, the scores and the result must come out
    as they stand. The first line that does not is named, with what was expected there.

    Exit status: 0 all hold, 1 one does not, 2 used wrongly.
    """
    find = registry().game
    reports: list[dict[str, Any]] = []
    for path in _records(paths):
        try:
            record = audit(path, find)
        except RecordError as error:
            found = {"line": error.line, "expected": error.expected, "found": error.found}
            reports.append({"record": str(path), "holds": False, **found})
        except PluginError as error:
            reports.append({"record": str(path), "holds": False, "line": 1, "expected": str(error), "found": "none"})
        else:
            state = "torn" if record.is_torn else "finished" if record.result else "unfinished"
            reports.append({"record": str(path), "holds": True, "events": len(record.steps), "state": state})
        if not as_json:
            _show(reports[-1])
    broken = sum(not report["holds"] for report in reports)
    if as_json:
        print_json({"records": reports, "broken": broken})
    else:
        out.print(f"{len(reports)} records, {broken} broken")
    sys.exit(FAILED if broken else 0)


def _records(paths: tuple[Path, ...]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise click.UsageError(f"there is no file or folder {path}")
        inside = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
        if not inside:
            raise click.UsageError(f"there is no record (*.jsonl) in {path}")
        found += inside
    return found


def _show(report: dict[str, Any]) -> None:
    if report["holds"]:
        text = f"[green]holds[/]   {report['record']}  {report['events']} events, {report['state']}"
        out.print(text, highlight=False, soft_wrap=True)
        return
    out.print(f"[red]BROKEN[/]  {report['record']}, line {report['line']}", highlight=False, soft_wrap=True)
    out.print(f"  expected {report['expected']}", markup=False, highlight=False, soft_wrap=True)
    out.print(f"  found    {report['found']}", markup=False, highlight=False, soft_wrap=True)
