"""A contest takes programs over HTTP: two authors, hostile requests, interrupted checks, stored versions."""

import hashlib
import json
import os
import select
import signal
from pathlib import Path

import pytest

from referee.net.links.tokens import add_tokens
from referee.programs.environment import CHECK_VARIABLE
from referee.programs.processes import find_marked
from referee.web.contest.intake import AUTHORS
from referee.web.submissions.archive import MAX_PACKED_BYTES, ArchiveEntry, pack

from .receptions import TOML, Reception, archive, receiving

NOBODYS = "0" * 64


def test_two_authors_and_their_versions(service: Reception) -> None:
    """A version that passes plays; one that fails is stored and does not. Nobody sees another author's."""
    first, failed = service.hand_in("ada", archive()), service.hand_in("ada", archive("fail"))
    assert (first["number"], first["state"], failed["number"], failed["state"]) == (1, "passed", 2, "failed")
    assert first["sha256"] == hashlib.sha256(archive()).hexdigest()
    assert failed["failed_steps"] == ["7 it greets"]
    assert failed["report"]["steps"][0]["trouble"]["happened"] == "nothing came from player"
    assert failed["report"]["steps"][0]["trouble"]["remedy"] == "python3 runs it", "no folder of the organiser's"
    assert str(service.folder) not in json.dumps(failed)
    present = service.folder / "ada"
    assert present.resolve() == service.folder / ".versions/ada/0001/player"
    assert sorted(path.name for path in present.iterdir()) == ["does", "note", "player.toml"]
    assert service.ask("ada", "/submissions", archive("fail", "again"))[0] == 202
    service.hears("author ada, version 3")
    assert [version["number"] for version in service.ask("ada", "/submissions")[1]["submissions"]] == [1, 2, 3]
    _check_privacy(service)
    assert not (service.folder / "bob").exists()


def test_an_author_goes_back_to_an_older_version(service: Reception) -> None:
    """An author can go back only to its own versions that passed."""
    for note in ("a", "b"):
        service.hand_in("hal", archive(note=note))
    service.hand_in("hal", archive("fail"))
    assert service.ask("hal", "/submissions")[1]["present"] == 2
    assert service.ask("hal", "/submissions/1/present", b"")[1]["present"] == 1
    assert (service.ask("hal", "/submissions/1")[1]["plays"], (service.folder / "hal/note").read_text()) == (True, "a")
    answers = [("3", 409), ("4", 404), ("x", 404), ("1/x", 404)]
    assert [(path, service.ask("hal", f"/submissions/{path}/present", b"")[0]) for path, _ in answers] == answers
    assert service.ask("bob", "/submissions/1/present", b"")[0] == 404


def _check_privacy(service: Reception) -> None:
    """Try every address with every token: ada's pages do not exist for bob, and are refused to others."""
    nothing = service.ask("bob", "/submissions/7")
    assert nothing[0] == 404
    for path in (
        "/submissions/1",
        "/submissions/2",
        "/matches/m",
        "/matches/m/record",
        "/matches/m/printed",
        "/submissions/1/x",
        "/matches/x/y",
    ):
        assert service.ask("bob", path) == nothing
    assert service.ask("bob", "/submissions") == (200, {"submissions": [], "present": None})
    assert service.ask("bob", "/matches") == (200, {"matches": []})
    for method in ("POST", "DELETE", "PATCH"):
        answer = service.ask("ada", "/submissions/1", b"", method)
        assert (answer[0], answer[1]["error"]) == (405, "method not allowed")
        assert service.ask("bob", "/submissions/1", b"", method) == answer
    for path in (
        "/submissions",
        "/submissions/1",
        "/matches",
        "/matches/m",
        "/matches/m/record",
        "/matches/m/printed",
        "/matches/x/y",
    ):
        refused = [service.ask(token, path) for token in (None, NOBODYS, service.tokens["ada"][:-1], "eve", "")]
        assert [status for status, _ in refused] == [401] * 5
        assert all("Authorization: Bearer" in answer["remedy"] for _, answer in refused)
    assert service.ask(NOBODYS, "/submissions", archive())[0] == 401


