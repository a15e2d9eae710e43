"""Ladder: a format without rounds. The next match is always the one that says most about strengths.

Ratings are those of R. C. Weng and C.-J. Lin, A Bayesian Approximation Method for Online Ranking (JMLR 12, 2011),
algorithm 1, the Bradley-Terry model with all pairs of a match. A strength is a mean and a variance, and each result
changes both. Programs do not learn between matches, so strengths do not drift and variances only shrink. These ratings
decide the matches and the places. Published ratings are computed by other code, from all results.

A match is paired whenever `at_once` allows one more. The free entrant with the least known strength plays the opponent
that gives most information about it. So entrants with an uncertain strength play more often, and numbers of matches
differ.

Results count in the order of the pairings: an early result waits for those before it. So the pairings depend neither on
the number of tables nor on the length of matches. A withdrawal counts at the place of the entrant's last pairing.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import erf, exp, log, sqrt
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from ...games.base import Shuffle
from ...text import counted
from .balanced_groups import seat_one
from .base import BadRuling, EntrantField, Extent, Pairing, PairingFormat, PlayedPairing, order_by_seed, without

_MEAN, _DEVIATION = 25.0, 25.0 / 3
"""Rating before the first match, as in the source."""
_RENEWED = (_DEVIATION / 2) ** 2
"""Least variance of a new version of a program. It is smaller than at first, as a new version plays similarly."""
_CHANCE = 2 * (_DEVIATION / 2) ** 2
"""Variance that chance adds to the difference of two strengths in one match: 2 beta squared in the source."""
_KAPPA = 0.0001
"""The least factor by which a result may shrink a variance, as in the source."""
_DIGITS = 9
"""Decimal digits of a rating. Without rounding, small differences between machines could change a pairing."""
_ELO, _SHOWN_MEAN = 400 / log(10) / sqrt(_CHANCE), 1500.0
"""Points of Elo in a unit of a rating, and the points of Elo that are shown for the rating before the first match.

With this factor, two known strengths give the same probability to win in both systems.
"""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options that an organiser may set."""

    matches: Annotated[int, Meta(ge=1, le=10_000_000)] | Literal["endless"] = 1000
    """Number of matches after which the ladder ends; `endless` if it goes on as long as there are enough entrants."""
    certainty: Annotated[float, Meta(gt=0.5, lt=1)] | None = None
    """The ladder ends early if each entrant is better than the next one in the ranking with this probability."""
    at_once: Annotated[int, Meta(ge=1, le=1000)] = 4
    """Number of matches that can be played at the same time. The number of tables makes no difference.

    Each match is chosen without the results of the others. So a small number gives better matches, and a large one
    finishes sooner. At most half of the entrants play at the same time: if all were busy, entrants that finish could
    only meet each other again.
    """


class Skill(Struct, frozen=True):
    """An estimate of a strength: a normal distribution."""

    mean: float = _MEAN
    variance: float = _DEVIATION**2


class Waiting(Struct, frozen=True, kw_only=True):
    """A finished pairing that waits for earlier ones."""

    pairing: Pairing
    played: PlayedPairing | None
    """Result of the pairing; None if it was cancelled."""
    leaving: frozenset[int] = frozenset()
    """Entrants that withdraw after this pairing."""
    renewed: frozenset[int] = frozenset()
    """Entrants that have a new program after this pairing."""


class State(Struct, frozen=True, kw_only=True):
    """A ladder after some results."""

    options: Options
    order: tuple[int, ...]
    """Entrants by seed. If everything else is equal, the better seed plays first."""
    ratings: tuple[Skill, ...]
    """Rating of each entrant."""
    met: tuple[tuple[int, ...], ...]
    """Entrant -> entrant -> number of matches between them."""
    used: tuple[tuple[int, ...], ...]
    """Entrant -> seat -> number of matches in this seat."""
    clean: frozenset[int] = frozenset()
    """Entrants that have finished at least one match without a foul."""
    withdrawn: frozenset[int] = frozenset()
    due: tuple[Pairing, ...] = ()
    early: tuple[Waiting, ...] = ()
    """Finished pairings that wait for earlier ones, in the order of their numbers."""
    number: int = 0
    """Number of the last pairing."""
    done: int = 0
    """Number of matches whose result counts."""


