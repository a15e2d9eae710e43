"""`referee serve`: take sign-ups over TCP, then play; with --submissions, take programs in (reception.py)."""

import sys
from pathlib import Path
from typing import Any

import rich_click as click
from click import get_current_context
from msgspec.structs import replace

from ...app.hosting import Surroundings, play_on, reopened, run_table
from ...dialects import DIALECTS
from ...games.base import Game, seats_text
from ...net.links.lobby import SignUpPolicy
from ...net.links.tokens import BadTokens, read_tokens
from ...net.matches.host import MatchReport
from ...record.resume import Resumption
from ...record.seal import Sealer
from ..common import Count, console, find_game, json_option, print_json
from ..errors import FAILED
from ..options.completion import complete_games
from ..options.match import Seconds, find_sealer, lot_option, resume_option, table_options, table_settings
from ..options.monitoring import TurnedAway, telemetry_options, watched
from ..options.submissions import asks_for_submissions, receive, submissions_options
from ..views.match import show_played


@click.command(epilog="Example:  referee serve q --listen tcp:7777 --min 2 --max 4 --wait 20 --tries 2")
@click.argument("game", required=False, shell_complete=complete_games)
@click.option("--listen", default="tcp:7777:interface=127.0.0.1", show_default=True, help="Twisted endpoint string.")
@click.option("--min", "min_players", type=int, help="Fewest players to begin with; the game's own if not given.")
@click.option("--max", "max_players", type=int, help="Most players; that many end the wait at once.")
@click.option(
    "--wait",
    "wait_s",
    type=Seconds(min=0.001, max=86_400),
    default=20.0,
    show_default=True,
    help="A waiting period, in s",
)
@click.option("--tries", type=Count(min=1), default=2, show_default=True, help="Number of waiting periods.")
@table_options
@lot_option
@click.option(
    "--players",
    "players_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Take the players of this FILE only, each by its token, and seat them in its order. See `referee token`.",
)
@click.option(
    "--come-back",
    "come_back_s",
    type=Seconds(min=0, max=86_400),
    default=0.0,
    show_default=True,
    help="How long a player whose connection was lost may be away, in seconds; its clock goes on.",
)
@click.option(
    "--dialect",
    type=click.Choice(sorted(DIALECTS)),
    help="Speak a course's wire in place of the referee's own: cs4500, for q. See protocol/CS4500.md.",
)
@resume_option
@submissions_options
@telemetry_options
@json_option
def serve(
    game: str | None,
    listen: str,
    min_players: int | None,
    max_players: int | None,
    wait_s: float,
    tries: int,
    players_file: Path | None,
    come_back_s: float,
    dialect: str | None,
    resume: Path | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Take sign-ups for one match of GAME over TCP, then play it.

    Players sign up with a name of 1 to 20 letters, digits, - and _; a name that is taken is refused. Seats go by
    arrival, with --lot by the seed. To let players of other machines in, listen on all interfaces: --listen tcp:7777
    or, with TLS, --listen ssl:7777:privateKey=key.pem:certKey=cert.pem

    With --dialect cs4500, players written for the course CS4500 play: they sign up with a name as a JSON string.

    With --submissions DIR, and without GAME, nothing is played: programs are taken in over HTTP, see `referee submit`.

    Whoever comes may play, unless --players names those who may: then name and seat follow from a player's token.

    With --resume RECORD, a match whose referee died is played to its end: whoever comes back within the start-up limit
    takes its seat by the resume token that it was given in the offer.

    Exit status: 0 played, 1 void, a record that can't be resumed or too few players, 2 used wrongly.
    """
    if asks_for_submissions(get_current_context()):
        receive(get_current_context())
        return
    if game is None:
        raise click.UsageError("say which GAME, e.g. `referee serve q`; or take programs in with --submissions DIR")
    rules = find_game(game)
    if dialect is not None:
        _check_dialect(dialect, rules.name, players_file, come_back_s, resume)
    if resume is not None and players_file is not None:
        raise click.UsageError("--resume takes each player back by the token of its offer; leave --players out")
    fewest, most = _numbers(rules, min_players, max_players)
    players = None if players_file is None else _players(players_file, fewest)
    if players is not None:
        most = max(count for count in rules.seats if count <= min(most, len(players)))
    policy = SignUpPolicy(min_players=fewest, max_players=most, step=rules.seats.step, wait_s=wait_s, tries=tries)
    sealer = find_sealer(values["key"])
    played: MatchReport | None
    with watched(values["diagnostics"], values["metrics"], TurnedAway()) as telling:
        around = Surroundings(sealer=sealer, watched=telling, is_quiet=as_json)
        if resume is not None:
            resumed = _reopened(resume, rules.name, sealer)
            played, moves = play_on(resumed, around, (), listen, come_back_s=come_back_s)
        else:
            settings = replace(table_settings(rules, values), players=players, come_back_s=come_back_s)
            settings = settings if dialect is None else DIALECTS[dialect].settle(settings)
            played, moves = run_table(rules, settings, around, lambda table: table.play_signed_up(listen, policy))
    if played is None:
        _show_nothing(rules.name, fewest, as_json=as_json)
        sys.exit(FAILED)
    show_played(played, moves, as_json=as_json)
    sys.exit(FAILED if played.result.void else 0)


def _show_nothing(game: str, fewest: int, *, as_json: bool) -> None:
    """Say that no match was played."""
    console.print(f"fewer than {fewest} players signed up; no match was played")
    if as_json:
        print_json({"match": None, "game": game, "names": [], "result": None, "record": None, "moves": []})


def _numbers(rules: Game[Any, Any, Any], least: int | None, most: int | None) -> tuple[int, int]:
    """Return the fewest and the most players of the match."""
    numbers = rules.seats[0] if least is None else least, rules.seats[-1] if most is None else most
    if numbers[0] not in rules.seats or numbers[1] not in rules.seats or numbers[0] > numbers[1]:
        text = f"{rules.name} takes {seats_text(rules.seats)} players, not {numbers[0]} to {numbers[1]}"
        raise click.UsageError(text)
    return numbers


def _check_dialect(dialect: str, game: str, players: Path | None, come_back_s: float, resume: Path | None) -> None:
    """Refuse what a dialect has no word for."""
    if game != DIALECTS[dialect].game:
        raise click.UsageError(f"--dialect {dialect} speaks of {DIALECTS[dialect].game} alone, not of {game}")
    if players is not None or come_back_s or resume is not None:
        raise click.UsageError(f"{dialect} knows no tokens: leave --players, --come-back and --resume out")


def _players(path: Path, fewest: int) -> dict[str, str]:
    """Return the players that may sign up, name -> hash of its token."""
    try:
        players = read_tokens(path)
    except BadTokens as error:
        raise click.UsageError(str(error)) from None
    if len(players) < fewest:
        raise click.UsageError(f"{path} has {len(players)} players, {fewest} are needed; `referee token` adds more")
    return players


def _reopened(path: Path, game: str, sealer: Sealer) -> Resumption:
    """Take up a match whose players come back by themselves."""
    resumed = reopened(path, sealer)
    if resumed.match.setup.game != game:
        raise click.UsageError(f"{path} is a match of {resumed.match.setup.game}, not of {game}")
    return resumed