BAD = {
    "no archive": (b"\xff\0", 422, "this is not an archive"),
    "begun": (b"PK", 422, "cut off"),
    "lone file": (b"print()", 422, "is a single file"),
    "no manifest": (pack([ArchiveEntry(path="player.toml", data=TOML)])[:-4], 422, "cut off"),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Return a reception that several tests share."""
    with receiving(tmp_path_factory.mktemp("service"), "tcp:0:interface=127.0.0.1", "5") as found:
        yield found


@pytest.mark.parametrize(("data", "status", "error"), BAD.values(), ids=BAD)
def test_bad_archives_are_explained(service: Reception, data: bytes, status: int, error: str) -> None:
    """An archive that can't be unpacked is refused with the reason and the remedy, and leaves nothing."""
    found, answer = service.ask("bob", "/submissions", data)
    assert (found, error in answer["error"], bool(answer["remedy"])) == (status, True, True)
    assert service.ask("bob", "/submissions") == (200, {"submissions": [], "present": None})
    assert [path.name for path in (service.folder / ".versions").rglob(".partial*")] == []


WRONG = {
    "no token": ("PUT /submissions HTTP/1.1\r\nContent-Length: 5\r\n{close}\r\nhello", 401),
    "two tokens": ("GET /matches HTTP/1.1\r\n{ada}{bob}{close}\r\n", 401),
    "basic": ("GET /submissions HTTP/1.1\r\nAuthorization: Basic {token}\r\n{close}\r\n", 401),
    "oversize": ("PUT /submissions HTTP/1.1\r\n{ada}Content-Length: {over}\r\nHost: x\r\n\r\n", 413),
    "oversize elsewhere": ("GET /matches HTTP/1.1\r\n{ada}Content-Length: {over}\r\nHost: x\r\n\r\n", 413),
    "asked first": (
        "PUT /submissions HTTP/1.1\r\nExpect: 100-continue\r\n{ada}Content-Length: {over}\r\nHost: x\r\n\r\n",
        413,
    ),
    "chunked": (
        "PUT /submissions HTTP/1.1\r\n{ada}Transfer-Encoding: chunked\r\n{close}\r\n5\r\nhello\r\n0\r\n\r\n",
        411,
    ),
    "no length": ("PUT /submissions HTTP/1.1\r\n{ada}{close}\r\n", 411),
    "no length, and yet a body": ("PUT /submissions HTTP/1.0\r\n{ada}\r\nhello", 411),
    "no HTTP": ("hello\r\n\r\n", 400),
    "many headers": ("GET / HTTP/1.1\r\n" + "X: y\r\n" * 600 + "\r\n", 400),
    "endless header": ("GET / HTTP/1.1\r\nX: " + "y" * 40_000 + "\r\n\r\n", 0),
    "length that is no number": ("PUT /submissions HTTP/1.1\r\nContent-Length: -5\r\n\r\n", 400),
}


@pytest.mark.parametrize(("request_", "status"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused(service: Reception, request_: str, status: int) -> None:
    """There is an answer, and the connection ends; a body that is too large is never sent."""
    headers = {name: f"Authorization: Bearer {service.tokens[name]}\r\n" for name in ("ada", "bob")}
    close = "Host: x\r\nConnection: close\r\n"
    text = request_.format(**headers, token=service.tokens["ada"], close=close, over=4 * MAX_PACKED_BYTES + 1)
    with service.connect() as connection:
        connection.sendall(text.encode())
        answer = b""
        while data := connection.recv(65_536):
            answer += data
    assert answer[8:13] == (b" %d " % status if status else b"")
    assert b"100 Continue" not in answer
    if status in (401, 411):
        assert {"error", "remedy"} == json.loads(answer[answer.index(b"{") : answer.rindex(b"}") + 1]).keys()


def test_a_body_that_breaks_off_is_no_version(service: Reception) -> None:
    """An upload that breaks off leaves nothing."""
    token = f"Authorization: Bearer {service.tokens['gil']}"
    head = f"PUT /submissions HTTP/1.1\r\n{token}\r\nHost: x\r\nContent-Length: 500\r\n\r\n"
    with service.connect() as connection:
        connection.sendall(head.encode() + archive()[:100])
    assert service.ask("gil", "/submissions") == (200, {"submissions": [], "present": None})


def test_tokens_are_made_and_taken_while_it_runs(service: Reception) -> None:
    """A renewed token ends at once, the new one works, and a broken file changes nothing."""
    old, path = service.tokens["cyd"], service.folder.parent / AUTHORS
    new = add_tokens(path, ["cyd"], may_renew=True)["cyd"]
    assert [service.ask(token, "/submissions")[0] for token in (old, new)] == [401, 200]
    whole = path.read_text()
    path.write_text("[[[")
    assert [service.ask(token, "/submissions")[0] for token in (old, new)] == [401, 200]
    path.write_text(whole)


def test_one_check_at_a_time_and_not_too_often(service: Reception) -> None:
    """While a version waits, its author can hand in only the same one again; at most six a minute."""
    taken = [service.ask("dan", "/submissions", archive("hang")) for _ in range(2)]
    assert [(status, version["number"]) for status, version in taken] == [(202, 1), (202, 1)]
    status, answer = service.ask("dan", "/submissions", archive())
    assert (status, answer["error"]) == (409, "version 1 is not checked yet")
    assert service.ask("eva", "/submissions", archive())[1]["state"] == "waiting"
    assert [service.ask("dan", "/submissions", archive())[0] for _ in range(5)] == [409, 409, 409, 429, 429]
    service.hears("author eva, version 1, passed yes")
    assert "not ended after 5 s" in service.ask("dan", "/submissions/1")[1]["trouble"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_check_that_was_cut_off_is_made_again(
    tmp_path: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However the service ends during a check, the check is repeated, and nothing of the first one is left."""
    hanging = tmp_path / "hanging"
    os.mkfifo(hanging)
    monkeypatch.setenv("HANGING", str(hanging))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with receiving(tmp_path) as service:
        assert service.ask("ada", "/submissions", archive("hang"))[0] == 202
        hanging.read_bytes()  # until the check hangs
        checked = service.ask("ada", "/submissions/1")[1]
        assert (checked["state"], [step["note"] for step in checked["steps"]]) == ("checking", ["player/x"])
        mark = f"{CHECK_VARIABLE}={hashlib.sha256(os.fsencode(service.folder)).hexdigest()[:16]}"
        while len(marked := find_marked(mark)) < 2:
            pass  # a process that is just starting its program has no mark at that time
        processes = [os.pidfd_open(pid) for pid in marked]
        service.process.send_signal(number)
        service.process.wait(30)
    # The check itself, even by SIGKILL; its leftovers, at the next start.
    assert select.select(processes, [], [], 30)[0]
    for descriptor in processes:
        os.close(descriptor)
    (service.folder / ".versions/ada/0001/player/does").write_text("pass")
    with receiving(tmp_path, tokens=service.tokens) as again:
        again.hears("author ada, version 1, passed yes")
        assert find_marked(mark) == []
        assert again.ask("ada", "/submissions/1")[1]["state"] == "passed"
    assert list(tmp_path.glob("referee-*")) == []


def test_a_check_that_says_nothing_is_no_verdict_on_the_program(service: Reception) -> None:
    """The organiser is told about a check that could not be made, and its version does not play."""
    odd = service.hand_in("fay", archive("nonsense"))
    assert odd["state"] == "failed"
    assert "could not be completed (exit status 2): ask the organiser" in odd["trouble"]