class Ladder(PairingFormat[State]):
    """Matches one by one, each where the ratings are least certain."""

    name = "ladder"
    title = "Ladder"
    seats = range(2, 13)
    options_type = Options
    gives_byes = False

    def new(self, options: Any, field: EntrantField, shuffle: Shuffle) -> State:
        """Return the state before the first match.

        Raises:
            BadFormat: the field does not fill a match.
        """
        self.check_field(field)
        count = len(field.entrants)
        state = State(
            options=options,
            order=order_by_seed(field, shuffle),
            ratings=(Skill(),) * count,
            met=((0,) * count,) * count,
            used=((0,) * field.seats,) * count,
        )
        return _fill(state)

    def extent(self, options: Any, field: EntrantField) -> Extent | None:
        """Return the length: `matches`, or less if `certainty` is set; None if the ladder is endless."""
        if options.matches == "endless":
            return None
        return Extent(fewest=options.matches if options.certainty is None else 1, most=options.matches)

    def later(self, state: State) -> int | None:
        """Return the number of matches that have not begun; None if it depends on results."""
        options = state.options
        if options.matches == "endless" or options.certainty is not None:
            return None
        if len(state.order) - len(state.withdrawn) < len(state.used[0]):
            return 0
        through = state.done + sum(waiting.played is not None for waiting in state.early)
        return max(options.matches - through - len(state.due), 0)

    def due(self, state: State) -> tuple[Pairing, ...]:
        """Return every pairing that may be played now."""
        return state.due

    def record(self, state: State, played: PlayedPairing) -> State:
        """Return the state after a result. It counts as soon as all pairings before it have results.

        Raises:
            NotDue: the pairing is not due.
        """
        return self.conclude(state, played, ())

    def conclude(self, state: State, played: PlayedPairing, leaving: Iterable[int]) -> State:
        """Return the state after a result; entrants that leave with it are removed when the result counts.

        Raises:
            NotDue: the pairing is not due.
        """
        through = Waiting(pairing=played.pairing, played=played, leaving=frozenset(leaving))
        return _count_results(_with_waiting(replace(state, due=without(state.due, played)), through))

    def withdraw(self, state: State, entrant: int) -> State:
        """Return the state without an entrant, beginning at the place of its last pairing; other matches follow."""
        if entrant in state.withdrawn:
            return state
        given_up = next((pairing for pairing in state.due if entrant in pairing.seats), None)
        if given_up is not None:
            due = tuple(pairing for pairing in state.due if pairing != given_up)
            gone = Waiting(pairing=given_up, played=None, leaving=frozenset({entrant}))
            return _count_results(_with_waiting(replace(state, due=due), gone))
        last = _waiting(state, entrant)
        if last is None:
            return _fill(replace(state, withdrawn=state.withdrawn | {entrant}))
        return _with_waiting(state, replace(last, leaving=last.leaving | {entrant}))

    def join(self, state: State, field: EntrantField) -> State:
        """Return the state with another entrant, whose strength is unknown.

        Raises:
            BadRuling: there are no more matches for it.
        """
        matches = state.options.matches
        if matches != "endless" and state.done + len(state.due) + len(state.early) >= matches:
            raise BadRuling(f"all {counted(matches, 'match', 'matches')} of the ladder are played, or begun already")
        return _fill(
            replace(
                state,
                order=(*state.order, len(state.order)),
                ratings=(*state.ratings, Skill()),
                met=(*((*row, 0) for row in state.met), (0,) * (len(state.met) + 1)),
                used=(*state.used, (0,) * field.seats),
            )
        )

    def reinstate(self, state: State, entrant: int) -> State:
        """Return the state with an entrant that comes back with its former rating."""
        last = _waiting(state, entrant)
        if last is not None and entrant in last.leaving:
            return _with_waiting(state, replace(last, leaving=last.leaving - {entrant}))
        return _fill(replace(state, withdrawn=state.withdrawn - {entrant}))

    def renew(self, state: State, entrant: int) -> State:
        """Return the state after an entrant got a new program, which is expected to be about as strong as before."""
        last = _waiting(state, entrant)
        if last is None:
            return _renew(state, entrant)
        return _with_waiting(state, replace(last, renewed=last.renewed | {entrant}))

    def revise(self, state: State, old: PlayedPairing | None, new: PlayedPairing | None) -> State:
        """Return the state after a result was taken back, or a new result was given.

        The means move by the amount by which this result would move them now, backwards if it is taken back. This is
        nearly the same as if the match had had the new result at once. Variances do not change.
        """
        result = old or new
        assert result is not None, "there is an old or a new result"
        waiting = next((waited for waited in state.early if waited.pairing.number == result.pairing.number), None)
        if waiting is not None:
            return _with_waiting(state, replace(waiting, played=new or replace(result, ranking=())))
        sign = 1 if old is None else -1
        for entrant, after in zip(result.pairing.seats, _rate(state, result), strict=True):
            mine = state.ratings[entrant]
            moved = round(mine.mean + sign * (after.mean - mine.mean), _DIGITS)
            state = _with_rating(state, entrant, replace(mine, mean=moved))
        return state

    def explain_order(self) -> str:
        """Return a sentence that explains the order of the standings."""
        return "The ladder's rating decides the places; an entrant that fouled in every match comes last."

    def placing_ratings(self, state: State) -> tuple[float, ...]:
        """Return the rating of each entrant that decides its place, on Elo's scale, around 1500."""
        return tuple(round(_SHOWN_MEAN + _ELO * (rating.mean - _MEAN), 1) for rating in state.ratings)

    def places(self, state: State) -> tuple[tuple[int, ...], ...]:
        """Return groups of entrants with equal means, from best to worst.

        Entrants that have fouled in all their matches come last, because nothing is known about their strength.
        """
        groups: dict[tuple[bool, float], list[int]] = {}
        for entrant in state.order:
            groups.setdefault((entrant not in state.clean, -state.ratings[entrant].mean), []).append(entrant)
        return tuple(tuple(groups[key]) for key in sorted(groups))


