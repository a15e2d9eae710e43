"""Evaluations: many matches in processes, and the strength that follows from them."""

import multiprocessing
from pathlib import Path
from typing import Any

import pytest

import referee
from tests.api.players import first, illegal, raising, stopped

CORES = pytest.mark.parametrize("processes", [1, 2])


@CORES
def test_a_better_player_is_found_to_be_better(processes: int) -> None:
    """The same matches are played and counted, with any number of processes."""
    found = referee.evaluate("quincy", ["house:greedy", "house:random"], pairs=10, seed=1, processes=processes)
    assert found.games == 20
    assert found.counts == (0, 0, 0, 0, 10)
    assert found.score.low > 0.5
    assert found.score.high == 1
    assert found.elo.low > 0
    assert str(found).startswith("greedy is better than random: 100 % of the points, above +")
    assert multiprocessing.active_children() == []


def test_each_deal_is_played_from_both_seats() -> None:
    """The two matches of a deal have the same deck, and the players change seats."""
    found = referee.evaluate("quincy", [first("quincy"), "house:greedy"], pairs=2, seed=3, processes=1)
    seats = [(row["match"][-3:], row["seat"], row["player"]) for row in found.rows()]
    assert seats[:4] == [("1.0", 0, "player1"), ("1.0", 1, "greedy"), ("1.1", 0, "greedy"), ("1.1", 1, "player1")]
    assert sum(count * points for points, count in enumerate(found.counts)) == sum(
        2 * (row["rank"] == 1) for row in found.rows() if row["player"] == "player1"
    )


def test_records_are_kept_where_that_is_asked_for(tmp_path: Path) -> None:
    """Every match leaves a record that holds, with the same deck for both matches of a deal."""
    found = referee.evaluate("quincy", ["house:greedy", "house:random"], pairs=2, seed=3, records=tmp_path)
    loaded = [referee.load(path) for path in sorted(tmp_path.glob("*.jsonl"))]
    assert len(loaded) == 4
    assert len(found.rows("times")) > len(found.rows("turns")) > 8
    decks = {match.record.header.seed for match in loaded if isinstance(match, referee.Match)}
    assert len(decks) == 2


def test_without_records_there_are_no_turns() -> None:
    """Asking for turns without records is an error that names the argument to set."""
    found = referee.evaluate("quincy", ["house:greedy", "house:greedy"], pairs=1)
    with pytest.raises(referee.RefereeError, match="records=FOLDER"):
        found.rows("turns")


def test_the_sequential_test_ends_it_early() -> None:
    """The test stops as soon as it has decided."""
    found = referee.evaluate("quincy", ["house:greedy", "house:random"], pairs=500, sprt=(0, 200), processes=2)
    assert found.test is not None
    assert found.test.verdict == "better"
    assert found.test.llr >= found.test.upper
    assert found.games < 1000
    assert "SPRT   better by 200 rather than 0 Elo" in str(found)


@CORES
def test_fouls_are_shown_and_counted(processes: int, capfd: pytest.CaptureFixture[str]) -> None:
    """A player that fails loses, and its author sees the first traceback, once."""
    found = referee.evaluate("q", [raising, illegal], pairs=6, processes=processes)
    assert sum(found.counts) == 6
    assert capfd.readouterr().err.count("LookupError: no idea") == 1
    assert "raising was expelled in 12 matches" in str(found)
    assert {row["cause"] for row in found.rows("fouls")} == {"crashed", "illegal-move"}


def test_the_user_can_stop_it() -> None:
    """Ctrl-C ends the evaluation; the next evaluation plays."""
    with pytest.raises(KeyboardInterrupt):
        referee.evaluate("q", [stopped, "house:dag"], pairs=2, processes=1)
    assert referee.evaluate("quincy", ["house:random", "house:greedy"], pairs=1, processes=1).games == 2


MISTAKES: list[tuple[list[Any], dict[str, Any], str]] = [
    (["house:dag"], {}, "takes two players"),
    (["house:dag", "house:dag"], {"pairs": 0}, "pairs is at least 1, not 0"),
    (["house:dag", "house:dag"], {"processes": 0}, "processes is at least 1, not 0"),
    (["house:dag", "house:dag"], {"seed": "x"}, "a seed is a whole number, not 'x'"),
    (["house:dag", "house:dag"], {"sprt": (20, 0)}, "sprt: elo0"),
    (["house:dag", "house:dag"], {"sprt": 20}, r"sprt is two numbers of Elo, as \(0, 20\), not 20"),
    (["house:dag", "house:dag"], {"options": {"bonus": 1}}, "options of q"),
]


@pytest.mark.parametrize(("players", "more", "told"), MISTAKES)
def test_a_mistake_is_told(players: list[Any], more: dict[str, Any], told: str) -> None:
    """Impossible arguments are refused before anything is played."""
    with pytest.raises(referee.RefereeError, match=told):
        referee.evaluate("q", players, **more)
