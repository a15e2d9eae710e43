"""Crosstables, tie-breaks and standings: published examples, single rules, and a naive count of everything."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.tournament.crosstable import Crosstable, HeadToHead
from referee.tournament.pairing.base import LATE, Pairing, PlayedPairing, bye
from referee.tournament.points import Scoring
from referee.tournament.standings import DEFAULT, Standing, UnknownTieBreak, standings
from referee.tournament.tie_breaks import TIE_BREAKS

from .naive import Naive
from .results import duel, field, match, sat_out, swiss, table_of

F = Fraction
EVERYTHING = tuple(TIE_BREAKS)

SENSEIS = [
    *(duel(1, one, other, "1-0") for one, other in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))),
    *(duel(2, one, other, "1-0") for one, other in ((1, 0), (0, 2), (3, 0), (2, 1), (1, 3), (2, 3))),
]
"""A double round-robin of A, B, C, D. Source: Sensei's Library, "Sonneborn-Berger": 4, 4, 3, 1 and 11, 9, 6, 4."""


def values(
    name: str, size: int, results: list[PlayedPairing], gone: tuple[int, ...] = (), seats: int = 2
) -> list[Fraction]:
    """Return a tie-break's value for each entrant."""
    found = TIE_BREAKS[name].measure(table_of(size, results, gone=gone, seats=seats), range(size))
    return [found[entrant] for entrant in range(size)]


def everyone(table: Crosstable) -> tuple[tuple[HeadToHead, ...], ...]:
    """Return all matches of everybody against everybody, indexed [entrant][opponent]."""
    entrants = range(len(table.field.entrants))
    return tuple(tuple(table.head_to_head(entrant, other) for other in entrants) for entrant in entrants)


def test_a_published_crosstable_has_its_sonneborn_berger_scores() -> None:
    """Sensei's Library, "Sonneborn-Berger"."""
    lines = standings(table_of(4, SENSEIS), ("sonneborn-berger",))
    expected = [(1, 0, 4, 11), (2, 1, 4, 9), (3, 2, 3, 6), (4, 3, 1, 4)]
    assert expected == [(line.place, line.entrant, line.points, line.tie_breaks["sonneborn-berger"]) for line in lines]


@pytest.mark.parametrize(("name", "expected"), [("buchholz", 24), ("buchholz-cut-1", 22), ("median-buchholz", 16)])
def test_a_published_list_of_opponents_has_its_buchholz_scores(name: str, expected: int) -> None:
    """Opponents with 4, 2, 3, 4, 5 and 6 points leave 16 in the middle. Source: D. Rapptz, "Median-Buchholz"."""
    opponents = {1: 4, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6}
    results = [duel(number, 0, number, "1-0") for number in opponents]
    results += [duel(number, number, 7, "1-0") for number, points in opponents.items() for _ in range(points)]
    assert expected == values(name, 8, results)[0]


def test_a_bye_counts_as_a_virtual_opponent_with_ones_own_points() -> None:
    """This is FIDE C.07, 16.4, with at most the points of half of the played rounds."""
    results = [sat_out(1, 0), duel(1, 1, 2, "1-0"), duel(2, 0, 1, "1-0"), sat_out(2, 2), duel(3, 2, 0, "1-0")]
    # Points 2, 1, 2 after three rounds: the virtual opponent has 1 1/2, the cap.
    assert [F(3, 2) + 1 + 2, 2 + 2, F(3, 2) + 1 + 2] == values("buchholz", 3, results)
    assert [F(3, 2) + 1, 2, F(3, 2) + 2] == values("sonneborn-berger", 3, results)


def test_rounds_missed_by_joining_late_count_half_and_are_cut_first() -> None:
    """They are against a virtual opponent, of which Sonneborn-Berger takes half (FIDE C.07, 16.4 and 16.5)."""
    results = [duel(1, 1, 2, "1-0"), sat_out(1, 0, LATE), duel(2, 0, 2, "1-0"), sat_out(2, 1)]
    # Points 1 1/2, 2, 0 after two rounds: the virtual opponents of 0 and of 1 have 1, the cap.
    assert [F(1), F(1), F(7, 2)] == values("buchholz", 3, results)
    assert [F(0), F(1), F(2)] == values("buchholz-cut-1", 3, results)
    assert [F(1, 2), F(1), F(0)] == values("sonneborn-berger", 3, results)


