"""The view of a program: it includes the program's runtime, but no other file that the program's own files name."""

import os
from pathlib import Path

import pytest

from referee.programs.file_view import FileAccess, runtimes, view_files
from referee.programs.player_spec import PlayerError, read_folder, resolve_command


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a program in what looks like a virtual environment."""
    path = tmp_path / "bin" / "secret"
    path.parent.mkdir()
    path.write_bytes(b"\x7fELF")
    path.chmod(0o755)
    return path


def test_a_file_that_runs_nothing_is_not_shown(program: Path, tmp_path: Path) -> None:
    """A virtual environment can name the folder of its interpreter, and so any file with an interpreter's name."""
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "secret").write_text("a key")
    (tmp_path / "pyvenv.cfg").write_text(f"home = {tmp_path / 'keys'}\n")
    shown = runtimes(program)
    assert tmp_path / "keys" / "secret" not in shown
    (tmp_path / "keys" / "secret").chmod(0o755)
    runtimes.cache_clear()
    assert tmp_path / "keys" / "secret" in runtimes(program)


@pytest.mark.parametrize("first", [b"#!{}\n", b"#!/x\0--bind\0/\0/\n", b"#!/" + b"x" * 255, b"#!/\xff\n"])
def test_an_interpreter_that_is_no_program_is_not_shown(program: Path, tmp_path: Path, first: bytes) -> None:
    """The first line of a script can name a secret file, or no path at all."""
    (tmp_path / "key").write_text("a key")
    script = tmp_path / "script"
    script.write_bytes(first.replace(b"{}", os.fsencode(tmp_path / "key")))
    script.chmod(0o755)
    assert runtimes(script) == (script,)
    script.write_bytes(b"#!" + os.fsencode(program) + b"\n")
    runtimes.cache_clear()
    assert runtimes(script)[0] == script
    assert len(runtimes(script)) == 2


def test_nothing_is_waited_for(program: Path, tmp_path: Path) -> None:
    """The description of a virtual environment may be a pipe without a writer."""
    os.mkfifo(tmp_path / "pyvenv.cfg")
    assert tmp_path in runtimes(program)


def player(folder: Path, run: str) -> Path:
    """Return a player's folder with a program that it does not have itself."""
    folder.mkdir()
    (folder / "player.toml").write_text(f'name = "thief"\nrun = {run!r}\n')
    return folder


def shown_to(folder: Path) -> tuple[Path, ...]:
    """Return the paths that a player's program can see."""
    launch = read_folder(folder)
    return view_files(launch, resolve_command(launch), FileAccess()).shown


@pytest.mark.parametrize("run", ["{}", "../bin/secret", "./script", "./bin/secret"])
def test_nobody_plays_with_the_program_of_somebody_else(program: Path, tmp_path: Path, run: str) -> None:
    """It can't be the command, the interpreter of a script, or the base of a virtual environment."""
    folder = player(tmp_path / "thief", run.format(program))
    (folder / "script").write_bytes(b"#!" + os.fsencode(program) + b"\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "secret").write_bytes(b"\x7fELF")
    (folder / "pyvenv.cfg").write_text(f"home = {program.parent}\n")
    for name in ("script", "bin/secret"):
        (folder / name).chmod(0o755)
    with pytest.raises(PlayerError, match="is neither in the player's folder nor a program of this machine"):
        shown_to(folder)


def test_programs_of_the_organisers_path_are_everybodys(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may name any interpreter."""
    (tmp_path / "on_path").mkdir()
    (tmp_path / "on_path" / "tool").symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path / "on_path"), prepend=":")
    (tmp_path / "lib").mkdir()
    assert {tmp_path / "on_path" / "tool", tmp_path} <= set(shown_to(player(tmp_path / "mine", "tool")))


def test_a_players_folder_shows_nothing_beside_it(tmp_path: Path) -> None:
    """Its folder `bin` does not make the folder around visible, unlike the `bin` of an installed runtime."""
    folder = player(tmp_path / "bin", "./bot")
    (folder / "bot").write_bytes(b"\x7fELF")
    (folder / "bot").chmod(0o755)
    (tmp_path / "lib").mkdir()
    assert tmp_path not in shown_to(folder)
