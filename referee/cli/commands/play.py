"""`referee play`: play one match between programs and persons on this machine, or finish an interrupted match."""

import threading
import webbrowser
from pathlib import Path

import rich_click as click

from ...app import playing
from ...app.services import RefereeOptions
from ...plugins import find_game
from ...programs.player_spec import PlayerKind, parse_player
from ...web.person.table import UserInterface
from ..common import console, json_option
from ..completion import complete_games, complete_players
from ..match_view import MatchView
from ..options import MatchOptions, lot_option, match_options, referee_options, resume_option


@click.command(epilog="Example:  referee play q house:dag house:greedy cmd:'python3 my_player.py' --seed 7")
@click.argument("game", required=False, shell_complete=complete_games)
@click.argument("players", nargs=-1, shell_complete=complete_players)
@match_options
@lot_option
@resume_option
@referee_options
@click.option("--no-open", is_flag=True, help="Do not open a browser for a person's page; its link is still shown.")
@click.option(
    "--relay", "relays", multiple=True, hidden=True, help="NAME=DESCRIPTOR of a socket to a person's page; for `host`."
)
@json_option
def play(
    game: str | None,
    players: tuple[str, ...],
    *,
    match: MatchOptions,
    lot: bool,
    resume: Path | None,
    running: RefereeOptions,
    no_open: bool,
    relays: tuple[str, ...],
    as_json: bool,
) -> None:
    """Play one match of GAME between PLAYERS, in the order of their seats.

    A PLAYER is house:NAME (see `referee list`), cmd:'COMMAND', or a folder with a player.toml. A player.toml needs two
    lines, name = "ada" and run = "python3 player.py", and may have games, build and version. Each player runs as a
    program of its own, in a sandbox if this machine has one (see --sandbox and `referee doctor`). The record goes to
    --logs.

    A PLAYER can be you. With me or me:NAME you play on a page in your browser; the command shows and opens its link.
    With me:terminal you play in this terminal. Several persons can play, each with a link of their own, on this machine
    only.

    With --resume RECORD, without GAME and PLAYERS, the command finishes an interrupted match. It starts the same
    programs again, and repeats the open request with the time that was left.

    Exit status: 0 played, 1 the match is void, a program does not start, or the record can't be resumed, 2 usage error.
    """
    view = MatchView(as_json=as_json)
    running = view.observe(running)
    sockets = {name: int(descriptor) for name, descriptor in (relay.split("=") for relay in relays)}
    interface = UserInterface(
        show=view.show_to_person, say=console.say, open=None if no_open else _open, relays=sockets
    )
    if resume is None:
        if game is None or not players:
            raise click.UsageError("GAME or PLAYERS are missing, e.g. `referee play q house:dag house:greedy`")
        rules = find_game(game)
        # A limit that suits programs would expel a person who reads the board for the first time.
        has_person = any(parse_player(player).kind is PlayerKind.PERSON for player in players)
        settings = match.settings(rules, has_person=has_person, lot=lot)
        played = playing.play(rules, players, settings, running, interface)
    elif game is not None or players:
        raise click.UsageError("--resume reads game and players from the record; leave them out")
    else:
        played = playing.resume(resume, running, interface)
    view.conclude(played)


def _open(address: str) -> None:
    """Show a page in a browser, if there is one. A thread does it, because some browsers block their caller."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
