"""What a program of the organiser's may say of a round: the form of its output, and rules that no pairing breaks.

bbpPairings and JaVaFo print the number of tables, then a line for each with the starting numbers of White and Black, 0
for a bye. The rules are the absolute ones of FIDE's Handbook, C.04.3, C.1 to C.3, which all its versions have.
"""

from collections.abc import Iterator, Sequence

from ...text import printable
from .balanced_tables import Table
from .base import BadPairing
from .swiss_rules import Card, cards_of
from .trf import PlayedRounds

MAY_CHANGE = ("pairing_program", "pairing_limit", "pairing_lines")
"""Options of a format that may change while a tournament goes on: how its program is asked, if it has one."""
MOST_CHARS = 1 << 16
"""Of an output that is a pairing: a thousand entrants take six thousand."""
TRF = "{trf}"
"""Stands in a command line for the path of the file that the program reads."""
_SHOWN = 60


def read_release(output: str) -> str:
    """Return the line in which a program says what it is, before its pairing; empty: it does not."""
    first, *rest = output.strip().splitlines() or [""]
    return first.strip() if rest and not first.strip().isdecimal() else ""


def read_output(output: str, course: PlayedRounds) -> tuple[Table, ...]:
    """Return the tables that a program printed.

    Args:
        output: as it was printed; a line before the number of tables may say which program it is.
        course: what was to be paired.

    Returns:
        Entrants by seat of each table, as they were printed, a bye last.

    Raises:
        BadPairing: it is no pairing; the text says why.
    """
    if len(output) > MOST_CHARS:
        raise BadPairing(f"its output has more than {MOST_CHARS} characters")
    lines = [line.split() for line in output.strip().splitlines()]
    if read_release(output):
        del lines[0]
    if not lines:
        raise BadPairing("it printed nothing")
    (count, *more), *pairs = lines
    if more or not _is_number(count):
        raise BadPairing(f"it printed no number of tables first, but {_shown(lines[0])}")
    if int(count) != len(pairs):
        raise BadPairing(f"it announced {int(count)} tables, and printed {len(pairs)}")
    tables = [_table(words, course.order) for words in pairs]
    return tuple(sorted(tables, key=len, reverse=True))


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < 6


def _shown(words: Sequence[str]) -> str:
    return f'"{printable(" ".join(words)[:_SHOWN])}"'


def _table(words: Sequence[str], order: Sequence[int]) -> Table:
    if len(words) != 2 or not all(map(_is_number, words)):
        raise BadPairing(f"it printed no pair of starting numbers, but {_shown(words)}")
    white, black = map(int, words)
    if not (1 <= white <= len(order) and black <= len(order)):
        raise BadPairing(f"it paired {white} and {black}, and the starting numbers end with {len(order)}")
    return tuple(order[number - 1] for number in (white, black) if number)


def check_round(tables: Sequence[Table], course: PlayedRounds) -> None:
    """Check that a round keeps to the rules that hold for every pairing of two seats.

    These are: everybody who plays has one table, at most one of them a bye; nobody meets an opponent again; nobody has
    a bye who had one, or a walkover; nobody who must have the other colour is refused it, but at a table of a leader in
    the last round.

    Raises:
        BadPairing: it does not; the text says which rule it breaks, with starting numbers.
    """
    wrong = next(_breaches(tables, course), None)
    if wrong is not None:
        raise BadPairing(wrong)


def _breaches(tables: Sequence[Table], course: PlayedRounds) -> Iterator[str]:
    cards = cards_of(course)
    number = {entrant: place for place, entrant in enumerate(course.order, start=1)}
    seen = set[int]()
    for entrant in (entrant for table in tables for entrant in table):
        if entrant not in cards:
            yield f"it paired {number[entrant]}, who does not play in this round"
        if entrant in seen:
            yield f"it paired {number[entrant]} twice"
        seen.add(entrant)
    if left := cards.keys() - seen:
        yield f"it did not pair {min(number[entrant] for entrant in left)}"
    byes = [table[0] for table in tables if len(table) == 1]
    if len(byes) > len(cards) % 2:
        yield f"it gave {len(byes)} byes, and {len(cards)} entrants play"
    for entrant in byes:
        if cards[entrant].byes or cards[entrant].walkovers:
            yield f"it gave a bye to {number[entrant]}, who has had one, or a walkover"
    for white, black in (table for table in tables if len(table) == 2):
        if black in cards[white].met:
            yield f"{number[white]} and {number[black]} have met before"
        yield from _refused_colours((cards[white], cards[black]), course)


def _refused_colours(own: tuple[Card, Card], course: PlayedRounds) -> Iterator[str]:
    """Yield who has a colour that it must not have (A.6.a, C.3)."""
    is_last = course.through + 1 == course.rounds
    if is_last and any(card.points > course.through for card in own):
        return
    for seat, card in enumerate(own):
        if card.strength == 3 and card.wish != seat:
            yield f"{card.number} must have {('White', 'Black')[1 - seat]} this time"
