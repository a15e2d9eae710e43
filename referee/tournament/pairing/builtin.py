"""The plugin of the pairing formats that come with the referee: a line for each."""

from collections.abc import Iterable

from ...hookspecs import Later, hookimpl


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
