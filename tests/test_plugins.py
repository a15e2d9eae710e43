"""Plugins: installed ones are found, and a mistake in one is named."""

import json
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

from referee import hookimpl, plugins
from referee.app import services
from referee.hookspecs import HousePlayer, Later
from referee.observers import MatchTransition, Observer
from sample_players.python.search import BUDGET_S

from .net.in_memory import InMemoryMatch


def _make(*_match: Any) -> Any:
    return lambda view: view


class Extra:
    """A plugin with one house player."""

    def __init__(self, name: str) -> None:
        self._name = name

    @hookimpl
    def referee_house_players(self) -> Iterable[HousePlayer]:
        """Return the player."""
        return [HousePlayer(self._name, ("q",), _make, "A test's.")]


class Misspelt:
    """A plugin with a hook that does not exist."""

    @hookimpl
    def referee_hose_players(self) -> Iterable[HousePlayer]:
        """Return nothing: it is never called."""
        return []


def load_with(monkeypatch: pytest.MonkeyPatch, extra: object) -> plugins.Registry:
    """Load the plugins as if one more were installed."""
    module = ModuleType("extra_plugin")
    module.plugin = extra  # type: ignore[attr-defined]  # what a package's module has
    monkeypatch.setitem(sys.modules, "extra_plugin", module)
    return load_from(monkeypatch, "extra_plugin:plugin")


def load_from(monkeypatch: pytest.MonkeyPatch, value: str) -> plugins.Registry:
    """Load the plugins as if one more were installed, which is imported from this place."""
    installed = [*entry_points(group=plugins.GROUP), EntryPoint(name="extra", value=value, group=plugins.GROUP)]
    with monkeypatch.context() as patched:
        patched.setattr(plugins, "entry_points", lambda group: installed if group == plugins.GROUP else [])
        return plugins.load()


def test_the_built_in_ones_come_through_the_door(monkeypatch: pytest.MonkeyPatch) -> None:
    """The product's own games, house players and pairing formats are loaded as a plugin, too."""
    own = [entry for entry in entry_points(group=plugins.GROUP) if entry.dist and entry.dist.name == "bot-referee"]
    monkeypatch.setattr(plugins, "entry_points", lambda group: own)
    known = plugins.load()
    assert set(known.games) == {"q", "quincy", "quincala", "quadominos"}
    assert set(known.players) >= {"random", "dag", "ldasg", "greedy"}
    assert set(known.formats) >= {"roundrobin", "swiss", "knockout", "doubleelimination", "gauntlet", "ladder"}
    assert known.game("q").name == "q"
    assert known.format("swiss").name == "swiss"
    assert known.player("dag").games == ("q",)
    assert known.dialect("cs4500").game == "q"


