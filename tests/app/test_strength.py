"""How strong a player is told to be, by what a comparison says of its matches."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.app.strength import OPPONENTS, Strength, games_of, measure
from referee.errors import RefereeError
from referee.plugins import load


def _closed(ranking: list[list[int]], fouls: list[dict[str, Any]] | None = None, seat: int = 0) -> dict[str, Any]:
    """Return how a comparison tells of a match of 20 turns, in which ada sat on a seat and used 100 ms."""
    names = ["ada", "other"] if seat == 0 else ["other", "ada"]
    used_ms = [100.0, 7.0] if seat == 0 else [7.0, 100.0]
    told = {"names": names, "ranking": ranking, "fouls": fouls or [], "turns": 20, "used_ms": used_ms}
    return {"event": "match-closed", **told}


def _command(folder: Path, lines: list[dict[str, Any]], status: int) -> tuple[str, ...]:
    """Return a command that says this, whatever it is asked for."""
    script = folder / "says.py"
    text = "\n".join(map(json.dumps, lines))
    script.write_text(f"import sys\nprint({text!r})\nsys.stderr.write('no such thing')\nsys.exit({status})\n")
    return sys.executable, str(script)


END = {"b": "ada", "not_starting": {}}


@pytest.mark.parametrize(
    ("matches", "won", "drawn", "lost", "expelled"),
    [
        ([_closed([[0], [1]])], 1, 0, 0, 0),
        ([_closed([[0], [1]], seat=1)], 0, 0, 1, 0),
        ([_closed([[1], [0]], seat=1), _closed([[0, 1]])], 1, 1, 0, 0),
        ([_closed([[1]], [{"seat": 0}]), _closed([[0]], [{"seat": 1}])], 1, 0, 1, 1),
        ([_closed([], [{"seat": 0}, {"seat": 1}])], 0, 0, 1, 1),
    ],
)
def test_what_matches_say(
    matches: list[dict[str, Any]], won: int, drawn: int, lost: int, expelled: int, tmp_path: Path
) -> None:
    """Won is who alone is first; a turn took what it used by half of the turns."""
    command = _command(tmp_path, [{"event": "match-opened"}, *matches, END], 1)
    found = list(measure(command, "ada/", ["quincy"]))
    assert [strength.opponent for strength in found] == list(OPPONENTS)
    assert found[0] == Strength(
        game="quincy",
        opponent="house:random",
        won=won,
        drawn=drawn,
        lost=lost,
        expelled=expelled,
        turn_ms=10.0,
    )


@pytest.mark.parametrize(("lines", "status"), [([END], 1), ([_closed([[0], [1]]), END], 2), ([], 3)])
def test_what_was_not_played_is_told(lines: list[dict[str, Any]], status: int, tmp_path: Path) -> None:
    """Nobody is called weak for it."""
    with pytest.raises(RefereeError, match="played"):
        next(measure(_command(tmp_path, lines, status), "ada/", ["quincy"]))


def test_which_games_are_tried() -> None:
    """Those that are wanted, else those that it plays; nobody is tried against itself."""
    registry = load()
    assert games_of("house:random", ["quincy"], registry) == ["quincy"]
    assert games_of("house:dag", [], registry) == ["q"]
    assert {"q", "quincy", "quincala", "quadominos"} <= {*games_of("cmd:x", [], registry)}
    assert not list(measure(("false",), "house:random", []))
