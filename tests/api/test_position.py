"""Positions: starting one, moves as text, drawings, and the text form of a position."""

import pickle
import re
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import referee
from referee import plugins
from tests.api.players import illegal, malformed, raising

GAMES = ("q", "quincy", "quincala", "quadominos")
SPIEL = ("chess", "connect_four", "backgammon", "gin_rummy", "tic_tac_toe", "hearts")
PACKAGES = ("nim", *(f"openspiel:{name}" for name in SPIEL))


pytestmark = pytest.mark.usefixtures("example_packages")


def walk(game: str, seed: int, plays: int, seats: int | None = None) -> referee.Position:
    """Return a position after random moves, perhaps imagined from a view in between."""
    source = Random(seed)
    position: referee.Position = referee.start(game, seed=seed, seats=seats)
    for turn in range(plays):
        legal = position.legal_moves()
        if not legal:
            break
        if game in GAMES and source.random() < 0.02:
            position = referee.imagine(game, position.view(), seed=turn)
        position = position.play(source.choice(legal))
    return position


@pytest.mark.parametrize("game", [*GAMES, *PACKAGES])
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_text_makes_the_same_position(game: str, data: st.DataObject) -> None:
    """The text of any position of any game gives a position that looks and plays the same."""
    seats = data.draw(st.sampled_from(plugins.find_game(game).seats))
    position = walk(game, data.draw(st.integers(0, 10**6)), data.draw(st.integers(0, 120)), seats)
    text = position.to_text()
    again = referee.Position.from_text(text)
    assert again == position
    assert again.to_text() == text
    assert "\n" not in text
    assert text.startswith(game)
    assert again.legal_moves() == position.legal_moves()
    assert str(again) == str(position)
    for move in position.legal_moves()[:3]:
        assert again.parse_move(position.format_move(move)) == move
        assert again.play(position.format_move(move)) == position.play(move)


@pytest.mark.parametrize(
    ("game", "players"),
    [
        ("q", [illegal, "house:dag", "house:dag"]),
        ("quincy", [malformed, "house:random", "house:greedy", "house:random"]),
        ("quincala", ["house:random", raising]),
        ("quadominos", ["house:random", raising, "house:greedy"]),
    ],
)
def test_positions_of_matches_have_texts(game: str, players: list[Any]) -> None:
    """Matches with expulsions have texts, too, and the same moves after the same deal give the same text."""
    match = referee.play(game, players, seed=3)
    for position in match.positions:
        assert referee.Position.from_text(position.to_text()) == position
    assert match.positions[0] == referee.start(game, seed=3, seats=len(players))
    for turn in match.turns:
        if turn.foul is None:
            assert turn.after.to_text().startswith(turn.before.to_text())
    assert " out=" in match.positions[-1].to_text()


def test_a_position_is_copied_and_sent_to_processes_by_its_text() -> None:
    """Pickling preserves the position, whatever its state contains."""
    position = walk("openspiel:chess", 1, 12)
    assert pickle.loads(pickle.dumps(position)) == position


