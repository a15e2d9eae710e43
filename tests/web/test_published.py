"""Public files, and the search by name: nothing else is found, and no more than a page holds."""

import re
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from referee.web.published import HEADS, MOST, Found, Searched, find_public_file, heads_path, search

from .sites import CARD, REPORT, TestSite

FILES = (
    *("cup.jsonl", "cup-1.jsonl", "cup-2.jsonl", "replays/cup-1.html", "report.html", "entrants/ada.html"),
    *("crosstable.html", "matches.html"),
    *("standings.csv", "matches.csv", "tournament.json", "cup-1.seat0.ada.stderr", "tournament.sqlite", ".lock"),
)
"""One match is over; the other is running, or its deal is still to be played from other seats."""
ALWAYS = {
    *("heads", "report.html", "crosstable.html", "matches.html", "entrants/ada.html", "replays/cup-1.html"),
    *("standings.csv", "cup-1.jsonl"),
}
AFTERWARDS = {"cup.jsonl", "matches.csv", "tournament.json"}
NEVER = (
    *("", "/", "..", "../secret.html", "entrants/../report.html", "entrants/../../secret.html", "entrants", "no.html"),
    *("report.html/", "./report.html", "report.html\n", "replays/.html", "entrants//ada.html", "linked.html"),
    *("entrants/linked.html", "/etc/passwd", "cup-2.jsonl/", "replays/cup-2.html"),
    *("heads/", "heads.jsonl", "cup.heads", "../cup.heads"),
)
ENTRANTS = [("ada", "ada"), ("Adam", "Adam"), ("no name", "entrant-2"), ("gone", "gone")]
MATCHES = [("cup-1", ["ada", "Adam"]), ("cup-2", ["ada", "no name"]), ("cup-10", ["gone", "ada"])]
"""cup-2 has no replay, as its deal is still to be played from other seats."""
HEAD = "5eed" * 16
PAGES = ("entrants/ada", "entrants/Adam", "entrants/entrant-2", "replays/cup-1", "replays/cup-10")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a tournament."""
    found = tmp_path / "cup"
    for name in FILES:
        (found / name).parent.mkdir(parents=True, exist_ok=True)
        (found / name).touch()
    (tmp_path / "secret.html").touch()
    heads_path(found).touch()
    for name in ("linked.html", "entrants/linked.html"):
        (found / name).symlink_to(tmp_path / "secret.html")
    return found


@pytest.mark.forges
@pytest.mark.parametrize("is_over", [False, True])
def test_what_everybody_may_have(folder: Path, *, is_over: bool) -> None:
    """It is not a file about a deal that is still to be played, or a file of the organiser."""
    had = {name for name in (HEADS, *FILES, *NEVER) if find_public_file(folder, name, is_over=is_over)}
    assert had == (ALWAYS | AFTERWARDS if is_over else ALWAYS)


@pytest.fixture
def cup(tmp_path: Path) -> Searched:
    """Return a tournament with a page for each of these entrants and matches."""
    for page in PAGES:
        path = tmp_path / "cup" / f"{page}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return Searched(name="cup", folder=tmp_path / "cup", head=HEAD, is_over=False, entrants=ENTRANTS, matches=MATCHES)


@pytest.mark.parametrize(
    ("query", "entrants", "matches"),
    [
        ("", [], []),
        ("  ", [], []),
        ("ada", ["ada", "Adam"], ["cup-1", "cup-10"]),
        ("ADAM", ["Adam"], ["cup-1"]),
        ("cup-1 gone", [], ["cup-10"]),
        ("cup-2", [], []),
        ("gone", [], ["cup-10"]),
        ("no name", ["no name"], []),
        ("..", [], []),
        ("x" * 10_000, [], []),
    ],
)
def test_what_is_found(cup: Searched, query: str, entrants: list[str], matches: list[str]) -> None:
    """All words are in the name, or in those of the players, in any case; a match without a page is not found."""
    found = search(query, [cup])
    assert [entrant.name for entrant in found.entrants] == entrants
    assert [match.match for match in found.matches] == matches
    assert found.heads == ({"cup": HEAD} if entrants or matches else {})
    addresses = [entrant.address for entrant in found.entrants] + [match.address for match in found.matches]
    assert all((cup.folder.parent / address.removeprefix("tournaments/")).is_file() for address in addresses)


@pytest.mark.parametrize("count", [MOST, MOST + 1])
def test_it_finds_so_many(cup: Searched, count: int) -> None:
    """The search says whether there are more, in all tournaments."""
    many = [msgspec.structs.replace(cup, entrants=[("ada", "ada")]) for _ in range(count)]
    found = search("ada", many)
    assert (len(found.entrants), found.is_all) == (MOST, False)
    alone = search("ada", [msgspec.structs.replace(entrant, matches=[]) for entrant in many])
    assert (len(alone.entrants), alone.is_all) == (MOST, count == MOST)


def test_the_page_shows_what_the_api_tells(contest: TestSite) -> None:
    """The page works without JavaScript, with a form that is sent by GET."""
    visitor = contest.visitor()
    assert '<form action="search" method="get"' in visitor.ask("GET", "/").body.decode()
    found = msgspec.json.decode(visitor.ask("GET", "/api/search?q=BOB+cup").body, type=Found)
    assert [match.match for match in found.matches] == ["cup-1"]
    page = visitor.ask("GET", "/search?q=BOB+cup").body.decode()
    assert f'<a href="{found.matches[0].address}">cup-1</a>' in page
    assert 'value="BOB cup"' in page
    assert "cup-2" not in page


@pytest.mark.parametrize("state", ["running", "over"])
def test_pages_lead_to_what_verifies_the_record_they_were_made_from(
    contest: TestSite, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """They do so once the tournament is over; before, its record is private."""
    is_over = state == "over"
    (contest.folder / "logs" / "cup" / "replays" / "verify.html").touch()
    address = "tournaments/cup/replays/verify.html#cup.jsonl="
    card = replace(CARD.tournaments[0], verifier=f"{address}{'5eed' * 16}" if is_over else None)
    monkeypatch.setattr("tests.web.sites.CARD", replace(CARD, tournaments=[card]))
    monkeypatch.setattr("tests.web.sites.REPORT", replace(REPORT, state=state))
    contest.searched[0] = replace(contest.searched[0], is_over=is_over)
    head = "5eed" * 16
    for path in ("/", "/search?q=bob"):
        page = contest.visitor().ask("GET", path).body.decode()
        assert f"up to its head <code>{head}</code>" in page
        found = [link for link in re.findall(r'href="([^"]*)"', page) if "verify" in link]
        assert (path, found) == (path, [f"{address}{head}"] if is_over else [])
