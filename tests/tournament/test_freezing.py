"""Standings that are frozen: the record says so, and nothing else changes."""

from random import Random

import pytest

from referee.tournament.pairing.base import BadRuling

from .playing import played_out
from .test_machine import new, ruling


def test_a_freeze_is_lifted_once() -> None:
    """Both must change something; a tournament that ends while it is frozen can be shown."""
    tournament, other = new("roundrobin"), new("roundrobin")
    assert [tournament.is_frozen] == [False]
    with pytest.raises(BadRuling, match="are not frozen"):
        ruling(tournament, "lift")
    ruling(tournament, "freeze")
    assert [tournament.is_frozen] == [True]
    with pytest.raises(BadRuling, match="are frozen"):
        ruling(tournament, "freeze")
    for each in (tournament, other):
        played_out(each, Random(1))
    assert tournament.standings() == other.standings()
    ruling(tournament, "lift")
    assert [tournament.is_frozen] == [False]
    with pytest.raises(BadRuling, match="is over: there is nothing to freeze"):
        ruling(tournament, "freeze")
