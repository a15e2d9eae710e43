"""Plays one match between programs and persons here and now, or finishes an interrupted one."""

import os
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ..errors import BadRequest, Interrupted
from ..games.base import Game, seats_text
from ..net.matches.programs import Occupant
from ..net.matches.runner import MatchPaused
from ..net.matches.session import MatchReport, MatchSession
from ..net.matches.settings import MatchSettings
from ..plugins import find_game
from ..programs.player_spec import find_bare_command
from ..record.resume import Resumption, reopen
from ..web.person.table import PersonTable, UserInterface
from .players import build, find_players
from .running import run_reactor
from .services import RefereeOptions, Services, monotonic, services

# Programs are built before the reactor runs. A compiler may take minutes, and until the reactor runs Ctrl-C raises an
# exception, as in any Python program. Persons sit at a table of their own, which is an observer of the match and also
# a source of moves: so the match itself does not know which seats belong to persons.
T = TypeVar("T")
ADDRESS = "tcp:0:interface=127.0.0.1"
"""Address for programs without a sandbox; a sandboxed program sees a socket of its own."""


def play(
    game: Game[Any, Any, Any],
    players: Sequence[str],
    settings: MatchSettings,
    options: RefereeOptions,
    interface: UserInterface,
) -> MatchReport:
    """Play a match between programs and persons.

    Args:
        game: the game.
        players: players by seat, as the user gave them.
        settings: settings of the match.
        options: options of the referee.
        interface: interface for the persons that play.

    Raises:
        BadRequest: the match can't be played like this.
        PlayerError: a program can't be found, built or started.
        Interrupted: the user stopped the match.
        OSError: the record can't be written.
    """
    if (meant := find_bare_command(players)) is not None:
        raise BadRequest(f"a command with its arguments is one player: write {meant}")
    if len(players) not in game.seats:
        raise BadRequest(f"{game.name} takes {seats_text(game.seats)} players, not {len(players)}")
    launches = find_players(game.name, players, may_be_persons=True)
    settings = replace(settings, programs=tuple(players))
    with services(options, settings.folder) as at_hand:
        build(launches, settings.folder, at_hand)
        table = PersonTable(game, launches, interface)
        return _host_table(table, game, settings, at_hand, lambda host, occupants: host.play(occupants, ADDRESS))


def resume(path: Path, options: RefereeOptions, interface: UserInterface) -> MatchReport:
    """Finish an interrupted match, with the programs and persons that its record names.

    Args:
        path: path of the record.
        options: options of the referee.
        interface: interface for the persons that play.

    Raises:
        RecordError: the record does not hold, or can't be resumed.
        BadRequest: its players were not started by the referee, but connected by themselves.
        PlayerError: a program can't be found, built or started.
        Interrupted: the user stopped the match.
        OSError: the record can't be written.
    """
    with services(options, path.absolute().parent) as at_hand:
        resumed = reopen(path.absolute(), find_game, at_hand.match.sealer)
        setup = resumed.match.setup
        if resumed.folder is not None and Path(resumed.folder).is_dir():
            os.chdir(resumed.folder)  # the folder from which the match was started: paths of players are relative to it
        if not resumed.programs:
            hint = f"`referee serve {setup.game} --resume {path}` waits for them to come back"
            raise BadRequest(f"the players of {path} connected by themselves: {hint}")
        launches = find_players(setup.game, resumed.programs, may_be_persons=True)
        settings = _make_settings(resumed)
        build(launches, settings.folder, at_hand)
        game = resumed.match.game
        table = PersonTable(game, launches, interface)
        return _host_table(
            table, game, settings, at_hand, lambda host, occupants: host.resume(resumed, occupants, ADDRESS)
        )


def continue_match(resumed: Resumption, at_hand: Services, address: str, *, come_back_s: float = 0.0) -> MatchReport:
    """Finish a match that was reopened; its players come back by themselves.

    Args:
        resumed: the match.
        at_hand: services of the referee.
        address: Twisted endpoint string to listen on.
        come_back_s: longest time for a player to come back, in seconds.

    Raises:
        Interrupted: the user stopped the match.
        OSError: the record can't be written.
    """
    settings = replace(_make_settings(resumed), come_back_s=come_back_s)
    return host_match(resumed.match.game, settings, at_hand, lambda host: host.resume(resumed, (), address))


def _make_settings(resumed: Resumption) -> MatchSettings:
    return MatchSettings(folder=resumed.writer.path.parent, match=resumed.match.setup.match)


def _host_table(
    table: PersonTable,
    game: Game[Any, Any, Any],
    settings: MatchSettings,
    at_hand: Services,
    play_at: Callable[[MatchSession, Sequence[Occupant]], Coroutine[Deferred[Any], Any, T]],
) -> T:
    """Play a match between programs and the persons at a table."""

    async def _play(host: MatchSession) -> T:
        with at_hand.match.observers.also(*[table] * table.has_persons):
            async with table.opened(host.reactor) as occupants:
                return await play_at(host, occupants)

    return host_match(game, settings, at_hand, _play)


def host_match(
    game: Game[Any, Any, Any],
    settings: MatchSettings,
    at_hand: Services,
    play_at: Callable[[MatchSession], Coroutine[Deferred[Any], Any, T]],
) -> T:
    """Set up a match session, and run the reactor until it is done.

    Args:
        game: the game.
        settings: settings of the match.
        at_hand: services of the referee.
        play_at: plays the match in the session.

    Raises:
        Interrupted: the user stopped the match; the text says whether there is a record to resume.
    """

    async def _main(reactor: Any) -> T:
        host = MatchSession(reactor, monotonic, game, settings, at_hand.match)
        async with at_hand.monitoring.open_endpoint(reactor):
            return await play_at(host)

    try:
        return run_reactor(_main)
    except Interrupted:
        raise Interrupted("stopped before the match began; nothing was played") from None
    except MatchPaused as error:
        text = f"stopped; nobody is blamed, and the match goes on from its record with --resume {error}"
        raise Interrupted(text) from None