def _with_rating(state: State, entrant: int, rating: Skill) -> State:
    ratings = (*state.ratings[:entrant], rating, *state.ratings[entrant + 1 :])
    return replace(state, ratings=ratings)


def _renew(state: State, entrant: int) -> State:
    old = state.ratings[entrant]
    return _with_rating(state, entrant, replace(old, variance=max(old.variance, _RENEWED)))


def _waiting(state: State, entrant: int) -> Waiting | None:
    """Return an entrant's finished pairing that waits for earlier ones; None if there is none."""
    return next((waiting for waiting in state.early if entrant in waiting.pairing.seats), None)


def _with_waiting(state: State, waiting: Waiting) -> State:
    """Return the state with a waiting pairing added, or replaced if there is one with the same number."""
    others = (other for other in state.early if other.pairing.number != waiting.pairing.number)
    return replace(state, early=tuple(sorted((*others, waiting), key=lambda waited: waited.pairing.number)))


def _count_results(state: State) -> State:
    """Count results in the order of the pairings, up to the first one that is missing, and pair new matches."""
    while state.early and (not state.due or state.early[0].pairing.number < state.due[0].number):
        first, *others = state.early
        state = replace(state, early=tuple(others))
        if first.played is not None:
            state = _note_result(state, first.played)
        for entrant in first.renewed:
            state = _renew(state, entrant)
        state = _fill(replace(state, withdrawn=state.withdrawn | first.leaving))
    return state


def _note_result(state: State, played: PlayedPairing) -> State:
    """Return the state with the ratings, meetings and seats after a result."""
    group = played.pairing.seats
    ratings, met, used = list(state.ratings), list(state.met), list(state.used)
    for seat, (entrant, rating) in enumerate(zip(group, _rate(state, played), strict=True)):
        ratings[entrant] = rating
        row, seats = list(met[entrant]), list(used[entrant])
        for other in group:
            row[other] += other != entrant
        seats[seat] += 1
        met[entrant], used[entrant] = tuple(row), tuple(seats)
    clean = {group[seat] for equal in played.ranking for seat in equal if seat not in played.fouls}
    return replace(
        state,
        ratings=tuple(ratings),
        met=tuple(met),
        used=tuple(used),
        clean=state.clean | clean,
        done=state.done + 1,
    )


