"""The records of a tournament, read in Python."""

from pathlib import Path

import pytest

import referee
from tests.pages.tournaments import Stage, spec
from tests.record.tournaments import play_cup


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tournament that was really played."""
    made = tmp_path_factory.mktemp("tournament") / "cup"
    play_cup(made, 3)
    return made


def loaded(path: Path) -> referee.Tournament:
    """Return the tournament of a folder or record."""
    found = referee.load(path)
    assert isinstance(found, referee.Tournament)
    return found


def test_a_tournament_is_read_from_its_folder_or_its_record(folder: Path) -> None:
    """Standings, ratings and matches agree with the records."""
    cup = loaded(folder)
    assert repr(cup) == "<referee.Tournament cup: 7 entrants>"
    assert cup.is_over
    first = cup.standings[0]
    assert str(cup).splitlines()[0] == f"cup is over: {len(cup)} matches"
    assert str(cup).splitlines()[1].startswith(f"  1  {cup.entrants[first.entrant]}  {first.points:g}  rating 1")
    assert len(cup.standings) == len(cup.ratings) == len(cup.entrants) == 7
    assert sorted(match.name for match in cup) == [path.stem for path in sorted(folder.glob("cup-*.jsonl"))]
    assert loaded(folder / "cup.jsonl").entrants == cup.entrants
    assert cup
    assert [*cup] == [cup[number] for number in range(len(cup))] == cup[:]


def test_a_ladder_tells_the_rating_that_decides_its_places(tmp_path: Path, folder: Path) -> None:
    """The rating is given by entrant and in the standings; other formats have none."""
    Stage(spec(4, "ladder", format_options={"matches": 12}), tmp_path / "cup").play()
    cup = loaded(tmp_path / "cup")
    ratings = cup.ladder_ratings
    assert ratings is not None
    in_order = [ratings[row.entrant] for row in cup.standings]
    assert in_order == sorted(ratings, reverse=True)
    lines = str(cup).splitlines()[1:]
    assert all(f"ladder rating {rating:.1f}" in line for rating, line in zip(in_order, lines, strict=True))
    assert loaded(folder).ladder_ratings is None


def test_its_tables_are_those_of_its_matches(folder: Path) -> None:
    """A table of a tournament has the rows of all its matches."""
    cup = loaded(folder)
    for table in ("matches", "turns", "times"):
        assert cup.rows(table) == [row for match in cup for row in match.rows(table)]


def test_a_notebook_shows_standings_and_ratings(folder: Path) -> None:
    """The output has the standings and the ratings with their history, and no link to another page."""
    shown = loaded(folder)._repr_html_()
    for part in ("Standings", "Ratings", "Ratings over time"):
        assert f"&lt;h2&gt;{part}&lt;/h2&gt;" in shown
    assert "Crosstable" not in shown
    assert "&lt;a " not in shown.partition("&lt;main&gt;")[2]


@pytest.mark.forges
def test_an_audit_finds_what_does_not_hold(folder: Path) -> None:
    """The audit of a complete tournament holds, and fails if one record is missing."""
    cup = loaded(folder)
    cup.audit()
    first = next(iter(cup)).path
    text = first.read_bytes()
    first.unlink()
    with pytest.raises(referee.RefereeError, match="referee audit"):
        cup.audit()
    first.write_bytes(text)


def test_a_folder_without_a_tournament_is_told(tmp_path: Path) -> None:
    """A folder without a tournament, or a path that does not exist, raises an error of the API."""
    with pytest.raises(referee.RefereeError, match="holds no tournament"):
        referee.load(tmp_path)
    with pytest.raises(referee.RefereeError, match="nowhere"):
        referee.load(tmp_path / "nowhere.jsonl")
