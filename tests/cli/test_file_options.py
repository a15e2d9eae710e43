"""Options of a game that are files: what the command line reads, what it refuses, and a match with one."""

import sys
from pathlib import Path

import pytest

from referee.cli.options import parse_options
from referee.errors import BadRequest

from .calling import played, referee

PLAYER = """
from random import Random

from protocol.client import run
from referee.chance import Dealer
from referee.games.quincala.game import QuincalaGame, View
import msgspec

game, source = QuincalaGame(), Random(1)
options = game.parse_options({"sizes": 3})


def choose(view):
    state = game.imagine(options, msgspec.convert(view, View), Dealer(bytes(32)))
    return msgspec.to_builtins(source.choice(game.legal_moves(state)))


run(choose)
"""
LAYOUT = """
note = "As the one that comes with the game; the towers stand apart."
map = [
    "wwwww.wwwww", "wwwww.wwwww", "wwwww.wwwww", "wwwww.wwwww", "...........", "...........", "...........",
    "bbbbb.bbbbb", "bbbbb.bbbbb", "bbbbb.bbbbb", "bbbbb.bbbbb",
]
[start.3]
white = [[1, 1], [1, 6], [1, 11]]
black = [[11, 1], [11, 6], [11, 11]]
"""


def test_a_file_option_is_what_stands_in_the_file(tmp_path: Path) -> None:
    """The value of a file option is a path; all other options are values."""
    path = tmp_path / "any.toml"
    path.write_text('note = "here"\n[start.3]\nwhite = [[1, 2]]\n')
    expected = {"layout": {"note": "here", "start": {"3": {"white": [[1, 2]]}}}, "sizes": 3, "other": str(path)}
    assert expected == parse_options([f"layout={path}", "sizes=3", f"other={path}"], {"layout"})


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        (b"note = ", "is not TOML"),
        (b"\xff\xfe", "this is text in UTF-16"),
        (b'note = "\xe9"', "line 1, column 9: the byte 0xe9 is no UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, says: str) -> None:
    """A missing file, bad TOML and bytes that are not text are the user's mistakes: the error names option and file."""
    path = tmp_path / "any.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadRequest, match=says) as caught:
        parse_options([f"layout={path}"], {"layout"})
    assert "--option layout" in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="this is no file"):
        parse_options([f"layout={tmp_path}"], {"layout"})


def test_a_match_is_played_on_a_layout_of_ones_own(tmp_path: Path) -> None:
    """The record holds the content of the file, so that the audit needs no file."""
    (tmp_path / "own.toml").write_text(LAYOUT)
    (tmp_path / "player.py").write_text(PLAYER)
    player = f"cmd:{sys.executable} player.py"
    options = [part for pair in ("layout=own.toml", "sizes=3", "max_turns=6") for part in ("--option", pair)]
    done = referee("play", "quincala", player, player, *options, "--json", cwd=tmp_path)
    found = played(done)
    assert found["result"]["fouls"] == []
    assert found["moves"][0]["move"]["start"] in [[1, 1], [1, 6], [1, 11]]
    (tmp_path / "own.toml").unlink()
    referee("audit", found["record"], cwd=tmp_path)


def test_a_layout_that_no_game_can_be_played_on_is_refused(tmp_path: Path) -> None:
    """The content is checked before any program starts, and the error says what to fix."""
    (tmp_path / "own.toml").write_text(LAYOUT.replace("[11, 1]", "[12, 1]"))
    options = ("--option", "layout=own.toml", "--option", "sizes=3")
    done = referee("play", "quincala", "cmd:true", "cmd:true", *options, cwd=tmp_path, status=2)
    assert "row 12, column 1 is no dot" in " ".join(done.stderr.split())


def test_the_list_shows_that_an_option_is_a_file(tmp_path: Path) -> None:
    """The list of a game's options marks those that take a path."""
    assert "--option layout=FILE.toml" in referee("list", "quincala", cwd=tmp_path).stdout
