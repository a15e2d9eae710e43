"""`referee tournament`: run a tournament from its file, or continue it; or check the file, or test its entrants."""

import contextlib
import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec
import rich_click as click
from msgspec import Struct
from msgspec.structs import replace

from ...app.players import find_player
from ...app.pool import map_in_processes
from ...app.services import RefereeOptions, find_confinement
from ...app.tournament_file.plan import TournamentPlan
from ...app.tournaments import from_file
from ...check.checking import try_program
from ...check.context import CheckRequest
from ...check.findings import Trouble
from ...check.scripted_match import ScriptedTerms
from ...check.session import Times
from ...net.tournaments.play import RunSettings
from ...observers.live_file import LiveFile
from ...observers.process_lines import ProcessLines
from ...observers.spectating import SpectatedTables
from ...pages.report_files import Targets
from ...pages.words import time_control
from ...plugins import find_game, installed
from ...programs.build import BUILDS
from ...programs.player_spec import PlayerError
from ...settings import RunTerms
from ...text import counted, printable
from ...tournament.events import SpectatorSight
from ...tournament.pairing.base import Extent
from ...tournament.spec import REMOTE, Participant, TournamentSpec
from ...type_words import show_value
from ..common import (
    EXISTING_FILE,
    console,
    count_processors,
    group_options,
    harmless,
    json_option,
    out,
    print_json,
    progress,
)
from ..errors import FAILED, FINE
from ..options import declared_options, sealing_options
from ..tournament_view import JsonLines, choose_view
from .report import report

_INDENT = 12
_TRIED_TURNS = 3
"""Number of turns that --try plays with each entrant: enough to see that its program starts and answers."""


def describe_plan(plan: TournamentPlan) -> Iterator[str]:
    """Yield the lines that describe a plan: its name, a line for each property, then a line for each entrant."""
    yield plan.spec.name
    for title, words in _matters(plan):
        yield f"{title:<{_INDENT}}{printable(words)}"
    for entrant in plan.spec.entrants:
        rating = "" if entrant.rating is None else f"  {entrant.rating:g}"
        yield f"  {entrant.name:<21} {printable(entrant.player)}{rating}"


def _matters(plan: TournamentPlan) -> Iterator[tuple[str, str]]:
    spec, run_settings = plan.spec, plan.run_settings
    yield "game", f"{spec.game}, {spec.seats} seats{_options(spec.options)}"
    yield "format", spec.format + _options(spec.format_options)
    yield "matches", _matches(spec, plan.extent)
    yield "at a time", str(run_settings.tables)
    yield "time", time_control(spec.time)
    yield "memory", f"{spec.memory_mib} MiB a program"
    yield "deals", _deals(spec)
    yield "tie-breaks", ", ".join(spec.tie_breaks) or "none"
    yield "records", str(run_settings.folder)
    if run_settings.tokens:
        yield "remote", f"{counted(len(run_settings.tokens), 'entrant')} at {run_settings.listen}"
    yield "entrants", str(len(spec.entrants))


def _options(options: Mapping[str, Any]) -> str:
    files = ((key, isinstance(value, dict), value) for key, value in options.items())
    return "".join(
        f", {key} as in its file" if is_file else f", {key} = {_value(value)}" for key, is_file, value in files
    )


def _value(value: Any) -> str:
    """Return an option's value in the notation of the file; a list of words is shown in full."""
    is_words = isinstance(value, list) and all(isinstance(word, str) for word in value)
    return f"[{', '.join(map(json.dumps, value))}]" if is_words else show_value(value)


def _matches(spec: TournamentSpec, extent: Extent | None) -> str:
    """Return in words how many matches there will be, if the format knows that."""
    if extent is None:
        return "as many as the format needs"
    fewest, most = extent.fewest * spec.legs, extent.most * spec.legs
    count = f"{most}" if fewest == most else f"{fewest} to {most}"
    rounds = f" in {counted(extent.rounds, 'round')}" if extent.rounds else ""
    return f"{count}{rounds}"


