"""Ladder: no rounds; the next match is always the one that says most about strengths.

Ratings are those of R. C. Weng and C.-J. Lin, A Bayesian Approximation Method for Online Ranking (JMLR 12, 2011),
algorithm 1, the Bradley-Terry model with all pairs of a match: strength is a mean and a variance, and a result moves
both. Programs do not change, so there is no drift: variances only shrink. These ratings choose matches and places;
what is published about strength is computed from all results by others.

A match is paired whenever `at_once` leaves room for one: the free entrant whose strength is least known plays the
opponent that says most about it. So entrants whose strength is uncertain play more often, and nobody has a right to a
number of matches.

Results count in the order of the pairings; one that comes early waits for those before it. So each pairing follows from
the results of all but the few before it that may be going on, and the tournament depends neither on the number of
tables nor on which match takes longer. A withdrawal, too, counts at the place of the entrant's last pairing.
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
"""Rating before the first match; the source's."""
_RENEWED = (_DEVIATION / 2) ** 2
"""Least variance of a new version of a program: it is rarely a wholly different player."""
_CHANCE = 2 * (_DEVIATION / 2) ** 2
"""Variance that chance adds to the difference of two strengths in one match: the source's 2 beta squared."""
_KAPPA = 0.0001
"""The least factor by which a result may shrink a variance; the source's."""
_DIGITS = 9
"""Digits of a rating after the point. Without rounding, the last bits of a machine's exponential could decide."""
_ELO, _SHOWN_MEAN = 400 / log(10) / sqrt(_CHANCE), 1500.0
"""Points of Elo in a unit of a rating: by both, two whose strengths are known win with the same probability. And what
the rating before the first match is shown as."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an organiser may set."""

    matches: Annotated[int, Meta(ge=1, le=10_000_000)] | Literal["endless"] = 1000
    """Number of matches after which the ladder stops; `endless`: never, as long as there are entrants for a match."""
    certainty: Annotated[float, Meta(gt=0.5, lt=1)] | None = None
    """Probability with which each neighbour in the ranking is better than the next one when the ladder stops early."""
    at_once: Annotated[int, Meta(ge=1, le=1000)] = 4
    """Number of matches that can be played at the same time: each is chosen without the results of the others. At most
    half of the entrants play; if all were busy, those that finish could only meet each other again. A small number
    chooses better matches, a large one finishes sooner. The number of tables makes no difference."""


class Skill(Struct, frozen=True):
    """Knowledge of a strength: a normal distribution."""

    mean: float = _MEAN
    variance: float = _DEVIATION**2


class Waiting(Struct, frozen=True, kw_only=True):
    """A finished pairing that waits for earlier ones."""

    pairing: Pairing
    played: PlayedPairing | None
    """Result of the pairing; None if it was cancelled."""
    leaving: frozenset[int] = frozenset()
    """Entrants that play no more after it."""
    renewed: frozenset[int] = frozenset()
    """Entrants that have another program after it."""


class State(Struct, frozen=True, kw_only=True):
    """A ladder after some results."""

    options: Options
    order: tuple[int, ...]
    """Entrants by seed; where all else is equal, the better seed is asked first."""
    ratings: tuple[Skill, ...]
    """Ratings by entrant."""
    met: tuple[tuple[int, ...], ...]
    """Entrant -> entrant -> matches together."""
    used: tuple[tuple[int, ...], ...]
    """Entrant -> seat -> matches in it."""
    clean: frozenset[int] = frozenset()
    """Entrants that have been through a match without a foul."""
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
        """Return how long it takes: `matches` at most, and perhaps less if `certainty` is set; None if endless."""
        if options.matches == "endless":
            return None
        return Extent(fewest=options.matches if options.certainty is None else 1, most=options.matches)

    def later(self, state: State) -> int | None:
        """Return how many matches are still to be begun; None: results decide."""
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
        """Return the state after a result, which counts as soon as those of all pairings before it are there.

        Raises:
            NotDue: the pairing is not due.
        """
        return self.conclude(state, played, ())

    def conclude(self, state: State, played: PlayedPairing, leaving: Iterable[int]) -> State:
        """Return the state after a result; entrants that leave with it are gone when the result counts.

        Raises:
            NotDue: the pairing is not due.
        """
        through = Waiting(pairing=played.pairing, played=played, leaving=frozenset(leaving))
        return _count_results(_with_waiting(replace(state, due=without(state.due, played)), through))

    def withdraw(self, state: State, entrant: int) -> State:
        """Return the state without an entrant from its last pairing on; other matches take the place of its own."""
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
            BadRuling: no match is left for it.
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
        """Return the state with an entrant that plays on, as strong as before."""
        last = _waiting(state, entrant)
        if last is not None and entrant in last.leaving:
            return _with_waiting(state, replace(last, leaving=last.leaving - {entrant}))
        return _fill(replace(state, withdrawn=state.withdrawn - {entrant}))

    def renew(self, state: State, entrant: int) -> State:
        """Return the state with another program in an entrant's place, which is expected to be about as strong."""
        last = _waiting(state, entrant)
        if last is None:
            return _renew(state, entrant)
        return _with_waiting(state, replace(last, renewed=last.renewed | {entrant}))

    def revise(self, state: State, old: PlayedPairing | None, new: PlayedPairing | None) -> State:
        """Return the state with means moved back by what a result would move them now, or on by another one.

        That is nearly what they would be if it had come out so at once; variances stay.
        """
        result = old or new
        assert result is not None, "one of them is there"
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
        """Return in a sentence what decides the places of the standings."""
        return "The ladder's rating decides the places; an entrant that fouled in every match comes last."

    def placing_ratings(self, state: State) -> tuple[float, ...]:
        """Return by entrant the rating that decides its place, on Elo's scale, around 1500."""
        return tuple(round(_SHOWN_MEAN + _ELO * (rating.mean - _MEAN), 1) for rating in state.ratings)

    def places(self, state: State) -> tuple[tuple[int, ...], ...]:
        """Return groups of entrants from best to worst: by mean, equal ones together.

        Entrants that have fouled in every match come last: they have shown nothing.
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
    """Return the pairing of an entrant that waits, if there is one."""
    return next((waiting for waiting in state.early if entrant in waiting.pairing.seats), None)


def _with_waiting(state: State, waiting: Waiting) -> State:
    """Return the state with a pairing that waits, in place of the one with its number."""
    others = (other for other in state.early if other.pairing.number != waiting.pairing.number)
    return replace(state, early=tuple(sorted((*others, waiting), key=lambda waited: waited.pairing.number)))


def _count_results(state: State) -> State:
    """Return the state with all results counted before which none is missing, and with matches in their place."""
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
    """Return one seat's rating after a match; of two that both fouled, nobody has shown which is the better.

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
    """Return the state with as many matches begun or waiting as `at_once` allows."""
    # Finished matches that wait for earlier ones take up room, too. If they did not, a fast table would run ahead of a
    # slow match without bound, and choose all its matches without that result.
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
    """Choose a match: the entrant of least known strength, and the opponents that say most about it.

    The information of a meeting is taken to be p (1 - p), the variance of its result, times the variances that it can
    shrink, and less with every meeting that there was: p (1 - p) (s1 + s2) / (1 + meetings).
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
    """Return whether the ranking of the entrants that still play is certain enough to stop."""
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
    """Return with which probability one strength is greater than another, both being normal."""
    spread = sqrt(2 * (better.variance + worse.variance))
    return 0.5 * (1 + erf((better.mean - worse.mean) / spread))
