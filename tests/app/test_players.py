"""Names of players for which the user gave no name."""

import re
from pathlib import Path

import pytest

from protocol.limits import MAX_NAME_CHARS
from referee.app.players import BadPlayer, distinct, find_players

LONG = "x" * (MAX_NAME_CHARS - 1)


@pytest.mark.parametrize(
    ("names", "given", "found"),
    [
        (["a", "b"], (), ["a", "b"]),
        (["a", "a"], (), ["a1", "a2"]),
        (["a", "a", "a1"], (), ["a2", "a3", "a1"]),
        (["a1", "a", "a"], (), ["a1", "a2", "a3"]),
        (["a", "a", "a1", "a1"], (), ["a2", "a3", "a11", "a12"]),
        ([f"{LONG}y", f"{LONG}y", f"{LONG}z", f"{LONG}z"], (), [f"{LONG}{number}" for number in range(1, 5)]),
        (["a", "a", "a1"], (1, 2), ["a2", "a", "a1"]),
    ],
)
def test_names_differ(names: list[str], given: tuple[int, ...], found: list[str]) -> None:
    """An added number never makes a name that exists or is too long; given names stay."""
    assert distinct(names, given) == found
    assert len(set(found)) == len(found)


def test_three_players_of_whom_two_share_a_name(tmp_path: Path) -> None:
    """Folders whose players call themselves a, a and a1 play under three names."""
    for folder, name in (("one", "a"), ("two", "a"), ("three", "a1")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "player.toml").write_text(f'name = "{name}"\nrun = "true"\n')
    players = [str(tmp_path / folder) for folder in ("one", "two", "three")]
    assert [launch.name for launch in find_players("q", players)] == ["a2", "a3", "a1"]


@pytest.mark.parametrize(
    ("players", "names"),
    [
        (["house:greedy", "me:greedy", "house:greedy"], ["greedy1", "greedy", "greedy2"]),
        (["me:greedy", "me:greedy"], ["greedy1", "greedy2"]),
    ],
)
def test_a_person_keeps_its_name(players: list[str], names: list[str]) -> None:
    """In any seat, because its page has that name."""
    assert [launch.name for launch in find_players("quadominos", players, may_be_persons=True)] == names


@pytest.mark.parametrize(
    ("players", "told"),
    [
        (["house:gredy", "house:dag"], "there is no house player 'gredy'; did you mean \"house:greedy\"?"),
        (["greedy", "house:dag"], "there is no folder 'greedy'; did you mean \"house:greedy\"?"),
        (["my_playr", "house:dag"], "there is no folder 'my_playr'; did you mean \"my_player\"?"),
        (["house:dag", "sh", "x y.sh"], "if this is one player's command, write cmd:'sh '\"'\"'x y.sh'\"'\"''"),
        (["my_player", "house:dag"], "quiet plays quincy, not q"),
        (["cmd:", "house:dag"], "cmd: needs a command"),
    ],
)
def test_what_was_probably_meant_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, players: list[str], told: str
) -> None:
    """The error about an unknown player suggests the right spelling."""
    (tmp_path / "my_player").mkdir()
    (tmp_path / "my_player" / "player.toml").write_text('name = "quiet"\nrun = "true"\ngames = ["quincy"]\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadPlayer, match=re.escape(told)):
        find_players("q", players)
