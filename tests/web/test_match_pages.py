"""An author's match, explained on a page, for each course of a match."""

import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from msgspec.structs import replace

from referee.app.records.explain import view_as_seat
from referee.pages.explanation_page import list_answers
from referee.record.explain import Heard
from referee.record.folder import Printed
from referee.record.reader import read_record

from .sites import PAYLOAD, TestSite
from .test_hostile_texts import Page

GOLDEN = Path(__file__).parents[1] / "golden"
ENDS = ["illegal-move", "deadline", "bad-frame", "crashed", "clean"]


@pytest.mark.parametrize("name", ENDS)
def test_a_match_is_explained(contest: TestSite, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Every answer with its times, the foul in words, and all messages of a turn; no text of it is active."""
    path = GOLDEN / f"{name}.jsonl"
    result = read_record(path).result
    assert result is not None
    seat = result.result.fouls[0].seat if result.result.fouls else 0
    found = view_as_seat(path, seat).explain_seat()
    names = [PAYLOAD for _ in found.names]
    hostile = replace(found, names=names, printed=Printed(path="x", lines=(PAYLOAD, "/opt/host/a.py KeyError: 7")))
    asked = list[tuple[str, str, int | None]]()

    def _explained(author: str, match: str, seat: int | None) -> object:
        asked.append((author, match, seat))
        return hostile

    monkeypatch.setattr(contest.matches, "explain_match", _explained)
    ada = contest.signed_in("ada")
    shown = ada.ask("GET", f"/author/matches/cup/cup-1?seat={seat}").body.decode()
    assert asked == [("ada", "cup/cup-1", seat)]
    assert shown.count('<th scope="row" data-title="Turn">') == sum(
        isinstance(part, Heard) for part in found.conversation
    )
    assert ("a.py KeyError: 7" in shown, "/opt/host" in shown) == (True, False)
    assert ("Expelled in turn" in shown) == (found.verdict is not None)
    turn = ada.ask("GET", f"/author/matches/cup/cup-1?seat={seat}&turn=1").body.decode()
    for page in (shown, turn):
        assert (Page(page).alive, "<script>alert" in page, ".stderr" in page) == ([], False, False)
        assert f'<a href="../../../tournaments/cup/replays/verify.html#cup-1.jsonl={found.head}">' in page


def test_an_exit_stands_in_its_turn() -> None:
    """What has no turn of its own belongs to the one that the seat heard of last."""
    before = {"event": "ready-received", "content": {}}
    asked = {"command": "ask-move", "content": {"turn": 3}}
    exited = {"event": "program-exited", "content": {"status": "exit status 1"}}
    assert [row.turn for row in list_answers([before, asked, exited], str)] == [None, 3]


@pytest.mark.parametrize(
    ("name", "replay"),
    [
        ("cup/cup-1", "/tournaments/cup/replays/cup-1.html"),
        ("cup/cup-2", None),
        ("practice/ada/0012/practice-00001", "/author/practice/12/replay"),
        ("practice/bob/0012/practice-00001", None),
    ],
)
def test_an_explained_match_leads_to_its_replay(
    contest: TestSite, monkeypatch: pytest.MonkeyPatch, name: str, replay: str | None
) -> None:
    """It is the public replay, once it exists, or that of the author's own practice match."""
    found = view_as_seat(GOLDEN / "clean.jsonl", 0).explain_seat()
    monkeypatch.setattr(contest.matches, "explain_match", lambda *_: found)
    address = f"/author/matches/{name}?seat=0"
    shown = contest.signed_in("ada").ask("GET", address).body.decode()
    assert found.head in shown
    links = [urljoin(address, link) for link in re.findall(r'<a href="([^"]*)">Replay</a>', shown)]
    assert links == ([] if replay is None else [replay])


@pytest.mark.parametrize(("name", "status"), [("crashed", 303), ("clean", 409)])
def test_an_author_appeals_against_an_expulsion(
    contest: TestSite, monkeypatch: pytest.MonkeyPatch, name: str, status: int
) -> None:
    """This is possible where there was one; the organiser's answer is shown on the same page."""
    path = GOLDEN / f"{name}.jsonl"
    result = read_record(path).result
    assert result is not None
    seat = result.result.fouls[0].seat if result.result.fouls else 0
    monkeypatch.setattr(contest.matches, "explain_match", lambda *_: view_as_seat(path, seat).explain_seat())
    ada, place = contest.signed_in("ada"), "/author/matches/cup/cup-1"
    answer = ada.fill_in(place, "/author/appeal", match="cup/cup-1", text="the network was down")
    assert answer.status == status
    notices = contest.organisers.notices
    if status != 303:
        assert notices.appeals("cup") == []
        return
    assert b"The organiser has not answered it yet" in ada.ask("GET", place).body
    notices.record("ann", "replay", "cup-1 in cup", "so it was")
    assert b"replay, ruled by ann: so it was" in ada.ask("GET", place).body
    practice = ada.fill_in("/author", "/author/appeal", match="practice/ada/0001/cup-1", text="no")
    assert practice.status == 409
