"""Recorded rounds that an organiser's program paired: an audit refuses impossible rounds."""

import pytest

from referee.tournament import events as e
from referee.tournament.machine import ImpossibleEvent
from referee.tournament.pairing.base import BadFormat, BadPairing, PairingFormat
from referee.tournament.pairing.knockout import Knockout
from referee.tournament.pairing.swiss import State, Swiss

from ..playing import AT, begun, spec_of, tournament_of
from .tournaments import SHUFFLE, falling, field, first_wins

FORM = Swiss()
WORDS = ["bbpPairings", "--dutch", "{trf}", "-p"]
FIRST = "2\n1 3\n4 2\n"


def new(**options: object) -> State:
    """Return a Swiss of four before its first round, with the entrants numbered in their own order."""
    return FORM.new(FORM.parse_options({"rounds": 3, **options}), field(4, 2, falling(4)), SHUFFLE)


def test_tables_are_those_that_were_printed() -> None:
    """The round is due as it was printed."""
    state = FORM.take_printed_round(new(pairing_program=WORDS), ((0, 2), (3, 1)), FIRST)
    assert [pairing.seats for pairing in FORM.due(state)] == [(0, 2), (3, 1)]


@pytest.mark.parametrize(
    ("tables", "output", "why"),
    [
        (((2, 0), (3, 1)), FIRST, "not those that the program printed"),
        (((3, 1), (0, 2)), FIRST, "not those that the program printed"),
        (((0, 2),), "1\n1 3\n", "did not pair 2"),
        (((0, 2), (3, 1)), "", "printed nothing"),
        (((0, 2), (3, 1)), f"{FIRST}{' ' * 70_000}", "more than 65536"),
    ],
)
def test_other_tables_are_refused(tables: tuple[tuple[int, ...], ...], output: str, why: str) -> None:
    """These are groups that the output does not have, and groups that no rules allow."""
    with pytest.raises(BadPairing, match=why):
        FORM.take_printed_round(new(pairing_program=WORDS), tables, output)


def test_nobody_meets_twice_whatever_a_program_says() -> None:
    """A record with such a round is refused."""
    state = FORM.take_printed_round(new(pairing_program=WORDS), ((0, 2), (3, 1)), FIRST)
    for pairing in FORM.due(state):
        state = FORM.record(state, first_wins(pairing))
    with pytest.raises(BadPairing, match="3 and 1 have met before"):
        FORM.take_printed_round(state, ((2, 0), (1, 3)), "2\n3 1\n2 4\n")


def test_a_tournament_that_names_no_program_takes_no_round_of_one() -> None:
    """A format that pairs its rounds itself refuses it, too. No round is paired while another one is played."""
    with pytest.raises(BadPairing, match="names no pairing_program"):
        FORM.take_printed_round(new(), ((0, 2), (3, 1)), FIRST)
    playing = FORM.take_printed_round(new(pairing_program=WORDS), ((0, 2), (3, 1)), FIRST)
    with pytest.raises(BadPairing, match="no round is to be paired"):
        FORM.take_printed_round(playing, ((0, 2), (3, 1)), FIRST)
    knockout = Knockout()
    state = knockout.new(knockout.parse_options({}), field(4), SHUFFLE)
    with pytest.raises(BadPairing, match="knockout has no program"):
        PairingFormat.take_printed_round(knockout, state, ((0, 2), (3, 1)), FIRST)


def test_the_fold_refuses_what_the_format_does() -> None:
    """An audit applies the record's events again, so it finds a changed round."""
    tournament = tournament_of(spec_of(4, "swiss", format_options={"pairing_program": WORDS}))
    tournament.handle(e.Begun(at=AT))
    event = e.RoundPaired(at=AT, round=1, tables=((0, 1), (2, 3)), by="it 1", output="2\n1 9\n2 3\n")
    with pytest.raises(ImpossibleEvent, match="round 1: it paired 1 and 9"):
        tournament.handle(event)
    asked = begun(spec_of(4, "swiss"))
    assert asked.to_pair is None


@pytest.mark.parametrize("words", [[], [""], ["bbp"], ["a\0b", "{trf}"], "bbp {trf}", [1, "{trf}"]])
def test_what_is_no_command_line_is_refused(words: object) -> None:
    """It must be a list of words, one of which has `{trf}`."""
    with pytest.raises(BadFormat, match="pairing_program"):
        new(pairing_program=words)


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), "1"])
def test_what_is_no_time_is_refused(limit: object) -> None:
    """It must be a number of seconds greater than 0."""
    with pytest.raises(BadFormat, match="pairing_limit"):
        new(pairing_program=WORDS, pairing_limit=limit)


@pytest.mark.parametrize("line", ["", "XXR 9", "001 1", "XXP 1 2\n", "XXP 1 2\nXXR 9", "XXA\t1"])
def test_what_is_no_line_for_a_program_is_refused(line: str) -> None:
    """A line forbids a pair or accelerates an entrant, and only a program reads it."""
    with pytest.raises(BadFormat, match="pairing_lines"):
        new(pairing_program=WORDS, pairing_lines=[line])
    with pytest.raises(BadFormat, match="pairing_lines are for a pairing_program"):
        new(pairing_lines=["XXP 1 2"])


def test_matches_of_more_seats_take_no_program() -> None:
    """FIDE's systems pair two."""
    with pytest.raises(BadFormat, match="pairs matches of 2, not of 3"):
        FORM.new(FORM.parse_options({"pairing_program": WORDS}), field(6, 3), SHUFFLE)
