"""An entrant that was away for a round of a Swiss: the tie-breaks of that round."""

from fractions import Fraction
from random import Random

from referee.tournament import events as e
from referee.tournament.machine import Tournament
from referee.tournament.rulings import Kind, Ruling
from referee.tournament.tie_breaks import TIE_BREAKS

from .playing import AT, begun, closed, spec_of, take


def rule(tournament: Tournament, kind: Kind) -> None:
    """Rule on the first entrant."""
    number = len(tournament.rulings)
    take(tournament, e.Ruled(at=AT, ruling=Ruling(id=f"{number}", kind=kind, entrant="e0", reason="so", by="ada")))


def test_a_round_of_a_swiss_missed_before_a_reinstatement_is_in_the_tie_breaks() -> None:
    """An entrant that is away in round 2 and returns during it has a virtual opponent there, which Cut-1 drops."""
    tournament = begun(spec_of(6, "swiss", format_options={"rounds": 3}))
    for number in range(1, 4):
        if number == 2:
            rule(tournament, "withdraw")
            take_round(tournament, most=1)
            rule(tournament, "reinstate")
        take_round(tournament)
    table = tournament.table
    met = sorted(table.scale().adjusted[opponent] for opponent in table.opponents(0))
    virtual = min(table.sums(0).points, Fraction(3, 2)) * table.scale().unit
    assert (table.count_missed_rounds(0), len(met)) == (1, 2)
    assert TIE_BREAKS["buchholz"].measure(table, [0])[0] * table.scale().unit == sum(met) + virtual
    assert TIE_BREAKS["buchholz-cut-1"].measure(table, [0])[0] * table.scale().unit == sum(met)


def take_round(tournament: Tournament, most: int = 9) -> None:
    """Play at most `most` matches of the round that is due, and none of a later round."""
    for fixture in list(tournament.fixtures())[:most]:
        take(tournament, e.MatchOpened(at=AT, fixture=fixture))
        first, second = sorted(range(2), key=lambda seat: fixture.entrants[seat])
        take(tournament, closed(tournament, fixture.match, Random(1), ranking=((first,), (second,)), fouls=()))
