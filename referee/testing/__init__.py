"""For authors of games, players and formats: play without a network, check that a game or a format keeps its contract.

Knows commands and the events that answer them. Refuses to know clocks, sockets and records, and makes no chance of its
own: instants are counted up, and a random source is passed in.
"""

from .drawings import check_drawing
from .games import JUNK, check_game, spoilt
from .pairing import check_pairing, random_result, with_rounds
from .seats import AnyGame, Choose, ScriptedSeat, drive, plain, random_chooser

__all__ = [
    "JUNK",
    "AnyGame",
    "Choose",
    "ScriptedSeat",
    "check_drawing",
    "check_game",
    "check_pairing",
    "drive",
    "plain",
    "random_chooser",
    "random_result",
    "spoilt",
    "with_rounds",
]
