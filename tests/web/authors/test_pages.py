"""An author's pages about versions and matches, in a browser without scripts."""

from collections.abc import Sequence

import msgspec
import pytest

from referee.check.checking import all_steps
from referee.plugins import installed
from referee.web.routes import make_site
from referee.web.sessions import Person, SiteRole
from referee.web.submissions.archive import MAX_PACKED_BYTES
from referee.web.submissions.store import CheckOutcome

from ..sites import NOW, Answer, Browser, TestSite
from ..submissions.receptions import TOML, archive

TROUBLE = {
    "happened": "it sent 'no'",
    "expected": "a move",
    "remedy": "send one",
    "asked": [{"length": 3, "hex": "00 00 01", "decoded": "<b>ask</b>"}],
    "received": {"length": 2, "hex": "6e 6f", "decoded": "no"},
    "printed": "Traceback\nKeyError: 7\n",
}
REPORT = {"steps": [{"number": 1, "title": "it moves", "verdict": "failed", "trouble": TROUBLE}]}


def hand_in(browser: Browser, data: bytes, token: str = "", name: str = "../a") -> Answer:
    """Send an archive as a browser does."""
    return send(browser, [("archive", name, data), ("folder", "", b"")], token)


def send(browser: Browser, files: Sequence[tuple[str, str, bytes]], token: str = "") -> Answer:
    """Send the form with files: the field, the name and the content of each."""
    page = browser.ask("GET", "/author").body.decode()
    token = token or page.partition('name="form_token" value="')[2].partition('"')[0]
    body = f'--x\r\nContent-Disposition: form-data; name="form_token"\r\n\r\n{token}\r\n'.encode()
    for field, name, data in files:
        head = f'--x\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'
        body += head.encode() + data + b"\r\n"
    return browser.ask("POST", "/author/hand-in", body + b"--x--\r\n", content_type="multipart/form-data; boundary=x")


def test_a_program_is_handed_in_mended_and_chosen(contest: TestSite) -> None:
    """The page of a version shows the result of its check; an author can go back to an older one."""
    ada = contest.signed_in("ada")
    assert hand_in(ada, archive(note="first")).headers["location"] == "/author/versions/1"
    assert b"Waits for its check" in ada.ask("GET", "/author/versions/1").body
    contest.store.conclude("ada", 1, CheckOutcome(passed=False, report=REPORT), NOW)
    page = ada.ask("GET", "/author/versions/1").body.decode()
    for text in (
        "Failed its check",
        "it sent &#39;no&#39;",
        "send one",
        "6e 6f",
        "&lt;b&gt;ask&lt;/b&gt;",
        "KeyError: 7",
    ):
        assert text in page
    for number, note in ((2, "second"), (3, "third")):
        hand_in(ada, archive(note=note))
        contest.store.conclude("ada", number, CheckOutcome(passed=True, report=REPORT), NOW)
    page = ada.ask("GET", "/author/versions/3").body.decode()
    assert ("What happens next" in page, 'href="../../author/queue">The queue</a>' in page) == (True, True)
    before = contest.checks.stamp("ada")
    assert ada.fill_in("/author/versions/2", "/author/versions/2/play").headers["location"] == "/author"
    assert contest.checks.stamp("ada") != before  # the author's other pages get an event
    assert contest.store.present("ada") == 2
    refused = ada.fill_in("/author", "/author/versions/1/play")
    assert (refused.status, b"has not passed its check" in refused.body) == (409, True)
    assert [event for event, _ in contest.noted] == ["version-handed-in"] * 3 + ["version-chosen"]


def test_what_matters_of_a_check_comes_first(contest: TestSite) -> None:
    """Steps that went well are folded: the failure of one, or what happens next, is on the first screen."""
    ada, steps = contest.signed_in("ada"), REPORT["steps"]
    passed = [{"number": number, "title": "it waits", "verdict": "ok"} for number in range(2, 60)]
    for number, (is_good, report) in enumerate([(False, passed + steps), (True, passed)], 1):
        hand_in(ada, archive(note=str(number)))
        contest.store.conclude("ada", number, CheckOutcome(passed=is_good, report={"steps": report}), NOW)
    failed, good = (ada.ask("GET", f"/author/versions/{number}").body.decode() for number in (1, 2))
    for page in (failed, good):
        folded = page.partition("<details><summary>Steps that it passed: 58</summary>")[2].partition("</details>")[0]
        assert page.count("it waits") == folded.count("it waits") == 58
    assert 0 < failed.index("send one") < failed.index("Steps that it passed")


