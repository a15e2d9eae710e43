"""The pairings of a tournament that are due, leg by leg: what of each is still to be played, and what came of the rest.

Refuses to know the format that made them, and what results are worth.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from .legs import rotated
from .match_context import Fixture, MatchEntry, name_match
from .pairing.base import BadRuling, Pairing


class DuePairings:
    """What is to be played now.

    Args:
        tournament: its name; matches are called after it.
        legs: how many matches a pairing is played in.
    """

    def __init__(self, tournament: str, legs: int) -> None:
        self._tournament = tournament
        self._legs = range(legs)
        self._pairings: dict[int, Pairing] = {}
        self._open: dict[int, tuple[Fixture, ...]] = {}
        """Number -> the legs without a result."""
        self._results: dict[int, dict[int, MatchEntry]] = {}
        """Number -> leg -> what came of it."""
        self._attempts: Counter[tuple[int, int]] = Counter()
        """Number and leg -> matches so far that did not count."""
        self.given_up_legs = 0
        """Matches that count, of pairings that were given up before their last one."""

    def __getitem__(self, number: int) -> Pairing:
        return self._pairings[number]

    def __contains__(self, number: int) -> bool:
        return number in self._pairings

    def __len__(self) -> int:
        return len(self._pairings)

    def __iter__(self) -> Iterator[int]:
        return iter(tuple(self._pairings))

    def outdated(self, now: Mapping[int, Pairing]) -> list[int]:
        """Return the numbers of the pairings that are not due any more, or are others now."""
        return [number for number, pairing in self._pairings.items() if now.get(number) != pairing]

    def not_begun(self, playing: Iterable[Fixture]) -> list[int]:
        """Return the numbers of the pairings of which nothing was played so far, nor is being played."""
        begun = {fixture.number for fixture in playing}
        return [number for number in self if number not in begun and not self.results(number)]

    def fixtures(self, number: int) -> tuple[Fixture, ...]:
        """Return the legs of a pairing that have no result; none if it is not due."""
        return self._open.get(number, ())

    def results(self, number: int) -> Mapping[int, MatchEntry]:
        """Return what came of the other legs, by leg."""
        return self._results.get(number, {})

    def fixture(self, number: int, leg: int) -> Fixture | None:
        """Return the match that stands for a leg of a pairing, played or not; None if the pairing is not due."""
        fixtures = [*self.fixtures(number), *(entry.fixture for entry in self.results(number).values())]
        return next((fixture for fixture in fixtures if fixture.leg == leg), None)

    def add(self, pairing: Pairing, results: Mapping[int, MatchEntry] | None = None) -> tuple[Fixture, ...]:
        """Take a pairing in, and return what is to be played of it.

        Args:
            pairing: which is not due yet.
            results: what came of legs of it before, by leg.
        """
        self._pairings[pairing.number] = pairing
        if results:
            self._results[pairing.number] = dict(results)
        return self._noted(pairing.number)

    def close(self, entry: MatchEntry) -> bool:
        """Take the result of a leg; return whether it was the last one of its pairing."""
        number = entry.fixture.number
        self._results.setdefault(number, {})[entry.fixture.leg] = entry
        return not self._noted(number)

    def play_again(self, fixture: Fixture) -> Fixture:
        """Let a leg be played once more, whether it has a result or not, and return the new match."""
        number, leg = fixture.number, fixture.leg
        self._results.get(number, {}).pop(leg, None)
        self._attempts[number, leg] = fixture.attempt + 1
        return next(again for again in self._noted(number) if again.leg == leg)

    def give_up(self, number: int) -> tuple[Fixture, ...]:
        """Let nothing more of a pairing be played, and return what was still to be played of it."""
        left = self.fixtures(number)
        self.given_up_legs += len(self.results(number))
        self.forget(number)
        return left

    def forget(self, number: int) -> None:
        """Keep nothing more of a pairing."""
        for kept in (self._pairings, self._open, self._results):
            kept.pop(number, None)
        for leg in self._legs:
            self._attempts.pop((number, leg), None)

    def check_unplayed(self, playing: Mapping[str, Fixture], due: AbstractSet[int]) -> None:
        """Check that nothing is being played that would not be due any more.

        Args:
            playing: match -> what it was opened for.
            due: numbers of the pairings that would be.

        Raises:
            BadRuling: something is.
        """
        for match, fixture in playing.items():
            if fixture.number in self and fixture.number not in due:
                raise BadRuling(f"{match} follows from it, and is being played")

    def _noted(self, number: int) -> tuple[Fixture, ...]:
        """Note which legs of a pairing are to be played."""
        done = self.results(number)
        self._open[number] = tuple(self._fixture(number, leg) for leg in self._legs if leg not in done)
        return self._open[number]

    def _fixture(self, number: int, leg: int) -> Fixture:
        pairing, attempt = self._pairings[number], self._attempts.get((number, leg), 0)
        return Fixture(
            match=name_match(self._tournament, number, leg, attempt),
            number=number,
            round=pairing.round,
            table=pairing.table,
            leg=leg,
            attempt=attempt,
            entrants=rotated(pairing.seats, leg),
        )


def is_free(fixture: Fixture, playing: Iterable[Fixture], taken_back: Collection[int]) -> bool:
    """Tell whether nobody in a match plays elsewhere: what a ruling has taken up again may come at any time.

    Args:
        fixture: the match.
        playing: what is being played.
        taken_back: numbers of the pairings that a ruling has made due again.
    """
    if not taken_back:
        return True
    others = [other for other in playing if other.number != fixture.number]
    if fixture.number not in taken_back:
        others = [other for other in others if other.number in taken_back]
    return all(set(fixture.entrants).isdisjoint(other.entrants) for other in others)
