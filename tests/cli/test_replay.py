"""`referee replay` as a user runs it: printed, written to files, and shown in a browser."""

import json
import re
import subprocess
import tempfile
import webbrowser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from ..match.folding import lost
from ..pages.matches import hostile, ordinary
from ..record.records import Story, cut
from .calling import referee

TURNS = 6


def replay(*arguments: str | Path, status: int = 0) -> "subprocess.CompletedProcess[str]":
    """Run the command with its output in a pipe, and check its exit status."""
    return referee("replay", *map(str, arguments), status=status)


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Give the record of a match of four players."""
    return ordinary(TURNS).write(tmp_path / "match.jsonl")


# --- printed


def test_a_pipe_gets_all_turns(record: Path) -> None:
    """It gets every turn with its seat, move and board, and the ranking at the end, without control sequences."""
    text = replay(record).stdout
    turns = re.findall(r"^turn (\d+): seat \d, (?:ada|bob|cleo|dan)", text, re.MULTILINE)
    result = load_json(record)["result"]
    assert turns == [str(turn) for turn in range(1, result["turns"] + 1)]
    assert len(re.findall(r" at row -?\d+, column -?\d+", text)) >= TURNS
    assert re.search(r"^(ada|bob|cleo|dan)\b.*, then ", text, re.MULTILINE)
    assert "\x1b" not in text


def load_json(record: Path, *options: str) -> Any:
    """Return what --json prints."""
    return json.loads(replay(record, "--json", *options).stdout)


def test_json_tells_every_answer(record: Path) -> None:
    """It prints one object with all moves by turn and seat, and the result, or with one turn."""
    whole = load_json(record)
    assert [(move["turn"], move["seat"]) for move in whole["turns"]] == [
        (turn, (turn - 1) % 4) for turn in range(1, whole["result"]["turns"] + 1)
    ]
    assert load_json(record, "--turn", "3")["turns"] == whole["turns"][2:3]


@pytest.mark.parametrize(("turn", "says"), [("0", "turn 0: the deal"), ("3", "turn 3: seat 2, cleo")])
def test_one_turn(record: Path, turn: str, says: str) -> None:
    """A turn can be picked; turn 0 is the deal."""
    text = replay(record, "--turn", turn).stdout
    assert text.startswith(says)
    assert len(re.findall("^turn ", text, re.MULTILINE)) == 1


def test_hostile_players_can_not_draw_on_the_terminal(tmp_path: Path) -> None:
    """Names, moves and details are printed literally: no escapes, no markup, no crash."""
    text = replay(hostile().write(tmp_path / "match.jsonl")).stdout
    assert "\x1b" not in text
    assert "\\x1b[2J\\x1b[31m[/red][bold]" in text
    for line in (
        "cause: illegal-move",
        "rule: q.place.owned",
        "detail: not in hand: 1 x red-star",
        "code: not-msgpack",
    ):
        assert f"\n{line}" in text


# --- written


def test_svg_to_stdout_and_to_a_file(record: Path, tmp_path: Path) -> None:
    """The drawing is a whole document with the players' names. Stdout has only it, and a file has the same."""
    printed = replay(record, "--turn", "3", "--svg", "-").stdout
    assert {"ada", "bob", "cleo", "dan"} <= {element.text for element in ET.fromstring(printed).iter()}
    path = tmp_path / "board.svg"
    told = replay(record, "--turn", "3", "--svg", path).stdout
    assert told == f"written: {path}\n"
    assert path.read_text(encoding="utf-8") == printed.rstrip("\n")


def test_svg_of_the_last_turn(record: Path) -> None:
    """By default the last board is drawn, on which nobody is to move."""
    last = str(load_json(record)["result"]["turns"])
    printed = replay(record, "--svg", "-").stdout
    assert printed == replay(record, "--turn", last, "--svg", "-").stdout
    assert "to move" in replay(record, "--turn", "3", "--svg", "-").stdout
    assert "to move" not in printed


def test_html_to_a_file(record: Path, tmp_path: Path) -> None:
    """The page is written and its path printed; with --json the object has the path."""
    path = tmp_path / "page.html"
    assert replay(record, "--html", path).stdout == f"written: {path}\n"
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert load_json(record, "--html", str(path), "--force")["written"] == str(path)
    assert page == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("options", [("--html",), ("--turn", "1", "--svg"), ("--svg",)])