HOSTILE: tuple[tuple[Any, str], ...] = (
    ("", "there is no game ''"),
    (3, "text is text, such as 'quincy seed=7', not 3"),
    ("quincy", "begins with one of seed=, deal=, position= and view=; write, for example, seed=7"),
    ("chess seed=1", "there is no game 'chess'"),
    ("quincy seed=1 deal=2", "a text"),
    ("quincy seed=1 position={}", "begins with one of seed=, deal=, position= and view=; write, for example, seed=7"),
    ("quincy seed=x", "seed=x has no value in JSON"),
    ("quincy seed=-1", "from 0 up"),
    ("quincy seed=1 seats=3", "takes 2 or 4 players, not 3"),
    ("quincy seed=1 options=3", "a table"),
    ('q seed=1 options={"bonus":1}', "it knows: q_bonus"),
    ("quincy seed=1 sets=3", "move 1 of the text, sets=3, can't be played"),
    ('quincy deal="ab"', "deal"),
    ("quincy seed=1 castle", 'move 1 of the text, castle, can\'t be played: "castle" is no move of quincy'),
    ("quincy seed=7 add:8,9;8,9 add:8,9;8,9", "move 2 of the text, add:8,9;8,9, can't be played: quincy"),
    ("quincy seed=7 out=9", "there is no seat 9"),
    ("quincy seed=7 out=x", "move 1 of the text, out=x, can't be played"),
    ("quincy seed=7 out=0 out=0", "seat 0 is out already"),
    ("quincy seed=7 ~", "can't be played"),
    ("quincy seed=7 ~add:8,9;8,9 discard:0,0", "must be handed out first"),
    ("quincy seed=7 ~add:8,9;8,9 ~ ~", "move 3 of the text, ~, can't be played"),
    ("quincy view={} guess=1", "this is not a view of quincy"),
    ("quincy view=3", "this is not a view of quincy"),
    ("quincy view=" + "[" * 200_000, "has no value in JSON"),
    ("quincy seed=7 " + "[" * 200_000, "can't be played"),
    ("quincy seed=7 " + "add:8,9;8,9 " * 100_000, "at most 1000000 characters"),
    ("quincy seed=7 \x00\x1b[2J", r"\\x00\\x1b\[2J"),
    ("nim position=[0,0]", "all heaps are empty"),
    ("openspiel:chess position=[1,2,3]", "not a position of openspiel:chess"),
)


