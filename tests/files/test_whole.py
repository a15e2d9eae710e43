"""Files are replaced whole or not at all, synced before they get their name, and leave nothing else."""

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.files.whole import write_whole


@pytest.fixture(params=["unnamed", "named", "no Linux"], autouse=True)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test on both kinds of file systems: with files without a name, and without them."""
    open_any = os.open

    def _open_named(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return open_any(path, flags, mode, dir_fd=dir_fd)

    if request.param == "no Linux":
        monkeypatch.delattr(os, "O_TMPFILE")
    if request.param == "named":
        monkeypatch.setattr(os, "open", _open_named)


def test_a_file_is_replaced(tmp_path: Path) -> None:
    """It has all pieces in their order, and the requested mode; nothing else is in the folder."""
    path = tmp_path / "file"
    path.write_bytes(b"something longer than what comes")
    write_whole(path, [b"a", b"b"], mode=0o600)
    assert path.read_bytes() == b"ab"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_another_file_is_kept(tmp_path: Path) -> None:
    """With `may_replace=False` an existing file stays, and a new one is made."""
    path = tmp_path / "file"
    write_whole(path, [b"first"], may_replace=False)
    with pytest.raises(FileExistsError):
        write_whole(path, [b"second"], may_replace=False)
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"first", [path])


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    """The target of a link is not changed."""
    (tmp_path / "other").write_bytes(b"other")
    path = tmp_path / "file"
    path.symlink_to("other")
    write_whole(path, [b"mine"])
    assert not path.is_symlink()
    assert ((tmp_path / "other").read_bytes(), path.read_bytes()) == (b"other", b"mine")


def test_what_breaks_off_changes_nothing(tmp_path: Path) -> None:
    """An error on the way leaves the old file, and no part of the new one."""

    def _pieces() -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, _pieces())
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"old", [path])


def test_the_disk_has_it_before_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The content is synced, then the name, then the folder, so a power failure leaves one of the two files."""
    path, order = tmp_path / "file", []
    sync, replace = os.fsync, Path.replace

    def _fsync(descriptor: int) -> None:
        order.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    def _replace(self: Path, target: Path) -> Path:
        order.append("name")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", _fsync)
    monkeypatch.setattr(Path, "replace", _replace)
    write_whole(path, [b"new"])
    assert order == ["file", "name", "folder"]


KILLED = """
import os, pathlib, signal, sys
from referee.files.whole import write_whole

def pieces():
    yield bytes(100_000)
    os.kill(os.getpid(), signal.SIGKILL)

write_whole(pathlib.Path(sys.argv[1]), pieces())
"""


@pytest.mark.parametrize("kind", ["unnamed"], indirect=True)
def test_who_is_killed_leaves_nothing(tmp_path: Path) -> None:
    """A process that is killed in the middle leaves the old file, and no other."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"old", [path])
