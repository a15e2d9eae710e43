"""`referee host` as organisers and visitors use it: it is played, shown, killed, resumed and verified."""

import json
import posixpath
import re
import signal
import subprocess
import tarfile
import urllib.request
import zipfile
from pathlib import Path
from urllib.error import HTTPError

import pytest

from referee.web.contest.contest_file import CONTEST

from ..hosted import Person, events_until, fetched, hosting, shown_until
from .calling import referee

ROUNDS = """
game = "q"
entrants = ["house:greedy", "house:search", "house:ldasg", "house:random"]
sandbox = "off"
tables = 2
[format]
name = "roundrobin"
cycles = 2
"""
"""The search player thinks for long, so every second match takes at least a second, and there is time to watch."""
MATCHES = 12


@pytest.fixture
def contest(tmp_path: Path) -> Path:
    """Return the folder of a contest with one tournament."""
    (tmp_path / CONTEST).write_text('title = "Test"\nsign_up = "open"\n[[tournaments]]\nfile = "rounds.toml"\n')
    (tmp_path / "rounds.toml").write_text(ROUNDS)
    return tmp_path


@pytest.mark.long
def test_a_contest_is_played_and_shown(contest: Path, tmp_path: Path) -> None:
    """Despite a kill in the middle, every match is played once, and visitors verify what they see."""
    with hosting(contest, signal.SIGKILL) as site:
        shown_until(site, lambda cup: cup["open_matches"])
        with pytest.raises(HTTPError, match="404"):
            fetched(site, "tournaments/rounds/rounds.jsonl")
        shown_until(site, lambda cup: cup["played"] >= 2)
        assert b'"board":null' in fetched(site, "api/live")
    (contest / CONTEST).write_text('spectators = "board only"\n' + (contest / CONTEST).read_text())
    with hosting(contest, signal.SIGINT) as site:
        seen = events_until(site, "live/events", lambda live: any(table["board"] for table in live["tables"]))
        assert seen["spectators"] == "board only"
        last = shown_until(site, lambda cup: cup["state"] == "is over")
        assert (last["played"], last["reported"], last["open_matches"]) == (MATCHES, MATCHES, [])
        assert all(match["address"] for match in last["last"])
        assert b"Each result follows from a signed record" in fetched(site, "")
        assert last["verifier"] == f"tournaments/rounds/replays/verify.html#rounds.jsonl={last['head']}"
        assert all(last["verifier"].encode() in fetched(site, path) for path in ("", "search?q=rounds"))
        page = "tournaments/rounds/entrants/random.html"
        for path in ("", "tournaments/rounds/report.html", page, "search?q=rounds", "tournaments/rounds/heads"):
            assert last["head"].encode() in fetched(site, path)
        assert b"rounds-00001" in fetched(site, "tournaments/rounds/report.html")
        assert len(json.loads(fetched(site, "api/tournaments/rounds"))["entries"]) == MATCHES
        assert b'href="tournaments/rounds/replays/rounds-00001.html"' in fetched(site, "search?q=rounds-00001")
        for number in range(1, MATCHES + 1):
            name = f"rounds-{number:05}"
            assert name.encode() in fetched(site, f"tournaments/rounds/replays/{name}.html")
            (tmp_path / f"{name}.jsonl").write_bytes(fetched(site, f"tournaments/rounds/{name}.jsonl"))
        (tmp_path / "rounds.jsonl").write_bytes(fetched(site, "tournaments/rounds/rounds.jsonl"))
        (tmp_path / "key.pem").write_bytes(fetched(site, "key.pem"))
        (tmp_path / "heads").write_bytes(fetched(site, "tournaments/rounds/heads"))
    archived = archive_folder(contest, tmp_path)
    for name in ("report.html", "rounds.jsonl", "rounds-00001.jsonl", "replays/rounds-00001.html", "heads"):
        assert f"tournaments/rounds/{name}" in archived
    assert {name.partition("/")[0] for name in archived} == {"index.html", "key.pem", "tournaments"}
    records = [str(path) for path in sorted(tmp_path.glob("*.jsonl"))]
    referee("audit", *records, "--public-key", str(tmp_path / "key.pem"), "--heads", str(tmp_path / "heads"))


