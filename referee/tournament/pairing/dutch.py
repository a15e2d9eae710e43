"""Pairs a round of two seats by FIDE's Dutch system: FIDE Handbook, C.04.3.

It takes some hundredths of a second for 60 entrants and several seconds for 500, and holds the interpreter's lock for
most of that. So a program that does more than this calls it in a process of its own.
"""

from ... import __version__
from . import swiss_rules
from .balanced_tables import Table
from .base import RoundToPair


def pair_round(request: RoundToPair) -> tuple[tuple[Table, ...], str]:
    """Pair a round.

    Args:
        request: of the format's `to_pair`.

    Returns:
        Entrants by seat of each table, from the first board, a bye last; and by what they were paired: name and
        version of the library, or of the referee where the Dutch system has no pairing.
    """
    from . import dutch_library as library  # noqa: PLC0415  # it takes long to import; most commands pair nothing

    course = request.course
    pairs = library.pairs_of(library.parsed(course))
    if pairs is None:
        return tuple(swiss_rules.pair(course)), f"referee {__version__}"
    return tuple(tuple(course.order[number - 1] for number in pair if number) for pair in pairs), library.NAME
