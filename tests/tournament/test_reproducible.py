"""With the same lots and the same results, a tournament does not depend on its tables."""

from random import Random
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from referee.tournament import events as e
from referee.tournament.history import History
from referee.tournament.machine import Tournament
from referee.tournament.match_context import Fixture
from referee.tournament.pairing.base import Pairing, PlayedPairing
from referee.tournament.rulings import Ruling
from referee.tournament.spec import Participant
from referee.tournament.standings import Standing

from .playing import AT, Troubles, closed, paired, spec_of, tournament_of


class Play(Struct, frozen=True):
    """Everything that must not depend on the order in which matches end."""

    matches: list[tuple[int, Pairing, tuple[tuple[int, ...], ...]]]
    """The counted pairings with their entrants, from which the deals follow, and the ranking."""
    byes: list[tuple[int, int, str]]
    """Round, entrant and label; walkovers of a round have numbers in the order in which opponents left."""
    standings: tuple[Standing, ...]
    places: tuple[tuple[int, ...], ...] | None
    suspended: dict[int, str]


class Fate(Struct, frozen=True):
    """The fate of each match, whenever it is played: results, programs that do not start, rulings."""

    seed: int
    flaky: float
    """Share of the entrants that often fail to start."""
    leaving: float
    """Share of the matches in which a ruling withdraws an entrant while it plays."""

    def source(self, fixture: Fixture) -> Random:
        """Return the source of chance for a match."""
        return Random(repr((self.seed, fixture.number, fixture.leg, fixture.attempt, fixture.entrants)))

    def troubles(self, fixture: Fixture) -> Troubles:
        """Return the probabilities of troubles in a match."""
        is_flaky = any(Random(repr((self.seed, entrant))).random() < self.flaky for entrant in fixture.entrants)
        return Troubles(void=0.05, failed=0.7 * is_flaky)


def play_all(tournament: Tournament, fate: Fate, tables: int, order: Random) -> Play:
    """Play a tournament at so many tables; any match may end next."""
    history = History(tournament)
    history.take(e.Begun(at=AT))
    while True:
        while (asked := tournament.to_pair) is not None:
            history.take(paired(asked))
        openable = [fixture for fixture in tournament.fixtures() if fixture.match not in tournament.playing]
        if openable and len(tournament.playing) < tables:
            history.take(e.MatchOpened(at=AT, fixture=openable[0]))
        elif tournament.playing:
            _end(history, order.choice(list(tournament.playing)), fate)
        else:
            return _summed_up(history)


def _end(history: History, match: str, fate: Fate) -> None:
    """Let a match end, perhaps after a ruling that it does not count."""
    tournament = history.tournament
    fixture = tournament.playing[match]
    source = fate.source(fixture)
    entrant = source.choice(fixture.entrants)
    if source.random() < fate.leaving and entrant not in tournament.suspended and fixture in tournament.fixtures():
        name = tournament.spec.entrants[entrant].name
        ruling = Ruling(id=f"{len(tournament.rulings):x}", kind="withdraw", entrant=name, reason="so", by="Ada")
        history.take(e.Ruled(at=AT, ruling=ruling))
    history.take(closed(tournament, match, source, fate.troubles(fixture)))


def _summed_up(history: History) -> Play:
    tournament = history.tournament
    played = sorted(history.played, key=lambda each: each.pairing.number)
    return Play(
        matches=[(each.pairing.number, each.pairing, each.ranking) for each in played if _is_match(each)],
        byes=sorted((bye.round, bye.seats[0], bye.table) for bye in history.byes),
        standings=tournament.standings(),
        places=tournament.places(),
        suspended={entrant: each.why for entrant, each in sorted(tournament.suspended.items())},
    )


def _is_match(played: PlayedPairing) -> bool:
    return bool(played.ranking) and not played.pairing.is_bye


FORMATS: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("roundrobin", 2, {"cycles": 2}),
    ("roundrobin", 4, {}),
    ("roundrobin", 3, {"rounds": 5}),
    ("gauntlet", 2, {"challengers": 2}),
    ("ladder", 2, {"matches": 60}),
    ("ladder", 4, {"matches": 40}),
    ("ladder", 2, {"matches": 60, "at_once": 7, "certainty": 0.6}),
    ("swiss", 2, {}),
    ("swiss", 3, {"rounds": 6}),
    ("knockout", 2, {"third_place": True}),
    ("knockout", 4, {}),
    ("knockout", 3, {"replays": 2}),
    ("doubleelimination", 2, {}),
)


@pytest.mark.parametrize("has_copies", [False, True])
@pytest.mark.parametrize(("name", "seats", "options"), FORMATS)
@settings(max_examples=8, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    size=st.integers(5, 14),
    is_duplicate=st.booleans(),
    tables=st.integers(2, 4),
    fate=st.builds(
        Fate,
        seed=st.integers(0, 2**32),
        flaky=st.sampled_from([0, 0.2, 0.5]),
        leaving=st.sampled_from([0, 0, 0.03]),
    ),
    order=st.integers(0, 2**32),
)
def test_one_table_and_many_give_the_same_course(
    *,
    name: str,
    seats: int,
    options: dict[str, Any],
    has_copies: bool,
    size: int,
    is_duplicate: bool,
    tables: int,
    fate: Fate,
    order: int,
) -> None:
    """The pairings, their numbers and so their deals are the same, and the standings to the last tie-break.

    That holds with programs that do not start and are suspended, matches played again, and withdrawals.
    """
    if name == "roundrobin" and seats > 2:  # a larger plan takes long
        size = min(size, 8)
    entrants = tuple(
        Participant(name=f"e{number}", player="house:dag" if has_copies else "remote") for number in range(size)
    )
    spec = replace(spec_of(size, name, seats, duplicate=is_duplicate, format_options=options), entrants=entrants)
    if name == "gauntlet" or is_duplicate:  # of two rulings on matches that are played at once, the first one decides
        fate = replace(fate, leaving=0)
    alone = play_all(tournament_of(spec), fate, 1, Random(0))
    assert play_all(tournament_of(spec), fate, tables, Random(order)) == alone
