"""Player specs: what a folder and a command line say about how a player is started."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from referee.programs.player_spec import (
    Launch,
    PlayerError,
    PlayerKind,
    PlayerSpec,
    command_launch,
    house_launch,
    parse_player,
    read_folder,
    resolve_command,
)


def write_toml(folder: Path, text: str) -> Path:
    """Make a player's folder."""
    folder.mkdir(exist_ok=True)
    (folder / "player.toml").write_text(text)
    return folder


def test_a_folder_says_how_to_start_its_player(tmp_path: Path) -> None:
    """player.toml has the name, the command and the games."""
    folder = write_toml(tmp_path / "mine", 'name = "mine"\nrun = "python3 \'my player.py\' --fast"\ngames = ["q"]\n')
    expected = Launch(name="mine", argv=("python3", "my player.py", "--fast"), folder=folder, games=("q",))
    assert expected == read_folder(folder)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name = ", "player.toml"),
        ('run = "x"', "`name` is missing"),
        ('name = "a"', "`run` is missing"),
        ('name = "a"\nrun = ""', "`run` is empty"),
        ('name = "a"\nrun = "\'x"', "No closing quotation"),
        ('name = "a"\nrun = 5', "takes a text in quotation marks, not 5"),
        ('name = "a"\nrun = "x"\nrnu = "y"', 'there is no key `rnu`; did you mean "run"?'),
        ('name = "a"\nrun = "x"\nbuild = "\'make"', "`build`: No closing quotation; it is split into words"),
        ('name = "a"\nrun = "x"\ngames = "q"', 'takes a list, not "q"'),
        (
            'nmae = "a"\nrun = 5',
            "`name` is missing; `run` takes a text in quotation marks, not 5; there is no key `nmae`",
        ),
        ("name = 'a", "is no TOML"),
    ],
)
def test_mistakes_in_a_folder_are_named(tmp_path: Path, text: str, complaint: str) -> None:
    """Every mistake in player.toml is reported with the file's path."""
    folder = write_toml(tmp_path / "mine", text)
    with pytest.raises(PlayerError, match=r"player\.toml") as caught:
        read_folder(folder)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("file", "command"), [("go.mod", "go build"), ("Cargo.toml", "cargo build --release"), ("Makefile", "make")]
)
def test_a_program_that_was_not_built_says_how(tmp_path: Path, file: str, command: str) -> None:
    """If a folder has sources and no `build`, the error says what to add."""
    (tmp_path / file).touch()
    told = f'player.toml has no `build`, and there is a {file}: add build = "{command}"'
    launch = Launch(name="p", argv=("./player",), folder=tmp_path)
    with pytest.raises(PlayerError, match=re.escape(told)):
        resolve_command(launch)
    with pytest.raises(PlayerError) as caught:
        resolve_command(replace(launch, build=("make",)))
    assert "no `build`" not in str(caught.value)


@pytest.mark.parametrize(
    ("link", "target", "escapes"),
    [
        ("inside", "player.toml", False),
        ("whole", "{folder}/player.toml", False),
        ("deep/inside", "../player.toml", False),
        ("dangling", "nowhere", False),
        ("loop", "loop", False),
        ("self", ".", False),
        ("parent", "..", True),
        ("secret", "/etc/passwd", True),
        ("deep/secret", "../../secret", True),
        ("dangling", "../nowhere", True),
        (".venv/bin/python", "/usr/bin/python3", True),
    ],
)
def test_links_may_not_lead_out_of_a_folder(tmp_path: Path, link: str, target: str, *, escapes: bool) -> None:
    """The error names such a link and its target, wherever it is, and even if the target is missing."""
    folder = write_toml(tmp_path / "mine", 'name = "mine"\nrun = "x"\n')
    path = folder / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target.format(folder=folder))
    if not escapes:
        assert read_folder(folder).name == "mine"
        return
    with pytest.raises(PlayerError, match="outside of the player's folder; put a copy in its place") as caught:
        read_folder(folder)
    assert f"{path} is a link to {target}" in str(caught.value)


