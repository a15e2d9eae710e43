"""Warns of what is right in a tournament's file, and does nothing there."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...tournament.pairing.base import PairingFormat
from ...tournament.spec import REMOTE, TournamentSpec
from .sheet import Sheet

_OF_STRENGTHS_MET = ("buchholz", "buchholz-cut-1", "median-buchholz")
_OF_LAUNCHED = (("sandbox",), ("programs",), ("keep_for",), ("limits", "memory_mib"))


def warn_of_idle(sheet: Sheet, folder: Path, form: PairingFormat[Any] | None, spec: TournamentSpec) -> None:
    """Warn of keys that change nothing in this tournament, and of records that can't be written.

    Args:
        sheet: the file, without a mistake.
        folder: of the records.
        form: the pairing format; None: it is not known.
        spec: what the file says.
    """
    idle = [*_idle_by_entrants(sheet, spec), *([] if form is None else _idle_by_format(sheet, form, spec))]
    for key, reason in idle:
        sheet.warn(f"{key} has no effect: {reason}")
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if not os.access(there, os.W_OK | os.X_OK):
        sheet.warn(f"records can't be written: you may not write into {there}; name another folder as logs")


def _idle_by_entrants(sheet: Sheet, spec: TournamentSpec) -> Iterator[tuple[str, str]]:
    """Yield keys that are for other entrants than this tournament has, each with the reason."""
    are_remote = [entrant.player == REMOTE for entrant in spec.entrants]
    if not any(are_remote):
        for key in sheet.values.get("remote", {}):
            yield f"remote.{key}", "no entrant is remote"
    elif all(are_remote):
        for place in _OF_LAUNCHED:
            if _is_set(sheet, place):
                yield ".".join(place), "all entrants are remote, so no program is started here"


def _idle_by_format(sheet: Sheet, form: PairingFormat[Any], spec: TournamentSpec) -> Iterator[tuple[str, str]]:
    """Yield keys that the format does not ask about, each with the reason."""
    if not form.gives_late_byes and _is_set(sheet, ("scoring", "late_bye")):
        yield "scoring.late_bye", f"in the format {form.name}, nobody gets a bye for coming late"
    if not form.gives_byes and _is_set(sheet, ("scoring", "bye")):
        yield "scoring.bye", f"in the format {form.name}, nobody gets a bye"
    if not form.asks_ratings and any(entrant.rating is not None for entrant in spec.entrants):
        yield "entrants.rating", f"the format {form.name} does not seed by rating"
    field = spec.field()
    if len(field.entrants) < field.seats:  # a contest's authors may hand in their programs later
        return
    for key, reason in form.idle_options(spec.format_options, field):
        yield f"format.{key}", reason
    if form.meets_everybody(form.parse_options(spec.format_options), field):
        for name in spec.tie_breaks:
            if name in _OF_STRENGTHS_MET:
                yield f"{name} in tie_breaks", "everybody meets everybody, so it is equal for all who are tied"


def _is_set(sheet: Sheet, place: tuple[str, ...]) -> bool:
    """Tell whether the file sets a key."""
    values: Any = sheet.values
    for key in place[:-1]:
        values = values.get(key, {})
    return place[-1] in values
