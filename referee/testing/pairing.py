"""Checks that a pairing format keeps the contract of `pairing.base.PairingFormat`, by running a random tournament."""

# It knows the rules of no format. Results come in any order, like those of matches that are played at the same time.

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from .. import chance
from ..tournament.pairing import base
from ..tournament.pairing.dutch import pair_round
from .games import check_options

if TYPE_CHECKING:
    from random import Random

_LOOKED_AT = 0.05
"""Share of steps in which the state before and after is compared, which takes long for many entrants."""


def check_pairing(
    form: base.PairingFormat[Any],
    source: "Random",
    *,
    field: base.EntrantField,
    options: Mapping[str, Any] | None = None,
    withdrawals: float = 0.01,
    max_steps: int = 100_000,
) -> list[base.PlayedPairing]:
    """Check that a format keeps the contract of `pairing.base.PairingFormat`, by running a tournament at random.

    Args:
        form: the format.
        source: random source of results and withdrawals; the same seed gives the same checks.
        field: the entrants, and the number of seats of a match.
        options: the format's options, plain; missing ones take their default.
        withdrawals: probability that an entrant withdraws before a result.
        max_steps: number of results and withdrawals within which the tournament must end.

    Returns:
        The results, in the order in which they came, with byes.

    Raises:
        AssertionError: the contract is broken; the text says how.
        Exception: the format raised it where the contract does not allow it.

    >>> from random import Random
    >>> from referee.tournament.pairing.base import Entrant
    >>> from referee.tournament.pairing.round_robin import RoundRobin
    >>> field = base.EntrantField(entrants=(Entrant(name="ada"), Entrant(name="bob"), Entrant(name="cyd")), seats=2)
    >>> len(check_pairing(RoundRobin(), Random(1), field=field, withdrawals=0.0))
    6
    """
    check_options(form, base.BadFormat)
    msgspec.json.schema(form.options_type)
    form.parse_options({})
    parsed = form.parse_options(dict(options or {}))
    # Both runs get the same shuffle, so they must give the same pairings.
    shuffle = chance.Dealer(source.randbytes(chance.SEED_BYTES))
    check = _PairingCheck(form, source, field, form.new(parsed, field, shuffle))
    check.run(withdrawals, max_steps)
    check.repeat(form.new(parsed, field, shuffle))
    return [step for step in check.steps if isinstance(step, base.PlayedPairing)]


def with_rounds(form: base.PairingFormat[Any], state: Any) -> Any:
    """Return the state after pairing all rounds that are due.

    Args:
        form: the format.
        state: state of a tournament.

    >>> from referee.tournament.pairing.base import Entrant
    >>> from referee.tournament.pairing.swiss import Swiss
    >>> field = base.EntrantField(entrants=tuple(Entrant(name=name) for name in "abcd"), seats=2)
    >>> state = Swiss().new(Swiss().parse_options({"rounds": 2}), field, chance.Dealer(bytes(32)))
    >>> len(Swiss().due(state)), len(Swiss().due(with_rounds(Swiss(), state)))
    (0, 2)
    """
    while (request := form.to_pair(state)) is not None:
        state = form.take_round(state, pair_round(request)[0])
    return state


def random_result(pairing: base.Pairing, source: "Random") -> base.PlayedPairing:
    """Return a result of a match: mostly a full ranking, sometimes draws, fouls, or no points for anybody.

    Args:
        pairing: the match.
        source: random source.

    >>> from random import Random
    >>> random_result(base.Pairing(number=1, round=1, seats=(0, 1)), Random(1)).ranking
    ((0, 1),)
    """
    if pairing.is_bye:
        return base.bye(pairing)
    seats = list(range(len(pairing.seats)))
    source.shuffle(seats)
    scores = tuple(source.randrange(100) for _ in seats)
    kind = source.random()
    if kind < 0.05:
        return base.PlayedPairing(pairing=pairing, ranking=(), scores=scores, fouls=tuple(sorted(seats)))
    if kind < 0.2:
        cut = source.randrange(len(seats))
        groups = (tuple(sorted(seats[:cut])), tuple(sorted(seats[cut:])))
        return base.PlayedPairing(pairing=pairing, ranking=tuple(group for group in groups if group), scores=scores)
    fouls = (seats[-1],) if kind < 0.3 else ()
    return base.PlayedPairing(pairing=pairing, ranking=tuple((seat,) for seat in seats), scores=scores, fouls=fouls)


# A tournament on many tables gets its results in any order, loses entrants at any time, and is restored from its record
# after a crash. A random run does all three; `repeat` stands for the crash. The worst mistake would be a wrong number
# of a pairing: a record from before the crash would then belong to another match.


