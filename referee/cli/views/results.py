"""The end of `play` and `serve`: the ranking as a table, and for each expelled player what its author does next."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.markup import escape
from rich.table import Column
from rich.table import Table as RichTable

from ...app.records.explain import view_of_seat
from ...app.records.explain_text import expected_and_come, explain_command
from ...check.remedies import foul_remedy
from ...match.commands import Result
from ...match.fouls import Cause, Foul
from ...pages.outcomes import Teams, outcome_of_result
from ...pages.words import ranking, why
from ...record.explain import Explanation
from ...text import printable, printable_lines
from ..common import harmless, numbers, out

_SHOWN_CHARS = 160
"""Of what came; `explain` has all of it."""


def result_table(names: Sequence[str], result: Result, teams: Teams) -> RichTable:
    """Return the ranking of a match as a table.

    Args:
        names: the players by seat.
        result: how the match ended.
        teams: seats that win and lose together, as the game has them; none: every seat is for itself.
    """
    title = harmless("Void: " + result.void) if result.void else None
    columns: list[Column | str] = [*numbers("rank", "seat"), "player", *numbers("points", "time used"), ""]
    table = RichTable(*columns, title=title, show_edge=False)
    for row in ranking(names, result, teams):
        note = row.note if row.foul is None else f"[red]expelled: {row.foul.cause}[/] {harmless(why(row.foul))}"
        seconds = f"{row.used_ms / 1000:.2f} s"
        table.add_row(row.place, str(row.seat), escape(row.name), str(row.points), seconds, note)
    return table


def show_result(names: Sequence[str], result: Result, teams: Teams) -> None:
    """Print how a match ended in one sentence, which is not wrapped, and its ranking; the arguments are a table's."""
    out.say(outcome_of_result(names, result, teams).with_points(result.scores))
    out.print(result_table(names, result, teams))


def show_expulsions(result: Result, record: Path) -> None:
    """Print for each expelled player what went wrong, what to do, and the command that explains the rest.

    Args:
        result: of the match.
        record: its file, whole.

    Raises:
        RecordError: the record was changed meanwhile.
    """
    for foul in result.fouls:
        found = view_of_seat(record, foul.seat).explained()
        out.print(f"\n[red]{harmless(found.names[foul.seat])} was expelled: {foul.cause}[/]", highlight=False)
        for label, text in _next_steps(foul, found, record):
            out.say(f"  {label:<15} {text}")


def _next_steps(foul: Foul, found: Explanation, record: Path) -> Iterator[tuple[str, str]]:
    """Yield label and text of each thing that its author can look at; the command as a shell takes it."""
    verdict = found.verdict
    assert verdict is not None, "it was expelled"
    if verdict.rule is not None:
        yield "expected", f"{verdict.rule.text} ({verdict.rule.id})"
    for label, text in expected_and_come(verdict, found.conversation):
        yield label, printable(text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}...")
    printed = None if found.printed is None else found.printed.path
    yield "how to mend it", printable(foul_remedy(foul, found.game, printed))
    yield "in the record", f"line {verdict.line} of {record}"
    if found.printed is not None:
        yield "it printed", found.printed.path
        if foul.cause in (Cause.CRASHED, Cause.REFUSED_TO_START):
            yield from (("", line) for line in found.printed.lines)
    if foul.turn:
        yield "the view", printable_lines(explain_command(record, found, foul.turn))
    yield "all about it", printable_lines(explain_command(record, found))
