"""Every game, with its fewest and its most players, played by house players on sockets; every record holds."""

import json
from pathlib import Path

import pytest

from referee.plugins import load

from .calling import referee

OPTIONS = {"quadominos": ("--option", "rounds=1"), "quincala": ("--option", "max_turns=60")}
"""Options that shorten a long game."""
TABLES = [
    (name, count)
    for name, game in sorted(load().games.items())
    for count in sorted({*game.seats[:1], *game.seats[-1:]})
]


@pytest.mark.parametrize(("game", "seats"), TABLES, ids=[f"{game}-{seats}" for game, seats in TABLES])
def test_a_game_is_played_and_its_record_holds(tmp_path: Path, game: str, seats: int) -> None:
    """One greedy player and random ones: nobody fouls, all are ranked, and the audit agrees."""
    players = ["house:greedy", *["house:random"] * (seats - 1)]
    arguments = ("play", game, *players, *OPTIONS.get(game, ()), "--seed", "5", "--lot", "--json")
    found = json.loads(referee(*arguments, cwd=tmp_path).stdout)
    assert found["result"]["fouls"] == []
    assert sorted(seat for level in found["result"]["ranking"] for seat in level) == list(range(seats))
    assert len({*found["names"]}) == seats
    assert sorted(name.rstrip("0123456789") for name in found["names"]) == ["greedy", *["random"] * (seats - 1)]
    assert "1 record, 0 broken" in referee("audit", "logs", cwd=tmp_path).stdout
    teams = load().games[game].teams(load().games[game].parse_options({}), seats)
    for team in teams:
        ranks = [rank for rank, level in enumerate(found["result"]["ranking"]) if set(team) & set(level)]
        assert len(set(ranks)) == 1, "a team shares its rank"
