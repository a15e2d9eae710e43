"""Storms of connections in the lobby of a real table: they gain no time, and keep nobody out.

The tests cover the effects of a storm, and not the means against it.
"""

from .match_server import MatchServer
from .offences_made import POSITION
from .rogues import Rogue, playing
from .storm import storming

AT, ELSEWHERE = "127.0.0.1", "127.0.0.2"
LIMIT_MS = 500.0


def test_a_storm_buys_its_player_no_time(server: MatchServer) -> None:
    """A player whose address storms the lobby while it thinks for too long is late at once, and nobody else is."""
    address = server.open("storm", "q", 3, position=POSITION, per_move_ms=LIMIT_MS, lag_margin_ms=50.0, come_back_s=5.0)
    rogue = Rogue(address)
    rogue.hello()
    honest = [playing(address, name, ELSEWHERE) for name in ("ada", "bob")]
    with storming("closes", address, AT):
        rogue.until_asked()
        rogue.last_words()
    for player in honest:
        player.join()
    outcome = server.outcome()
    assert [(seat, cause) for seat, cause, _ in outcome.fouls] == [(0, "timeout")]
    commands = [command for step in outcome.record.transitions for command in step.commands]
    assert not [item for item in commands if item["command"] == "extend-limit" and item["seat"] == 0]


def test_a_storm_keeps_nobody_out(server: MatchServer) -> None:
    """However many connections one address opens and holds, the referee has files left for other players."""
    with server.few_files(128):
        address = server.open("full", "q", 3, position=POSITION)
        with storming("holds", address, AT):
            players = [playing(address, name, ELSEWHERE) for name in ("ada", "bob", "cyd")]
        for player in players:
            player.join()
        assert server.outcome().fouls == []
