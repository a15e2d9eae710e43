"""Nim keeps the contract of a game, and its players keep its rules."""

from pathlib import Path
from random import Random

import pytest

from referee.chance import Dealer, commitment
from referee.games.base import IllegalMove
from referee.match.events import MatchOpened, ReadyReceived
from referee.match.machine import Match
from referee.match.setup import MatchSetup
from referee.observers import MatchTransition
from referee.testing import check_game
from referee_nim.game import Move, NimGame, State
from referee_nim.observer import HeapLog
from referee_nim.players import make_careless, make_perfect

GAME = NimGame()
SEED = bytes(32)


@pytest.mark.parametrize("options", [{}, {"heaps": 1, "largest": 1}, {"heaps": 9, "largest": 20}])
def test_the_game_keeps_the_contract(options: dict[str, int]) -> None:
    """The referee's own suite plays it at random: hostile moves, expelled seats, views, drawings, deals."""
    check_game(GAME, Random(1), options=options)


@pytest.mark.parametrize(
    ("move", "rule"),
    [
        (Move(3, 1), "nim.take.heap"),
        (Move(-1, 1), "nim.take.heap"),
        (Move(0, 0), "nim.take.some"),
        (Move(0, 4), "nim.take.some"),
        (Move(1, 1), "nim.take.some"),
    ],
)
def test_an_illegal_move_names_its_rule(move: Move, rule: str) -> None:
    """Each rule that a move can break is the one that is named."""
    with pytest.raises(IllegalMove) as refused:
        GAME.play(State((3, 0, 5)), move)
    assert refused.value.rule_id == rule


@pytest.mark.parametrize("seed", range(5))
def test_the_perfect_player_wins_where_it_can(seed: int) -> None:
    """Against the careless player, from a deal in which the one to move can win."""
    key = bytes([seed]) * 32
    options = GAME.parse_options({"heaps": 4})
    state = GAME.new(options, 2, Dealer(key))
    choosers = [make_perfect(GAME, options, key), make_careless(GAME, options, key)]
    while (outcome := GAME.outcome(state)) is None:
        seat = GAME.to_move(state)
        plain = {"seat": seat, "to_move": seat, "heaps": list(state.heaps)}
        state = GAME.play(state, GAME.parse_move(choosers[seat](plain)))
    assert outcome.ranking[0] == (0,)


def test_the_observer_writes_down_what_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step of a match is a line of the file that NIM_LOG names."""
    monkeypatch.setenv("NIM_LOG", str(tmp_path / "heaps"))
    match = Match(
        GAME, MatchSetup(match="m", game="nim", names=("a", "b"), nonces=False, commitment=commitment(SEED)), SEED
    )
    opened = MatchOpened(at_ms=0.0)
    HeapLog().on_match_advanced(MatchTransition.of(opened, match.handle(opened), match, (1, "")))
    for seat in (0, 1):
        ready = ReadyReceived(seat=seat, at_ms=1.0, sent_ms=0.0, first_byte_ms=1.0, lag_ms=0.0, commitment="")
        HeapLog().on_match_advanced(MatchTransition.of(ready, match.handle(ready), match, (seat + 2, "")))
    assert (tmp_path / "heaps").read_text() == f"m turn 1: {sum(match.state.heaps)} left\n"
