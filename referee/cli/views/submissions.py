"""An author's versions and matches, and what came of a version. All of it came over a network, and is shown as text."""

from typing import Any

from rich.table import Table as RichTable

from ...app.submit import rows_of
from ...record.printed import LAST_LINES
from ...text import printable
from ...web.submissions.store import VersionState
from ..common import harmless, out

VERSIONS = ("number", "state", "handed_in", "sha256", "failed_steps")
"""Columns of an author's versions."""
MATCHES = ("match", "game", "names", "seat", "version", "rank", "points", "foul")
"""Columns of an author's matches."""
_HASH_CHARS, _INSTANT_CHARS = 64, 19


def show_verdict(version: dict[str, Any], in_its_place: str) -> None:
    """Show what came of a version.

    Args:
        version: as the service describes it.
        in_its_place: what plays if it failed.
    """
    passed = version.get("state") == VersionState.PASSED
    word = "[green]passed[/]: it plays from now on" if passed else f"[red]failed[/]: {harmless(in_its_place)}"
    out.print(f"version {harmless(str(version.get('number')))} {word}", highlight=False)
    if version.get("trouble"):
        _print(str(version["trouble"]))
    report = version.get("report")
    explained: dict[str, Any] = {}
    for step in rows_of(report, "steps") if isinstance(report, dict) else ():
        if step.get("verdict") == "failed":
            _show_step(step, explained)


def _show_step(step: dict[str, Any], explained: dict[str, Any]) -> None:
    """Show a step that failed; what was explained at an earlier one is not explained again.

    Args:
        step: as the check describes it.
        explained: cause of a failure -> the number of its first step; added to.
    """
    found = step.get("trouble")
    trouble: dict[str, Any] = found if isinstance(found, dict) else {}
    first = explained.setdefault(str(trouble.get("cause", step.get("number"))), step.get("number"))
    if first != step.get("number"):
        _print(f"  {step.get('number')} {step.get('title')} (for the cause of step {first})")
        return
    _print(f"  {step.get('number')} {step.get('title')}")
    for key, title in (("happened", "what happened"), ("expected", "expected"), ("remedy", "how to mend it")):
        if trouble.get(key):
            _print(f"      {title}: {trouble[key]}")
    if trouble.get("printed"):
        _print("      it printed last:")
        for line in str(trouble["printed"]).rstrip().split("\n")[-LAST_LINES:]:
            _print(f"        {line}")


def show_rows(answer: dict[str, Any], name: str, keys: tuple[str, ...]) -> None:
    """Show a list of an answer as a table.

    Args:
        answer: of the service.
        name: of the list.
        keys: of what is shown of each.
    """
    table = RichTable(show_edge=False)
    for key in keys:
        table.add_column(key.replace("_", " "), overflow="fold")
    for row in rows_of(answer, name):
        table.add_row(*(harmless(_word(row.get(key))) for key in keys))
    out.print(table)


def _word(value: Any) -> str:
    """Return a value as a table has it: hashes and instants as far as people look at them."""
    if isinstance(value, str) and len(value) == _HASH_CHARS:
        return value[:12]
    if isinstance(value, str) and value[10:11] == "T":
        return value[:_INSTANT_CHARS]
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _print(text: str) -> None:
    out.say(printable(text))
