"""`referee doctor`: show which limits this machine can enforce on programs, and how to enable the others."""

import sys
from pathlib import Path

import rich_click as click
from rich.table import Column
from rich.table import Table as RichTable

from ...cluster.host_states import HostStatus, ask_hosts
from ...programs.capabilities import examine
from ..common import FOLDER, harmless, json_option, numbers, out, print_json
from ..errors import FAILED, FINE
from ..options import logs_option


@click.command(epilog="Example:  referee doctor --json")
@logs_option("of the records; its disk is examined")
@click.option("--cluster", metavar="ADDRESS", help="Ask the hosts of a Dask scheduler instead: tls://HOST:8786.")
@click.option(
    "--keys",
    type=FOLDER,
    help="Folder of the cluster's certificates. See `referee cluster-keys`. (Default: no encryption)",
)
@json_option
def doctor(logs: Path, cluster: str | None, keys: Path | None, as_json: bool) -> None:
    """Show which limits this machine can enforce on programs, and how to enable the others.

    Everything is tried, not guessed: a program runs in the sandbox, and control groups are made and removed.

    With --cluster it asks the hosts of a cluster what each lacks, what it plays, and what is installed there.

    Exit status: 0 everything can be enforced, 1 something is missing.
    """
    if cluster is not None:
        sys.exit(_show_hosts(ask_hosts(cluster, keys), as_json=as_json))
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


def _show_hosts(hosts: list[HostStatus], *, as_json: bool) -> int:
    """Show the answers of the hosts, and return the exit status."""
    is_fine = bool(hosts) and all(host.report is not None and not host.report.missing for host in hosts)
    if as_json:
        print_json({"is_fine": is_fine, "hosts": hosts})
        return FINE if is_fine else FAILED
    figures = numbers("tables", "playing", "cores", "work ms", "lag ms", "free MiB")
    table = RichTable("host", *figures, "versions", "missing", box=None)
    for host in hosts:
        table.add_row(*map(harmless, _row(host)))
    out.print(table if hosts else "the scheduler knows no host: start one with `referee worker`")
    return FINE if is_fine else FAILED


def _row(host: HostStatus) -> list[str]:
    report = host.report
    if report is None:
        return [host.name, str(host.tables), "", "", "", "", "", "", host.why]
    figures = (
        report.playing,
        report.cores,
        f"{report.calibration.wall_ms:.1f}",
        f"{report.lag_ms:.0f}",
        f"{report.free_mib:.0f}",
    )
    installed = f"referee {report.referee}, Python {report.python}, Dask {report.distributed}"
    return [host.name, str(host.tables), *map(str, figures), installed, ", ".join(report.missing) or "nothing"]
