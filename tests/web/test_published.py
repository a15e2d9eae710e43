"""Which files of a tournament everybody may have, from one table."""

from pathlib import Path

import pytest

from referee.web.published import HEADS, find_published, heads_of

FILES = (
    *("cup.jsonl", "cup-1.jsonl", "cup-2.jsonl", "replays/cup-1.html", "report.html", "entrants/ada.html"),
    *("standings.csv", "matches.csv", "tournament.json", "cup-1.seat0.ada.stderr", "tournament.sqlite", ".lock"),
)
"""One match is over, and the other is played, or its deal is still to be played from other seats."""
ALWAYS = {"heads", "report.html", "entrants/ada.html", "replays/cup-1.html", "standings.csv", "cup-1.jsonl"}
AFTERWARDS = {"cup.jsonl", "matches.csv", "tournament.json"}
NEVER = (
    *("", "/", "..", "../secret.html", "entrants/../report.html", "entrants/../../secret.html", "entrants", "no.html"),
    *("report.html/", "./report.html", "report.html\n", "replays/.html", "entrants//ada.html", "linked.html"),
    *("entrants/linked.html", "/etc/passwd", "cup-2.jsonl/", "replays/cup-2.html"),
    *("heads/", "heads.jsonl", "cup.heads", "../cup.heads"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a tournament."""
    found = tmp_path / "cup"
    for name in FILES:
        (found / name).parent.mkdir(parents=True, exist_ok=True)
        (found / name).touch()
    (tmp_path / "secret.html").touch()
    heads_of(found).touch()
    for name in ("linked.html", "entrants/linked.html"):
        (found / name).symlink_to(tmp_path / "secret.html")
    return found


@pytest.mark.forges
@pytest.mark.parametrize("is_over", [False, True])
def test_what_everybody_may_have(folder: Path, *, is_over: bool) -> None:
    """Neither what tells of a deal that is still to be played, nor what is the organiser's own."""
    had = {name for name in (HEADS, *FILES, *NEVER) if find_published(folder, name, is_over=is_over)}
    assert had == (ALWAYS | AFTERWARDS if is_over else ALWAYS)
