"""Says in words what a tournament's file means."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...pages.words import time_control
from ...text import counted, printable
from ...tournament.pairing.base import Extent
from ...tournament.spec import TournamentSpec
from ...type_words import shown
from .plan import TournamentPlan

_INDENT = 12


def described(plan: TournamentPlan) -> Iterator[str]:
    """Yield what a plan says, printable: its name, a line for each matter, then one for each entrant."""
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
    """Return an option's value as the file has it; a command line with all its words."""
    is_words = isinstance(value, list) and all(isinstance(word, str) for word in value)
    return f"[{', '.join(map(json.dumps, value))}]" if is_words else shown(value)


def _matches(spec: TournamentSpec, extent: Extent | None) -> str:
    """Return how many matches there will be, as far as it can be told."""
    if extent is None:
        return "as many as the format needs"
    fewest, most = extent.fewest * spec.legs, extent.most * spec.legs
    count = f"{most}" if fewest == most else f"{fewest} to {most}"
    rounds = f" in {counted(extent.rounds, 'round')}" if extent.rounds else ""
    return f"{count}{rounds}"


def _deals(spec: TournamentSpec) -> str:
    """Return where chance comes from, and how often the same."""
    source = "secret" if spec.seed is None else f"fixed by seed {spec.seed}, so anybody can foretell them"
    return f"{source}; each is played from all {spec.seats} seats" if spec.duplicate else source