@pytest.mark.parametrize(
    ("data", "status", "text"),
    [
        (b"PK", 422, "the archive is cut off"),
        (b"", 422, "the archive is cut off"),
        (bytes(MAX_PACKED_BYTES + 1), 422, "over 16 MiB"),
        (bytes(MAX_PACKED_BYTES + 100_000), 413, "Request Entity Too Large"),
    ],
    ids=["no archive", "nothing", "too large", "far too large"],
)
def test_what_is_no_archive_is_refused(contest: TestSite, data: bytes, status: int, text: str) -> None:
    """The page says why, and nothing is kept."""
    answer = hand_in(contest.signed_in("ada"), data)
    assert (answer.status, text in answer.body.decode()) == (status, True)
    assert contest.store.versions("ada") == []


def test_a_lone_file_gets_what_makes_a_player_of_it(contest: TestSite) -> None:
    """This works for languages without a build; other files are refused, with a remedy."""
    ada = contest.signed_in("ada")
    refused = send(ada, [("archive", "bot.rs", b"fn main() {}\n")])
    assert (refused.status, b"referee new rust bot" in refused.body) == (422, True)
    assert send(ada, [("archive", "my bot.py", b"print()\n")]).headers["location"] == "/author/versions/1"
    folder = contest.store.player_folder("ada", 1)
    assert (folder / "player.toml").read_text() == 'name = "mybot"\nrun = "python3 player.py"\n'
    assert (folder / "player.py").read_bytes() == b"print()\n"


def test_single_files_are_handed_in_together(contest: TestSite) -> None:
    """They count as one folder; without a player.toml they are refused."""
    ada = contest.signed_in("ada")
    refused = send(ada, [("archive", "run.sh", b"#!/bin/sh\n"), ("archive", "a.py", b"a = 1\n")])
    assert (refused.status, b"player.toml" in refused.body) == (422, True)
    files = [("archive", "player.toml", TOML), ("archive", "run.sh", b"#!/bin/sh\n"), ("archive", "a.py", b"a = 1\n")]
    assert send(ada, files).headers["location"] == "/author/versions/1"
    names = {path.name for path in contest.store.player_folder("ada", 1).iterdir()}
    assert names == {"player.toml", "run.sh", "a.py"}


def test_the_page_names_the_step_that_is_tried(contest: TestSite) -> None:
    """It also has the number of steps."""
    ada = contest.signed_in("ada")
    hand_in(ada, archive())
    count = len(all_steps(tuple(installed().games)))
    assert b'<p role="status">Step' not in ada.ask("GET", "/author/versions/1").body
    contest.checks.current = ("ada", 1)
    page = ada.ask("GET", "/author/versions/1").body.decode()
    assert f'<p role="status">Step 1 of {count}: ' in page
    contest.checks.current = None


def test_a_version_is_downloaded_as_it_was_handed_in(contest: TestSite) -> None:
    """Only its author can download it."""
    ada = contest.signed_in("ada")
    hand_in(ada, archive())
    answer = ada.ask("GET", "/author/versions/1/archive")
    assert (answer.status, answer.body) == (200, archive())
    assert answer.headers["content-disposition"] == 'attachment; filename="ada-1.tar.gz"'
    program = contest.program("ada").ask("GET", "/submissions/1/archive")
    assert (program.status, program.body) == (200, archive())
    assert contest.signed_in("bob").ask("GET", "/author/versions/1/archive").status == 404


