"""Words for why a player was expelled: in full the first time that a list has it, then in short.

What leaves here has still to be made printable and escaped.
"""

import re

from ..match.fouls import Foul
from ..tournament.match_context import FoulEntry

SHORT_CHARS = 100
"""Of a cause in a few words: how a program ended, and the end of what it printed, still fit a line."""
_BEGINNING_CHARS = 40
"""Of these; the end says more, as a traceback's last line does."""
_PLACE = re.compile(r"(?:file://|(?<![\w./~-]))(?:/[^\s/:;,'\"()<>\[\]]+){2,}")
"""An absolute path: of the organiser's machine, and no reader's business."""


def broken(foul: Foul | FoulEntry) -> str:
    """Return the id of the broken rule of the game, or the code of the wire's where the cause is not called so, too."""
    return foul.rule or (foul.code if foul.code and foul.code != foul.cause else "")


def why(foul: Foul) -> str:
    """Return what was broken and what happened."""
    return " ".join(filter(None, (broken(foul), foul.detail)))


def placeless(text: str) -> str:
    """Return a text in which absolute paths are cut down to their last part."""
    return _PLACE.sub(lambda found: found[0].rpartition("/")[2], text)


def short_cause(detail: str) -> str:
    """Return the beginning and the end of a cause, without absolute paths."""
    text = placeless(detail)
    if len(text) <= SHORT_CHARS:
        return text
    return f"{text[:_BEGINNING_CHARS]}...{text[_BEGINNING_CHARS + 3 - SHORT_CHARS :]}"


class Causes:
    """What was told already, of everybody in a list."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def tell(self, who: str, detail: str) -> str:
        """Return the whole of a cause when it is told of somebody for the first time, later in short."""
        short = short_cause(detail)
        if (who, short) in self._told:
            return short
        self._told.add((who, short))
        return detail
