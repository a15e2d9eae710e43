"""How strong a player is told to be, by what a comparison says of its matches."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from referee.app import strength
from referee.app.strength import OPPONENTS, PART_S, TOTAL_S, Strength, Trial, games_of, measure
from referee.errors import RefereeError
from referee.plugins import load
from referee.programs.build import BUILDS


def _closed(ranking: list[list[int]], fouls: list[dict[str, Any]] | None = None, seat: int = 0) -> dict[str, Any]:
    """Return how a comparison tells of a match of 20 turns, in which ada sat on a seat and used 100 ms."""
    names = ["ada", "other"] if seat == 0 else ["other", "ada"]
    used_ms = [100.0, 7.0] if seat == 0 else [7.0, 100.0]
    told = {"names": names, "ranking": ranking, "fouls": fouls or [], "turns": 20, "used_ms": used_ms}
    return {"event": "match-closed", **told}


def _trial(folder: Path, lines: list[dict[str, Any]], status: int) -> Trial:
    """Return one by a command that says this, whatever it is asked for."""
    script = folder / "says.py"
    text = "\n".join(map(json.dumps, lines))
    script.write_text(f"import sys\nprint({text!r})\nsys.stderr.write('no such thing')\nsys.exit({status})\n")
    return Trial(command=(sys.executable, str(script)), player="ada/", logs=folder / "logs")


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
    trial = _trial(tmp_path, [{"event": "match-opened"}, *matches, END], 1)
    found = list(measure(trial, ["quincy"]))
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
        next(measure(_trial(tmp_path, lines, status), ["quincy"]))


def test_which_games_are_tried() -> None:
    """Those that are wanted, else those that it plays; nobody is tried against itself."""
    registry = load()
    assert games_of("house:random", ["quincy"], registry) == ["quincy"]
    assert games_of("house:dag", [], registry) == ["q"]
    assert {"q", "quincy", "quincala", "quadominos"} <= {*games_of("cmd:x", [], registry)}
    assert not list(measure(Trial(command=("false",), player="house:random", logs=Path()), []))


class LateProcess:
    """A comparison that is stopped after its time.

    Args:
        lines: that it says then.
        status: that it ends with.
        output: takes what it says.
    """

    def __init__(self, lines: list[dict[str, Any]], status: int, output: Any) -> None:
        self._said = "\n".join(map(json.dumps, lines)).encode()
        self._status = status
        self._output = output
        self._is_over = False

    def wait(self, _limit_s: float | None = None) -> int | None:
        """Return its exit status; None while it is not stopped."""
        return self._status if self._is_over else None

    def end(self, _grace_s: float) -> None:
        """Stop it."""
        self._output.write(self._said)
        self._is_over = True


@pytest.mark.parametrize(
    ("lines", "status", "played"), [([_closed([[0], [1]]), END], 1, 1), ([END], 1, 0), ([], -15, 0)]
)
def test_what_does_not_fit_is_stopped(
    lines: list[dict[str, Any]], status: int, played: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What was over by then is told, and how much was not; nobody fails for it."""
    (tmp_path / BUILDS).mkdir()
    for name in ("ada.built", "ada.lock"):
        (tmp_path / BUILDS / name).touch()

    def _start(argv: Sequence[str], *, output: Any, errors: Any) -> LateProcess:
        builds = Path(argv[argv.index("--logs") + 1]) / BUILDS
        assert [path.name for path in builds.iterdir()] == ["ada.built"], "nothing is built again"
        return LateProcess(lines, status, output)

    monkeypatch.setattr(strength, "OwnProcess", _start)
    (found,) = measure(Trial(command=(), player="house:random", logs=tmp_path), ["quincy"])
    assert (found.opponent, found.played, found.planned, found.limit_s) == ("house:greedy", played, 20, PART_S)


def test_games_share_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one does not use is left for those behind it, and no part has more than its most."""
    now_s, shares = 0.0, list[float]()

    def _part(_trial: Trial, game: str, opponent: str, _folder: Path, limit_s: float) -> Strength:
        nonlocal now_s
        shares.append(limit_s)
        now_s += limit_s if len(shares) < 3 else 0.0
        return Strength(game=game, opponent=opponent, won=0, drawn=0, lost=0, expelled=0, turn_ms=0)

    monkeypatch.setattr(strength, "_against", _part)
    trial = Trial(command=(), player="ada/", logs=tmp_path)
    games = ["q", "quincy", "quincala", "quadominos"]
    assert len(list(measure(trial, games, lambda: now_s))) == 2 * len(games)
    assert shares[:3] == [TOTAL_S / 8] * 3
    left_s = TOTAL_S * 6 / 8
    assert shares[3:] == [pytest.approx(left_s / 5), *[PART_S] * 4]
