"""Takes sign-ups for one match over TCP, then plays it; or waits for the players of one that broke off."""

from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..errors import BadRequest
from ..games.base import Game, seats_text
from ..net.links.lobby import SignUpPolicy
from ..net.links.tokens import read_tokens
from ..net.matches.session import MatchReport
from ..net.matches.settings import MatchSettings
from ..plugins import find_game, installed
from ..programs.confining import SandboxMode
from ..record.resume import reopen
from .playing import host_match, play_on
from .services import RefereeOptions, services


class SignUpOptions(Struct, frozen=True, kw_only=True):
    """Who may sign up for a match, and how."""

    listen: str
    """Twisted endpoint string."""
    min_players: int | None = None
    """Fewest to begin with; None: as the game has it."""
    max_players: int | None = None
    wait_s: float
    """A waiting period."""
    tries: int
    players_file: Path | None = None
    """Those who may play, each by its token; None: whoever comes."""
    come_back_s: float = 0.0
    """How long a player whose connection was lost may be away."""
    dialect: str | None = None
    """The wire that is spoken; None: the referee's own."""
    resume: Path | None = None
    """Record of a match that broke off, whose players come back; None: a new match."""


class TooFewSignedUp(Struct, frozen=True):
    """That no match was played."""

    fewest: int


def serve(
    game: Game[Any, Any, Any], sign_ups: SignUpOptions, settings: MatchSettings, options: RefereeOptions
) -> MatchReport | TooFewSignedUp:
    """Take sign-ups and play.

    Args:
        game: what is played.
        sign_ups: who may come.
        settings: of the match.
        options: how the referee runs.

    Raises:
        BadRequest: what is asked for makes no sense.
        RecordError: a record does not hold, or is not to be resumed.
        Interrupted: it was stopped.
        OSError: the record can't be written.
    """
    _check(game, sign_ups)
    policy, players = _policy(game, sign_ups)
    with services(replace(options, sandbox=SandboxMode.OFF), settings.folder) as at_hand:  # it starts no programs
        if sign_ups.resume is not None:
            resumed = reopen(sign_ups.resume.absolute(), find_game, at_hand.match.sealer)
            if resumed.match.setup.game != game.name:
                raise BadRequest(f"{sign_ups.resume} is a match of {resumed.match.setup.game}, not of {game.name}")
            return play_on(resumed, at_hand, sign_ups.listen, come_back_s=sign_ups.come_back_s)
        settings = replace(settings, players=players, come_back_s=sign_ups.come_back_s)
        if sign_ups.dialect is not None:
            dialect = installed().dialect(sign_ups.dialect)
            settings = replace(settings, kind=dialect.link, dialect=dialect.name, acknowledge=True)
        played = host_match(game, settings, at_hand, lambda host: host.play_signed_up(sign_ups.listen, policy))
    return TooFewSignedUp(policy.min_players) if played is None else played


def _check(game: Game[Any, Any, Any], sign_ups: SignUpOptions) -> None:
    """Refuse what makes no sense together."""
    if sign_ups.dialect is not None:
        dialect = installed().dialect(sign_ups.dialect)
        if game.name != dialect.game:
            raise BadRequest(f"--dialect {sign_ups.dialect} speaks of {dialect.game} alone, not of {game.name}")
        if sign_ups.players_file is not None or sign_ups.come_back_s or sign_ups.resume is not None:
            raise BadRequest(f"{sign_ups.dialect} knows no tokens: leave --players, --come-back and --resume out")
    if sign_ups.resume is not None and sign_ups.players_file is not None:
        raise BadRequest("--resume takes each player back by the token of its offer; leave --players out")


def _policy(game: Game[Any, Any, Any], sign_ups: SignUpOptions) -> tuple[SignUpPolicy, dict[str, str] | None]:
    """Return how many are waited for and how long, and the players that may sign up: name -> hash of its token."""
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
        most = max(count for count in game.seats if count <= min(most, len(players)))
    policy = SignUpPolicy(
        min_players=fewest, max_players=most, step=game.seats.step, wait_s=sign_ups.wait_s, tries=sign_ups.tries
    )
    return policy, players
