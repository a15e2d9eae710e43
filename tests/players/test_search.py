"""The search player: always legal, repeatable, within its budget, and it sees near wins and losses.

The tests look at its moves in small positions, and not at its values for them.
"""

import itertools
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee import chance
from referee.games.base import Game, Outcome
from referee.games.q.game import QGame
from referee.games.q.tiles import NAMES
from referee.games.quincala.game import Leg
from referee.games.quincy.game import QuincyGame
from referee.plugins import load
from referee.testing import plain
from sample_players.python.q_placements import Placements
from sample_players.python.quincala_ends import board_worth, turn_ends, turn_steps
from sample_players.python.search import BUDGET_VARIABLE, Budget, Search, make_search
from sample_players.python.search_knowledge import NoKnowledge, lead_values, outcome_values

from ..cli.calling import played as read
from ..cli.calling import referee
from ..games.quadominos.states import CORNER, lay, state_of
from ..games.quadominos.states import GAME as QUADOMINOS
from ..games.quadominos.states import played as played_quadominos
from ..games.quincala.positions import GAME as QUINCALA
from ..games.quincala.positions import leg
from ..games.quincala.positions import position as quincala_position
from ..games.quincy.playing import GAME as QUINCY
from ..games.quincy.playing import begun, column, row
from ..games.quincy.playing import move as quincy_move

AnyGame = Game[Any, Any, Any]
GAMES = load().games
SIZES = [(name, seats) for name in sorted(GAMES) for seats in GAMES[name].seats]
Q = QGame()


def bounded(game: AnyGame, iterations: int, options: Any = None, number: int = 1) -> Callable[[Any], Any]:
    """Return a search player that is bounded by iterations alone."""
    budget = Budget(seconds=float("inf"), iterations=iterations)
    return make_search(game, game.parse_options({}) if options is None else options, bytes([number] * 32), budget)


def choice(game: AnyGame, state: Any, iterations: int = 60, options: Any = None) -> Any:
    """Return the search player's plain move for the seat to move."""
    return bounded(game, iterations, options)(plain(game.view(state, game.to_move(state))))


def somewhere(game: AnyGame, seats: int, source: Random, most: int) -> Any:
    """Return a state in the middle of a random game, perhaps with dropped seats; None if it ended before."""
    state = game.new(game.parse_options({}), seats, chance.Dealer(source.randbytes(32)))
    for _ in range(source.randint(0, most)):
        if game.outcome(state) is None:
            state = game.deliver(game.play(state, source.choice(game.legal_moves(state))))
        if seats > 2 and game.outcome(state) is None and source.random() < 0.02:
            state = game.drop(state, game.to_move(state))
    return None if game.outcome(state) else state


class Unknown(QuincyGame):
    """A game about which search knows only the rules."""

    name = "unknown"


@pytest.mark.parametrize(("name", "seats"), [*SIZES, ("unknown", 4)])
def test_it_plays_legally_from_anywhere(name: str, seats: int) -> None:
    """In any position of any game, with dropped seats or not, its moves are legal to the end of its turn."""
    game, source = GAMES.get(name, Unknown()), Random(f"{name}{seats}")
    states = [somewhere(game, seats, source, 40) for _ in range(5)]
    assert any(states)
    for start in filter(None, states):
        state, choose, mover = start, bounded(game, 4), game.to_move(start)
        while game.outcome(state) is None and game.to_move(state) == mover:
            move = game.parse_move(choose(plain(game.view(state, mover))))
            state = game.deliver(game.play(state, move))
            if not game.is_same_turn(state):
                break


@pytest.mark.parametrize("name", sorted(GAMES))
def test_the_same_seed_plays_the_same(name: str) -> None:
    """With a limit on iterations, its move follows from seed and view alone."""
    game, source = GAMES[name], Random(name)
    state = next(filter(None, (somewhere(game, game.seats[0], source, 12) for _ in range(9))))
    view = plain(game.view(state, game.to_move(state)))
    assert bounded(game, 12)(view) == bounded(game, 12)(view)


def test_it_stops_when_its_time_is_over() -> None:
    """It reads the clock after every iteration, and takes half the time for the next step of the same turn."""
    state = quincala_position({(6, 1): "w1 b2", (6, 6): "w1 w2 w3 w4 w5", (1, 1): "b3 b4"})
    looks = itertools.count()
    search = Search(QUINCALA, QUINCALA.parse_options({}), bytes(32), Budget(seconds=10.0), clock=lambda: next(looks))
    first = search.choose(plain(QUINCALA.view(state, 0)))
    assert next(looks) == 11
    after = QUINCALA.play(state, QUINCALA.parse_move(first))
    while not QUINCALA.is_same_turn(after):
        after = QUINCALA.play(state, Leg((6, 6), (6, 9)))
    looks = itertools.count()
    search.choose(plain(QUINCALA.view(after, 0)))
    assert next(looks) == 6


