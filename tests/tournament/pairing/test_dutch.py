"""Rounds by FIDE's Dutch system, compared with published ones, and rounds that the system can't pair.

The tournament of 14 is the example of M. Held's guide to FIDE's Dutch system (2014), as the tests of the package
`swissdutch` have it. Number 12 stays away in round 2, and 6 against 11 is not played in round 3. The tournament of 5
comes from bbpPairings' tests of byes. The first rounds are those of the help page of the chess server's tournament
director `mamer`, and of a director's log of 2008 (castlingqueenside).
"""

from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee import __version__
from referee.testing import random_result
from referee.tournament.pairing import dutch_library
from referee.tournament.pairing.base import PlayedRounds, RoundToPair
from referee.tournament.pairing.dutch import TrfPlayer, complaint, pair_round, trf_text
from referee.tournament.pairing.swiss import Swiss

from .rounds import played_rounds
from .tournaments import SHUFFLE, field
from .trf_files import read_trf

HELD = (
    "8w1 5b0 14b1",
    "9b1 7w1 5w=",
    "10w1 6b= 4w=",
    "11b= 9w1 3b=",
    "12w1 1w1 2b=",
    "13b1 3w= 11b+",
    "14w1 2b0 10w1",
    "1b0 11w0 12b=",
    "2w0 4b0 13w1",
    "3b0 13w1 7b0",
    "4w= 8b1 6w-",
    "5b0 0-Z 8w=",
    "6w0 10b0 9b0",
    "7b0 0-U 1w0",
)
HELD_ROUNDS = (
    "1-8 9-2 3-10 11-4 5-12 13-6 7-14",
    "5-1 2-7 6-3 4-9 8-11 10-13 14",
    "14-1 2-5 3-4 11-6 7-10 12-8 9-13",
    "1-3 6-2 4-5 11-7 8-9 10-14 13-12",
)
"""White is first; a single number has a bye."""
C9 = ("3w1", "4b1", "1b0", "2w0", "0-Z")


def held(number: int) -> PlayedRounds:
    """Return the tournament of 14 entrants before a round, counted from 0."""
    cells = [player.split()[:number] for player in HELD]
    return played_rounds(*map(" ".join, cells), rounds=9, away=(12,) if number == 1 else ())


PUBLISHED: tuple[tuple[PlayedRounds, str], ...] = (
    *((held(number), text) for number, text in enumerate(HELD_ROUNDS)),
    (played_rounds(*C9, rounds=3), "2-1 3-5 4"),
    (played_rounds(*[""] * 8, rounds=3), "1-5 6-2 3-7 8-4"),
    (played_rounds(*[""] * 16, rounds=4), "1-9 10-2 3-11 12-4 5-13 14-6 7-15 16-8"),
)


@pytest.mark.parametrize(("before", "text"), PUBLISHED)
def test_published_rounds_come_out(before: PlayedRounds, text: str) -> None:
    """Opponents, colours, floaters and the bye are as published."""
    tables, by = pair_round(RoundToPair(round=before.through + 1, played=before))
    expected = [tuple(int(number) - 1 for number in table.split("-")) for table in text.split()]
    assert sorted(expected) == sorted(tables)
    assert by == dutch_library.NAME


@pytest.mark.parametrize(
    ("players", "rounds"),
    [
        (("2w1", "1b0"), 2),
        (("2w1 3b1 0-U", "1b0 0-U 3w0", "0-U 1w0 2b1"), 4),
        (("3w1 4w1", "4w1 3w1", "1b0 2b0", "2b0 1b0"), 4),
    ],
)
def test_where_the_dutch_system_has_no_pairing_ours_does_it(players: tuple[str, ...], rounds: int) -> None:
    """All have met, or must not have the same seat again: a round is still paired, and legal."""
    before = played_rounds(*players, rounds=rounds)
    assert dutch_library.pair(dutch_library.make_trf(before)) is None
    tables, by = pair_round(RoundToPair(round=before.through + 1, played=before))
    assert by == f"referee {__version__}"
    assert complaint(tables, before) is None


def test_a_round_can_be_paired_elsewhere() -> None:
    """The request is plain data, which can be sent to another process or written to a file."""
    request = RoundToPair(round=2, played=held(1))
    assert msgspec.json.decode(msgspec.json.encode(request), type=RoundToPair) == request


@settings(max_examples=25)
@given(count=st.integers(6, 24), seed=st.integers(0, 2**32))
def test_a_file_tells_the_library_what_the_tournament_does(count: int, seed: int) -> None:
    """From the file of any round, the library reads the results, points, settings and absences that the fold has."""
    form, source = Swiss(), Random(seed)
    state = form.new(form.parse_options({"rounds": 4}), field(count), SHUFFLE)
    while (request := form.to_pair(state)) is not None:
        handed = dutch_library.make_trf(request.played)
        text = trf_text(request.played, [TrfPlayer(f"e{entrant}") for entrant in range(count)], [("012", "cup")])
        read = read_trf(text)
        assert read.x_section == handed.x_section
        for one, other in zip(read.player_sections, handed.player_sections, strict=True):
            assert (one.starting_number, one.points_times_ten) == (other.starting_number, other.points_times_ten)
            assert one.results == other.results
        state = form.take_round(state, pair_round(request)[0])
        for pairing in form.due(state):
            state = form.record(state, random_result(pairing, source))
            if source.random() < 0.03:
                state = form.withdraw(state, source.randrange(count))
                break
        for pairing in form.due(state):
            state = form.record(state, random_result(pairing, source))


@pytest.mark.parametrize("text", ["", "XXR\n", "XXR three\n", "XXR 3\n001 1\n", "XXR 3\n" + f"001 {'x' * 100}\n"])
def test_what_is_no_tournament_is_refused(text: str) -> None:
    """The text says what is wrong with the file."""
    with pytest.raises(ValueError) as found:
        read_trf(text)
    assert str(found.value)
