"""Reads tournament report files with the library that pairs them."""

from py4swiss.trf import ParsedTrf, TrfLine
from py4swiss.trf.codes import PlayerCode, XCode
from py4swiss.trf.exceptions import LineError, ParsingError
from py4swiss.trf.sections import PlayerSection, XSection


def read_trf(text: str) -> ParsedTrf:
    """Read a tournament's file. The library's own reader refuses matches that both sides have lost.

    Raises:
        ValueError: it is no such file; the text says what is wrong.
    """
    codes = {code.value for code in (*PlayerCode, *XCode)}
    try:
        lines = [TrfLine(index, line) for index, line in enumerate(text.splitlines()) if line[:3] in codes]
        players = [PlayerSection.from_string(str(line)) for line in lines if line.code_type is PlayerCode]
        return ParsedTrf(
            player_sections=players, x_section=XSection.from_lines([line for line in lines if line.code_type is XCode])
        )
    except (LineError, ParsingError) as error:
        raise ValueError(str(error)) from None
