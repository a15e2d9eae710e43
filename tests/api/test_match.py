"""Matches that were played or read: their turns, positions, tables and pages."""

import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import referee
from referee.api.tables import COLUMNS
from tests.api.players import illegal, raising

GAMES = ("q", "quincy", "quincala", "quadominos")


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> referee.Match:
    """Return a match of three, one of whom breaks a rule in its first turn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        played = referee.play("q", ["house:dag", illegal, "house:greedy"], seed=5)
        assert played.path.exists()
    return played


@pytest.mark.parametrize("game", GAMES)
def test_turns_are_the_course_of_the_match(game: str) -> None:
    """Each turn begins where the last one ended, and its move leads from one position to the next."""
    match = referee.play(game, ["house:random", "house:greedy"], seed=2)
    assert len(match.positions) == len(match) + 1
    assert (*match,) == match.turns == match[:]
    assert match[-1] == match.turns[-1] in match
    for at, turn in enumerate(match):
        assert turn.before.seat == turn.seat
        assert turn.view == turn.before.view()
        assert turn.after.view(turn.seat) == match.positions[at + 1].view(turn.seat)
        assert turn.before.play(turn.move).view(turn.seat) == turn.after.view(turn.seat)
    assert match.positions[-1].is_over
    assert match.positions[-1].ranking == match.result.ranking
    assert match.positions[-1].scores == match.scores


@pytest.mark.parametrize("game", GAMES)
def test_what_is_imagined_is_seen_again(game: str) -> None:
    """A position imagined from a view shows that view again, and its legal moves are legal in the real position."""
    match = referee.play(game, ["house:random", "house:random"], seed=4)
    for turn in match.turns[:8]:
        imagined = referee.imagine(game, turn.view, seed=1)
        assert imagined.view() == turn.view
        assert {imagined} == {referee.imagine(game, turn.view, seed=1)}
        assert turn.before.play(turn.move) == turn.before.play(turn.move) != turn.before
        assert imagined.legal_moves() == turn.before.legal_moves() != []
        assert imagined.game in repr(imagined)


def test_a_position_refuses_what_it_can_not_do() -> None:
    """Positions raise errors of the API, and do not change."""
    position = referee.play("q", ["house:dag", "house:dag"], seed=5).positions[0]
    before = position.view()
    with pytest.raises(referee.IllegalMove):
        position.play(illegal(before))
    with pytest.raises(referee.MalformedMove):
        position.play("no move")
    with pytest.raises(referee.RefereeError, match="no seat 2"):
        position.view(2)
    with pytest.raises(referee.RefereeError, match="not a view of quincy"):
        referee.imagine("quincy", before)
    assert position.view() == before


def test_nothing_can_be_done_at_the_end() -> None:
    """When the game is over, no seat is to move."""
    last = referee.play("quincy", ["house:random", "house:greedy"], seed=5).positions[-1]
    assert (last.seat, last.legal_moves()) == (None, [])
    with pytest.raises(referee.RefereeError, match="no seat is to move"):
        last.view()
    with pytest.raises(referee.RefereeError, match="no move to play"):
        last.play("pass")


def test_an_illegal_move_is_a_turn(match: referee.Match) -> None:
    """The illegal move is listed as a turn, with the rule that it broke."""
    (turn,) = (turn for turn in match if turn.foul is not None)
    assert (turn.player, turn.move) == ("illegal", illegal(turn.view))
    assert [foul.rule for foul in match.fouls] == ["q.place.adjacent"]
    assert turn.foul == match.fouls[0]


def test_a_match_says_what_it_is(match: referee.Match) -> None:
    """As text, a match is its name, the winner, and the ranking with all fouls."""
    assert "greedy" in repr(match)
    assert repr(match[0]).startswith("<referee.Turn 1 of dag: ")
    assert str(match).splitlines()[-1] == "  3  illegal  0  expelled: illegal-move q.place.adjacent"
    assert f"{match.name}: greedy, then dag, then illegal (illegal move), " in str(match)
    assert str(match.positions[-1]).count("\n") > 4


def test_rows_have_their_columns(match: referee.Match) -> None:
    """Every table has one row for each thing of its kind, and the columns that are documented."""
    counts = {table: len(match.rows(table)) for table in COLUMNS}
    moves = len(match.turns)
    assert counts == {"matches": 3, "fouls": 1, "turns": moves, "times": moves + 3}
    for table, columns in COLUMNS.items():
        assert {tuple(row) for row in match.rows(table)} == {tuple(columns)}
    assert [row["is_legal"] for row in match.rows("turns")].count(False) == 1
    assert {row["player"]: row["rank"] for row in match.rows()} == {"greedy": 1, "dag": 2, "illegal": 3}
    with pytest.raises(referee.RefereeError, match="no table 'moves'"):
        match.rows("moves")


class Library:
    """Stand-in for a library of tables; it stores its arguments. `tests.api.libraries` tries the real ones."""

    @staticmethod
    def table(columns: dict[str, list[Any]], schema: Any = None) -> tuple[dict[str, list[Any]], Any]:
        """Return the columns and their types."""
        return columns, schema

    DataFrame = table
    schema = dict

    @staticmethod
    def Series(values: list[Any], dtype: str) -> list[Any]:  # the name that pandas uses
        """Return the values."""
        assert dtype in ("string", "Int64", "float64", "bool")
        return values


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow"])
def test_tables_are_those_of_what_is_installed(
    name: str, match: referee.Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each library gets whole columns with their types; if it is not installed, the error says what to install."""
    convert = getattr(match, f"to_{name.removeprefix('py')}")
    monkeypatch.setitem(sys.modules, name, Library)
    columns, schema = convert("fouls")
    assert columns["rule"] == ["q.place.adjacent"]
    assert list(columns) == list(COLUMNS["fouls"])
    assert list(schema or columns) == list(columns)
    assert list(convert()[0]) == list(COLUMNS["matches"])
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(referee.RefereeError, match=f"pip install {name}"):
        convert()


