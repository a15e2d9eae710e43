"""The types of views and moves agree with the rules, and every function of the API uses them."""

from pathlib import Path
from typing import Any, assert_type, get_args, get_type_hints

import msgspec
import pytest

import referee
from referee import typing
from referee.plugins import find_game

TYPES: dict[str, tuple[Any, Any]] = {
    "q": (typing.QView, typing.QMove),
    "quincy": (typing.QuincyView, typing.QuincyMove),
    "quincala": (typing.QuincalaView, typing.QuincalaMove),
    "quadominos": (typing.QuadOminosView, typing.QuadOminosMove),
}
"""The view and the move of each game."""


def read_keys(kind: Any) -> list[tuple[list[str], list[str]]]:
    """Return the keys of each object of a type: all keys, and the required ones."""
    forms = msgspec.json.schema(kind)["$defs"].values()
    return sorted((sorted(form["properties"]), sorted(form["required"])) for form in forms if "properties" in form)


@pytest.mark.parametrize("game", TYPES)
def test_the_types_are_those_of_the_rules(game: str) -> None:
    """They have the keys of the structs that the rules use, and every view and move of a match has their form."""
    rules, (view_type, move_type) = find_game(game), TYPES[game]
    by_action = {get_args(get_type_hints(kind)["action"])[0]: kind for kind in get_args(move_type)}
    assert sorted(key for kind in by_action.values() for key in read_keys(kind)) == read_keys(rules.move_type)
    assert read_keys(view_type) == read_keys(rules.view_type)
    for turn in referee.play(game, ["house:random", "house:random"], seed=2):
        assert msgspec.convert(turn.view, view_type, strict=True) == turn.view
        for move in (turn.move, *turn.before.legal_moves()[:20]):
            assert msgspec.convert(move, by_action[move["action"]], strict=True) == move


def test_every_function_passes_them_on(tmp_path: Path) -> None:
    """A type checker knows the view and the move of a named game; for any other game, both are Any."""
    position = referee.start("quincy", seed=7)
    assert_type(position, referee.Position[typing.QuincyView, typing.QuincyMove])
    assert_type(position.view(), typing.QuincyView)
    assert_type(position.choose("greedy"), typing.QuincyMove)
    assert_type(position.play("add:8,9;8,9").legal_moves(), list[typing.QuincyMove])
    assert_type(referee.imagine("quincy", position.view()), referee.Position[typing.QuincyView, typing.QuincyMove])
    match = referee.play("q", ["house:dag", "house:dag"], seed=1)
    assert_type(match[0].view, typing.QView)
    assert_type(match.turns[0].before, referee.Position[typing.QView, typing.QMove])
    game: str = "quincala"
    assert_type(referee.start(game), referee.Position[Any, Any])
    path = match.save(tmp_path)
    assert_type(referee.load(path), referee.Match | referee.Tournament)
    assert_type(referee.load(path, "match"), referee.Match)
    assert_type(referee.start("quadominos").view()["hand"], list[str])


def test_load_refuses_the_other_kind(tmp_path: Path) -> None:
    """The caller gets the kind of object that it asked for, or an error."""
    path = referee.play("quincy", ["house:random", "house:random"], seed=1).save(tmp_path)
    anything: Any = referee
    with pytest.raises(referee.RefereeError, match="is the record of a match, not of a tournament; leave the kind out"):
        referee.load(path, "tournament")
    with pytest.raises(referee.RefereeError, match="is the record of a tournament, not of a match"):
        referee.load(tmp_path, "match")
    with pytest.raises(referee.RefereeError, match="kind is 'match', 'tournament' or None, not 3"):
        anything.load(path, 3)
