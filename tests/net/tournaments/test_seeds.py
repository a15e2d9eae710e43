"""The deals of a tournament: fixed by one number, shared by a pairing's legs, or each from the tournament's secret."""

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from referee.chance import match_seed
from referee.net.tournaments.play import MatchSeeds, make_salt
from referee.testing import random_result
from referee.tournament import events as e
from referee.tournament.match_context import Fixture
from referee.tournament.pairing.base import Pairing

from ...tournament.playing import begun, events_of, spec_of, take

SECRET = bytes(range(32))
COURSES: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("knockout", 2, {"third_place": True, "replays": 2}),
    ("knockout", 4, {}),
    ("doubleelimination", 2, {"reset": True}),
)


def fixture(number: int, leg: int = 0, attempt: int = 0) -> Fixture:
    """Return a match of a pairing."""
    return Fixture(match="m", number=number, round=1, table="", leg=leg, attempt=attempt, entrants=(0, 1))


@pytest.mark.parametrize("duplicate", [False, True])
def test_one_number_fixes_every_deal(duplicate: bool) -> None:  # noqa: FBT001  # of a table
    """Each pairing has its own deal, whatever the secret is; its legs and repeated matches share it."""
    seeds = MatchSeeds(secret=SECRET, seed=7, duplicate=duplicate)
    seed, deal, secret = seeds.choose(fixture(1))
    assert (deal, secret) == (None, None)
    assert seed is not None
    assert 0 <= seed < 2**48
    assert {seeds.choose(fixture(1, leg, attempt)) for leg in (0, 1) for attempt in (0, 1)} == {(seed, None, None)}
    assert replace(seeds, secret=bytes(32)).choose(fixture(1)) == (seed, None, None)
    others = [MatchSeeds(secret=SECRET, seed=other).choose(fixture(1)) for other in (0, 8, -7)]
    numbered = [seeds.choose(fixture(number)) for number in range(1, 50)]
    assert len({*others, *numbered}) == 52


def test_the_legs_of_a_pairing_have_one_secret_deal() -> None:
    """The deal follows from the secret and the pairing's number; another pairing has another deal."""
    seeds = MatchSeeds(secret=SECRET, duplicate=True)
    (seed, deal, secret), other = seeds.choose(fixture(1)), seeds.choose(fixture(2))
    assert (seed, secret) == (None, None)
    assert deal is not None
    assert len(deal) == 32
    assert seeds.choose(fixture(1, leg=1)) == (None, deal, None)
    assert other[1] not in (None, deal)
    assert replace(seeds, secret=bytes(32)).choose(fixture(1)) != (None, deal, None)


def test_else_each_match_has_a_seed_of_its_own() -> None:
    """The seed follows from the secret and the match's name."""
    assert MatchSeeds(secret=SECRET).choose(fixture(1)) == (None, None, match_seed(SECRET, "m"))


def test_the_salt_of_a_fixed_tournament_is_fixed() -> None:
    """It has 16 bytes in hex, and differs for another number."""
    assert make_salt(7) == make_salt(7) != make_salt(8)
    assert len(bytes.fromhex(make_salt(7))) == 16


def deals(tables: int, order: Random, spec: Any) -> tuple[dict[str, Any], Any]:
    """Play a tournament whose results follow from its matches.

    Returns:
        Match -> its seats and the source of its deal; and the places.
    """
    tournament, seeds = begun(spec), MatchSeeds(secret=SECRET, seed=spec.seed)
    found: dict[str, Any] = {}
    for event in events_of(tournament, order, tables=tables):
        found |= {due.match: (due.entrants, seeds.choose(due)) for due in tournament.fixtures()}
        if isinstance(event, e.MatchClosed):
            pairing = Pairing(number=1, round=1, seats=event.entry.fixture.entrants)
            result = random_result(pairing, Random(event.entry.match))
            entry = replace(event.entry, ranking=result.ranking, scores=result.scores, fouls=())
            event = replace(event, entry=entry)  # noqa: PLW2901  # of the same match
        take(tournament, event)
    assert tournament.is_over
    return found, tournament.places()


@pytest.mark.parametrize(("form", "seats", "options"), COURSES)
@settings(max_examples=10)
@given(size=st.integers(4, 20), seed=st.integers(0, 1000), order=st.integers())
def test_a_seed_fixes_a_knockout_at_any_number_of_tables(
    *, form: str, seats: int, options: dict[str, Any], size: int, seed: int, order: int
) -> None:
    """At one table or three, and in any order of ends, matches, seats, deals and champion are the same."""
    spec = spec_of(size, form, seats, format_options=options, seed=seed)
    assert deals(1, Random(0), spec) == deals(3, Random(order), spec)