def test_it_does_not_think_where_there_is_no_choice() -> None:
    """With a single plan, it reads the clock once."""
    state = begun("11", "88", pile="99")
    looks = itertools.count()
    search = Search(QUINCY, QUINCY.parse_options({}), bytes(32), Budget(seconds=10.0), clock=lambda: next(looks))
    assert quincy_move("11 +11") == QUINCY.parse_move(search.choose(plain(QUINCY.view(state, 0))))
    assert next(looks) == 1


def test_the_environment_sets_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who starts it can give it more or less time; a value that is no number is refused at once."""
    monkeypatch.setenv(BUDGET_VARIABLE, "0.001")
    state = begun("12 69 39 49", "88")
    assert make_search(QUINCY, QUINCY.parse_options({}), bytes(32))(plain(QUINCY.view(state, 0)))
    monkeypatch.setenv(BUDGET_VARIABLE, "long")
    with pytest.raises(ValueError, match="long"):
        make_search(QUINCY, QUINCY.parse_options({}), bytes(32))


# --- wins and losses that are near


def q_state(scores: tuple[int, int], hand: list[str]) -> Any:
    """Return a state of Q with one red star on the map."""
    position = {
        "map": [[0, 0, "red-star"]],
        "pile": ["blue-square"] * 20,
        "players": [{"score": scores[0], "hand": hand}, {"score": scores[1], "hand": ["green-clover"] * 6}],
    }
    return Q.restore(Q.parse_options({}), position)


def test_it_finishes_a_game_of_q_that_it_wins_and_not_one_that_it_loses() -> None:
    """With one fitting tile in hand: ahead it lays it, which ends the game; far behind it does anything else."""
    assert choice(Q, q_state((20, 10), ["red-circle"]))["action"] == "place"
    assert choice(Q, q_state((0, 12), ["red-circle"]))["action"] != "place"


QUINCY_CHOICES: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("wins with a stone in two lines", {"a": [*row(4, 1, 3), *column(4, 5, 7)]}, "55 44 37", "44 +44"),
    ("stops a second line", {"b": [*row(2, 1, 4), *column(9, 7, 9)]}, "12 69 39 49", "69 +69"),
)


@pytest.mark.parametrize(
    ("_name", "fields", "hand", "expected"), QUINCY_CHOICES, ids=[quincy_choice[0] for quincy_choice in QUINCY_CHOICES]
)
def test_it_sees_wins_and_losses_of_quincy(_name: str, fields: dict[str, Any], hand: str, expected: str) -> None:
    """The positions have an immediate win, or a loss that every other move allows."""
    state = begun(hand, "88 89 33 77 66", pile="22", **fields)
    assert quincy_move(expected) == QUINCY.parse_move(choice(QUINCY, state))


NEAR = {(6, 1): "b2 w1", (6, 3): "b1 w2", (6, 5): "b1", (5, 5): "w3", (11, 11): "b2"}
LOSING = {(6, 1): "b2 w1", (6, 3): "b1 w2", (6, 5): "b3", (5, 5): "w1"}


def test_it_sees_wins_and_losses_of_quincala() -> None:
    """It mixes its last size, and does not mix the opponent's last one."""
    options = {"sizes": 3}
    mixing = QUINCALA.parse_move(plain(leg(5, 5, 6, 5)))
    for board, is_mixed in ((NEAR, True), (LOSING, False)):
        state = quincala_position(board, options=options)
        chosen = choice(QUINCALA, state, options=QUINCALA.parse_options(options))
        assert is_mixed == (mixing == QUINCALA.parse_move(chosen))


def test_it_does_not_think_where_a_turn_of_quincala_wins() -> None:
    """It reads the clock once, and begins the turn that mixes its last size."""
    state, looks = quincala_position(NEAR, options={"sizes": 3}), itertools.count()
    options, budget = QUINCALA.parse_options({"sizes": 3}), Budget(seconds=10.0)
    search = Search(QUINCALA, options, bytes(32), budget, clock=lambda: next(looks))
    chosen = search.choose(plain(QUINCALA.view(state, 0)))
    assert QUINCALA.parse_move(plain(leg(5, 5, 6, 5))) == QUINCALA.parse_move(chosen)
    assert next(looks) == 1