def test_a_plugin_adds_a_player(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_with(monkeypatch, Extra("mine")).player("mine").summary == "A test's."


class Failing:
    """A plugin whose hook fails as the test wants it.

    Args:
        act: what the hook calls and returns.
    """

    def __init__(self, act: Any) -> None:
        self._act = act

    @hookimpl
    def referee_house_players(self) -> Any:
        """Call the function."""
        return self._act()


class Demanding:
    """A plugin whose hook has an argument that hooks don't have."""

    @hookimpl
    def referee_house_players(self, wanted: int) -> list[HousePlayer]:
        """Return nothing: it is never called."""
        return []


class Watching:
    """A plugin with observers: one that stores the events, and some that raise various exceptions."""

    kept: ClassVar[list[str]] = []

    class Keeper(Observer):
        """Stores the names of the events."""

        def note(self, event: str, /, **facts: Any) -> None:
            """Store the event's name."""
            Watching.kept.append(event)

    class Leaver(Observer):
        """Raises SystemExit."""

        def on_match_advanced(self, step: MatchTransition) -> None:
            """Try."""
            raise SystemExit(7)

    class Interrupter(Observer):
        """Raises KeyboardInterrupt."""

        def on_notice(self, text: str) -> None:
            """Try."""
            raise KeyboardInterrupt

    @staticmethod
    def unmakeable() -> Observer:
        """Fail."""
        raise OSError(28, "No space left on device")

    @hookimpl
    def referee_observers(self) -> list[Any]:
        """Return all these observers."""
        return [self.Leaver, self.Keeper, self.Interrupter, self.unmakeable]


def test_the_observers_of_a_plugin_watch_a_match(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each has a thread of its own. Failing ones are noted with a traceback, and the match is played."""
    registry = load_with(monkeypatch, Watching())
    monkeypatch.setattr(services, "installed", lambda: registry)
    Watching.kept.clear()
    with services.monitoring(services.RefereeOptions(diagnostics=tmp_path / "log")) as monitoring:
        match = InMemoryMatch(tmp_path, observers=monitoring.observers)
        monitoring.observers.notify(Observer.on_notice, "low disk")
        match.ready()
        monitoring.observers.note("listening")
        match.answer(0)
        match.answer(1)
        assert match.end().reason
    assert [event for event in Watching.kept if event != "observer-failed"] == ["listening"]
    failed = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines() if "observer-failed" in line]
    assert sorted(facts["observer"].rpartition(".")[2] for facts in failed) == ["Interrupter", "Leaver", "unmakeable"]
    assert all("Traceback" in facts["traceback"] for facts in failed)


@pytest.mark.parametrize(
    ("extra", "complaint"),
    [
        (Extra("dag"), "two plugins add a house player named 'dag'"),
        (Misspelt(), r"plugin 'extra': unknown hook 'referee_hose_players'; fix it, or uninstall it$"),
        (Demanding(), r"plugin 'extra': .*referee_house_players.*; fix it, or uninstall it$"),
        (Failing(lambda: 1 / 0), r"plugin 'extra': referee_house_players failed: ZeroDivisionError: division by zero;"),
        (Failing(lambda: None), r"plugin 'extra': referee_house_players failed: TypeError"),
        (Failing(lambda: (1 / 0 for _ in "a")), r"plugin 'extra': referee_house_players failed: ZeroDivisionError"),
        (Failing(lambda: ["me"]), r"plugin 'extra': .*an object of the class str, not HousePlayer; fix it"),
    ],
    ids=[
        "a name twice",
        "an unknown hook",
        "an unknown argument",
        "a hook that fails",
        "a hook that returns nothing",
        "a generator that fails",
        "something else",
    ],
)
def test_a_mistake_in_a_plugin_is_named(monkeypatch: pytest.MonkeyPatch, extra: object, complaint: str) -> None:
    """A name that is given twice and a misspelt hook are errors."""
    with pytest.raises(plugins.PluginError, match=complaint):
        load_with(monkeypatch, extra)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("from referee.games import no_such_name", "ImportError: cannot import name 'no_such_name'"),
        ("def broken(:", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("", "AttributeError"),
    ],
)
def test_a_plugin_that_can_not_be_imported_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str, why: str
) -> None:
    """The error says which package failed, and what to do."""
    (tmp_path / "broken_plugin.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_plugin", raising=False)
    with pytest.raises(plugins.PluginError, match=r"plugin 'extra': can't be imported.*uninstall it") as raised:
        load_from(monkeypatch, "broken_plugin:plugin")
    assert why in str(raised.value)


class AddingLater:
    """A plugin with one game that is imported later.

    Args:
        home: the place of the game, according to the plugin.
    """

    def __init__(self, home: str) -> None:
        self._home = home

    @hookimpl
    def referee_games(self) -> Iterable[Later]:
        """Return the game."""
        return [Later(self._home, "extra-game")]


def test_a_game_is_imported_when_it_is_looked_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only its name is known before."""
    (tmp_path / "late_game.py").write_text(
        "from referee.games.quincy.game import QuincyGame\nclass Late(QuincyGame):\n    name = 'extra-game'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    known = load_with(monkeypatch, AddingLater("late_game:Late"))
    assert "extra-game" in known.games
    assert "extra-game" in set(known.games)
    assert "late_game" not in sys.modules
    game = known.game("extra-game")
    assert (game.name, game.title) == ("extra-game", known.game("quincy").title)
    assert known.game("extra-game") is game
    monkeypatch.delitem(sys.modules, "late_game")


@pytest.mark.parametrize(
    ("home", "why"),
    [
        ("no_such_module:Game", "can't be imported from no_such_module:Game: ModuleNotFoundError"),
        ("referee.games.base:NoGame", "can't be imported from referee.games.base:NoGame: AttributeError"),
        ("builtins:dict", "TypeError: it adds an object of the class dict, not Game; fix it"),
        ("referee.games.q.game:QGame", "ValueError: it is named 'q', not 'extra-game'; fix it"),
    ],
)
def test_a_later_game_that_fails_is_named(monkeypatch: pytest.MonkeyPatch, home: str, why: str) -> None:
    """Only a command that needs the game fails."""
    known = load_with(monkeypatch, AddingLater(home))
    assert known.game("q").name == "q"
    with pytest.raises(plugins.PluginError, match=f"plugin 'extra': .*{why}"):
        known.game("extra-game")


def test_only_the_game_that_is_played_is_imported() -> None:
    """The other games, the house players and the pairing formats take time to import."""
    script = "import sys, referee.plugins as p; p.find_game('quincy'); print(*sys.modules, sep='\\n')"
    imported = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert "referee.games.quincy.game" in imported
    others = ("referee.games.q.", "sample_players.python.greedy", "referee.tournament.pairing.s")
    assert [module for module in imported if module.startswith(others)] == []


def test_search_tells_its_time() -> None:
    assert f"{BUDGET_S} s a move" in plugins.load().player("search").summary


def test_an_unknown_name_lists_the_known_ones() -> None:
    known = plugins.load()
    for find in (known.game, known.player, known.format, known.dialect):
        with pytest.raises(plugins.PluginError, match="there are: "):
            find("nobody")