def test_a_walkover_over_somebody_who_was_to_be_met_counts_like_the_win_over_it() -> None:
    """Entrant 2 lost to 0, beat 1 and withdrew. Entrant 3 was still to meet it, and is not ahead of 0 for that."""
    walkover = bye(Pairing(number=9, round=3, seats=(3,), table="walkover", against=2))
    results = [duel(1, 0, 2, "1-0"), duel(2, 2, 1, "1-0"), walkover]
    assert values("sonneborn-berger", 4, results, gone=(2,)) == [1, 0, 0, 1]
    assert values("buchholz", 4, results, gone=(2,))[3] == values("buchholz", 4, results[:1], gone=(2,))[0] + 1


def test_rounds_after_a_withdrawal_are_draws_for_the_opponents_and_cut_first() -> None:
    """FIDE C.07, 16.3.2 and 16.5."""
    results = [
        *(duel(1, 0, 1, "1-0"), duel(1, 2, 3, "1-0")),
        *(duel(2, 0, 2, "1-0"), duel(2, 1, 3, "1-0")),
        *(duel(3, 1, 2, "1-0"), sat_out(3, 3)),
        *(duel(4, 1, 2, "1-0"), sat_out(4, 3)),
    ]
    # Points 2, 3, 1, 2. Entrant 0 leaves after round 2: 3 to its opponents; its own virtual opponents have 2 each.
    assert values("buchholz", 4, results, gone=(0,)) == [3 + 1 + 2 + 2, 3 + 2 + 1 + 1, 2 + 3 + 3 + 3, 1 + 3 + 2 + 2]
    assert values("buchholz-cut-1", 4, results, gone=(0,)) == [3 + 1 + 2, 3 + 2 + 1, 3 + 3 + 3, 3 + 2 + 2]
    assert values("sonneborn-berger", 4, results, gone=(0,)) == [3 + 1, 2 + 1 + 1, 2, 2 + 2]


def test_without_rounds_a_withdrawal_misses_no_more_than_others_have_played() -> None:
    """A ladder may count every match as a round."""
    results = [duel(1, 0, 1, "1-0"), *(duel(number, 1, 2, "1-0") for number in range(700, 702))]
    assert values("buchholz", 3, results, gone=(0,))[1] == F(1) + 2 * F(1, 2)


@pytest.mark.parametrize(
    ("size", "results", "expected"),
    [
        (3, [duel(1, 0, 1, "1-0"), duel(1, 1, 2, "1-0"), duel(1, 2, 0, "1-0")], [0, 0, 0]),
        (3, [duel(1, 0, 1, "1-0"), duel(1, 1, 2, "1-0"), duel(1, 0, 2, "1-0")], [2, 1, 0]),
        (3, [duel(1, 0, 1, "1-0"), duel(1, 0, 2, "1-0")], [2, 0, 0]),
        (3, [duel(1, 0, 1, "1-0"), duel(1, 1, 2, "1/2")], [0, 0, 0]),
        (3, [duel(1, 0, 1, "1-0")], [0, 0, 0]),
        (2, [duel(1, 0, 1, "1-0"), duel(2, 1, 0, "1/2")], [1, 0]),
        (3, [], [0, 0, 0]),
        (3, [duel(1, 0, 1, "1-0"), duel(1, 2, 0, "1/2"), duel(2, 2, 1, "1-0")], [1, 0, 1]),
    ],
)
def test_direct_encounter_tells_only_what_missing_matches_could_not_change(
    size: int, results: list[PlayedPairing], expected: list[int]
) -> None:
    """The result is the number of tied entrants behind an entrant."""
    assert expected == values("direct-encounter", size, results)


def test_a_match_of_four_is_an_encounter_of_every_pair() -> None:
    """The better placed seat has won, equal seats have drawn, and two that fouled have both lost."""
    table = table_of(4, [match(1, (3, 2, 1, 0), ((1, 0), (2, 3)), fouls=(2, 3))], seats=4)
    won, drawn, lost = HeadToHead(wins=1), HeadToHead(draws=1), HeadToHead(losses=1)
    none = HeadToHead()
    expected = ((none, lost, lost, lost), (lost, none, lost, lost), (won, won, none, drawn), (won, won, drawn, none))
    assert expected == everyone(table)
    assert [table.sums(entrant).wins for entrant in range(4)] == [0, 0, 0, 0]


def test_a_void_match_is_worth_nothing_and_no_encounter() -> None:
    """It was not played, but its round has passed."""
    table = table_of(2, [match(7, (0, 1), (), scores=(5, 3))])
    assert everyone(table_of(2, [])) == everyone(table)
    assert (table.rounds, table.sums(0).played, table.sums(0).score_difference) == (7, 0, F(0))


