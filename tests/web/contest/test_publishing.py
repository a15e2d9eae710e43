"""A tournament on the first page of a contest."""

from collections.abc import Sequence
from pathlib import Path
from typing import get_origin

import msgspec
import pytest
from msgspec.structs import fields

from referee.pages.tournament_json import VERSION, TournamentReport
from referee.plugins import load
from referee.web.contest.contest_file import read_contest, write_example
from referee.web.contest.publishing import SHOWN, Published

from ..sites import SPEC

MATCH = {
    "names": ["ada", "bob", "eve"],
    "void": None,
    "ranking": [[1], [0, 2]],
    "scores": [4, 28, 4],
    "fouls": [],
    "reason": "q.end",
    "turns": 9,
    "used_ms": [1, 1, 1],
    "head": "5eed",
    "result": "bob, then ada and eve; 28 : 4 : 4",
    "counts": True,
}


def entry(number: int, **changed: object) -> dict[str, object]:
    """Return a match in a report's form."""
    place = {"match": f"cup-{number}", "number": number + 1, "round": 1, "table": "", "leg": 0, "attempt": 0}
    return {"fixture": {**place, "entrants": [0, 1, 2]}, **MATCH, **changed}


@pytest.mark.parametrize(
    ("changed", "disregarded", "result"),
    [
        ({}, {}, "bob, then ada and eve; 28 : 4 : 4"),
        ({}, {"cup-9": "given to ada"}, "does not count: given to ada"),
        ({"head": ""}, {"cup-9": "given to ada"}, "bob, then ada and eve; 28 : 4 : 4"),
    ],
)
def test_last_results_are_told(
    tmp_path: Path, changed: dict[str, object], disregarded: dict[str, str], result: str
) -> None:
    """The latest comes first. Each has its replay if there is one, and the effect of a ruling."""
    write_example(tmp_path)
    (scheduled, _) = read_contest(tmp_path, load()).tournaments
    folder = scheduled.plan.run_settings.folder
    (folder / "replays").mkdir(parents=True)
    for page in ("cup-9", "verify"):
        (folder / "replays" / f"{page}.html").touch()
    report = {
        "version": VERSION,
        "spec": {**SPEC, "entrants": []},
        "head": "5eed",
        "order": "points",
        "state": "running",
        "played": 1,
        "void": 0,
        "disregarded": disregarded,
        "fairness": None,
        **{field.name: () for field in fields(TournamentReport) if get_origin(field.type) is Sequence},
        "entries": [entry(number) for number in range(9)] + [entry(9, **changed)],
    }
    (folder / "tournament.json").write_bytes(msgspec.json.encode(report))
    published = Published(folder)
    published.read()
    last = published.card(scheduled, "is running", 1, (), None).last
    assert [match.match for match in last] == ["cup-9", "cup-8", "cup-7"]
    assert len(last) == SHOWN
    address = None if "head" in changed else "tournaments/cup/replays/cup-9.html"  # a ruling's result has no replay
    assert (last[0].result, last[0].address) == (result, address)
    assert last[1].address is None
    assert [published.card(scheduled, "", played, (), None).played for played in (0, 2)] == [1, 2]
    assert published.card(scheduled, "", 1, (), None).verifier is None, "its record is for nobody yet"
    (folder / "tournament.json").write_bytes(msgspec.json.encode({**report, "state": "over"}))
    published.read()
    assert published.is_over
    verifier = published.card(scheduled, "", 1, (), None).verifier
    assert verifier == "tournaments/cup/replays/verify.html#cup.jsonl=5eed"
    published.seen = 7
    assert not published.is_over, "something has happened since"