def test_a_notebook_shows_a_page_in_a_frame(match: referee.Match, tmp_path: Path) -> None:
    """A notebook shows the replay page in a frame, and positions as drawings."""
    page = match.replay(tmp_path / "match.html").read_text()
    shown = match._repr_html_()
    assert shown.startswith("<iframe ")
    assert "<script>" in page
    assert "<script>" not in shown
    drawing = match.positions[0]._repr_svg_()
    assert ">illegal</text>" in drawing
    assert ET.fromstring(drawing).tag.endswith("svg")  # a notebook shows this as a picture or not at all
    assert match.replay(tmp_path / "match.html").read_text() == page  # a cell may run twice


def test_a_record_is_written_once(match: referee.Match, tmp_path: Path) -> None:
    """A record is saved under its own name or another one, and never over a file."""
    assert match.save(tmp_path / "mine.jsonl") == tmp_path / "mine.jsonl"
    assert match.save(tmp_path) == tmp_path / f"{match.name}.jsonl"
    with pytest.raises(FileExistsError, match=f"File exists: '{tmp_path}/{match.name}.jsonl'"):
        match.save(tmp_path)


def test_the_temporary_record_goes_with_its_match() -> None:
    """The temporary file of a match is removed with the match."""
    played = referee.play("quincy", ["house:random", raising], seed=1)
    folder = played.path.parent
    assert folder.exists()
    del played
    assert not folder.exists()


@pytest.mark.forges
def test_a_damaged_record_does_not_load(match: referee.Match, tmp_path: Path) -> None:
    """If a record was changed, loading it fails with an error that names the line."""
    path = match.save(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"turn":2', b'"turn":3', 1))
    with pytest.raises(referee.RefereeError, match="line"):
        referee.load(path)


def test_a_match_that_goes_on_has_no_result(match: referee.Match, tmp_path: Path) -> None:
    """A match that is not over shows its turns so far, and no result."""
    whole = match.save(tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "half.jsonl").write_bytes(b"".join(whole[: len(whole) // 2]))
    half = referee.load(tmp_path / "half.jsonl")
    assert isinstance(half, referee.Match)
    assert not half.is_over
    assert "not finished" in str(half)
    assert half.rows() == []
    assert half.tracebacks == {}
    assert half
    assert [turn.move for turn in half] == [turn.move for turn in match][: len(half.turns)]
    with pytest.raises(referee.RefereeError, match="no result"):
        _ = half.result
