"""The value that decides the places is shown in all standings, and named in a sentence."""

import json
from pathlib import Path

import pytest

from referee.cli.tournament_view import plain_standings, standings_table
from referee.plugins import load
from referee.web.contest.contest_file import read_contest, write_example
from referee.web.contest.publishing import Published

from ..cli.calling import referee
from .reports import page as page_of
from .reports import report, rows, section
from .tournaments import Stage, spec

ORDERS = {
    "ladder": ("ladder's rating decides", {"matches": 40}),
    "roundrobin": ("Points decide the places", {}),
    "swiss": ("Points decide the places", {"rounds": 3}),
    "knockout": ("winner comes first", {}),
    "doubleelimination": ("winner comes first", {}),
}


@pytest.mark.parametrize("name", ORDERS)
def test_every_format_says_what_its_order_is(tmp_path: Path, name: str) -> None:
    """It is on the page, in tournament.json and on the terminal; a ladder's column falls from first to last."""
    words, options = ORDERS[name]
    stage = Stage(spec(6, name, format_options=options), tmp_path / "cup").play()
    summary = report(stage).summary
    told = json.loads((stage.folder / "tournament.json").read_text())
    assert words in told["order"]
    shown = section(page_of(stage), "standings")
    assert told["order"] in shown
    table = standings_table(summary)
    assert words in referee("report", str(stage.folder)).stdout
    titles = [str(column.header) for column in table.columns]
    is_ladder = name == "ladder"
    assert ("ladder rating" in titles, "ladder rating" in shown) == (is_ladder, is_ladder)
    assert ("ladder_rating" in rows(stage, "standings")[0]) == is_ladder
    if is_ladder:
        columns = [
            [line["ladder_rating"] for line in told["standings"]],
            [float(row["ladder_rating"]) for row in rows(stage, "standings")],
            [line["ladder_rating"] for line in plain_standings(stage.tournament)],
            [float(str(cell)) for cell in table.columns[titles.index("ladder rating")].cells],
        ]
        assert columns[0] == sorted(columns[0], reverse=True)
        assert len(set(columns[0])) > 1
        assert columns == [columns[0]] * 4


def test_the_first_page_shows_what_leads_in_a_ladder(tmp_path: Path) -> None:
    """Its rating comes before its points."""
    stage = Stage(spec(6, "ladder", format_options={"matches": 40}), tmp_path / "cup").play()
    report(stage)
    write_example(tmp_path / "contest")
    (scheduled, _) = read_contest(tmp_path / "contest", load()).tournaments
    published = Published(stage.folder)
    published.read()
    leaders = published.card(scheduled, "", 1, (), None).leaders
    ratings = [float(leader.rating or "nan") for leader in leaders]
    assert ratings == sorted(ratings, reverse=True)
