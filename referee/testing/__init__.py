"""For authors of games and players: play a match without a network, and check that a game keeps its contract.

Knows commands and the events that answer them. Refuses to know clocks, sockets and records, and makes no chance of its
own: instants are counted up, and a random source is passed in.
"""

from .drawings import check_drawing
from .games import JUNK, check_game, spoilt
from .seats import AnyGame, Choose, ScriptedSeat, drive, plain, random_chooser

__all__ = [
    "JUNK",
    "AnyGame",
    "Choose",
    "ScriptedSeat",
    "check_drawing",
    "check_game",
    "drive",
    "plain",
    "random_chooser",
    "spoilt",
]
