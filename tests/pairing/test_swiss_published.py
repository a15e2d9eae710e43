"""Published examples of Swiss pairings.

The tournament of 14 is the example of M. Held's guide to FIDE's Dutch system (2014), as the tests of the package
`swissdutch` have it. Number 12 stays away in round 2, and 6 against 11 is not played in round 3.
"""

import pytest
from msgspec.structs import replace

from referee.pairing.swiss_rules import Card, noted, pair

ROUNDS = (
    "1-8 9-2 3-10 11-4 5-12 13-6 7-14",
    "5-1 2-7 6-3 4-9 8-11 10-13 14",
    "14-1 2-5 3-4 11-6 7-10 12-8 9-13",
    "1-3 6-2 4-5 11-7 8-9 10-14 13-12",
)
"""White first; a lone number has a bye."""
SCORES = (
    (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    (2, 2, 2, 1, 2, 2, 2, 0, 0, 0, 1, 0, 0, 0),
    (2, 4, 3, 3, 4, 3, 2, 0, 0, 2, 3, 0, 0, 2),
    (4, 5, 4, 4, 5, 5, 4, 1, 2, 2, 3, 1, 0, 2),
)
"""Before each round, in halves, by starting number."""
AWAY = {1: {11}}
NOT_PLAYED = {2: (10, 5)}
"""By round, from 0; entrants from 0."""

PUBLISHED_FIRST_ROUNDS = ("1-5 6-2 3-7 8-4", "1-9 10-2 3-11 12-4 5-13 14-6 7-15 16-8")
"""The help page of the chess server's tournament director `mamer`; a director's log of 2008 (castlingqueenside)."""


def tables(text: str) -> list[tuple[int, ...]]:
    """Return pairings as entrants, from 0, by seat."""
    return [tuple(int(number) - 1 for number in table.split("-")) for table in text.split()]


def marked(card: Card, table: tuple[int, ...], entrant: int, *, is_played: bool) -> Card:
    """Return an entrant's card after a pairing, but for its points."""
    if len(table) == 1:
        return replace(card, byes=card.byes + 1)
    if not is_played:
        return card
    seat = table.index(entrant)
    used = tuple(times + (one == seat) for one, times in enumerate(card.used))
    return replace(card, used=used, last=(seat, *card.last[:1]))


def before(number: int) -> tuple[list[Card], list[list[int]]]:
    """Return cards and meetings before a round of the tournament of 14, from 0."""
    count = len(SCORES[0])
    cards, met = [Card(used=(0, 0))] * count, [[0] * count for _ in range(count)]
    for earlier, text in enumerate(ROUNDS[:number]):
        cards = list(noted(tables(text), scored(cards, earlier)))
        for table in tables(text):
            is_played = table != NOT_PLAYED.get(earlier)
            for entrant in table:
                cards[entrant] = marked(cards[entrant], table, entrant, is_played=is_played)
                for other in table:
                    met[entrant][other] += is_played and other != entrant
    return scored(cards, number), met


def scored(cards: list[Card], number: int) -> list[Card]:
    """Return cards with the points before a round."""
    return [replace(card, points=points) for card, points in zip(cards, SCORES[number], strict=True)]


@pytest.mark.parametrize("number", range(len(ROUNDS)))
def test_a_published_tournament_is_paired_as_published(number: int) -> None:
    """Opponents, colours, floaters and the bye of every round are those of the guide."""
    cards, met = before(number)
    present = [item for item in range(len(cards)) if item not in AWAY.get(number, set())]
    ranked = sorted(present, key=lambda one: -cards[one].points)
    assert sorted(tables(ROUNDS[number])) == sorted(pair(ranked, cards, met))


@pytest.mark.parametrize("text", PUBLISHED_FIRST_ROUNDS)
def test_published_first_rounds_come_out(text: str) -> None:
    """Upper half against lower half, colours alternating from board to board."""
    expected = tables(text)
    count = 2 * len(expected)
    assert expected == pair(range(count), [Card(used=(0, 0))] * count, [[0] * count for _ in range(count)])
