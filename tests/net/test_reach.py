"""What a program is shown: what it runs from, and nothing that its own files talk the referee into."""

import os
from pathlib import Path

import pytest

from referee.net.launch.reach import runtimes


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a program in what looks like a virtual environment."""
    path = tmp_path / "bin" / "secret"
    path.parent.mkdir()
    path.write_bytes(b"\x7fELF")
    path.chmod(0o755)
    return path


def test_a_file_that_runs_nothing_is_not_shown(program: Path, tmp_path: Path) -> None:
    """A virtual environment may name the folder of its interpreter, and so any file that is called like one."""
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
    """What a script names in its first line may be a file to be kept, or no path at all."""
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
    """What describes a virtual environment may be a pipe to which nobody writes."""
    os.mkfifo(tmp_path / "pyvenv.cfg")
    assert tmp_path in runtimes(program)
