"""The strength of a player, computed from the matches of a comparison."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

from referee.app.comparison import compare_pairs
from referee.cli import strength
from referee.cli.strength import OPPONENTS, PART_S, TOTAL_S, Strength, Trial, find_games, measure
from referee.errors import RefereeError
from referee.plugins import load
from referee.programs.build import BUILDS


def _closed(ranking: list[list[int]], fouls: list[dict[str, Any]] | None = None, seat: int = 0) -> dict[str, Any]:
    """Return a comparison's line about a match of 20 turns, in which ada sat on a seat and used 100 ms."""
    names = ["ada", "other"] if seat == 0 else ["other", "ada"]
    used_ms = [100.0, 7.0] if seat == 0 else [7.0, 100.0]
    told = {"names": names, "ranking": ranking, "fouls": fouls or [], "turns": 20, "used_ms": used_ms}
    return {"event": "match-closed", **told}


def _trial(folder: Path, lines: list[dict[str, Any]], status: int) -> Trial:
    """Return a trial with a command that prints these lines, whatever its arguments are."""
    script = folder / "says.py"
    text = "\n".join(map(json.dumps, lines))
    script.write_text(f"import sys\nprint({text!r})\nsys.stderr.write('no such thing')\nsys.exit({status})\n")
    return Trial(command=(sys.executable, str(script)), player="ada/", logs=folder / "logs")


NOTHING = {"a": "other", "b": "ada", "outcomes_of_b": [], "not_starting": {}}
END: dict[str, Any] = {"a": "other", "b": "ada", "outcomes_of_b": [0, 0, 1, 0, 3], "not_starting": {}}


@pytest.mark.parametrize(
    ("matches", "expelled"),
    [
        ([_closed([[0], [1]])], 0),
        ([_closed([[0], [1]], seat=1)], 0),
        ([_closed([[1]], [{"seat": 0}]), _closed([[0]], [{"seat": 1}])], 1),
        ([_closed([], [{"seat": 0}, {"seat": 1}])], 1),
    ],
)
def test_what_matches_say(matches: list[dict[str, Any]], expelled: int, tmp_path: Path) -> None:
    """The result has the comparison's interval; a player's time for a turn is its time divided by half of the turns."""
    trial = _trial(tmp_path, [{"event": "match-opened"}, *matches, END], 1)
    strengths = list(measure(trial, ["quincy"]))
    assert [strength.opponent for strength in strengths] == list(OPPONENTS)
    assert strengths[0] == Strength(
        game="quincy",
        opponent="house:random",
        **asdict(compare_pairs("other", "ada", END["outcomes_of_b"])),
        expelled=expelled,
        turn_ms=10.0,
    )
    assert (strengths[0].verdict, strengths[0].matches, strengths[0].score) == ("better", 8, 0.875)


@pytest.mark.parametrize(("lines", "status"), [([END], 1), ([_closed([[0], [1]]), END], 2), ([], 3)])
def test_what_was_not_played_is_told(lines: list[dict[str, Any]], status: int, tmp_path: Path) -> None:
    """Missing matches do not make a player weak."""
    with pytest.raises(RefereeError, match="played"):
        next(measure(_trial(tmp_path, lines, status), ["quincy"]))


def test_which_games_are_played() -> None:
    """These are the wanted games, or all that the player plays; nobody plays against itself."""
    registry = load()
    assert find_games("house:random", ["quincy"], registry) == ["quincy"]
    assert find_games("house:dag", [], registry) == ["q"]
    assert {"q", "quincy", "quincala", "quadominos"} <= {*find_games("cmd:x", [], registry)}
    assert not list(measure(Trial(command=("false",), player="house:random", logs=Path()), []))


class LateProcess:
    """A comparison that is stopped after its time.

    Args:
        lines: that it prints when it is stopped.
        status: its exit status.
        output: file that takes the lines.
    """

    def __init__(self, lines: list[dict[str, Any]], status: int, output: Any) -> None:
        self._said = "\n".join(map(json.dumps, lines)).encode()
        self._status = status
        self._output = output
        self._is_over = False

    def wait(self, _limit_s: float | None = None) -> int | None:
        """Return its exit status; None until it is stopped."""
        return self._status if self._is_over else None

    def end(self, _grace_s: float) -> None:
        """Stop the process."""
        self._output.write(self._said)
        self._is_over = True


@pytest.mark.parametrize(
    ("lines", "status", "matches"), [([_closed([[0], [1]]), END], 1, 8), ([NOTHING], 1, 0), ([], -15, 0)]
)
def test_what_does_not_fit_is_stopped(
    lines: list[dict[str, Any]], status: int, matches: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The matches so far count, and the missing ones are counted; nobody fails for them."""
    (tmp_path / BUILDS).mkdir()
    for name in ("ada.built", "ada.lock"):
        (tmp_path / BUILDS / name).touch()

    def _start(argv: Sequence[str], *, output: Any, errors: Any) -> LateProcess:
        builds = Path(argv[argv.index("--logs") + 1]) / BUILDS
        assert [path.name for path in builds.iterdir()] == ["ada.built"], "nothing is built again"
        return LateProcess(lines, status, output)

    monkeypatch.setattr(strength, "OwnProcess", _start)
    (late,) = measure(Trial(command=(), player="house:random", logs=tmp_path), ["quincy"])
    assert (late.opponent, late.matches, late.planned, late.limit_s) == ("house:greedy", matches, 20, PART_S)


def test_games_share_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time that one game does not use is left for the next ones, and no part exceeds its limit."""
    now_s, shares = 0.0, list[float]()

    def _part(_trial: Trial, game: str, opponent: str, _folder: Path, limit_s: float) -> Strength:
        nonlocal now_s
        shares.append(limit_s)
        now_s += limit_s if len(shares) < 3 else 0.0
        result = asdict(compare_pairs(opponent, "ada", ()))
        return Strength(**result, game=game, opponent=opponent, expelled=0, turn_ms=0)

    monkeypatch.setattr(strength, "play_games", _part)
    trial = Trial(command=(), player="ada/", logs=tmp_path)
    games = ["q", "quincy", "quincala", "quadominos"]
    assert len(list(measure(trial, games, lambda: now_s))) == 2 * len(games)
    assert shares[:3] == [TOTAL_S / 8] * 3
    left_s = TOTAL_S * 6 / 8
    assert shares[3:] == [pytest.approx(left_s / 5), *[PART_S] * 4]
