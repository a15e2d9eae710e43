"""The copy of a player's folder that one program in one match is shown."""

import errno
import os
from pathlib import Path

import pytest

from referee.launch import Confinement, FileAccess, Launch, PlayerError, is_copied, own_copy
from referee.launch.sandbox import Sandbox

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
    """With inodes of its own for each file, and without what is hidden from it; it is gone at the end."""
    launch = player(tmp_path / "ada")
    hidden = (launch.where / "logs", launch.where / "key.pem")
    access = FileAccess(hidden=hidden, others=(launch.where / "theirs", launch.where))
    with own_copy(launch, BOXED, access) as one, own_copy(launch, BOXED, access) as other:
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
    """Unless the organiser has named a place for it."""
    memory = tmp_path / "memory"
    memory.mkdir(0o700)
    monkeypatch.setattr("referee.files.scratch._MEMORY", str(memory))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("TMPDIR", raising=False)
    if named:
        monkeypatch.setenv("TMPDIR", str(tmp_path))
    launch = player(tmp_path / "ada")
    (launch.where / "table").write_bytes(bytes(large))
    with own_copy(launch, BOXED, FileAccess()) as copy:
        assert copy is not None
        assert copy.is_relative_to(memory) == is_in_memory
    assert list(memory.iterdir()) == []


def test_private_names_are_left_out(tmp_path: Path) -> None:
    """What is private in a folder, by its name there, is not copied."""
    launch = player(tmp_path / "ada")
    confinement = Confinement(sandbox=BOXED.sandbox, private_names=_numbered)
    with own_copy(launch, confinement, FileAccess(others=(tmp_path,))) as copy:
        assert copy is not None
        assert not (copy / "logs" / "1.txt").exists()
        assert (copy / "theirs" / "player.toml").exists()


@pytest.mark.parametrize("is_boxed", [True, False])
def test_what_is_not_copied(tmp_path: Path, *, is_boxed: bool) -> None:
    """Commands, and everything without a sandbox; nor a folder that is shared with others, such as a home."""
    launches = [Launch(name="p", argv=("true",)), Launch(name="p", argv=("true",), folder=Path.home())]
    launches += [] if is_boxed else [player(tmp_path / "ada")]
    for launch in launches:
        confinement = BOXED if is_boxed else Confinement()
        assert not is_copied(launch, confinement)
        with own_copy(launch, confinement, FileAccess()) as copy:
            assert copy is None


def test_a_folder_that_can_t_be_copied(tmp_path: Path) -> None:
    """What is wrong in it is its player's affair."""
    launch = player(tmp_path / "ada")
    (launch.where / "player.toml").chmod(0)
    with pytest.raises(PlayerError, match=r"ada: player\.toml can't be read"), own_copy(launch, BOXED, FileAccess()):
        pass


def test_a_full_disk_is_not_the_player_s_affair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told where the copy was to be."""

    def _fails(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("referee.launch.folder_copy.copied", _fails)
    launch = player(tmp_path / "ada")
    with (
        pytest.raises(OSError, match=r"No space left on device: .*/ada is copied into /") as caught,
        own_copy(launch, BOXED, FileAccess()),
    ):
        pass
    assert caught.value.errno == errno.ENOSPC
