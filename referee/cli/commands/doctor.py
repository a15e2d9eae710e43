"""`referee doctor`: tell what this machine can enforce on launched programs, and how to get the rest."""

import sys
from pathlib import Path

import rich_click as click
from rich.table import Column
from rich.table import Table as RichTable

from ...launch.capabilities import examine
from ..common import harmless, json_option, out, print_json
from ..errors import FAILED, FINE
from ..options.running import logs_option


@click.command(epilog="Example:  referee doctor --json")
@logs_option("of the records, for its disk")
@json_option
def doctor(logs: Path, as_json: bool) -> None:
    """Tell what this machine can enforce on launched programs, and how to get the rest.

    Everything is tried, not guessed: a program is run in the sandbox, and control groups are made and removed.

    Exit status: 0 everything can be enforced, 1 something is missing.
    """
    findings = examine(logs)
    missing = [finding for finding in findings if not finding.is_fine]
    if as_json:
        print_json({"is_fine": not missing, "findings": findings})
    else:
        table = RichTable("", "", Column(overflow="fold"), show_header=False, show_edge=False, box=None)
        for finding in findings:
            mark = "[green]fine[/]" if finding.is_fine else "[red]missing[/]"
            table.add_row(mark, finding.name, harmless(finding.detail))
            if finding.remedy:
                table.add_row("", "", harmless(finding.remedy))
        out.print(table)
    sys.exit(FAILED if missing else FINE)
