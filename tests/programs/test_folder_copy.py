"""The copy of a player's folder that a program sees in one match."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from referee.programs import folder_copy
from referee.programs.confining import Confinement
from referee.programs.file_view import FileAccess
from referee.programs.folder_copy import SETTLED_NS, FolderImages
from referee.programs.player_spec import Launch, PlayerError
from referee.programs.sandbox import Sandbox

BOXED = Confinement(sandbox=Sandbox(program="bwrap"))


def _numbered(folder: Path) -> list[str]:
    return [path.name for path in folder.glob("1.*")]


def player(folder: Path) -> Launch:
    """Make a player's folder with a file, a program, a link, records and another player's folder."""
    for name in ("player.toml", "bin/run", "logs/1.txt", "theirs/player.toml", "key.pem"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "bin" / "run").chmod(0o755)
    (folder / "link").symlink_to("bin/run")
    return Launch(name="ada", argv=("bin/run",), folder=folder)


def test_a_copy_has_what_is_the_player_s_own(tmp_path: Path) -> None:
    """Each file is a new inode, hidden files are missing, and the copy is removed at the end."""
    launch = player(tmp_path / "ada")
    hidden = (launch.where / "logs", launch.where / "key.pem")
    access = FileAccess(hidden=hidden, others=(launch.where / "theirs", launch.where))
    with BOXED.copy_folder(launch, access) as one, BOXED.copy_folder(launch, access) as other:
        assert one is not None
        assert other is not None
        for copy in (one, other):
            found = sorted(str(path.relative_to(copy)) for path in copy.rglob("*"))
            assert found == ["bin", "bin/run", "link", "player.toml"]
            assert (copy / "link").read_text() == "bin/run"
            assert os.access(copy / "bin" / "run", os.X_OK)
        inodes = {(folder / "player.toml").stat().st_ino for folder in (launch.where, one, other)}
        assert len(inodes) == 3
    assert not one.exists()
    assert not other.parent.exists()


@pytest.mark.parametrize(
    ("large", "named", "is_in_memory"), [(0, False, True), (1 << 20, False, False), (0, True, False)]
)
def test_a_small_copy_lies_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, large: int, named: bool, is_in_memory: bool
) -> None:
    """A small copy is in memory; the organiser can name another place."""
    memory = tmp_path / "memory"
    memory.mkdir(0o700)
    monkeypatch.setattr("referee.files.scratch._MEMORY", str(memory))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("TMPDIR", raising=False)
    if named:
        monkeypatch.setenv("TMPDIR", str(tmp_path))
    launch = player(tmp_path / "ada")
    (launch.where / "table").write_bytes(bytes(large))
    with BOXED.copy_folder(launch, FileAccess()) as copy:
        assert copy is not None
        assert copy.is_relative_to(memory) == is_in_memory
    assert list(memory.iterdir()) == []


def _linked(path: Path) -> Path:
    path.symlink_to("key.pem")
    return path


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file that is new": lambda folder: (folder / "bin" / "new").write_text("new"),
    "one that is gone": lambda folder: (folder / "player.toml").unlink(),
    "other words, as long as before": lambda folder: (folder / "bin" / "run").write_text("bin/RUN"),
    "another mode": lambda folder: (folder / "bin" / "run").chmod(0o644),
    "another place of a link": lambda folder: _linked(folder / "other").replace(folder / "link"),
    "another folder of that name": lambda folder: (folder.rename(f"{folder}.old"), player(folder)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_small_folder_is_held_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    """A copy from memory is like any other: its own files, without hidden ones."""
    monkeypatch.setattr("referee.programs.folder_copy.SETTLED_NS", -(10**12))
    launch, images = player(tmp_path / "ada"), FolderImages()
    confinement = Confinement(sandbox=BOXED.sandbox, images=images)
    access = FileAccess(hidden=(launch.where / "logs", launch.where / "key.pem"))
    assert confinement.copy_from_memory(launch, access) is None
    with confinement.copy_folder(launch, access) as one:
        quick = confinement.copy_from_memory(launch, access)
        assert quick is not None
        with quick as other:
            assert one is not None
            assert other is not None
            assert _told(one) == _told(other)
            assert (other / "player.toml").stat().st_ino != (one / "player.toml").stat().st_ino
        assert not other.parent.exists()
    assert confinement.copy_from_memory(launch, FileAccess()) is None
    change(launch.where)
    assert confinement.copy_from_memory(launch, access) is None


def _told(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return everything that a program can find out about each entry of its folder."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.is_symlink() and path.readlink(),
            path.is_file() and (path.read_bytes(), path.stat().st_mtime_ns),
        )
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize(("entries", "more_bytes"), [(64, 0), (0, 1 << 20)])
def test_a_folder_that_is_large_or_was_changed_just_now_is_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: int, more_bytes: int
) -> None:
    """Writing it would take the loop too long, or it could change again unnoticed."""
    launch = player(tmp_path / "ada")
    confinement = Confinement(sandbox=BOXED.sandbox, images=FolderImages())
    for settled_ns in (10**12, -(10**12)):
        monkeypatch.setattr("referee.programs.folder_copy.SETTLED_NS", settled_ns)
        with confinement.copy_folder(launch, FileAccess()):
            assert confinement.copy_from_memory(launch, FileAccess()) is None
        for number in range(entries):
            (launch.where / str(number)).touch()
        (launch.where / "table").write_bytes(bytes(more_bytes))


def test_everything_in_a_folder_has_to_be_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that changed in the last two seconds could change again with the same time."""
    (tmp_path / "old").touch()
    (tmp_path / "new").touch()
    changed_ns = [path.stat().st_ctime_ns for path in (tmp_path / "old", tmp_path / "new")]
    for now_ns, is_held in (
        (min(changed_ns) + SETTLED_NS, False),
        (max(changed_ns) + SETTLED_NS, False),
        (max(changed_ns) + SETTLED_NS + 1, True),
    ):
        images = FolderImages()
        with monkeypatch.context() as patched:
            patched.setattr(folder_copy, "time", SimpleNamespace(time_ns=lambda now_ns=now_ns: now_ns))
            images.hold(("ada",), tmp_path, lambda _: False)
        assert (images.current(("ada",)) is not None) == is_held


