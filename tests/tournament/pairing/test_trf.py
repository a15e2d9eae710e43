"""A tournament as FIDE's report file: every kind of round, column by column."""

import pytest

from referee.tournament.pairing.base import PlayedRounds
from referee.tournament.pairing.dutch import TrfPlayer, trf_text

from .rounds import played_rounds

CUP = played_rounds(
    "3w1 0-H 2b0",
    "4b0 3w+ 1w0",
    "1b0 2b- 0-Z",
    "2w1 0-U 0-Z",
    rounds=4,
    away=(4,),
)
TEXT = """\
012 cup
XXR 4
XXC white1
001    1      best                              2400                             1.5    2     3 w 1  0000 - H     2 b 0
001    2      a-name-of-more-than-thirty-three-                                  1.0    3     4 b 0     3 w +     1 w 0
001    3      third                                                              0.0    4     1 b 0     2 b -  0000 - Z
001    4      fourth                            1500                             2.0    1     2 w 1  0000 - U  0000 - Z  0000 - Z
"""  # noqa: E501  # the file's columns are what they are
PEOPLE = (TrfPlayer("best", 2399.6), TrfPlayer("a-name-of-more-than-thirty-three-characters"), TrfPlayer("third", -3.0))


def test_every_kind_of_round_has_its_letter() -> None:
    """Matches lost by one or both sides, byes, missed rounds, walkovers from both sides, and coming absences."""
    text = trf_text(CUP, (*PEOPLE, TrfPlayer("fourth", 1500.0)), [("012", "cup")])
    assert text == TEXT


@pytest.mark.parametrize(("through", "cells"), [(4, 4), (3, 4)])
def test_who_is_away_misses_the_next_round_if_there_is_one(through: int, cells: int) -> None:
    """After the last round there is none."""
    over = PlayedRounds(rounds=4, through=through, order=(0, 1), lines=((), ()), away=frozenset({1}))
    assert len(over.results(1)) == cells
