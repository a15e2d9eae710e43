"""A tournament that is stopped for good."""

from random import Random

import pytest

from referee.tournament import commands as c
from referee.tournament import events as e
from referee.tournament.pairing.base import BadRuling
from referee.tournament.spec import Participant

from .playing import AT, Troubles, events_of, played_out, take
from .test_machine import CASES, new, ruling


@pytest.mark.parametrize(("name", "seats", "is_duplicate"), CASES)
def test_what_has_begun_when_it_is_stopped_is_played_to_its_end(*, name: str, seats: int, is_duplicate: bool) -> None:
    """All its legs are played, and void matches again, and nothing else; then the tournament is over for good."""
    tournament, random = new(name, seats, is_duplicate=is_duplicate), Random(3)
    begun_before, last = set[int](), ""
    for step, event in enumerate(events_of(tournament, random, tables=3, troubles=Troubles(void=0.1))):
        if isinstance(event, e.MatchOpened) and tournament.stopped is not None:
            assert event.fixture.number in begun_before
        if isinstance(event, e.MatchClosed) and event.entry.void is None:
            last = event.entry.match
        take(tournament, event)
        if step == 8:
            called_off = {command.match for command in ruling(tournament, "stop") if isinstance(command, c.CallOff)}
            begun_before = {pairing.number for pairing in tournament.due}
            assert called_off.isdisjoint(fixture.match for fixture in tournament.fixtures())
    assert tournament.is_over
    assert tournament.to_pair is None
    played = tournament.played
    with pytest.raises(BadRuling, match="was stopped for good: so"):
        ruling(tournament, "stop")
    with pytest.raises(BadRuling, match="was stopped for good: so"):
        ruling(tournament, "replay", match=last)
    with pytest.raises(BadRuling, match="was stopped for good"):
        tournament.joined(Participant(name="late", player="house:dag"))
    ruling(tournament, "disqualify", entrant="e0")
    assert (tournament.played, tournament.is_over) == (played, True)
    assert take(tournament, e.Finished(at=AT))


def test_what_is_over_is_not_stopped() -> None:
    tournament = new("roundrobin")
    played_out(tournament, Random(1))
    with pytest.raises(BadRuling, match="is over: there is nothing to stop"):
        ruling(tournament, "stop")
    assert tournament.stopped is None