def _deals(spec: TournamentSpec) -> str:
    """Return in words where the deals come from, and from how many seats each deal is played."""
    source = "secret" if spec.seed is None else f"fixed by seed {spec.seed}, so anybody can predict them"
    return f"{source}; each is played from all {spec.seats} seats" if spec.duplicate else source


_run_options = group_options(
    "overriding",
    dict,
    *declared_options(RunSettings, "tables", default=None, unset="as the file says, or 1"),
    *declared_options(RunSettings, "workers", default=None, unset="0: this process plays them"),
    *declared_options(RunSettings, "cluster", "keys", default=None),
)
"""Options that override settings in the file."""


@click.command(epilog="Example:  referee tournament autumn.toml --tables 8")
@click.argument("file", type=EXISTING_FILE)
@click.option("--check", is_flag=True, help="Only check the file, and describe the tournament.")
@click.option(
    "--try", "is_trial", is_flag=True, help="Only start each entrant once, play three turns, and show which ones fail."
)
@click.option("--name", default="", help="Name of the tournament and its folder. (Default: the one in the file)")
@_run_options
@click.option(
    "--spectators",
    metavar="SIGHT",
    callback=lambda _context, _option, text: _sight(text),
    help="What spectators may see of open matches: 'after' (nothing), 'board only', or 'delay SECONDS'. The record "
    "keeps it. With --json and 'board only' or 'delay', print the tables as spectators may see them; a contest's site "
    "shows them. (Default: after)",
)
@click.option("--no-report", is_flag=True, help="Write no report at the end.")
@sealing_options
@json_option
def tournament(
    file: Path,
    *,
    check: bool,
    is_trial: bool,
    name: str,
    overriding: dict[str, Any],
    spectators: str | None,
    no_report: bool,
    running: RefereeOptions,
    as_json: bool,
) -> None:
    """Run the tournament of FILE, or continue it. Options override the settings in FILE.

    Each match leaves a record. After Ctrl-C or a crash, the same command continues in the middle of the open matches.

    With --json it prints a line with one object for each event. Without --json it prints a live view on a terminal, and
    plain lines elsewhere.

    Exit status: 0 the tournament is over, 1 it was stopped or can't continue, 2 the file or the command is wrong. With
    --check, 1 means that the command of an entrant or the pairing program does not exist; with --try, that an entrant
    failed.
    """
    if overriding["cluster"] and overriding["workers"]:
        raise click.UsageError("use either --workers or --cluster, not both")
    plan = from_file.read_plan(file, name, **overriding)
    if check:
        absent = (*from_file.absent_programs(plan.spec), *from_file.absent_pairing_program(plan))
        _show(replace(plan, warnings=(*plan.warnings, *absent)), as_json=as_json)
        sys.exit(FAILED if absent else FINE)
    if is_trial:
        sys.exit(_try_entrants(plan, running, as_json=as_json))
    if as_json:
        running = replace(running, observers=(*running.observers, ProcessLines(print_json)))
    plan = replace(plan, run_settings=replace(plan.run_settings, spectators=spectators))
    # With --json, another program reads the lines. Otherwise they go to a file, which a contest's site reads.
    write = print_json if as_json else LiveFile(plan.run_settings.folder).write
    if not as_json:
        running = replace(running, observers=(*running.observers, JsonLines(write)))
    if spectators not in (None, "after"):
        spectated = SpectatedTables(write, installed().game)
        running = replace(running, observers=(*running.observers, spectated))
    if not from_file.run(plan, running, choose_view(as_json=as_json)):
        console.say(f"stopped; no player is at fault, and `referee tournament {file}` continues the tournament")
        sys.exit(FAILED)
    if no_report:
        return
    with contextlib.suppress(BrokenPipeError):  # the exit status is 0 even if nobody reads the output
        report(plan.run_settings.folder, Targets(), as_json=as_json)


def _sight(text: str | None) -> str | None:
    """Return the text of the option, if it is a valid sight."""
    try:
        return msgspec.convert(text, SpectatorSight | None)
    except msgspec.ValidationError:
        raise click.BadParameter("it is 'after', 'board only', or 'delay SECONDS' with at most 600 seconds") from None