def _rate(state: State, played: PlayedPairing) -> list[Skill]:
    """Return the ratings of a match's seats after it; unchanged if no seat gets points."""
    before = [state.ratings[entrant] for entrant in played.pairing.seats]
    ranks = {seat: rank for rank, group in enumerate(played.ranking) for seat in group}
    return [_update_skill(seat, before, ranks, played.fouls) if ranks else rating for seat, rating in enumerate(before)]


def _update_skill(seat: int, ratings: Sequence[Skill], ranks: dict[int, int], fouls: Sequence[int]) -> Skill:
    """Return one seat's rating after a match. A pair of seats that both fouled is left out, since it shows nothing.

    Source: Weng and Lin (2011), algorithm 1, with gamma = sigma / c.
    """
    mine = ratings[seat]
    shift = shrink = 0.0
    for other, rank in ranks.items():
        if other == seat or (seat in fouls and other in fouls):
            continue
        scale = sqrt(mine.variance + ratings[other].variance + _CHANCE)
        chance = 1 / (1 + exp((ratings[other].mean - mine.mean) / scale))
        score = 0.5 if rank == ranks[seat] else float(rank > ranks[seat])
        shift += mine.variance / scale * (score - chance)
        shrink += (sqrt(mine.variance) / scale) ** 3 * chance * (1 - chance)
    variance = mine.variance * max(1 - shrink, _KAPPA)
    return Skill(round(mine.mean + shift, _DIGITS), round(variance, _DIGITS))


def _fill(state: State) -> State:
    """Return the state with as many matches as `at_once` allows."""
    # Finished matches that wait for earlier ones count, too. Otherwise fast tables could play any number of matches
    # during one slow match, and all of them would be chosen without its result.
    begun = [*state.due, *(waiting.pairing for waiting in state.early)]
    busy = {entrant for pairing in begun for entrant in pairing.seats} | state.withdrawn
    free = [entrant for entrant in state.order if entrant not in busy]
    seats, options = len(state.used[0]), state.options
    most = max(1, (len(state.order) - len(state.withdrawn)) // (2 * seats))
    room = min(options.at_once, most) - len(begun)
    if options.matches != "endless":
        room = min(room, options.matches - state.done - len(begun))
    room = min(room, len(free) // seats)
    if room <= 0 or _is_certain(state):
        return state
    due, number = list(state.due), state.number
    for _ in range(room):
        number += 1
        group = seat_one(_most_telling(state, free, seats), state.used)
        due.append(Pairing(number=number, round=number, seats=group))
        free = [entrant for entrant in free if entrant not in group]
    return replace(state, due=tuple(due), number=number)


def _most_telling(state: State, free: Sequence[int], seats: int) -> list[int]:
    """Choose a match: the entrant with the least known strength, and the opponents that say most about it.

    The information of a meeting is taken as p (1 - p) (s1 + s2) / (1 + meetings). Here p (1 - p) is the variance of its
    result, s1 and s2 are the variances of the two strengths, and earlier meetings make it smaller.
    """
    ratings = state.ratings
    chosen = [max(free, key=lambda entrant: ratings[entrant].variance)]
    worth = dict.fromkeys(free, 0.0)
    while len(chosen) < seats:
        mine, row = ratings[chosen[-1]], state.met[chosen[-1]]
        mean, variance = mine.mean, mine.variance
        del worth[chosen[-1]]
        for entrant in worth:
            other = ratings[entrant]
            spread = variance + other.variance
            odds = exp(-abs(mean - other.mean) / sqrt(spread + _CHANCE))
            worth[entrant] += odds / (1 + odds) ** 2 * spread / (1 + row[entrant])
        chosen.append(max(worth, key=worth.__getitem__))
    return chosen


def _is_certain(state: State) -> bool:
    """Return whether the ranking of the entrants that have not withdrawn is certain enough to end the ladder."""
    if state.options.certainty is None:
        return False
    ranked = sorted(
        (state.ratings[entrant] for entrant in state.order if entrant not in state.withdrawn),
        key=lambda rating: -rating.mean,
    )
    return all(
        better.mean > worse.mean and _chance(better, worse) >= state.options.certainty
        for better, worse in pairwise(ranked)
    )


def _chance(better: Skill, worse: Skill) -> float:
    """Return the probability that one strength is greater than another; both are normal distributions."""
    spread = sqrt(2 * (better.variance + worse.variance))
    return 0.5 * (1 + erf((better.mean - worse.mean) / spread))
