"""The plugin of the games and the pairing formats that come with the referee: a line for each."""

from collections.abc import Iterable

from .hookspecs import Later, hookimpl


@hookimpl
def referee_games() -> Iterable[Later]:
    """Return the built-in games."""
    return [
        Later("referee.games.q.game:QGame", "q"),
        Later("referee.games.quadominos.game:QuadOminos", "quadominos"),
        Later("referee.games.quincala.game:QuincalaGame", "quincala"),
        Later("referee.games.quincy.game:QuincyGame", "quincy"),
    ]


@hookimpl
def referee_formats() -> Iterable[Later]:
    """Return the built-in formats."""
    return [
        Later("referee.tournament.pairing.round_robin:RoundRobin", "roundrobin"),
        Later("referee.tournament.pairing.swiss:Swiss", "swiss"),
        Later("referee.tournament.pairing.knockout:Knockout", "knockout"),
        Later("referee.tournament.pairing.double_elimination:DoubleElimination", "doubleelimination"),
        Later("referee.tournament.pairing.gauntlet:Gauntlet", "gauntlet"),
        Later("referee.tournament.pairing.ladder:Ladder", "ladder"),
    ]
