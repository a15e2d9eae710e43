"""`referee rule` and `referee join-tournament`: make a ruling in a tournament that has begun, or join it."""

import getpass
from pathlib import Path
from typing import get_args

import msgspec
import rich_click as click

from ...app.tournaments.requests import Asked, join_tournament, rule
from ...tournament.rulings import Kind
from ..common import EXISTING_FOLDER, Word, json_option, out, print_json
from ..completion import complete_players, complete_tournaments

_folder = click.argument("folder", type=EXISTING_FOLDER, shell_complete=complete_tournaments)


def _user_name() -> str:
    """Return the name of the user who runs the command, if the machine knows it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in some containers, the user has no name
        return "the organiser"


@click.command("rule", epilog='Example:  referee rule logs/autumn award autumn-00012 --to ann --reason "power cut"')
@_folder
@click.argument("kind", metavar="RULING", type=Word(get_args(Kind)))
@click.argument("subject", metavar="NAME|MATCH", required=False)
@click.option("--to", metavar="NAME", help="Entrant that wins an awarded match.")
@click.option("--reason", required=True, help="Reason in one sentence, for the record and the report.")
@click.option("--by", metavar="PERSON", default=_user_name, help="Person who decides. (Default: your name)")
@json_option
def rule_command(
    folder: Path, kind: Kind, subject: str | None, to: str | None, reason: str, by: str, *, as_json: bool
) -> None:
    """Rule on an entrant NAME, on a MATCH, or on the whole tournament in FOLDER.

    withdraw NAME: the entrant plays no more. disqualify NAME: it plays no more, and is placed last. reinstate NAME: it
    plays again. replay MATCH: the match is played once more. void MATCH: it counts for nobody. award MATCH --to NAME:
    one of its players wins it. stop: no further match begins; the tournament ends when the open matches are over.
    freeze: a contest's site shows no later result. lift: it shows all results again.

    If a referee runs the tournament, it carries the ruling out within a second; otherwise the next `referee tournament`
    does. The ruling is part of the tournament's record. Only another ruling undoes it; nothing undoes `stop`.

    Exit status: 0 handed in, 1 the record does not hold, 2 the ruling does not fit the state of the tournament.
    """
    _show(rule(folder, kind, subject, to, reason, by), "the ruling", as_json=as_json)


@click.command("join-tournament", epilog="Example:  referee join-tournament logs/season my_bot/ --name ann-2")
@_folder
@click.argument("player", shell_complete=complete_players)
@click.option("--name", help="Name of the entrant. (Default: the player's own)")
@json_option
def join_command(folder: Path, player: str, name: str | None, *, as_json: bool) -> None:
    """Let PLAYER join the tournament in FOLDER, a Swiss or a ladder, although it has begun.

    PLAYER is a folder with a player.toml, `house:NAME`, or `cmd:COMMAND`. In a Swiss, `late_bye` in the tournament file
    says what a missed round is worth: half a win by default.

    Exit status: 0 handed in, 1 the record does not hold, 2 the player can't join.
    """
    _show(join_tournament(folder, player, name), "the entrant", as_json=as_json)


def _show(asked: Asked, what: str, *, as_json: bool) -> None:
    if as_json:
        print_json(msgspec.to_builtins(asked, enc_hook=str))
    elif asked.is_running:
        out.say(f"{what} was handed in; the referee that runs {asked.tournament} carries it out within a second")
    else:
        out.say(f"{what} was handed in; no referee runs {asked.tournament} now: run `referee tournament` with its file")
