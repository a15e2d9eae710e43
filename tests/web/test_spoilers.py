"""Who asks for no results sees none before opening them, and is led to no page that shows one."""

import re
from collections.abc import Sequence

import msgspec
import pytest
from msgspec.structs import replace

from referee.web.reported import ReportedMatch

from .sites import CARD, PAYLOAD, REPORT, TestSite


def links(text: str) -> list[str]:
    """Return where a page leads."""
    return re.findall(r'href="([^"]*)"', text)


def match(number: int, round_: int, entrants: Sequence[int], names: Sequence[str]) -> ReportedMatch:
    """Return a match that its first seat has won by 99."""
    plain = {
        "fixture": {"match": f"cup-{number}", "round": round_, "table": "final", "entrants": entrants},
        "names": names,
        "void": None,
        "ranking": [[0], [1]],
        "scores": [99, 0],
        "fouls": [],
        "reason": "q.end.finished",
        "turns": 9,
        "used_ms": [1, 1],
        "head": "5eed",
        "result": f"{names[0]} beat {names[1]}; 99 : 0",
        "counts": True,
    }
    return msgspec.convert(plain, ReportedMatch)


def test_the_first_page_and_a_search_hide_results(contest: TestSite) -> None:
    """On the first page they can be opened, and who plays now, which tells who won before."""
    visitor = contest.visitor()
    plain, hidden = (visitor.ask("GET", path).body.decode() for path in ("/", "/?spoilers=no"))
    closed = re.sub(r"<details>.*?</details>", "", hidden, flags=re.DOTALL)
    for result in ("2½", "cup-4", "cup-1"):
        assert result in plain
        assert result in hidden
        assert result not in closed
    assert '<a href="?spoilers=no">Hide results</a>' in plain
    assert "tournaments/cup/report.html?spoilers=no" in links(hidden)
    assert "tournaments/cup/report.html" not in links(hidden)
    found = visitor.ask("GET", "/search?spoilers=no&q=b").body.decode()
    assert links(found) == [
        "./?spoilers=no",
        "tournaments/cup/entrants/bob.html?spoilers=no",
        "tournaments/cup/replays/cup-1.html?spoilers=no",
    ]
    assert "cup-1</a></li>" in found, "who met whom in a later round has won the one before"
    assert '<input type="hidden" name="spoilers" value="no">' in found


@pytest.mark.parametrize(
    ("path", "top", "shown"),
    [("report.html", "../../", [1, 2, 3]), ("entrants/bob.html", "../../../", [1, 3])],
)
def test_pages_of_a_tournament_hide_results(
    contest: TestSite, monkeypatch: pytest.MonkeyPatch, path: str, top: str, shown: Sequence[int]
) -> None:
    """They lead to replays round by round, where there are any; only the first round is open."""
    entrants = [msgspec.convert({"name": name}, type(REPORT.spec.entrants[0])) for name in ("bob", PAYLOAD, "eve")]
    played = [
        match(3, 2, [0, 2], ["bob", "eve"]),
        match(1, 1, [0, 1], ["bob", PAYLOAD]),
        match(2, 1, [2, 1], ["eve", "e"]),
    ]
    report = replace(REPORT, spec=replace(REPORT.spec, entrants=entrants), entries=played)
    monkeypatch.setattr("tests.web.sites.REPORT", report)
    visitor = contest.visitor()
    hidden = visitor.ask("GET", f"/tournaments/cup/{path}?spoilers=no").body.decode()
    assert re.findall(r">(?:<a [^>]*>)?(cup-\d)", hidden) == [f"cup-{number}" for number in shown]
    replay = f"{top}tournaments/cup/replays/cup-1.html?spoilers=no"
    assert links(hidden) == [f"{top}?spoilers=no", f"{top}tournaments/cup/report.html", replay]
    assert [part.startswith(" open>") for part in hidden.split('<details class="panel"')[1:]] == [True, False]
    assert "99" not in hidden
    assert "<script>alert" not in hidden


@pytest.mark.parametrize("state", ["running", "over"])
def test_pages_lead_to_what_verifies_the_record_they_were_made_from(
    contest: TestSite, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """Once the tournament is over; before, its record is for nobody."""
    is_over = state == "over"
    (contest.folder / "logs" / "cup" / "replays" / "verify.html").touch()
    address = "tournaments/cup/replays/verify.html#cup.jsonl="
    card = replace(CARD.tournaments[0], verifier=f"{address}{'5eed' * 16}" if is_over else None)
    monkeypatch.setattr("tests.web.sites.CARD", replace(CARD, tournaments=[card]))
    monkeypatch.setattr("tests.web.sites.REPORT", replace(REPORT, state=state))
    contest.searched[0] = replace(contest.searched[0], is_over=is_over)
    pages = {
        "/?spoilers=no": "5eed" * 16,
        "/search?q=bob": "5eed" * 16,
        "/tournaments/cup/report.html?spoilers=no": "5eed",
        "/tournaments/cup/entrants/bob.html?spoilers=no": "5eed",
    }
    for path, head in pages.items():
        page = contest.visitor().ask("GET", path).body.decode()
        assert f"up to its head <code>{head}</code>" in page
        found = [link.removeprefix("../" * (path.count("/") - 1)) for link in links(page) if "verify" in link]
        assert (path, found) == (path, [f"{address}{head}"] if is_over else [])


def test_without_a_report_nothing_is_shown_in_its_place(contest: TestSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Least of all the page with the results."""
    monkeypatch.setattr("tests.web.sites.REPORT", None)
    assert contest.visitor().ask("GET", "/tournaments/cup/report.html?spoilers=no").status == 404


def test_a_replay_hides_its_result_before_its_script_runs(contest: TestSite) -> None:
    """Nothing of it is painted first; whoever does not ask gets the file as it is."""
    replay = contest.folder / "logs" / "cup" / "replays" / "cup-1.html"
    replay.write_text('<body>\n<a href="../report.html">cup</a><body>')
    hidden = contest.visitor().ask("GET", "/tournaments/cup/replays/cup-1.html?spoilers=no")
    assert hidden.body == b'<body class="no-spoilers">\n<a href="../report.html?spoilers=no">cup</a><body>'
    none = contest.visitor().ask("GET", "/tournaments/cup/replays/cup-9.html?spoilers=no")
    assert none.status == 404


@pytest.mark.parametrize("path", ["standings.csv", "heads"])
def test_what_is_no_page_is_sent_as_it_is(contest: TestSite, path: str) -> None:
    """Whoever asks for a table of results has asked for results."""
    (contest.folder / "logs" / "cup.heads").write_text("content")
    answers = [contest.visitor().ask("HEAD", f"/tournaments/cup/{path}{query}") for query in ("", "?spoilers=no")]
    assert answers[0].headers["content-length"] == answers[1].headers["content-length"] == "7"
