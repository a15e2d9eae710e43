"""A tournament before it begins, in words, and examples of its file. Knows plans; refuses to judge them."""

from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from rich.text import Text

from ...pairing.base import Extent
from ...text import counted, printable
from ...tournament.spec import TimeControl, TournamentSpec
from .plan import TournamentPlan
from .sheet import shown

_INDENT = 12
_MS = 1000.0
_EXAMPLES = resources.files("sample_players") / "tournaments"


class NoExample(KeyError):
    """There is no example of a format; the text lists those that there are."""


def describe(plan: TournamentPlan) -> Text:
    """Return what a plan says, for a terminal: a line for each matter, then one for each entrant."""
    spec, run_settings = plan.spec, plan.run_settings
    lines = [
        ("game", f"{spec.game}, {spec.seats} seats{_options(spec.options)}"),
        ("format", spec.format + _options(spec.format_options)),
        ("matches", _matches(spec, plan.extent)),
        ("at a time", str(run_settings.tables)),
        ("time", _time(spec.time)),
        ("memory", f"{spec.memory_mib} MiB a program"),
        ("deals", _deals(spec)),
        ("tie-breaks", ", ".join(spec.tie_breaks) or "none"),
        ("records", str(run_settings.folder)),
        *([("ledger", run_settings.ledger)] if run_settings.ledger else []),
        *(
            [("remote", f"{counted(len(run_settings.tokens), 'entrant')} at {run_settings.listen}")]
            if run_settings.tokens
            else []
        ),
        ("entrants", str(len(spec.entrants))),
    ]
    text = Text.assemble((printable(spec.name), "bold"))
    for title, words in lines:
        text.append(f"\n{title:<{_INDENT}}", style="dim").append(printable(words))
    for one in spec.entrants:
        rating = "" if one.rating is None else f"  {one.rating:g}"
        text.append(f"\n  {one.name:<21} {printable(one.player)}{rating}")
    return text


def example(format_name: str) -> str:
    """Return a commented file of a tournament that can be played at once, with house players.

    Args:
        format_name: of a pairing format.

    Raises:
        NoExample: there is none for it.
    """
    known = list(examples())
    if format_name not in known:
        raise NoExample(f"there is no example of {format_name!r}; there are: {', '.join(known)}")
    return (_EXAMPLES / f"{format_name}.toml").read_text(encoding="utf-8")


def examples() -> Iterator[str]:
    """Yield the formats of which there is an example, in the order of their names."""
    files = (entry.name for entry in _EXAMPLES.iterdir())
    yield from sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml"))


def _options(options: Mapping[str, Any]) -> str:
    files = ((key, isinstance(value, dict), value) for key, value in options.items())
    return "".join(
        f", {key} as in its file" if is_file else f", {key} = {shown(value)}" for key, is_file, value in files
    )


def _matches(spec: TournamentSpec, extent: Extent | None) -> str:
    """Return how many matches there will be, as far as it can be told."""
    if extent is None:
        return "as many as the format needs"
    fewest, most = extent.fewest * spec.legs, extent.most * spec.legs
    count = f"{most}" if fewest == most else f"{fewest} to {most}"
    rounds = f" in {counted(extent.rounds, 'round')}" if extent.rounds else ""
    return f"{count}{rounds}"


def _time(time: TimeControl) -> str:
    """Return a time control in words."""
    parts = [f"{time.per_move_ms / _MS:g} s a move"]
    if time.bank_ms is not None:
        increment = f" and {time.increment_ms / _MS:g} s more for each" if time.increment_ms else ""
        parts.append(f"{time.bank_ms / _MS:g} s for all moves{increment}")
    return ", ".join([*parts, f"{time.start_ms / _MS:g} s to start"])


def _deals(spec: TournamentSpec) -> str:
    """Return where chance comes from, and how often the same."""
    source = "secret" if spec.seed is None else f"fixed by seed {spec.seed}, so anybody can foretell them"
    return f"{source}; each is played from all {spec.seats} seats" if spec.duplicate else source
