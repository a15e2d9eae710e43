"""Files that exist and can't be run: the error names the reason and the remedy before anything is started."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from referee.programs.file_view import runtimes
from referee.programs.player_spec import Launch, PlayerError, command_launch, find_obstacle, resolve_command

PRINT = b"print(1)\n"
TRUE = Path(shutil.which("true") or "").resolve().read_bytes()
OBSTACLES = [
    (b"#!/usr/bin/env python3\r\nprint(1)\r\n", "line ends"),
    (b"#!/usr/bin/python3 -u\r\n" + PRINT, "line ends"),
    (b"\xef\xbb\xbf#!/usr/bin/env python3\n" + PRINT, "byte order mark"),
    ("#!/usr/bin/env python3\n".encode("utf-16"), "byte order mark"),
    (b"#!/usr/bin/python9\n" + PRINT, "the interpreter /usr/bin/python9, which is not there"),
    (b"#! /opt/none/python3 -u\n" + PRINT, "/opt/none/python3, which is not there; install or change it; PATH has"),
    (b"#!/usr\n" + PRINT, "/usr, which is a folder"),
    (b"#!/etc/passwd\n" + PRINT, "/etc/passwd, which is not executable"),
    (b"#!\n" + PRINT, "names no interpreter"),
    (b"#!/usr/bin/env python9\n" + PRINT, "asks env for the interpreter python9, which PATH does not have"),
    (b"#!/usr/bin/env -S python9 -u\n" + PRINT, "asks env for the interpreter python9"),
    (TRUE[:18] + b"\x28\x01" + TRUE[20:], "another architecture"),
    (TRUE[:4] + b"\x01" + TRUE[5:], "another architecture"),
    (b"MZ\x90\0", "a program for Windows"),
    (b"\xcf\xfa\xed\xfe\0", "a program for macOS"),
]


@pytest.mark.parametrize(("content", "complaint"), OBSTACLES)
def test_the_reason_is_named(tmp_path: Path, content: bytes, complaint: str) -> None:
    """In a folder and on a command line alike, in one printable line."""
    program = tmp_path / "run"
    program.write_bytes(content)
    program.chmod(0o755)
    for launch in (Launch(name="ada", argv=("./run",), folder=tmp_path), command_launch(str(program), "ada")):
        with pytest.raises(PlayerError) as caught:
            resolve_command(launch)
        assert complaint in str(caught.value)
        assert "ada: can't start" in str(caught.value)
        assert str(caught.value).isprintable()


@pytest.mark.skipif(TRUE[4:6] != b"\x02\x01", reason="the loader of 64 bits")
def test_a_loader_that_is_missing(tmp_path: Path) -> None:
    """A program of another C library names a loader that does not exist."""
    begin = TRUE.index(b"/lib")
    end = TRUE.index(b"\0", begin)
    (tmp_path / "run").write_bytes(TRUE[:begin] + b"/lib/ld-none".ljust(end - begin, b"\0") + TRUE[end:])
    assert "needs the loader /lib/ld-none" in str(find_obstacle(tmp_path / "run"))


@pytest.mark.parametrize(
    "content",
    [
        *(TRUE, b"", b"echo 1\n", b"#!/bin/sh", b"#!/usr/bin/env -S python3 -u\n" + PRINT),
        f"#!{sys.executable}\nprint(1)\n".encode(),
        b"#!/usr/bin/env -S A=1 python3\n" + PRINT,
    ],
)
def test_what_can_be_run_is_left_alone(tmp_path: Path, content: bytes) -> None:
    """The referee can start it: a text without a first line of the right form belongs to the shell."""
    program = tmp_path / "run"
    program.write_bytes(content)
    program.chmod(0o755)
    assert find_obstacle(program) is None
    assert subprocess.run(["prlimit", "--", program], check=False, capture_output=True).returncode == 0


def test_a_sandbox_that_does_not_show_the_interpreter(tmp_path: Path) -> None:
    """A file in the kernel's or the machine's own places can't be run inside."""
    shell = Path("/dev/shm") / f"{tmp_path.name}-sh"
    shutil.copy("/bin/sh", shell)
    try:
        (tmp_path / "run").write_text(f"#!{shell}\n")
        (tmp_path / "run").chmod(0o755)
        with pytest.raises(PlayerError, match="a sandbox does not show it; install it in"):
            runtimes(tmp_path / "run")
    finally:
        shell.unlink()
