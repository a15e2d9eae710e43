"""The docstring examples of `import referee` and `referee.learning` run, and each public name has one."""

import doctest
import importlib
import inspect
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

import referee
import referee.learning
from referee.chance import Dealer
from referee.plugins import find_game
from tests.record.tournaments import play_cup

MODULES = (
    "referee.api.evaluating",
    "referee.api.match",
    "referee.api.paths",
    "referee.api.playing",
    "referee.api.position",
    "referee.api.position",
    "referee.games.notation",
    "referee.api.tables",
    "referee.api.tournament",
    "referee.app.comparison",
    "referee.learning",
    "referee.learning.base",
    "referee.learning.episode",
    "referee.learning.gymnasium",
    "referee.learning.pettingzoo",
    "referee.learning.policy",
)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PLAYERS = ("house:greedy", "house:random")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the names that every example may use: a match, an evaluation, a tournament, a folder."""
    folder = tmp_path_factory.mktemp("examples")
    play_cup(folder / "cup", 3)
    return {
        "referee": referee,
        "folder": folder,
        "match": referee.play("quincy", PLAYERS, seed=7),
        "position": referee.start("quincy", seed=7),
        "evaluation": referee.evaluate("quincy", PLAYERS, pairs=5, seed=1, processes=1, progress=False),
        "cup_folder": folder / "cup",
        "cup": referee.load(folder / "cup"),
        "dealer": Dealer(bytes(32)),
        "as_view": partial(msgspec.convert, type=find_game("quincy").view_type),
    }


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name: str, names: dict[str, Any], tmp_path: Path) -> None:
    """Each example prints what it says."""
    module = importlib.import_module(name)
    own = {**names, "folder": tmp_path}
    assert doctest.testmod(module, extraglobs=own, optionflags=OPTIONS).failed == 0


def public_members() -> Iterator[tuple[str, Any]]:
    """Yield the functions of the API, and those methods and properties of its classes that are written in Python."""
    for name in referee.__all__:
        value = getattr(referee, name)
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value) and value.__module__.startswith("referee.api."):
            yield name, value
            yield from (
                (f"{name}.{key}", member)
                for key, member in inspect.getmembers(value)
                if not key.startswith("_") and (inspect.isfunction(member) or hasattr(member, "__get__"))
                if member.__doc__ and not inspect.ismemberdescriptor(member)
            )


def test_everything_public_has_an_example() -> None:
    """Each function, method and property has an example."""
    assert [name for name, member in public_members() if ">>>" not in (inspect.getdoc(member) or "")] == []