@pytest.mark.parametrize(("text", "says"), HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_gets_a_sentence(text: Any, says: str) -> None:
    """The error is one line of the API that names the wrong word."""
    with pytest.raises(referee.RefereeError, match=says) as refusal:
        referee.Position.from_text(text)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 2000


@settings(max_examples=300)
@given(st.randoms(use_true_random=False), st.sampled_from([*GAMES, "nim", "openspiel:backgammon"]))
def test_a_damaged_text_is_refused_or_is_a_position(source: Random, game: str) -> None:
    """If words are cut, doubled, swapped or changed, the only error is one of the API."""
    position = walk(game, source.randrange(100), source.randrange(20))
    if source.random() < 0.4 and not position.is_over and game in GAMES:
        position = referee.imagine(game, position.view(), seed=3)
    letters = list(position.to_text())
    for _ in range(source.randrange(1, 4)):
        at = source.randrange(len(letters))
        letters[at : at + source.randrange(3)] = source.choice(
            ["", "~", " ", "0", "9", "-", "[", '"', "}", " out=0", ",", ":", "\x00", "true", *letters]
        )
    try:
        damaged = referee.Position.from_text("".join(letters))
    except referee.RefereeError as refusal:
        says = str(refusal)
    else:
        says = damaged.to_text()
        assert referee.Position.from_text(says) == damaged
    assert says.isprintable()


def test_moves_are_read_in_every_form() -> None:
    """Moves are read in short form, as JSON and as plain data.

    Anything else is malformed, with an example, and not legal.
    """
    position = referee.start("quincy", seed=7)
    move = position.legal_moves()[0]
    for form in (move, "add:8,9;8,9", msgspec.json.encode(move).decode()):
        assert position.play(form) == position.play(move)
        assert position.is_legal(form)
    for wrong in ("castle", "add:8,9", "add:8,9;8,9;1,1", "add:a,b;8,9", '{"action":"add"}', "", {"action": "add"}, 3):
        assert not position.is_legal(wrong)  # type: ignore[arg-type]  # that is the point
        with pytest.raises(referee.MalformedMove):
            position.play(wrong)  # type: ignore[arg-type]
    with pytest.raises(referee.MalformedMove, match="write a move in the short form, or as JSON, such as add:8,9;8,9"):
        position.parse_move("castle")
    says = "this is not a move of quincy: the key square is missing in move; give a move, such as add:8,9;8,9"
    with pytest.raises(referee.MalformedMove, match=says):
        position.play({"action": "add", "domino": [8, 9]})  # type: ignore[arg-type]
    assert not position.is_legal("add:8,9;1,1")
    with pytest.raises(referee.IllegalMove):
        position.play("add:8,9;1,1")


def test_moves_that_are_texts_are_read_as_they_are() -> None:
    """A game of a package may have texts of any form as moves."""
    position = referee.start("openspiel:chess", seed=1)
    assert position.play("e4").play("e5").play("Nf3").to_text() == 'openspiel:chess seats=2 seed=1 "e4" "e5" "Nf3"'
    assert position.is_legal('"e4"')
    assert not position.is_legal("e5")
    with pytest.raises(referee.RefereeError):
        position.play("e5")


def test_several_tiles_are_legal_where_one_is_listed() -> None:
    """In Q, `legal_moves` has moves with one tile, and `is_legal` judges every other one."""
    match = referee.play("q", ["house:greedy", "house:greedy"], seed=7)
    turn = next(turn for turn in match if turn.move["action"] == "place" and len(turn.move["tiles"]) > 1)
    assert turn.move not in turn.before.legal_moves()
    assert turn.before.is_legal(turn.move)
    assert turn.before.play(turn.before.format_move(turn.move)) == turn.after


@pytest.mark.parametrize("game", [*GAMES, "nim", "openspiel:chess"])
def test_a_drawing_has_the_size_that_is_asked_for(game: str) -> None:
    """The width is given, the height follows from the board, and the drawing is an XML document."""
    position = walk(game, 4, 6)
    for size in (120, 1000):
        root = ET.fromstring(position.svg(size=size))
        _, _, width, height = map(float, root.attrib["viewBox"].split())
        assert root.attrib["width"] == str(size)
        assert abs(int(root.attrib["height"]) - size * height / width) <= 1
    assert position.svg() == position._repr_svg_()


def test_a_drawing_for_a_seat_shows_only_its_hand() -> None:
    """The other seats' hands are not drawn."""
    position = referee.start("quincy", seed=7)
    hands = [set(re.findall('data-hand="([0-9])"', position.svg(seat=seat))) for seat in (None, 0, 1)]
    assert hands[0] == {"0", "1"}
    assert (hands[1], hands[2]) == ({"0"}, {"1"})


def test_what_cannot_begin_gets_a_sentence() -> None:
    """The error of an impossible start lists the possible ones."""
    anything: Any = referee
    for ask, says in (
        (lambda: anything.start("chess"), "there is no game 'chess'"),
        (lambda: anything.start("quincy", seats=3), "takes 2 or 4 players, not 3"),
        (lambda: anything.start("quincy", seats="2"), "seats is a whole number, not '2'"),
        (lambda: anything.start("quincy", seed="x"), "a seed is a whole number, not 'x'"),
        (lambda: anything.start("quincy", seed=-1), "from 0 to"),
        (lambda: anything.start("q", options={"bonus": 1}), "it knows: q_bonus"),
        (lambda: anything.start("q").svg(size=0), "size is at least 1, not 0"),
        (lambda: anything.start("q").svg(size="big"), "size is a whole number, not 'big'"),
        (lambda: anything.start("q").svg(seat=5), "there is no seat 5"),
        (lambda: anything.start("quincy").choose("dag"), "no house player 'dag' of quincy"),
        (lambda: anything.start("quincy").choose("gready"), 'did you mean "house:greedy"'),
        (lambda: anything.start("quincy").parse_move(3), "move is text, such as"),
        (lambda: anything.imagine("quincy", None), "this is not a view of quincy"),
        (lambda: walk("quincy", 1, 1000).choose("greedy"), "the game has ended"),
        (lambda: walk("quincy", 1, 1000).play("pass"), "the game has ended"),
    ):
        with pytest.raises(referee.RefereeError, match=says):
            ask()
    assert not walk("quincy", 1, 1000).is_legal("pass")


@pytest.mark.parametrize("game", [*GAMES, "nim", "openspiel:connect_four"])
def test_a_house_player_chooses_a_legal_move(game: str) -> None:
    """It is the move that the same player makes in a match from the same view and seed."""
    position = referee.start(game, seed=5)
    for player in ("random", "greedy"):
        move = position.choose(player, seed=2)
        assert position.is_legal(move)
        assert move == position.choose(f"house:{player}", seed=2)
    match = referee.play(game, ["house:greedy", "house:greedy"], seed=5)
    assert match[0].move == match.positions[0].choose("greedy")


def test_without_a_seed_every_deal_is_another() -> None:
    """The text of such a position contains the key of its deal."""
    first, second = referee.start("quincy"), referee.start("quincy")
    assert first != second
    assert referee.Position.from_text(first.to_text()) == first