def test_a_void_match_is_one_against_a_virtual_opponent() -> None:
    """FIDE C.07, 16.4. It was nobody's choice, so the least opponent is cut as usual (16.5)."""
    results = [
        *(duel(1, 0, 1, "1-0"), duel(1, 2, 3, "1-0")),
        *(match(2, (0, 2), ()), duel(2, 1, 3, "1-0")),
        *(duel(3, 0, 3, "1-0"), duel(3, 1, 2, "1/2")),
    ]
    # Points 2, 1 1/2, 1 1/2, 0 after three rounds: the virtual opponents of 0 and 2 have 1 1/2, the cap.
    assert values("buchholz", 4, results) == [F(3, 2) + F(3, 2), 2 + F(3, 2), F(3, 2) + F(3, 2), 2 + F(3, 2) + F(3, 2)]
    assert values("buchholz-cut-1", 4, results) == [F(3), F(7, 2), F(3), F(7, 2)]
    assert values("median-buchholz", 4, results) == [F(3, 2)] * 4
    assert values("sonneborn-berger", 4, results) == [F(3, 2), F(3, 4), F(3, 4), F(0)]


def returned(results: list[PlayedPairing], through: int, later: list[PlayedPairing], *, is_gone: bool) -> Crosstable:
    """Return a crosstable in which entrant 0 withdrew after some results, and returned after a round."""
    table = table_of(4, results, gone=(0,))
    table.reinstate(0, through)
    for played in later:
        table.add(played)
    if is_gone:
        table.withdraw(0)
    return table


FIRST_ROUND = [duel(1, 0, 1, "1-0"), duel(1, 2, 3, "1-0")]
WITHOUT_0 = [duel(2, 2, 1, "1-0"), sat_out(2, 3)]
LAST_ROUNDS = [duel(3, 0, 2, "1-0"), duel(3, 1, 3, "1-0"), duel(4, 3, 0, "1-0"), duel(4, 1, 2, "1-0")]


def test_rounds_missed_before_somebody_came_back_are_against_a_virtual_opponent_and_cut_first() -> None:
    """FIDE C.07, 16.4 and 16.5. Its opponents count them as losses, like earlier rounds that others played."""
    table = returned(FIRST_ROUND + WITHOUT_0, 2, LAST_ROUNDS, is_gone=False)
    assert table.count_missed_rounds(0) == 1
    # Points 2, 2, 2, 2 after four rounds, and so has the virtual opponent of 0.
    assert {
        name: TIE_BREAKS[name].measure(table, [0])[0] for name in ("buchholz", "buchholz-cut-1", "sonneborn-berger")
    } == {
        "buchholz": F(8),
        "buchholz-cut-1": F(6),
        "sonneborn-berger": F(4),
    }
    assert [TIE_BREAKS["buchholz"].measure(table, [entrant])[entrant] for entrant in (1, 2, 3)] == [F(8), F(8), F(8)]


def test_who_came_back_and_left_again_has_missed_both() -> None:
    """Only the rounds after its last withdrawal count as draws for its opponents (16.3.1 and 16.3.2)."""
    table = returned(FIRST_ROUND + WITHOUT_0, 2, LAST_ROUNDS[:2], is_gone=True)
    for played in (duel(4, 1, 2, "1-0"), sat_out(4, 3)):
        table.add(played)
    assert table.count_missed_rounds(0) == 2
    assert table.scale().own[0] + table.scale().draw == table.scale().adjusted[0]


@pytest.mark.parametrize("seed", range(5))
def test_it_is_no_matter_when_results_of_before_are_counted(seed: int) -> None:
    """A ruling counts results once more, in any order, after all have returned."""
    before = FIRST_ROUND + WITHOUT_0
    expected = standings(returned(before, 2, LAST_ROUNDS, is_gone=False), EVERYTHING)
    known = before[:seed]
    later = Random(seed).sample(before[seed:] + LAST_ROUNDS, len(before[seed:] + LAST_ROUNDS))
    assert standings(returned(known, 2, later, is_gone=False), EVERYTHING) == expected


def test_equal_entrants_share_a_place() -> None:
    """The shared places are not given to others."""
    lines = standings(table_of(4, [duel(1, 3, 0, "1-0"), duel(1, 2, 1, "1-0")]), ("wins",))
    assert [(line.place, line.entrant) for line in lines] == [(1, 2), (1, 3), (3, 0), (3, 1)]


def test_tie_breaks_are_asked_in_order() -> None:
    """The first tie-break decides where it can; the next one orders the rest."""
    # Everybody has one point; 0 and 1 have won a match, 2 and 3 drew two; scores favour 3, then 1.
    results = [
        match(1, (0, 1), ((0,), (1,)), scores=(3, 1)),
        match(2, (1, 0), ((0,), (1,)), scores=(9, 1)),
        match(1, (2, 3), ((0, 1),), scores=(0, 20)),
        match(2, (2, 3), ((0, 1),), scores=(0, 20)),
    ]
    by_wins = standings(table_of(4, results), ("wins", "score-difference"))
    by_scores = standings(table_of(4, results), ("score-difference", "wins"))
    assert [line.entrant for line in by_wins] == [1, 0, 3, 2]
    assert [line.entrant for line in by_scores] == [3, 1, 0, 2]
    assert by_wins[0].tie_breaks == {"wins": 1.0, "score-difference": 6.0}


