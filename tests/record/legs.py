"""A leg of a duplicate deal: its setup and its header."""

from typing import Any

from referee.tournament.match_context import Fixture, MatchContext

LEG = "cup-00001"
"""Name of the match."""


def settings_of_leg(seed_opens: str = "after-last-leg") -> dict[str, Any]:
    """Return what the setup of the leg has in place of that of a match by itself."""
    is_leg = seed_opens != "at-end"
    return {"seed_opens": seed_opens, "nonces": not is_leg, **({"match": LEG} if is_leg else {})}


def header_of_leg(seats: int, seed_opens: str = "after-last-leg") -> dict[str, Any]:
    """Return the context in its header: the line of a tournament that opened it."""
    fixture = Fixture(match=LEG, number=1, round=1, table="", leg=0, attempt=0, entrants=tuple(range(seats)))
    context = MatchContext(tournament="cup", fixture=fixture, head="c0" * 32)
    return {"context": context} if seed_opens != "at-end" else {}
