"""Ratings of entrants whose program has changed since their first matches."""

from collections.abc import Callable, Sequence
from itertools import combinations
from random import Random

import pytest

from referee.tournament import events as e
from referee.tournament.crosstable import Crosstable
from referee.tournament.history import History
from referee.tournament.ratings.elo import VERSION_ELO, Rating, elo_ratings
from referee.tournament.ratings.multi_seat import SkillBook
from referee.tournament.rulings import Ruling

from .playing import AT, begun, played_out, spec_of
from .results import field, match
from .simulated import duel_ranking, strengths, table_ranking

Results = Sequence[tuple[Sequence[int], tuple[tuple[int, ...], ...]]]
"""Entrants by seat, and the ranking of the seats."""


def rated(size: int, seats: int, *parts: Results, renewed: int = 0) -> Sequence[Rating]:
    """Rate a field in which an entrant has another program after each part of the results except the last."""
    of = field(size, seats)
    book: Crosstable | SkillBook = Crosstable(of) if seats == 2 else SkillBook(of)
    for number, part in enumerate(parts):
        if number:
            book.renew(renewed)
        for at_table, ranking in part:
            book.add(match(1, at_table, ranking))
    return elo_ratings(book, mean=0.0) if isinstance(book, Crosstable) else book.ratings(mean=0.0)


def results(random: Random, truth: Sequence[float], seats: int, times: int) -> Results:
    """Let all possible groups of entrants meet `times` times."""
    found = []
    for at_table in (chosen for _ in range(times) for chosen in combinations(range(len(truth)), seats)):
        own = [truth[entrant] for entrant in at_table]
        found.append(
            (at_table, duel_ranking(random, own[0] - own[1], 0.3) if seats == 2 else table_ranking(random, own))
        )
    return found


@pytest.mark.parametrize("seats", [2, 3])
def test_a_new_version_has_the_rating_of_its_predecessor_and_a_wider_interval(seats: int) -> None:
    """It is wider by as much as versions differ, becomes narrower with matches, and nobody else is affected."""
    random, truth = Random(1), [0.0, 50.0, -80.0, 120.0]
    first, more = (results(random, truth, seats, 10) for _ in range(2))
    before, after = rated(4, seats, first), rated(4, seats, first, ())
    assert [rating.rating for rating in after] == pytest.approx([rating.rating for rating in before])
    assert [rating.error for rating in after[1:]] == pytest.approx([rating.error for rating in before[1:]])
    variance = (before[0].error / 1.959964) ** 2 + VERSION_ELO**2
    assert after[0].error == pytest.approx(1.959964 * variance**0.5)
    assert [rating.played for rating in after] == [rating.played for rating in before]
    later, as_one = rated(4, seats, first, more), rated(4, seats, [*first, *more])
    assert as_one[0].error < later[0].error < after[0].error


@pytest.mark.parametrize("seats", [2, 3])
def test_what_a_new_version_wins_tells_more_than_what_its_predecessor_lost(seats: int) -> None:
    """Matches of another program do not hold it down."""
    lost, won = tuple((seat,) for seat in range(1, seats)), tuple((seat,) for seat in range(seats))
    old = [(range(seats), (*lost, (0,)))] * 30
    new = [(range(seats), won)] * 10
    assert rated(seats, seats, old, new)[0].rating > rated(seats, seats, [*old, *new])[0].rating + 50


@pytest.mark.parametrize("seats", [2, 3])
def test_all_that_an_entrant_had_before_counts_as_one_program(seats: int) -> None:
    """So a season with a hundred versions takes no longer to rate than one with two."""
    random, truth = Random(2), [0.0, 50.0, -80.0]
    one, two, three = (results(random, truth, seats, 8) for _ in range(3))
    assert rated(3, seats, one, two, three) == rated(3, seats, [*one, *two], three)
    assert rated(3, seats, one, (), ()) == rated(3, seats, one, ())


@pytest.mark.parametrize(("seats", "times"), [(2, 12), (3, 6)])
def test_intervals_of_new_versions_hold(seats: int, times: int) -> None:
    """About nineteen of twenty contain the truth if versions differ as much as is assumed."""
    held = 0
    for seed in range(120):
        random = Random(seed)
        truth = strengths(random, 4, 150.0)
        first = results(random, truth, seats, times)
        later = [truth[0] + random.gauss(0, VERSION_ELO), *truth[1:]]
        own, *_ = rated(4, seats, first, results(random, later, seats, 1))
        held += abs(own.rating - later[0]) <= own.error
    assert 105 <= held <= 120


def changed(entrant: int) -> e.ProgramChanged:
    """Return the event that an entrant has another program."""
    return e.ProgramChanged(at=AT, entrant=entrant, digest="ab" * 32)


def elo(history: History) -> Sequence[Rating]:
    """Return the ratings of a tournament."""
    skills = history.tournament.skills
    return elo_ratings(history.tournament.table) if skills is None else skills.ratings()


@pytest.mark.parametrize("seats", [2, 3])
def test_a_ruling_takes_a_result_from_the_version_that_had_it(seats: int) -> None:
    """A void match shows nothing about anybody, even if the program has changed since."""
    histories = []
    rulings: tuple[Callable[[], e.TournamentEvent], ...] = (
        lambda: changed(0),
        lambda: e.Ruled(at=AT, ruling=Ruling(id="1", kind="void", match="cup-00002", reason="so", by="Ada")),
    )
    for order in (0, 1), (1, 0):
        tournament = begun(spec_of(4, "roundrobin", seats))
        history = History(tournament)
        played_out(tournament, Random(3))
        before = elo(history)
        for index in order:
            history.take(rulings[index]())
        histories.append(history)
        assert elo(history)[0].error > before[0].error
        assert sum(rating.played for rating in elo(history)) == sum(rating.played for rating in before) - seats
    assert elo(histories[0]) == elo(histories[1])
