"""Folded and audited matches of Quad-Ominos: the greedy player, random players, players that foul in mid-turn."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee import chance
from referee.match.fouls import Cause
from referee.match.machine import Match
from referee.match.setup import MatchSetup
from referee.testing import Choose, ScriptedSeat, plain
from sample_players.python.greedy import make_greedy

from ...driving import drive, random_chooser
from ...record.records import Story
from ...time_controls import grouped
from .states import ARC, CORNER, DONE, GAME, ZEROS, dealt, lay, played, position, state_of

SEED = chance.seed_from_number(7)


def match_of(seats: int, **fields: Any) -> Match:
    """Return a new match."""
    given: dict[str, Any] = {
        "match": "m",
        "game": "quadominos",
        "names": tuple("abcdefghijkl"[:seats]),
        "commitment": chance.commitment(SEED),
        "nonces": False,
    }
    return Match(GAME, MatchSetup(**{**given, **grouped(fields, per_move_ms=1000.0, start_ms=5000.0)}), SEED)


def greedy(**options: Any) -> Choose:
    """Return the greedy player."""
    return make_greedy(GAME, GAME.parse_options(options), SEED)


def story(match: Match, *players: Choose) -> Story:
    """Play a match to its end."""
    return Story(match, tuple(drive(match, [ScriptedSeat(player) for player in players])))


@pytest.mark.parametrize("acknowledge", [False, True])
def test_a_match_is_played_and_audited(tmp_path: Path, acknowledge: bool) -> None:  # noqa: FBT001  # of a table
    """A whole game of several rounds ends by the target without a foul, and its record holds."""
    match = match_of(4, acknowledge=acknowledge, options={"target": 200})
    whole = story(match, greedy(), *[random_chooser(GAME, Random(3), match)] * 3)
    whole.write(tmp_path / "match.jsonl")
    assert match.result is not None
    assert (match.result.void, match.fouls, match.result.reason) == (None, [], "quadominos.end.target")


def test_twelve_players_of_whom_some_foul(tmp_path: Path) -> None:
    """A player that answers a choice with another move is expelled in the middle of its turn; the others play on."""
    match = match_of(12, options={"rounds": 1})
    honest = random_chooser(GAME, Random(5), match)
    players = [
        honest if seat % 3 else lambda view: honest(view) if view["step"] == "lay" else DONE for seat in range(12)
    ]
    story(match, *players).write(tmp_path / "match.jsonl")
    assert match.result is not None
    assert match.result.void is None
    assert {foul.seat % 3 for foul in match.fouls} == {0}
    assert {foul.cause for foul in match.fouls} == {Cause.ILLEGAL_MOVE}
    assert {foul.rule for foul in match.fouls} <= {"quadominos.bonus.choice", "quadominos.bonus.two"}
    assert all(match.result.scores[foul.seat] == 0 for foul in match.fouls)


def test_a_position_is_played_from() -> None:
    """A match may begin from a position; if the mover is expelled, the last seat remains."""
    given = position(["0001", "0005"], ["0002"], board=ZEROS)
    match = match_of(2, position=given)
    story(match, lambda _view: lay(0, 1, "0001"), greedy())
    assert match.result is not None
    assert (match.result.ranking[0], match.result.reason) == ((1,), "quadominos.end.last")
    assert match.fouls[0].rule == "quadominos.lay.match"


# --- the greedy player


@pytest.mark.parametrize("number", range(6))
def test_greedy_plays_legally_whatever_it_is_asked_for(number: int) -> None:
    """Its moves are legal through whole rounds, with and without bonuses of additional tiles."""
    chain = number % 2 == 0
    state, choose = dealt(number, 2 + number, rounds=1, chain_bonus=chain), greedy(chain_bonus=chain)
    while GAME.outcome(state) is None:
        view = plain(GAME.view(state, GAME.to_move(state)))
        move = choose(view)
        assert move == choose(view), "the same view, another move"
        state = GAME.deliver(GAME.play(state, GAME.parse_move(move)))


def test_greedy_opens_with_the_highest_quad() -> None:
    """It opens with the tile that scores most, and goes on after a quad-zero that was laid for it."""
    state = state_of(["5555", "0000", "0001"], ["4444", "0002"], board=())
    assert greedy()(plain(GAME.view(state, 0))) == lay(0, 0, "5555")
    zero = played(state, lay(0, 0, "0000"))
    assert greedy()(plain(GAME.view(zero, 0)))["tile"] in {"0010", "0001", "1000", "0100"}


def test_greedy_is_done_when_it_must_be() -> None:
    """It takes 25 points before tiles that score less, and additional tiles that score more or let it go out."""
    poor = played(state_of(["2223", "0000", "0001", "0333", "5555"], ["1111"], board=CORNER), lay(1, 1, "2223"))
    assert greedy()(plain(GAME.view(poor, 0))) == {"action": "points"}
    going_out = played(state_of(["2223", "0000", "0001"], ["1111"], board=CORNER), lay(1, 1, "2223"))
    assert greedy()(plain(GAME.view(going_out, 0)))["action"] == "lay"


def test_greedy_takes_what_meets_three_corners() -> None:
    """A tile that earns a bonus is preferred to one with a few points more."""
    state = state_of(["0015", "1333", "5555"], ["0002"], board=ARC)
    assert greedy()(plain(GAME.view(state, 0))) == lay(1, 0, "1500")


def test_greedy_beats_chance() -> None:
    """In ten games from both seats, it scores at least one and a half times as much as a random player."""
    sums = [0, 0]
    for number in range(10):
        source, state, choose = Random(number), dealt(number, 2, rounds=1), greedy()
        while GAME.outcome(state) is None:
            seat = GAME.to_move(state)
            is_greedy = seat == number % 2
            view = GAME.view(state, seat)
            move = GAME.parse_move(choose(plain(view))) if is_greedy else source.choice(GAME.legal_moves(state))
            state = GAME.deliver(GAME.play(state, move))
        sums[0] += state.scores[number % 2]
        sums[1] += state.scores[1 - number % 2]
    assert sums[0] > 1.5 * sums[1]