def test_private_names_are_left_out(tmp_path: Path) -> None:
    launch = player(tmp_path / "ada")
    confinement = Confinement(sandbox=BOXED.sandbox, private_names=_numbered)
    with confinement.copy_folder(launch, FileAccess(others=(tmp_path,))) as copy:
        assert copy is not None
        assert not (copy / "logs" / "1.txt").exists()
        assert (copy / "theirs" / "player.toml").exists()


@pytest.mark.parametrize("is_boxed", [True, False])
def test_what_is_not_copied(tmp_path: Path, *, is_boxed: bool) -> None:
    """There is no copy for commands, without a sandbox, or of a shared folder such as a home."""
    launches = [Launch(name="p", argv=("true",)), Launch(name="p", argv=("true",), folder=Path.home())]
    launches += [] if is_boxed else [player(tmp_path / "ada")]
    for launch in launches:
        confinement = BOXED if is_boxed else Confinement()
        assert not confinement.copies(launch)
        with confinement.copy_folder(launch, FileAccess()) as copy:
            assert copy is None


def test_a_folder_that_can_t_be_copied(tmp_path: Path) -> None:
    """The error is the player's."""
    launch = player(tmp_path / "ada")
    (launch.where / "player.toml").chmod(0)
    with pytest.raises(PlayerError, match=r"ada: player\.toml can't be read"), BOXED.copy_folder(launch, FileAccess()):
        pass


def test_a_full_disk_is_not_the_player_s_affair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the place of the copy."""

    def _fails(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("referee.programs.folder_copy.copy_tree", _fails)
    launch = player(tmp_path / "ada")
    with (
        pytest.raises(OSError, match=r"No space left on device: .*/ada is copied into /") as caught,
        BOXED.copy_folder(launch, FileAccess()),
    ):
        pass
    assert caught.value.errno == errno.ENOSPC