def test_what_is_wrong_with_a_folder_can_be_written_down(tmp_path: Path) -> None:
    """Names of files may have bytes that are not text, and control characters; the error goes into records."""
    (tmp_path / "player.toml").write_text('name = "p"\nrun = "x"\n')
    (tmp_path / os.fsdecode(b"l\n\xff\x1b")).symlink_to(os.fsdecode(b"/etc/\xff\n"))
    with pytest.raises(PlayerError, match="outside of the player's folder") as caught:
        read_folder(tmp_path)
    assert str(caught.value).isprintable()
    assert str(PlayerError("no\ntext: \udcff")) == "no\\ntext: \\udcff"


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("no-such-program", "can't start no-such-program: No such file"),
        ("./no-such-program", "can't start ./no-such-program: No such file"),
        ("./plain", "Permission denied: it is not executable; chmod +x ./plain"),
        ("./named.py", "Permission denied: it is not executable; chmod +x ./named.py"),
        (
            "./nameless.py",
            'it is not executable; its first line names no interpreter (#!); write run = "python3 nameless.py" in',
        ),
        ("./marked.py", 'its first line names no interpreter (#!); write run = "python3 marked.py" in player.toml'),
        (".", "No such file: it is a folder"),
    ],
)
def test_programs_that_are_none(tmp_path: Path, command: str, complaint: str) -> None:
    """The error names the command and the reason, before anything runs."""
    (tmp_path / "plain").touch()
    (tmp_path / "named.py").write_text("#!/usr/bin/env python3\n")
    (tmp_path / "nameless.py").write_text("from protocol.client import run\n")
    (tmp_path / "marked.py").write_text("from protocol.client import run\n")
    (tmp_path / "marked.py").chmod(0o755)
    with pytest.raises(PlayerError) as caught:
        resolve_command(Launch(name="p", argv=(command,), folder=tmp_path))
    assert complaint in str(caught.value)


def test_a_program_of_the_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A player's own `true` has priority; on a command line, as in a shell, only with a slash."""
    (tmp_path / "true").touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    assert resolve_command(Launch(name="p", argv=("true",), folder=tmp_path)) == [str(tmp_path / "true")]
    assert resolve_command(command_launch("./true x", "p")) == [str(tmp_path / "true"), "x"]
    assert resolve_command(command_launch("true", "p"))[0].endswith("bin/true")


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    """The errors for a missing folder and for a file differ."""
    with pytest.raises(PlayerError, match="there is no folder"):
        read_folder(tmp_path / "nowhere")
    (tmp_path / "outside").symlink_to("/")  # before this is checked, the error names what is missing
    with pytest.raises(PlayerError, match=r"there is no player\.toml in .*; a player's folder needs that file"):
        read_folder(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("python3", "python3 is an interpreter; write its whole command as one player: cmd:'python3 FILE'"),
        ("own/player.py", "own/player.py is a file; name its folder, which has the player.toml: own"),
        ("an own/player.c", "name its folder, which has the player.toml: 'an own'"),
        ("loose.py", "name a folder that has a player.toml, or how the file is run: cmd:'python3 loose.py'"),
        ("loose", "how the file is run: cmd:'COMMAND loose'"),
    ],
)
def test_of_a_file_it_is_said_what_was_meant(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a file of a player, the error names its folder; for a lone file, it shows how to give a command."""
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).touch()
    if "own" in name:
        Path(name).with_name("player.toml").touch()
    with pytest.raises(PlayerError) as error:
        read_folder(Path(name))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("house:dag", PlayerKind.HOUSE, "dag"),
        ("cmd:python3 a:b.py", PlayerKind.COMMAND, "python3 a:b.py"),
        ("cmd:", PlayerKind.COMMAND, ""),
        ("house", PlayerKind.FOLDER, "house"),
        ("folder:x", PlayerKind.FOLDER, "folder:x"),
        ("my/bot", PlayerKind.FOLDER, "my/bot"),
    ],
)
def test_a_player_is_given_in_one_of_three_forms(text: str, kind: PlayerKind, value: str) -> None:
    """The word before a colon marks a house player or a command; anything else is the path of a folder."""
    assert parse_player(text) == PlayerSpec(kind, value)


def test_a_player_that_is_given_can_be_launched(tmp_path: Path) -> None:
    """The organiser names a command; the others have names of their own."""
    folder = write_toml(tmp_path / "mine", 'name = "ada"\nrun = "x"\n')
    names = [parse_player(text).launch("player1").name for text in ("house:dag", "cmd:x", str(folder))]
    assert names == ["dag", "player1", "ada"]


def test_a_command_line_is_split_without_a_shell() -> None:
    """Quotes are honoured, nothing is expanded."""
    assert command_launch("python3 -c 'print($HOME)'", "p").argv == ("python3", "-c", "print($HOME)")
    for wrong in ("", "'open"):
        with pytest.raises(PlayerError):
            command_launch(wrong, "p")


def test_a_house_player_runs_as_a_program_of_its_own() -> None:
    """It is started with this very interpreter."""
    launch: Any = house_launch("dag")
    assert (sys.executable, "dag") == (launch.argv[0], launch.argv[-1])
