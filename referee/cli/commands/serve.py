"""`referee serve`: take sign-ups for one match over TCP, then play the match; or finish an interrupted match."""

import sys
from pathlib import Path
from typing import Any, NoReturn

import rich_click as click
from msgspec import Struct
from msgspec.structs import replace

from ...app.playing import continue_match, host_match
from ...app.services import RefereeOptions, services
from ...errors import BadRequest
from ...games.base import Game, seats_text
from ...net.links.lobby import SignUpPolicy
from ...net.links.tokens import read_tokens
from ...net.matches.session import MatchReport
from ...net.matches.settings import MatchSettings
from ...plugins import find_game, installed
from ...record.resume import reopen
from ..common import FILE, Count, console, group_options, json_option, print_json
from ..completion import complete_games
from ..errors import FAILED
from ..match_view import MatchView, TurnedAway, WhereToConnect
from ..options import MatchOptions, lot_option, match_options, referee_options, resume_option, seconds_option


class SignUpOptions(Struct, frozen=True, kw_only=True):
    """Which players may sign up for a match, and how."""

    listen: str
    """Twisted endpoint string."""
    min_players: int | None = None
    """Smallest number of players that begin; None: the smallest number that the game allows."""
    max_players: int | None = None
    wait_s: float
    """Length of a waiting period, in seconds."""
    tries: int
    players_file: Path | None = None
    """File of the players that may play, with the hash of each player's token; None: everybody may play."""
    come_back_s: float = 0.0
    """Longest time for a player to reconnect after its connection was lost, in seconds."""
    dialect: str | None = None
    """Protocol that players speak; None: the referee's own."""
    resume: Path | None = None
    """Record of an interrupted match, to whose players the seats belong; None: a new match."""


class TooFewSignedUp(Struct, frozen=True):
    """The result if no match was played, because too few players signed up."""

    fewest: int
    """Number of players that were needed."""


def play_sign_ups(
    game: Game[Any, Any, Any], sign_ups: SignUpOptions, settings: MatchSettings, options: RefereeOptions
) -> MatchReport | TooFewSignedUp:
    """Take sign-ups, then play the match; or resume an interrupted match.

    Args:
        game: the game.
        sign_ups: which players may sign up, and how.
        settings: settings of the match.
        options: options of the referee.

    Raises:
        BadRequest: the options contradict each other.
        RecordError: a record does not hold, or can't be resumed.
        Interrupted: the user stopped it.
        OSError: the record can't be written.
    """
    _check_sign_ups(game, sign_ups)
    policy, players = _policy(game, sign_ups)
    with services(options.without_sandbox(), settings.folder) as at_hand:  # this command starts no programs
        if sign_ups.resume is not None:
            resumed = reopen(sign_ups.resume.absolute(), find_game, at_hand.match.sealer)
            if resumed.match.setup.game != game.name:
                raise BadRequest(f"{sign_ups.resume} is a match of {resumed.match.setup.game}, not of {game.name}")
            return continue_match(resumed, at_hand, sign_ups.listen, come_back_s=sign_ups.come_back_s)
        settings = replace(settings, players=players, come_back_s=sign_ups.come_back_s)
        if sign_ups.dialect is not None:
            dialect = installed().dialect(sign_ups.dialect)
            settings = replace(settings, kind=dialect.link, dialect=dialect.name, acknowledge=True)
        played = host_match(game, settings, at_hand, lambda host: host.play_after_sign_up(sign_ups.listen, policy))
    return TooFewSignedUp(policy.min_players) if played is None else played


def _check_sign_ups(game: Game[Any, Any, Any], sign_ups: SignUpOptions) -> None:
    """Refuse options that do not go together."""
    if sign_ups.dialect is not None:
        dialect = installed().dialect(sign_ups.dialect)
        if game.name != dialect.game:
            raise BadRequest(f"--dialect {sign_ups.dialect} is only for the game {dialect.game}, not for {game.name}")
        if sign_ups.players_file is not None or sign_ups.come_back_s or sign_ups.resume is not None:
            raise BadRequest(f"{sign_ups.dialect} has no tokens: leave --players, --come-back and --resume out")
    if sign_ups.resume is not None and sign_ups.players_file is not None:
        raise BadRequest("--resume identifies each player by the token of its offer; leave --players out")