def test_nothing_is_overwritten_unasked(record: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    """An existing file stays until --force; the record itself stays even then."""
    path = tmp_path / "there.txt"
    path.write_text("mine")
    told = replay(record, *options, path, status=2).stderr
    assert "--force" in told
    assert path.read_text() == "mine"
    replay(record, *options, path, "--force")
    assert path.read_text() != "mine"
    before = record.read_bytes()
    (tmp_path / "link").symlink_to(record)
    for target in (record, tmp_path / "link"):
        told = replay(record, *options, target, "--force", status=2).stderr
        assert "record itself" in " ".join(told.replace("│", " ").split())
    assert record.read_bytes() == before


# --- in a browser


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Return the addresses that a browser was asked to open; temporary files go into the test's folder."""
    addresses: list[str] = []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def _open(address: str) -> bool:
        addresses.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", _open)
    return addresses


def test_a_browser_opens_the_page(record: Path, tmp_path: Path, opened: list[str]) -> None:
    """It is the file of --html, or a temporary one with the same page."""
    page = tmp_path / "a page.html"
    replay(record, "--html", page, "--open")
    told = replay(record, "--open").stdout
    temporary = Path(told.removeprefix("written: ").removesuffix("\n"))
    assert opened == [page.as_uri(), temporary.as_uri()]
    assert page.read_bytes() == temporary.read_bytes() != b""
    assert temporary.parent.parent == tmp_path


@pytest.mark.usefixtures("opened")
def test_where_there_is_no_browser(record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of --html stays, and its path is printed, with status 1; a temporary page is removed."""
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    page = tmp_path / "page.html"
    assert (
        f"no browser was found here: open {page} in a browser"
        in replay(record, "--open", "--html", page, status=1).stderr
    )
    assert page.is_file()
    assert "write the page to a file with --html FILE" in replay(record, "--open", status=1).stderr
    assert not list(tmp_path.glob("referee-*"))


# --- used wrongly


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--turn", "99"), "there is no turn 99"),
        (("--turn", "99", "--json"), "there is no turn 99"),
        (("--turn", "99", "--svg", "a.svg"), "there is no turn 99"),
        (("--turn", "-1"), "--turn"),
        (("--svg", "12"), "--svg takes a file, not a turn: --turn 12 --svg board.svg"),
        (("--svg", "a.svg", "--html", "a"), "the page shows all turns"),
        (("--turn", "1", "--html", "a"), "the page shows all turns"),
        (("--turn", "1", "--open"), "use --html and --open without --turn and --svg"),
        (("--svg", "-", "--open"), "use --html and --open without --turn and --svg"),
        (("--svg", "-", "--json"), "give --svg a file"),
        (("--svg", "no/such/folder/a.svg"), "can't write no/such/folder/a.svg: No such file"),
        (("--html", "no/such/folder/a.html"), "can't write no/such/folder/a.html: No such file"),
        (("--html", "/", "--force"), "can't write /: Is a directory"),
    ],
)
def test_mistakes_are_named(record: Path, options: tuple[str, ...], complaint: str) -> None:
    """A usage error ends with status 2 and a sentence that says what is wrong."""
    told = replay(record, *options, status=2).stderr
    assert complaint in " ".join(told.replace("│", " ").split())


def test_no_board_before_the_deal(tmp_path: Path) -> None:
    """If all players are lost before the deal, the expulsions are shown, and there is no board."""
    path = cut(ordinary(1, nonces=False), 1, lost(0, 0.1), lost(1, 0.2)).write(tmp_path / "match.jsonl")
    text = replay(path).stdout
    assert text.count("cause: disconnected") == text.count("nothing was dealt yet") == 2
    assert "the match was not finished" in text
    told = " ".join(replay(path, "--turn", "0", "--svg", "-", status=2).stderr.split())
    assert "nothing was dealt by turn 0" in told
    assert "nothing was dealt yet" in " ".join(replay(path, "--svg", "-", status=2).stderr.split())


def test_a_match_that_had_just_begun(tmp_path: Path) -> None:
    """The text says that nothing has happened yet, and no turn can be picked."""
    path = cut(ordinary(1, nonces=False), 2).write(tmp_path / "match.jsonl")
    assert replay(path).stdout == "the match was not finished\n"
    assert "there is no turn 0" in " ".join(replay(path, "--turn", "0", status=2).stderr.split())
    replay(path, "--html", tmp_path / "page.html")


@pytest.mark.forges
@pytest.mark.parametrize("options", [(), ("--json",), ("--svg", "-"), ("--html", "page.html")])
def test_a_record_that_does_not_hold(record: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    """The status is 1, stderr names the line, no file is written, and stdout has only the object of --json."""
    record.write_bytes(record.read_bytes().replace(b'"at_ms":', b'"at_ms": ', 1))
    done = replay(record, *(tmp_path / option if option.endswith(".html") else option for option in options), status=1)
    assert list(tmp_path.glob("*.html")) == []
    assert (json.loads(done.stdout)["exit_status"] == 1) if "--json" in options else (done.stdout == "")
    assert "line 1: expected" in done.stderr


def test_a_secret_match(tmp_path: Path) -> None:
    """An unfinished match with an encrypted seed can't be shown."""
    half = cut(ordinary(TURNS), 9)
    path = Story(half.match, half.steps, is_fixed=False).write(tmp_path / "match.jsonl")
    assert "still secret" in " ".join(replay(path, status=1).stderr.split())
