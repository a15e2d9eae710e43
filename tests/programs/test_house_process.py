"""The program of a house player, with a stand-in for its connection."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from referee.plugins import load
from referee.programs import house_process


def test_each_match_of_one_start_has_chance_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first match uses the seed itself, so a program that is started again plays the same."""
    seeds: list[bytes] = []
    player = SimpleNamespace(name="random", make=lambda _game, _options, seed: seeds.append(seed))

    def play(make: Callable[[Any], Any], **_more: Any) -> None:
        for _ in range(3):
            make(SimpleNamespace(game="q", options={}))

    monkeypatch.setenv("REFEREE_PLAYER_SEED", "5e" * 32)
    monkeypatch.setattr(house_process, "run", play)
    registry = load()
    monkeypatch.setattr(
        house_process, "installed", lambda: SimpleNamespace(game=registry.game, player=lambda _name: player)
    )
    assert house_process.main(["random"]) == house_process.main(["random"]) == 0
    assert (seeds[0], len(set(seeds)), seeds[:3]) == (b"\x5e" * 32, 3, seeds[3:])
