"""The games of OpenSpiel keep the contract of a game, and hidden cards stay hidden."""

from dataclasses import replace
from random import Random
from typing import Any

import msgspec
import pyspiel
import pytest

from referee.chance import Dealer
from referee.games.base import BadSetup, IllegalMove
from referee.testing import check_game
from referee_openspiel.catalogue import SECOND_BEGINS, UNFIT, explain_unfitness, is_open, list_fit
from referee_openspiel.chance import draw_outcome
from referee_openspiel.drawing import draw_board
from referee_openspiel.game import Position, SpielGame
from referee_openspiel.players import make_mcts

KINDS = {kind.short_name: kind for kind in list_fit()}
KEY = bytes(range(32))
HIDDEN = ("kuhn_poker", "leduc_poker", "liars_dice", "tiny_bridge_2p", "phantom_ttt", "dark_hex")


def game(name: str) -> SpielGame:
    """Return a game of the library."""
    return SpielGame(KINDS[name])


def start(name: str, key: bytes = KEY, **options: Any) -> tuple[SpielGame, Position]:
    """Return a game and its position at the start."""
    rules = game(name)
    return rules, rules.new(rules.parse_options(options), rules.seats[0], Dealer(key))


@pytest.mark.parametrize("name", KINDS)
def test_each_game_keeps_the_contract(name: str) -> None:
    """The referee's own suite plays it at random: hostile moves, expelled seats, views, drawings, deals."""
    check_game(game(name), Random(1), games=1, max_turns=20)


def test_there_are_seventy() -> None:
    """All games of the library are in, or out for a reason that is checked."""
    assert len(KINDS) >= 70
    reasons = {kind.short_name: explain_unfitness(kind) for kind in pyspiel.registered_games()}
    assert {name for name, why in reasons.items() if why is None} == KINDS.keys()
    assert reasons["goofspiel"] == "seats move at the same time"
    assert reasons["catch"] == "it has one seat"
    assert "its chance itself" in str(reasons["tarok"])
    assert UNFIT.keys() <= reasons.keys()


@pytest.mark.parametrize("name", HIDDEN)
def test_a_view_tells_nothing_but_what_the_library_shows(name: str) -> None:
    """Whatever the deal and the others' hidden moves: seats with the same information state have the same view."""
    rules, source = game(name), Random(5)
    options = rules.parse_options({})
    views: dict[tuple[int, str, int], Any] = {}
    seen_again = 0
    for number in range(200):
        state = rules.new(options, rules.seats[0], Dealer(number.to_bytes(32, "big")))
        while rules.outcome(state) is None:
            for seat in range(rules.seat_count(state)):
                view = rules.view(state, seat)
                knowledge = (seat, state.native.information_state_string(seat), rules.to_move(state))
                seen_again += knowledge in views
                assert views.setdefault(knowledge, view) == view
                assert view.history is None
            state = rules.play(state, source.choice(rules.legal_moves(state)))
    assert seen_again > 100


@pytest.mark.parametrize("name", ["hearts", "euchre", "oh_hell", "bargaining", "kuhn_poker"])
def test_the_cards_of_others_can_be_exchanged_unseen(name: str) -> None:
    """The library deals again all that the seat to move cannot know: its view, its moves and the news stay the same."""
    rules, source, others = game(name), Random(7), 0
    sampler = pyspiel.UniformProbabilitySampler(0, 1)
    for number in range(5):
        _, state = start(name, bytes([number]) * 32)
        while rules.outcome(state) is None:
            seat = rules.to_move(state)
            native = state.native.resample_from_infostate(state.native.current_player(), sampler)
            history = tuple(native.history())
            other = replace(state, native=native, history=history)
            others += history != state.history
            assert rules.view(other, seat) == rules.view(state, seat)
            assert rules.draw_svg(other, (seat,)) == rules.draw_svg(state, (seat,))
            assert rules.draw_svg(other, ()) == rules.draw_svg(state, ())
            move = source.choice(rules.legal_moves(state))
            assert rules.news(rules.play(other, move)) == rules.news(rules.play(state, move))
            state = rules.play(state, move)
    assert others >= 3


@pytest.mark.parametrize("name", ["bridge", "hearts", "gin_rummy", "backgammon"])
def test_the_deal_follows_from_the_seed(name: str) -> None:
    """The same seed deals the same, another one deals otherwise."""
    assert start(name)[1] == start(name)[1]
    assert start(name)[1] != start(name, bytes(32))[1]


def test_outcomes_come_as_often_as_they_should() -> None:
    """A chance node with probabilities of a half, a third and a sixth, drawn 6,000 times."""
    outcomes = [(7, 1 / 2), (8, 1 / 3), (9, 1 / 6)]
    drawn = [draw_outcome(outcomes, Dealer(KEY), number) for number in range(1, 6001)]
    assert [abs(drawn.count(action) - 6000 * share) < 150 for action, share in outcomes] == [True] * 3


def test_an_action_is_played_by_its_text_or_its_number() -> None:
    """Both lead to the same position; what is neither is an illegal move."""
    rules, state = start("connect_four")
    (text, action), *_ = state.legal.items()
    assert rules.play(state, text) == rules.play(state, action)
    for wrong in ("x9", 99, -1):
        with pytest.raises(IllegalMove, match=r"openspiel\.illegal"):
            rules.play(state, wrong)