def test_an_author_names_a_mailbox(contest: TestSite) -> None:
    """It does so on a page of its own, if the contest sends mail; an invalid address is refused."""
    ada = contest.signed_in("ada")
    assert ada.fill_in("/author", "/author/mail", address="ada@example.org").status == 303
    assert b'value="ada@example.org"' in ada.ask("GET", "/author").body
    refused = ada.fill_in("/author", "/author/mail", address="nowhere")
    assert (refused.status, b"not a mail address" in refused.body) == (409, True)
    assert b"ada@example.org" not in contest.signed_in("bob").ask("GET", "/author").body


def test_a_folder_is_handed_in(contest: TestSite) -> None:
    """A browser sends its files, the folder's name first. Files that `referee submit` leaves out are left out."""
    ada = contest.signed_in("ada")
    files = {
        "mine/player.toml": TOML,
        "mine/run.sh": b"#!/bin/sh\n",
        "mine/lib/a.py": b"a = 1\n",
        "mine/big.log": b"x",
        "mine/.refereeignore": b"*.log\n",
        "mine/.DS_Store": b"\0",
        **{f"mine/.git/objects/{number}": b"" for number in range(2100)},
    }
    sent = [("archive", "", b""), *(("folder", name, data) for name, data in files.items())]
    assert send(ada, sent).headers["location"] == "/author/versions/1"
    player = contest.store.player_folder("ada", 1)
    found = {path.relative_to(player).as_posix(): path.stat().st_mode & 0o100 for path in player.rglob("*.*")}
    assert found == {"player.toml": 0, "run.sh": 0o100, "lib/a.py": 0, ".refereeignore": 0}


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ([("archive", "", b""), ("folder", "", b"")], "nothing was chosen"),
        ([("archive", "a.zip", b"PK"), ("folder", "a/player.toml", b"")], "both files and a folder were chosen"),
        ([("folder", "../player.toml", TOML)], "../player.toml leads out"),
        ([("folder", "a/player.toml", TOML), ("folder", "a/player.toml", TOML)], "is in the archive twice"),
        ([("folder", "a/main.py", b"")], "no file player.toml at the top"),
        ([("archive", "my bot", b"print()")], "cp &#39;my bot&#39; mybot/player\n"),
    ],
    ids=["nothing", "both", "outside", "twice", "no manifest", "lone file"],
)
def test_what_was_chosen_wrongly_is_told(contest: TestSite, files: list[tuple[str, str, bytes]], text: str) -> None:
    """The page says what was wrong, and nothing is kept."""
    answer = send(contest.signed_in("ada"), files)
    assert (answer.status, text in answer.body.decode()) == (422, True)
    assert contest.store.versions("ada") == []


def test_an_author_hands_in_through_a_proxy(contest: TestSite) -> None:
    """The proxy speaks TLS; the upload belongs to the session before its first byte comes."""
    ada = Browser(make_site(contest.content, contest.members, contest.clock, is_behind_proxy=True))
    ada.headers = {"x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1"}
    ada.sign_in(contest.tokens["ada"])
    assert "__Host-session" in ada.cookies
    assert hand_in(ada, archive()).headers["location"] == "/author/versions/1"


def test_nobody_hands_in_for_another(contest: TestSite) -> None:
    """It is impossible with another author's form, or without one. Without a session, an upload is dropped."""
    other = contest.signed_in("bob").ask("GET", "/author").body.decode()
    token = other.partition('name="form_token" value="')[2].partition('"')[0]
    assert hand_in(contest.signed_in("ada"), archive(), token).status == 403
    assert hand_in(contest.visitor(), archive()).status == 401
    assert contest.store.versions("ada") == []


def test_an_author_is_told_of_its_own_changes_only(contest: TestSite) -> None:
    """The events say only that something has changed."""
    ada, bob = contest.signed_in("ada").stream("/author/events"), contest.signed_in("bob").stream("/author/events")
    before = bob.value()
    first = ada.value()
    contest.checks.note_change("ada")
    contest.clock.pump([0.5, 0.5, 0.5])
    assert ada.value().removeprefix(first) == b"data: " + msgspec.json.encode((1, 0)) + b"\n\n"
    assert bob.value() == before
    contest.members.streams.close(Person(SiteRole.AUTHOR, "ada"))
    assert (ada.disconnected, bob.disconnected) == (True, False)
