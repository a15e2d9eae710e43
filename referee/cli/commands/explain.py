"""`referee explain`: to a player's author, what was asked, answered and broken."""

import shlex
from pathlib import Path

import msgspec
import rich_click as click

from ...app.records.explain import turn_of, view_of
from ...text import printable_lines
from ..common import PATH, Count, json_option, out, print_json, record_argument
from ..errors import own_faults
from ..views.explanation import show_explanation, show_turn


@click.command("explain", epilog="Example:  referee explain logs/MATCH.jsonl mybot --turn 12")
@record_argument
@click.argument("seat", required=False)
@click.option("--turn", type=Count(min=0), help="Show in full what was said in this turn, views included.")
@click.option("--redact", type=PATH, help="Write the record as this seat may see it to a new FILE.")
@json_option
def explain_command(record: Path, seat: str | None, turn: int | None, redact: Path | None, as_json: bool) -> None:
    """Explain a match to the author of the player on SEAT: its number or name; by default the one that was expelled.

    Shown is what the seat was told, what it answered, the time of each answer, the last lines that its program printed
    (from the .stderr file beside the record), and for an expulsion the rule with its source and the offending bytes:
    nothing that this seat was not entitled to see. A file written with --redact can be handed out: `referee audit FILE`
    still verifies its chain and the referee's seal, and `referee explain FILE` explains it.

    Exit status: 0 explained, 1 the record does not hold, 2 usage error, 3 the referee itself failed: its traceback is
    on stderr, and that accuses no record.
    """
    with own_faults("the referee itself failed, which accuses no record"):
        view = view_of(record, seat)
        found = view.explained()
        if redact is not None:
            view.write(redact)
        if as_json:
            print_json({**msgspec.to_builtins(found), **({} if redact is None else {"written": str(redact)})})
            return
        if turn is None:
            show_explanation(found, record)
        else:
            show_turn(found, turn, turn_of(found, turn))
            if view.is_whole:
                command = printable_lines(shlex.join(("referee", "replay", str(record))))
                out.say(f"{command} --turn {turn}  draws the board.")
        if redact is not None:
            out.say(f"written: {redact}")