def _show(plan: TournamentPlan, *, as_json: bool) -> None:
    if as_json:
        extent = msgspec.to_builtins(plan.extent)
        print_json({"spec": msgspec.to_builtins(plan.spec), "extent": extent, "warnings": plan.warnings})
        return
    name, *lines = describe_plan(plan)
    out.print(f"[bold]{name}[/]", highlight=False, soft_wrap=True)
    for line in lines:
        out.say(line)
    for warning in plan.warnings:
        console.say(warning)


# --- a trial of the entrants


class TriedEntrant(Struct, frozen=True, kw_only=True):
    """Result of the trial of one entrant."""

    name: str
    player: str
    """Player spec in the file."""
    is_tried: bool
    """False for a remote entrant, whose program is not on this machine."""
    trouble: Trouble | None
    """Why the entrant failed; null if it did not fail."""


class TrialReport(Struct, frozen=True, kw_only=True):
    """Result of the trial of all entrants."""

    version: Literal[1] = 1
    """Version of this object's form."""
    tournament: str
    """Name of the tournament."""
    failing: int
    """Number of entrants that failed."""
    entrants: list[TriedEntrant]


def _try_entrants(plan: TournamentPlan, running: RefereeOptions, *, as_json: bool) -> int:
    """Try all entrants in parallel, show a line for each, and return the exit status."""
    spec, folder = plan.spec, plan.run_settings.folder
    terms = plan.terms
    request = CheckRequest(
        player="",
        times=Times(start_s=spec.time.start_ms / 1000, move_s=spec.time.per_move_ms / 1000),
        logs=(plan.run_settings.builds or folder / BUILDS).parent,
    )
    find_confinement(
        replace(running, terms=terms), folder
    ).close()  # warn once here; each process makes its own confinement
    try_one = partial(_try_entrant, spec=spec, request=request, terms=terms)
    tried = []
    with progress("tried", as_json) as advance:
        for entrant in map_in_processes(try_one, spec.entrants, count_processors(), is_slow=True):
            tried.append(entrant)
            advance(len(spec.entrants))
            if not as_json:
                _show_tried(entrant)
    failing = sum(entrant.trouble is not None for entrant in tried)
    if as_json:
        print_json(TrialReport(tournament=spec.name, failing=failing, entrants=tried))
    elif failing:
        player = next(entrant.player for entrant in tried if entrant.trouble is not None)
        out.say(f"{failing} of {counted(len(tried), 'entrant')} failed")
        out.say(f"To see all about one of them:  {shlex.join(('referee', 'check', player, '--game', spec.game))}")
    else:
        out.say(f"{counted(len(tried), 'entrant')}: none failed")
    return FAILED if failing else FINE


def _try_entrant(entrant: Participant, spec: TournamentSpec, request: CheckRequest, terms: RunTerms) -> TriedEntrant:
    trouble = None
    if entrant.player != REMOTE:
        confinement = find_confinement(RefereeOptions(terms=terms), request.logs)
        match = ScriptedTerms(game=find_game(spec.game), seats=spec.seats, options=spec.options)
        try:
            launch = replace(find_player(entrant.player, spec.game, name=entrant.name), name=entrant.name)
            trouble = try_program(launch, match, request, confinement, _TRIED_TURNS)
        except PlayerError as error:
            trouble = Trouble(happened=str(error), expected="a player that can be started", remedy="", cause="")
        finally:
            confinement.close()
    return TriedEntrant(name=entrant.name, player=entrant.player, is_tried=entrant.player != REMOTE, trouble=trouble)


def _show_tried(entrant: TriedEntrant) -> None:
    if entrant.trouble is not None:
        text = harmless(" ".join(entrant.trouble.happened.split()))
        out.print(f"[red]FAILED[/]  {entrant.name}  {text}", highlight=False, soft_wrap=True)
    elif entrant.is_tried:
        out.print(f"[green]plays[/]   {entrant.name}", highlight=False, soft_wrap=True)
    else:
        out.print(f"[yellow]remote[/]  {entrant.name}", highlight=False, soft_wrap=True)