@pytest.mark.long
def test_an_organiser_pauses_rules_and_starts_again(contest: Path, tmp_path: Path) -> None:
    """A pause survives a kill, a ruling is applied on resumption, and the log and the archive have everything."""
    ann, place = Person(contest, "organisers.toml", "ann"), "organiser/tournaments/rounds"
    with hosting(contest, signal.SIGKILL) as site:
        shown_until(site, lambda cup: cup["open_matches"])
        assert ">running</span>" in ann.sign_in(site)
        eve = urllib.request.Request(f"{site}/api/sign-up", b'{"name": "eve"}', {"Content-Type": "application/json"})
        with urllib.request.urlopen(eve, timeout=60) as answer:
            assert (answer.status, json.load(answer)["name"]) == (201, "eve")
        ann.send("organiser", f"{place}/pause")
        played = shown_until(site, lambda cup: cup["state"] == "is paused by the organiser")["played"]
    with hosting(contest, signal.SIGINT) as site:
        ann.return_to(site)
        assert ">paused by the organiser<" in ann.open("organiser").decode()
        assert ann.send("organiser/authors", "organiser/authors", name="ada").count("shown only once") == 1
        with pytest.raises(HTTPError, match="409"):
            ann.send("organiser", f"{place}/pause")
        with pytest.raises(HTTPError, match="409"):
            ann.send(place, f"{place}/rule", kind="withdraw", subject="nobody", reason="late")
        ruling = {"kind": "withdraw", "subject": "random", "reason": "it left"}
        assert "that its referee has not carried out yet: 1" in ann.send(place, f"{place}/rule", **ruling)
        ann.send("organiser", f"{place}/start")
        last = shown_until(site, lambda cup: cup["state"] == "is over")
        assert played <= last["played"] < MATCHES
        assert b"withdraw random in rounds" in ann.open("organiser/log")
        (tmp_path / "all.tar").write_bytes(ann.open("organiser/contest.tar"))
    actions = [json.loads(line) for line in (contest / "actions.log").read_text().splitlines()]
    told = [("pause", "rounds"), ("add", "ada"), ("withdraw", "random in rounds"), ("start", "rounds")]
    assert [(action["what"], action["about"]) for action in actions if action["by"] == "ann"][:4] == told
    with tarfile.open(tmp_path / "all.tar") as archive:
        assert not [
            name for name in archive.getnames() if "authors" in name or "organisers" in name or "invitations" in name
        ]
    (tmp_path / "copy").mkdir()
    subprocess.run(["tar", "-xf", tmp_path / "all.tar", "-C", tmp_path / "copy"], check=True)
    copy = tmp_path / "copy" / contest.name
    referee("audit", str(copy / "logs" / "rounds"))
    assert "it left" in (copy / "logs" / "rounds" / "rounds.jsonl").read_text()


def words(done: "subprocess.CompletedProcess[str]") -> str:
    """Return the output without line ends."""
    return " ".join(done.stderr.replace("│", " ").split())


def archive_folder(contest: Path, folder: Path) -> set[str]:
    """Save a contest's archive with links that all lead into it; return the names of its files."""
    path = folder / "contest.zip"
    key = str(folder / "host.pem")
    referee("report", str(contest / "logs" / "rounds"))  # the organiser's own page is not in the archive
    assert "wrote" in referee("host", str(contest), "--archive", str(path), "--key", key).stdout
    assert "can't write" in words(referee("host", str(contest), "--archive", str(path), "--key", key, status=2))
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        assert b"<form" not in archive.read("index.html"), "no server would answer"
        assert b'"../../index.html"' in archive.read("tournaments/rounds/report.html")
        for page in (name for name in names if name.endswith(".html")):
            for link in re.findall(r'href="([^"#?]+)', archive.read(page).decode()):
                assert posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) in names, (page, link)
            if "/replays/" in page and not page.endswith("/verify.html"):
                assert b'id="record-text"' in archive.read(page), "no server would give the record"
    return names


def test_wrong_uses_are_told(tmp_path: Path) -> None:
    """The errors say what to do, and the example is valid."""
    assert "has no contest.toml; `referee host --example" in words(referee("host", str(tmp_path), status=2))
    folder = str(tmp_path / "new")
    assert "contest.toml" in referee("host", "--example", folder).stdout
    assert referee("host", "--check", folder).stdout == "cup: at once\nleague: at once\n"
