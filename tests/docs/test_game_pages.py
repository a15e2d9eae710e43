"""The pages about games show what the product draws and judges today."""

import pytest

from referee import builtin
from tests.docs.make_game_pages import GAMES, draw, fill, page_of, picture_of
from tests.protocol.worked_turns import worked_turn

REMEDY = "run `python -m tests.docs.make_game_pages`"


def test_every_game_has_a_page() -> None:
    """The rules of each built-in game are in the manual, with a picture."""
    assert set(GAMES) == {game.name for game in builtin.referee_games()}


@pytest.mark.parametrize("name", GAMES)
def test_the_picture_is_what_the_game_draws(name: str) -> None:
    """The stored file is the board after the worked turn, line by line."""
    assert picture_of(name).read_text() == draw(worked_turn(name)), REMEDY


@pytest.mark.parametrize("name", GAMES)
def test_the_page_shows_its_picture(name: str) -> None:
    """The picture has a text for readers who can't see it."""
    assert f"]({name}.svg)" in page_of(name).read_text()
    assert "![](" not in page_of(name).read_text()


@pytest.mark.parametrize("name", GAMES)
def test_the_worked_turn_is_what_the_game_says(name: str) -> None:
    """The move on the page is legal in the position of the picture, and the news is the game's."""
    text = page_of(name).read_text()
    assert fill(text, worked_turn(name)) == text, REMEDY
