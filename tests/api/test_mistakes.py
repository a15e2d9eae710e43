"""Wrong arguments from Python: each mistake gets a sentence that names it, and no error from inside the product."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import referee
from referee.errors import BadMove

anything = cast("Any", referee)
"""The API without its types, as a program may use it that no type checker reads."""
HOUSE = ["house:random", "house:random"]


class Player:
    """A class that is passed where an object is expected."""

    def choose(self, view: Any) -> Any:
        """Return a legal move."""
        return referee.imagine("quincy", view).legal_moves()[0]


class CalledPlayer(Player):
    """A class whose objects can be called."""

    def __call__(self, view: Any) -> Any:
        """Return a legal move."""
        return self.choose(view)


@pytest.fixture(scope="module")
def match() -> referee.Match:
    """Return a match."""
    return referee.play("quincy", HOUSE, seed=1)


PLAYS: dict[str, tuple[Callable[[], Any], str]] = {
    "per_move_s": (lambda: anything.play("quincy", HOUSE, per_move_s="6"), "per_move_s is a number, not '6'"),
    "per_move_s None": (lambda: anything.play("quincy", HOUSE, per_move_s=None), "per_move_s is a number, not None"),
    "per_move_s too large": (
        lambda: referee.play("quincy", HOUSE, per_move_s=10**400),
        "per_move_s is a number, not 1",
    ),
    "game": (lambda: anything.play(3, HOUSE), "game is text, such as 'quincy', not 3"),
    "list as game": (lambda: anything.play(["q"], HOUSE), r"game is text, such as 'quincy', not \['q'\]"),
    "no players": (lambda: anything.play("quincy", None), "players is a list of one for each seat, not None"),
    "function as players": (
        lambda: anything.play("quincy", print),
        "players is a list .* of the type builtin_",
    ),
    "set of players": (lambda: anything.play("quincy", set(HOUSE)), "players is a list of one for each seat, not {"),
    "class as player": (lambda: anything.play("quincy", [Player, Player]), r"Player is a class, .*Player\(\)\.METHOD"),
    "class with a call": (
        lambda: anything.play("quincy", [CalledPlayer] * 2),
        r"class, .* give CalledPlayer\(\)$",
    ),
    "object as player": (lambda: anything.play("quincy", [Player()] * 2), "not an object of the type Player"),
    "seed": (lambda: anything.play("quincy", HOUSE, seed="1"), "a seed is a whole number, not '1'"),
    "options": (lambda: anything.play("quincy", HOUSE, options=3), "options is a dict, .*, not 3"),
    "options of letters": (lambda: anything.play("quincy", HOUSE, options="x"), "options is a dict, .*, not 'x'"),
    "names": (lambda: anything.play("quincy", HOUSE, names=3), "names is a list with a name for each .*, not 3"),
    "names of numbers": (lambda: anything.play("quincy", HOUSE, names=[1, 2]), "the name 1 must be 1 to 20"),
    "text as names": (lambda: referee.play("quincy", HOUSE, names="ab"), "names is a list with a name .*, not 'ab'"),
    "pairs": (lambda: anything.evaluate("quincy", HOUSE, pairs="3"), "pairs is a whole number, not '3'"),
    "half a pair": (lambda: anything.evaluate("quincy", HOUSE, pairs=1.5), r"pairs is a whole number, not 1\.5"),
    "processes": (lambda: anything.evaluate("quincy", HOUSE, processes=1.5), r"processes is a whole number, not 1\.5"),
    "sprt of three": (lambda: anything.evaluate("quincy", HOUSE, sprt=(1, 2, 3)), r"sprt is two numbers of Elo"),
    "sprt of text": (lambda: anything.evaluate("quincy", HOUSE, sprt=("a", "b")), "each number of sprt is a number"),
    "sprt too large": (lambda: referee.evaluate("quincy", HOUSE, sprt=(0, 10**400)), "each number of sprt is a number"),
    "records": (lambda: anything.evaluate("quincy", HOUSE, records=3), "records is a path, .*, not 3"),
    "records in a file": (
        lambda: referee.evaluate("quincy", HOUSE, records=f"{__file__}/x"),
        "can't write .*: Not a directory; give another path",
    ),
    "evaluate of nothing": (lambda: anything.evaluate("quincy", None), "players is a list of two, .*, not None"),
    "load": (lambda: anything.load(3), "path is a path, as text or as a pathlib.Path, not 3"),
    "load of bytes": (lambda: anything.load(b"x"), "path is a path, .*, not b'x'"),
    "load of nothing": (lambda: referee.load(""), "path is an empty path"),
    "load of a null character": (lambda: referee.load("a\0b"), "path has a null character"),
    "load of a long name": (lambda: referee.load("x" * 5000), "can't read x+: File name too long"),
    "tournament": (lambda: anything.Tournament(3), "folder is a path, .*, not 3"),
    "imagine": (lambda: anything.imagine(3, {}), "game is text, such as 'quincy', not 3"),
    "imagine's seed": (lambda: anything.imagine("quincy", {}, seed=[1]), r"seed is a whole number, not \[1\]"),
}


@pytest.mark.parametrize(("ask", "error"), PLAYS.values(), ids=PLAYS)
def test_a_wrong_argument_gets_a_sentence(ask: Callable[[], Any], error: str) -> None:
    """The error is a RefereeError that names the argument and says what it should be."""
    with pytest.raises(referee.RefereeError, match=error):
        ask()


def test_wrong_arguments_of_a_match_get_a_sentence(match: referee.Match) -> None:
    """Methods of a match check their arguments, too, and accept NumPy's numbers."""
    asked = cast("Any", match)
    position = asked.positions[0]
    mistakes: list[tuple[Callable[[], Any], str]] = [
        (lambda: position.view("0"), "seat is a whole number, not '0'"),
        (lambda: position.view(1.0), r"seat is a whole number, not 1\.0"),
        (lambda: asked.rows(["turns"]), r"there is no table \['turns'\]; there are matches"),
        (lambda: asked.save(3), "path is a path, .*, not 3"),
        (lambda: asked.save("a\0b"), "path has a null character"),
        (lambda: asked.replay(["x"]), r"html is a path, .*, not \['x'\]"),
    ]
    for ask, error in mistakes:
        with pytest.raises(referee.RefereeError, match=error):
            ask()
    assert position.view(np.int64(1)) == position.view(1)


