"""Runs the tournament that a file describes."""

import contextlib
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ...cluster.security import check_address
from ...net.tournaments.round_pairing import PairingProgram, PairingProgramError, find_program, insert_numbers
from ...observers import Observer
from ...plugins import installed
from ...programs.player_spec import PlayerError, resolve_command
from ...record.reader import RecordError
from ...record.tournament_record import read_start
from ...text import printable
from ...tournament.spec import REMOTE, Participant, TournamentSpec
from ...web.submissions.store import find_author_folder
from ..players import distinct, find_player
from ..services import RefereeOptions, services
from ..tournament_file.plan import TournamentPlan, read_tournament, rename_plan
from .conducting import compute_extent, conduct


def keep_names(
    entrants: Sequence[Participant], made_from: Sequence[str | None], field: Sequence[Participant]
) -> tuple[Participant, ...]:
    """Return entrants with the names that they have in a begun tournament; new entrants get names that are free.

    Args:
        entrants: entrants of the tournament's file.
        made_from: text that each name was made from; None: the file gives the name.
        field: entrants of the tournament, by its record.
    """
    # A name that is made from a folder's name depends on all other folders. When a second `ada` is handed in, both
    # would get a number, but the record knows the first one as `ada`. So a program that the record knows keeps the
    # name that it has there, and only new programs get names that are free.
    given = {entrant.name for entrant, source in zip(entrants, made_from, strict=True) if source is None}
    recorded_names = defaultdict[str, deque[str]](deque)
    for entrant in field:
        if entrant.name not in given:
            recorded_names[_program(entrant)].append(entrant.name)
    names, fixed = [], []
    for place, (entrant, source) in enumerate(zip(entrants, made_from, strict=True)):
        unused_names = None if source is None else recorded_names[_program(entrant)]
        recorded_name = unused_names.popleft() if unused_names else None
        names.append(recorded_name or source or entrant.name)
        if recorded_name or source is None:
            fixed.append(place)
    gone = sorted({entrant.name for entrant in field} - {names[place] for place in fixed})
    unique_names = distinct([*names, *gone], [*fixed, *range(len(names), len(names) + len(gone))])
    return tuple(replace(entrant, name=name) for entrant, name in zip(entrants, unique_names, strict=False))


def _program(entrant: Participant) -> str:
    """Return the part of an entrant's program that stays the same when it is handed in again."""
    return str(find_author_folder(Path(entrant.player)) or entrant.player)


_ANY_TABLES = 100_000
"""Number of tables that never limits a cluster: its hosts say how many matches they take."""


def read_plan(path: Path, name: str = "", **overriding: Any) -> TournamentPlan:
    """Read a tournament's file; if the tournament has begun, keep the entrants that it began with.

    Args:
        path: path of the file.
        name: name of the tournament, which overrides the file; empty: as in the file.
        overriding: fields of RunSettings that override the file; those that are None do not.

    Raises:
        BadRequest: no tournament can have this name, or the cluster's address is not valid.
        BadTournamentFile: the file has mistakes; the error lists all of them.
    """
    plan = read_tournament(path, installed())
    plan = rename_plan(plan, name) if name else plan
    given = {field: value for field, value in overriding.items() if value is not None}
    if "cluster" in given:
        check_address(given["cluster"], given.get("keys"))
        given.setdefault("tables", _ANY_TABLES)
    program = _pairing_program(plan.spec.format_options, path.absolute().parent)
    return _keep_field(replace(plan, run_settings=replace(plan.run_settings, pairing_program=program, **given)))


def _pairing_program(options: Mapping[str, Any], folder: Path) -> PairingProgram | None:
    """Return the program that pairs the rounds, as the format's options name it; None if they name none."""
    words = options.get("pairing_program")
    if words is None:
        return None
    limit = {"limit_s": options["pairing_limit"]} if "pairing_limit" in options else {}
    return PairingProgram(words=tuple(words), folder=folder, lines=tuple(options.get("pairing_lines", ())), **limit)


def _keep_field(plan: TournamentPlan) -> TournamentPlan:
    """If the tournament has begun, return the plan with the entrants of its record first, then the new ones.

    An entrant whose folder is not usable any more stays in the field, and loses its matches. An entrant that has handed
    in another version plays on with the version that it began with.
    """
    with contextlib.suppress(RecordError):  # it is reported when the tournament is loaded
        begun = read_start(plan.run_settings.folder)
        if begun is None:
            return plan
        field = begun.spec.entrants
        entrants = _keep_versions(keep_names(plan.spec.entrants, plan.made_from, field), field)
        plan = replace(plan, spec=replace(plan.spec, entrants=entrants))
        missing = {entrant.player for entrant in field[: begun.starters] if entrant not in plan.spec.entrants}
        if missing <= set(plan.left_out):
            late = tuple(entrant for entrant in plan.spec.entrants if entrant not in field)
            spec = replace(plan.spec, entrants=(*field, *late))
            return replace(plan, spec=spec, extent=compute_extent(spec, installed().format(spec.format)))
    return plan


def _keep_versions(entrants: Sequence[Participant], field: Iterable[Participant]) -> tuple[Participant, ...]:
    """Return the entrants; if a program was handed in again, the version that plays already stays."""
    playing_versions = {(entrant.name, find_author_folder(Path(entrant.player))): entrant for entrant in field}
    authors = [find_author_folder(Path(entrant.player)) for entrant in entrants]
    return tuple(
        entrant if author is None else playing_versions.get((entrant.name, author), entrant)
        for entrant, author in zip(entrants, authors, strict=True)
    )


def absent_programs(spec: TournamentSpec) -> Iterator[str]:
    """Yield a line for each entrant that will not start, because the command that runs or builds it is missing."""
    for entrant in spec.entrants:
        if entrant.player == REMOTE:
            continue
        try:
            launch = replace(find_player(entrant.player, spec.game, name=entrant.name), name=entrant.name)
            resolve_command(launch, launch.build)  # files that the build makes may still be missing
        except PlayerError as error:
            yield printable(str(error))


def absent_pairing_program(plan: TournamentPlan) -> Iterator[str]:
    """Yield a line that says why the pairing program can't pair the rounds: it is missing, or a line is wrong."""
    program = plan.run_settings.pairing_program
    if program is not None:
        numbers = {entrant.name: number for number, entrant in enumerate(plan.spec.entrants, start=1)}
        try:
            find_program(program)
            for line in program.lines:
                insert_numbers(line, numbers)
        except PairingProgramError as error:
            yield printable(str(error))


def run(plan: TournamentPlan, options: RefereeOptions, observer: Observer) -> bool:
    """Run a tournament, or go on with it, until it is over or stopped.

    Args:
        plan: plan of the tournament's file.
        options: options of the referee; its terms come from the file.
        observer: observer of the tournament.

    Returns:
        Whether it is over.

    Raises:
        RefereeError: as conduct does.
    """
    spec, run_settings = plan.spec, plan.run_settings
    with (
        services(replace(options, terms=plan.terms), run_settings.folder) as at_hand,
        at_hand.match.observers.also(observer) as observers,
    ):
        for warning in plan.warnings:
            observers.notify(Observer.on_notice, warning)
        conducted = conduct(spec, installed().format(spec.format), run_settings, at_hand)
    return conducted.is_over
