"""The course's server: reads the settings of its match and its rules for sign-up from a configuration."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from protocol.messages import Message, Offer, Reveal

from ...clock import Clock
from ...errors import BadRequest
from ...games.base import BadSetup
from ...match.setup import DEFAULT_TIME
from ...net.links.lobby import SignUpPolicy
from ...net.links.player_protocol import Owner, PlayerLink
from ...net.matches.session import MatchReport
from ...net.matches.settings import MatchSettings
from ...plugins import find_game
from .configs import ServerConfig, read_config
from .conversation import CourseConversation
from .forms import MalformedValue, parse_position
from .plugin import NAME

MIN_PLAYERS, MAX_PLAYERS = 2, 4


class CourseServer(Struct, frozen=True, kw_only=True):
    """The match to serve."""

    port: int | None
    is_quiet: bool
    settings: MatchSettings
    policy: SignUpPolicy

    @staticmethod
    def list_names(played: MatchReport) -> tuple[list[str], list[str]]:
        """Return the winners in alphabetical order, and the expelled players in the order of their fouls."""
        names, result = played.names, played.result
        if result.void is not None:
            return [], []
        return sorted(names[seat] for seat in result.winners), [names[foul.seat] for foul in result.fouls]


def read_server(data: bytes, folder: Path, port: int | None = None) -> CourseServer:
    """Read the configuration of a server.

    Args:
        data: a ServerConfig in JSON.
        folder: folder for the record.
        port: port to listen on; None: the configuration's own.

    Raises:
        BadRequest: it is not a ServerConfig, or its state is not a position of the game.
    """
    try:
        config: ServerConfig = read_config(data, ServerConfig, port)
    except MalformedValue as error:
        raise BadRequest(f"server configuration on stdin: {error}") from None
    policy = SignUpPolicy(
        min_players=MIN_PLAYERS, max_players=MAX_PLAYERS, wait_s=config.server_wait, tries=config.server_tries
    )
    is_quiet = config.quiet and config.ref_spec.quiet
    return CourseServer(port=config.port, is_quiet=is_quiet, settings=_settings(config, folder), policy=policy)


def _settings(config: ServerConfig, folder: Path) -> MatchSettings:
    spec, game = config.ref_spec, find_game("q")
    options = {"q_bonus": spec.config_s.q, "finish_bonus": spec.config_s.finish}
    try:
        position = parse_position(spec.state0)
        game.restore(game.parse_options(options), position)
    except (MalformedValue, BadSetup) as error:
        raise BadRequest(f"state0 of the server configuration: {error}") from None
    return MatchSettings(
        options=options,
        time=replace(DEFAULT_TIME, per_move_ms=float(spec.per_turn * 1000)),
        hello_s=config.wait_for_signup,
        position=position,
        folder=folder,
        kind=CourseLink,
        dialect=NAME,
        acknowledge=True,
    )


class CourseLink(PlayerLink):
    """One course player's connection.

    Args:
        owner: receives the first messages.
        clock: the reactor, or a test's clock.
        now: returns monotonic seconds.
    """

    def __init__(self, owner: Owner, clock: Clock, now: Callable[[], float]) -> None:
        super().__init__(owner, clock, now, CourseConversation())

    def hold(self, message: Message) -> None:
        """Send a message soon.

        Course players do not know `offer` and `reveal`: the conversation answers these itself, in the next turn of the
        loop.

        Raises:
            LocalProtocolError: the message may not be sent now.
        """
        super().hold(message)
        if isinstance(message, Offer | Reveal):
            # # Not at once: the match is in the middle of an event, and the answer is another event.
            self._clock.callLater(0, self._accept)

    def expel(self, message: Message) -> None:
        """Read no more and send nothing, but close only when the match is over, as the course's referee does.

        A program may run several players in one process that exits when the first connection closes. The other players
        have done nothing wrong.

        Args:
            message: not sent; the course has no such message.
        """
        # The player is expelled already. Its bytes are not read any more, but its socket stays open.
        self.owner = None
        self.connection.close()
        if self.is_connected:
            self.leave_reader(self)
            self.transport.pauseProducing()

    def _accept(self) -> None:
        if self.is_connected:
            self.catch_up()
            self.deliver()
