"""`referee replay`: watch a recorded match again, in the terminal."""

import sys
import time
from pathlib import Path
from typing import Any

import rich_click as click

from ..match import events as e
from ..match.machine import Match
from ..record.audit import open_match, refold
from ..record.reader import RecordError, read_record
from .common import FAILED, json_option, out, print_json, record_argument, registry, result_table


@click.command(epilog="Example:  referee replay logs/MATCH.jsonl --turn 12")
@record_argument
@click.option("--turn", type=click.IntRange(min=0), help="Show the board after this turn only.")
@click.option("--delay", "delay_s", type=click.FloatRange(min=0), default=0.0, help="Pause after each turn, in s.")
@json_option
def replay(record: Path, turn: int | None, delay_s: float, as_json: bool) -> None:
    """Watch a recorded match again: every turn with its player, its move, and the board.

    Exit status: 0 shown, 1 the record does not hold, 2 used wrongly.
    """
    if not record.is_file():
        raise click.UsageError(f"there is no record {record}")
    turns: list[dict[str, Any]] = []
    try:
        read = read_record(record)
        match = open_match(read, registry().game)
        if match is None:
            raise click.ClickException(f"{record}: the match was not finished and its seed is still secret")
        for step, now in refold(read, match):
            if isinstance(step.event, e.MoveReceived):
                turns.append({"turn": step.event.turn, "seat": step.event.seat, "move": step.event.move})
            if not as_json:
                _show_step(step.event, now, turn, delay_s)
    except RecordError as error:
        out.print(str(error), markup=False, soft_wrap=True)
        sys.exit(FAILED)
    if turn is not None and turn > match.turn:
        raise click.UsageError(f"the match has {match.turn} turns, there is no turn {turn}")
    if as_json:
        print_json({"match": match.setup.match, "names": match.setup.names, "turns": turns, "result": match.result})
    elif match.result is not None and turn is None:
        out.print(result_table(match.setup.names, match.result))


def _show_step(event: e.Event, match: Match, wanted: int | None, delay_s: float) -> None:
    """Show the board after a move or an expulsion, if that turn is wanted."""
    if not isinstance(event, e.SeatEvent) or isinstance(event, e.ReadyReceived | e.AckReceived):
        return
    turn = event.turn if isinstance(event, e.MoveReceived) else match.turn
    if wanted is not None and turn != wanted:
        return
    names = match.setup.names
    out.rule(f"turn {turn}: seat {event.seat}, {names[event.seat]}", align="left")
    foul = next((foul for foul in match.fouls if foul.seat == event.seat and foul.at_ms == event.at_ms), None)
    if foul is not None:
        out.print(f"[red]expelled: {foul.cause}[/] {foul.rule or foul.code or ''} {foul.detail}", highlight=False)
    elif isinstance(event, e.MoveReceived):
        out.print(f"{event.move}", markup=False, highlight=False)
    if match.state is not None:
        out.print(match.game.draw_text(match.state), highlight=False, no_wrap=True, crop=False)
    if delay_s:
        time.sleep(delay_s)
