"""FIDE's Dutch system, with the library py4swiss, which takes a tenth of a second to import."""

from importlib.metadata import version

from py4swiss.engines import DutchEngine
from py4swiss.engines.common import PairingError
from py4swiss.trf import ParsedTrf
from py4swiss.trf.codes import PlayerCode
from py4swiss.trf.results import ColorToken, ResultToken, RoundResult
from py4swiss.trf.sections import PlayerSection, XSection
from py4swiss.trf.sections.x_section import XSectionConfiguration

from .base import LineResult, PlayedRounds

NAME = f"py4swiss {version('py4swiss')}"


def pair(trf: ParsedTrf) -> list[tuple[int, int]] | None:
    """Pair the next round of a tournament by the Dutch system.

    Returns:
        Starting numbers of White and Black for each board, 0 for a bye; None if the system has no pairing.
    """
    try:
        return [(pair.white, pair.black) for pair in DutchEngine.generate_pairings(trf)]
    except PairingError:
        return None


def make_trf(played: PlayedRounds) -> ParsedTrf:
    """Return a tournament in the form that the library makes from a file. A file could not hold so many entrants."""
    colour = XSectionConfiguration(first_round_color=played.is_white_first)
    return ParsedTrf(
        player_sections=[_player(number, entrant, played) for number, entrant in enumerate(played.order, start=1)],
        x_section=XSection(number_of_rounds=played.rounds, configuration=colour),
    )


def _player(number: int, entrant: int, played: PlayedRounds) -> PlayerSection:
    return PlayerSection(
        code=PlayerCode.PLAYER,
        starting_number=number,
        points_times_ten=5 * played.points(entrant),
        rank=number,
        results=list(map(_result, played.results(entrant))),
    )


def _result(result: LineResult) -> RoundResult:
    return RoundResult(id=result.opponent, color=ColorToken(result.colour), result=ResultToken(result.letter))