def test_it_goes_out_where_that_wins_quadominos() -> None:
    """Two additional tiles that end the last round ahead are preferred to 25 points."""
    state = state_of(["2223", "0000", "0001"], ["1111", "0015", "0025"], board=CORNER, rounds=1)
    state = played_quadominos(state, lay(1, 1, "2223"))
    assert choice(QUADOMINOS, state, options=QUADOMINOS.parse_options({"rounds": 1}))["action"] == "lay"


# --- what it is made of


@pytest.mark.parametrize(
    ("ranking", "teams", "expected"),
    [
        (((0,), (1,)), (), [1.0, 0.0]),
        (((0, 1),), (), [0.5, 0.5]),
        (((2,), (0, 1)), (), [0.25, 0.25, 1.0]),
        (((1, 3), (0, 2)), ((0, 2), (1, 3)), [0.0, 1.0, 0.0, 1.0]),
        (((2,), (1, 3)), ((0, 2), (1, 3)), [1.0, 0.0, 1.0, 0.0]),
        (((1,),), (), [0.0, 1.0]),
    ],
)
def test_an_outcome_is_worth_the_share_of_the_others_behind(ranking: Any, teams: Any, expected: list[float]) -> None:
    """Equal ranks share, partners have one value, dropped seats have none."""
    outcome = Outcome(ranking, (0,) * len(expected), tuple(range(len(expected))), "any")
    assert expected == outcome_values(outcome, teams)


def test_a_lead_is_worth_more_than_half() -> None:
    """Values of a lead add up over the seats; a dropped seat has none."""
    values = lead_values([5.0, 0.0, -5.0, 99.0], (0, 1, 2), 5.0)
    assert values[0] > values[1] == 0.5 > values[2] > values[3] == 0.0


def test_games_without_end_are_nobodys() -> None:
    """A random game that does not end in time is worth the same to all."""

    class Endless(QGame):
        def outcome(self, state: Any) -> Outcome | None:
            return None

    game = Endless()
    knowledge = NoKnowledge(game, game.parse_options({}), (), Random(0))
    state = q_state((0, 9), ["green-clover"] * 6)
    assert knowledge.values(state) == (0.5, 0.5)


@pytest.mark.parametrize("number", range(6))
def test_placements_score_what_the_rules_say(number: int) -> None:
    """Every placement of the beam search is legal, and scores the points that it names."""
    source = Random(number)
    state = next(filter(None, (somewhere(Q, 2, source, 60) for _ in range(9))))
    mover = Q.to_move(state)
    found = Placements(state.board, state.hands[mover], state.options, 8).all()
    assert found
    for points, placed in found:
        tiles = [[row_, column_, NAMES[tile]] for (row_, column_), tile in placed]
        after = Q.play(state, Q.parse_move({"action": "place", "tiles": tiles}))
        assert points == after.scores[mover] - state.scores[mover]


@pytest.mark.parametrize("board", [NEAR, LOSING, {(6, 5): "w1 w2 w3", (7, 6): "b1 b2", (8, 8): "w2 b3"}])
def test_all_ends_of_a_turn_are_found(board: dict[tuple[int, int], str]) -> None:
    """With enough steps, the found boards are those that the rules lead to, whatever the order of the legs."""
    state = quincala_position(board, options={"sizes": 3})
    waiting, reached, ended = [state], set(), set()
    for item in waiting:
        for move in QUINCALA.legal_moves(item):
            after = QUINCALA.play(item, move)
            place = after.board, after.path[-1:]
            if QUINCALA.outcome(after) is not None or not QUINCALA.is_same_turn(after):
                ended.add(after.board)
            elif place not in reached:
                reached.add(place)
                waiting.append(after)
    assert ended == {end.board for end in turn_ends(state, 10**6)}


@pytest.mark.parametrize("number", range(4))
def test_ends_of_turns_are_reached_as_they_say(number: int) -> None:
    """Every end of a turn of Quincala is legal move by move, ends the turn, and leaves the judged board."""
    source = Random(number)
    states = (somewhere(QUINCALA, 2, source, 60) for _ in range(40))
    state = next(item for item in states if item is not None and item.phase != "place")
    for end in turn_ends(state, 60):
        after = state
        for move in turn_steps(state, end):
            assert after is state or QUINCALA.is_same_turn(after)
            after = QUINCALA.play(after, move)
        assert QUINCALA.outcome(after) is not None or not QUINCALA.is_same_turn(after)
        assert (after.board, board_worth(after, state.seat)) == (end.board, end.worth)


def test_it_plays_over_the_protocol(tmp_path: Path) -> None:
    """As a program, it plays a match against another one without a foul."""
    found = read(referee("play", "q", "house:search", "house:greedy", "--seed", "4", "--json", cwd=tmp_path))
    assert found["result"]["fouls"] == []
