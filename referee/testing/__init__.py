"""Helps to test games, players and formats: has seats without a network, and checks of the contracts."""

# Nothing here reads a clock, opens a socket or writes a record, so tests are fast and repeatable. Instants are
# computed, and the caller passes a random source.

from .games import JUNK, check_drawing, check_game, spoilt
from .pairing import check_pairing, random_result, with_rounds
from .seats import AnyGame, Choose, ScriptedSeat, plain

__all__ = [
    "JUNK",
    "AnyGame",
    "Choose",
    "ScriptedSeat",
    "check_drawing",
    "check_game",
    "check_pairing",
    "plain",
    "random_result",
    "spoilt",
    "with_rounds",
]
