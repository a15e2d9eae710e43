"""Why somebody was expelled, as lists tell it: the whole of it once, and a few words from then on.

Knows texts. Refuses to know markup and terminals: what leaves here has still to be made printable and escaped.
"""

import re

from ..match.fouls import Foul
from ..tournament.match_context import FoulEntry

SHORT_CHARS = 100
"""Of a cause in a few words: how a program ended, and the beginning of its error, still fit a line."""
_PLACE = re.compile(r"(?:file://|(?<![\w./~-]))(?:/[^\s/:;,'\"()<>\[\]]+){2,}")
"""An absolute path: of the organiser's machine, and no reader's business."""

_OTHER_NUMBER = re.compile(r"answers number (\d+), number (\d+) was asked")


def broken(foul: Foul | FoulEntry) -> str:
    """Return the id of the broken rule of the game, or the code of the wire's where the cause is not called so, too."""
    return foul.rule or (foul.code if foul.code and foul.code != foul.cause else "")


def detail(foul: Foul) -> str:
    """Return what happened, a wrong number by the key that had it: only a move leaves its frame as evidence."""
    answer, key = ("move", "turn") if foul.evidence else ("ack", "ack")
    return _OTHER_NUMBER.sub(rf"the {answer} has `{key}` \1; `{key}` \2 was asked", foul.detail)


def why(foul: Foul) -> str:
    """Return what was broken and what happened."""
    return " ".join(filter(None, (broken(foul), detail(foul))))


def placeless(text: str) -> str:
    """Return a text in which absolute paths are cut down to their last part."""
    return _PLACE.sub(lambda found: found[0].rpartition("/")[2], text)


def short_cause(detail: str) -> str:
    """Return the beginning of a cause, without absolute paths."""
    text = placeless(detail)
    return text if len(text) <= SHORT_CHARS else f"{text[: SHORT_CHARS - 3]}..."


class Causes:
    """What was told already, of everybody in a list."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def tell(self, who: str, detail: str) -> str:
        """Return the whole of a cause when it is told of somebody for the first time, later its beginning."""
        short = short_cause(detail)
        if (who, short) in self._told:
            return short
        self._told.add((who, short))
        return detail
