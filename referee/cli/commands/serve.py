"""`referee serve`: take sign-ups over TCP, then play."""

import sys
from typing import Any, NoReturn

import rich_click as click

from ...app import serving
from ...app.services import RefereeOptions
from ...app.serving import SignUpOptions
from ...games.base import Game
from ...net.matches.settings import MatchSettings
from ...plugins import find_game
from ..common import FILE, Count, console, json_option, print_json
from ..errors import FAILED
from ..options.completion import complete_games
from ..options.grouping import grouped
from ..options.match import MatchOptions, lot_option, match_options, resume_option, seconds_option
from ..options.running import referee_options
from ..views.match import MatchView
from ..views.notices import TurnedAway, WhereToConnect

LISTEN = "tcp:7777:interface=127.0.0.1"
_sign_up_options = grouped(
    "sign_ups",
    SignUpOptions,
    click.option("--listen", default=LISTEN, show_default=True, help="Twisted endpoint string."),
    click.option(
        "--min", "min_players", type=Count(), help="Fewest players to begin with; the game's own if not given."
    ),
    click.option("--max", "max_players", type=Count(), help="Most players; that many end the wait at once."),
    seconds_option("--wait", "wait_s", default=20.0, what="A waiting period, in seconds."),
    click.option("--tries", type=Count(min=1), default=2, show_default=True, help="Number of waiting periods."),
    click.option(
        "--players",
        "players_file",
        type=FILE,
        help="Take the players of this FILE only, each by its token, and seat them in its order. See `referee token`.",
    ),
    seconds_option(
        "--come-back",
        "come_back_s",
        least=0,
        default=0.0,
        what="How long a player whose connection was lost may be away, in seconds; its clock goes on.",
    ),
    click.option(
        "--dialect",
        metavar="NAME",
        help="Speak a course's wire in place of the referee's own: cs4500, for q. See protocol/CS4500.md.",
    ),
    resume_option,
)


@click.command(epilog="Example:  referee serve q --listen tcp:7777 --min 2 --max 4 --wait 20 --tries 2")
@click.argument("game", shell_complete=complete_games)
@_sign_up_options
@match_options
@lot_option
@referee_options
@json_option
def serve(
    game: str,
    *,
    sign_ups: SignUpOptions,
    match: MatchOptions,
    lot: bool,
    running: RefereeOptions,
    as_json: bool,
) -> None:
    """Take sign-ups for one match of GAME over TCP, then play it.

    Players sign up with a name of 1 to 20 letters, digits, - and _; a name that is taken is refused. Seats go by
    arrival, with --lot by the seed. To let players of other machines in, listen on all interfaces: --listen tcp:7777
    or, with TLS, --listen ssl:7777:privateKey=key.pem:certKey=cert.pem

    With --dialect cs4500, players written for the course CS4500 play: they sign up with a name as a JSON string.

    Whoever comes may play, unless --players names those who may: then name and seat follow from a player's token.

    With --resume RECORD, a match whose referee died is played to its end: whoever comes back within the start-up limit
    takes its seat by the resume token that it was given in the offer.

    Exit status: 0 played, 1 void, a record that can't be resumed or too few players, 2 usage error.
    """
    rules = find_game(game)
    _play(rules, sign_ups, match.settings(rules, lot=lot), running, as_json=as_json)


def _play(
    rules: Game[Any, Any, Any],
    sign_ups: SignUpOptions,
    settings: MatchSettings,
    running: RefereeOptions,
    *,
    as_json: bool,
) -> NoReturn:
    view = MatchView(as_json=as_json)
    others = (TurnedAway(), WhereToConnect()) if as_json else (TurnedAway(),)
    played = serving.serve(rules, sign_ups, settings, view.told_by(running, *others))
    if not isinstance(played, serving.TooFewSignedUp):
        view.conclude(played)
    console.print(f"fewer than {played.fewest} players signed up; no match was played")
    if as_json:
        print_json({"match": None, "game": rules.name, "names": [], "result": None, "record": None, "moves": []})
    sys.exit(FAILED)
