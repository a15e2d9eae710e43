"""`referee tournament`: run a tournament from its file, or go on with it."""

import sys
from pathlib import Path
from typing import Any

import rich_click as click
from msgspec.structs import replace

from ..plugins import PluginError
from ..tournament.machine import Tournament
from ..tournament.placing import placed
from .charter_file import BadCharter, Plan, describe, read_tournament
from .common import FAILED, console, json_option, out, print_json, registry
from .conduct import Conducted, conduct
from .confining import find_confinement
from .live import JsonLines, watch_for
from .report import write_all
from .settings import find_sealer
from .telemetry import telemetry_options, watched


@click.command(epilog="Example:  referee tournament autumn.toml --tables 8")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Only read the file, and say what it means.")
@click.option("--tables", type=click.IntRange(1, 1024), help="Play so many matches at a time, whatever the file says.")
@click.option(
    "--key",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of the key that seals the records; made if missing. See `referee key`.",
)
@telemetry_options
@json_option
def tournament(file: Path, check: bool, tables: int | None, key: Path | None, as_json: bool, **values: Any) -> None:
    """Run the tournament of FILE, or go on with it.

    Each match leaves a record, and its result goes into the ledger beside it. However the referee was ended, by Ctrl-C, by
    a crash or with the machine, the same command goes on in the middle of the matches that were open.

    With --json, one object a line says what happens; without a terminal, plain lines do.

    Exit status: 0 the tournament is over, 1 it was stopped or can't go on, 2 the file or the command is wrong.
    """
    plan = _plan(file, tables)
    if check:
        _show_plan(plan, as_json=as_json)
        return
    sealer = find_sealer(key)
    confinement = find_confinement(plan.venue.sandbox, key, plan.venue.folder)
    with watched(values["diagnostics"], values["metrics"]) as telling, watch_for(as_json=as_json) as watch:
        for warning in plan.warnings:
            watch.noted(warning)
        form = registry().format(plan.charter.format)
        conducted = conduct(
            plan.charter, form, plan.venue, sealer=sealer, confinement=confinement, watch=watch, watched=telling
        )
    _conclude(conducted, plan, as_json=as_json)
