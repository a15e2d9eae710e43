"""`referee tournament`: run a tournament from its file, or go on with it."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import rich_click as click
from msgspec.structs import replace

from ...app.conducting import conduct
from ...app.tournament_file.plan import TournamentPlan, read_tournament
from ...app.tournament_file.sheet import BadTournamentFile
from ...app.tournament_file.text import describe
from ...launch import PlayerError, resolved
from ...ledger.ledger import LedgerError, file_of
from ...net.tournaments.observers import Observers
from ...pages.report_files import Targets
from ...pairing.base import Extent
from ...plugins import PluginError
from ...record.json_file import BadJsonFile
from ...record.manifest import write_manifest
from ...record.reader import RecordError
from ...record.seal import Sealer
from ...record.spec_file import read_spec_file
from ...text import printable
from ...tournament.spec import REMOTE, TournamentSpec
from ..common import Count, console, json_option, out, print_json, registry
from ..errors import FAILED, FINE
from ..options.match import find_sealer
from ..options.monitoring import telemetry_options, watched
from ..options.players import find_launch
from ..options.sandbox import find_confinement
from ..views.live import watch_of
from .report import report


@click.command(epilog="Example:  referee tournament autumn.toml --tables 8")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Only read the file, and say what it means.")
@click.option("--tables", type=Count(1, 1000), help="Play so many matches at a time, whatever the file says.")
@click.option(
    "--key",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of the key that seals the records; made if missing. See `referee key`.",
)
@telemetry_options
@json_option
def tournament(
    file: Path,
    check: bool,
    tables: int | None,
    key: Path | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Run the tournament of FILE, or go on with it.

    Each match leaves a record, and its result goes into the ledger beside it. However the referee was ended, by
    Ctrl-C, by a crash or with the machine, the same command goes on in the middle of the matches that were open.

    With --json, one object a line says what happens; without a terminal, plain lines do.

    Exit status: 0 the tournament is over, 1 it was stopped or can't go on, 2 the file or the command is wrong; with
    --check 1 says that the command of an entrant is not there.
    """
    plan = _read(file, tables)
    if check:
        absent = tuple(_absent(plan.spec))
        _show(replace(plan, warnings=(*plan.warnings, *absent)), as_json=as_json)
        sys.exit(FAILED if absent else FINE)
    spec, run_settings = plan.spec, plan.run_settings
    total = None if plan.extent is None else plan.extent.fewest * spec.legs
    sealer = find_sealer(key)
    written = [values["diagnostics"], *_ledger_files(run_settings.ledger)]
    confinement = find_confinement(
        run_settings.sandbox, key, run_settings.folder, memory_mib=spec.memory_mib, written=written
    )
    with (
        watched(values["diagnostics"], values["metrics"]) as telling,
        Observers(watch_of(as_json=as_json), note=telling.telemetry.note) as watch,
    ):
        for warning in plan.warnings:
            watch.noted(warning)
        conducted = conduct(
            spec,
            registry().format(spec.format),
            run_settings,
            total=total,
            sealer=sealer,
            confinement=confinement,
            watch=watch,
            watched=telling,
        )
    if not conducted.is_over:
        text = f"stopped; nobody is blamed, and `referee tournament {file}` goes on where it was"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        sys.exit(FAILED)
    _sign(run_settings.folder, sealer)
    with contextlib.suppress(BrokenPipeError):  # it was played to its end, whether somebody reads on or not
        report(run_settings.folder, Targets(), as_json=as_json)


def _ledger_files(url: str | None) -> list[Path]:
    """Return the files of a ledger that lies in no tournament's folder: SQLite keeps some beside it.

    Raises:
        click.ClickException: it is no address of a ledger.
    """
    try:
        path = None if url is None else file_of(url)
    except LedgerError as error:
        raise click.ClickException(str(error)) from None
    return [] if path is None else [path.with_name(f"{path.name}{end}") for end in ("", "-wal", "-shm", "-journal")]


def _read(path: Path, tables: int | None) -> TournamentPlan:
    """Read the tournament's file.

    Raises:
        click.UsageError: it has mistakes; the text has all of them.
    """
    try:
        plan = read_tournament(path, registry())
    except BadTournamentFile as error:
        raise click.UsageError(str(error)) from None
    plan = plan if tables is None else replace(plan, run_settings=replace(plan.run_settings, tables=tables))
    return _without_latecomers(plan)


def _without_latecomers(plan: TournamentPlan) -> TournamentPlan:
    """Return the plan with the field that its tournament began with.

    Who was handed in later is not in it, and whose folder can't be played with any more loses its own matches.
    """
    with contextlib.suppress(BadJsonFile):  # it is told when the tournament is taken up
        founding = read_spec_file(plan.run_settings.folder)
        if founding is None or plan.spec == founding.spec:
            return plan
        field = founding.spec.entrants
        late = [one.name for one in plan.spec.entrants if one not in field]
        missing = {one.player for one in field if one not in plan.spec.entrants}
        if replace(plan.spec, entrants=field) == founding.spec and missing <= set(plan.left_out):
            warning = f"not in the field, for the tournament had begun before: {', '.join(late)}"
            warnings = (*plan.warnings, warning) if late else plan.warnings
            return replace(plan, spec=founding.spec, extent=_extent(founding.spec), warnings=warnings)
    return plan


def _extent(spec: TournamentSpec) -> Extent | None:
    form = registry().format(spec.format)
    return form.extent(form.parse_options(spec.format_options), spec.field())


def _absent(spec: TournamentSpec) -> Iterator[str]:
    """Yield, in a line each, which entrants will not start: the command that runs or builds them is not there."""
    for one in spec.entrants:
        if one.player == REMOTE:
            continue
        try:
            launch = replace(find_launch(spec.game, one.player, 0, registry()), name=one.name)
            resolved(launch, launch.build)  # what a build makes need not be there yet
        except (PlayerError, PluginError) as error:
            yield printable(str(error))


def _sign(folder: Path, sealer: Sealer) -> None:
    """Sign the list of the tournament's records, so that none can be taken away or slipped in.

    Raises:
        click.ClickException: a record does not hold, or the list can't be written.
    """
    try:
        write_manifest(folder, sealer)
    except (RecordError, OSError) as error:
        raise click.ClickException(f"the list of the records was not signed: {error}") from None


def _show(plan: TournamentPlan, *, as_json: bool) -> None:
    """Print what a file means."""
    if as_json:
        extent = msgspec.to_builtins(plan.extent)
        print_json({"spec": msgspec.to_builtins(plan.spec), "extent": extent, "warnings": plan.warnings})
        return
    out.print(describe(plan), soft_wrap=True)
    for warning in plan.warnings:
        console.print(warning, markup=False, highlight=False, soft_wrap=True)
