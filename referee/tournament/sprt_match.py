"""Two programs against each other, until a sequential test tells which is better.

The second entrant, B, is tested against the first, A: is B better by `elo1` rather than by `elo0`? A pairing whose deal
is played from both seats counts as a pair, a single match for itself; whichever it is, seats alternate.

It is no plugin, and breaks the contract of formats in two points. Both programs are in every pairing, so several are
due at the same time all the same: else one table alone would be busy. And when the test has decided, it is over though
pairings are due: those that are going on may still be handed in.

Results count in the order of the pairings, in whatever order they come in: a test that heard of short matches first
would decide by them, and the same matches could decide otherwise another time.
"""

from fractions import Fraction
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from ..games.base import Shuffle
from .pairing.base import BadFormat, EntrantField, Pairing, PairingFormat, PlayedPairing, without
from .points import Scoring, match_points
from .sprt import OUTCOMES, Hypotheses, Progress, SprtDecision, sprt

PLAIN = Scoring()
"""1, 1/2 and 0: the points of the test, whatever the tournament's own are."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may be set."""

    hypotheses: Hypotheses = Hypotheses()
    max_pairs: Annotated[int, Meta(ge=1, le=1_000_000)] = 2000
    """Stop after so many pairings, decided or not."""
    window: Annotated[int, Meta(ge=1, le=1000)] = 8
    """So many pairings are due at the same time; as many as there are tables keep all of them busy."""


class State(Struct, frozen=True, kw_only=True):
    """An SPRT match after some results."""

    options: Options
    due: tuple[Pairing, ...] = ()
    number: int = 0
    """Of the last pairing."""
    counts: tuple[int, ...] = ()
    """How often B got each outcome, from worst to best, of the pairings up to `counted`."""
    counted: int = 0
    """Number of the last pairing up to which there are all results."""
    ahead: tuple[tuple[int, int], ...] = ()
    """Number and outcome of pairings beyond that."""
    verdict: SprtDecision = SprtDecision.CONTINUE
    """As it was when the test decided; later results do not change it."""
    is_given_up: bool = False
    """Whether one of the two has withdrawn."""


class SprtMatch(PairingFormat[State]):
    """Two entrants, and a test of which is better."""

    name = "sprt"
    title = "SprtMatch"
    seats = range(2, 3)
    options_type = Options

    def new(self, options: Any, field: EntrantField, shuffle: Shuffle) -> State:
        """Return the state before the first match.

        Raises:
            BadFormat: there are not two entrants for matches of two.
        """
        self.check_field(field)
        if len(field.entrants) != 2:
            raise BadFormat(f"an SPRT match is between two entrants, not {len(field.entrants)}")
        return _filled(State(options=options))

    def due(self, state: State) -> tuple[Pairing, ...]:
        """Return every pairing that may be played now, and those that may be handed in when all is decided."""
        return state.due

    def record(self, state: State, played: PlayedPairing) -> State:
        """Return the state after a result.

        Raises:
            NotDue: the pairing is not due.
        """
        due = without(state.due, played)
        legs = played.legs or (played,)
        counts = state.counts or (0,) * (2 * len(legs) + 1)
        ahead = (*state.ahead, (played.pairing.number, outcome(legs)))
        return _filled(_counted(replace(state, due=due, counts=counts, ahead=ahead)))

    def withdraw(self, state: State, entrant: int) -> State:
        """Return the state after one of the two has withdrawn: nothing is due any more."""
        return replace(state, due=(), is_given_up=True)

    def is_over(self, state: State) -> bool:
        """Tell whether nothing more is to be begun: the test has decided, or all pairings are played."""
        return state.verdict is not SprtDecision.CONTINUE or not state.due

    def places(self, state: State) -> None:
        """Return None: points decide."""

    def progress(self, state: State) -> Progress:
        """Tell where the test stands, with all results that count so far."""
        return sprt(state.counts or (0,) * OUTCOMES[0], state.options.hypotheses)


def outcome(legs: tuple[PlayedPairing, ...]) -> int:
    """Return how B fared in a pairing: its half points; of two that both fouled, each gets one."""
    return int(2 * sum((_points_of_b(leg) for leg in legs), Fraction(0)))


def _points_of_b(leg: PlayedPairing) -> Fraction:
    points = dict(zip(leg.pairing.seats, match_points(leg, PLAIN), strict=True))
    return (1 + points[1] - points[0]) / 2


def _counted(state: State) -> State:
    """Return the state with all results counted before which none is missing."""
    ahead, counts, counted, verdict = dict(state.ahead), list(state.counts), state.counted, state.verdict
    while counted + 1 in ahead:
        counted += 1
        counts[ahead.pop(counted)] += 1
        if verdict is SprtDecision.CONTINUE:
            verdict = sprt(counts, state.options.hypotheses).verdict
    return replace(state, ahead=tuple(ahead.items()), counts=tuple(counts), counted=counted, verdict=verdict)


def _filled(state: State) -> State:
    """Return the state with as many pairings due as may be."""
    if state.verdict is not SprtDecision.CONTINUE or state.is_given_up:
        return state
    last = min(state.number + state.options.window - len(state.due), state.options.max_pairs)
    added = (
        Pairing(number=number, round=number, seats=(0, 1) if number % 2 else (1, 0))
        for number in range(state.number + 1, last + 1)
    )
    return replace(state, due=(*state.due, *added), number=last)