def test_options_are_the_librarys_parameters() -> None:
    """A smaller board is a smaller board; what the library refuses is refused with its reason."""
    rules, state = start("connect_four", rows=4, columns=5)
    assert len(rules.legal_moves(state)) == 5
    with pytest.raises(BadSetup, match=r"openspiel:connect_four"):
        rules.parse_options({"rows": "four"})
    assert {"fen", "players"}.isdisjoint(game("antichess").options_type.__struct_fields__)


def test_an_expelled_seat_plays_on_by_lot() -> None:
    """At a table of four the others go on, and it is not ranked; of two, the other one has won."""
    rules, state = start("hearts")
    state = rules.drop(state, 2)
    source = Random(3)
    while (outcome := rules.outcome(state)) is None:
        assert rules.to_move(state) != 2
        state = rules.play(state, source.choice(rules.legal_moves(state)))
    assert 2 not in outcome.order
    rules, state = start("chess")
    alone = rules.outcome(rules.drop(state, 0))
    assert alone is not None
    assert (alone.ranking, alone.reason) == (((1,),), "openspiel.end.alone")


def test_a_position_is_a_list_of_actions() -> None:
    """It can be given in place of a new game; an impossible one is refused."""
    rules, state = start("tic_tac_toe")
    options = rules.parse_options({})
    assert rules.restore(options, [4]) == rules.play(state, 4)
    for wrong in ([4, 4], [9], "x"):
        with pytest.raises(BadSetup):
            rules.restore(options, wrong)


def test_the_search_of_the_library_wins_where_it_can() -> None:
    """Three in a row in one move; the same seed chooses the same."""
    rules, state = start("tic_tac_toe")
    for action in (0, 3, 1, 4):
        state = rules.play(state, action)
    view = msgspec.to_builtins(rules.view(state, 0))
    assert [make_mcts(rules, rules.parse_options({}), KEY)(view) for _ in range(2)] == [2, 2]


@pytest.mark.parametrize(
    ("name", "pieces"), [("tic_tac_toe", 1), ("connect_four", 1), ("othello", 5), ("hex", 1), ("go", 1)]
)
def test_grid_games_are_drawn_as_boards(name: str, pieces: int) -> None:
    """A disc for each piece after the first move."""
    rules, state = start(name)
    after = rules.play(state, rules.legal_moves(state)[0])
    assert rules.draw_svg(after).count("<circle") == pieces


def test_chess_is_drawn_with_its_pieces() -> None:
    """Thirty-two of them at the start."""
    svg = draw_board("chess", str(start("chess")[1].native), {}, 2)
    assert sum(svg.count(piece) for piece in "♔♕♖♗♘♙♚♛♜♝♞♟") == 32


def test_a_game_that_cannot_be_imagined_says_so() -> None:
    """Of a game with hidden cards, a view's legal moves are known; after one of them, nothing is."""
    rules, state = start("kuhn_poker")
    view = rules.view(state, rules.to_move(state))
    imagined = rules.imagine(rules.parse_options({}), view, Dealer(KEY))
    assert not is_open(KINDS["kuhn_poker"])
    assert rules.legal_moves(imagined) == rules.legal_moves(state)
    after = rules.play(imagined, rules.legal_moves(imagined)[0])
    assert (rules.legal_moves(after), rules.outcome(after)) == ([], None)
    with pytest.raises(IllegalMove):
        rules.play(imagined, "Raise")


@pytest.mark.filterwarnings("ignore")
def test_pettingzoo_agrees_on_connect_four() -> None:
    """Another library's rules give the same verdict on 10,000 moves, legal and illegal, and name the same winner."""
    from pettingzoo.classic import connect_four_v3  # noqa: PLC0415  # it starts pygame

    rules, source, judged = game("connect_four"), Random(2), 0
    options = rules.parse_options({})
    while judged < 10_000:
        state, other = rules.new(options, 2, Dealer(KEY)), connect_four_v3.env()
        other.reset()
        while (outcome := rules.outcome(state)) is None:
            mask = other.observe(other.agent_selection)["action_mask"]
            for column in range(7):
                judged += 1
                assert (column in state.legal.values()) == bool(mask[column])
            column = source.choice(sorted(state.legal.values()))
            state = rules.play(state, column)
            other.step(column)
        assert list(outcome.scores) == [int(other.rewards[agent]) for agent in other.possible_agents]


def test_seat_0_begins_where_chance_does_not_decide() -> None:
    """White is seat 0 in chess, as in exports; SECOND_BEGINS has exactly the games in which that needs a swap."""
    states = {name: pyspiel.load_game(name).new_initial_state() for name in KINDS if name != "colored_trails"}
    first = {name: state.current_player() for name, state in states.items() if not state.is_chance_node()}
    dice = {"einstein_wurfelt_nicht"}  # begins with a die, and then with player 1
    assert {name for name, player in first.items() if player != 0} == SECOND_BEGINS - dice
    assert {game(name).to_move(start(name)[1]) for name in SECOND_BEGINS} == {0}