class _PairingCheck(msgspec.Struct):
    """One tournament that is run and checked."""

    form: base.PairingFormat[Any]
    source: "Random"
    """Random source of results and withdrawals."""
    field: base.EntrantField
    state: Any
    """State of the tournament; it begins before the first match."""
    steps: list[base.PlayedPairing | int | tuple[base.Group, ...]] = []
    """Results, entrants that withdrew, and rounds as they were paired."""
    withdrawn: set[int] = set()
    due: dict[int, base.Pairing] = {}
    numbers: set[int] = set()
    latest: dict[int, int] = {}
    """Entrant -> number of its last pairing."""

    def run(self, withdrawals: float, max_steps: int) -> None:
        """Run the tournament to its end."""
        self._check_due(None)
        while not self.form.is_over(self.state):
            assert len(self.steps) < max_steps, f"the tournament is not over after {max_steps} steps"
            staying = [entrant for entrant in range(len(self.field.entrants)) if entrant not in self.withdrawn]
            if staying and self.source.random() < withdrawals:
                self._withdraw(self.source.choice(staying))
            else:
                self._record(self.source.choice(list(self.due.values())))
        assert not self.due, "the tournament is over, but something is due"
        self._check_byes()

    def repeat(self, state: Any) -> None:
        """Give the same results and withdrawals again, which must give the same pairings."""
        for step in self.steps:
            match step:
                case base.PlayedPairing():
                    state = self.form.record(state, step)
                case int():
                    state = self.form.withdraw(state, step)
                case _:
                    state = self.form.take_round(state, step)
        assert self.state == state, "the same results gave another state"
        assert self.form.places(self.state) == self.form.places(state), "the same results gave other places"

    def _record(self, pairing: base.Pairing) -> None:
        played = random_result(pairing, self.source)
        looked_at = repr(self.state) if self.source.random() < _LOOKED_AT else None
        after = self.form.record(self.state, played)
        assert looked_at in (None, repr(self.state)), "record changed the old state"
        if looked_at is not None:
            self._check_refusal(after, played)
        self.state = after
        self.steps.append(played)
        del self.due[pairing.number]
        self._check_due(None)

    def _check_refusal(self, state: Any, played: base.PlayedPairing) -> None:
        try:
            self.form.record(state, played)
        except base.NotDue:
            return
        raise AssertionError(f"pairing {played.pairing.number} has two results")

    def _withdraw(self, entrant: int) -> None:
        before = repr(self.state)
        after = self.form.withdraw(self.state, entrant)
        assert before == repr(self.state), "withdraw changed the old state"
        assert after == self.form.withdraw(after, entrant), "withdrawing twice changes something"
        self.state = after
        self.steps.append(entrant)
        self.withdrawn.add(entrant)
        self._check_due(entrant)

    def _check_due(self, gone: int | None) -> None:
        """Check the due pairings against the earlier ones; an entrant that has just withdrawn is in none of them."""
        self._pair()
        due = self.form.due(self.state)
        numbers = [pairing.number for pairing in due]
        assert sorted(set(numbers)) == numbers, f"the due pairings are not ordered by number: {numbers}"
        playing = [entrant for pairing in due for entrant in pairing.seats]
        single = [entrant for entrant in playing if not self.field.entrants[entrant].has_copies]
        assert len(set(single)) == len(single), f"an entrant is to play two matches at once, or itself: {due}"
        assert self.withdrawn.isdisjoint(playing), f"an entrant that has withdrawn is to play: {due}"
        now = dict(zip(numbers, due, strict=True))
        remaining = [pairing for pairing in self.due.values() if gone not in pairing.seats]
        assert all(pairing == now.get(pairing.number) for pairing in remaining), f"no longer due: {remaining}, {due}"
        for number in now.keys() - self.due.keys():
            self._check_new(now[number])
        self.due = now
        assert self.due or self.form.is_over(self.state), "nothing is due, but the tournament is not over"
        if not self.due or self.source.random() < _LOOKED_AT:
            self._check_places()

    def _pair(self) -> None:
        """Pair the rounds that are due; check that an empty round and a second pairing of a round are refused."""
        while (request := self.form.to_pair(self.state)) is not None:
            tables = pair_round(request)[0]
            looked_at = repr(self.state)
            self._check_refused_round(())
            self.state = self.form.take_round(self.state, tables)
            assert looked_at != repr(self.state), "a round was paired, but nothing has changed"
            self.steps.append(tables)
            self._check_refused_round(tables)

    def _check_refused_round(self, tables: tuple[base.Group, ...]) -> None:
        try:
            self.form.take_round(self.state, tables)
        except base.BadPairing:
            return
        raise AssertionError(f"these tables were taken for a round: {tables}")

    def _check_new(self, pairing: base.Pairing) -> None:
        # # If one of the opponents has withdrawn, a pairing may become a bye with the same number.
        is_walkover = pairing.is_bye and pairing.against in self.withdrawn
        assert is_walkover or pairing.number not in self.numbers, f"the number {pairing.number} comes twice"
        assert pairing.round >= 1, "rounds count from 1"
        assert len(pairing.seats) in (1, self.field.seats), (
            f"a match of {self.field.seats} has {len(pairing.seats)} seats"
        )
        assert len(set(pairing.seats)) == len(pairing.seats), f"an entrant is to play itself: {pairing}"
        self.numbers.add(pairing.number)
        for entrant in pairing.seats:
            counts_up = pairing.number > self.latest.get(entrant, 0) or self.field.entrants[entrant].has_copies
            counts_up = counts_up or (is_walkover and pairing.number == self.latest.get(entrant))
            assert counts_up, f"the numbers of entrant {entrant} do not count up"
            self.latest[entrant] = pairing.number

    def _check_places(self) -> None:
        groups = self.form.places(self.state)
        if groups is not None:
            placed = sorted(entrant for group in groups for entrant in group)
            assert list(range(len(self.field.entrants))) == placed, f"not every entrant has one place: {groups}"
            assert all(groups), "a place without an entrant"

    def _check_byes(self) -> None:
        """If points decide, check that byes are spread evenly among the entrants that have stayed."""
        if self.form.places(self.state) is not None:
            return
        pairings = [step.pairing for step in self.steps if isinstance(step, base.PlayedPairing)]
        byes = Counter(pairing.seats[0] for pairing in pairings if pairing.is_bye and not pairing.table)
        counts = [byes[entrant] for entrant in range(len(self.field.entrants)) if entrant not in self.withdrawn]
        assert max(counts, default=0) - min(counts, default=0) <= 1, f"byes are uneven: {counts}"