def _policy(game: Game[Any, Any, Any], sign_ups: SignUpOptions) -> tuple[SignUpPolicy, dict[str, str] | None]:
    """Return the policy (how many players to wait for, and how long), and the players that may sign up.

    The second value is None if everybody may sign up; otherwise it maps a player's name to the hash of its token.
    """
    fewest = game.seats[0] if sign_ups.min_players is None else sign_ups.min_players
    most = game.seats[-1] if sign_ups.max_players is None else sign_ups.max_players
    for count in (fewest, most):
        if count not in game.seats:
            raise BadRequest(f"{game.name} takes {seats_text(game.seats)} players, not {count}")
    if fewest > most:
        raise BadRequest(f"--min {fewest} is more than --max {most}")
    players, path = None, sign_ups.players_file
    if path is not None:
        players = read_tokens(path)
        if len(players) < fewest:
            raise BadRequest(f"{path} has {len(players)} players, {fewest} are needed; `referee token` adds more")
        # Nobody outside the list may play, so do not wait for more players than the list has.
        most = max(count for count in game.seats if count <= min(most, len(players)))
    policy = SignUpPolicy(
        min_players=fewest, max_players=most, step=game.seats.step, wait_s=sign_ups.wait_s, tries=sign_ups.tries
    )
    return policy, players


LISTEN = "tcp:7777:interface=127.0.0.1"
_sign_up_options = group_options(
    "sign_ups",
    SignUpOptions,
    click.option("--listen", default=LISTEN, show_default=True, help="Address to listen on, a Twisted endpoint."),
    click.option(
        "--min", "min_players", type=Count(), help="Smallest number of players. (Default: the smallest of the game)"
    ),
    click.option(
        "--max",
        "max_players",
        type=Count(),
        help="Largest number of players; when they are there, the match begins. (Default: the largest of the game)",
    ),
    seconds_option("--wait", "wait_s", default=20.0, what="Length of a waiting period, in seconds."),
    click.option("--tries", type=Count(min=1), default=2, show_default=True, help="Number of waiting periods."),
    click.option(
        "--players",
        "players_file",
        type=FILE,
        help="Accept only the players in FILE, with their tokens, and seat them in its order. See `referee token`. "
        "(Default: anybody)",
    ),
    seconds_option(
        "--come-back",
        "come_back_s",
        least=0,
        default=0.0,
        what="Time for a player to reconnect after its connection was lost, in seconds; its clock keeps running.",
    ),
    click.option(
        "--dialect",
        metavar="NAME",
        help="Use another protocol: cs4500, for the game q. See protocol/CS4500.md. "
        "(Default: the protocol of protocol/SPEC.md)",
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
    """Take sign-ups for one match of GAME over TCP, then play the match.

    Players sign up with a name of 1 to 20 letters, digits, - and _; a name that is taken is refused. They are seated in
    the order of arrival, or with --lot by lot. To accept players from other machines, listen on all interfaces:
    --listen tcp:7777 or, with TLS, --listen ssl:7777:privateKey=key.pem:certKey=cert.pem

    With --dialect cs4500, players that were written for the course CS4500 can play.

    Anybody may play, unless --players names the players: then a player's token decides its name and seat.

    With --resume RECORD, the command finishes an interrupted match. Each player has to reconnect within the start-up
    limit, and gets its seat back with the resume token from its offer.

    Exit status: 0 played, 1 the match is void, the record can't be resumed, or too few players, 2 usage error.
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
    played = play_sign_ups(rules, sign_ups, settings, view.observe(running, *others))
    if not isinstance(played, TooFewSignedUp):
        view.conclude(played)
    console.print(f"fewer than {played.fewest} players signed up; no match was played")
    if as_json:
        print_json({"match": None, "game": rules.name, "names": [], "result": None, "record": None, "moves": []})
    sys.exit(FAILED)