def test_an_index_that_is_not_there_gets_a_sentence(match: referee.Match) -> None:
    """The error is an IndexError, like Python's own, and says how many items there are."""
    last = len(match) - 1
    with pytest.raises(IndexError, match=f"there are {last + 2} positions, numbered from 0 to {last + 1}; .* 1000"):
        match.positions[1000]
    for turns in (match, match.turns):
        with pytest.raises(IndexError, match=f"there are {last + 1} turns, numbered from 0 to {last}; .* -1000"):
            turns[-1000]
        with pytest.raises(TypeError, match="turns are chosen by a whole number or a slice, not by 'a'"):
            cast("Any", turns)["a"]
    assert match.positions[np.int64(0)] == match.positions[0]
    assert match.turns[:2] == tuple(match)[:2]
    with pytest.raises(TypeError, match=r"a match comes from referee\.play or referee\.load, not from 'x'"):
        anything.Match("x")


def test_files_that_cannot_be_written_get_a_sentence(match: referee.Match, tmp_path: Path) -> None:
    """The error is a RefereeError and also the OSError that Python's own functions raise."""
    saved = match.save(tmp_path / "one.jsonl")
    for kind in (referee.RefereeError, FileExistsError):
        with pytest.raises(kind, match=r"File exists: .*one\.jsonl'; give another path, or remove it first") as told:
            match.save(saved)
        assert "Errno" not in str(told.value)
    for wider in (referee.RefereeError, OSError):
        with pytest.raises(wider, match=r"File exists|can't write .*; give another path"):
            match.save(saved / "two.jsonl")


def test_moves_that_are_refused_are_errors_of_the_referee(match: referee.Match) -> None:
    """`except referee.RefereeError` catches all errors that the reference lists together."""
    position = match.positions[0]
    move = position.legal_moves()[0]
    after = position.play(move)
    for refused, wrong, kind in ((after, move, referee.IllegalMove), (position, "x", referee.MalformedMove)):
        with pytest.raises(referee.RefereeError) as told:
            refused.play(wrong)
        assert isinstance(told.value, kind)
        assert isinstance(told.value, BadMove)


def test_what_is_taken_is_still_taken() -> None:
    """Lists of any kind, functions, callable objects, methods and NumPy's numbers are accepted."""
    bots = {"a": Player().choose, "b": CalledPlayer()}
    played = anything.play("quincy", bots.values(), per_move_s=np.float64(60), seed=np.int64(3), names=iter("ab"))
    assert (played.players, played.fouls) == (("a", "b"), ())
    result = anything.evaluate("quincy", iter(HOUSE), pairs=np.int64(1), processes=1, progress=False)
    assert result.games == 2
