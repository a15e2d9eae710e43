"""Finds the folder that a comparison goes into: one begun alike with the same programs, or a new one.

Knows specs and digests; refuses to know verdicts. What differs from the last one that was begun between the two is
told, so that nobody takes an old verdict for that of a changed program.
"""

from itertools import count
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..record.manifest import record_files
from ..record.programs import read_programs
from ..record.spec_file import read_spec_file
from ..tournament.spec import TournamentSpec, differences
from .program_changes import digests_of

MAX_CHARS = 40
"""Of a tournament's name."""


class ComparisonFolder(Struct, frozen=True, kw_only=True):
    """Where a comparison is played."""

    spec: TournamentSpec
    """With the name that its folder has."""
    folder: Path
    notice: str = ""
    """Why it is begun anew though the two were compared before; empty: it is not."""


def find_place(spec: TournamentSpec, logs: Path) -> ComparisonFolder:
    """Return where a comparison goes on, or is begun.

    Args:
        spec: what is played; its name may get a number.
        logs: where all folders of records are.

    Raises:
        BadJsonFile: what stands in a folder of that name is damaged.
        OSError: it can't be read.
    """
    digests = digests_of(spec.entrants)
    before: tuple[Path, str] | None = None
    for number in count(1):
        suffix = "" if number == 1 else f"-{number}"
        wanted = replace(spec, name=spec.name[: MAX_CHARS - len(suffix)] + suffix)
        folder = logs / wanted.name
        founding = read_spec_file(folder)
        if founding is None:
            break
        wanted = _as_wide(wanted, founding.spec)
        why = _otherwise(founding.spec, wanted) or _changed(folder, digests)
        if not why:
            return ComparisonFolder(spec=wanted, folder=folder)
        before = folder, why
    notice = "" if before is None else f"{before[1]} (see {before[0]}); a new comparison is begun in {folder}"
    return ComparisonFolder(spec=wanted, folder=folder, notice=notice)


def _as_wide(spec: TournamentSpec, kept: TournamentSpec) -> TournamentSpec:
    """Return a spec with as many pairings due at once as another: it is no matter to the verdict."""
    if "window" not in kept.format_options:
        return spec
    options = {**spec.format_options, "window": kept.format_options["window"]}
    return replace(spec, format_options=options)


def _otherwise(kept: TournamentSpec, wanted: TournamentSpec) -> str:
    """Return in what a comparison was begun otherwise; empty: in nothing."""
    parts = [
        f"{_option(path)} was {_value(old)}, is {_value(new)}" for path, (old, new) in differences(kept, wanted).items()
    ]
    return f"the last comparison of the two was another: {', '.join(parts)}" if parts else ""


def _option(path: str) -> str:
    return path.rpartition(".")[2]


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _changed(folder: Path, digests: dict[str, str]) -> str:
    """Return which programs have changed since a comparison was begun; empty: none."""
    programs = read_programs(folder)
    if programs is None:
        is_unknown = bool(digests) and bool(record_files(folder))
        return "nobody noted which programs the last comparison of the two was played with" if is_unknown else ""
    names = programs.differing(digests)
    have = "has" if len(names) == 1 else "have"
    return f"{' and '.join(names)} {have} changed since the last comparison" if names else ""
