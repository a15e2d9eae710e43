"""`referee play`: one match here and now, every player a program of its own; or the rest of one that broke off."""

from pathlib import Path

import rich_click as click

from ...app import playing
from ...app.services import RefereeOptions
from ...plugins import find_game
from ..common import json_option
from ..options.completion import complete_games, complete_players
from ..options.match import MatchOptions, lot_option, match_options, resume_option
from ..options.running import referee_options
from ..views.match import MatchView


@click.command(epilog="Example:  referee play q house:dag house:greedy cmd:'python3 my_player.py' --seed 7")
@click.argument("game", required=False, shell_complete=complete_games)
@click.argument("players", nargs=-1, shell_complete=complete_players)
@match_options
@lot_option
@resume_option
@referee_options
@json_option
def play(
    game: str | None,
    players: tuple[str, ...],
    *,
    match: MatchOptions,
    lot: bool,
    resume: Path | None,
    running: RefereeOptions,
    as_json: bool,
) -> None:
    """Play one match of GAME between PLAYERS, in the order of their seats.

    A PLAYER is house:NAME (see `referee list`), cmd:'COMMAND', or a folder with a player.toml, which needs two lines,
    name = "ada" and run = "python3 player.py", and may have games, build and version. Each runs as a program of its
    own, in a sandbox where this machine has one (see --sandbox and `referee doctor`), and speaks to the referee over a
    socket. The record goes to the folder of --logs.

    With --resume RECORD, without GAME and PLAYERS, a match whose referee died is played to its end: the same programs
    are started again, and the open turn is asked again with the time that was left.

    Exit status: 0 played, 1 void, a program that does not start or a record that can't be resumed, 2 used wrongly.
    """
    view = MatchView(as_json=as_json)
    running = view.told_by(running)
    if resume is None:
        if game is None or not players:
            raise click.UsageError("say which GAME and which PLAYERS, e.g. `referee play q house:dag house:greedy`")
        rules = find_game(game)
        played = playing.play(rules, players, match.settings(rules, lot=lot), running)
    elif game is not None or players:
        raise click.UsageError("--resume takes game and players from the record; leave them out")
    else:
        played = playing.resume(resume, running)
    view.conclude(played)
