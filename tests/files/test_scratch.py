"""Private temporary folders: the next process removes those of a killed one, and never anything else."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.files.scratch import MARK, scratch

HOLDER = """
import os, signal
from referee.files.scratch import scratch
with scratch("held") as folder:
    os.chdir(folder)
    for _ in range(int(os.environ["LEVELS"])):
        os.mkdir("d")
        os.chdir("d")
    print(folder, flush=True)
    signal.pause()
"""


@pytest.fixture(autouse=True)
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files, as open as the system's own."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def left(top: Path, name: str = "referee-check-x") -> Path:
    """Make a folder that a process has left behind."""
    folder = top / name
    folder.mkdir(0o700)
    (folder / MARK).touch(0o600)
    return folder


def test_it_is_private_and_removed(top: Path) -> None:
    """It is removed also after an exception inside."""

    def _fail() -> None:
        with scratch("test") as folder:
            assert (folder.parent, folder.stat().st_mode & 0o777) == (top, 0o700)
            (folder / "file").touch()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _fail()
    assert list(top.iterdir()) == []


def test_what_a_killed_process_left_is_removed(top: Path) -> None:
    """It is removed with folders of any depth. A folder in use stays, even if several processes look at once."""
    environment = {**os.environ, "TMPDIR": str(top)}
    holders = [
        subprocess.Popen(
            [sys.executable, "-c", HOLDER], env={**environment, "LEVELS": levels}, stdout=subprocess.PIPE, text=True
        )
        for levels in ("3000", "1")
    ]
    with holders[0] as killed, holders[1] as alive:
        try:
            folders = [Path(item.stdout.readline().strip()) for item in holders if item.stdout is not None]
            killed.send_signal(signal.SIGKILL)
            killed.wait(60)
            assert all(folder.is_dir() for folder in folders)
            with scratch("test") as own:
                assert sorted(top.iterdir()) == sorted([folders[1], own])
        finally:
            for holder in (killed, alive):
                holder.kill()


def _not_marked(top: Path) -> None:
    (top / "referee-notes").mkdir(0o700)
    (top / "referee-notes" / "diary").touch()


def _called_otherwise(top: Path) -> None:
    left(top, "notes")


def _a_link(top: Path) -> None:
    (top / "referee-link").symlink_to(left(top, "elsewhere"))


def _a_mark_that_is_a_link(top: Path) -> None:
    folder = left(top)
    (folder / MARK).rename(top / "file")
    (folder / MARK).symlink_to(top / "file")


def _a_mark_that_is_a_pipe(top: Path) -> None:
    folder = left(top)
    (folder / MARK).unlink()
    os.mkfifo(folder / MARK, 0o644)


def _open_to_others(top: Path) -> None:
    left(top).chmod(0o755)


def _of_another_user(top: Path) -> None:
    folder = left(top)
    os.chown(folder, 12345, 12345)


def _where_others_may_move_it(top: Path) -> None:
    left(top)
    top.chmod(0o777)


@pytest.mark.parametrize(
    "prepare",
    [
        *(_not_marked, _called_otherwise, _a_link, _a_mark_that_is_a_link, _a_mark_that_is_a_pipe, _open_to_others),
        _where_others_may_move_it,
        pytest.param(
            _of_another_user,
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away"),
        ),
    ],
)
def test_nothing_else_is_removed(top: Path, prepare: Callable[[Path], None]) -> None:
    """A folder stays unless it certainly belongs to this program and this user, and to no live process."""
    prepare(top)
    before = sorted(top.rglob("*"))
    with scratch("test"):
        pass
    assert sorted(top.rglob("*")) == before


def test_what_is_proven_is_removed(top: Path) -> None:
    """The same folder is removed if none of these cases holds."""
    left(top)
    with scratch("test"):
        pass
    assert list(top.iterdir()) == []
