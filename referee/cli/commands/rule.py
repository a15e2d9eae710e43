"""`referee rule` and `referee join-tournament`: decide something in a tournament that has begun, or join it."""

import getpass
from pathlib import Path
from typing import get_args

import msgspec
import rich_click as click

from ...app.tournaments.requests import Asked, join_tournament, rule
from ...tournament.rulings import Kind
from ..common import EXISTING_FOLDER, Word, json_option, out, print_json

_folder = click.argument("folder", type=EXISTING_FOLDER)


def _whoever() -> str:
    """Return who runs the command, as far as the machine knows."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        return "the organiser"


@click.command("rule", epilog='Example:  referee rule logs/autumn award autumn-00012 --to ann --reason "power cut"')
@_folder
@click.argument("kind", metavar="|".join(get_args(Kind)), type=Word(get_args(Kind)))
@click.argument("subject", metavar="NAME|MATCH", required=False)
@click.option("--to", metavar="NAME", help="The entrant that a match is awarded to.")
@click.option("--reason", required=True, help="Why, in a sentence: it stands in the record and in the report.")
@click.option("--by", metavar="PERSON", default=_whoever, show_default="your name", help="Who decides.")
@json_option
def rule_command(
    folder: Path, kind: Kind, subject: str | None, to: str | None, reason: str, by: str, *, as_json: bool
) -> None:
    """Rule on an entrant or a match of the tournament in FOLDER, or on all of it.

    NAME: `withdraw` lets it play no more; `disqualify` puts it last as well; `reinstate` lets it play on. MATCH:
    `replay` lets it be played once more; `void` lets it count for nobody; `award` gives it to one of its players.
    Neither: `stop` lets nothing begin any more; what has begun is played to its end, and that is the tournament's end.

    The referee that runs the tournament carries the ruling out within a second; else `referee tournament` does when it
    is run the next time. It stands in the tournament's record, and only a further ruling undoes it; nothing undoes
    `stop`.

    Exit status: 0 handed in, 1 the record does not hold, 2 the ruling makes no sense as the tournament stands.
    """
    _show(rule(folder, kind, subject, to, reason, by), "the ruling", as_json=as_json)


@click.command("join-tournament", epilog="Example:  referee join-tournament logs/season my_bot/ --name ann-2")
@_folder
@click.argument("player")
@click.option("--name", help="What it is called.  [default: as its player.toml says]")
@json_option
def join_command(folder: Path, player: str, name: str | None, *, as_json: bool) -> None:
    """Let PLAYER join the tournament in FOLDER, a Swiss or a ladder, though it has begun.

    PLAYER is a folder with a player.toml, `house:NAME`, or `cmd:COMMAND`. In a Swiss, rounds that it has missed are
    worth what the tournament file says under `late_bye`, half a win if it says nothing.

    Exit status: 0 handed in, 1 the record does not hold, 2 it can't join.
    """
    _show(join_tournament(folder, player, name), "the entrant", as_json=as_json)


def _show(asked: Asked, what: str, *, as_json: bool) -> None:
    if as_json:
        print_json(msgspec.to_builtins(asked, enc_hook=str))
    elif asked.is_running:
        out.say(f"{what} was handed in; the referee that runs {asked.tournament} takes it in within a second")
    else:
        out.say(f"{what} was handed in; nobody runs {asked.tournament} now: run `referee tournament` with its file")
