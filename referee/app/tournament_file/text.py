"""A tournament before it begins, in words, and examples of its file. Knows plans; refuses to judge them."""

from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from rich.text import Text

from ...games.base import counted
from ...pairing.base import Extent
from ...text import printable
from ...tournament.spec import Charter, TimeControl
from .plan import TournamentPlan
from .sheet import shown

_INDENT = 12
_MS = 1000.0
_EXAMPLES = resources.files("sample_players") / "tournaments"


class NoExample(KeyError):
    """There is no example of a format; the text lists those that there are."""


def describe(plan: TournamentPlan) -> Text:
    """Return what a plan says, for a terminal: a line for each matter, then one for each entrant."""
    charter, venue = plan.charter, plan.venue
    lines = [
        ("game", f"{charter.game}, {charter.seats} seats{_options(charter.options)}"),
        ("format", charter.format + _options(charter.format_options)),
        ("matches", _matches(charter, plan.extent)),
        ("at a time", str(venue.tables)),
        ("time", _time(charter.time)),
        ("memory", f"{charter.memory_mib} MiB a program"),
        ("deals", _deals(charter)),
        ("tie-breaks", ", ".join(charter.tie_breaks) or "none"),
        ("records", str(venue.folder)),
        *([("ledger", venue.ledger)] if venue.ledger else []),
        *([("remote", f"{counted(len(venue.tokens), 'entrant')} at {venue.listen}")] if venue.tokens else []),
        ("entrants", str(len(charter.entrants))),
    ]
    text = Text.assemble((printable(charter.name), "bold"))
    for title, words in lines:
        text.append(f"\n{title:<{_INDENT}}", style="dim").append(printable(words))
    for one in charter.entrants:
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


def _matches(charter: Charter, extent: Extent | None) -> str:
    """Return how many matches there will be, as far as it can be told."""
    if extent is None:
        return "as many as the format needs"
    fewest, most = extent.fewest * charter.legs, extent.most * charter.legs
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


def _deals(charter: Charter) -> str:
    """Return where chance comes from, and how often the same."""
    source = "secret" if charter.seed is None else f"fixed by seed {charter.seed}, so anybody can foretell them"
    return f"{source}; each is played from all {charter.seats} seats" if charter.duplicate else source
