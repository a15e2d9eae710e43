"""Output to streams that are not UTF-8: all of it, with replacements for characters that do not exist there."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from .. import warm

PLAY = ("--seed", "7", "--sandbox", "off")
ENCODINGS = ["ascii", "latin-1", "cp1252", "cp437", "shift_jis", "utf-16"]


def run(encoding: str, *arguments: str, cwd: Path, status: int = 0) -> tuple[str, str]:
    """Run a command whose stdout and stderr have an encoding; return their bytes."""
    done = warm.run(arguments, cwd=cwd, env={**os.environ, "PYTHONIOENCODING": encoding})
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a match of each game that draws boards with characters of its own."""
    folder = tmp_path_factory.mktemp("encodings")
    for game, options in (("q", ()), ("quincy", ()), ("quadominos", ("--option", "rounds=1"))):
        warm.run(["play", game, "house:greedy", "house:random", *PLAY, *options, "--logs", game], cwd=folder)
    return folder


def record(folder: Path, game: str) -> str:
    """Return the path of a game's record."""
    (path,) = folder.glob(f"{game}/*.jsonl")
    return str(path)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_play_shows_its_result(tmp_path: Path, encoding: str) -> None:
    """The board, the ranking and the record are printed."""
    shown, _ = run(encoding, "play", "q", "house:dag", "house:ldasg", *PLAY, cwd=tmp_path)
    assert "winner" in shown
    assert "record: logs" in shown


@pytest.mark.parametrize("game", ["q", "quincy", "quadominos"])
def test_boards_are_drawn_with_other_signs(folder: Path, game: str) -> None:
    """The signs are in the same columns as usual."""
    plain, _ = run("utf-8", "replay", record(folder, game), cwd=folder)
    lengths = [len(line.rstrip()) for line in plain.splitlines()]
    for encoding in ("ascii", "cp437"):
        shown, _ = run(encoding, "replay", record(folder, game), cwd=folder)
        assert "\\u" not in shown
        assert [len(line.rstrip()) for line in shown.splitlines()] == lengths


def test_the_shapes_of_q_stay_apart(folder: Path) -> None:
    """No two of them have the same character."""
    shown, _ = run("ascii", "replay", record(folder, "q"), "--turn", "0", cwd=folder)
    plain, _ = run("utf-8", "replay", record(folder, "q"), "--turn", "0", cwd=folder)
    pairs = {(sign, other) for sign, other in zip(plain, shown, strict=True) if sign in "★✶■●♣◆"}
    assert len({sign for sign, _ in pairs}) == len({other for _, other in pairs}) == len(pairs) > 1


@pytest.mark.parametrize(
    "arguments",
    [
        *(("list",), ("list", "quincala"), ("--help",), ("play", "--help"), ("doctor",), ("fairness", "q")),
        ("audit", "q", "quincy"),
        ("report", "q", "--force"),
        ("explain", "{record}", "0"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("encoding", ["ascii"])
def test_every_command_prints(folder: Path, arguments: tuple[str, ...], encoding: str) -> None:
    """The command has the same exit status as with UTF-8."""
    words = [word.format(record=record(folder, "q")) for word in arguments]
    status = warm.run(words, cwd=folder).returncode
    assert any(run(encoding, *words, cwd=folder, status=status))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_errors_are_told(tmp_path: Path, encoding: str) -> None:
    """The user's text is shown, with escapes where necessary."""
    _, said = run(encoding, "play", "q", "house:中…", "house:dag", cwd=tmp_path, status=2)
    assert "there is no house player" in said
    assert ("中" in said) or ("\\u4e2d" in said)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_json_says_the_same(tmp_path: Path, encoding: str) -> None:
    """Characters that can't be written are JSON escapes, and so are others, because readers of JSON expect UTF-8."""
    file = tmp_path / "cup.toml"
    file.write_text('game = "q"\nformat = "knockout"\nentrants = ["house:dag", "./é中𝄞", "house:dag"]\n')
    player = tmp_path / "é中𝄞"
    player.mkdir()
    (player / "player.toml").write_text('name = "ada"\nrun = "python3 é.py"\n')
    words = ("tournament", str(file), "--check", "--json")
    shown, plain = (run(name, *words, cwd=tmp_path)[0] for name in (encoding, "utf-8"))
    assert shown.isascii()
    assert "é中𝄞" in plain
    assert json.loads(shown) == json.loads(plain)


def test_a_drawing_is_utf_8(folder: Path) -> None:
    """A file of XML that names no encoding is UTF-8."""
    shown = subprocess.run(
        [sys.executable, "-m", "referee", "replay", record(folder, "q"), "--svg", "-"],
        env={**os.environ, "PYTHONIOENCODING": "utf-16"},
        capture_output=True,
        check=True,
    ).stdout
    assert ET.fromstring(shown.decode()).tag.endswith("svg")


@pytest.mark.parametrize("arguments", ["--help", "help", "--version", "help play", "list"])
def test_a_pipe_that_nobody_reads_ends_a_command_as_its_signal_does(arguments: str) -> None:
    """This holds for help texts as well, which click prints before a command is known."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "referee", *arguments.split()]
        buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=buffered, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_stop_nothing(folder: Path, closed: str) -> None:
    """A command without an output does its work."""
    command = f"exec {sys.executable} -m referee replay {record(folder, 'q')} --svg - {closed}"
    assert subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, check=False).returncode == 0