def test_a_line_says_what_it_rests_on() -> None:
    """It has matches, byes and a withdrawal."""
    line = standings(table_of(2, [sat_out(1, 1), duel(2, 1, 0, "1-0")], gone=[1]), ())[0]
    assert Standing(place=1, entrant=1, points=2.0, tie_breaks={}, played=1, byes=1, has_withdrawn=True) == line


def test_an_unknown_tie_break_is_refused() -> None:
    """The error lists the known ones."""
    with pytest.raises(UnknownTieBreak, match=r"'bucholz' \(there are buchholz, "):
        standings(table_of(2, []), ("bucholz",))


@pytest.mark.parametrize("name", [name for name in TIE_BREAKS if name != "direct-encounter"])
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_tie_breaks_agree_with_a_naive_count(name: str, seats: int) -> None:
    """They agree in random tournaments with byes, fouls, void matches and withdrawals."""
    for seed in range(12):
        random = Random(f"{name} {seats} {seed}")
        size = random.randrange(seats, 12)
        results, gone = swiss(random, size, seats, random.randrange(1, 7))
        naive = Naive(size, seats, results, gone)
        expected = [getattr(naive, name.replace("-", "_"))(entrant) for entrant in range(size)]
        assert expected == values(name, size, results, gone=tuple(gone), seats=seats)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_points_agree_with_a_naive_count(seats: int) -> None:
    """The points that count for opponents agree, too."""
    for seed in range(20):
        random = Random(seed)
        results, gone = swiss(random, 11, seats, 5)
        naive, table = Naive(11, seats, results, gone), table_of(11, results, gone=gone, seats=seats)
        assert [naive.points(entrant) for entrant in range(11)] == [table.sums(entrant).points for entrant in range(11)]
        scale = table.scale()
        assert [naive.for_others(number) for number in range(11)] == [
            F(points, scale.unit) for points in scale.adjusted
        ]


@settings(max_examples=60)
@given(st.integers(0, 10**9), st.integers(2, 5), st.permutations(EVERYTHING))
def test_the_order_of_results_does_not_matter(seed: int, seats: int, tie_breaks: list[str]) -> None:
    """Every sum is exact."""
    random = Random(seed)
    results, gone = swiss(random, 12, seats, 5)
    shuffled = random.sample(results, len(results))
    scoring = Scoring(by_rank=((10, 6.1, 3, 0.7),))
    one, other = (table_of(12, order, gone=gone, seats=seats, scoring=scoring) for order in (results, shuffled))
    assert standings(one, tie_breaks) == standings(other, tie_breaks)
    assert everyone(one) == everyone(other)


@settings(max_examples=40)
@given(st.integers(0, 10**9), st.integers(2, 4))
def test_renamed_entrants_keep_their_places(seed: int, seats: int) -> None:
    """Nothing depends on the order of the field."""
    random = Random(seed)
    results, gone = swiss(random, 9, seats, 4)
    new = random.sample(range(9), 9)
    renamed = [
        match(
            played.pairing.round,
            [new[entrant] for entrant in played.pairing.seats],
            played.ranking,
            scores=played.scores,
            fouls=played.fouls,
        )
        for played in results
    ]
    before = standings(table_of(9, results, gone=gone, seats=seats), DEFAULT)
    after = standings(table_of(9, renamed, gone=[new[item] for item in gone], seats=seats), DEFAULT)
    assert {new[line.entrant]: line.place for line in before} == {line.entrant: line.place for line in after}


def test_a_table_does_not_grow_with_its_matches() -> None:
    """It has only sums for each entrant and pair."""
    table = table_of(3, [])
    sizes = set()
    for round_ in range(1, 400):
        for played in (duel(round_, 0, 1, "1-0"), duel(round_, 1, 2, "1/2"), duel(round_, 2, 0, "1-0")):
            table.add(played)
        sums = [table.sums(entrant) for entrant in range(3)]
        kept = [len(table.opponents(entrant)) for entrant in range(3)]
        sizes.add(
            sum(kept) + sum(len(item.points_by) + len(item.weighted_by) + len(item.differences_by) for item in sums)
        )
    assert len(sizes) == 1
    assert HeadToHead(wins=399) == table.head_to_head(0, 1)
    assert field(3) == table.field
